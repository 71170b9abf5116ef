//! `POST /v1/transactions/{id}/void`: idempotent by key, by its permanent id, and by the state that it leads to.

use turno_domain::ids::ExternalOperationId;
use turno_protocol::body::{Financial, Operational, State, VoidResult};

use super::{
    Desk, IdConflict, KeyConflict, Keyed,
    key::{self, KeyRow},
};
use crate::{
    audit::{AuditEntry, AuditEvent},
    books::{Books, VoidRecord},
    request::{Faults, NewVoid},
    sale::StoredSale,
};

#[derive(Clone, Debug)]
pub struct VoidRequest {
    pub keyed: Keyed,
    /// As it stood in the path; it may name nothing.
    pub transaction_id: String,
    pub void: Result<NewVoid, Faults>,
}

#[derive(Clone, Debug)]
pub enum VoidOutcome {
    Done {
        sale: StoredSale,
        external_operation_id: ExternalOperationId,
        result: VoidResult,
    },
    Replayed {
        sale: StoredSale,
        external_operation_id: ExternalOperationId,
        result: VoidResult,
        original_status: u16,
    },
    KeyConflict(KeyConflict),
    KeyInProgress,
    NotFound,
    Invalid(Faults),
    IdConflict(IdConflict),
    /// Its payment is at the acquirer: nobody knows yet what there is to undo.
    InvalidState,
}

pub async fn void_transaction<B: Books>(
    books: &mut B,
    desk: &Desk,
    request: VoidRequest,
) -> Result<VoidOutcome, B::Error> {
    let VoidRequest { keyed, transaction_id, void } = request;
    let scope = desk.caller.scope_number;
    match key::look_up(books, desk, &keyed).await? {
        KeyRow::Conflict(conflict) => return Ok(VoidOutcome::KeyConflict(conflict)),
        KeyRow::InProgress => return Ok(VoidOutcome::KeyInProgress),
        KeyRow::Final { record, original_status } => {
            let id = record.permanent_id.map(ExternalOperationId::parse);
            if let (Some(Ok(id)), Some(sale)) = (id, books.sale_by_id(scope, &transaction_id).await?)
                && let Some(done) = books.void(scope, &id).await?
            {
                let external_operation_id = done.external_operation_id;
                return Ok(VoidOutcome::Replayed {
                    sale,
                    external_operation_id,
                    result: done.result,
                    original_status,
                });
            }
        }
        KeyRow::GoOn { .. } => {}
    }
    let Some(mut sale) = books.sale_by_id(scope, &transaction_id).await? else {
        return Ok(VoidOutcome::NotFound);
    };
    let void = match void {
        Ok(void) => void,
        Err(faults) => return Ok(VoidOutcome::Invalid(faults)),
    };
    let external_operation_id = void.external_operation_id.clone();
    if let Some(known) = books.void(scope, &void.external_operation_id).await? {
        if known.yupy_transaction_id != sale.yupy_transaction_id {
            key::bind(books, desk, &keyed).await?;
            return Ok(VoidOutcome::IdConflict(IdConflict {
                external_transaction_id: sale.external_transaction_id,
                yupy_transaction_id: known.yupy_transaction_id,
                conflicting_fields: vec!["yupy_transaction_id"],
            }));
        }
        finish(books, desk, &keyed, &sale, &void).await?;
        return Ok(VoidOutcome::Done { sale, external_operation_id, result: VoidResult::ExistingOperation });
    }
    let result = if sale.state.operational == Operational::Voided {
        VoidResult::AlreadyInState
    } else if sale.state.financial == Financial::Processing {
        return Ok(VoidOutcome::InvalidState);
    } else {
        sale.state = State { operational: Operational::Voided, ..sale.state };
        books.set_state(&sale.yupy_transaction_id, sale.state).await?;
        let entry = AuditEntry {
            reason: void.reason.clone(),
            ..AuditEntry::about(AuditEvent::Voided, &desk.caller.scope, books.now(), &sale)
        };
        books.append_audit(&desk.caller.scope.company, entry).await?;
        VoidResult::Applied
    };
    let record = VoidRecord {
        external_operation_id: external_operation_id.clone(),
        yupy_transaction_id: sale.yupy_transaction_id.clone(),
        result,
        reason: void.reason.clone(),
    };
    books.insert_void(scope, &record).await?;
    finish(books, desk, &keyed, &sale, &void).await?;
    Ok(VoidOutcome::Done { sale, external_operation_id, result })
}

async fn finish<B: Books>(
    books: &mut B,
    desk: &Desk,
    keyed: &Keyed,
    sale: &StoredSale,
    void: &NewVoid,
) -> Result<(), B::Error> {
    let operation = void.external_operation_id.as_str();
    key::finish(books, desk, keyed, 200, &sale.yupy_transaction_id, Some(operation)).await
}
