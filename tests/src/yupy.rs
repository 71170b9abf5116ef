//! A company's server on this machine: the real router and ledger, with something to sell and codes to enrol with.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use anyhow::{Context, Result};
use axum::Router;
use jiff::SignedDuration;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use turno_domain::Currency;
use turno_domain::ids::{Company, DeviceId, Environment, Integration, Scope};
use turno_domain::lookalike::{Rule, Signal};
use turno_protocol::catalog::CatalogBody;
use turno_protocol::secret::Secret;
use turno_server::{
    Administration, CompanySettings, Config, IntegrationSettings, NewEnrolmentCode, Rights, SqliteLedger,
};

/// Stops answering when the value goes.
pub struct Yupy {
    address: SocketAddr,
    ledger: Option<SqliteLedger>,
    serving: JoinHandle<()>,
}

impl Yupy {
    /// A server that keeps its ledger in this file and takes in one till by this code.
    pub async fn start(file: &Path, enrolment_code: &str) -> Result<Self> {
        let ledger = SqliteLedger::open(file, turno_server::SqliteOptions::default()).await?;
        let (company, integration) = tills()?;
        let name = "Transportes Andes".to_owned();
        ledger
            .put_company(CompanySettings { company: company.clone(), name, currency: Currency::PEN })
            .await?;
        ledger.put_integration(IntegrationSettings::new(company.clone(), integration.clone())).await?;
        let scope = Scope { company, integration, environment: Environment::parse("test")? };
        let code = NewEnrolmentCode::with_code(&Secret::new(enrolment_code), scope, DeviceId::parse("D07")?);
        ledger.put_enrolment_code(code).await?;
        let router = turno_server::app(ledger.clone(), Config::default());
        let mut yupy = Self::serve(router).await?;
        yupy.ledger = Some(ledger);
        yupy.offer("EQUIPAJE", "Equipaje extra").await?;
        Ok(yupy)
    }

    /// Takes in another till, on which managers answer for the others.
    pub async fn expect_manager(&self, enrolment_code: &str, device: &str) -> Result<()> {
        let (company, integration) = tills()?;
        let scope = Scope { company, integration, environment: Environment::parse("test")? };
        let code = NewEnrolmentCode::with_code(&Secret::new(enrolment_code), scope, DeviceId::parse(device)?)
            .with_rights(Rights::of_a_managers_till());
        let ledger = self.ledger.as_ref().context("only a company's server has codes")?;
        Ok(ledger.put_enrolment_code(code).await?)
    }

    /// From now on two sales of the same product in the same minutes look alike.
    pub async fn ask_about_products(&self) -> Result<()> {
        self.ask_with(|_| ()).await
    }

    /// The same, and an answer to a question is taken for so many seconds.
    pub async fn ask_about_products_for(&self, seconds: u32) -> Result<()> {
        self.ask_with(|settings| settings.confirmation_token_life = SignedDuration::from_secs(seconds.into()))
            .await
    }

    async fn ask_with(&self, change: impl FnOnce(&mut IntegrationSettings)) -> Result<()> {
        let (company, integration) = tills()?;
        let mut settings = IntegrationSettings::new(company, integration);
        settings.rule = Rule::new(settings.rule.window(), [Signal::Product])?;
        change(&mut settings);
        let ledger = self.ledger.as_ref().context("only a company's server asks")?;
        Ok(ledger.put_integration(settings).await?)
    }

    /// From now on the company sells this product and nothing else.
    pub async fn offer(&self, product: &str, name: &str) -> Result<()> {
        let catalog: CatalogBody = serde_json::from_value(json!({
            "revision": product,
            "currency": "PEN",
            "products": [{ "product": product, "name": name, "detail": "Hasta 10 kg", "price": "15.00" }],
        }))?;
        self.put_catalog(catalog).await
    }

    /// From now on the company sells this and nothing else.
    pub async fn put_catalog(&self, catalog: CatalogBody) -> Result<()> {
        let (company, integration) = tills()?;
        let ledger = self.ledger.as_ref().context("only a company's server has a catalog")?;
        Ok(ledger.put_catalog(company, integration, catalog).await?)
    }

    /// Anything else that answers HTTP.
    pub async fn serve(router: Router) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let serving = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("a bound listener serves until it is dropped");
        });
        Ok(Self { address, ledger: None, serving })
    }

    /// As a person types it into the till.
    pub fn address(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Yupy {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn tills() -> Result<(Company, Integration)> {
    Ok((Company::parse("andes")?, Integration::parse("tills")?))
}
