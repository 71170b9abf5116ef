//! Somebody holds what a request needs and does not come back.

use std::time::Duration;

use tokio::{task::yield_now, time::timeout};
use tokio_postgres::NoTls;
use turno_postgres::Database;

use crate::client::{Client, database, furnish, open, sale};

/// Longer than any lock is waited for, shorter than a test that hangs.
const AT_LAST: Duration = Duration::from_secs(30);

/// Another server's transaction, stopped in the middle.
async fn stopped_after(database: &Database, sql: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(&database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("BEGIN").await.unwrap();
    client.batch_execute(sql).await.unwrap();
    client
}

const TWIN: &str =
    "INSERT INTO idempotency_key (scope_id, idempotency_key, fingerprint_version, full_fingerprint,
        core_fingerprint, state, completed_at_ms)
    SELECT scope_id, 'k1', 1, sha256(''), sha256(''), 'bound', 0 FROM scope";

#[tokio::test]
async fn a_twin_that_does_not_end_is_in_progress() {
    let Some(database) = database() else { return };
    let ledger = open(&database).await;
    furnish(&ledger).await;
    let till = Client::of(ledger);
    let twin = stopped_after(&database, TWIN).await;
    till.create("k1", sale("E-1", "12A")).await.refused(409, "idempotency_in_progress");
    till.create("k2", sale("E-2", "12B")).await.expect(201);
    twin.batch_execute("ROLLBACK").await.unwrap();
    till.create("k1", sale("E-1", "12A")).await.expect(201);
}

#[tokio::test]
async fn an_audit_that_is_held_makes_a_sale_wait_and_not_fail() {
    let Some(database) = database() else { return };
    let ledger = open(&database).await;
    furnish(&ledger).await;
    let till = Client::of(ledger);
    let holder = stopped_after(&database, "SELECT 1 FROM company_head FOR UPDATE").await;
    till.create("k1", sale("E-1", "12A")).await.refused(503, "service_unavailable");
    holder.batch_execute("ROLLBACK").await.unwrap();
    till.create("k1", sale("E-1", "12A")).await.expect(201);
}

/// A till that hangs up in the middle leaves nothing behind: no half of a sale, no lock, no used up connection.
#[tokio::test]
async fn requests_that_are_dropped_in_the_middle_hold_nothing() {
    let Some(database) = database() else { return };
    let ledger = open(&database).await;
    furnish(&ledger).await;
    let till = Client::of(ledger);
    let holder = stopped_after(&database, "SELECT 1 FROM company_head FOR UPDATE").await;
    // More than the pool has connections.
    for number in 0..40 {
        let body = sale("E-1", "12A");
        let key = format!("k{number}");
        let request = till.create(&key, body);
        assert!(timeout(Duration::from_millis(40), request).await.is_err(), "it waits for the head");
    }
    holder.batch_execute("ROLLBACK").await.unwrap();
    let sold = async {
        // By this request, or by the first of those that hung up: its commit was under way.
        while !matches!(till.create("last", sale("E-1", "12A")).await.status, 200 | 201) {
            yield_now().await;
        }
    };
    timeout(AT_LAST, sold).await.unwrap();
    assert_eq!(till.sales().await, ["E-1"]);
    assert_eq!(till.audited("created").await, 1);
}
