//! Rows A to C: who asks, with what right, and whether what came can be read at all.
//!
//! Invariant: the checks are made in the contract's order (credential, right, media type and size, key, syntax), and
//! none of them touches a key.

use axum::{
    body::{Bytes, HttpBody},
    extract::Request,
    http::{HeaderMap, HeaderName, header},
};
use futures_util::StreamExt;
use serde_json::Value;
use turno_domain::ids::{IdempotencyKey, IdempotencyKeyError};
use turno_protocol::{code::ErrorCode, operation::Operation, strict_json};

use super::{App, refusal::Refusal};
use crate::{
    caller::{Caller, Right, Rights, TokenHash},
    content::{Content, Target},
    ledger::Ledger,
    matrix::Keyed,
};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// A body that is too large is read on for this much, so that its sender gets to see the answer.
const DISCARD_LIMIT: usize = 1024 * 1024;

/// Let the request through to `handle` if its credential has one of `rights`. Its errors are written as the caller's
/// integration wants them.
pub(super) async fn admit<L: Ledger, T, F>(
    app: &App<L>,
    rights: &[Right],
    request: Request,
    handle: impl FnOnce(Caller, Request) -> F,
) -> Result<T, Refusal>
where
    F: Future<Output = Result<T, Refusal>>,
{
    let caller = authenticate(app, request.headers()).await?;
    let profile = caller.integration.error_profile;
    let result = if may(&caller.rights, rights) {
        handle(caller, request).await
    } else {
        Err(Refusal::new(ErrorCode::Forbidden))
    };
    result.map_err(|refusal| refusal.in_profile(profile))
}

fn may(has: &Rights, any_of: &[Right]) -> bool {
    any_of.iter().any(|right| has.has(*right))
}

async fn authenticate<L: Ledger>(app: &App<L>, headers: &HeaderMap) -> Result<Caller, Refusal> {
    let refusal = || Refusal::new(ErrorCode::Unauthenticated);
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return Err(refusal()) };
    let token = value.to_str().ok().and_then(bearer).ok_or_else(refusal)?;
    app.ledger.authenticate(TokenHash::of(token)).await?.ok_or_else(refusal)
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// The body as JSON, for operations without a key.
pub(super) async fn read_json(request: Request, limit: usize) -> Result<Value, Refusal> {
    parse(&read_body(request, limit).await?)
}

/// The body as JSON and the key with the content that it stands for.
pub(super) async fn read_keyed<L: Ledger>(
    app: &App<L>,
    caller: &Caller,
    operation: Operation,
    path_id: Option<&str>,
    request: Request,
) -> Result<(Keyed, Value), Refusal> {
    let key = read_key(request.headers());
    let bytes = read_body(request, app.config.body_limit).await?;
    let key = key?;
    let body = parse(&bytes)?;
    let target = Target { operation, path_id };
    let content = Content::of(&app.ledger.secrets().fingerprint, target, &body, caller.company.currency);
    Ok((Keyed { key, content }, body))
}

pub(super) fn parse(bytes: &[u8]) -> Result<Value, Refusal> {
    strict_json::parse(bytes).map_err(|_| Refusal::new(ErrorCode::MalformedRequest))
}

fn read_key(headers: &HeaderMap) -> Result<IdempotencyKey, Refusal> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else { return Err(Refusal::new(ErrorCode::IdempotencyKeyRequired)) };
    if values.next().is_some() {
        return Err(Refusal::new(ErrorCode::IdempotencyKeyInvalid));
    }
    IdempotencyKey::from_header(value.as_bytes()).map_err(|error| {
        Refusal::new(match error {
            IdempotencyKeyError::Empty => ErrorCode::IdempotencyKeyRequired,
            IdempotencyKeyError::TooLong | IdempotencyKeyError::NotVisibleAscii => {
                ErrorCode::IdempotencyKeyInvalid
            }
        })
    })
}

/// Rows A4: the bytes of a JSON body that is not too large.
pub(super) async fn read_body(request: Request, limit: usize) -> Result<Bytes, Refusal> {
    if !is_json(request.headers()) {
        return Err(Refusal::new(ErrorCode::UnsupportedMediaType));
    }
    let body = request.into_body();
    let announced = body.size_hint().lower();
    let mut bytes = Vec::with_capacity(usize::try_from(announced).unwrap_or(limit).min(limit));
    let mut frames = body.into_data_stream();
    while let Some(frame) = frames.next().await {
        // A body that breaks off has nobody left to read an answer.
        let frame = frame.map_err(|_| Refusal::new(ErrorCode::MalformedRequest))?;
        if bytes.len() + frame.len() > limit {
            discard(frames).await;
            return Err(Refusal::new(ErrorCode::PayloadTooLarge));
        }
        bytes.extend_from_slice(&frame);
    }
    Ok(bytes.into())
}

async fn discard(mut frames: axum::body::BodyDataStream) {
    let mut discarded = 0;
    while let Some(Ok(frame)) = frames.next().await {
        discarded += frame.len();
        if discarded > DISCARD_LIMIT {
            return;
        }
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next()).map(str::trim);
    essence.is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"))
}
