//! What the practice server and the till wrote, read from their files while no till is open.

use std::path::Path;

use anyhow::{Context, Result};
use rusqlite::{Connection, OpenFlags};
use turno_tests::Machine;

/// A transaction at the server.
#[derive(Debug, PartialEq, Eq)]
pub struct Transaction {
    pub external_id: String,
    pub seat: Option<String>,
    pub buyer_name: Option<String>,
}

/// Everything that the server holds, in order of arrival.
pub fn transactions(machine: &Machine) -> Result<Vec<Transaction>> {
    let sql = "SELECT external_transaction_id, seat, buyer_name FROM sale ORDER BY arrival";
    list(&machine.server_database(), sql, |row| {
        Ok(Transaction { external_id: row.get(0)?, seat: row.get(1)?, buyer_name: row.get(2)? })
    })
}

/// Every key that the server was ever sent.
pub fn keys_at_the_server(machine: &Machine) -> Result<Vec<String>> {
    let sql = "SELECT idempotency_key FROM idempotency_key ORDER BY idempotency_key";
    list(&machine.server_database(), sql, |row| row.get(0))
}

/// The server's audit rows of one kind, as JSON.
pub fn audit(machine: &Machine, event: &str) -> Result<Vec<serde_json::Value>> {
    let texts = list(&machine.server_database(), "SELECT entry FROM audit ORDER BY number", |row| {
        row.get::<_, String>(0)
    })?;
    let entries: Vec<serde_json::Value> =
        texts.iter().map(|text| serde_json::from_str(text)).collect::<Result<_, _>>()?;
    Ok(entries.into_iter().filter(|entry| entry["event"] == event).collect())
}

/// The key of every attempt that the till made for a sale, in order.
pub fn keys_of_attempts(machine: &Machine, external_id: &str) -> Result<Vec<String>> {
    let sql = "SELECT requests.idempotency_key, sales.external_transaction_id
        FROM attempts
        JOIN requests ON requests.request_id = attempts.request_id
        JOIN sales ON sales.sequence = requests.sequence
        ORDER BY attempts.attempt_id";
    let all =
        list(&machine.till_database(), sql, |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    Ok(all.into_iter().filter(|(_, sale)| sale == external_id).map(|(key, _)| key).collect())
}

fn list<T>(
    path: &Path,
    sql: &str,
    read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    // Writable, because what a killed process left in the journal has to be taken in first.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let connection = Connection::open_with_flags(path, flags)
        .with_context(|| format!("cannot open {}", path.display()))?;
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}
