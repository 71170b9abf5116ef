//! `turno-server admin …`: companies, integrations, credentials, enrolment codes, catalogs, and whole ledgers.
//!
//! Invariant: a new token or code is written once, to the standard output, and its hash is what is kept.

use std::{
    fs::File,
    io::{BufReader, BufWriter, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use jiff::SignedDuration;
use turno_domain::{
    Currency,
    ids::{Company, DeviceId, Environment, Integration, Scope},
    lookalike::{Rule, Signal},
};
use turno_protocol::{catalog::CatalogBody, chain, code::ErrorProfile};
use turno_server::{
    Administration, CompanySettings, IntegrationSettings, NewCredential, NewEnrolmentCode, PostgresLedger,
    PostgresOptions, Rights, SqliteLedger, SqliteOptions, World, audit::verify_audit, caller::TokenHash,
    till_audit::verify_till_audit, transfer::Summary,
};

use super::DatabaseUrl;

#[derive(Debug, Args)]
pub(super) struct Admin {
    /// The ledger, `sqlite:FILE` or `postgres://…`.
    #[arg(long, env = "TURNO_DATABASE", hide_env_values = true)]
    database: DatabaseUrl,

    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Add a company, or change its name and currency.
    Company {
        company: String,
        #[arg(long)]
        name: String,
        #[arg(long, default_value = "PEN")]
        currency: String,
    },
    /// Add an integration, or change its settings.
    Integration {
        #[command(flatten)]
        of: IntegrationArgs,
        /// `default` or `ietf`.
        #[arg(long, default_value = "default")]
        error_profile: String,
        /// How far apart two sales may happen and still look alike.
        #[arg(long, default_value_t = 600)]
        similarity_window_s: u32,
        /// Fields that identify a sale.
        #[arg(long, value_delimiter = ',', default_value = "seat,order,custom_reference_2,buyer_name")]
        identifying_fields: Vec<String>,
        #[arg(long, default_value_t = 86_400)]
        confirmation_token_life_s: u32,
    },
    /// Make a credential and print its token.
    Credential {
        #[command(flatten)]
        of: ScopeArgs,
        /// Any of `create`, `read`, `audit`.
        #[arg(long, default_value = "create,read")]
        rights: String,
    },
    /// Accept a credential no more, on running servers within five seconds. Its token is read from the standard input,
    /// so that no list of processes shows it.
    Revoke,
    /// Sign new confirmation tokens with a new secret, from the next start of each server on.
    RotateSecret,
    /// Check the hash chain of a company's audit and name the first row that does not hold.
    VerifyAudit { company: String },
    /// Check a till's audit, as the till wrote it to a file, and that it holds every row that the till had ever said was
    /// its last one: a tail that was cut off, or an older file, shows.
    VerifyTillAudit {
        #[arg(long)]
        company: String,
        #[arg(long)]
        device_id: String,
        file: PathBuf,
    },
    /// Make a code with which one till can enrol, and print it.
    EnrolmentCode {
        #[command(flatten)]
        of: ScopeArgs,
        #[arg(long)]
        device_id: String,
        /// A till on which managers see and answer the questions of the whole company, and may read its audit.
        #[arg(long)]
        manager: bool,
    },
    /// Replace an integration's catalog by the one in a file.
    Catalog {
        #[command(flatten)]
        of: IntegrationArgs,
        file: PathBuf,
    },
    /// Write the whole ledger to a new file that only its owner can read: it holds the server's secrets. Stop the
    /// servers first, or what they accept meanwhile is not in it.
    Export { file: PathBuf },
    /// Take over an export of either store into a ledger that is empty, all of it or nothing. Servers
    /// that run on it already go on with what comes.
    Import { file: PathBuf },
}

#[derive(Debug, Args)]
struct IntegrationArgs {
    #[arg(long)]
    company: String,
    #[arg(long)]
    integration: String,
}

impl IntegrationArgs {
    fn parse(self) -> anyhow::Result<(Company, Integration)> {
        Ok((Company::parse(self.company)?, Integration::parse(self.integration)?))
    }
}

#[derive(Debug, Args)]
struct ScopeArgs {
    #[command(flatten)]
    of: IntegrationArgs,
    #[arg(long, default_value = "production")]
    environment: String,
}

impl ScopeArgs {
    fn parse(self) -> anyhow::Result<Scope> {
        let (company, integration) = self.of.parse()?;
        Ok(Scope { company, integration, environment: Environment::parse(self.environment)? })
    }
}

impl Admin {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self.database {
            DatabaseUrl::Sqlite(path) => {
                let ledger = SqliteLedger::open(&path, SqliteOptions::default())
                    .await
                    .with_context(|| format!("cannot open {}", path.display()))?;
                let done = self.task.run(&ledger).await;
                ledger.close().await;
                done
            }
            DatabaseUrl::Postgres(address) => {
                let ledger = PostgresLedger::open(&address, PostgresOptions::default())
                    .await
                    .context("cannot open the database")?;
                let done = self.task.run(&ledger).await;
                ledger.close().await;
                done
            }
        }
    }
}

impl Task {
    async fn run(self, ledger: &impl Administration) -> anyhow::Result<()> {
        match self {
            Self::Company { company, name, currency } => {
                let currency = Currency::parse(&currency)?;
                ledger
                    .put_company(CompanySettings { company: Company::parse(company)?, name, currency })
                    .await?;
            }
            Self::Integration {
                of,
                error_profile,
                similarity_window_s,
                identifying_fields,
                confirmation_token_life_s,
            } => {
                let (company, integration) = of.parse()?;
                let fields =
                    identifying_fields.iter().map(|name| Signal::parse(name)).collect::<Option<Vec<_>>>();
                let window = SignedDuration::from_secs(similarity_window_s.into());
                let settings = IntegrationSettings {
                    error_profile: ErrorProfile::parse(&error_profile).context("unknown error profile")?,
                    rule: Rule::new(window, fields.context("unknown identifying field")?)?,
                    confirmation_token_life: SignedDuration::from_secs(confirmation_token_life_s.into()),
                    ..IntegrationSettings::new(company, integration)
                };
                ledger.put_integration(settings).await?;
            }
            Self::Credential { of, rights } => {
                let rights = Rights::parse(&rights).context("unknown right")?;
                let (credential, token) = NewCredential::generate(&World::system(), of.parse()?, rights);
                ledger.put_credential(credential).await?;
                print(token.expose())?;
            }
            Self::Revoke => {
                let token = std::io::read_to_string(std::io::stdin()).context("cannot read the token")?;
                if !ledger.revoke_credential(TokenHash::of(token.trim())).await? {
                    bail!("no such credential");
                }
            }
            Self::RotateSecret => ledger.rotate_token_secret().await?,
            Self::VerifyAudit { company } => {
                let head = verify_audit(ledger, &Company::parse(company)?).await?;
                print(&format!("{} rows hold; the last has hash {}", head.rows, chain::to_hex(&head.hash)))?;
            }
            Self::VerifyTillAudit { company, device_id, file } => {
                let (company, device) = (Company::parse(company)?, DeviceId::parse(device_id)?);
                let rows = File::open(&file).with_context(|| format!("cannot read {}", file.display()))?;
                let agreed = verify_till_audit(ledger, &company, &device, BufReader::new(rows)).await?;
                print(&format!("{} rows hold; {} sales agree with them", agreed.head.rows, agreed.kept))?;
            }
            Self::EnrolmentCode { of, device_id, manager } => {
                let device = DeviceId::parse(device_id)?;
                let (code, text) = NewEnrolmentCode::generate(&World::system(), of.parse()?, device);
                let rights = if manager { Rights::of_a_managers_till() } else { Rights::of_a_till() };
                ledger.put_enrolment_code(code.with_rights(rights)).await?;
                print(text.expose())?;
            }
            Self::Catalog { of, file } => {
                let (company, integration) = of.parse()?;
                let json = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
                let catalog: CatalogBody = serde_json::from_slice(&json)
                    .with_context(|| format!("no catalog in {}", file.display()))?;
                ledger.put_catalog(company, integration, catalog).await?;
            }
            Self::Export { file } => {
                let new =
                    create_private(&file).with_context(|| format!("cannot create {}", file.display()))?;
                match export(ledger, new).await {
                    Ok(summary) => print(&format!("{} rows are in {}", summary.total(), file.display()))?,
                    Err(error) => {
                        // Half of an export is none.
                        std::fs::remove_file(&file).ok();
                        return Err(error);
                    }
                }
            }
            Self::Import { file } => {
                let export = File::open(&file).with_context(|| format!("cannot read {}", file.display()))?;
                let summary = ledger.import(Box::new(BufReader::new(export))).await?;
                print(&format!("{} rows were taken over", summary.total()))?;
            }
        }
        Ok(())
    }
}

/// What is reported is on the disk.
async fn export(ledger: &impl Administration, file: File) -> anyhow::Result<Summary> {
    let summary = ledger.export(Box::new(BufWriter::new(file.try_clone()?))).await?;
    file.sync_all()?;
    Ok(summary)
}

/// A file that was not there, and that nobody else can read.
fn create_private(file: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

fn print(text: &str) -> std::io::Result<()> {
    writeln!(std::io::stdout().lock(), "{text}")
}
