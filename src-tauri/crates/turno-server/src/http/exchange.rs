//! What every answer has: an id of its own, a date, and no place in any cache.
//!
//! Invariant: the id in the header and the one in the body are the same, and no two answers share one. An operation
//! that comes while the server drains is not run.

use std::panic::AssertUnwindSafe;

use axum::{
    extract::{Request, State},
    http::{HeaderName, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use futures_util::FutureExt;
use jiff::Timestamp;
use tokio::time::Instant;
use turno_protocol::code::ErrorCode;

use super::{answer::IDEMPOTENCY_REPLAYED, refusal::Refusal};
use crate::{
    config::Config,
    kill_points::{self, KillPoint},
    metrics::Counter,
};

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What is an operation and not a question about the process.
const OPERATIONS: &str = "/v1/";

/// The id of the answer that is being made.
#[derive(Clone, Debug)]
pub(super) struct RequestId(pub String);

pub(super) async fn complete(State(config): State<Config>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = RequestId(config.world.new_id("req"));
    request.extensions_mut().insert(id.clone());
    let method = request.method().clone();
    let is_operation = request.uri().path().starts_with(OPERATIONS);
    let mut response = if is_operation && config.drain.has_begun() {
        Refusal::new(ErrorCode::ServiceUnavailable).into_response()
    } else {
        // A bug in one request is that request's: its transaction was rolled back, and the next is served.
        AssertUnwindSafe(next.run(request)).catch_unwind().await.unwrap_or_else(|_| {
            tracing::error!(request_id = id.0, "a handler panicked");
            Refusal::new(ErrorCode::InternalError).into_response()
        })
    };
    if response.status() == StatusCode::CREATED {
        kill_points::reach(KillPoint::AfterCommitBeforeReply);
    }
    let refused = finish(&config, &mut response, id.clone());
    if is_operation {
        config.metrics.answered(refused, started.elapsed());
    }
    if response.headers().get(IDEMPOTENCY_REPLAYED).is_some_and(|replayed| replayed == "true") {
        config.metrics.count(Counter::Replays);
    }
    tracing::debug!(request_id = id.0, %method, status = response.status().as_u16(), "answered");
    response
}

/// A refusal from outside the router, as complete as any answer.
pub(crate) fn refuse(config: &Config, refusal: Refusal) -> Response {
    let mut response = refusal.into_response();
    let refused = finish(config, &mut response, RequestId(config.world.new_id("req")));
    config.metrics.answered(refused, std::time::Duration::ZERO);
    response
}

/// Write what only the way out knows. Says what was refused.
fn finish(config: &Config, response: &mut Response, id: RequestId) -> Option<ErrorCode> {
    let refusal = response.extensions_mut().remove::<Refusal>();
    let refused = refusal.as_ref().map(Refusal::code);
    if let Some(refusal) = refusal {
        refusal.write_into(response, &id);
    }
    let headers = response.headers_mut();
    headers.insert(X_REQUEST_ID, HeaderValue::try_from(id.0).expect("an id is visible ascii"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Ok(date) = HeaderValue::try_from(http_date(config.world.now())) {
        headers.insert(header::DATE, date);
    }
    refused
}

/// As RFC 9110 writes dates. Set here and not by the HTTP library, so that a simulated clock is the only one.
fn http_date(now: Timestamp) -> String {
    now.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}
