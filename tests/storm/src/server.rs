//! The server that is killed: the whole contract on SQLite, on a free port that it tells on its standard output.

use std::io::Write;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use tokio::net::TcpListener;
use turno_domain::Currency;
use turno_domain::ids::{Company, DeviceId, Environment, Integration, Scope};
use turno_protocol::secret::Secret;
use turno_server::{
    Administration, CompanySettings, Config, IntegrationSettings, NewCredential, NewEnrolmentCode, Rights,
    SqliteLedger, SqliteOptions, app, housekeeping, serve,
};

pub const ENROLMENT_CODE: &str = "K7M2P-QX4TD-9HWRA";
/// What the checks look with.
pub const AUDITOR: &str = "auditor-token";
pub const DEVICE: &str = "D01";

#[derive(Args, Clone, Debug)]
pub struct Plan {
    #[arg(long)]
    pub file: PathBuf,
}

/// A company with something to sell, one code to enrol with, and somebody who may look.
pub async fn furnish(file: &Path) -> Result<()> {
    let ledger = SqliteLedger::open(file, SqliteOptions::default()).await?;
    let (company, integration) = (Company::parse("sur")?, Integration::parse("cajas")?);
    let name = "Transportes del Sur".to_owned();
    ledger.put_company(CompanySettings { company: company.clone(), name, currency: Currency::PEN }).await?;
    ledger.put_integration(IntegrationSettings::new(company.clone(), integration.clone())).await?;
    let catalog = turno_simulation::server::catalog()?;
    ledger.put_catalog(company.clone(), integration.clone(), catalog).await?;
    let scope = Scope { company, integration, environment: Environment::parse("production")? };
    let device = DeviceId::parse(DEVICE)?;
    let code = NewEnrolmentCode::with_code(&Secret::new(ENROLMENT_CODE), scope.clone(), device);
    ledger.put_enrolment_code(code).await?;
    let rights = Rights::parse("read,audit").expect("fixed words");
    ledger.put_credential(NewCredential::with_token(&Secret::new(AUDITOR), scope, rights)).await?;
    ledger.close().await;
    Ok(())
}

pub async fn run(plan: &Plan) -> Result<()> {
    let ledger = SqliteLedger::open(&plan.file, SqliteOptions::default()).await?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", listener.local_addr()?)?;
    out.flush()?;
    let config = Config::default();
    let keeping = tokio::spawn(housekeeping(ledger.clone(), config.clone()));
    serve(listener, app(ledger, config.clone()), config, std::future::pending()).await?;
    keeping.abort();
    Ok(())
}
