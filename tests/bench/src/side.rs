//! A side of a comparison: a server in a process of its own, so that it has its own memory and its own threads.

use std::{
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use anyhow::{Context, Result};
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::post,
};
use clap::{Args, Subcommand};
use serde_json::Value;
use tokio::net::TcpListener;
use turno_domain::{
    Currency,
    ids::{Company, Environment, Integration, Scope},
};
use turno_protocol::secret::Secret;
use turno_server::{
    Administration, Commits, CompanySettings, Config, IntegrationSettings, NewCredential, PostgresLedger,
    PostgresOptions, Rights, SqliteLedger, SqliteOptions, app, housekeeping, serve,
};
use turno_sqlite::{Database, Migration, Options};

use crate::sale::TOKEN;

#[derive(Args)]
pub struct Side {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Subcommand)]
enum Kind {
    /// The whole contract on SQLite.
    Sqlite {
        file: PathBuf,
        /// Each write has its own commit.
        #[arg(long)]
        one_by_one: bool,
    },
    /// The whole contract on PostgreSQL.
    Postgres { address: String },
    /// A handler that writes what it reads into one table, through the same writer.
    Bare { file: PathBuf },
}

impl Side {
    pub async fn serve(self) -> Result<()> {
        match self.kind {
            Kind::Sqlite { file, one_by_one } => {
                let commits = if one_by_one { Commits::OneByOne } else { Commits::Grouped };
                let options = SqliteOptions { commits, ..SqliteOptions::default() };
                whole(SqliteLedger::open(&file, options).await?).await
            }
            Kind::Postgres { address } => {
                whole(PostgresLedger::open(&address, PostgresOptions::default()).await?).await
            }
            Kind::Bare { file } => bare(&file).await,
        }
    }
}

/// As the program serves it.
async fn whole<L: Administration>(ledger: L) -> Result<()> {
    furnish(&ledger).await?;
    let config = Config::default();
    let listener = listen().await?;
    let keeping = tokio::spawn(housekeeping(ledger.clone(), config.clone()));
    serve(listener, app(ledger, config.clone()), config, std::future::pending()).await?;
    keeping.abort();
    Ok(())
}

async fn furnish(ledger: &impl Administration) -> Result<()> {
    let (company, integration) = (Company::parse("bench")?, Integration::parse("pos")?);
    let name = "Transportes Demo".to_owned();
    ledger.put_company(CompanySettings { company: company.clone(), name, currency: Currency::PEN }).await?;
    ledger.put_integration(IntegrationSettings::new(company.clone(), integration.clone())).await?;
    let scope = Scope { company, integration, environment: Environment::parse("production")? };
    let credential = NewCredential::with_token(&Secret::new(TOKEN), scope, Rights::of_a_till());
    ledger.put_credential(credential).await?;
    Ok(())
}

const ONE_TABLE: Migration = Migration {
    version: 1,
    name: "one table",
    sql: "CREATE TABLE plain (id TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID",
};

async fn bare(file: &Path) -> Result<()> {
    let database = Database::open(file, &[ONE_TABLE], Options::default())?;
    let router = Router::new().route("/v1/transactions", post(insert)).with_state(Arc::new(database));
    axum::serve(listen().await?, router).await?;
    Ok(())
}

async fn insert(State(database): State<Arc<Database>>, body: Bytes) -> Response {
    let Ok(sale) = serde_json::from_slice::<Value>(&body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let Some(id) = sale["external_transaction_id"].as_str().map(str::to_owned) else {
        return StatusCode::UNPROCESSABLE_ENTITY.into_response();
    };
    let text = sale.to_string();
    let done = database.write(move |connection| {
        connection.prepare_cached("INSERT INTO plain (id, body) VALUES (?1, ?2)")?.execute((&id, &text))?;
        Ok::<_, rusqlite::Error>(text)
    });
    match done.await {
        Ok(text) => (StatusCode::CREATED, text).into_response(),
        Err(_) => StatusCode::CONFLICT.into_response(),
    }
}

/// A free port, and a line about it for whoever started this side.
async fn listen() -> Result<TcpListener> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    println!("{}", listener.local_addr()?);
    std::io::stdout().flush()?;
    Ok(listener)
}

/// A side that runs; it is killed when the value goes.
pub struct Running {
    process: Child,
    pub address: SocketAddr,
}

impl Running {
    pub fn sqlite(file: &Path) -> Result<Self> {
        Self::start(&["sqlite", &file.to_string_lossy()])
    }

    pub fn sqlite_one_by_one(file: &Path) -> Result<Self> {
        Self::start(&["sqlite", "--one-by-one", &file.to_string_lossy()])
    }

    pub fn bare(file: &Path) -> Result<Self> {
        Self::start(&["bare", &file.to_string_lossy()])
    }

    pub fn postgres(address: &str) -> Result<Self> {
        Self::start(&["postgres", address])
    }

    fn start(words: &[&str]) -> Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg("side")
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a side")?;
        let mut line = String::new();
        let out = process.stdout.take().context("its output is a pipe")?;
        BufReader::new(out).read_line(&mut line)?;
        let address = line.trim().parse().with_context(|| format!("side {words:?} did not start"))?;
        Ok(Self { process, address })
    }

    /// The most memory that it ever had, in MiB.
    pub fn peak_memory_mib(&self) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
        let kib: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kib / 1024.0)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself; either way there is nothing more to do about it.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
