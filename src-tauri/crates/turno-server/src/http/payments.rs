//! `POST /v1/transactions/{id}/payments`.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Path, Request, State, rejection::PathRejection},
    http::StatusCode,
    response::Response,
};
use turno_protocol::{
    body::{PaymentAnswer, PaymentResult, State as SaleState},
    code::ErrorCode,
    operation::Operation,
};

use super::{
    App,
    answer::{self, Replay},
    exchange::RequestId,
    gate,
    refusal::Refusal,
};
use crate::{
    caller::Right,
    drain::Drain,
    ledger::{Ledger, LedgerError},
    matrix::{Known, PaymentRequest, ReserveOutcome},
    paying::{End, How},
    payment::{Payment, PaymentState},
    request::read_payment,
};

/// Seconds until the acquirer may know more.
const RETRY_PENDING_S: u32 = 5;

pub(super) async fn pay<L: Ledger>(
    State(app): State<Arc<App<L>>>,
    Extension(id): Extension<RequestId>,
    path: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Refusal> {
    gate::admit(&app, &[Right::Create], request, async |caller, request| {
        let (Some(cashier), drain) = (app.cashier(), &app.config.drain) else {
            return Err(Refusal::new(ErrorCode::ServiceUnavailable));
        };
        // A path that is not UTF-8 names nothing, like the empty id.
        let transaction_id = path.map(|Path(id)| id).unwrap_or_default();
        let target = Some(transaction_id.as_str());
        let (keyed, body) =
            gate::read_keyed(&app, &caller, Operation::CreatePayment, target, request).await?;
        let payment = read_payment(&body, caller.company.currency);
        let request = PaymentRequest { keyed, transaction_id, payment };
        match app.ledger.reserve_payment(caller, request).await? {
            ReserveOutcome::Reserved(payment) => {
                ended(own(drain, async move { cashier.charge(*payment).await }).await?, Work::New, id)
            }
            ReserveOutcome::TakenOver(payment) => {
                ended(own(drain, async move { cashier.follow(*payment).await }).await?, Work::TakenOver, id)
            }
            ReserveOutcome::Known { payment, state, how } => known(*payment, state, how, id),
            ReserveOutcome::KeyConflict(conflict) => Err(conflict.into()),
            ReserveOutcome::InProgress => Err(Refusal::new(ErrorCode::IdempotencyInProgress)),
            ReserveOutcome::NotFound => Err(Refusal::new(ErrorCode::TransactionNotFound)),
            ReserveOutcome::Invalid(faults) => Err(Refusal::invalid(faults)),
            ReserveOutcome::IdConflict(conflict) => Err(conflict.into()),
            ReserveOutcome::InvalidState => Err(Refusal::new(ErrorCode::InvalidState)),
        }
    })
    .await
}

/// Run `work` in a task of the server's own: the request may be dropped with its connection, the payment may not.
async fn own(
    drain: &Drain,
    work: impl Future<Output = Result<End, LedgerError>> + Send + 'static,
) -> Result<End, Refusal> {
    match drain.spawn(work).await {
        Ok(Ok(end)) => Ok(end),
        Ok(Err(error)) => {
            // The acquirer may have been asked: whatever failed, the outcome is what is not known.
            tracing::error!(%error, "a payment could not be written down");
            Ok(End::Unknown)
        }
        Err(panic) => {
            tracing::error!(%panic, "a payment's task ended");
            Ok(End::Unknown)
        }
    }
}

/// What a task was given to do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    New,
    TakenOver,
}

fn ended(end: End, work: Work, id: RequestId) -> Result<Response, Refusal> {
    let in_progress = || Refusal::new(ErrorCode::IdempotencyInProgress);
    match end {
        End::Finished { payment, state, how } => match payment.state {
            PaymentState::Approved => {
                let body = PaymentAnswer {
                    recovered: how == How::Recovered,
                    ..body(*payment, state, PaymentResult::Approved, id)
                };
                Ok(answer::keyed(StatusCode::CREATED, Replay::Fresh, &body))
            }
            PaymentState::Pending if work == Work::New => {
                let body = body(*payment, state, PaymentResult::Processing, id);
                Ok(answer::keyed(StatusCode::ACCEPTED, Replay::Fresh, &body))
            }
            PaymentState::Pending | PaymentState::Reserved | PaymentState::AcquirerStarted => {
                Err(in_progress().after(RETRY_PENDING_S))
            }
            PaymentState::Declined => Err(Refusal::new(ErrorCode::PaymentDeclined).replayed(Replay::Fresh)),
            PaymentState::Reconciliation => Err(Refusal::new(ErrorCode::ReconciliationRequired)),
        },
        End::TooSoon => Err(in_progress().after(RETRY_PENDING_S)),
        End::InProgress => Err(in_progress()),
        End::Unknown => Err(Refusal::new(ErrorCode::OutcomeUnknown)),
    }
}

/// D2 and F2: a payment that is over.
fn known(payment: Payment, state: SaleState, how: Known, id: RequestId) -> Result<Response, Refusal> {
    let (replay, original_status) = match how {
        Known::ByKey { original_status } => (Replay::Replayed, Some(original_status)),
        Known::ByPermanentId => (Replay::Fresh, None),
    };
    match payment.state {
        PaymentState::Approved => {
            let body = PaymentAnswer {
                idempotency_replayed: replay == Replay::Replayed,
                duplicate: how == Known::ByPermanentId,
                original_status,
                ..body(payment, state, PaymentResult::Approved, id)
            };
            Ok(answer::keyed(StatusCode::OK, replay, &body))
        }
        PaymentState::Declined => Err(Refusal::new(ErrorCode::PaymentDeclined).replayed(replay)),
        PaymentState::Reconciliation => Err(Refusal::new(ErrorCode::ReconciliationRequired)),
        PaymentState::Reserved | PaymentState::AcquirerStarted | PaymentState::Pending => {
            Err(Refusal::new(ErrorCode::IdempotencyInProgress))
        }
    }
}

fn body(
    payment: Payment,
    state: SaleState,
    result: PaymentResult,
    RequestId(request_id): RequestId,
) -> PaymentAnswer {
    PaymentAnswer {
        result,
        idempotency_replayed: false,
        duplicate: false,
        yupy_transaction_id: payment.yupy_transaction_id,
        external_transaction_id: payment.external_transaction_id,
        external_payment_id: payment.external_payment_id,
        acquirer_payment_id: payment.acquirer_payment_id,
        amount: payment.amount.to_amount_text(),
        currency: payment.amount.currency(),
        state,
        recovered: false,
        original_status: None,
        request_id,
    }
}
