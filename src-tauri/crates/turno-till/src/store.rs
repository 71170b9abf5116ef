//! The till's one database file. A module a table; each has its SQL, its row and its functions on a connection.
//!
//! Invariant: functions here never open a transaction; the use-case that calls them does, through
//! [`Database::write`], so that what belongs together is committed together.

use std::path::Path;

use turno_sqlite::{Database, Migration, OpenError, Options, WriterMode};

pub mod attempts;
pub mod audit;
pub mod catalog;
pub mod closings;
pub mod corrections;
pub mod discounts;
pub mod elsewhere;
pub mod epochs;
pub mod figures;
#[cfg(test)]
pub(crate) mod fixture;
pub mod found;
pub mod imported;
pub mod installation;
pub mod movements;
pub mod outbox;
pub mod payments;
pub mod people;
pub mod print_jobs;
pub mod printer;
pub mod questions;
pub mod reconciliations;
pub mod requests;
pub mod resolutions;
pub mod sale_terms;
pub mod sales;
pub mod shifts;
pub mod summaries;
pub mod tenders;
pub mod voids;

pub const FILE_NAME: &str = "till.db";

const MIGRATIONS: [Migration; 17] = [
    Migration { version: 1, name: "initial", sql: include_str!("../migrations/0001_initial.sql") },
    Migration { version: 2, name: "identity", sql: include_str!("../migrations/0002_identity.sql") },
    Migration { version: 3, name: "sending", sql: include_str!("../migrations/0003_sending.sql") },
    Migration { version: 4, name: "recovered", sql: include_str!("../migrations/0004_recovered.sql") },
    Migration {
        version: 5,
        name: "reconciliation",
        sql: include_str!("../migrations/0005_reconciliation.sql"),
    },
    Migration { version: 6, name: "printing", sql: include_str!("../migrations/0006_printing.sql") },
    Migration { version: 7, name: "shift", sql: include_str!("../migrations/0007_shift.sql") },
    Migration { version: 8, name: "corrections", sql: include_str!("../migrations/0008_corrections.sql") },
    Migration { version: 9, name: "people", sql: include_str!("../migrations/0009_people.sql") },
    Migration { version: 10, name: "voids", sql: include_str!("../migrations/0010_voids.sql") },
    Migration { version: 11, name: "handover", sql: include_str!("../migrations/0011_handover.sql") },
    Migration { version: 12, name: "resolutions", sql: include_str!("../migrations/0012_resolutions.sql") },
    Migration { version: 13, name: "tenders", sql: include_str!("../migrations/0013_tenders.sql") },
    Migration { version: 14, name: "discounts", sql: include_str!("../migrations/0014_discounts.sql") },
    Migration { version: 15, name: "z_epochs", sql: include_str!("../migrations/0015_z_epochs.sql") },
    Migration { version: 16, name: "sale_terms", sql: include_str!("../migrations/0016_sale_terms.sql") },
    Migration { version: 17, name: "payments", sql: include_str!("../migrations/0017_payments.sql") },
];

/// What this program makes of a database, and refuses more than.
pub const SCHEMA_VERSION: u32 = MIGRATIONS[MIGRATIONS.len() - 1].version;

/// Opens the database in a folder that exists, or makes it.
///
/// # Errors
/// See [`OpenError`]; nothing was changed.
pub fn open(folder: &Path, mode: WriterMode) -> Result<Database, OpenError> {
    Database::open(&folder.join(FILE_NAME), &MIGRATIONS, Options { mode, ..Options::default() })
}

/// A stored word that this program does not know: a damaged row, never a newer one (those are refused at open).
pub fn unreadable(column: &str, value: &str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(
        0,
        rusqlite::types::Type::Text,
        format!("{column} holds {value:?}").into(),
    )
}

/// The disk is fine and what one row holds is not.
#[must_use]
pub fn is_about_the_row(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::QueryReturnedNoRows
    )
}

/// Enumerations as the words that SQL, JSON and logs share.
macro_rules! words {
    ($type:ty { $($variant:pat => $word:literal = $value:expr),+ $(,)? }) => {
        impl $type {
            #[must_use]
            pub fn as_word(self) -> &'static str {
                match self { $($variant => $word),+ }
            }

            pub fn from_word(word: &str) -> rusqlite::Result<Self> {
                match word {
                    $($word => Ok($value),)+
                    other => Err($crate::store::unreadable(stringify!($type), other)),
                }
            }
        }
    };
}
pub(crate) use words;

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use turno_domain::ids::Epoch;

    use super::{MIGRATIONS, epochs};
    use crate::view::EpochReason;

    #[test]
    fn a_till_that_was_enrolled_by_the_first_version_keeps_its_epoch() {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(MIGRATIONS[0].sql).unwrap();
        conn.execute_batch(
            "INSERT INTO installation (id, installation_id, last_sequence) VALUES (1, 'i', 7);
             INSERT INTO enrolment VALUES (1, 'a', 'c', 'i', 'e', 'n', 'D03', 'K7M', 'PEN', 5)",
        )
        .unwrap();
        for migration in &MIGRATIONS[1..] {
            conn.execute_batch(migration.sql).unwrap();
        }
        let kept = epochs::current(&conn).unwrap().unwrap();
        assert_eq!((kept.epoch, kept.after_sequence), (Epoch::parse("K7M").unwrap(), 0));
        assert_eq!((kept.reason, kept.registered_at), (EpochReason::Enrolled, Some(5)));
    }
}
