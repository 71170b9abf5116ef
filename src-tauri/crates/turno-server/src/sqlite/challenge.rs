//! Table `challenge`: questions about look-alikes.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};
use turno_domain::ids::{Company, ExternalTransactionId};
use turno_protocol::body::ChallengeState;

use super::{row, scope};
use crate::{
    books::{Challenge, Verdict},
    caller::ScopeNumber,
    content::{Fingerprint, FingerprintVersion},
    ledger::{Page, PageRequest, Position},
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

pub(super) fn find(connection: &Connection, challenge_id: &str) -> rusqlite::Result<Option<Challenge>> {
    connection
        .prepare_cached(select!("WHERE challenge_id = ?1"))?
        .query_row([challenge_id], from_row)
        .optional()
}

pub(super) fn find_open(
    connection: &Connection,
    scope: ScopeNumber,
    id: &ExternalTransactionId,
) -> rusqlite::Result<Option<Challenge>> {
    connection
        .prepare_cached(select!("WHERE scope_id = ?1 AND external_transaction_id = ?2 AND state = 'open'"))?
        .query_row(params![scope.0, id.as_str()], from_row)
        .optional()
}

/// The company's questions that nobody has decided and that still can be.
pub(super) fn undecided(
    connection: &Connection,
    company: &Company,
    now_ms: i64,
    page: PageRequest,
) -> rusqlite::Result<Page<Challenge>> {
    let mut statement = connection.prepare_cached(select!(
        "WHERE scope_id IN (SELECT scope_id FROM scope WHERE company = ?1) AND state = 'open' AND decision IS NULL \
         AND expires_at_ms > ?2 AND arrival > ?3 ORDER BY arrival LIMIT ?4"
    ))?;
    let after = page.after.map_or(0, |position| position.0);
    let rows = statement.query_map(params![company.as_str(), now_ms, after, page.one_more()], |row| {
        Ok((Position(row.get("arrival")?), from_row(row)?))
    })?;
    page.collect(rows)
}

pub(super) fn insert(connection: &Connection, challenge: &Challenge) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO challenge (challenge_id, scope_id, external_transaction_id, asked, fingerprint_version,
                core_fingerprint, candidates, matching_signals, state, asked_at_ms, expires_at_ms, signed_with)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?
        .execute(params![
            challenge.challenge_id,
            challenge.scope_number.0,
            challenge.asked.external_transaction_id.as_str(),
            row::to_json(&challenge.asked),
            challenge.fingerprint_version.number(),
            challenge.core_fingerprint.0,
            row::to_json(&challenge.candidates),
            row::to_json(&challenge.matching_signals),
            challenge.state.as_str(),
            challenge.asked_at.as_millisecond(),
            challenge.expires_at.as_millisecond(),
            challenge.signed_with.0,
        ])?;
    Ok(())
}

pub(super) fn set_state(connection: &Connection, id: &str, state: ChallengeState) -> rusqlite::Result<()> {
    connection
        .execute("UPDATE challenge SET state = ?2 WHERE challenge_id = ?1", params![id, state.as_str()])?;
    Ok(())
}

/// Close the open ones whose time is over.
pub(super) fn expire(connection: &Connection, now: Timestamp, limit: u16) -> rusqlite::Result<usize> {
    connection.execute(
        "UPDATE challenge SET state = 'expired' WHERE arrival IN (
            SELECT arrival FROM challenge WHERE state = 'open' AND expires_at_ms <= ?1 LIMIT ?2)",
        params![now.as_millisecond(), limit],
    )
}

pub(super) fn decide(connection: &Connection, id: &str, verdict: &Verdict) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE challenge SET decision = ?2, decided_by = ?3, decision_reason = ?4, decided_at_ms = ?5
         WHERE challenge_id = ?1",
        params![
            id,
            verdict.decision.as_str(),
            verdict.decided_by,
            verdict.reason,
            verdict.decided_at.as_millisecond(),
        ],
    )?;
    Ok(())
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Challenge> {
    let version = FingerprintVersion::from_number(row.get("fingerprint_version")?);
    let verdict = match row::parsed_if_any(row, "decision", row::from_name)? {
        Some(decision) => Some(Verdict {
            decision,
            decided_by: row.get("decided_by")?,
            reason: row.get("decision_reason")?,
            decided_at: row::instant(row, "decided_at_ms")?,
        }),
        None => None,
    };
    Ok(Challenge {
        challenge_id: row.get("challenge_id")?,
        scope: scope::from_row(row)?,
        scope_number: ScopeNumber(row.get("scope_id")?),
        asked: row::json(row, "asked")?,
        fingerprint_version: version.ok_or_else(|| row::unreadable(row, "fingerprint_version"))?,
        core_fingerprint: Fingerprint(row.get("core_fingerprint")?),
        candidates: row::json(row, "candidates")?,
        matching_signals: row::json(row, "matching_signals")?,
        state: row::named(row, "state")?,
        asked_at: row::instant(row, "asked_at_ms")?,
        expires_at: row::instant(row, "expires_at_ms")?,
        signed_with: Generation(row.get("signed_with")?),
        verdict,
    })
}
