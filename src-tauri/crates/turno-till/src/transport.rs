//! One request and what came back, or why nothing did. The only thing that is faked in a simulation.
//!
//! Invariant of every implementation: redirects are not followed, nothing is sent twice by itself, and an
//! answer larger than [`ANSWER_LIMIT`] is cut and so unusable.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use jiff::fmt::rfc2822;
use serde_json::Value;
use turno_protocol::strict_json;

use crate::answer::WaitCause;
use crate::clock::Millis;

mod http;
pub use http::{AddressError, HttpTransport, Timeouts};

/// YUPY's answers have a few hundred bytes, lists at most 500 items, and a catalog of 50 000 offers has 5 to 10 MiB; a
/// portal's page may be anything.
pub const ANSWER_LIMIT: usize = 16 * 1024 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
}

#[derive(Clone, Debug)]
pub struct Request {
    pub method: Method,
    /// Path and query, e.g. `/v1/transactions`.
    pub path: String,
    pub idempotency_key: Option<String>,
    pub if_none_match: Option<String>,
    /// How far this till's audit has come, for YUPY to keep.
    pub audit_head: Option<String>,
    pub body: Option<Vec<u8>>,
}

impl Request {
    #[must_use]
    pub fn get(path: impl Into<String>) -> Self {
        Self {
            method: Method::Get,
            path: path.into(),
            idempotency_key: None,
            if_none_match: None,
            audit_head: None,
            body: None,
        }
    }

    /// Asks for the transaction with an external id: a list of none or one (contract §2).
    #[must_use]
    pub fn look_up(external_transaction_id: &str) -> Self {
        Self::get(format!("/v1/transactions?external_transaction_id={}", encoded(external_transaction_id)))
    }

    /// Asks for a page of a device's transactions, oldest first (contract §2).
    #[must_use]
    pub fn list(device_id: &str, after: Option<&str>, limit: usize) -> Self {
        let after = after.map(|cursor| format!("&after={}", encoded(cursor))).unwrap_or_default();
        Self::get(format!("/v1/transactions?device_id={}&limit={limit}{after}", encoded(device_id)))
    }

    /// Asks for the void of a transaction (contract §2).
    #[must_use]
    pub fn void(yupy_transaction_id: &str, body: Vec<u8>) -> Self {
        Self::post(format!("/v1/transactions/{}/void", encoded(yupy_transaction_id)), body)
    }

    /// Asks for a payment of a transaction (contract §7).
    #[must_use]
    pub fn payment(yupy_transaction_id: &str, body: Vec<u8>) -> Self {
        Self::post(format!("/v1/transactions/{}/payments", encoded(yupy_transaction_id)), body)
    }

    /// Tells of a person's decision about a question (contract §6).
    #[must_use]
    pub fn resolve(body: Vec<u8>) -> Self {
        Self::post("/v1/duplicate-resolutions", body)
    }

    /// Asks how a question stands (contract §2).
    #[must_use]
    pub fn challenge(challenge_id: &str) -> Self {
        Self::get(format!("/v1/duplicate-challenges/{}", encoded(challenge_id)))
    }

    /// Asks for a page of the company's open questions (contract §2).
    #[must_use]
    pub fn challenges(after: Option<&str>, limit: usize) -> Self {
        let after = after.map(|cursor| format!("&after={}", encoded(cursor))).unwrap_or_default();
        Self::get(format!("/v1/duplicate-challenges?state=open&limit={limit}{after}"))
    }

    #[must_use]
    pub fn post(path: impl Into<String>, body: Vec<u8>) -> Self {
        Self { method: Method::Post, body: Some(body), ..Self::get(path) }
    }
}

/// As a value in a query.
fn encoded(text: &str) -> String {
    let mut value = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                value.push(char::from(byte));
            }
            _ => value.push_str(&format!("%{byte:02X}")),
        }
    }
    value
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    pub media_type: Option<String>,
    pub retry_after: Option<String>,
    pub date: Option<String>,
    pub etag: Option<String>,
    pub request_id: Option<String>,
    pub body: Vec<u8>,
}

impl Response {
    /// `application/json`, or a type built on it.
    #[must_use]
    pub fn is_json(&self) -> bool {
        let Some(media_type) = &self.media_type else { return false };
        let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
    }

    /// The body as a JSON object, if that is what it is and what it says it is. A member written twice could be read
    /// in two ways, and an answer about money has one meaning or none.
    #[must_use]
    pub fn json(&self) -> Option<Value> {
        if !self.is_json() {
            return None;
        }
        strict_json::parse(&self.body).ok().filter(Value::is_object)
    }

    /// What the server's clock said when it answered.
    #[must_use]
    pub fn answered_at(&self) -> Option<Millis> {
        Some(rfc2822::parse(self.date.as_deref()?.trim()).ok()?.timestamp().as_millisecond())
    }

    /// How long the server asks us to wait: whole seconds, or a date read against the answer's own `Date`, so
    /// that a wrong clock here changes nothing. Whatever is neither counts as not said.
    #[must_use]
    pub fn retry_after_ms(&self) -> Option<i64> {
        let said = self.retry_after.as_deref()?.trim();
        if !said.is_empty() && said.bytes().all(|byte| byte.is_ascii_digit()) {
            // Twenty digits are a server's mistake, not a wish; the policy caps what is left.
            return Some(said.parse::<i64>().unwrap_or(i64::MAX).saturating_mul(1_000));
        }
        let until = rfc2822::parse(said).ok()?.timestamp();
        Some(until.as_millisecond().saturating_sub(self.answered_at()?).max(0))
    }
}

/// Why no answer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    NoNetwork,
    NoNameResolution,
    CertificateOrClock,
    /// Refused, or no connection within the time-out: nothing was sent.
    Unreachable,
    /// The connection broke after it stood, perhaps within the answer: the request may have arrived.
    ConnectionLost,
    /// No complete answer within the time-out: the request may have arrived.
    TimedOut,
    /// An answer came and is too long to be one of YUPY's.
    UnusableAnswer,
}

impl Failure {
    #[must_use]
    pub fn cause(self) -> WaitCause {
        match self {
            Self::NoNetwork => WaitCause::NoNetwork,
            Self::NoNameResolution => WaitCause::NoNameResolution,
            Self::CertificateOrClock => WaitCause::CertificateOrClock,
            Self::Unreachable => WaitCause::Unreachable,
            Self::ConnectionLost => WaitCause::ConnectionLost,
            Self::TimedOut => WaitCause::TimedOut,
            Self::UnusableAnswer => WaitCause::UnusableAnswer,
        }
    }
}

pub type Sending<'a> = Pin<Box<dyn Future<Output = Result<Response, Failure>> + Send + 'a>>;

pub trait Transport: Send + Sync + 'static {
    fn send(&self, request: Request) -> Sending<'_>;
}

pub type SharedTransport = Arc<dyn Transport>;

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(retry_after: &str, date: Option<&str>) -> Option<i64> {
        let (retry_after, date) = (Some(retry_after.to_owned()), date.map(str::to_owned));
        Response { retry_after, date, ..Response::default() }.retry_after_ms()
    }

    #[test]
    fn an_id_with_anything_in_it_is_asked_for_as_it_is() {
        let path = |id| Request::look_up(id).path;
        assert!(path("D03-K7M-S44-0127").ends_with("=D03-K7M-S44-0127"));
        assert!(path("Ñ 1&limit=9#+%").ends_with("=%C3%91%201%26limit%3D9%23%2B%25"));
    }

    #[test]
    fn whole_seconds_are_a_wish_and_whatever_is_no_number_is_none() {
        for (said, ms) in [
            ("5", Some(5_000)),
            (" 5 ", Some(5_000)),
            ("0", Some(0)),
            ("99999999999999999999", Some(i64::MAX)),
            ("9223372036854775807", Some(i64::MAX)),
            ("-3", None),
            ("+3", None),
            ("1.5", None),
            ("", None),
            ("soon", None),
            ("5s", None),
            ("٥", None),
        ] {
            assert_eq!(wait(said, None), ms, "{said:?}");
        }
        assert_eq!(Response::default().retry_after_ms(), None);
    }

    #[test]
    fn a_date_is_read_against_the_answers_own_so_that_our_clock_does_not_matter() {
        let until = "Mon, 30 Nov 2026 15:00:30 GMT";
        // Years away from whatever time it is here.
        assert_eq!(wait(until, Some("Mon, 30 Nov 2026 15:00:00 GMT")), Some(30_000));
        assert_eq!(
            wait("Sat, 01 Jan 2000 00:00:30 GMT", Some("Sat, 01 Jan 2000 00:00:00 GMT")),
            Some(30_000)
        );
        assert_eq!(wait(until, Some("Mon, 30 Nov 2026 16:00:00 GMT")), Some(0), "a date that has passed");
        assert_eq!(wait(until, None), None, "against nothing");
        assert_eq!(wait(until, Some("tomorrow")), None);
        assert_eq!(wait("2026-11-30T15:00:30Z", Some("Mon, 30 Nov 2026 15:00:00 GMT")), None);
    }

    #[test]
    fn only_an_object_with_one_meaning_is_read() {
        let body = |body: &str| {
            let media_type = Some("application/json".to_owned());
            Response { media_type, body: body.as_bytes().to_vec(), ..Response::default() }.json()
        };
        assert!(body(r#"{"a":1}"#).is_some());
        for refused in [
            r#"{"a":1,"a":2}"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"{"a":1} {}"#,
            "[]",
            "null",
            "7",
            "",
            "\u{feff}{}",
        ] {
            assert_eq!(body(refused), None, "{refused}");
        }
    }
}
