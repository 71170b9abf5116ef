//! `turno-server serve`.

use std::{future::pending, net::SocketAddr, num::NonZeroU32, path::PathBuf};

use anyhow::Context;
use clap::Args;
use jiff::SignedDuration;
use tokio::{net::TcpListener, task::JoinSet};
use turno_server::{
    Administration, Config, Door, MetricsPlace, PostgresLedger, PostgresOptions, RateLimit, SqliteLedger,
    SqliteOptions, Tls, app, fixture::Fixture, housekeeping, metrics_app, serve,
};

use super::{DatabaseUrl, acquirer::AcquirerArgs};

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Address and port; port 0 takes a free one, which is then written to the standard output.
    #[arg(long, env = "TURNO_LISTEN", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,

    /// The ledger, `sqlite:FILE` or `postgres://…`.
    #[arg(long, env = "TURNO_DATABASE", hide_env_values = true)]
    database: DatabaseUrl,

    /// Companies, integrations and known credentials, for tests only.
    #[arg(long, env = "TURNO_FIXTURE")]
    fixture: Option<PathBuf>,

    /// Requests a second that one credential may make for long. Without it nobody is throttled.
    #[arg(long, env = "TURNO_RATE_LIMIT")]
    rate_limit: Option<NonZeroU32>,

    /// Requests that one credential may make at once.
    #[arg(long, env = "TURNO_RATE_BURST", default_value = "100")]
    rate_burst: NonZeroU32,

    /// Seconds without a sign of life after which whoever works on a payment is believed to be gone. The same for all
    /// servers of a database.
    #[arg(long, env = "TURNO_LEASE_S", default_value = "60")]
    lease_s: NonZeroU32,

    /// A PEM file with the server's certificate, and those above it. With it the address speaks TLS and nothing else.
    #[arg(long, env = "TURNO_TLS_CERTIFICATE", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,

    /// A PEM file with the certificate's key, which nobody else may read.
    #[arg(long, env = "TURNO_TLS_KEY", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,

    /// An address for `/metrics` alone, which then is not on the main one. Its port is written out second.
    #[arg(long, env = "TURNO_METRICS_LISTEN")]
    metrics_listen: Option<SocketAddr>,

    #[command(flatten)]
    acquirer: AcquirerArgs,
}

impl Serve {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let fixture = self.fixture.as_deref().map(read_fixture).transpose()?;
        let lease = SignedDuration::from_secs(self.lease_s.get().into());
        match &self.database {
            DatabaseUrl::Sqlite(path) => {
                let options = fixture.as_ref().map_or_else(SqliteOptions::default, Fixture::options);
                let options = SqliteOptions { lease, ..options };
                let ledger = SqliteLedger::open(path, options)
                    .await
                    .with_context(|| format!("cannot open {}", path.display()))?;
                self.serve(ledger.clone(), fixture).await?;
                ledger.close().await;
            }
            DatabaseUrl::Postgres(address) => {
                let options =
                    fixture.as_ref().map_or_else(PostgresOptions::default, Fixture::postgres_options);
                let options = PostgresOptions { lease, ..options };
                let ledger =
                    PostgresLedger::open(address, options).await.context("cannot open the database")?;
                self.serve(ledger.clone(), fixture).await?;
                ledger.close().await;
            }
        }
        Ok(())
    }

    async fn serve<L: Administration>(&self, ledger: L, fixture: Option<Fixture>) -> anyhow::Result<()> {
        let mut config = fixture.as_ref().map_or_else(Config::default, Fixture::config);
        config.rate_limit =
            self.rate_limit.map(|per_second| RateLimit { per_second, burst: self.rate_burst });
        self.acquirer.apply(&mut config, fixture.is_some())?;
        if let Some(fixture) = fixture {
            fixture.load(&ledger).await.context("cannot load the fixture")?;
        }
        let door = Door { tls: self.tls()?, ..Door::default() };
        let listener = bind(self.listen).await?;
        let for_metrics = match self.metrics_listen {
            Some(address) => Some(bind(address).await?),
            None => None,
        };
        announce(if door.tls.is_some() { "https" } else { "http" }, listener.local_addr()?)?;
        let mut beside = JoinSet::new();
        if let Some(listener) = for_metrics {
            config.metrics_place = MetricsPlace::Apart;
            announce("http", listener.local_addr()?)?;
            let (router, config) = (metrics_app(ledger.clone(), config.clone()), config.clone());
            beside.spawn(async move { drop(serve(listener, router, config, pending()).await) });
        }
        beside.spawn(housekeeping(ledger.clone(), config.clone()));
        let router = app(ledger, config.clone());
        door.serve(listener, router, config, asked_to_end()).await?;
        // What runs beside ends with its set.
        Ok(())
    }

    fn tls(&self) -> anyhow::Result<Option<Tls>> {
        let (Some(certificate), Some(key)) = (&self.tls_certificate, &self.tls_key) else { return Ok(None) };
        let tls = Tls::from_files(certificate, key)
            .with_context(|| format!("no TLS with {} and {}", certificate.display(), key.display()))?;
        Ok(Some(tls))
    }
}

async fn bind(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))
}

fn read_fixture(path: &std::path::Path) -> anyhow::Result<Fixture> {
    let json = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Fixture::parse(&json).with_context(|| format!("cannot use {}", path.display()))
}

/// One line for whoever started the process and has to know its port.
pub(super) fn announce(scheme: &str, address: SocketAddr) -> std::io::Result<()> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    writeln!(out, "listening on {scheme}://{address}")?;
    out.flush()
}

/// SIGTERM from a supervisor, or Ctrl-C from a person.
pub(super) async fn asked_to_end() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate()).expect("a signal handler can be set at start");
        tokio::select! {
            _ = interrupt => {}
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    drop(interrupt.await);
}
