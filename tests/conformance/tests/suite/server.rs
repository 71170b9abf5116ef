//! A server to hold against the contract, on a port of its own, with whatever is put in front of it.

use std::{path::Path, sync::Arc};

use anyhow::Result;
use axum::Router;
use tempfile::TempDir;
use tokio::{net::TcpListener, task::JoinHandle};
use turno_conformance::{Fixture, Target};
use turno_postgres::Database;
use turno_server::{
    Administration, Config, PostgresLedger, SqliteLedger, World,
    acquirer::{Acquirer, HttpAcquirer, sandbox_acquirer},
    app, fixture,
};

pub const FIXTURE: &[u8] = include_bytes!("../../fixture.json");

pub struct Server {
    pub target: Target,
    serving: JoinHandle<std::io::Result<()>>,
    /// Removed with the server.
    _folder: Option<TempDir>,
}

impl Server {
    pub async fn on_sqlite(around: impl FnOnce(Router) -> Router) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let fixture = fixture::Fixture::parse(FIXTURE)?;
        let ledger = SqliteLedger::open(&file(folder.path()), fixture.options()).await?;
        Self::start(ledger, &fixture, fixture.config(), around, Some(folder)).await
    }

    /// With its acquirer at the other end of a socket, so that the cases about payments are held against that too.
    pub async fn on_postgres(database: &Database) -> Result<Self> {
        let fixture = fixture::Fixture::parse(FIXTURE)?;
        let ledger = PostgresLedger::open(&database.url(), fixture.postgres_options()).await?;
        let config = Config { acquirer: Some(distant_acquirer().await?), ..fixture.config() };
        Self::start(ledger, &fixture, config, |router| router, None).await
    }

    async fn start<L: Administration>(
        ledger: L,
        fixture: &fixture::Fixture,
        config: Config,
        around: impl FnOnce(Router) -> Router,
        folder: Option<TempDir>,
    ) -> Result<Self> {
        fixture.load(&ledger).await?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let base_url = format!("http://{}", listener.local_addr()?);
        let router = around(app(ledger, config));
        let serving = tokio::spawn(axum::serve(listener, router).into_future());
        let target = Target::new(&base_url, Fixture::parse(FIXTURE)?)?;
        Ok(Self { target, serving, _folder: folder })
    }
}

/// The sandbox, for as long as the runtime of the test lives.
async fn distant_acquirer() -> Result<Arc<dyn Acquirer>> {
    let secret = || serde_json::from_str("\"shared by both ends\"");
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = format!("http://{}", listener.local_addr()?);
    let sandbox = sandbox_acquirer(Arc::default(), secret()?, World::system());
    tokio::spawn(axum::serve(listener, sandbox).into_future());
    Ok(Arc::new(HttpAcquirer::new(&address, secret()?, World::system())?))
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn file(folder: &Path) -> std::path::PathBuf {
    folder.join("ledger.db")
}
