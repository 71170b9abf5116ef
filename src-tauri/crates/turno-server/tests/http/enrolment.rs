//! Enrolment: a code serves one installation, and a lost answer does not burn it.

use axum::{body::Body, http::Request};
use serde_json::{Value, json};

use crate::harness::{Answer, Server, sale};

const ONE: &str = "6f1c1a52-4c3a-4b59-9d0e-0a4b8c1d2e3f";
const OTHER: &str = "0e7d6c5b-4a39-4817-8655-443322110000";

async fn enrol(server: &Server, code: &str, installation: &str, epoch: &str) -> Answer {
    let body = json!({"enrolment_code": code, "installation_id": installation, "epoch": epoch});
    let request = Request::post("/v1/devices/enroll").header("content-type", "application/json");
    server.send(request.body(Body::from(body.to_string())).unwrap()).await
}

async fn sell(server: &Server, credential: &str, n: u32) -> Answer {
    let body = sale(&format!("E-{n}"), json!({"context": {"seat": n.to_string()}}));
    server.post_as(credential, "/v1/transactions", Some(&format!("k{n}")), body).await
}

#[tokio::test]
async fn a_code_gives_a_till_its_scope_and_a_credential_that_sells() {
    let server = Server::new().await;
    let code = server.enrolment_code("D07").await;
    let answer = enrol(&server, &code, ONE, "K7M").await.expect(200);
    let expected = json!({
        "company": "A", "integration": "pos", "environment": "production", "device_id": "D07", "epoch": "K7M",
        "currency": "PEN", "company_name": "Company A", "catalog_url": "/v1/catalog",
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&answer.body[name], value, "{name}");
    }
    sell(&server, &answer.text("credential"), 1).await.expect(201);
    server.get_as(&answer.text("credential"), "/v1/audit").await.refused(403, "forbidden");
    assert_eq!(server.audited("device_enrolled").await[0]["device_id"], "D07");
}

#[tokio::test]
async fn the_same_installation_may_ask_again_and_whichever_answer_it_got_is_good() {
    let server = Server::new().await;
    let code = server.enrolment_code("D07").await;
    let first = enrol(&server, &code, ONE, "K7M").await.expect(200);
    let second = enrol(&server, &code, ONE, "K7M").await.expect(200);
    assert_ne!(first.text("credential"), second.text("credential"));
    sell(&server, &first.text("credential"), 1).await.expect(201);
    sell(&server, &second.text("credential"), 2).await.expect(201);
}

#[tokio::test]
async fn a_code_that_is_unknown_or_somebody_else_s_is_refused() {
    let server = Server::new().await;
    let code = server.enrolment_code("D07").await;
    enrol(&server, &code, ONE, "K7M").await.expect(200);
    enrol(&server, &code, OTHER, "K7N").await.refused(403, "enrolment_refused");
    enrol(&server, "ABCDE-ABCDE-ABCDE", OTHER, "K7N").await.refused(403, "enrolment_refused");
}

#[tokio::test]
async fn an_epoch_of_a_device_belongs_to_one_installation() {
    let server = Server::new().await;
    let (one, two) = (server.enrolment_code("D07").await, server.enrolment_code("D07").await);
    enrol(&server, &one, ONE, "K7M").await.expect(200);
    enrol(&server, &two, OTHER, "K7M").await.refused(409, "epoch_taken");
    enrol(&server, &two, OTHER, "K7N").await.expect(200);
    enrol(&server, &one, ONE, "K7P").await.expect(200);
}

async fn tell(server: &Server, credential: &str, installation: &str, epoch: &str) -> Answer {
    let body = json!({"device_id": "D07", "installation_id": installation, "epoch": epoch});
    server.post_as(credential, "/v1/devices/epochs", None, body).await
}

#[tokio::test]
async fn an_epoch_that_a_till_took_by_itself_is_registered_and_told_again_without_harm() {
    let server = Server::new().await;
    let till = enrol(&server, &server.enrolment_code("D07").await, ONE, "K7M").await.expect(200);
    for _ in 0..2 {
        let told = tell(&server, &till.text("credential"), ONE, "K7N").await.expect(200);
        assert_eq!((told.text("device_id"), told.text("epoch")), ("D07".to_owned(), "K7N".to_owned()));
    }
    tell(&server, &till.text("credential"), ONE, "K7M").await.expect(200);
    assert_eq!(server.audited("epoch_registered").await.len(), 1, "once, however often it is told");
}

#[tokio::test]
async fn an_epoch_of_another_installation_is_taken_whichever_way_it_was_registered() {
    let server = Server::new().await;
    let (one, two) = (server.enrolment_code("D07").await, server.enrolment_code("D07").await);
    let first = enrol(&server, &one, ONE, "K7M").await.expect(200);
    let other = enrol(&server, &two, OTHER, "K7N").await.expect(200);
    tell(&server, &first.text("credential"), ONE, "K7P").await.expect(200);
    for epoch in ["K7M", "K7P"] {
        tell(&server, &other.text("credential"), OTHER, epoch).await.refused(409, "epoch_taken");
    }
    let third = server.enrolment_code("D07").await;
    enrol(&server, &third, "1f1c1a52-4c3a-4b59-9d0e-0a4b8c1d2e3f", "K7P").await.refused(409, "epoch_taken");
}

#[tokio::test]
async fn an_epoch_is_registered_by_a_credential_that_sells_and_in_its_scope() {
    let server = Server::new().await;
    let till = enrol(&server, &server.enrolment_code("D07").await, ONE, "K7M").await.expect(200);
    tell(&server, "ytc_nobody", ONE, "K7N").await.refused(401, "unauthenticated");
    let refused = tell(&server, &till.text("credential"), "not-a-uuid", "K0O").await;
    refused.refused(422, "validation_failed");
}

#[tokio::test]
async fn a_bad_request_names_its_faults_and_burns_nothing() {
    let server = Server::new().await;
    let code = server.enrolment_code("D07").await;
    let refused = enrol(&server, &code, "not-a-uuid", "K0O").await.refused(422, "validation_failed");
    let paths: Vec<&Value> =
        refused.body["error"]["fields"].as_array().unwrap().iter().map(|fault| &fault["path"]).collect();
    assert_eq!(paths, ["installation_id", "epoch"]);
    enrol(&server, &code, ONE, "K7M").await.expect(200);
}
