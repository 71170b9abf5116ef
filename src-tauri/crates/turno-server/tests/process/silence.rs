//! A day of everything that carries a secret or a name, with the log at its loudest on both stores.

use std::fs;

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};

use crate::{
    program::command,
    town::{Store, Town, WEBHOOK_SECRET, payment, sale},
};

#[tokio::test(flavor = "multi_thread")]
async fn on_sqlite_no_log_holds_what_opens_a_door_or_names_a_person() {
    keeps_silent(Store::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_postgresql_no_log_holds_what_opens_a_door_or_names_a_person() {
    let Some(store) = Store::postgres() else { return };
    keeps_silent(store).await;
}

fn text(body: &Value, pointer: &str) -> String {
    body.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{pointer} in {body}")).to_owned()
}

async fn keeps_silent(store: Store) {
    let town = Town::new(store);
    let server = town.server();
    let till = town.till(&server);

    // A question, and its confirmation with names.
    let seat = |id: &str| {
        let mut body = sale("85.02");
        body["external_transaction_id"] = id.into();
        body["context"] = json!({"route": "184", "service": "184-0800", "seat": "12A"});
        body
    };
    let sold = till.post("/v1/transactions", "k1", &seat("E-1")).await.unwrap().expect(201);
    let asked = till.post("/v1/transactions", "k2", &seat("E-2")).await.unwrap().expect(409);
    let token = text(&asked.body, "/error/duplicate_confirmation_token");
    let mut confirmed = seat("E-2");
    confirmed["duplicate_confirmation_token"] = token.clone().into();
    confirmed["confirmed_by"] = "Jefa Mamani".into();
    confirmed["confirmation_reason"] = "dos asientos".into();
    till.post("/v1/transactions", "k3", &confirmed).await.unwrap().expect(201);

    // A payment that the webhook closes.
    let path = format!("/v1/transactions/{}/payments", text(&sold.body, "/yupy_transaction_id"));
    let pending = till.post(&path, "pay", &payment("85.02")).await.unwrap().expect(202);
    let event = json!({
        "event_id": "EV-1", "acquirer_payment_id": pending.body["acquirer_payment_id"], "status": "approved",
        "amount": "85.02", "currency": "PEN",
    })
    .to_string();
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(WEBHOOK_SECRET.as_bytes()).unwrap();
    mac.update(event.as_bytes());
    let signature: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let webhook = reqwest::Client::new()
        .post(format!("{}/v1/acquirer/webhook", server.address))
        .header("content-type", "application/json")
        .header("x-acquirer-signature", format!("sha256={signature}"));
    assert_eq!(webhook.body(event).send().await.unwrap().status(), 200);

    // A till that enrols.
    let scope = ["--company", "A", "--integration", "pos", "--device-id", "D09"];
    let output = command()
        .args(["admin", "--database", &town.database(), "enrolment-code"])
        .args(scope)
        .output()
        .unwrap();
    let code = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    let enrolment = json!({
        "enrolment_code": code, "installation_id": "6f1c1a52-4c3a-4b59-9d0e-0a4b8c1d2e3f", "epoch": "K7M",
    });
    let enrolled = till.post("/v1/devices/enroll", "e", &enrolment).await.unwrap().expect(200);
    let credential = text(&enrolled.body, "/credential");
    server.end().await;

    let log = fs::read_to_string(town.log()).unwrap();
    assert!(log.contains("answered"), "the log is at its loudest");
    for secret in [&token, &code, &credential, &signature] {
        assert!(secret.len() > 8 && !log.contains(secret.as_str()), "{secret} is logged");
    }
    for said in ["Mamani", "dos asientos", "184-0800"] {
        assert!(!log.contains(said), "{said} is logged");
    }
}
