//! Questions about look-alikes: to see them and to decide them.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Path, Request, State, rejection::PathRejection},
    http::StatusCode,
    response::Response,
};
use turno_protocol::{
    body::{ErrorDetails, FieldFault, Identified},
    code::ErrorCode,
};

use super::{
    App, answer,
    exchange::RequestId,
    gate,
    page::{self, Query},
    refusal::Refusal,
};
use crate::{
    caller::Right,
    ledger::Ledger,
    matrix::{ResolveOutcome, ResolveRequest},
    request::read_resolution,
};

/// The company's open questions. `state` may be left out, since no other is listed.
pub(super) async fn list<L: Ledger>(
    State(app): State<Arc<App<L>>>,
    request: Request,
) -> Result<Response, Refusal> {
    gate::admit(&app, &[Right::Audit], request, async |caller, request| {
        let query = Query::of(&request)?;
        if query.get("state").is_some_and(|state| state != "open") {
            let fault = FieldFault { path: "state".to_owned(), code: "unknown_state".to_owned() };
            return Err(Refusal::invalid(vec![fault]));
        }
        let page = app.ledger.open_challenges(caller, query.page()?).await?;
        Ok(page::answer(page, |view| view))
    })
    .await
}

pub(super) async fn read<L: Ledger>(
    State(app): State<Arc<App<L>>>,
    Extension(RequestId(id)): Extension<RequestId>,
    path: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Refusal> {
    gate::admit(&app, &[Right::Create, Right::Read, Right::Audit], request, async |caller, _| {
        let not_found = || Refusal::new(ErrorCode::NotFound);
        let Path(challenge) = path.map_err(|_| not_found())?;
        let view = app.ledger.challenge(caller, challenge).await?.ok_or_else(not_found)?;
        Ok(answer::json(StatusCode::OK, &Identified { body: view, request_id: id }))
    })
    .await
}

pub(super) async fn resolve<L: Ledger>(
    State(app): State<Arc<App<L>>>,
    Extension(RequestId(id)): Extension<RequestId>,
    request: Request,
) -> Result<Response, Refusal> {
    gate::admit(&app, &[Right::Create, Right::Audit], request, async |caller, request| {
        let body = gate::read_json(request, app.config.body_limit).await?;
        let request = ResolveRequest { resolution: read_resolution(&body) };
        match app.ledger.resolve_challenge(caller, request).await? {
            ResolveOutcome::Decided(view) => {
                Ok(answer::json(StatusCode::OK, &Identified { body: *view, request_id: id }))
            }
            ResolveOutcome::AlreadyResolved(first) => {
                let details =
                    ErrorDetails::AlreadyResolved { decision: first.decision, decided_by: first.decided_by };
                Err(Refusal::new(ErrorCode::AlreadyResolved).with(details))
            }
            ResolveOutcome::Invalid(faults) => Err(Refusal::invalid(faults)),
            ResolveOutcome::NotFound => Err(Refusal::new(ErrorCode::NotFound)),
            ResolveOutcome::TokenRefused(refused) => Err(refused.into()),
            ResolveOutcome::NotOpen => Err(Refusal::new(ErrorCode::InvalidState)),
        }
    })
    .await
}
