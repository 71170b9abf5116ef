//! Opening a connection so that it keeps what it acknowledges.
//!
//! Invariant: every setting is read back and compared. SQLite ignores a pragma that it does not know, and a file
//! system without shared memory silently keeps the old journal: a sale must not depend on either.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use crate::{OpenError, log::make_certain};

/// How long a write waits for another process (a backup tool, a second copy) before it is refused.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Above this the write-ahead log is cut back after a checkpoint; a burst of 20 000 sales fits.
const JOURNAL_SIZE_LIMIT: i64 = 64 * 1024 * 1024;

/// Pages of 4 KiB in the log before it is written back to the file: 32 MiB. A commit of a full batch changes some
/// hundred pages, many of them again in the next one, and each is written back once.
const CHECKPOINT_PAGES: i64 = 8 * 1024;

/// KiB of pages that the writer keeps: the ends of all indexes, and whatever one commit changes.
const WRITER_CACHE_KIB: i64 = 32 * 1024;

/// `temp_store` in memory. A savepoint keeps the pages that it may have to put back; past 64 KiB they would go to a
/// file, and a sale changes more.
const IN_MEMORY: i64 = 2;

/// Enough for every statement of the till or of the server, so that none is parsed twice.
const STATEMENT_CACHE: usize = 256;

/// The one connection that writes. Creates the file if there is none.
pub(crate) fn open_writer(path: &Path) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let connection = Connection::open_with_flags(path, flags)?;
    // SQLite opens a file that it may not write without a word, and fails at the first sale.
    if connection.is_readonly("main")? {
        return Err(OpenError::NotWritable(None));
    }
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    set(&connection, "journal_mode", "WAL", "wal")?;
    set(&connection, "synchronous", "FULL", 2)?;
    set(&connection, "journal_size_limit", JOURNAL_SIZE_LIMIT, JOURNAL_SIZE_LIMIT)?;
    set(&connection, "wal_autocheckpoint", CHECKPOINT_PAGES, CHECKPOINT_PAGES)?;
    // A negative number means KiB.
    set(&connection, "cache_size", -WRITER_CACHE_KIB, -WRITER_CACHE_KIB)?;
    set(&connection, "temp_store", IN_MEMORY, IN_MEMORY)?;
    harden(&connection)?;
    make_certain(&connection, path)?;
    Ok(connection)
}

/// A connection beside the writer: it sees every commit and can change nothing.
pub(crate) fn open_reader(path: &Path) -> Result<Connection, OpenError> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    set(&connection, "query_only", "ON", 1)?;
    harden(&connection)?;
    Ok(connection)
}

/// Settings that every connection shares: references hold, and a tampered file is not believed.
fn harden(connection: &Connection) -> Result<(), OpenError> {
    // A plan depends on the statement alone. Otherwise each statement that could use a partial index is parsed and
    // planned again for every new value in it, which costs more than running it.
    if !connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)? {
        let (wanted, found) = ("on".to_owned(), "off".to_owned());
        return Err(OpenError::Setting { name: "query planner stability", wanted, found });
    }
    let timeout = i64::try_from(BUSY_TIMEOUT.as_millis()).expect("a few seconds fit");
    check(connection, "busy_timeout", timeout)?;
    set(connection, "foreign_keys", "ON", 1)?;
    set(connection, "trusted_schema", "OFF", 0)?;
    set(connection, "cell_size_check", "ON", 1)
}

fn set(
    connection: &Connection,
    name: &'static str,
    value: impl rusqlite::ToSql,
    wanted: impl ToString,
) -> Result<(), OpenError> {
    // Some pragmas answer with a row when they are set, others do not; it is `check` that looks.
    match connection.pragma_update_and_check(None, name, value, |_| Ok(())) {
        Ok(()) | Err(rusqlite::Error::QueryReturnedNoRows) => check(connection, name, wanted),
        Err(error) => Err(error.into()),
    }
}

fn check(connection: &Connection, name: &'static str, wanted: impl ToString) -> Result<(), OpenError> {
    let found: rusqlite::types::Value = connection.pragma_query_value(None, name, |row| row.get(0))?;
    let found = match found {
        rusqlite::types::Value::Integer(number) => number.to_string(),
        rusqlite::types::Value::Text(text) => text,
        rusqlite::types::Value::Null => "absent".to_owned(),
        rusqlite::types::Value::Real(_) | rusqlite::types::Value::Blob(_) => "of another kind".to_owned(),
    };
    let wanted = wanted.to_string();
    if found == wanted { Ok(()) } else { Err(OpenError::Setting { name, wanted, found }) }
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn a_statement_is_planned_once_whatever_values_come() {
        let folder = tempfile::tempdir().unwrap();
        let writer = open_writer(&folder.path().join("notes.db")).unwrap();
        writer.execute_batch("CREATE TABLE note (author TEXT, number INTEGER, state TEXT)").unwrap();
        let mut statement = writer
            .prepare("SELECT number FROM note WHERE author = ?1 AND state = ?2 ORDER BY number DESC LIMIT 1")
            .unwrap();
        for author in ["one", "two", "three"] {
            assert!(!statement.exists([author, "open"]).unwrap());
        }
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
    }
}
