//! For those who run the server: is it there, and can it work?

use std::sync::Arc;

use axum::{extract::State, http::StatusCode, response::Response};
use serde_json::json;

use super::{App, answer, refusal::Refusal};
use crate::ledger::Ledger;

/// The process answers.
pub(super) async fn health() -> Response {
    answer::json(StatusCode::OK, &json!({"status": "ok"}))
}

/// Requests can be served: the store answers too.
pub(super) async fn ready<L: Ledger>(State(app): State<Arc<App<L>>>) -> Result<Response, Refusal> {
    app.ledger.ready().await?;
    Ok(answer::json(StatusCode::OK, &json!({"status": "ready"})))
}

pub(super) async fn openapi() -> Response {
    answer::json(
        StatusCode::OK,
        &json!({"openapi": "3.1.0", "info": {"title": "YUPY", "version": env!("CARGO_PKG_VERSION")}, "paths": {}}),
    )
}
