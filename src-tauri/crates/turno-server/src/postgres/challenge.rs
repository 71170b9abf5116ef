//! Table `challenge`: questions about look-alikes.

use std::collections::{BTreeSet, HashSet};

use deadpool_postgres::Client;
use jiff::Timestamp;
use tokio_postgres::Row;
use turno_domain::ids::{Company, ExternalTransactionId};
use turno_protocol::body::ChallengeState;

use super::{
    error::StoreError,
    gathered::Scoped,
    row::{self, Result, columns, execute},
    scope,
};
use crate::{
    books::{Challenge, Verdict},
    caller::ScopeNumber,
    content::{Fingerprint, FingerprintVersion},
    ledger::{Page, PageRequest, Position},
    names,
    secrets::Generation,
};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT arrival, challenge_id, scope_id, company, integration, environment, asked, fingerprint_version, \
             core_fingerprint, candidates, matching_signals, state, asked_at_ms, expires_at_ms, signed_with, decision, \
             decided_by, decision_reason, decided_at_ms \
             FROM challenge JOIN scope USING (scope_id) ",
            $rest
        )
    };
}

pub(super) async fn find(client: &Client, challenge_id: &str) -> Result<Option<Challenge>> {
    if !row::can_be_stored(challenge_id) {
        return Ok(None);
    }
    one(row::row(client, select!("WHERE challenge_id = $1"), &[&challenge_id]).await?)
}

/// The question, held until the commit: it is decided, spent or replaced once.
pub(super) async fn lock(client: &Client, challenge_id: &str) -> Result<Option<Challenge>> {
    if !row::can_be_stored(challenge_id) {
        return Ok(None);
    }
    let sql = select!("WHERE challenge_id = $1 FOR UPDATE OF challenge");
    one(row::row(client, sql, &[&challenge_id]).await?)
}

/// As [`lock`]. Nothing if it was closed while it was waited for.
pub(super) async fn lock_open(
    client: &Client,
    scope: ScopeNumber,
    id: &ExternalTransactionId,
) -> Result<Option<Challenge>> {
    let sql = select!(
        "WHERE scope_id = $1 AND external_transaction_id = $2 AND state = 'open' FOR UPDATE OF challenge"
    );
    one(row::row(client, sql, &[&scope.0, &id.as_str()]).await?)
}

/// Those of the external ids that have an open question.
pub(super) async fn open_among(client: &Client, ids: &BTreeSet<Scoped>) -> Result<HashSet<Scoped>> {
    let (scopes, names) = columns(ids);
    let sql = "SELECT scope_id, external_transaction_id
               FROM unnest($1::bigint[], $2::text[]) AS wanted (scope, name)
               CROSS JOIN LATERAL (SELECT known.* FROM challenge AS known
                  WHERE known.scope_id = scope AND known.external_transaction_id = name AND known.state = 'open'
                  OFFSET 0) AS found";
    let rows = row::rows(client, sql, &[&scopes, &names]).await?;
    rows.iter().map(|row| row::scoped(row, "external_transaction_id")).collect()
}

fn one(row: Option<Row>) -> Result<Option<Challenge>> {
    row.map(|row| from_row(&row)).transpose()
}

/// The company's questions that nobody has decided and that still can be.
pub(super) async fn undecided(
    client: &Client,
    company: &Company,
    now_ms: i64,
    page: PageRequest,
) -> Result<Page<Challenge>> {
    let sql = select!(
        "WHERE scope_id IN (SELECT scope_id FROM scope WHERE company = $1) AND state = 'open' AND decision IS NULL \
         AND expires_at_ms > $2 AND arrival > $3 ORDER BY arrival LIMIT $4"
    );
    let after = page.after.map_or(0, |position| position.0);
    let rows = row::rows(client, sql, &[&company.as_str(), &now_ms, &after, &page.one_more()]).await?;
    page.collect(rows.iter().map(|row| Ok((Position(row::get(row, "arrival")?), from_row(row)?))))
}

pub(super) async fn insert(client: &Client, challenge: &Challenge, arrival: i64) -> Result<()> {
    execute(
        client,
        "INSERT INTO challenge (challenge_id, scope_id, external_transaction_id, asked, fingerprint_version,
            core_fingerprint, candidates, matching_signals, state, asked_at_ms, expires_at_ms, signed_with, arrival)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        &[
            &challenge.challenge_id,
            &challenge.scope_number.0,
            &challenge.asked.external_transaction_id.as_str(),
            &names::to_json(&challenge.asked),
            &challenge.fingerprint_version.number(),
            &challenge.core_fingerprint.0.as_slice(),
            &names::to_json(&challenge.candidates),
            &names::to_json(&challenge.matching_signals),
            &challenge.state.as_str(),
            &challenge.asked_at.as_millisecond(),
            &challenge.expires_at.as_millisecond(),
            &challenge.signed_with.0,
            &arrival,
        ],
    )
    .await?;
    Ok(())
}

pub(super) async fn set_state(client: &Client, id: &str, state: ChallengeState) -> Result<()> {
    execute(client, "UPDATE challenge SET state = $2 WHERE challenge_id = $1", &[&id, &state.as_str()])
        .await?;
    Ok(())
}

/// Close the open ones whose time is over. Those that somebody works on are left for the next time.
pub(super) async fn expire(client: &Client, now: Timestamp, limit: u16) -> Result<u64> {
    execute(
        client,
        "UPDATE challenge SET state = 'expired' WHERE challenge_id IN (
            SELECT challenge_id FROM challenge WHERE state = 'open' AND expires_at_ms <= $1
            LIMIT $2 FOR UPDATE SKIP LOCKED)",
        &[&now.as_millisecond(), &i64::from(limit)],
    )
    .await
}

pub(super) async fn decide(client: &Client, id: &str, verdict: &Verdict) -> Result<()> {
    execute(
        client,
        "UPDATE challenge SET decision = $2, decided_by = $3, decision_reason = $4, decided_at_ms = $5
         WHERE challenge_id = $1",
        &[
            &id,
            &verdict.decision.as_str(),
            &verdict.decided_by,
            &verdict.reason,
            &verdict.decided_at.as_millisecond(),
        ],
    )
    .await?;
    Ok(())
}

fn from_row(row: &Row) -> Result<Challenge> {
    let version = FingerprintVersion::from_number(row::get(row, "fingerprint_version")?);
    let verdict = match row::parsed_if_any(row, "decision", names::from_name)? {
        Some(decision) => Some(Verdict {
            decision,
            decided_by: row::get(row, "decided_by")?,
            reason: row::get(row, "decision_reason")?,
            decided_at: row::instant(row, "decided_at_ms")?,
        }),
        None => None,
    };
    Ok(Challenge {
        challenge_id: row::get(row, "challenge_id")?,
        scope: scope::from_row(row)?,
        scope_number: ScopeNumber(row::get(row, "scope_id")?),
        asked: row::json(row, "asked")?,
        fingerprint_version: version.ok_or(StoreError::Unreadable("fingerprint_version"))?,
        core_fingerprint: Fingerprint(row::bytes(row, "core_fingerprint")?),
        candidates: row::json(row, "candidates")?,
        matching_signals: row::json(row, "matching_signals")?,
        state: row::named(row, "state")?,
        asked_at: row::instant(row, "asked_at_ms")?,
        expires_at: row::instant(row, "expires_at_ms")?,
        signed_with: Generation(row::get(row, "signed_with")?),
        verdict,
    })
}
