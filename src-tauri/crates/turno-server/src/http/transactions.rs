//! `POST /v1/transactions` and the look-ups of sales.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Path, Request, State, rejection::PathRejection},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use turno_protocol::{
    body::{
        Candidate, ChallengeState, Created, ErrorDetails, ExistingByExternalId, ExistingByKey, FieldFault,
        Identified, PossibleDuplicate, Resolution,
    },
    chain::{AUDIT_HEAD_HEADER, Head},
    code::ErrorCode,
    operation::Operation,
};

use super::{
    App,
    answer::{self, Replay},
    exchange::RequestId,
    gate,
    page::{self, Query},
    refusal::Refusal,
};
use crate::{
    caller::Right,
    ledger::{Ledger, Page},
    matrix::{Asking, ConfirmationRefused, CreateOutcome, CreateRequest, KeyConflict, Question},
    metrics::{Counter, Metrics},
    request::read_sale,
    sale::StoredSale,
};

pub(super) async fn create<L: Ledger>(
    State(app): State<Arc<App<L>>>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Result<Response, Refusal> {
    gate::admit(&app, &[Right::Create], request, async |caller, request| {
        let till_audit_head = audit_head(request.headers());
        let (keyed, body) =
            gate::read_keyed(&app, &caller, Operation::CreateTransaction, None, request).await?;
        let sale = read_sale(&body, caller.company.currency);
        let _place = gate::get_in_line(&app, sale.as_ref().ok().and_then(|sale| sale.occurred_at))?;
        let outcome =
            app.ledger.create_transaction(caller, CreateRequest { keyed, sale, till_audit_head }).await?;
        count(&app.config.metrics, &outcome);
        created(outcome, id)
    })
    .await
}

/// What a till says of its own audit; whatever is not one head, written as heads are, is not said.
fn audit_head(headers: &HeaderMap) -> Option<Head> {
    let mut values = headers.get_all(AUDIT_HEAD_HEADER).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    Head::parse(value.to_str().ok()?)
}

fn count(metrics: &Metrics, outcome: &CreateOutcome) {
    match outcome {
        CreateOutcome::Created { confirmed_duplicate_of: Some(candidates), .. } if !candidates.is_empty() => {
            metrics.count(Counter::ChallengesConfirmed);
        }
        CreateOutcome::Existing { key_had_expired: true, .. } => metrics.count(Counter::LateRetries),
        CreateOutcome::PossibleDuplicate(question) => match question.asking {
            Asking::Again => {}
            Asking::Anew { ended } => {
                metrics.count(Counter::ChallengesIssued);
                if ended == Some(ChallengeState::Expired) {
                    metrics.count(Counter::ChallengesExpired);
                }
            }
        },
        CreateOutcome::Created { .. }
        | CreateOutcome::Replayed { .. }
        | CreateOutcome::Existing { .. }
        | CreateOutcome::KeyConflict(_)
        | CreateOutcome::KeyInProgress
        | CreateOutcome::Invalid(_)
        | CreateOutcome::IdConflict(_)
        | CreateOutcome::ConfirmationRefused(_) => {}
    }
}

fn created(outcome: CreateOutcome, RequestId(id): RequestId) -> Result<Response, Refusal> {
    match outcome {
        CreateOutcome::Created { sale, confirmed_duplicate_of } => {
            let location = format!("/v1/transactions/{}", sale.yupy_transaction_id);
            let body = Created::new(sale.into_view(), confirmed_duplicate_of, id);
            let mut response = answer::keyed(StatusCode::CREATED, Replay::Fresh, &body);
            let location = HeaderValue::try_from(location).expect("our own ids are visible ascii");
            response.headers_mut().insert(header::LOCATION, location);
            Ok(response)
        }
        CreateOutcome::Replayed { sale, original_status } => {
            let body = ExistingByKey::new(sale.into_view().into(), original_status, id);
            Ok(answer::keyed(StatusCode::OK, Replay::Replayed, &body))
        }
        CreateOutcome::Existing { sale, ignored_differences, key_had_expired: _ } => {
            let ignored = ignored_differences.into_iter().map(str::to_owned).collect();
            let body = ExistingByExternalId::new(sale.into_view().into(), ignored, id);
            Ok(answer::keyed(StatusCode::OK, Replay::Fresh, &body))
        }
        CreateOutcome::KeyConflict(conflict) => Err(conflict.into()),
        CreateOutcome::KeyInProgress => Err(Refusal::new(ErrorCode::IdempotencyInProgress)),
        CreateOutcome::Invalid(faults) => Err(Refusal::invalid(faults)),
        CreateOutcome::IdConflict(conflict) => Err(conflict.into()),
        CreateOutcome::ConfirmationRefused(refused) => Err(refused.into()),
        CreateOutcome::PossibleDuplicate(question) => Err((*question).into()),
    }
}

impl From<KeyConflict> for Refusal {
    fn from(conflict: KeyConflict) -> Self {
        let refusal = Self::new(ErrorCode::IdempotencyConflict);
        match conflict.hint {
            Some(hint) => refusal.with(ErrorDetails::Hint { hint }),
            None => refusal,
        }
    }
}

impl From<ConfirmationRefused> for Refusal {
    fn from(ConfirmationRefused(reason): ConfirmationRefused) -> Self {
        Self::new(ErrorCode::DuplicateConfirmationInvalid).with(ErrorDetails::ConfirmationInvalid { reason })
    }
}

impl From<Question> for Refusal {
    fn from(question: Question) -> Self {
        let details = PossibleDuplicate {
            candidate: Some(candidate(question.candidate)),
            candidates_count: u32::try_from(question.challenge.candidates.len()).unwrap_or(u32::MAX),
            matching_signals: question.matching_signals,
            challenge_id: question.challenge.challenge_id,
            duplicate_confirmation_token: question.token,
            expires_at: Some(question.challenge.expires_at),
            resolution: Resolution::ReviewBeforeCreating,
            previous_confirmation: question.previous,
        };
        Self::new(ErrorCode::PossibleDuplicateTransaction)
            .with(ErrorDetails::PossibleDuplicate(Box::new(details)))
    }
}

/// The candidate's own values, never those of the sale that was asked about.
fn candidate(sale: StoredSale) -> Candidate {
    Candidate {
        yupy_transaction_id: sale.yupy_transaction_id,
        external_transaction_id: sale.external_transaction_id,
        amount: sale.amount.to_amount_text(),
        currency: sale.amount.currency(),
        occurred_at: sale.occurred_at,
        device_id: sale.details.device_id,
        shift_id: sale.details.shift_id,
        state: sale.state,
    }
}

pub(super) async fn read<L: Ledger>(
    State(app): State<Arc<App<L>>>,
    Extension(RequestId(id)): Extension<RequestId>,
    path: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Refusal> {
    gate::admit(&app, &[Right::Read], request, async |caller, _| {
        let not_found = || Refusal::new(ErrorCode::TransactionNotFound);
        // A path that is not UTF-8 names nothing.
        let Path(transaction) = path.map_err(|_| not_found())?;
        let sale = app.ledger.transaction(caller, transaction).await?.ok_or_else(not_found)?;
        Ok(answer::json(StatusCode::OK, &Identified { body: sale.into_view(), request_id: id }))
    })
    .await
}

/// One sale by its external id, or a till's sales page by page.
pub(super) async fn list<L: Ledger>(
    State(app): State<Arc<App<L>>>,
    request: Request,
) -> Result<Response, Refusal> {
    gate::admit(&app, &[Right::Read], request, async |caller, request| {
        let query = Query::of(&request)?;
        let wanted = query.page()?;
        let found = if let Some(external_id) = query.get("external_transaction_id") {
            let found = app.ledger.transaction_by_external_id(caller, external_id.to_owned()).await?;
            Page { items: found.into_iter().collect(), next: None }
        } else if let Some(device_id) = query.get("device_id") {
            app.ledger.transactions_of_device(caller, device_id.to_owned(), wanted).await?
        } else {
            let path = "external_transaction_id".to_owned();
            return Err(Refusal::invalid(vec![FieldFault { path, code: "required".to_owned() }]));
        };
        Ok(page::answer(found, StoredSale::into_view))
    })
    .await
}
