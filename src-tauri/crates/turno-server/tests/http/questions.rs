//! Rows G: the question about a look-alike, its token, and people's decisions.

use jiff::SignedDuration;
use serde_json::{Value, json};
use turno_server::Administration;

use crate::harness::{Answer, Server, sale};

fn confirmed(external_id: &str, token: &str, more: Value) -> Value {
    let mut body = sale(external_id, more);
    body["duplicate_confirmation_token"] = token.into();
    body
}

/// A first sale, and the question about a second one for the same seat.
async fn asked(server: &Server) -> (String, Answer) {
    let first = server.create("k1", sale("A", json!({}))).await.expect(201);
    let question = server.create("k2", sale("B", json!({}))).await;
    (first.text("yupy_transaction_id"), question.refused(409, "possible_duplicate_transaction"))
}

fn token(question: &Answer) -> String {
    question.text("error.duplicate_confirmation_token")
}

#[tokio::test]
async fn a_look_alike_is_a_question_that_keeps_its_token_while_it_lives() {
    let server = Server::new().await;
    let (first, question) = asked(&server).await;
    let error = &question.body["error"];
    assert_eq!(error["candidate"]["yupy_transaction_id"], first);
    assert_eq!(
        error["matching_signals"],
        json!(["amount", "currency", "shift_id", "device_id", "route", "seat", "service"])
    );
    let server = server.restart().await;
    for key in ["k2", "k3"] {
        let again = server.create(key, sale("B", json!({}))).await.expect(409);
        assert_eq!(token(&again), token(&question), "the same question, also by the next process");
    }
    assert_eq!(server.sales_of("D03").await, 1);
    assert_eq!(server.audited("duplicate_suspected").await.len(), 1);
}

#[tokio::test]
async fn a_confirmation_creates_the_sale_once_and_says_who_and_why() {
    let server = Server::new().await;
    let (first, question) = asked(&server).await;
    let said = json!({"confirmed_by": "Jefa de ruta", "confirmation_reason": "Dos pasajeros"});
    let body = confirmed("B", &token(&question), said);
    let wrong_key = server.create("k2", body.clone()).await.refused(409, "idempotency_conflict");
    assert_eq!(wrong_key.body["error"]["hint"], "confirmation_requires_new_key");
    let created = server.create("confirm", body.clone()).await.expect(201);
    assert_eq!(created.body["confirmed_duplicate_of"], json!([first]));
    assert!(server.create("confirm", body.clone()).await.expect(200).is_replay());
    let other_key = server.create("confirm-2", body).await.expect(200);
    assert_eq!(other_key.body["duplicate"], true);
    let rows = server.audited("duplicate_confirmed").await;
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["confirmed_by"], "Jefa de ruta");
    assert_eq!(rows[0]["confirmation_reason"], "Dos pasajeros");
    assert!(!rows[0].to_string().contains(&token(&question)));
    // The question's own key finds the sale now.
    assert_eq!(server.create("k2", sale("B", json!({}))).await.expect(200).body["duplicate"], true);
}

#[tokio::test]
async fn a_token_is_good_for_its_own_content_scope_and_text_only() {
    let server = Server::new().await;
    let (_, question) = asked(&server).await;
    let token = token(&question);
    let check = async |who: &str, body: Value, reason: &str| {
        let refused = server.post_as(who, "/v1/transactions", Some("other"), body).await;
        let refused = refused.refused(422, "duplicate_confirmation_invalid");
        assert_eq!(refused.body["error"]["reason"], reason);
        assert!(refused.body["error"].get("candidate").is_none(), "nothing is said of candidates");
    };
    check("pos", confirmed("B", &token, json!({"note": "changed"})), "payload_changed").await;
    check("pos", confirmed("C", &token, json!({})), "payload_changed").await;
    check("agency", confirmed("B", &token, json!({})), "not_issued_here").await;
    check("other-company", confirmed("B", &token, json!({})), "not_issued_here").await;
    check("pos", confirmed("B", "not-a-token", json!({})), "malformed").await;
    let forged = format!("{}0", &token[..token.len() - 1]);
    let forged = if forged == token { format!("{}1", &token[..token.len() - 1]) } else { forged };
    check("pos", confirmed("B", &forged, json!({})), "not_issued_here").await;
    assert_eq!(
        server.audited("confirmation_refused").await.len(),
        5,
        "one row each, in the company of the caller"
    );
    server.create("confirm", confirmed("B", &token, json!({}))).await.expect(201);
}

#[tokio::test]
async fn an_expired_token_asks_again_while_there_are_look_alikes_and_creates_when_there_are_none() {
    let server = Server::new().await;
    let (first, question) = asked(&server).await;
    server.site.clock.advance(SignedDuration::from_hours(24));
    let again = server.create("confirm", confirmed("B", &token(&question), json!({}))).await.expect(409);
    assert_eq!(again.body["error"]["previous_confirmation"], "expired");
    assert_ne!(token(&again), token(&question));
    let void = json!({"external_operation_id": "V"});
    server.post(&format!("/v1/transactions/{first}/void"), "v", void).await.expect(200);
    server.site.clock.advance(SignedDuration::from_hours(24));
    let created = server.create("confirm-2", confirmed("B", &token(&again), json!({}))).await.expect(201);
    assert_eq!(created.body["confirmed_duplicate_of"], json!([]));
}

#[tokio::test]
async fn a_new_look_alike_supersedes_the_question() {
    let server = Server::new().await;
    let (first, question) = asked(&server).await;
    let other = server.create("k3", sale("C", json!({}))).await.expect(409);
    let third = server.create("k4", confirmed("C", &token(&other), json!({}))).await.expect(201);
    let again = server.create("confirm", confirmed("B", &token(&question), json!({}))).await.expect(409);
    assert_eq!(again.body["error"]["previous_confirmation"], "superseded");
    assert_eq!(again.body["error"]["candidates_count"], 2);
    // The old token stays superseded, also under another key.
    let old = server.create("confirm-old", confirmed("B", &token(&question), json!({}))).await.expect(409);
    assert_eq!(token(&old), token(&again));
    let created = server.create("confirm-2", confirmed("B", &token(&again), json!({}))).await.expect(201);
    let mut against: Vec<_> = created.body["confirmed_duplicate_of"].as_array().unwrap().clone();
    against.sort_by_key(ToString::to_string);
    let mut expected = vec![json!(first), third.body["yupy_transaction_id"].clone()];
    expected.sort_by_key(ToString::to_string);
    assert_eq!(against, expected);
}

#[tokio::test]
async fn the_first_decision_stands_and_same_sale_kills_the_token() {
    let server = Server::new().await;
    let (_, question) = asked(&server).await;
    let decide = async |who: &str, decision: &str, by: &str| {
        let body = json!({
            "challenge_id": question.text("error.challenge_id"), "decision": decision, "decided_by": by,
            "reason": "doble clic",
        });
        server.post_as(who, "/v1/duplicate-resolutions", None, body).await
    };
    decide("reader", "same_sale", "Nadie").await.refused(403, "forbidden");
    decide("other-company", "same_sale", "Nadie").await.refused(404, "not_found");
    decide("manager", "same_sale", "Jefa").await.expect(200);
    let again = decide("pos", "same_sale", "Otro").await.expect(200);
    assert_eq!(again.body["decided_by"], "Jefa");
    let other = decide("pos", "different_sale", "Otro").await.refused(409, "already_resolved");
    assert_eq!(other.body["error"]["decision"], "same_sale");
    let dead = server.create("confirm", confirmed("B", &token(&question), json!({}))).await;
    let dead = dead.refused(422, "duplicate_confirmation_invalid");
    assert_eq!(dead.body["error"]["reason"], "not_open");
    let anew = server.create("k2", sale("B", json!({}))).await.expect(409);
    assert_ne!(token(&anew), token(&question));
    assert_eq!(server.audited("duplicate_resolved").await.len(), 1);
}

#[tokio::test]
async fn a_manager_sees_the_company_s_open_questions_and_a_till_its_own() {
    let server = Server::new().await;
    let (_, question) = asked(&server).await;
    let id = question.text("error.challenge_id");
    server.get("/v1/duplicate-challenges?state=open").await.refused(403, "forbidden");
    let listed = async || {
        let list = server.get_as("manager", "/v1/duplicate-challenges?state=open").await.expect(200);
        assert!(!list.body.to_string().contains(&token(&question)));
        list.body["items"].as_array().unwrap().len()
    };
    assert_eq!(listed().await, 1);
    let own = server.get(&format!("/v1/duplicate-challenges/{id}")).await.expect(200);
    assert_eq!(own.body["asked"]["external_transaction_id"], "B");
    assert_eq!(own.body["candidate"]["external_transaction_id"], "A");
    server.get_as("agency", &format!("/v1/duplicate-challenges/{id}")).await.refused(404, "not_found");
    let body = json!({"challenge_id": id, "decision": "different_sale", "decided_by": "Jefa"});
    server.post_as("manager", "/v1/duplicate-resolutions", None, body).await.expect(200);
    assert_eq!(listed().await, 0, "what is decided asks nobody any more");
    server.create("confirm", confirmed("B", &token(&question), json!({}))).await.expect(201);
    let spent = server.get(&format!("/v1/duplicate-challenges/{id}")).await.expect(200);
    assert_eq!(spent.body["state"], "spent");
}

#[tokio::test(flavor = "multi_thread")]
async fn look_alikes_at_once_make_one_sale_and_the_rest_questions() {
    let server = Server::new().await;
    let ids: Vec<String> = (0..20).map(|n| format!("E-{n}")).collect();
    let answers =
        futures_util::future::join_all(ids.iter().map(|id| server.create(id, sale(id, json!({}))))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer.code() == "possible_duplicate_transaction").count(), 19);
}

#[tokio::test]
async fn equal_fares_without_anything_that_identifies_them_are_all_sold() {
    let server = Server::new().await;
    for n in 0..10 {
        let fare = json!({"amount": "2.00", "context": {"route": "Urbana"}});
        server.create(&format!("k{n}"), sale(&format!("E-{n}"), fare)).await.expect(201);
    }
}

#[tokio::test]
async fn a_rotated_secret_leaves_open_questions_good_and_after_two_they_are_asked_anew() {
    let server = Server::new().await;
    let (_, question) = asked(&server).await;
    server.ledger.rotate_token_secret().await.unwrap();
    let server = server.restart().await;
    let again = server.create("k2", sale("B", json!({}))).await.expect(409);
    assert_eq!(token(&again), token(&question));
    server.ledger.rotate_token_secret().await.unwrap();
    let server = server.restart().await;
    let old = server.create("confirm-old", confirmed("B", &token(&question), json!({}))).await;
    let old = old.refused(422, "duplicate_confirmation_invalid");
    assert_eq!(old.body["error"]["reason"], "not_issued_here");
    let anew = server.create("k2", sale("B", json!({}))).await.expect(409);
    assert_ne!(token(&anew), token(&question));
    server.create("confirm", confirmed("B", &token(&anew), json!({}))).await.expect(201);
}
