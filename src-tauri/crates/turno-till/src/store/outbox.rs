//! Outbox entries: the states of [`crate::outbox`] as rows.
//!
//! Invariant: what `read` gives is what `write` was given; the words in the columns are the words on the screen.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};

use crate::answer::{AttentionReason, PauseCause, WaitCause};
use crate::clock::Millis;
use crate::outbox::{Doubt, QueueReason, State};
use crate::store::{payments, resolutions, unreadable, voids, words};

words!(WaitCause {
    WaitCause::NoNetwork => "no_network" = WaitCause::NoNetwork,
    WaitCause::NoNameResolution => "no_name_resolution" = WaitCause::NoNameResolution,
    WaitCause::CertificateOrClock => "certificate_or_clock" = WaitCause::CertificateOrClock,
    WaitCause::Unreachable => "unreachable" = WaitCause::Unreachable,
    WaitCause::Portal => "portal" = WaitCause::Portal,
    WaitCause::ConnectionLost => "connection_lost" = WaitCause::ConnectionLost,
    WaitCause::TimedOut => "timed_out" = WaitCause::TimedOut,
    WaitCause::ServerBusy => "server_busy" = WaitCause::ServerBusy,
    WaitCause::InProgress => "in_progress_at_yupy" = WaitCause::InProgress,
    WaitCause::UnusableAnswer => "unusable_answer" = WaitCause::UnusableAnswer,
});

words!(PauseCause {
    PauseCause::CredentialRefused => "credential_refused" = PauseCause::CredentialRefused,
    PauseCause::WrongAddress => "wrong_address" = PauseCause::WrongAddress,
});

words!(AttentionReason {
    AttentionReason::ExternalTransactionConflict =>
        "external_transaction_conflict" = AttentionReason::ExternalTransactionConflict,
    AttentionReason::IdempotencyConflict => "idempotency_conflict" = AttentionReason::IdempotencyConflict,
    AttentionReason::ValidationFailed => "validation_failed" = AttentionReason::ValidationFailed,
    AttentionReason::Refused => "refused" = AttentionReason::Refused,
    AttentionReason::IdentityCollision => "identity_collision" = AttentionReason::IdentityCollision,
    AttentionReason::StoredBodyChanged => "stored_body_changed" = AttentionReason::StoredBodyChanged,
});

impl QueueReason {
    #[must_use]
    pub fn as_word(self) -> &'static str {
        match self {
            Self::NotTriedYet => "not_tried_yet",
            Self::Waiting(cause) => cause.as_word(),
            Self::Paused(cause) => cause.as_word(),
            Self::InterruptedByRestart => "interrupted_by_restart",
            Self::Confirming => "confirming",
            Self::ConfirmationRefused => "confirmation_refused",
            Self::MissingAtYupy => "missing_at_yupy",
            Self::Corrected => "corrected",
            Self::FromAnotherTill => "from_another_till",
        }
    }

    pub fn from_word(word: &str) -> Result<Self> {
        match word {
            "not_tried_yet" => Ok(Self::NotTriedYet),
            "interrupted_by_restart" => Ok(Self::InterruptedByRestart),
            "confirming" => Ok(Self::Confirming),
            "confirmation_refused" => Ok(Self::ConfirmationRefused),
            "missing_at_yupy" => Ok(Self::MissingAtYupy),
            "corrected" => Ok(Self::Corrected),
            "from_another_till" => Ok(Self::FromAnotherTill),
            other => PauseCause::from_word(other)
                .map(Self::Paused)
                .or_else(|_| WaitCause::from_word(other).map(Self::Waiting)),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub sequence: i64,
    pub request_id: i64,
    pub state: State,
}

/// One row's worth of a state.
struct Columns<'a> {
    state: &'static str,
    attempts: Option<u32>,
    due: Option<Millis>,
    doubt: Doubt,
    reason: Option<&'static str>,
    yupy_transaction_id: Option<&'a str>,
    duplicate_of: Option<&'a str>,
}

impl<'a> Columns<'a> {
    fn of(state: &'a State) -> Self {
        let bare = |word, attempts| Self {
            state: word,
            attempts,
            due: None,
            doubt: Doubt::None,
            reason: None,
            yupy_transaction_id: None,
            duplicate_of: None,
        };
        match state {
            State::Queued { attempts, due, doubt, reason } => Self {
                due: Some(*due),
                doubt: *doubt,
                reason: Some(reason.as_word()),
                ..bare("queued", Some(*attempts))
            },
            State::Sending { attempts, doubt, .. } => {
                Self { doubt: *doubt, ..bare("sending", Some(*attempts)) }
            }
            State::Accepted { yupy_transaction_id } => {
                Self { yupy_transaction_id: Some(yupy_transaction_id), ..bare("accepted", None) }
            }
            State::InReview { attempts } => {
                Self { reason: Some("possible_duplicate"), ..bare("in_review", Some(*attempts)) }
            }
            State::NeedsAttention { attempts, reason } => {
                Self { reason: Some(reason.as_word()), ..bare("needs_attention", Some(*attempts)) }
            }
            State::OnHold { attempts, due } => Self {
                due: Some(*due),
                reason: Some("reconciliation_required"),
                ..bare("on_hold", Some(*attempts))
            },
            State::Discarded { duplicate_of } => Self {
                duplicate_of: Some(duplicate_of),
                reason: Some("same_sale"),
                ..bare("discarded", None)
            },
            State::Withdrawn => Self { reason: Some("withdrawn"), ..bare("withdrawn", None) },
        }
    }
}

impl State {
    #[must_use]
    pub fn as_word(&self) -> &'static str {
        Columns::of(self).state
    }
}

pub fn insert(conn: &Connection, entry: &Entry, at: Millis) -> Result<()> {
    let columns = Columns::of(&entry.state);
    conn.prepare_cached(
        "INSERT INTO outbox (sequence, request_id, state, attempts, due_at_ms, outcome_unknown, reason, changed_at_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        entry.sequence,
        entry.request_id,
        columns.state,
        columns.attempts.unwrap_or(0),
        columns.due,
        columns.doubt == Doubt::OutcomeUnknown,
        columns.reason,
        at,
    ])?;
    Ok(())
}

/// Writes the next state of one entry. `detail` is YUPY's own word for support.
pub fn update(conn: &Connection, entry: &Entry, detail: Option<&str>, at: Millis) -> Result<()> {
    let columns = Columns::of(&entry.state);
    conn.prepare_cached(
        "UPDATE outbox SET request_id = ?2, state = ?3, attempts = coalesce(?4, attempts), due_at_ms = ?5,
                outcome_unknown = ?6, reason = ?7, detail = ?8, changed_at_ms = ?11,
                yupy_transaction_id = coalesce(?9, yupy_transaction_id),
                duplicate_of = coalesce(?10, duplicate_of)
         WHERE sequence = ?1",
    )?
    .execute(params![
        entry.sequence,
        entry.request_id,
        columns.state,
        columns.attempts,
        columns.due,
        columns.doubt == Doubt::OutcomeUnknown,
        columns.reason,
        detail,
        columns.yupy_transaction_id,
        columns.duplicate_of,
        at,
    ])?;
    Ok(())
}

const COLUMNS: &str = "sequence, request_id, state, attempts, due_at_ms, outcome_unknown, reason,
    yupy_transaction_id, duplicate_of, changed_at_ms";

fn read(row: &Row<'_>) -> Result<Entry> {
    let attempts = row.get(3)?;
    let doubt = if row.get(5)? { Doubt::OutcomeUnknown } else { Doubt::None };
    let reason = || row.get::<_, String>(6);
    let state = match row.get::<_, String>(2)?.as_str() {
        "queued" => {
            State::Queued { attempts, due: row.get(4)?, doubt, reason: QueueReason::from_word(&reason()?)? }
        }
        "sending" => State::Sending { attempts, since: row.get(9)?, doubt },
        "accepted" => State::Accepted { yupy_transaction_id: row.get(7)? },
        "in_review" => State::InReview { attempts },
        "needs_attention" => {
            State::NeedsAttention { attempts, reason: AttentionReason::from_word(&reason()?)? }
        }
        "on_hold" => State::OnHold { attempts, due: row.get(4)? },
        "discarded" => State::Discarded { duplicate_of: row.get(8)? },
        "withdrawn" => State::Withdrawn,
        other => return Err(unreadable("outbox.state", other)),
    };
    Ok(Entry { sequence: row.get(0)?, request_id: row.get(1)?, state })
}

pub fn get(conn: &Connection, sequence: i64) -> Result<Option<Entry>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM outbox WHERE sequence = ?1"))?
        .query_row([sequence], read)
        .optional()
}

/// Whether YUPY has another version of the sale than the newest one here.
pub fn set_differs(conn: &Connection, sequence: i64, differs: bool) -> Result<()> {
    conn.prepare_cached(
        "UPDATE outbox SET differs_at_yupy = ?2 WHERE sequence = ?1 AND differs_at_yupy <> ?2",
    )?
    .execute(params![sequence, differs])?;
    Ok(())
}

pub fn differs(conn: &Connection, sequence: i64) -> Result<bool> {
    conn.prepare_cached("SELECT differs_at_yupy FROM outbox WHERE sequence = ?1")?
        .query_row([sequence], |row| row.get(0))
}

/// Sales that may be tried, the longest due first. `until` may lie ahead, for a probe.
pub fn due(conn: &Connection, until: Millis, limit: usize) -> Result<Vec<i64>> {
    conn.prepare_cached(
        "SELECT sequence FROM outbox WHERE due_at_ms IS NOT NULL AND due_at_ms <= ?1
         ORDER BY due_at_ms, sequence LIMIT ?2",
    )?
    .query_map(params![until, i64::try_from(limit).unwrap_or(i64::MAX)], |row| row.get(0))?
    .collect()
}

/// Takes a sale whose rows cannot be understood out of the queue, for people to look at.
pub fn set_aside(conn: &Connection, sequence: i64, at: Millis) -> Result<()> {
    conn.execute(
        "UPDATE outbox SET state = 'needs_attention', due_at_ms = NULL, reason = ?2, changed_at_ms = ?3
         WHERE sequence = ?1",
        params![sequence, AttentionReason::StoredBodyChanged.as_word(), at],
    )?;
    Ok(())
}

pub fn next_due(conn: &Connection) -> Result<Option<Millis>> {
    conn.prepare_cached("SELECT min(due_at_ms) FROM outbox WHERE due_at_ms IS NOT NULL")?
        .query_row([], |row| row.get(0))
}

/// Sales whose attempt was cut off by the end of the program, or that wait beyond `latest`.
pub fn interrupted(conn: &Connection, latest: Millis) -> Result<Vec<i64>> {
    conn.prepare_cached(
        "SELECT sequence FROM outbox WHERE state = 'sending' OR due_at_ms > ?1 ORDER BY sequence",
    )?
    .query_map([latest], |row| row.get(0))?
    .collect()
}

/// Sales about which YUPY asks.
pub fn in_review(conn: &Connection) -> Result<Vec<i64>> {
    conn.prepare_cached("SELECT sequence FROM outbox WHERE state = 'in_review' ORDER BY sequence")?
        .query_map([], |row| row.get(0))?
        .collect()
}

/// Sales that are due later than `now`.
pub fn waiting_since_later(conn: &Connection, now: Millis) -> Result<Vec<i64>> {
    conn.prepare_cached("SELECT sequence FROM outbox WHERE due_at_ms > ?1 ORDER BY sequence")?
        .query_map([now], |row| row.get(0))?
        .collect()
}

/// Sales behind this sequence and up to that one that are not settled, the oldest first; without those that were
/// voided here, of which another till must not make a sale.
pub fn unsettled(conn: &Connection, behind: i64, up_to: i64, limit: u32) -> Result<Vec<i64>> {
    conn.prepare_cached(
        "SELECT sequence FROM outbox
         WHERE state NOT IN ('accepted', 'discarded', 'withdrawn') AND sequence > ?1 AND sequence <= ?2
           AND NOT EXISTS (SELECT 1 FROM voids WHERE voids.sequence = outbox.sequence)
         ORDER BY sequence LIMIT ?3",
    )?
    .query_map(params![behind, up_to, limit], |row| row.get(0))?
    .collect()
}

/// Another till may send this sale from now on, or may have.
pub fn note_carried(conn: &Connection, sequence: i64, at: Millis) -> Result<()> {
    conn.prepare_cached(
        "UPDATE outbox SET carried_at_ms = ?2 WHERE sequence = ?1 AND carried_at_ms IS NULL",
    )?
    .execute(params![sequence, at])?;
    Ok(())
}

pub fn is_carried(conn: &Connection, sequence: i64) -> Result<bool> {
    conn.prepare_cached("SELECT carried_at_ms IS NOT NULL FROM outbox WHERE sequence = ?1")?
        .query_row([sequence], |row| row.get(0))
}

/// How many of the sales up to this sequence are not settled.
pub fn unsettled_up_to(conn: &Connection, sequence: i64) -> Result<u32> {
    conn.prepare_cached(
        "SELECT count(*) FROM outbox WHERE state NOT IN ('accepted', 'discarded', 'withdrawn') AND sequence <= ?1",
    )?
    .query_row([sequence], |row| row.get(0))
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub pending: u32,
    pub in_review: u32,
    pub needs_attention: u32,
    pub identity_collision: u32,
}

pub fn counts(conn: &Connection) -> Result<Counts> {
    conn.prepare_cached(
        "SELECT count(*), count(*) FILTER (WHERE state = 'in_review'),
                count(*) FILTER (WHERE state IN ('needs_attention', 'on_hold')),
                count(*) FILTER (WHERE reason = 'identity_collision')
         FROM outbox WHERE state NOT IN ('accepted', 'discarded', 'withdrawn')",
    )?
    .query_row([], |row| {
        // A void or a discard that YUPY does not know of waits as its sale did.
        let (voids, refused) = voids::counts(conn)?;
        let (discards, disputed) = resolutions::counts(conn)?;
        let (charges, stuck) = payments::counts(conn)?;
        Ok(Counts {
            pending: row.get::<_, u32>(0)? + voids + discards + charges,
            in_review: row.get(1)?,
            needs_attention: row.get::<_, u32>(2)? + refused + disputed + stuck,
            identity_collision: row.get(3)?,
        })
    })
}

#[cfg(test)]
mod tests;
