//! The simulated acquirer behind an address: what an integrator points a server at, and what outlives the servers that
//! tests kill.
//!
//! Speaks [`super::wire`]; what it decides is [`SimulatedAcquirer`]'s alone. `GET /statement` lists every payment that
//! it was asked for, without a signature: there is no money in it. Invariant: whoever cannot sign moves nothing.

use std::sync::Arc;

use axum::{
    Json, Router,
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use turno_protocol::secret::Secret;

use super::{
    Acquirer, Charge, Found, LookUp, NoAnswer, SimulatedAcquirer, Webhook,
    wire::{Asked, BODY_LIMIT, Operation, SIGNATURE, Said, Signature, TIMESTAMP, TOLERANCE_S},
};
use crate::{payment::PaymentResult, world::World};

/// Both ends of the wire in one process see the same books.
struct Sandbox {
    acquirer: Arc<SimulatedAcquirer>,
    secret: Secret,
    world: World,
    /// Without one what is pending stays so.
    webhook: Option<Webhook>,
}

/// A line of the statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementLine {
    pub acquirer_payment_id: String,
    /// The sale, as the charge named it.
    pub reference: String,
    /// How often the money was asked for under this id.
    pub asked: u32,
    /// `approved`, `declined` or `pending`; nothing for a charge that never got that far.
    pub status: Option<String>,
    /// What was approved.
    pub amount: Option<String>,
}

/// The routes of a sandbox that keeps its books in `acquirer`.
pub fn sandbox_acquirer(acquirer: Arc<SimulatedAcquirer>, secret: Secret, world: World) -> Router {
    sandbox_acquirer_with(acquirer, secret, world, None)
}

/// As [`sandbox_acquirer`], closing by `webhook` what it has left pending.
pub fn sandbox_acquirer_with(
    acquirer: Arc<SimulatedAcquirer>,
    secret: Secret,
    world: World,
    webhook: Option<Webhook>,
) -> Router {
    Router::new()
        .route("/charges", post(charge))
        .route("/look-ups", post(look_up))
        .route("/statement", get(statement))
        .with_state(Arc::new(Sandbox { acquirer, secret, world, webhook }))
}

async fn charge(State(sandbox): State<Arc<Sandbox>>, request: Request) -> Result<Response, Refused> {
    sandbox
        .answer(Operation::Charges, request, async |asked, amount| {
            let reference = asked.reference.clone().ok_or(Refused::Malformed)?;
            let acquirer_payment_id = asked.acquirer_payment_id.clone();
            let charge = Charge { acquirer_payment_id: acquirer_payment_id.clone(), reference, amount };
            let charged = sandbox.acquirer.charge(charge).await;
            if let (Ok(PaymentResult::Pending), Some(webhook)) = (charged, &sandbox.webhook) {
                let (books, world) = (Arc::clone(&sandbox.acquirer), sandbox.world.clone());
                tokio::spawn(webhook.clone().close(books, world, acquirer_payment_id, amount));
            }
            Ok(charged.map(Found::Payment))
        })
        .await
}

async fn look_up(State(sandbox): State<Arc<Sandbox>>, request: Request) -> Result<Response, Refused> {
    sandbox
        .answer(Operation::LookUps, request, async |asked, amount| {
            let lookup = LookUp { acquirer_payment_id: &asked.acquirer_payment_id, amount };
            Ok(sandbox.acquirer.find(lookup).await)
        })
        .await
}

async fn statement(State(sandbox): State<Arc<Sandbox>>) -> Json<Vec<StatementLine>> {
    Json(sandbox.acquirer.statement())
}

/// Why nothing was done.
#[derive(Clone, Copy, Debug)]
enum Refused {
    NotSigned,
    Malformed,
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        match self {
            Self::NotSigned => StatusCode::UNAUTHORIZED,
            Self::Malformed => StatusCode::BAD_REQUEST,
        }
        .into_response()
    }
}

impl Sandbox {
    async fn answer(
        &self,
        operation: Operation,
        request: Request,
        work: impl AsyncFnOnce(&Asked, turno_domain::Money) -> Result<Result<Found, NoAnswer>, Refused>,
    ) -> Result<Response, Refused> {
        let (head, body) = request.into_parts();
        let bytes = to_bytes(body, BODY_LIMIT).await.map_err(|_| Refused::Malformed)?;
        let signature = self.check(operation, &head.headers, &bytes)?;
        let asked = Asked::parse(&bytes).ok_or(Refused::Malformed)?;
        let amount = asked.money().ok_or(Refused::Malformed)?;
        let Ok(found) = work(&asked, amount).await? else { return Ok(lost()) };
        let said = Said::new(&asked.acquirer_payment_id, amount, found);
        let body = serde_json::to_vec(&said).expect("texts under fixed names are always json");
        let signature = Signature::of_answer(&self.secret, signature, &body).to_header();
        let headers = [(header::CONTENT_TYPE.as_str(), "application/json"), (SIGNATURE, &signature)];
        Ok((headers, body).into_response())
    }

    fn check(&self, operation: Operation, headers: &HeaderMap, body: &[u8]) -> Result<Signature, Refused> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).ok_or(Refused::NotSigned);
        let timestamp: u64 = text(TIMESTAMP)?.parse().map_err(|_| Refused::NotSigned)?;
        let signature = Signature::of_request(&self.secret, operation, timestamp, body);
        let now = u64::try_from(self.world.now().as_second()).unwrap_or(0);
        let is_good = signature.is(text(SIGNATURE)?) && now.abs_diff(timestamp) <= TOLERANCE_S;
        if is_good { Ok(signature) } else { Err(Refused::NotSigned) }
    }
}

/// An answer that breaks off before its first byte of a body: the nearest to silence that a router can do.
fn lost() -> Response {
    let broken = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
    Body::from_stream(stream::iter([Err::<Vec<u8>, _>(broken)])).into_response()
}
