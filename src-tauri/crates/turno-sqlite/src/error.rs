//! What can go wrong with the file, told apart by what somebody has to do about it.
//!
//! Invariant: a write that may have reached the disk is [`WriteError::OutcomeUnknown`] and never anything milder.

use rusqlite::ErrorCode;

/// Why a database could not be opened. Nothing was changed, except that complete migrations stay.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("the database has schema version {found}, this program knows {known}")]
    Newer { found: u32, known: u32 },
    #[error("the database or its folder cannot be written")]
    NotWritable(#[source] Option<rusqlite::Error>),
    #[error("the file is not a database")]
    NotADatabase(#[source] rusqlite::Error),
    #[error("the database is damaged")]
    Damaged(#[source] rusqlite::Error),
    #[error("the disk is full")]
    Full(#[source] rusqlite::Error),
    #[error("another program holds the database")]
    Locked(#[source] rusqlite::Error),
    #[error("setting {name} is {found}, not {wanted}")]
    Setting { name: &'static str, wanted: String, found: String },
    #[error("migration {version} ({name}) failed")]
    Migration {
        version: u32,
        name: &'static str,
        #[source]
        source: rusqlite::Error,
    },
    #[error("the database could not be opened")]
    Other(#[source] rusqlite::Error),
}

impl From<rusqlite::Error> for OpenError {
    fn from(error: rusqlite::Error) -> Self {
        use ErrorCode::{
            CannotOpen, DatabaseBusy, DatabaseCorrupt, DatabaseLocked, DiskFull, NotADatabase,
            PermissionDenied, ReadOnly,
        };
        match error.sqlite_error_code() {
            Some(CannotOpen | ReadOnly | PermissionDenied) => Self::NotWritable(Some(error)),
            Some(NotADatabase) => Self::NotADatabase(error),
            Some(DatabaseCorrupt) => Self::Damaged(error),
            Some(DiskFull) => Self::Full(error),
            Some(DatabaseBusy | DatabaseLocked) => Self::Locked(error),
            Some(_) | None => Self::Other(error),
        }
    }
}

/// Why a write was not acknowledged. `E` is the closure's own error.
#[derive(Debug, thiserror::Error)]
pub enum WriteError<E> {
    /// The closure refused: its savepoint was rolled back, the writes beside it were not touched.
    #[error("the write was refused")]
    Rejected(#[source] E),
    /// The disk is full; nothing of this write was kept.
    #[error("the disk is full")]
    Full,
    /// The commit failed half-way: the rows may be on the disk or not. Look them up before doing anything else.
    #[error("it is not known whether the write was committed")]
    OutcomeUnknown(#[source] rusqlite::Error),
    /// Nothing of this write was kept; the same write may be tried again.
    #[error("the write was not committed")]
    NotCommitted(#[source] rusqlite::Error),
    /// The database was closed first; nothing of this write was kept.
    #[error("the database is closed")]
    Closed,
}

/// Whether SQLite reported that the medium has no room left, for errors that a closure carries in its own type.
pub fn is_disk_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
}

/// What became of a whole batch; every write in it shares this fate.
#[derive(Debug)]
pub(crate) enum Fate {
    Committed,
    Full,
    Unknown(rusqlite::Error),
    NotCommitted(rusqlite::Error),
}

impl Fate {
    pub(crate) fn not_committed(error: rusqlite::Error) -> Self {
        if is_disk_full(&error) { Self::Full } else { Self::NotCommitted(error) }
    }

    /// After a failed COMMIT. A full disk is noticed before the commit frame is written, and the codes for a
    /// held lock and for a violated constraint before anything is; all the rest may have left a complete commit.
    pub(crate) fn of_failed_commit(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::ConstraintViolation) => {
                Self::NotCommitted(error)
            }
            Some(_) | None => Self::Unknown(error),
        }
    }

    pub(crate) fn as_error<E>(&self) -> Option<WriteError<E>> {
        match self {
            Self::Committed => None,
            Self::Full => Some(WriteError::Full),
            Self::Unknown(error) => Some(WriteError::OutcomeUnknown(copy(error))),
            Self::NotCommitted(error) => Some(WriteError::NotCommitted(copy(error))),
        }
    }
}

/// `rusqlite::Error` cannot be cloned, and one failed commit has to be told to everybody who waited for it.
fn copy(error: &rusqlite::Error) -> rusqlite::Error {
    let code = error
        .sqlite_error()
        .copied()
        .unwrap_or_else(|| rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ERROR));
    rusqlite::Error::SqliteFailure(code, Some(error.to_string()))
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn a_commit_that_failed_in_the_disk_may_have_been_kept_and_is_never_called_undone() {
        for code in [ffi::SQLITE_IOERR_FSYNC, ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_CORRUPT, ffi::SQLITE_NOMEM]
        {
            let fate = Fate::of_failed_commit(failure(code));
            assert!(matches!(fate, Fate::Unknown(_)), "{code}: {fate:?}");
        }
        for code in [ffi::SQLITE_BUSY, ffi::SQLITE_CONSTRAINT_FOREIGNKEY] {
            let fate = Fate::of_failed_commit(failure(code));
            assert!(matches!(fate, Fate::NotCommitted(_)), "{code}: {fate:?}");
        }
        assert!(matches!(Fate::of_failed_commit(failure(ffi::SQLITE_FULL)), Fate::Full));
    }

    #[test]
    fn everybody_who_waited_for_a_failed_commit_is_told_its_code() {
        let fate = Fate::Unknown(failure(ffi::SQLITE_IOERR_FSYNC));
        for _ in 0..2 {
            let Some(WriteError::<()>::OutcomeUnknown(error)) = fate.as_error() else {
                panic!("{fate:?}");
            };
            assert_eq!(error.sqlite_extended_error_code(), Some(ffi::SQLITE_IOERR_FSYNC));
        }
    }

    fn failure(code: i32) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
    }
}
