//! The ledger in one SQLite file: for a till that practises, a desk, a small company.
//!
//! Invariant: one writer commits in groups, so two requests never interleave inside a transaction: a read before a
//! write decides here what unique indexes decide elsewhere. The indexes are there all the same.

mod administration;
mod audit;
mod books;
mod catalog;
mod challenge;
mod company;
mod credential;
mod enrolment;
mod key;
mod ledger;
mod likeness;
mod payment;
mod row;
mod sale;
mod scope;
mod secret;
mod transfer;
mod void;

use std::{path::Path, sync::Arc};

use jiff::SignedDuration;
use rusqlite::Connection;
use turno_sqlite::{Database, Migration, OpenError, Options, WriteError};

use crate::{
    callers::Callers, ledger::LedgerError, payment::DEFAULT_LEASE, secrets::LastRead, token, world::World,
};
use books::SqliteBooks;

pub use turno_sqlite::{Commits, WriterMode};

const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, name: "ledger", sql: include_str!("sqlite/schema/0001_ledger.sql") },
    Migration { version: 2, name: "payments", sql: include_str!("sqlite/schema/0002_payments.sql") },
    Migration { version: 3, name: "clues", sql: include_str!("sqlite/schema/0003_clues.sql") },
    Migration {
        version: 4,
        name: "seats of services",
        sql: include_str!("sqlite/schema/0004_seats_of_services.sql"),
    },
];

/// How long an answer is repeated, unless a ledger is opened with another time. A weekend of retries fits widely.
pub const DEFAULT_KEY_RETENTION: SignedDuration = SignedDuration::from_hours(30 * 24);

#[derive(Clone, Debug)]
pub struct SqliteLedger {
    database: Database,
    secrets: LastRead,
    world: World,
    key_retention: SignedDuration,
    lease: SignedDuration,
    callers: Callers,
    /// Owners of payments carry it: whoever started before this process did is known to be gone.
    instance: Arc<str>,
}

/// How a ledger's file is opened.
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    pub world: World,
    pub writer: WriterMode,
    pub commits: Commits,
    pub key_retention: SignedDuration,
    /// See [`DEFAULT_LEASE`].
    pub lease: SignedDuration,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            world: World::system(),
            writer: WriterMode::Thread,
            commits: Commits::Grouped,
            key_retention: DEFAULT_KEY_RETENTION,
            lease: DEFAULT_LEASE,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum OpenLedgerError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("the server's secrets could not be read or made")]
    Secrets(#[source] LedgerError),
}

impl SqliteLedger {
    /// Open or create the file. The first opening makes the server's secrets.
    pub async fn open(path: &Path, options: SqliteOptions) -> Result<Self, OpenLedgerError> {
        let SqliteOptions { world, writer, commits, key_retention, lease } = options;
        let database = Database::open(path, MIGRATIONS, Options { mode: writer, commits })?;
        let (now, fresh) = (world.now(), [(); 2].map(|()| world.random()));
        let secrets = database
            .write(move |connection| secret::load_or_make(connection, now, fresh))
            .await
            .map_err(|error| OpenLedgerError::Secrets(write_error(error)))?;
        let instance = token::hex(&world.random::<8>()).into();
        let callers = Callers::default();
        let secrets = LastRead::new(secrets);
        Ok(Self { database, secrets, world, key_retention, lease, callers, instance })
    }

    /// Commit what waits and let go of the file.
    pub async fn close(&self) {
        self.database.close().await;
    }

    pub fn world(&self) -> &World {
        &self.world
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, LedgerError> {
        self.database.read(work).await.map_err(sqlite_error)
    }

    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut SqliteBooks<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, LedgerError> {
        let ledger = self.clone();
        let write = self.database.write(move |connection| {
            let mut books = SqliteBooks::new(connection, &ledger);
            work(&mut books)
        });
        write.await.map_err(write_error)
    }
}

fn write_error(error: WriteError<rusqlite::Error>) -> LedgerError {
    match error {
        WriteError::Rejected(error) => sqlite_error(error),
        error @ (WriteError::Full
        | WriteError::OutcomeUnknown(_)
        | WriteError::NotCommitted(_)
        | WriteError::Closed) => LedgerError::Unavailable(Box::new(error)),
    }
}

fn sqlite_error(error: rusqlite::Error) -> LedgerError {
    use rusqlite::ErrorCode::{ConstraintViolation, DatabaseCorrupt, TypeMismatch, Unknown};
    let is_our_fault = match error.sqlite_error_code() {
        // Not SQLite's: a row that cannot be understood.
        None => true,
        Some(ConstraintViolation | DatabaseCorrupt | TypeMismatch | Unknown) => true,
        Some(_) => false,
    };
    if is_our_fault {
        LedgerError::Internal(Box::new(error))
    } else {
        LedgerError::Unavailable(Box::new(error))
    }
}
