//! Read connections beside the writer, opened when they are first needed.
//!
//! Invariant: every read sees one snapshot, and none of them can change the file or outlive [`Readers::close`].

use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use crate::{OpenError, connection::open_reader};

/// Reads at once. They are short and served from memory; more would only compete for the processor.
const READERS: u32 = 4;

pub(crate) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    pub(crate) places: Semaphore,
}

impl Readers {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, idle: Mutex::default(), places: Semaphore::new(READERS as usize) }
    }

    /// Run `work` on the calling thread. The caller holds one of the `places`.
    pub(crate) fn run<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => open_reader(&self.path).map_err(as_sqlite_error)?,
        };
        let snapshot = connection.unchecked_transaction()?;
        let value = work(&snapshot)?;
        snapshot.finish()?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        Ok(value)
    }

    /// Let go of the connections that wait for the next read. While one is open it keeps the log's index as it was
    /// before a commit that failed, and a new writer would not look at what the log really holds.
    pub(crate) fn forget(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Wait for the reads under way, then let go of the file.
    pub(crate) async fn close(&self) {
        let all = self.places.acquire_many(READERS).await;
        self.places.close();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
        drop(all);
    }
}

fn as_sqlite_error(error: OpenError) -> rusqlite::Error {
    match error {
        OpenError::NotWritable(Some(source))
        | OpenError::NotADatabase(source)
        | OpenError::Damaged(source)
        | OpenError::Full(source)
        | OpenError::Locked(source)
        | OpenError::Migration { source, .. }
        | OpenError::Other(source) => source,
        error @ (OpenError::Newer { .. } | OpenError::NotWritable(None) | OpenError::Setting { .. }) => {
            rusqlite::Error::SqliteFailure(
                rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN),
                Some(error.to_string()),
            )
        }
    }
}
