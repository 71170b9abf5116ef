//! PostgreSQL's own bench: a prepared insert of one row with a unique key, the least that a creation could do.

use std::{io::Write, path::Path, time::Duration};

use anyhow::{Context, Result, ensure};
use turno_postgres::Database;

/// About as many bytes as a sale has.
const BODY: usize = 300;

pub async fn prepare(database: &Database) -> Result<()> {
    let (client, connection) = tokio_postgres::connect(&database.url(), tokio_postgres::NoTls).await?;
    let connection = tokio::spawn(connection);
    client.batch_execute("CREATE TABLE plain (id BIGINT NOT NULL PRIMARY KEY, body TEXT NOT NULL)").await?;
    drop(client);
    connection.await??;
    Ok(())
}

/// Rows a second.
pub async fn run(database: &Database, clients: usize, length: Duration) -> Result<f64> {
    let mut script = tempfile::NamedTempFile::new()?;
    let body = "x".repeat(BODY);
    writeln!(script, "\\set id random(1, 9000000000000000000)")?;
    writeln!(script, "INSERT INTO plain (id, body) VALUES (:id, '{body}');")?;
    readable_by_all(script.path())?;
    let mut program = database.program("pgbench");
    program.args(["--no-vacuum", "--protocol", "prepared", "--jobs", "2", "--client", &clients.to_string()]);
    program.args(["--time", &length.as_secs().max(1).to_string()]).arg("--file").arg(script.path());
    let output =
        tokio::task::spawn_blocking(move || program.output()).await?.context("cannot run pgbench")?;
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "pgbench: {}", String::from_utf8_lossy(&output.stderr));
    rate(&said).with_context(|| format!("pgbench said: {said}"))
}

/// PostgreSQL's programs need not run as whoever measures.
fn readable_by_all(file: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    Ok(std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o644))?)
}

fn rate(said: &str) -> Option<f64> {
    said.lines().find_map(|line| line.strip_prefix("tps = "))?.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_read_from_what_it_prints() {
        let said = "number of failed transactions: 0 (0.000%)\nlatency average = 6.4 ms\ntps = 9981.5 (without initial connection time)\n";
        assert_eq!(rate(said), Some(9981.5));
        assert_eq!(rate(""), None);
    }
}
