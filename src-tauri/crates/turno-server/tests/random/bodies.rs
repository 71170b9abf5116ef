//! Parser, canonical form, readers and fingerprints.

use proptest::prelude::*;
use serde_json::Value;
use turno_domain::{Currency, text::normalise_free_text};
use turno_protocol::{canonical, operation::Operation, strict_json};
use turno_server::{
    content::{Content, Target},
    request::{read_enrolment, read_payment, read_resolution, read_sale, read_void, read_webhook},
    secrets::SigningKey,
};

use crate::{
    config,
    mutation::{edited, edits, odd, replaced},
};

pub const SALE: &str = r#"{"external_transaction_id":"D03-K7M-S44-0127","amount":"85.50","currency":"PEN",
    "buyer_name":"María Ramos","integration_experience":"till","shift_id":"S44","device_id":"D03",
    "occurred_at":"2026-11-30T10:00:00-05:00","payment_method":"cash","context":{"custom_reference_1":"R",
    "custom_reference_2":"S","route":"184","seat":"12A","order":"O","product":"P","service":"V"},
    "duplicate_confirmation_token":"t","confirmed_by":"Jefa","confirmation_reason":"dos","extra":[1,-2.5,{"a":null}]}"#;
pub const VOID: &str = r#"{"external_operation_id":"V-1","reason":"viaje \u0063ancelado"}"#;
pub const PAYMENT: &str =
    r#"{"external_payment_id":"P-1","amount":"85.50","currency":"PEN","method":"card"}"#;
pub const RESOLUTION: &str =
    r#"{"challenge_id":"c","decision":"same_sale","decided_by":"Jefa","reason":"la misma"}"#;
pub const ENROLMENT: &str = r#"{"enrolment_code":"K7M2P-QX4TD-9HWRA","epoch":"K7M",
    "installation_id":"6f1c1a52-4c3a-4b59-9d0e-0a4b8c1d2e3f"}"#;
pub const EVENT: &str =
    r#"{"event_id":"e","acquirer_payment_id":"a","status":"approved","amount":"1","currency":"PEN"}"#;

const BODIES: [&str; 6] = [SALE, VOID, PAYMENT, RESOLUTION, ENROLMENT, EVENT];

const SECRET: SigningKey = SigningKey([7; 32]);

#[test]
fn a_body_that_was_good_once_is_read_in_one_way_or_not_at_all() {
    proptest!(config(15_000), |(body in prop::sample::select(&BODIES[..]), edits in edits())| {
        read(&edited(body.as_bytes(), &edits))?;
    });
}

#[test]
fn a_body_with_odd_members_is_read_in_one_way_or_not_at_all() {
    proptest!(config(4_000), |(body in prop::sample::select(&BODIES[..]), odd in odd())| {
        read(&replaced(body, &odd))?;
    });
}

#[test]
fn any_bytes_are_read_in_one_way_or_not_at_all() {
    proptest!(config(5_000), |(bytes in prop::collection::vec(any::<u8>(), 0..200))| read(&bytes)?);
    proptest!(config(5_000), |(text in r#"[\[\]{}":,0-9eEtrufalsn\\. +-]{0,60}"#)| read(text.as_bytes())?);
}

fn read(bytes: &[u8]) -> Result<(), TestCaseError> {
    let Ok(value) = strict_json::parse(bytes) else { return Ok(()) };
    // Whoever reads it with another reader reads the same.
    prop_assert_eq!(&serde_json::from_slice::<Value>(bytes).unwrap(), &value);
    let written = canonical::to_bytes(&value);
    let again = strict_json::parse(&written);
    prop_assert!(again.is_ok(), "its canonical form is not read: {:?}", String::from_utf8_lossy(&written));
    let again = again.unwrap();
    prop_assert_eq!(canonical::to_bytes(&again), written);
    // What is written differently is the same content.
    prop_assert_eq!(content(&value), content(&again));
    readers(&value);
    texts(&value)
}

fn content(value: &Value) -> Content {
    let target = Target { operation: Operation::CreateTransaction, path_id: None };
    Content::of(&SECRET, target, value, Currency::PEN)
}

/// Each says yes or no, and does not panic.
fn readers(value: &Value) {
    let _ = read_sale(value, Currency::PEN);
    let _ = read_void(value);
    let _ = read_payment(value, Currency::PEN);
    let _ = read_resolution(value);
    let _ = read_enrolment(value);
    let _ = read_webhook(value);
}

fn texts(value: &Value) -> Result<(), TestCaseError> {
    match value {
        Value::String(text) => {
            let once = normalise_free_text(text);
            prop_assert_eq!(normalise_free_text(&once), once.clone());
        }
        Value::Array(items) => items.iter().try_for_each(texts)?,
        Value::Object(members) => members.values().try_for_each(texts)?,
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    Ok(())
}
