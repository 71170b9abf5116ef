//! For those who run the server: is it there, and can it work?

use std::sync::Arc;

use axum::{
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;
use turno_protocol::code::ErrorCode;

use super::{App, answer, openapi, refusal::Refusal};
use crate::{config::Config, ledger::Ledger, metrics::Gauges};

/// The process answers.
pub(super) async fn health() -> Response {
    answer::json(StatusCode::OK, &json!({"status": "ok"}))
}

/// Requests can be served: the store answers too.
pub(super) async fn ready<L: Ledger>(State(app): State<Arc<App<L>>>) -> Result<Response, Refusal> {
    if app.config.drain.has_begun() {
        return Err(Refusal::new(ErrorCode::ServiceUnavailable));
    }
    app.ledger.ready().await?;
    Ok(answer::json(StatusCode::OK, &json!({"status": "ready"})))
}

/// Counters and gauges for Prometheus.
pub(super) async fn metrics<L: Ledger>(State(app): State<Arc<App<L>>>) -> Response {
    let Config { metrics, drain, world, .. } = &app.config;
    let gauges = Gauges { store_queue: app.ledger.queue_depth(), payments_in_flight: drain.tasks() };
    let text = metrics.to_text(gauges, world.now());
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}

/// The description of the API.
pub(super) async fn openapi<L: Ledger>(State(app): State<Arc<App<L>>>) -> Response {
    answer::json(StatusCode::OK, &openapi::document::<L>(app.config.metrics_place))
}
