//! Table `void`.

use deadpool_postgres::Client;
use jiff::Timestamp;
use turno_domain::ids::{ExternalOperationId, YupyTransactionId};

use super::row::{self, Result, execute};
use crate::{books::VoidRecord, caller::ScopeNumber, names};

pub(super) async fn find(
    client: &Client,
    scope: ScopeNumber,
    id: &ExternalOperationId,
) -> Result<Option<VoidRecord>> {
    let found = row::row(
        client,
        "SELECT external_operation_id, yupy_transaction_id, result, reason
         FROM void WHERE scope_id = $1 AND external_operation_id = $2",
        &[&scope.0, &id.as_str()],
    )
    .await?;
    let read = |row| {
        Ok(VoidRecord {
            external_operation_id: row::id(&row, "external_operation_id", ExternalOperationId::parse)?,
            yupy_transaction_id: row::id(&row, "yupy_transaction_id", YupyTransactionId::parse)?,
            result: row::named(&row, "result")?,
            reason: row::get(&row, "reason")?,
        })
    };
    found.map(read).transpose()
}

pub(super) async fn insert(
    client: &Client,
    scope: ScopeNumber,
    void: &VoidRecord,
    now: Timestamp,
) -> Result<()> {
    execute(
        client,
        "INSERT INTO void (scope_id, external_operation_id, yupy_transaction_id, result, reason, voided_at_ms)
         VALUES ($1, $2, $3, $4, $5, $6)",
        &[
            &scope.0,
            &void.external_operation_id.as_str(),
            &void.yupy_transaction_id.as_str(),
            &names::name(void.result),
            &void.reason,
            &now.as_millisecond(),
        ],
    )
    .await?;
    Ok(())
}
