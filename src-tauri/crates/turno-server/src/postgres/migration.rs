//! The schema, in numbered steps.
//!
//! Invariant: each step is one transaction that also writes its number, under a lock that all starters share: of
//! replicas that start together one migrates and the others find it done. A database that is newer than this program
//! is left alone.

use deadpool_postgres::Client;

use super::{
    OpenPostgresError,
    row::{self, Result},
};

pub(super) struct Migration {
    pub version: i64,
    pub name: &'static str,
    pub sql: &'static str,
}

pub(super) const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, name: "ledger", sql: include_str!("schema/0001_ledger.sql") },
    Migration { version: 2, name: "payments", sql: include_str!("schema/0002_payments.sql") },
    Migration { version: 3, name: "clues", sql: include_str!("schema/0003_clues.sql") },
    Migration { version: 4, name: "not folded", sql: include_str!("schema/0004_not_folded.sql") },
    Migration { version: 5, name: "long devices", sql: include_str!("schema/0005_long_devices.sql") },
];

/// What nobody else in the same database locks: `turno` and a number.
const LOCK: i64 = 0x7475_726e_6f00_0001;

pub(super) async fn migrate(
    client: &mut Client,
    migrations: &[Migration],
) -> std::result::Result<(), OpenPostgresError> {
    let known = migrations.iter().map(|migration| migration.version).max().unwrap_or(0);
    while let Some(migration) = next(client, migrations, known).await? {
        tracing::info!(version = migration.version, name = migration.name, "migrating the database");
    }
    Ok(())
}

/// Take the next step; `None`: there is none left.
async fn next<'m>(
    client: &mut Client,
    migrations: &'m [Migration],
    known: i64,
) -> std::result::Result<Option<&'m Migration>, OpenPostgresError> {
    // Dropped before its commit it rolls back.
    let transaction = client.transaction().await?;
    // Whoever else migrates may take long, and so may a step over many rows.
    transaction
        .batch_execute(&format!(
            "SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0;
             SELECT pg_advisory_xact_lock({LOCK});
             CREATE TABLE IF NOT EXISTS schema_version (
                version BIGINT NOT NULL PRIMARY KEY,
                name TEXT NOT NULL,
                migrated_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
             )"
        ))
        .await?;
    let found: i64 = transaction
        .query_one("SELECT coalesce(max(version), 0) AS version FROM schema_version", &[])
        .await?
        .get(0);
    if found > known {
        return Err(OpenPostgresError::Newer { found, known });
    }
    let next = migrations.iter().find(|migration| migration.version == found + 1);
    if let Some(migration) = next {
        transaction.batch_execute(migration.sql).await?;
        transaction
            .execute(
                "INSERT INTO schema_version (version, name) VALUES ($1, $2)",
                &[&migration.version, &migration.name],
            )
            .await?;
    }
    transaction.commit().await?;
    Ok(next)
}

/// Texts are compared as the bytes that were sent, which only one encoding keeps.
pub(super) async fn has_utf8(client: &Client) -> Result<bool> {
    let found = row::row(client, "SELECT current_setting('server_encoding') AS encoding", &[]).await?;
    Ok(match found {
        Some(row) => row::get::<String>(&row, "encoding")? == "UTF8",
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use turno_postgres::Database;

    use super::*;
    use crate::postgres::{PostgresLedger, PostgresOptions};

    async fn open(
        database: &Database,
        steps: usize,
    ) -> std::result::Result<PostgresLedger, OpenPostgresError> {
        let options = PostgresOptions { pool_size: 2, ..PostgresOptions::default() };
        PostgresLedger::open_with(&database.url(), options, &MIGRATIONS[..steps]).await
    }

    /// Columns, constraints and indexes, as the database itself writes them.
    async fn schema(ledger: &PostgresLedger) -> Vec<String> {
        let client = ledger.client().await.unwrap();
        let described = client
            .query(
                "SELECT format('%s.%s %s %s %s %s', table_name, column_name, data_type, is_nullable, column_default,
                        identity_generation)
                 FROM information_schema.columns WHERE table_schema = 'public'
                 UNION ALL
                 SELECT format('%s %s', conrelid::regclass, pg_get_constraintdef(oid))
                 FROM pg_constraint WHERE connamespace = 'public'::regnamespace
                 UNION ALL
                 SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
                 ORDER BY 1",
                &[],
            )
            .await
            .unwrap();
        described.iter().map(|row| row.get(0)).collect()
    }

    #[tokio::test]
    async fn an_upgraded_schema_is_a_fresh_one() {
        let (Some(fresh), Some(upgraded)) = (Database::create().unwrap(), Database::create().unwrap()) else {
            return;
        };
        let fresh = schema(&open(&fresh, MIGRATIONS.len()).await.unwrap()).await;
        assert!(fresh.iter().any(|line| line.starts_with("payment.")), "{fresh:#?}");
        for steps in 1..=MIGRATIONS.len() {
            let ledger = open(&upgraded, steps).await.unwrap();
            if steps == MIGRATIONS.len() {
                assert_eq!(schema(&ledger).await, fresh);
            }
        }
    }

    #[tokio::test]
    async fn a_newer_database_is_left_alone() {
        let Some(database) = Database::create().unwrap() else { return };
        let before = schema(&open(&database, MIGRATIONS.len()).await.unwrap()).await;
        let refused = open(&database, MIGRATIONS.len() - 1).await;
        let newest = i64::try_from(MIGRATIONS.len()).unwrap();
        let is_named = |found, known| found == newest && known == newest - 1;
        assert!(
            matches!(refused, Err(OpenPostgresError::Newer { found, known }) if is_named(found, known)),
            "{refused:?}"
        );
        assert_eq!(schema(&open(&database, MIGRATIONS.len()).await.unwrap()).await, before);
    }
}
