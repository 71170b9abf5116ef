//! When two requests have the same content (contract §4).
//!
//! Invariant: content is what was sent, without defaults and without layout: `null` is absent, an amount is its minor
//! units, a time is an instant, a free text is normalised. It is kept only as an HMAC, because a bare hash of an
//! amount and a name can be guessed. The version travels with it: a stored fingerprint is compared in its own version
//! for ever, so that an upgrade never turns a retry into a conflict.

use serde_json::{Map, Value, json};
use subtle::ConstantTimeEq;
use turno_domain::{Currency, Money, text::normalise_free_text};
use turno_protocol::{canonical, operation::Operation};

use crate::{instant::parse_rfc3339, secrets::SigningKey};

/// Members that only confirm: the core of a sale is the rest.
const CONFIRMATION_MEMBERS: [&str; 3] =
    ["duplicate_confirmation_token", "confirmed_by", "confirmation_reason"];

const FREE_TEXT_MEMBERS: [&str; 4] = ["buyer_name", "confirmed_by", "confirmation_reason", "reason"];

/// How fingerprints are computed. A change of the rules is a new version, never an edit of an old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FingerprintVersion {
    V1,
}

impl FingerprintVersion {
    pub const CURRENT: Self = Self::V1;

    pub fn number(self) -> i64 {
        match self {
            Self::V1 => 1,
        }
    }

    pub fn from_number(number: i64) -> Option<Self> {
        (number == 1).then_some(Self::V1)
    }
}

#[derive(Clone, Copy)]
pub struct Fingerprint(pub [u8; 32]);

impl PartialEq for Fingerprint {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Fingerprint {}

impl std::fmt::Debug for Fingerprint {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Fingerprint")
    }
}

/// The fingerprints of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    pub version: FingerprintVersion,
    /// Over everything: the same key means the same of these.
    pub full: Fingerprint,
    /// Without the confirmation: what a token is bound to.
    pub core: Fingerprint,
}

/// What an operation is done to. Part of its content, so that one key cannot be used for two of them.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    pub operation: Operation,
    pub path_id: Option<&'a str>,
}

impl Content {
    /// `default_currency` only decides how many decimals an amount without a currency has.
    pub fn of(secret: &SigningKey, target: Target<'_>, body: &Value, default_currency: Currency) -> Self {
        let version = FingerprintVersion::CURRENT;
        let mut normalised = match version {
            FingerprintVersion::V1 => normalise_v1(body, default_currency),
        };
        let full = fingerprint(secret, version, target, &normalised);
        let mut confirms = false;
        if let Value::Object(members) = &mut normalised {
            for name in CONFIRMATION_MEMBERS {
                confirms |= members.remove(name).is_some();
            }
        }
        let core = if confirms { fingerprint(secret, version, target, &normalised) } else { full };
        Self { version, full, core }
    }
}

fn fingerprint(
    secret: &SigningKey,
    version: FingerprintVersion,
    target: Target<'_>,
    body: &Value,
) -> Fingerprint {
    // Written as the list that it is.
    let [label, version, operation, path_id] = [
        json!("turno-fingerprint"),
        json!(version.number()),
        json!(target.operation.as_str()),
        json!(target.path_id),
    ];
    Fingerprint(secret.sign(&canonical::list_to_bytes(&[&label, &version, &operation, &path_id, body])))
}

/// Values that mean more than their text become `["kind", meaning]`, and whatever stands in their place without
/// being one becomes `["raw", value]`, so that no two different bodies end up alike.
fn normalise_v1(body: &Value, default_currency: Currency) -> Value {
    let Value::Object(members) = body else { return body.clone() };
    let currency = match members.get("currency") {
        None | Some(Value::Null) => Some(default_currency),
        Some(Value::String(code)) => Currency::parse(code).ok(),
        Some(_) => None,
    };
    let normalised = members
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| {
            let value = match (name.as_str(), value) {
                ("amount", value) => amount(value, currency),
                ("occurred_at", value) => occurred_at(value),
                ("context", Value::Object(context)) => Value::Object(all_free_text(context)),
                (name, Value::String(text)) if FREE_TEXT_MEMBERS.contains(&name) => free_text(text),
                (_, value) => without_nulls(value),
            };
            (name.clone(), value)
        })
        .collect();
    Value::Object(normalised)
}

fn amount(value: &Value, currency: Option<Currency>) -> Value {
    let read =
        value.as_str().zip(currency).and_then(|(text, currency)| Money::parse_amount(text, currency).ok());
    match read {
        Some(money) => json!(["minor", money.minor()]),
        None => json!(["raw", without_nulls(value)]),
    }
}

fn occurred_at(value: &Value) -> Value {
    match value.as_str().and_then(|text| parse_rfc3339(text).ok()) {
        Some(time) => json!(["instant", time.to_string()]),
        None => json!(["raw", without_nulls(value)]),
    }
}

fn all_free_text(context: &Map<String, Value>) -> Map<String, Value> {
    let members = context.iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| {
        let value = match value {
            Value::String(text) => free_text(text),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                without_nulls(value)
            }
        };
        (name.clone(), value)
    });
    members.collect()
}

fn free_text(text: &str) -> Value {
    Value::String(normalise_free_text(text))
}

/// `null` members are absent ones, at any depth. An item of a list keeps its place, so it stays.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(
            members
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(name, value)| (name.clone(), without_nulls(value)))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(without_nulls).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SALE: &str = r#"{"external_transaction_id": "E-1", "amount": "85.50", "buyer_name": "María Ramos",
        "occurred_at": "2025-11-30T10:00:00-05:00", "context": {"seat": "12A"}, "extras": {"meal": true}}"#;

    #[test]
    fn layout_zeros_spaces_unicode_form_offsets_and_nulls_are_not_content() {
        let same = r#"{"amount": "85.5", "external_transaction_id": "E-1", "buyer_name": "  Mari\u0301a\tRamos ",
            "occurred_at": "2025-11-30T15:00:00Z", "context": {"seat": " 12A ", "route": null},
            "extras": {"meal": true, "wine": null}, "note": null}"#;
        assert_eq!(of(SALE), of(same));
    }

    #[test]
    fn every_other_difference_is_content() {
        let variants = [
            SALE.to_owned(),
            SALE.replace("85.50", "85.51"),
            SALE.replace("E-1", "E-1 "),
            SALE.replace("Ramos", "RAMOS"),
            SALE.replace("10:00:00-", "10:00:01-"),
            SALE.replace("12A", "12B"),
            SALE.replace("true", "false"),
            SALE.replace("\"amount\"", "\"currency\": \"PEN\", \"amount\""),
            SALE.replace("\"context\": {\"seat\": \"12A\"},", ""),
        ];
        for (n, one) in variants.iter().enumerate() {
            for other in &variants[n + 1..] {
                assert_ne!(of(one).full, of(other).full, "{one} / {other}");
            }
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_mistaken_for_what_can() {
        let amounts =
            [r#""85.50""#, "8550", r#"["minor", 8550]"#, r#"["raw", "85.50"]"#, r#""8550""#, "85.5"];
        for (n, one) in amounts.iter().enumerate() {
            for other in &amounts[n + 1..] {
                let body = |amount: &str| format!(r#"{{"amount": {amount}}}"#);
                assert_ne!(of(&body(one)).full, of(&body(other)).full, "{one} / {other}");
            }
        }
    }

    #[test]
    fn operation_and_target_are_content() {
        let body = json!({"external_operation_id": "V"});
        let of = |operation, path_id| {
            Content::of(&SECRET, Target { operation, path_id }, &body, Currency::PEN).full
        };
        let all = [
            of(Operation::CreateTransaction, None),
            of(Operation::VoidTransaction, Some("one")),
            of(Operation::VoidTransaction, Some("two")),
            of(Operation::CreatePayment, Some("one")),
        ];
        for (n, one) in all.iter().enumerate() {
            assert!(!all[n + 1..].contains(one));
        }
    }

    #[test]
    fn the_core_is_the_content_without_its_confirmation() {
        let asked = of(SALE);
        assert_eq!(asked.core, asked.full);
        let confirmed = of(&SALE.replace(
            "{\"external",
            "{\"duplicate_confirmation_token\": \"t\", \"confirmed_by\": \"Jefa\", \"external",
        ));
        assert_eq!(confirmed.core, asked.core);
        assert_ne!(confirmed.full, asked.full);
    }

    #[test]
    fn an_amount_is_read_in_its_currency_and_one_without_in_the_company_s() {
        let of = |body: &Value, currency| {
            Content::of(
                &SECRET,
                Target { operation: Operation::CreateTransaction, path_id: None },
                body,
                currency,
            )
            .full
        };
        let clp = Currency::parse("CLP").unwrap();
        let body = json!({"amount": "85"});
        assert_ne!(of(&body, Currency::PEN), of(&body, clp));
        let body = json!({"amount": "85", "currency": "PEN"});
        assert_eq!(of(&body, Currency::PEN), of(&body, clp));
    }

    /// A fingerprint is kept for ever: it must come out the same in every release.
    #[test]
    fn a_fingerprint_is_over_a_canonical_list() {
        let body = json!({"external_operation_id": "V", "reason": "se fue"});
        let target = Target { operation: Operation::VoidTransaction, path_id: Some("ypt_1") };
        let content = Content::of(&SECRET, target, &body, Currency::PEN);
        let list = r#"["turno-fingerprint",1,"void_transaction","ypt_1",{"external_operation_id":"V","reason":"se fue"}]"#;
        assert_eq!(content.full, Fingerprint(SECRET.sign(list.as_bytes())));
    }

    const SECRET: SigningKey = SigningKey([7; 32]);

    fn of(body: &str) -> Content {
        let body = turno_protocol::strict_json::parse(body.as_bytes()).unwrap();
        Content::of(
            &SECRET,
            Target { operation: Operation::CreateTransaction, path_id: None },
            &body,
            Currency::PEN,
        )
    }
}
