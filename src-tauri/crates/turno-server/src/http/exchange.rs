//! What every answer has: an id of its own, a date, and no place in any cache.
//!
//! Invariant: the id in the header and the one in the body are the same, and no two answers share one.

use axum::{
    extract::{Request, State},
    http::{HeaderName, HeaderValue, header},
    middleware::Next,
    response::Response,
};
use jiff::Timestamp;

use super::refusal::Refusal;
use crate::world::World;

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The id of the answer that is being made.
#[derive(Clone, Debug)]
pub(super) struct RequestId(pub String);

pub(super) async fn complete(State(world): State<World>, mut request: Request, next: Next) -> Response {
    let id = RequestId(world.new_id("req"));
    request.extensions_mut().insert(id.clone());
    let method = request.method().clone();
    let mut response = next.run(request).await;
    if let Some(refusal) = response.extensions_mut().remove::<Refusal>() {
        refusal.write_into(&mut response, &id);
    }
    tracing::debug!(request_id = id.0, %method, status = response.status().as_u16(), "answered");
    let headers = response.headers_mut();
    headers.insert(X_REQUEST_ID, HeaderValue::try_from(id.0).expect("an id is visible ascii"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Ok(date) = HeaderValue::try_from(http_date(world.now())) {
        headers.insert(header::DATE, date);
    }
    response
}

/// As RFC 9110 writes dates. Set here and not by the HTTP library, so that a simulated clock is the only one.
fn http_date(now: Timestamp) -> String {
    now.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}
