//! What is done when the database cannot be read, or is not there: the newest good backup takes its place.
//!
//! The damaged files are set aside together under the day's name; nothing is deleted. Invariant: they are only moved
//! when a good backup stands ready, and a kill between any two steps is finished by the next start. A restored till is
//! an older state of itself, so the guard gives it a new epoch before its next sale.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use turno_sqlite::{Database, OpenError, WriteError, WriterMode};

use crate::backup::{self, stamp, sync_folder};
use crate::clock::Millis;
use crate::journal::{self, Ticket, Voided};
use crate::outbox::Policy;
use crate::random::SharedEntropy;
use crate::settle::Context;
use crate::store::{self, installation};
use crate::view::Problem;

pub const FOLDER: &str = "damaged";
/// Tickets in one commit while the journal is played back.
const BATCH: usize = 100;
/// What belongs to a SQLite database: a log that is left behind would be played into the next one.
const PARTS: [&str; 3] = ["-wal", "-shm", ""];

/// What was done to get the folder open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The backup's file name.
    pub backup: String,
    /// Where the damaged files are, below the data folder; nothing when there were none.
    pub set_aside: Option<String>,
    pub fault: String,
}

/// Opens the database of a folder, from a backup if it must be.
///
/// # Errors
/// It cannot be opened and no backup can take its place; nothing was moved.
pub fn open(
    folder: &Path,
    backups: &Path,
    mode: WriterMode,
    now: Millis,
) -> Result<(Database, Option<Recovery>), OpenError> {
    let path = folder.join(store::FILE_NAME);
    // An empty file holds no till, and would be taken for a new one.
    let is_there = fs::metadata(&path).is_ok_and(|file| file.len() > 0);
    let fault = if is_there {
        match backup::fault(&path) {
            Ok(Some(fault)) => fault,
            // What cannot even be looked at has its own name when it is opened.
            Ok(None) | Err(_) => {
                if let Err(error) = backup::before_upgrade(&path, backups, store::SCHEMA_VERSION, now) {
                    tracing::error!(%error, "the database cannot be copied before its upgrade");
                }
                return Ok((store::open(folder, mode)?, None));
            }
        }
    } else {
        "the database is not there".to_owned()
    };
    let ready = path.with_extension("restored");
    let restored = prepare(backups, &ready).map_err(unreadable_folder)?;
    let Some(backup) = restored else {
        if is_there {
            let damaged = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
            return Err(OpenError::Damaged(rusqlite::Error::SqliteFailure(damaged, Some(fault))));
        }
        return Ok((store::open(folder, mode)?, None));
    };
    let set_aside = set_aside(folder, now).map_err(unreadable_folder)?;
    fs::rename(&ready, &path).and_then(|()| sync_folder(folder)).map_err(unreadable_folder)?;
    tracing::error!(%fault, backup, "the database was damaged; a backup took its place");
    let db = store::open(folder, mode)?;
    Ok((db, Some(Recovery { backup, set_aside, fault })))
}

/// Copies the newest backup that is whole to where it can be renamed into place. Says which one it was.
fn prepare(backups: &Path, ready: &Path) -> io::Result<Option<String>> {
    for backup in backup::all(backups).into_iter().rev() {
        if !matches!(backup::fault(&backup), Ok(None)) {
            tracing::error!(backup = %backup.display(), "a backup is damaged; an older one is looked for");
            continue;
        }
        fs::copy(&backup, ready)?;
        File::open(ready)?.sync_all()?;
        let name = backup.file_name().map(|name| name.to_string_lossy().into_owned());
        return Ok(name);
    }
    Ok(None)
}

/// Moves the database with its log to a folder of its own, the log first: a log without its database is nothing, a
/// database without its log is only older.
fn set_aside(folder: &Path, now: Millis) -> io::Result<Option<String>> {
    let parts: Vec<PathBuf> = PARTS
        .iter()
        .map(|part| folder.join(format!("{}{part}", store::FILE_NAME)))
        .filter(|part| part.exists())
        .collect();
    if parts.is_empty() {
        return Ok(None);
    }
    let kept = folder.join(FOLDER);
    let place = (0..)
        .map(|attempt: u32| if attempt == 0 { stamp(now) } else { format!("{}-{attempt}", stamp(now)) })
        .map(|name| kept.join(name))
        .find(|place| !place.exists())
        .expect("some number is free");
    fs::create_dir_all(&place)?;
    for part in parts {
        let name = part.file_name().expect("it was joined to a folder");
        fs::rename(&part, place.join(name))?;
    }
    sync_folder(&place)?;
    sync_folder(folder)?;
    Ok(place.file_name().map(|name| format!("{FOLDER}/{}", name.to_string_lossy())))
}

/// What the journal had and the database did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PutBack {
    pub sales_count: u32,
    pub voids_count: u32,
}

impl PutBack {
    #[must_use]
    pub fn is_nothing(self) -> bool {
        self == Self::default()
    }
}

/// Puts back what the journal has and the database does not: sales and voids of after the backup that was opened, or
/// of after whatever file somebody put in the database's place. A kill is gone on from at the next start, since
/// tickets come in the order of their numbers and all voids that are missing are looked for again.
///
/// # Errors
/// The database cannot be written.
pub async fn play_journal(
    db: &Database,
    folder: &Path,
    policy: Policy,
    entropy: &SharedEntropy,
    now: Millis,
) -> Result<PutBack, Problem> {
    let known = db.read(installation::last_sequence).await?;
    let is_behind = journal::last_sequence(folder).is_some_and(|journaled| journaled > known);
    let sales_count = if is_behind { play_tickets(db, folder, known, now).await? } else { 0 };
    let Some(enrolment) = db.read(installation::enrolment).await? else { return Ok(PutBack::default()) };
    let context = Context { scope: enrolment.scope, policy, entropy: Arc::clone(entropy) };
    let voids_count = play_voids(db, folder, context, now).await?;
    Ok(PutBack { sales_count, voids_count })
}

async fn play_tickets(db: &Database, folder: &Path, known: i64, now: Millis) -> Result<u32, Problem> {
    let mut tickets = journal::tickets_behind(folder, known);
    let mut recovered = 0;
    loop {
        let batch: Vec<Ticket> = tickets.by_ref().take(BATCH).collect();
        if batch.is_empty() {
            return Ok(recovered);
        }
        recovered += db
            .write(move |conn| {
                let put_back = batch.iter().map(|ticket| ticket.put_back(conn, now));
                Ok::<_, Problem>(put_back.sum::<Result<u32, rusqlite::Error>>()?)
            })
            .await?;
    }
}

async fn play_voids(db: &Database, folder: &Path, context: Context, now: Millis) -> Result<u32, Problem> {
    let journaled: Vec<Voided> = journal::voids(folder).collect();
    let missing = db
        .read(move |conn| {
            let missing = journaled.into_iter().map(|void| Ok(void.is_missing(conn)?.then_some(void)));
            missing.filter_map(Result::transpose).collect::<rusqlite::Result<Vec<Voided>>>()
        })
        .await?;
    let mut recovered = 0;
    for void in missing {
        let context = context.clone();
        match db.write(move |conn| void.put_back(conn, &context, now)).await {
            Ok(put_back) => recovered += u32::from(put_back),
            // It stays in the journal, and the next start looks for it again: nothing is lost by selling on.
            Err(WriteError::Rejected(problem)) => {
                tracing::error!(code = ?problem.code, said = problem.detail, "a void cannot be put back");
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(recovered)
}

fn unreadable_folder(error: io::Error) -> OpenError {
    let code = if error.kind() == io::ErrorKind::StorageFull {
        rusqlite::ffi::SQLITE_FULL
    } else {
        rusqlite::ffi::SQLITE_CANTOPEN
    };
    let error = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), Some(error.to_string()));
    OpenError::from(error)
}
