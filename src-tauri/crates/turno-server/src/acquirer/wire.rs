//! What this server and an acquirer say to each other, the same words for both ends.
//!
//! # The contract
//!
//! Two operations below one address, each a signed `POST` of JSON:
//!
//! | operation | body | may be repeated |
//! |---|---|---|
//! | `charges` | `acquirer_payment_id`, `reference`, `amount`, `currency` | yes: an id is charged once, and every repetition gets the first result |
//! | `look-ups` | `acquirer_payment_id`, `amount`, `currency` | yes: it changes nothing |
//!
//! Both are answered with 200 and `{acquirer_payment_id, status, amount, currency}`, where `status` is `approved`,
//! `declined`, `pending` or, for a look-up, `not_found`. Amounts are texts as in the YUPY contract (`"85.50"`).
//! `amount` is what was approved, and otherwise what was asked.
//!
//! A request carries `X-Turno-Timestamp` (seconds since 1970, at most [`TOLERANCE_S`] away from the acquirer's clock)
//! and `X-Turno-Signature: v1=<hex>`, HMAC-SHA-256 under the shared secret over
//! `turno-acquirer-v1\nrequest\n<operation>\n<timestamp>\n` and the body's bytes. An answer carries
//! `X-Turno-Signature` over `turno-acquirer-v1\nanswer\n<hex of the request's>\n` and its own bytes, so that an answer
//! to another request, or one made up on the way, is nobody's word.
//!
//! Anything else is no answer: another status, other media, a broken body, another id or currency. It leaves the
//! outcome unknown, and this server looks the payment up later. Above all, a 404 is a wrong address and not a
//! `not_found`.
//!
//! Invariant: what cannot be understood completely is not understood at all.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use subtle::ConstantTimeEq;
use turno_domain::{Currency, Money};
use turno_protocol::{secret::Secret, strict_json};

use super::Found;
use crate::{
    payment::PaymentResult,
    secrets::hmac,
    token::{hex, unhex},
};

pub(super) const TIMESTAMP: &str = "x-turno-timestamp";
pub(super) const SIGNATURE: &str = "x-turno-signature";

/// How far apart both clocks may be: a request that somebody kept is worth nothing after it.
pub const TOLERANCE_S: u64 = 300;

/// Largest body in either direction. A real one has some hundred bytes.
pub(super) const BODY_LIMIT: usize = 16 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Charges,
    LookUps,
}

impl Operation {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Charges => "charges",
            Self::LookUps => "look-ups",
        }
    }
}

/// The body of either operation.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Asked {
    pub acquirer_payment_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    pub amount: String,
    pub currency: Currency,
}

impl Asked {
    pub(super) fn new(acquirer_payment_id: &str, reference: Option<String>, amount: Money) -> Self {
        Self {
            acquirer_payment_id: acquirer_payment_id.to_owned(),
            reference,
            amount: amount.to_amount_text(),
            currency: amount.currency(),
        }
    }

    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_value(parse(bytes)?).ok()
    }

    pub(super) fn money(&self) -> Option<Money> {
        Money::parse_amount(&self.amount, self.currency).ok()
    }
}

/// The body of either answer.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Said {
    pub acquirer_payment_id: String,
    pub status: Status,
    pub amount: String,
    pub currency: Currency,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Approved,
    Declined,
    Pending,
    NotFound,
}

impl Said {
    pub(super) fn new(acquirer_payment_id: &str, asked: Money, found: Found) -> Self {
        let (status, amount) = match found {
            Found::Payment(PaymentResult::Approved { amount }) => (Status::Approved, amount),
            Found::Payment(PaymentResult::Declined) => (Status::Declined, asked),
            Found::Payment(PaymentResult::Pending) => (Status::Pending, asked),
            Found::Nothing => (Status::NotFound, asked),
        };
        Self {
            acquirer_payment_id: acquirer_payment_id.to_owned(),
            status,
            amount: amount.to_amount_text(),
            currency: amount.currency(),
        }
    }

    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_value(parse(bytes)?).ok()
    }

    /// What it says about the payment that was asked about; nothing if it is about another, or about other money.
    pub(super) fn about(&self, acquirer_payment_id: &str, asked: Money) -> Option<Found> {
        let amount = Money::parse_amount(&self.amount, self.currency).ok()?;
        if self.acquirer_payment_id != acquirer_payment_id || self.currency != asked.currency() {
            return None;
        }
        let of_what_was_asked = |found| (amount == asked).then_some(found);
        match self.status {
            Status::Approved => Some(Found::Payment(PaymentResult::Approved { amount })),
            Status::Declined => of_what_was_asked(Found::Payment(PaymentResult::Declined)),
            Status::Pending => of_what_was_asked(Found::Payment(PaymentResult::Pending)),
            Status::NotFound => of_what_was_asked(Found::Nothing),
        }
    }
}

fn parse(bytes: &[u8]) -> Option<Value> {
    strict_json::parse(bytes).ok()
}

/// HMAC-SHA-256 over one message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signature([u8; 32]);

impl Signature {
    pub(super) fn of_request(secret: &Secret, operation: Operation, timestamp: u64, body: &[u8]) -> Self {
        let operation = operation.as_str();
        Self::over(secret, format!("turno-acquirer-v1\nrequest\n{operation}\n{timestamp}\n"), body)
    }

    pub(super) fn of_answer(secret: &Secret, request: Self, body: &[u8]) -> Self {
        Self::over(secret, format!("turno-acquirer-v1\nanswer\n{}\n", hex(&request.0)), body)
    }

    /// No part of a head can hold a line break, so no two messages have the same bytes.
    fn over(secret: &Secret, head: String, body: &[u8]) -> Self {
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(body);
        Self(hmac(secret.expose().as_bytes(), &bytes))
    }

    pub(super) fn to_header(self) -> String {
        format!("v1={}", hex(&self.0))
    }

    /// In constant time, so that nobody finds a signature digit by digit.
    pub(super) fn is(self, header: &str) -> bool {
        let shown = header.strip_prefix("v1=").and_then(unhex);
        shown.is_some_and(|shown| self.0.ct_eq(shown.as_slice()).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soles(minor: i64) -> Money {
        Money::from_minor(minor, Currency::PEN)
    }

    #[test]
    fn an_answer_says_at_the_other_end_what_it_was_made_of() {
        let results = [
            PaymentResult::Approved { amount: soles(8550) },
            PaymentResult::Approved { amount: soles(8450) },
            PaymentResult::Declined,
            PaymentResult::Pending,
        ];
        for found in results.map(Found::Payment).into_iter().chain([Found::Nothing]) {
            let bytes = serde_json::to_vec(&Said::new("ypa_1", soles(8550), found)).unwrap();
            assert_eq!(Said::parse(&bytes).unwrap().about("ypa_1", soles(8550)), Some(found));
        }
    }

    #[test]
    fn an_answer_that_is_not_quite_one_says_nothing() {
        let good = r#"{"acquirer_payment_id":"ypa_1","status":"declined","amount":"85.50","currency":"PEN"}"#;
        let says =
            |text: &str| Said::parse(text.as_bytes()).and_then(|said| said.about("ypa_1", soles(8550)));
        assert_eq!(says(good), Some(Found::Payment(PaymentResult::Declined)));
        for (part, other) in [
            ("ypa_1", "ypa_2"),
            ("declined", "Declined"),
            ("declined", "refused"),
            (r#""declined""#, "null"),
            ("85.50", "85.40"),
            (r#""85.50""#, "85.50"),
            ("85.50", "085.50"),
            ("PEN", "USD"),
            ("PEN", "pen"),
            (r#""currency":"PEN""#, r#""currency":"PEN","currency":"PEN""#),
            (r#","currency":"PEN""#, ""),
            ("}", ""),
            ("}", "}}"),
            (good, "[]"),
            (good, ""),
        ] {
            assert_eq!(says(&good.replacen(part, other, 1)), None, "{part} → {other}");
        }
    }

    #[test]
    fn a_signature_is_good_for_one_message_under_one_secret() {
        let (secret, other) = (Secret::new("one"), Secret::new("other"));
        let sign = |secret, operation, timestamp, body: &[u8]| {
            Signature::of_request(secret, operation, timestamp, body)
        };
        let signature = sign(&secret, Operation::Charges, 1, b"{}");
        let header = signature.to_header();
        assert!(sign(&secret, Operation::Charges, 1, b"{}").is(&header));
        for different in [
            sign(&other, Operation::Charges, 1, b"{}"),
            sign(&secret, Operation::LookUps, 1, b"{}"),
            sign(&secret, Operation::Charges, 2, b"{}"),
            sign(&secret, Operation::Charges, 1, b"{ }"),
            Signature::of_answer(&secret, signature, b"{}"),
        ] {
            assert!(!different.is(&header));
        }
        for text in ["", "v1=", &header[3..], &header[..header.len() - 2], &header.to_uppercase()] {
            assert!(!signature.is(text), "{text}");
        }
    }
}
