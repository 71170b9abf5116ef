//! The whole suite against the reference server, on each of its stores.

use std::io::{Write, stderr};

use anyhow::{Result, ensure};
use turno_conformance::{Report, Verdict, cases, run};
use turno_postgres::Database;

use crate::server::Server;

#[tokio::test(flavor = "multi_thread")]
async fn the_server_on_sqlite_keeps_the_contract_however_often_it_is_asked() -> Result<()> {
    let server = Server::on_sqlite(|router| router).await?;
    for _ in 0..2 {
        all_passed("sqlite", &run(&server.target, cases()).await)?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_on_postgresql_keeps_the_contract() -> Result<()> {
    let Some(database) = Database::create()? else {
        // Past the test harness, which keeps the output of passing tests to itself.
        return Ok(writeln!(stderr(), "SKIPPED: no PostgreSQL on this machine")?);
    };
    let server = Server::on_postgres(&database).await?;
    all_passed("postgresql", &run(&server.target, cases()).await)
}

/// Nothing is skipped either: the fixture has everybody.
fn all_passed(store: &str, report: &Report) -> Result<()> {
    let odd = report.cases.iter().filter(|(_, verdict)| *verdict != Verdict::Passed).count();
    ensure!(odd == 0, "on {store}:\n{report}");
    // Past the test harness, which keeps the output of passing tests to itself.
    writeln!(stderr(), "conformance on {store}: {} cases passed", report.cases.len())?;
    Ok(())
}
