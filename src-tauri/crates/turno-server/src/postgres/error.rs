//! What can go wrong with PostgreSQL, sorted by what is to be done about it.
//!
//! Invariant: what is printed never holds a value of a row: the server's `DETAIL` stays out of logs.

use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;

use crate::ledger::LedgerError;

#[derive(Debug, thiserror::Error)]
pub(super) enum StoreError {
    #[error("postgresql: {}", in_short(.0))]
    Postgres(#[from] tokio_postgres::Error),
    #[error("no connection to postgresql: {}", pool_in_short(.0))]
    Pool(#[from] PoolError),
    /// The end of a company's series is held by somebody who does not come back.
    #[error("the company's audit is held by another transaction")]
    HeadIsHeld,
    #[error("column {0} holds what this program does not write")]
    Unreadable(&'static str),
    #[error("a row is missing: {0}")]
    Missing(&'static str),
    /// What was read is no longer so.
    #[error("another transaction came first")]
    Overtaken,
    /// Every attempt collided with another transaction.
    #[error("other transactions came first, again and again")]
    Contended,
}

/// What to do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// Another transaction came first, and everything is evaluated again in a new one.
    Again,
    /// Another transaction holds what is needed and goes on holding it.
    Busy,
    /// The database cannot be reached, is full or is a stand-by.
    Later,
    /// A bug or damaged rows.
    None,
}

impl StoreError {
    pub(super) fn remedy(&self) -> Remedy {
        match self {
            Self::Postgres(error) => match error.code() {
                Some(state) => of_state(state),
                // Not from the server: the connection failed, or a value is not of its column's type.
                None if is_conversion(error) => Remedy::None,
                None => Remedy::Later,
            },
            Self::Pool(PoolError::Backend(error)) => match error.code().map(of_state) {
                Some(Remedy::None) | None => Remedy::Later,
                Some(remedy @ (Remedy::Again | Remedy::Busy | Remedy::Later)) => remedy,
            },
            Self::Pool(
                PoolError::Timeout(_)
                | PoolError::Closed
                | PoolError::NoRuntimeSpecified
                | PoolError::PostCreateHook(_),
            )
            | Self::HeadIsHeld
            | Self::Contended => Remedy::Later,
            Self::Overtaken => Remedy::Again,
            Self::Unreadable(_) | Self::Missing(_) => Remedy::None,
        }
    }
}

fn of_state(state: &SqlState) -> Remedy {
    match *state {
        SqlState::UNIQUE_VIOLATION
        | SqlState::IN_FAILED_SQL_TRANSACTION
        | SqlState::T_R_SERIALIZATION_FAILURE
        | SqlState::T_R_DEADLOCK_DETECTED => Remedy::Again,
        SqlState::LOCK_NOT_AVAILABLE => Remedy::Busy,
        SqlState::QUERY_CANCELED
        | SqlState::READ_ONLY_SQL_TRANSACTION
        | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => Remedy::Later,
        _ => match &state.code()[..2] {
            // Connection, authorisation, resources, operator intervention, the system itself.
            "08" | "28" | "53" | "57" | "58" => Remedy::Later,
            _ => Remedy::None,
        },
    }
}

fn is_conversion(error: &tokio_postgres::Error) -> bool {
    use std::error::Error;
    let io = error.source().is_some_and(|source| source.is::<std::io::Error>());
    !io && !error.is_closed() && error.source().is_some()
}

fn in_short(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => format!("{} ({})", said.code().code(), said.constraint().unwrap_or("no constraint")),
        None => error.to_string(),
    }
}

fn pool_in_short(error: &PoolError) -> String {
    match error {
        PoolError::Backend(error) => in_short(error),
        PoolError::Timeout(_)
        | PoolError::Closed
        | PoolError::NoRuntimeSpecified
        | PoolError::PostCreateHook(_) => error.to_string(),
    }
}

impl From<StoreError> for LedgerError {
    fn from(error: StoreError) -> Self {
        match error.remedy() {
            Remedy::None => Self::Internal(Box::new(error)),
            Remedy::Again | Remedy::Busy | Remedy::Later => Self::Unavailable(Box::new(error)),
        }
    }
}
