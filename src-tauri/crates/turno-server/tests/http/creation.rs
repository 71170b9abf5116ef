//! Rows D, E, F and H: one sale for one key and one external id, whatever happens.

use axum::{body::Body, extract::Request};
use jiff::SignedDuration;
use serde_json::json;
use turno_domain::ids::Company;
use turno_server::{
    Administration, Ledger, SqliteLedger, SqliteOptions, audit::verify_audit, caller::TokenHash,
    callers::REMEMBERED,
};

use crate::harness::{Server, sale};

#[tokio::test]
async fn a_retry_is_answered_with_the_first_sale_also_by_the_next_process() {
    let server = Server::new().await;
    let first = server.create("k", sale("E-1", json!({}))).await.expect(201);
    assert_eq!(
        first.header("location").unwrap(),
        format!("/v1/transactions/{}", first.text("yupy_transaction_id"))
    );
    assert!(!first.is_replay());
    let server = server.restart().await;
    for _ in 0..2 {
        let again = server.create("k", sale("E-1", json!({"amount": "85.5"}))).await.expect(200);
        assert!(again.is_replay());
        for same in ["yupy_transaction_id", "created_at", "occurred_at"] {
            assert_eq!(again.body[same], first.body[same], "{same}");
        }
        assert_eq!(again.body["original_status"], 201);
    }
    assert_eq!(server.sales_of("D03").await, 1);
}

#[tokio::test]
async fn a_key_with_other_content_is_a_conflict_before_the_content_is_even_validated() {
    let server = Server::new().await;
    server.create("k", sale("E-1", json!({}))).await.expect(201);
    for other in [json!({"amount": "85.51"}), json!({"amount": "-1"}), json!({"confirmed_by": "Jefa"})] {
        server.create("k", sale("E-1", other)).await.refused(409, "idempotency_conflict");
    }
    server.create("k", sale("E-1", json!({}))).await.expect(200);
    assert_eq!(server.audited("idempotency_conflict").await.len(), 3);
}

#[tokio::test]
async fn an_integration_on_the_ietf_profile_gets_problem_details_with_the_same_code() {
    let server = Server::new().await;
    let create = async |amount| {
        let body = sale("E-1", json!({"amount": amount}));
        server.post_as("agency", "/v1/transactions", Some("k"), body).await
    };
    create("85.50").await.expect(201);
    let conflict = create("85.51").await.refused(422, "idempotency_conflict");
    assert_eq!(conflict.header("content-type"), Some("application/problem+json"));
    assert_eq!(conflict.body["status"], 422);
    assert_eq!(conflict.body["code"], "idempotency_conflict");
}

#[tokio::test]
async fn a_refused_body_leaves_its_key_free() {
    let server = Server::new().await;
    let refused = server.create("k", sale("E-1", json!({"amount": "0", "currency": "pen"}))).await;
    let refused = refused.refused(422, "validation_failed");
    let paths: Vec<_> =
        refused.body["error"]["fields"].as_array().unwrap().iter().map(|f| &f["path"]).collect();
    assert_eq!(paths, ["currency", "amount"]);
    server.create("k", sale("E-1", json!({}))).await.expect(201);
}

#[tokio::test]
async fn a_known_external_id_is_the_sale_already_known_or_a_conflict_and_never_changes_it() {
    let server = Server::new().await;
    let first = server.create("k1", sale("E-1", json!({}))).await.expect(201);
    let conflict =
        server.create("k2", sale("E-1", json!({"amount": "85.51", "context": {"seat": "12B"}}))).await;
    let conflict = conflict.refused(409, "external_transaction_conflict");
    assert_eq!(conflict.body["error"]["conflicting_fields"], json!(["amount", "seat"]));
    let known =
        server.create("k3", sale("E-1", json!({"buyer_name": "Rosa", "payment_method": "cash"}))).await;
    let known = known.expect(200);
    assert!(!known.is_replay());
    assert_eq!(known.body["ignored_differences"], json!(["buyer_name", "payment_method"]));
    assert_eq!(known.body["state"]["financial"], "awaiting_payment");
    assert_eq!(known.body["yupy_transaction_id"], first.body["yupy_transaction_id"]);
    // The conflict's key is bound to its content and is evaluated again; the other one is final.
    server.create("k2", sale("E-1", json!({}))).await.refused(409, "idempotency_conflict");
    let replay =
        server.create("k3", sale("E-1", json!({"buyer_name": "Rosa", "payment_method": "cash"}))).await;
    assert_eq!(replay.expect(200).body["original_status"], 200);
    assert_eq!(server.audited("existing_returned").await.len(), 1);
}

#[tokio::test]
async fn an_expired_key_is_unknown_and_the_external_id_still_answers() {
    let server = Server::new().await;
    server.create("k", sale("E-1", json!({}))).await.expect(201);
    server.site.clock.advance(SignedDuration::from_hours(30 * 24) - SignedDuration::from_secs(1));
    assert!(server.create("k", sale("E-1", json!({}))).await.expect(200).is_replay());
    server.site.clock.advance(SignedDuration::from_secs(1));
    let late = server.create("k", sale("E-1", json!({}))).await.expect(200);
    assert!(!late.is_replay());
    assert_eq!(late.body["duplicate"], true);
    assert_eq!(server.audited("existing_returned").await.len(), 1, "a late retry is worth a row");
}

#[tokio::test]
async fn the_purge_forgets_what_is_over_and_only_that() {
    let server = Server::new().await;
    for n in 0..5 {
        let body = sale(&format!("E-{n}"), json!({"context": {"seat": n.to_string()}}));
        server.create(&format!("k{n}"), body).await.expect(201);
    }
    server.site.clock.advance(SignedDuration::from_hours(31 * 24));
    server.create("young", sale("E-9", json!({"context": {"seat": "9"}}))).await.expect(201);
    let purged = [server.ledger.purge_keys(3).await.unwrap(), server.ledger.purge_keys(3).await.unwrap()];
    assert_eq!(purged, [3, 2]);
    assert_eq!(server.ledger.purge_keys(3).await.unwrap(), 0);
    let young = server.create("young", sale("E-9", json!({"context": {"seat": "9"}}))).await;
    assert!(young.expect(200).is_replay());
}

#[tokio::test(flavor = "multi_thread")]
async fn equal_requests_at_once_make_one_sale() {
    let server = Server::new().await;
    let requests = (0..50).map(|_| server.create("k", sale("E-1", json!({}))));
    let answers = futures_util::future::join_all(requests).await;
    let created = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(created, 1);
    assert!(answers.iter().all(|answer| answer.status == 201 || answer.is_replay()));
    assert_eq!(server.sales_of("D03").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_external_id_under_many_keys_at_once_makes_one_sale() {
    let server = Server::new().await;
    let keys: Vec<String> = (0..50).map(|n| format!("k{n}")).collect();
    let answers =
        futures_util::future::join_all(keys.iter().map(|key| server.create(key, sale("E-1", json!({})))));
    let answers = answers.await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer.body["duplicate"] == true).count(), 49);
}

#[tokio::test]
async fn what_cannot_be_kept_is_not_done_and_may_be_tried_again() {
    let server = Server::new().await;
    server.create("k1", sale("E-1", json!({}))).await.expect(201);
    server.ledger.close().await;
    let refused = server.create("k2", sale("E-2", json!({}))).await.refused(503, "service_unavailable");
    assert_eq!(refused.body["error"]["retryable"], true);
    server.get("/ready").await.refused(503, "service_unavailable");
    server.get("/health").await.expect(200);
    let server = server.restart().await;
    server.create("k2", sale("E-2", json!({"context": {"seat": "12B"}}))).await.expect(201);
}

#[tokio::test]
async fn the_same_names_in_another_company_are_unrelated() {
    let server = Server::new().await;
    let ours = server.create("k", sale("E-1", json!({}))).await.expect(201);
    let theirs = server.post_as("other-company", "/v1/transactions", Some("k"), sale("E-1", json!({}))).await;
    let theirs = theirs.expect(201);
    assert_ne!(ours.body["yupy_transaction_id"], theirs.body["yupy_transaction_id"]);
    let path = format!("/v1/transactions/{}", theirs.text("yupy_transaction_id"));
    server.get(&path).await.refused(404, "transaction_not_found");
}

#[tokio::test]
async fn an_audit_that_somebody_touched_names_the_first_row_that_does_not_hold() {
    let server = Server::new().await;
    for n in 0..5 {
        let body = sale(&format!("E-{n}"), json!({"context": {"seat": n.to_string()}}));
        server.create(&format!("k{n}"), body).await.expect(201);
    }
    let company = Company::parse("A").unwrap();
    assert_eq!(verify_audit(&server.ledger, &company).await.unwrap().rows, 5);
    let touched = rusqlite::Connection::open(server.site.file()).unwrap();
    let edit = "UPDATE audit SET entry = replace(entry, ?1, ?2) WHERE number = 3";
    touched.execute(edit, ["E-2", "E-X"]).unwrap();
    let broken = verify_audit(&server.ledger, &company).await.unwrap_err();
    assert!(broken.to_string().contains("row 3 "), "{broken}");
    touched.execute(edit, ["E-X", "E-2"]).unwrap();
}

#[tokio::test]
async fn a_revoked_credential_is_refused_and_the_others_are_not() {
    let server = Server::new().await;
    assert!(server.ledger.revoke_credential(TokenHash::of("reader")).await.unwrap());
    assert!(!server.ledger.revoke_credential(TokenHash::of("reader")).await.unwrap());
    server.get_as("reader", "/v1/catalog").await.refused(401, "unauthenticated");
    server.get("/v1/catalog").await.expect(200);
}

/// Each process remembers who asked for a moment; [`REMEMBERED`] is how long a revocation may take to be heard of.
#[tokio::test]
async fn what_another_process_revokes_is_refused_within_seconds() {
    let server = Server::new().await;
    let elsewhere = SqliteLedger::open(&server.site.file(), SqliteOptions::default()).await.unwrap();
    server.get_as("reader", "/v1/catalog").await.expect(200);
    assert!(elsewhere.revoke_credential(TokenHash::of("reader")).await.unwrap());
    server.site.clock.advance(REMEMBERED);
    server.get_as("reader", "/v1/catalog").await.refused(401, "unauthenticated");
    elsewhere.close().await;
}

#[tokio::test]
async fn what_a_till_says_of_its_own_audit_is_kept_with_the_sale_and_is_no_part_of_it() {
    let server = Server::new().await;
    let hash = "4e".repeat(32);
    // Each of another amount, so that nothing looks alike.
    let create = async |key: &str, id: &str, amount: &str, heads: &[&str]| {
        let mut request = Request::post("/v1/transactions")
            .header("authorization", "Bearer pos")
            .header("content-type", "application/json")
            .header("idempotency-key", key);
        for head in heads {
            request = request.header("turno-audit-head", *head);
        }
        server
            .send(request.body(Body::from(sale(id, json!({ "amount": amount })).to_string())).unwrap())
            .await
    };
    let head = format!("17:{hash}");
    create("k-1", "E-1", "85.50", &[&head]).await.expect(201);
    // Another one with the retry is neither a conflict nor kept.
    assert!(create("k-1", "E-1", "85.50", &[&format!("99:{hash}")]).await.expect(200).is_replay());
    for (number, unusable) in [vec!["17"], vec!["x"], vec![&head, &head]]
        .into_iter()
        .zip(1..)
        .map(|(heads, number)| (number, heads))
    {
        create(&format!("k-x{number}"), &format!("E-x{number}"), &format!("{number}7.00"), &unusable)
            .await
            .expect(201);
    }
    let rows = server.audited("created").await;
    assert_eq!(rows.len(), 4);
    assert_eq!((&rows[0]["till_audit_head"], &rows[0]["device_id"]), (&json!(head), &json!("D03")));
    assert!(rows[1..].iter().all(|row| row.get("till_audit_head").is_none()), "{rows:?}");
    let described = &server.description["paths"]["/v1/transactions"]["post"]["parameters"];
    let header = described.as_array().unwrap().iter().find(|one| one["name"] == "turno-audit-head").unwrap();
    assert_eq!(
        (&header["in"], &header["required"]),
        (&json!("header"), &json!(false)),
        "who reads can send it"
    );
}
