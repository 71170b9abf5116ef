//! Table `idempotency_key`.

use std::collections::{BTreeSet, HashMap};

use deadpool_postgres::Client;
use jiff::{SignedDuration, Timestamp};
use tokio_postgres::Row;
use turno_domain::ids::{IdempotencyKey, YupyTransactionId};

use super::{
    error::StoreError,
    gathered::Scoped,
    row::{self, Result, Values, columns, execute},
};
use crate::{
    books::{KeyRecord, KeyState},
    caller::ScopeNumber,
    content::{Content, Fingerprint, FingerprintVersion},
};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT fingerprint_version, full_fingerprint, core_fingerprint, state, original_status, \
             yupy_transaction_id, permanent_id, completed_at_ms \
             FROM idempotency_key WHERE scope_id = $1 AND idempotency_key = $2",
            $rest
        )
    };
}

const INSERT: &str =
    "INSERT INTO idempotency_key (scope_id, idempotency_key, fingerprint_version, full_fingerprint,
        core_fingerprint, state, original_status, yupy_transaction_id, permanent_id, completed_at_ms)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";

const UPDATE: &str =
    "UPDATE idempotency_key SET fingerprint_version = $3, full_fingerprint = $4, core_fingerprint = $5,
        state = $6, original_status = $7, yupy_transaction_id = $8, permanent_id = $9, completed_at_ms = $10
     WHERE scope_id = $1 AND idempotency_key = $2 AND state = $11";

/// A time by which what is known of keys is judged.
#[derive(Clone, Copy)]
pub(super) struct Age {
    pub now: Timestamp,
    pub retention: SignedDuration,
}

/// What is known of a key. What may be evaluated again (bound, expired) is held until the commit, so that two
/// requests under one key never settle it with different contents; an answer that stands is read without a lock.
pub(super) async fn find(
    client: &Client,
    scope: ScopeNumber,
    key: &IdempotencyKey,
    age: Age,
) -> Result<Option<KeyRecord>> {
    let Some(found) = row::row(client, select!(""), &[&scope.0, &key.as_str()]).await? else {
        return Ok(None);
    };
    let record = from_row(&found, age)?;
    if record.state != KeyState::Bound && !record.expired {
        return Ok(Some(record));
    }
    let held = row::row(client, select!(" FOR UPDATE"), &[&scope.0, &key.as_str()]).await?;
    held.map(|row| from_row(&row, age)).transpose()
}

fn from_row(row: &Row, age: Age) -> Result<KeyRecord> {
    let version = FingerprintVersion::from_number(row::get(row, "fingerprint_version")?);
    let completed_at_ms: Option<i64> = row::get(row, "completed_at_ms")?;
    let age_ms = completed_at_ms.map_or(0, |completed| age.now.as_millisecond().saturating_sub(completed));
    let state: String = row::get(row, "state")?;
    Ok(KeyRecord {
        content: Content {
            version: version.ok_or(StoreError::Unreadable("fingerprint_version"))?,
            full: Fingerprint(row::bytes(row, "full_fingerprint")?),
            core: Fingerprint(row::bytes(row, "core_fingerprint")?),
        },
        state: match state.as_str() {
            "bound" => KeyState::Bound,
            "in_progress" => KeyState::InProgress,
            "final" => KeyState::Final { original_status: original_status(row)? },
            _ => return Err(StoreError::Unreadable("state")),
        },
        yupy_transaction_id: row::id_if_any(row, "yupy_transaction_id", YupyTransactionId::parse)?,
        permanent_id: row::get(row, "permanent_id")?,
        expired: i128::from(age_ms) >= age.retention.as_millis(),
    })
}

fn original_status(row: &Row) -> Result<u16> {
    let status: i64 = row::get(row, "original_status")?;
    u16::try_from(status).map_err(|_| StoreError::Unreadable("original_status"))
}

/// What is known of these keys. Nothing is held.
pub(super) async fn find_all(
    client: &Client,
    keys: &BTreeSet<Scoped>,
    age: Age,
) -> Result<HashMap<Scoped, KeyRecord>> {
    let (scopes, names) = columns(keys);
    let sql =
        "SELECT scope_id, idempotency_key, fingerprint_version, full_fingerprint, core_fingerprint, state,
                original_status, yupy_transaction_id, permanent_id, completed_at_ms
             FROM unnest($1::bigint[], $2::text[]) AS wanted (scope, name)
             CROSS JOIN LATERAL (SELECT known.* FROM idempotency_key AS known
                WHERE known.scope_id = scope AND known.idempotency_key = name OFFSET 0) AS found";
    let rows = row::rows(client, sql, &[&scopes, &names]).await?;
    let record = |row: &Row| Ok((row::scoped(row, "idempotency_key")?, from_row(row, age)?));
    rows.iter().map(record).collect()
}

pub(super) const INSERT_ALL: &str = "INSERT INTO idempotency_key (scope_id, idempotency_key, fingerprint_version, full_fingerprint,
            core_fingerprint, state, original_status, yupy_transaction_id, permanent_id, completed_at_ms)
         SELECT scope_id, idempotency_key, fingerprint_version, full_fingerprint, core_fingerprint, state,
            original_status, yupy_transaction_id, permanent_id, completed_at_ms
         FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bytea[], $5::bytea[], $6::text[], $7::bigint[],
            $8::text[], $9::text[], $10::bigint[])
            AS new (scope_id, idempotency_key, fingerprint_version, full_fingerprint, core_fingerprint, state,
                original_status, yupy_transaction_id, permanent_id, completed_at_ms)";

/// Write new keys. The index says so if one of them is there now. In their order, so that two batches never wait for
/// each other.
pub(super) async fn insert_all(
    client: &Client,
    new: &[(ScopeNumber, IdempotencyKey, KeyRecord)],
    now: Timestamp,
) -> Result<()> {
    let mut new: Vec<_> = new.iter().collect();
    new.sort_by_key(|(scope, key, _)| (scope.0, key.as_str()));
    let status = |state| match state {
        KeyState::Final { original_status } => Some(i64::from(original_status)),
        KeyState::Bound | KeyState::InProgress => None,
    };
    let completed_at_ms = |state| (state != KeyState::InProgress).then_some(now.as_millisecond());
    execute(
        client,
        INSERT_ALL,
        &[
            &row::column(&new, |(scope, ..)| scope.0),
            &row::column(&new, |(_, key, _)| key.as_str()),
            &row::column(&new, |(.., record)| record.content.version.number()),
            &row::column(&new, |(.., record)| record.content.full.0.as_slice()),
            &row::column(&new, |(.., record)| record.content.core.0.as_slice()),
            &row::column(&new, |(.., record)| name(record.state)),
            &row::column(&new, |(.., record)| status(record.state)),
            &row::column(&new, |(.., record)| record.yupy_transaction_id.as_ref().map(|id| id.as_str())),
            &row::column(&new, |(.., record)| record.permanent_id.as_deref()),
            &row::column(&new, |(.., record)| completed_at_ms(record.state)),
        ],
    )
    .await?;
    Ok(())
}

/// What was known of a key when it was looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// It was not there.
    Unknown,
    Known(KeyState),
}

/// Write `record`, if the key still is what it was `before`; otherwise somebody else came first, and everything is to
/// be evaluated again.
pub(super) async fn put(
    client: &Client,
    scope: ScopeNumber,
    key: &IdempotencyKey,
    record: &KeyRecord,
    (before, now): (Before, Timestamp),
) -> Result<()> {
    let (original_status, completed_at_ms) = match record.state {
        KeyState::Bound => (None, Some(now.as_millisecond())),
        KeyState::InProgress => (None, None),
        KeyState::Final { original_status } => (Some(i64::from(original_status)), Some(now.as_millisecond())),
    };
    let (key, version) = (key.as_str(), record.content.version.number());
    let (full, core) = (record.content.full.0.as_slice(), record.content.core.0.as_slice());
    let state = name(record.state);
    let sale = record.yupy_transaction_id.as_ref().map(|id| id.as_str());
    let values: Values<'_> = &[
        &scope.0,
        &key,
        &version,
        &full,
        &core,
        &state,
        &original_status,
        &sale,
        &record.permanent_id,
        &completed_at_ms,
    ];
    match before {
        // The index says so if it is there now.
        Before::Unknown => execute(client, INSERT, values).await?,
        Before::Known(was) => match execute(client, UPDATE, &[values, &[&name(was)]].concat()).await? {
            0 => return Err(StoreError::Overtaken),
            changed => changed,
        },
    };
    Ok(())
}

fn name(state: KeyState) -> &'static str {
    match state {
        KeyState::Bound => "bound",
        KeyState::InProgress => "in_progress",
        KeyState::Final { .. } => "final",
    }
}

/// The keys that wait for `permanent_id` are final now.
pub(super) async fn finish_all(
    client: &Client,
    scope: ScopeNumber,
    permanent_id: &str,
    original_status: u16,
    now: Timestamp,
) -> Result<()> {
    execute(
        client,
        "UPDATE idempotency_key SET state = 'final', original_status = $3, completed_at_ms = $4
         WHERE scope_id = $1 AND permanent_id = $2 AND state = 'in_progress'",
        &[&scope.0, &permanent_id, &i64::from(original_status), &now.as_millisecond()],
    )
    .await?;
    Ok(())
}

/// Forget up to `limit` keys that were completed before `completed_before`; how many there were. Those that somebody
/// is about to use again are left to the next round.
pub(super) async fn purge(client: &Client, completed_before: Timestamp, limit: u16) -> Result<u64> {
    execute(
        client,
        "DELETE FROM idempotency_key WHERE (scope_id, idempotency_key) IN (
            SELECT scope_id, idempotency_key FROM idempotency_key
            WHERE completed_at_ms < $1 ORDER BY completed_at_ms LIMIT $2 FOR UPDATE SKIP LOCKED)",
        &[&completed_before.as_millisecond(), &i64::from(limit)],
    )
    .await
}
