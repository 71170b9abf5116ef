//! Voids: idempotent by key, by operation and by state.

use serde_json::json;

use crate::harness::{Server, sale};

#[tokio::test]
async fn a_void_is_applied_once_whatever_it_is_called() {
    let server = Server::new().await;
    let id = server.create("k", sale("E-1", json!({}))).await.expect(201).text("yupy_transaction_id");
    let void = async |key: &str, operation: &str| {
        let body = json!({"external_operation_id": operation, "reason": "viaje cancelado"});
        server.post(&format!("/v1/transactions/{id}/void"), key, body).await.expect(200)
    };
    assert_eq!(void("v1", "V").await.body["result"], "applied");
    assert!(void("v1", "V").await.is_replay());
    assert_eq!(void("v2", "V").await.body["result"], "existing_operation");
    assert_eq!(void("v3", "W").await.body["result"], "already_in_state");
    assert_eq!(server.audited("voided").await.len(), 1);
    let replay = server.create("k", sale("E-1", json!({}))).await.expect(200);
    assert_eq!(replay.body["state"]["operational"], "voided", "a replay tells the state of now");
}

#[tokio::test]
async fn a_voided_sale_is_nobody_s_look_alike_and_keeps_its_id() {
    let server = Server::new().await;
    let id = server.create("k", sale("E-1", json!({}))).await.expect(201).text("yupy_transaction_id");
    server.create("k2", sale("E-2", json!({}))).await.expect(409);
    let body = json!({"external_operation_id": "V"});
    server.post(&format!("/v1/transactions/{id}/void"), "v", body).await.expect(200);
    server.create("k2", sale("E-2", json!({}))).await.expect(201);
    let known = server.create("k3", sale("E-1", json!({}))).await.expect(200);
    assert_eq!(known.body["state"]["operational"], "voided");
}

#[tokio::test]
async fn an_operation_id_belongs_to_one_sale() {
    let server = Server::new().await;
    let one = server.create("k1", sale("E-1", json!({}))).await.expect(201).text("yupy_transaction_id");
    let two = server.create("k2", sale("E-2", json!({"context": {"seat": "12B"}}))).await.expect(201);
    let two = two.text("yupy_transaction_id");
    let body = json!({"external_operation_id": "V"});
    server.post(&format!("/v1/transactions/{one}/void"), "v1", body.clone()).await.expect(200);
    let conflict = server.post(&format!("/v1/transactions/{two}/void"), "v2", body).await;
    let conflict = conflict.refused(409, "external_transaction_conflict");
    assert_eq!(conflict.body["error"]["yupy_transaction_id"], one);
    let other = server.get(&format!("/v1/transactions/{two}")).await.expect(200);
    assert_eq!(other.body["state"]["operational"], "active");
}
