//! Copies of the database, for the day that it cannot be read.
//!
//! A copy is made beside its name, forced to the disk, checked, and only then named: whatever bears a backup's name is a
//! whole database. Invariant: making one never changes what it copies, and a failure costs nothing but the copy.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::Offset;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use turno_sqlite::Database;

use crate::clock::Millis;
use crate::store::installation;

pub const FOLDER: &str = "backups";
/// A copy a day, and one at the end of each shift: a week of two shifts.
const KEPT: usize = 14;
/// Copies of before an upgrade are for a program that was put back; nobody goes back further.
const KEPT_UPGRADES: usize = 3;
pub const EVERY_MS: Millis = 24 * 60 * 60 * 1_000;

const USUAL: &str = "till-";
const BEFORE_UPGRADE: &str = "upgrade-";
const STAMP: &str = "%Y%m%dT%H%M%SZ";

#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("the backup cannot be written")]
    Io(#[from] io::Error),
    #[error("the database cannot be copied")]
    Database(#[from] rusqlite::Error),
    #[error("the copy does not pass its check: {0}")]
    Broken(String),
}

/// Copies the open database into the folder and lets go of the oldest copies.
///
/// # Errors
/// There is no new copy; the older ones are as they were.
pub async fn make(db: &Database, folder: &Path, now: Millis) -> Result<PathBuf, BackupError> {
    let path = folder.join(name(USUAL, now));
    let copy = path.clone();
    let made = db.read(move |conn| Ok(write(conn, &copy))).await?;
    made?;
    rotate(folder, USUAL, KEPT)?;
    Ok(path)
}

/// Copies a database whose schema is older than `known`, before it is brought up to date. A new file has nothing to
/// lose, and one that cannot be read is not this function's to judge.
///
/// # Errors
/// The copy could not be made.
pub fn before_upgrade(database: &Path, folder: &Path, known: u32, now: Millis) -> Result<(), BackupError> {
    if !database.exists() {
        return Ok(());
    }
    // A connection that may write would put the log back into the file when it closes, before the writer has made
    // certain that the log is on the medium.
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(database, flags)?;
    let Ok(version) = conn.pragma_query_value(None, "user_version", |row| row.get::<_, u32>(0)) else {
        return Ok(());
    };
    if version == 0 || version >= known {
        return Ok(());
    }
    write(&conn, &folder.join(name(BEFORE_UPGRADE, now)))?;
    rotate(folder, BEFORE_UPGRADE, KEPT_UPGRADES)
}

/// Whether it is time for another copy. A newest copy from the future is one that a wrong clock dated.
#[must_use]
pub fn is_due(folder: &Path, now: Millis) -> bool {
    newest_at(folder).is_none_or(|made| (now - made).abs() >= EVERY_MS)
}

/// When the newest copy was made, if there is one.
#[must_use]
pub fn newest_at(folder: &Path) -> Option<Millis> {
    all(folder).into_iter().rev().find_map(|path| stamp_of(&path))
}

/// Every copy there is, the oldest first.
#[must_use]
pub fn all(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<(String, PathBuf)> = [USUAL, BEFORE_UPGRADE]
        .into_iter()
        .flat_map(|kind| named(folder, kind))
        .filter_map(|path| Some((path.file_name()?.to_str()?.split_once('-')?.1.to_owned(), path)))
        .collect();
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

/// The last number of a sale that the newest copy holds; 0 without one.
#[must_use]
pub fn last_sequence(folder: &Path) -> i64 {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let newest = all(folder).into_iter().rev().find_map(|path| {
        Connection::open_with_flags(path, flags).and_then(|conn| installation::last_sequence(&conn)).ok()
    });
    newest.unwrap_or_default()
}

/// What is wrong with a database file, as SQLite says; `None` when it is whole. Nothing is written to it, nor to its
/// log: a file that is damaged stays as it is.
///
/// SQLite also reports a page that could not be read just now as a fault of the file. So it is asked again, and only
/// what is wrong both times is.
///
/// # Errors
/// It cannot be read at all, which says nothing about what is in it.
pub fn fault(path: &Path) -> rusqlite::Result<Option<String>> {
    match fault_now(path)? {
        Some(_) => fault_now(path),
        None => Ok(None),
    }
}

fn fault_now(path: &Path) -> rusqlite::Result<Option<String>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let said = Connection::open_with_flags(path, flags)
        .and_then(|conn| conn.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0)));
    match said {
        Ok(said) => Ok((said != "ok").then_some(said)),
        Err(error) => match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Ok(Some(error.to_string())),
            Some(_) | None => Err(error),
        },
    }
}

fn write(conn: &Connection, path: &Path) -> Result<(), BackupError> {
    let folder = path.parent().expect("the copy's name was joined to a folder");
    fs::create_dir_all(folder)?;
    let partial = path.with_extension("partial");
    remove(&partial)?;
    {
        let mut copy = Connection::open(&partial)?;
        // The copy is one file: what is in the log of the original is in it.
        let backup = Backup::new(conn, &mut copy)?;
        if backup.step(-1)? != StepResult::Done {
            return Err(BackupError::Broken("the database is busy".to_owned()));
        }
        drop(backup);
        copy.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
    }
    File::open(&partial)?.sync_all()?;
    if let Some(fault) = fault(&partial)? {
        return Err(BackupError::Broken(fault));
    }
    fs::rename(&partial, path)?;
    sync_folder(folder)?;
    Ok(())
}

fn rotate(folder: &Path, kind: &str, kept: usize) -> Result<(), BackupError> {
    let copies = named(folder, kind);
    for old in &copies[..copies.len().saturating_sub(kept)] {
        remove(old)?;
    }
    Ok(())
}

/// Copies of one kind, the oldest first: their names sort by time.
fn named(folder: &Path, kind: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut copies: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "db"))
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(kind)))
        .collect();
    copies.sort();
    copies
}

fn name(kind: &str, now: Millis) -> String {
    format!("{kind}{}.db", stamp(now))
}

/// A moment as it stands in file names; it sorts by time.
pub fn stamp(at: Millis) -> String {
    let at = Timestamp::from_millisecond(at).unwrap_or(Timestamp::MAX);
    Offset::UTC.to_datetime(at).strftime(STAMP).to_string()
}

fn stamp_of(path: &Path) -> Option<Millis> {
    let stamp = path.file_stem()?.to_str()?.split_once('-')?.1;
    let at = jiff::civil::DateTime::strptime(STAMP, stamp).ok()?;
    Some(Offset::UTC.to_timestamp(at).ok()?.as_millisecond())
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// A name is on the disk once its folder is.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests;
