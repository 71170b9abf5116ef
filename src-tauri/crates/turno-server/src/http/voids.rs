//! `POST /v1/transactions/{id}/void`.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Path, Request, State, rejection::PathRejection},
    http::StatusCode,
    response::Response,
};
use turno_domain::ids::ExternalOperationId;
use turno_protocol::{
    body::{VoidAnswer, VoidResult},
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
    ledger::Ledger,
    matrix::{VoidOutcome, VoidRequest},
    request::read_void,
    sale::StoredSale,
};

pub(super) async fn void<L: Ledger>(
    State(app): State<Arc<App<L>>>,
    Extension(id): Extension<RequestId>,
    path: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Refusal> {
    gate::admit(&app, &[Right::Create], request, async |caller, request| {
        // A path that is not UTF-8 names nothing, like the empty id.
        let transaction_id = path.map(|Path(id)| id).unwrap_or_default();
        let target = Some(transaction_id.as_str());
        let (keyed, body) =
            gate::read_keyed(&app, &caller, Operation::VoidTransaction, target, request).await?;
        let request = VoidRequest { keyed, void: read_void(&body), transaction_id };
        voided(app.ledger.void_transaction(caller, request).await?, id)
    })
    .await
}

fn voided(outcome: VoidOutcome, id: RequestId) -> Result<Response, Refusal> {
    match outcome {
        VoidOutcome::Done { sale, external_operation_id, result } => {
            let body = body(sale, external_operation_id, result, None, id);
            Ok(answer::keyed(StatusCode::OK, Replay::Fresh, &body))
        }
        VoidOutcome::Replayed { sale, external_operation_id, result, original_status } => {
            let body = body(sale, external_operation_id, result, Some(original_status), id);
            Ok(answer::keyed(StatusCode::OK, Replay::Replayed, &body))
        }
        VoidOutcome::KeyConflict(conflict) => Err(conflict.into()),
        VoidOutcome::KeyInProgress => Err(Refusal::new(ErrorCode::IdempotencyInProgress)),
        VoidOutcome::NotFound => Err(Refusal::new(ErrorCode::TransactionNotFound)),
        VoidOutcome::Invalid(faults) => Err(Refusal::invalid(faults)),
        VoidOutcome::IdConflict(conflict) => Err(conflict.into()),
        VoidOutcome::InvalidState => Err(Refusal::new(ErrorCode::InvalidState)),
    }
}

fn body(
    sale: StoredSale,
    external_operation_id: ExternalOperationId,
    result: VoidResult,
    original_status: Option<u16>,
    RequestId(request_id): RequestId,
) -> VoidAnswer {
    VoidAnswer {
        result,
        idempotency_replayed: original_status.is_some(),
        yupy_transaction_id: sale.yupy_transaction_id,
        external_transaction_id: sale.external_transaction_id,
        external_operation_id,
        state: sale.state,
        original_status,
        request_id,
    }
}
