//! A company's server on this machine: the real router and ledger, with something to sell and codes to enrol with.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use anyhow::Result;
use axum::Router;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use turno_domain::Currency;
use turno_domain::ids::{Company, DeviceId, Environment, Integration, Scope};
use turno_protocol::catalog::CatalogBody;
use turno_protocol::secret::Secret;
use turno_server::{
    Administration, CompanySettings, Config, IntegrationSettings, NewEnrolmentCode, SqliteLedger,
};

/// Stops answering when the value goes.
pub struct Yupy {
    address: SocketAddr,
    serving: JoinHandle<()>,
}

impl Yupy {
    /// A server that keeps its ledger in this file and takes in one till by this code.
    pub async fn start(file: &Path, enrolment_code: &str) -> Result<Self> {
        let ledger = SqliteLedger::open(file, turno_server::SqliteOptions::default()).await?;
        let (company, integration) = (Company::parse("andes")?, Integration::parse("tills")?);
        let name = "Transportes Andes".to_owned();
        ledger
            .put_company(CompanySettings { company: company.clone(), name, currency: Currency::PEN })
            .await?;
        ledger.put_integration(IntegrationSettings::new(company.clone(), integration.clone())).await?;
        ledger.put_catalog(company.clone(), integration.clone(), catalog()?).await?;
        let scope = Scope { company, integration, environment: Environment::parse("test")? };
        let code = NewEnrolmentCode::with_code(&Secret::new(enrolment_code), scope, DeviceId::parse("D07")?);
        ledger.put_enrolment_code(code).await?;
        Self::serve(turno_server::app(ledger, Config::default())).await
    }

    /// Anything else that answers HTTP.
    pub async fn serve(router: Router) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let serving = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("a bound listener serves until it is dropped");
        });
        Ok(Self { address, serving })
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

fn catalog() -> Result<CatalogBody> {
    Ok(serde_json::from_value(json!({
        "revision": "1",
        "currency": "PEN",
        "products": [{ "product": "EQUIPAJE", "name": "Equipaje extra", "detail": "Hasta 10 kg", "price": "15.00" }],
    }))?)
}
