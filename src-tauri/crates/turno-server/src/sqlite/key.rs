//! Table `idempotency_key`.

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};
use turno_domain::ids::{IdempotencyKey, YupyTransactionId};

use super::row;
use crate::{
    books::{KeyRecord, KeyState},
    caller::ScopeNumber,
    content::{Content, Fingerprint, FingerprintVersion},
};

pub(super) fn find(
    connection: &Connection,
    scope: ScopeNumber,
    key: &IdempotencyKey,
    now: Timestamp,
    retention: SignedDuration,
) -> rusqlite::Result<Option<KeyRecord>> {
    connection
        .prepare_cached(
            "SELECT fingerprint_version, full_fingerprint, core_fingerprint, state, original_status,
                yupy_transaction_id, permanent_id, completed_at_ms
             FROM idempotency_key WHERE scope_id = ?1 AND idempotency_key = ?2",
        )?
        .query_row(params![scope.0, key.as_str()], |row| {
            let version = FingerprintVersion::from_number(row.get("fingerprint_version")?);
            let completed_at_ms: Option<i64> = row.get("completed_at_ms")?;
            let age_ms =
                completed_at_ms.map_or(0, |completed| now.as_millisecond().saturating_sub(completed));
            Ok(KeyRecord {
                content: Content {
                    version: version.ok_or_else(|| row::unreadable(row, "fingerprint_version"))?,
                    full: Fingerprint(row.get("full_fingerprint")?),
                    core: Fingerprint(row.get("core_fingerprint")?),
                },
                state: match row.get_ref("state")?.as_str()? {
                    "bound" => KeyState::Bound,
                    "in_progress" => KeyState::InProgress,
                    "final" => KeyState::Final { original_status: row.get("original_status")? },
                    _ => return Err(row::unreadable(row, "state")),
                },
                yupy_transaction_id: row::id_if_any(row, "yupy_transaction_id", YupyTransactionId::parse)?,
                permanent_id: row.get("permanent_id")?,
                expired: i128::from(age_ms) >= retention.as_millis(),
            })
        })
        .optional()
}

pub(super) fn put(
    connection: &Connection,
    scope: ScopeNumber,
    key: &IdempotencyKey,
    record: &KeyRecord,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let (state, original_status, completed_at_ms) = match record.state {
        KeyState::Bound => ("bound", None, Some(now.as_millisecond())),
        KeyState::InProgress => ("in_progress", None, None),
        KeyState::Final { original_status } => ("final", Some(original_status), Some(now.as_millisecond())),
    };
    connection
        .prepare_cached(
            "INSERT INTO idempotency_key (scope_id, idempotency_key, fingerprint_version, full_fingerprint,
                core_fingerprint, state, original_status, yupy_transaction_id, permanent_id, completed_at_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
             ON CONFLICT (scope_id, idempotency_key) DO UPDATE SET
                fingerprint_version = excluded.fingerprint_version,
                full_fingerprint = excluded.full_fingerprint,
                core_fingerprint = excluded.core_fingerprint,
                state = excluded.state,
                original_status = excluded.original_status,
                yupy_transaction_id = excluded.yupy_transaction_id,
                permanent_id = excluded.permanent_id,
                completed_at_ms = excluded.completed_at_ms",
        )?
        .execute(params![
            scope.0,
            key.as_str(),
            record.content.version.number(),
            record.content.full.0,
            record.content.core.0,
            state,
            original_status,
            record.yupy_transaction_id.as_ref().map(|id| id.as_str()),
            record.permanent_id,
            completed_at_ms,
        ])?;
    Ok(())
}

/// The keys that wait for `permanent_id` are final now.
pub(super) fn finish_all(
    connection: &Connection,
    scope: ScopeNumber,
    permanent_id: &str,
    original_status: u16,
    now: Timestamp,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "UPDATE idempotency_key SET state = 'final', original_status = ?3, completed_at_ms = ?4
             WHERE scope_id = ?1 AND permanent_id = ?2 AND state = 'in_progress'",
        )?
        .execute(params![scope.0, permanent_id, original_status, now.as_millisecond()])?;
    Ok(())
}

/// Forget up to `limit` keys that were completed before `completed_before`; how many there were.
pub(super) fn purge(
    connection: &Connection,
    completed_before: Timestamp,
    limit: u16,
) -> rusqlite::Result<usize> {
    connection
        .prepare_cached(
            "DELETE FROM idempotency_key WHERE (scope_id, idempotency_key) IN (
                SELECT scope_id, idempotency_key FROM idempotency_key
                WHERE completed_at_ms < ?1 ORDER BY completed_at_ms LIMIT ?2)",
        )?
        .execute(params![completed_before.as_millisecond(), limit])
}
