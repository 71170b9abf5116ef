//! Confirmation tokens that are not quite what was given out.

use std::cell::Cell;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    config,
    mutation::{edited, edits},
    server::Server,
};

fn sale(id: &str) -> Value {
    json!({
        "external_transaction_id": id, "amount": "85.50", "device_id": "D", "context": {"seat": "12A"},
    })
}

#[test]
fn a_token_with_any_byte_altered_confirms_nothing_and_the_token_itself_still_does() {
    let server = Server::new();
    let visit = server.visit();
    assert_eq!(visit.post("/v1/transactions", Some("a"), &sale("A")).status, 201);
    let question = visit.post("/v1/transactions", Some("b"), &sale("B"));
    let token = question.text("/error/duplicate_confirmation_token").to_owned();
    assert!(!token.is_empty(), "{:#}", question.body);
    let number = Cell::new(0);
    let confirm = |token: Value| {
        let mut body = sale("B");
        body["duplicate_confirmation_token"] = token;
        number.set(number.get() + 1);
        visit.post("/v1/transactions", Some(&format!("c{}", number.get())), &body)
    };
    // Every byte once.
    for at in 0..token.len() {
        let mut altered = token.clone().into_bytes();
        altered[at] = if altered[at] == b'0' { b'1' } else { b'0' };
        let answer = confirm(json!(String::from_utf8(altered).unwrap()));
        assert_eq!(
            answer.text("/error/code"),
            "duplicate_confirmation_invalid",
            "byte {at}: {:#}",
            answer.body
        );
    }
    proptest!(config(2_000), |(edits in edits())| {
        let altered = String::from_utf8_lossy(&edited(token.as_bytes(), &edits)).into_owned();
        prop_assume!(altered != token);
        let answer = confirm(json!(altered));
        // A NUL is no text at all.
        let codes = ["duplicate_confirmation_invalid", "validation_failed"];
        prop_assert!(codes.contains(&answer.text("/error/code")), "{} {:#}", answer.status, answer.body);
    });
    for wrong in [json!(""), json!(7), json!([token]), json!({"token": token}), json!(token.to_uppercase())] {
        let answer = confirm(wrong);
        assert!((400..500).contains(&answer.status), "{:#}", answer.body);
    }
    assert_eq!(confirm(json!(token)).status, 201);
}
