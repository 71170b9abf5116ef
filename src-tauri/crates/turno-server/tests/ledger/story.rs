//! One day at a till, told once and run on every store.

use serde_json::json;
use turno_domain::ids::Company;
use turno_server::{Administration, SqliteLedger, SqliteOptions, audit::verify_audit};

use crate::client::{Client, database, furnish, open, sale};

#[tokio::test]
async fn the_story_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = SqliteLedger::open(&folder.path().join("story.db"), SqliteOptions::default()).await.unwrap();
    story(&ledger).await;
    ledger.close().await;
}

#[tokio::test]
async fn the_story_on_postgresql() {
    let Some(database) = database() else { return };
    let ledger = open(&database).await;
    story(&ledger).await;
    ledger.close().await;
}

async fn story(ledger: &impl Administration) {
    furnish(ledger).await;
    let till = Client::of(ledger.clone());
    sells_each_sale_once(&till).await;
    asks_about_look_alikes(&till).await;
    voids_once(&till).await;
    pays_once(&till).await;
    finds_nothing_under_strange_names(&till).await;

    assert_eq!(till.sales().await, ["E-1", "E-2", "E-4", "E-5"], "in the order of arrival");
    let head = verify_audit(ledger, &Company::parse("A").unwrap()).await.unwrap();
    assert!(head.rows > 8, "{} rows", head.rows);
    assert_eq!(till.audited("created").await, 4);
    assert_eq!(ledger.purge_keys(100).await.unwrap(), 0, "no key is old enough");
}

async fn sells_each_sale_once(till: &Client) {
    let first = till.create("k1", sale("E-1", "12A")).await.expect(201);
    let again = till.create("k1", sale("E-1", "12A")).await.expect(200);
    assert!(again.is_replay);
    assert_eq!(again.text("/yupy_transaction_id"), first.text("/yupy_transaction_id"));
    till.create("k1", sale("E-1", "12B")).await.refused(409, "idempotency_conflict");
    let other_key = till.create("k2", sale("E-1", "12A")).await.expect(200);
    assert_eq!(other_key.text("/duplicate_type"), "same_external_transaction");
    till.create("k3", sale("E-1", "14C")).await.refused(409, "external_transaction_conflict");
    till.create("k4", sale("E-2", "12B")).await.expect(201);
}

async fn asks_about_look_alikes(till: &Client) {
    // Another seat is another sale; the same seat is a question.
    let asked = till.create("k5", sale("E-3", "12A")).await.refused(409, "possible_duplicate_transaction");
    let again = till.create("k5", sale("E-3", "12A")).await.refused(409, "possible_duplicate_transaction");
    let token = asked.text("/error/duplicate_confirmation_token");
    assert_eq!(again.text("/error/duplicate_confirmation_token"), token, "the same question");
    let open = till.get("/v1/duplicate-challenges?state=open").await.expect(200);
    assert_eq!(open.body["items"].as_array().unwrap().len(), 1);

    let same = json!({
        "duplicate_confirmation_token": token, "decision": "same_sale", "decided_by": "Jefa", "reason": "dos clics",
    });
    till.post("/v1/duplicate-resolutions", "r1", same.clone()).await.expect(200);
    till.post("/v1/duplicate-resolutions", "r2", same).await.expect(200);
    let mut confirmed = sale("E-3", "12A");
    confirmed["duplicate_confirmation_token"] = token.into();
    till.create("k6", confirmed).await.refused(422, "duplicate_confirmation_invalid");

    let asked = till.create("k7", sale("E-4", "12A")).await.refused(409, "possible_duplicate_transaction");
    let mut confirmed = sale("E-4", "12A");
    confirmed["duplicate_confirmation_token"] = asked.text("/error/duplicate_confirmation_token").into();
    confirmed["confirmed_by"] = "Jefa".into();
    till.create("k7", confirmed.clone()).await.refused(409, "idempotency_conflict");
    till.create("k8", confirmed.clone()).await.expect(201);
    assert!(till.create("k8", confirmed).await.expect(200).is_replay);
    assert_eq!(till.audited("duplicate_confirmed").await, 1);
}

async fn voids_once(till: &Client) {
    let id = till.get("/v1/transactions?external_transaction_id=E-2").await.expect(200);
    let id = id.text("/items/0/yupy_transaction_id");
    let path = format!("/v1/transactions/{id}/void");
    let body = json!({"external_operation_id": "V-1", "reason": "se fue"});
    assert_eq!(till.post(&path, "v1", body.clone()).await.expect(200).text("/result"), "applied");
    assert!(till.post(&path, "v1", body.clone()).await.expect(200).is_replay);
    assert_eq!(till.post(&path, "v2", body).await.expect(200).text("/result"), "existing_operation");
    let other = json!({"external_operation_id": "V-2"});
    assert_eq!(till.post(&path, "v3", other).await.expect(200).text("/result"), "already_in_state");
    assert_eq!(till.audited("voided").await, 1);
}

async fn pays_once(till: &Client) {
    let id = till.create("k9", sale("E-5", "1A")).await.expect(201).text("/yupy_transaction_id");
    let path = format!("/v1/transactions/{id}/payments");
    let body = json!({"external_payment_id": "P-1", "amount": "85.50", "currency": "PEN", "method": "card"});
    till.post(&path, "p1", body.clone()).await.expect(201);
    assert!(till.post(&path, "p1", body.clone()).await.expect(200).is_replay);
    till.post(&path, "p2", body).await.expect(200);
    let other = json!({"external_payment_id": "P-2", "amount": "85.50", "currency": "PEN", "method": "card"});
    till.post(&path, "p3", other).await.refused(409, "invalid_state");
    let paid = till.get(&format!("/v1/transactions/{id}")).await.expect(200);
    assert_eq!(paid.text("/state/financial"), "paid");
}

/// A store that cannot hold a text must not fail over being asked for it.
async fn finds_nothing_under_strange_names(till: &Client) {
    for name in ["%00", "%F0%9F%9A%8C", "%27%3B--"] {
        till.get(&format!("/v1/transactions/{name}")).await.refused(404, "transaction_not_found");
        till.get(&format!("/v1/duplicate-challenges/{name}")).await.expect(404);
        for list in ["external_transaction_id", "device_id"] {
            let found = till.get(&format!("/v1/transactions?{list}={name}")).await.expect(200);
            assert_eq!(found.body["items"], json!([]));
        }
    }
}
