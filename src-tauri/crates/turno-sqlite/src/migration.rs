//! Numbered schema steps, applied in order, one transaction each.
//!
//! Invariant: `user_version` names the last step that is complete. A database made by a newer program is refused,
//! never read with an older program's ideas about it.

use rusqlite::{Connection, TransactionBehavior};

use crate::OpenError;

/// One step of the schema. Append-only: what was released is never edited.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// 1 for the first, without gaps.
    pub version: u32,
    pub name: &'static str,
    pub sql: &'static str,
}

/// Bring the schema up to the last of `migrations`.
pub(crate) fn migrate(connection: &mut Connection, migrations: &[Migration]) -> Result<(), OpenError> {
    assert!(
        migrations.iter().zip(1..).all(|(migration, version)| migration.version == version),
        "migrations are numbered from 1 without gaps"
    );
    let known = migrations.last().map_or(0, |migration| migration.version);
    let found = schema_version(connection)?;
    if found > known {
        return Err(OpenError::Newer { found, known });
    }
    for migration in migrations.iter().filter(|migration| migration.version > found) {
        apply(connection, migration)?;
        tracing::info!(version = migration.version, name = migration.name, "schema step applied");
    }
    Ok(())
}

fn apply(connection: &mut Connection, migration: &Migration) -> Result<(), OpenError> {
    let step = |connection: &mut Connection| {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have been faster; its step is complete, since it held the lock.
        if schema_version(&transaction)? >= migration.version {
            return Ok(());
        }
        transaction.execute_batch(migration.sql)?;
        transaction.pragma_update(None, "user_version", migration.version)?;
        transaction.commit()
    };
    step(connection).map_err(|error| {
        // A full disk or a held lock has its own name; what is left is the step's own fault.
        let error = OpenError::from(error);
        if let OpenError::Other(source) = error {
            OpenError::Migration { version: migration.version, name: migration.name, source }
        } else {
            error
        }
    })
}

fn schema_version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}
