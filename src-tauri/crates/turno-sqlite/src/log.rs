//! Making certain what an earlier connection left in the log, before anybody relies on it.
//!
//! A sync that fails leaves pages which reads still show and which the kernel calls clean: a later sync succeeds
//! without writing them. A connection that opens such a log recovers commits from it that are on no medium, everything
//! after them would be unreadable once the power is cut, and nobody would know. So the log is written again, byte for
//! byte, and synced. Invariant: what a writer finds when it opens is on the medium, or it does not open.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

use rusqlite::{Connection, ffi};

/// Few calls for a log of some megabytes.
const PIECE_BYTES: usize = 256 * 1024;

/// Nobody can add to the log meanwhile, also no other process. SQLite holds its locks on the database and on the
/// log's index and none on the log, so that opening and closing the log here drops none of them.
pub(crate) fn make_certain(connection: &Connection, database: &Path) -> rusqlite::Result<()> {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    let log = Path::new(&log);
    if log.metadata().map_or(0, |found| found.len()) == 0 {
        return Ok(());
    }
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let written = write_again(log);
    connection.execute_batch("ROLLBACK")?;
    written.map_err(as_sqlite_error)
}

fn write_again(log: &Path) -> io::Result<()> {
    let mut file = File::options().read(true).write(true).open(log)?;
    let mut piece = vec![0; PIECE_BYTES];
    let mut at = 0;
    loop {
        file.seek(SeekFrom::Start(at))?;
        let length = file.read(&mut piece)?;
        if length == 0 {
            return file.sync_all();
        }
        file.seek(SeekFrom::Start(at))?;
        file.write_all(&piece[..length])?;
        at += u64::try_from(length).expect("a piece is small");
    }
}

fn as_sqlite_error(error: io::Error) -> rusqlite::Error {
    let code = if error.kind() == ErrorKind::StorageFull { ffi::SQLITE_FULL } else { ffi::SQLITE_IOERR };
    rusqlite::Error::SqliteFailure(
        ffi::Error::new(code),
        Some(format!("the log cannot be written again: {error}")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_is_written_again_is_what_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("notes.db-wal");
        for length in [0, 1, PIECE_BYTES - 1, PIECE_BYTES, 2 * PIECE_BYTES + 7] {
            let bytes: Vec<u8> = (0..length).map(|at| u8::try_from(at % 251).unwrap()).collect();
            std::fs::write(&log, &bytes).unwrap();
            write_again(&log).unwrap();
            assert_eq!(std::fs::read(&log).unwrap(), bytes, "{length} bytes");
        }
    }
}
