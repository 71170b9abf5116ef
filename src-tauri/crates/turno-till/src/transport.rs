//! One request and what came back, or why nothing did. The only thing that is faked in a simulation.
//!
//! Invariant of every implementation: redirects are not followed, nothing is sent twice by itself, and an
//! answer larger than [`ANSWER_LIMIT`] is cut and so unusable.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use jiff::fmt::rfc2822;
use serde_json::Value;

use crate::answer::WaitCause;

mod http;
pub use http::{AddressError, HttpTransport};

/// YUPY's answers have a few hundred bytes, lists at most 500 items; a portal's page may be anything.
pub const ANSWER_LIMIT: usize = 4 * 1024 * 1024;

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
            body: None,
        }
    }

    #[must_use]
    pub fn post(path: impl Into<String>, body: Vec<u8>) -> Self {
        Self { method: Method::Post, body: Some(body), ..Self::get(path) }
    }
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

    /// The body as a JSON object, if that is what it is and what it says it is.
    #[must_use]
    pub fn json(&self) -> Option<Value> {
        if !self.is_json() {
            return None;
        }
        serde_json::from_slice(&self.body).ok().filter(Value::is_object)
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
        let answered = rfc2822::parse(self.date.as_deref()?.trim()).ok()?.timestamp();
        Some(until.as_millisecond().saturating_sub(answered.as_millisecond()).max(0))
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
    /// The connection broke after it stood: the request may have arrived.
    ConnectionLost,
    /// No complete answer within the time-out: the request may have arrived.
    TimedOut,
    /// An answer came and cannot be read to its end.
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
