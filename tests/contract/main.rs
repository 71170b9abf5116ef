//! The contract's runnable cases against this server on each of its stores, where they stand beside the checkout.
//!
//! The cases are a program of their own (`shared/contract/run.py`) that speaks HTTP only. A checkout without them
//! builds and passes: the test then says that it was skipped.

use std::{
    env,
    io::{Write, stderr},
    path::{Path, PathBuf},
    process::{Command, Output},
};

use anyhow::{Context, Result, ensure};
use tokio::{net::TcpListener, task::spawn_blocking};
use turno_postgres::Database;
use turno_server::{Administration, PostgresLedger, SqliteLedger, app, fixture::Fixture};
use turno_tests::tree::root;

#[tokio::test(flavor = "multi_thread")]
async fn the_cases_of_the_contract_pass_on_sqlite() -> Result<()> {
    let Some(cases) = cases()? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let fixture = fixture(&cases)?;
    let ledger = SqliteLedger::open(&folder.path().join("cases.db"), fixture.options()).await?;
    pass("sqlite", ledger.clone(), &fixture, &cases).await?;
    ledger.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cases_of_the_contract_pass_on_postgresql() -> Result<()> {
    let Some(cases) = cases()? else { return Ok(()) };
    let Some(database) = Database::create()? else {
        return skipped("no PostgreSQL on this machine");
    };
    let fixture = fixture(&cases)?;
    let ledger = PostgresLedger::open(&database.url(), fixture.postgres_options()).await?;
    pass("postgresql", ledger.clone(), &fixture, &cases).await?;
    ledger.close().await;
    Ok(())
}

async fn pass<L: Administration>(store: &str, ledger: L, fixture: &Fixture, cases: &Path) -> Result<()> {
    fixture.load(&ledger).await?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = tokio::spawn(axum::serve(listener, app(ledger, fixture.config())).into_future());

    let mut run = Command::new("python3");
    run.arg(cases.join("run.py")).args(["--base-url", &format!("http://{address}")]);
    let output = spawn_blocking(move || run.output()).await?;
    let Output { status, stdout, stderr: complaints } = output.context("the cases need python3")?;
    server.abort();
    let report = String::from_utf8_lossy(&stdout);
    ensure!(status.success(), "{report}\n{}", String::from_utf8_lossy(&complaints));
    writeln!(stderr(), "contract cases on {store}: {}", report.lines().last().unwrap_or_default())?;
    Ok(())
}

fn fixture(cases: &Path) -> Result<Fixture> {
    Ok(Fixture::parse(&std::fs::read(cases.join("fixture.json"))?)?)
}

/// The folder of the cases, if there is one.
fn cases() -> Result<Option<PathBuf>> {
    let shared = env::var_os("TURNO_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    let found = Some(shared.join("contract")).filter(|folder| folder.join("run.py").exists());
    if found.is_none() {
        skipped("no contract cases beside the checkout; TURNO_SHARED names another place")?;
    }
    Ok(found)
}

/// Past the test harness, which keeps the output of passing tests to itself.
fn skipped(why: &str) -> Result<()> {
    Ok(writeln!(stderr(), "SKIPPED: {why}")?)
}
