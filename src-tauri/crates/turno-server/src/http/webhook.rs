//! `POST /v1/acquirer/webhook`: the acquirer proves itself by a signature over the body's bytes.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, StatusCode},
    response::Response,
};
use serde_json::json;
use subtle::ConstantTimeEq;
use turno_protocol::code::ErrorCode;

use super::{App, answer, gate, refusal::Refusal};
use crate::{ledger::Ledger, matrix::WebhookOutcome, request::read_webhook, secrets::hmac, token::unhex};

const X_ACQUIRER_SIGNATURE: HeaderName = HeaderName::from_static("x-acquirer-signature");

pub(super) async fn receive<L: Ledger>(
    State(app): State<Arc<App<L>>>,
    request: Request,
) -> Result<Response, Refusal> {
    let signature = signature(request.headers());
    let bytes = gate::read_body(request, app.config.body_limit).await?;
    let is_signed = match (&app.config.acquirer_webhook_secret, signature) {
        (Some(secret), Some(signature)) => {
            hmac(secret.expose().as_bytes(), &bytes).ct_eq(signature.as_slice()).into()
        }
        (Some(_) | None, _) => false,
    };
    if !is_signed {
        return Err(Refusal::new(ErrorCode::Unauthenticated));
    }
    let event = read_webhook(&gate::parse(&bytes)?).map_err(Refusal::invalid)?;
    let result = match app.ledger.apply_webhook(event).await? {
        WebhookOutcome::Closed => "closed",
        WebhookOutcome::NoEffect => "no_effect",
        WebhookOutcome::UnknownPayment => return Err(Refusal::new(ErrorCode::NotFound)),
    };
    Ok(answer::json(StatusCode::OK, &json!({"result": result})))
}

/// The one signature of the request, if it can be one.
fn signature(headers: &HeaderMap) -> Option<Vec<u8>> {
    let mut values = headers.get_all(X_ACQUIRER_SIGNATURE).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    unhex(value.to_str().ok()?.strip_prefix("sha256=")?)
}
