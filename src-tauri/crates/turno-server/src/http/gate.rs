//! Rows A to C: who asks, with what right, and whether what came can be read at all.
//!
//! Invariant: the checks are made in the contract's order (credential, right, media type and size, key, syntax), and
//! none of them touches a key.

use axum::{
    body::Bytes,
    extract::Request,
    http::{HeaderMap, HeaderName, header},
};
use futures_util::StreamExt;
use jiff::Timestamp;
use serde_json::Value;
use turno_domain::ids::{IdempotencyKey, IdempotencyKeyError};
use turno_protocol::{code::ErrorCode, operation::Operation, strict_json};

use super::{App, refusal::Refusal};
use crate::{
    admission::{Age, ComeBackAfter, Place, QUEUE_LIMIT, come_back_after},
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
    let (caller, credential) = authenticate(app, request.headers()).await?;
    let profile = caller.integration.error_profile;
    let admitted = may(&caller.rights, rights).and_then(|()| throttle(app, credential));
    let result = match admitted {
        Ok(()) => handle(caller, request).await,
        Err(refusal) => Err(refusal),
    };
    result.map_err(|refusal| refusal.in_profile(profile))
}

fn may(has: &Rights, any_of: &[Right]) -> Result<(), Refusal> {
    let has_one = any_of.iter().any(|right| has.has(*right));
    if has_one { Ok(()) } else { Err(Refusal::new(ErrorCode::Forbidden)) }
}

fn throttle<L: Ledger>(app: &App<L>, credential: TokenHash) -> Result<(), Refusal> {
    let Some(throttle) = &app.throttle else { return Ok(()) };
    throttle
        .take(credential, app.config.world.now())
        .map_err(|seconds| Refusal::new(ErrorCode::RateLimited).after(seconds))
}

/// Row A5: more waits for the store than it can do before tills give up. Says when the queue may have gone down.
fn refuse_if_overloaded<L: Ledger>(app: &App<L>) -> Result<(), Refusal> {
    let depth = app.ledger.queue_depth();
    if depth < QUEUE_LIMIT { Ok(()) } else { Err(come_back_after(depth).into()) }
}

/// A place in line for a sale, until it is answered.
pub(super) fn get_in_line<L: Ledger>(
    app: &App<L>,
    occurred_at: Option<Timestamp>,
) -> Result<Place<'_>, Refusal> {
    Ok(app.admission.enter(Age::of(occurred_at, app.config.world.now()))?)
}

impl From<ComeBackAfter> for Refusal {
    fn from(ComeBackAfter(seconds): ComeBackAfter) -> Self {
        Self::new(ErrorCode::ServiceUnavailable).after(seconds)
    }
}

async fn authenticate<L: Ledger>(app: &App<L>, headers: &HeaderMap) -> Result<(Caller, TokenHash), Refusal> {
    let refusal = || Refusal::new(ErrorCode::Unauthenticated);
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return Err(refusal()) };
    let token = value.to_str().ok().and_then(bearer).ok_or_else(refusal)?;
    let credential = TokenHash::of(token);
    let caller = app.ledger.authenticate(credential).await?.ok_or_else(refusal)?;
    Ok((caller, credential))
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
    refuse_if_overloaded(app)?;
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
    // A sender who asks first whether to send is told so before he is told to go on.
    let asks_first = request.headers().contains_key(header::EXPECT);
    if asks_first && declared_length(request.headers()).is_some_and(|length| length > limit) {
        return Err(Refusal::new(ErrorCode::PayloadTooLarge));
    }
    let mut bytes = Vec::new();
    let mut frames = request.into_body().into_data_stream();
    while let Some(frame) = frames.next().await {
        let frame = frame.map_err(|error| broken_off(&error))?;
        if bytes.len() + frame.len() > limit {
            discard(frames).await;
            return Err(Refusal::new(ErrorCode::PayloadTooLarge));
        }
        bytes.extend_from_slice(&frame);
    }
    Ok(bytes.into())
}

/// A sender who is only slow shall try again; one who has gone does not read this.
fn broken_off(error: &axum::Error) -> Refusal {
    let causes = std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source());
    let is_slow = causes.into_iter().any(|cause| cause.is::<SlowSender>());
    Refusal::new(if is_slow { ErrorCode::ServiceUnavailable } else { ErrorCode::MalformedRequest })
}

/// The body did not come in time.
#[derive(Debug, thiserror::Error)]
#[error("the body did not come in time")]
pub(crate) struct SlowSender;

async fn discard(mut frames: axum::body::BodyDataStream) {
    let mut discarded = 0;
    while let Some(Ok(frame)) = frames.next().await {
        discarded += frame.len();
        if discarded > DISCARD_LIMIT {
            return;
        }
    }
}

/// A body with two media types has none: whoever is on the way may have read the other one.
fn is_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(header::CONTENT_TYPE).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return false };
    let essence = value.to_str().ok().and_then(|value| value.split(';').next()).map(str::trim);
    essence.is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"))
}

fn declared_length(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
