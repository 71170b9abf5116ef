//! Table `void`.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};
use turno_domain::ids::{ExternalOperationId, YupyTransactionId};

use super::row;
use crate::{books::VoidRecord, caller::ScopeNumber};

pub(super) fn find(
    connection: &Connection,
    scope: ScopeNumber,
    id: &ExternalOperationId,
) -> rusqlite::Result<Option<VoidRecord>> {
    connection
        .prepare_cached(
            "SELECT external_operation_id, yupy_transaction_id, result, reason
             FROM void WHERE scope_id = ?1 AND external_operation_id = ?2",
        )?
        .query_row(params![scope.0, id.as_str()], |row| {
            Ok(VoidRecord {
                external_operation_id: row::id(row, "external_operation_id", ExternalOperationId::parse)?,
                yupy_transaction_id: row::id(row, "yupy_transaction_id", YupyTransactionId::parse)?,
                result: row::named(row, "result")?,
                reason: row.get("reason")?,
            })
        })
        .optional()
}

pub(super) fn insert(
    connection: &Connection,
    scope: ScopeNumber,
    void: &VoidRecord,
    now: Timestamp,
) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO void (scope_id, external_operation_id, yupy_transaction_id, result, reason, voided_at_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            scope.0,
            void.external_operation_id.as_str(),
            void.yupy_transaction_id.as_str(),
            row::name(void.result),
            void.reason,
            now.as_millisecond(),
        ],
    )?;
    Ok(())
}
