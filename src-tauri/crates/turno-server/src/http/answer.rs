//! Answers that are no errors.

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::Response,
};
use serde::Serialize;

pub(super) const IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// Whether a keyed request was answered from an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replay {
    Fresh,
    Replayed,
}

impl Replay {
    pub(super) fn header(self) -> HeaderValue {
        match self {
            Self::Fresh => HeaderValue::from_static("false"),
            Self::Replayed => HeaderValue::from_static("true"),
        }
    }
}

pub(super) fn json(status: StatusCode, body: &impl Serialize) -> Response {
    let body = serde_json::to_vec(body).expect("texts under fixed names are always json");
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The answer to a request with a key.
pub(super) fn keyed(status: StatusCode, replay: Replay, body: &impl Serialize) -> Response {
    let mut response = json(status, body);
    response.headers_mut().insert(IDEMPOTENCY_REPLAYED, replay.header());
    response
}
