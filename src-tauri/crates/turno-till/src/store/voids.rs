//! Voids: what was given back, and the states of [`crate::voiding`] as rows.
//!
//! Invariant (triggers): a sale is voided once, and what was given back, by whom and from which shift's drawer stays.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};
use sha2::{Digest, Sha256};

use crate::answer::WaitCause;
use crate::clock::Millis;
use crate::store::{unreadable, words};
use crate::voiding::{Refusal, State};

words!(Refusal {
    Refusal::InvalidState => "invalid_state" = Refusal::InvalidState,
    Refusal::NotFound => "not_found" = Refusal::NotFound,
    Refusal::Refused => "refused" = Refusal::Refused,
});

/// What is written once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewVoid {
    pub sequence: i64,
    pub operation_id: String,
    pub idempotency_key: String,
    pub body: Vec<u8>,
    pub shift_number: u32,
    pub asked_by: String,
    pub approved_by: String,
    pub reason: String,
    pub returned_minor: i64,
    pub tender: String,
    pub voided_at: Millis,
}

#[derive(Clone, Debug)]
pub struct VoidRow {
    pub idempotency_key: String,
    pub body: Vec<u8>,
    body_sha256: Vec<u8>,
    pub operation_id: String,
    pub shift_number: u32,
    pub asked_by: String,
    pub approved_by: String,
    pub reason: String,
    pub returned_minor: i64,
    pub tender: String,
    pub voided_at: Millis,
    pub state: State,
    pub lost_count: u32,
    pub detail: Option<String>,
}

impl VoidRow {
    /// False when the stored body is not the one that was frozen: it must not be sent.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        Sha256::digest(&self.body).as_slice() == self.body_sha256
    }
}

struct Columns {
    state: &'static str,
    attempts: u32,
    due: Option<Millis>,
    trouble: Option<&'static str>,
}

impl Columns {
    fn of(state: State) -> Self {
        let bare = |state, attempts| Self { state, attempts, due: None, trouble: None };
        match state {
            State::Waiting { attempts } => bare("waiting", attempts),
            State::Queued { attempts, due, cause } => {
                Self { due: Some(due), trouble: cause.map(WaitCause::as_word), ..bare("queued", attempts) }
            }
            State::Sending { attempts } => bare("sending", attempts),
            State::Confirmed => bare("confirmed", 0),
            State::Local => bare("local", 0),
            State::NeedsAttention { attempts, refusal } => {
                Self { trouble: Some(refusal.as_word()), ..bare("needs_attention", attempts) }
            }
        }
    }
}

pub fn insert(conn: &Connection, void: &NewVoid, state: State) -> Result<()> {
    let columns = Columns::of(state);
    conn.execute(
        "INSERT INTO voids (sequence, operation_id, idempotency_key, body, body_sha256, shift_number, asked_by,
                            approved_by, reason, returned_minor, tender, voided_at_ms, state, attempts, due_at_ms,
                            trouble, changed_at_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?12)",
        params![
            void.sequence,
            void.operation_id,
            void.idempotency_key,
            void.body,
            Sha256::digest(&void.body).as_slice(),
            void.shift_number,
            void.asked_by,
            void.approved_by,
            void.reason,
            void.returned_minor,
            void.tender,
            void.voided_at,
            columns.state,
            columns.attempts,
            columns.due,
            columns.trouble,
        ],
    )?;
    Ok(())
}

/// Writes the next state of one void. `detail` is YUPY's own word for support.
pub fn update(
    conn: &Connection,
    sequence: i64,
    state: State,
    detail: Option<&str>,
    at: Millis,
) -> Result<()> {
    let columns = Columns::of(state);
    conn.prepare_cached(
        "UPDATE voids SET state = ?2, attempts = ?3, due_at_ms = ?4, trouble = ?5, detail = ?6, changed_at_ms = ?7
         WHERE sequence = ?1",
    )?
    .execute(params![sequence, columns.state, columns.attempts, columns.due, columns.trouble, detail, at])?;
    Ok(())
}

/// Takes a void whose row cannot be understood out of the queue, for people to look at.
pub fn set_aside(conn: &Connection, sequence: i64, at: Millis) -> Result<()> {
    let state = State::NeedsAttention { attempts: 0, refusal: Refusal::Refused };
    update(conn, sequence, state, Some("its row cannot be understood"), at)
}

/// YUPY did not have the sale that it had accepted.
pub fn count_lost(conn: &Connection, sequence: i64) -> Result<()> {
    conn.execute("UPDATE voids SET lost_count = lost_count + 1 WHERE sequence = ?1", [sequence])?;
    Ok(())
}

fn read(row: &Row<'_>) -> Result<VoidRow> {
    let attempts = row.get(11)?;
    let trouble: Option<String> = row.get(13)?;
    let state = match row.get::<_, String>(10)?.as_str() {
        "waiting" => State::Waiting { attempts },
        "queued" => {
            let cause = trouble.as_deref().map(WaitCause::from_word).transpose()?;
            State::Queued { attempts, due: row.get(12)?, cause }
        }
        "sending" => State::Sending { attempts },
        "confirmed" => State::Confirmed,
        "local" => State::Local,
        "needs_attention" => State::NeedsAttention {
            attempts,
            refusal: Refusal::from_word(trouble.as_deref().unwrap_or_default())?,
        },
        other => return Err(unreadable("voids.state", other)),
    };
    Ok(VoidRow {
        idempotency_key: row.get(0)?,
        body: row.get(1)?,
        body_sha256: row.get(2)?,
        operation_id: row.get(3)?,
        shift_number: row.get(4)?,
        asked_by: row.get(5)?,
        approved_by: row.get(6)?,
        reason: row.get(7)?,
        returned_minor: row.get(8)?,
        voided_at: row.get(9)?,
        state,
        lost_count: row.get(14)?,
        detail: row.get(15)?,
        tender: row.get(16)?,
    })
}

/// Whether a sale has a void, also one whose row cannot be understood.
pub fn exists(conn: &Connection, sequence: i64) -> Result<bool> {
    conn.prepare_cached("SELECT EXISTS (SELECT 1 FROM voids WHERE sequence = ?1)")?
        .query_row([sequence], |row| row.get(0))
}

pub fn get(conn: &Connection, sequence: i64) -> Result<Option<VoidRow>> {
    conn.prepare_cached(
        "SELECT idempotency_key, body, body_sha256, operation_id, shift_number, asked_by, approved_by, reason,
                returned_minor, voided_at_ms, state, attempts, due_at_ms, trouble, lost_count, detail,
                tender
         FROM voids WHERE sequence = ?1",
    )?
    .query_row([sequence], read)
    .optional()
}

/// Voids that may be sent, the longest due first. `until` may lie ahead, for a probe.
pub fn due(conn: &Connection, until: Millis, limit: usize) -> Result<Vec<i64>> {
    conn.prepare_cached(
        "SELECT sequence FROM voids WHERE due_at_ms IS NOT NULL AND due_at_ms <= ?1
         ORDER BY due_at_ms, sequence LIMIT ?2",
    )?
    .query_map(params![until, i64::try_from(limit).unwrap_or(i64::MAX)], |row| row.get(0))?
    .collect()
}

pub fn next_due(conn: &Connection) -> Result<Option<Millis>> {
    conn.prepare_cached("SELECT min(due_at_ms) FROM voids WHERE due_at_ms IS NOT NULL")?
        .query_row([], |row| row.get(0))
}

/// Voids whose attempt was cut off by the end of the program, or that wait beyond `latest`.
pub fn interrupted(conn: &Connection, latest: Millis) -> Result<Vec<i64>> {
    conn.prepare_cached(
        "SELECT sequence FROM voids
         WHERE state IN ('queued', 'sending', 'needs_attention') AND (state = 'sending' OR due_at_ms > ?1)",
    )?
    .query_map([latest], |row| row.get(0))?
    .collect()
}

/// Voids that are due later than `now`.
pub fn waiting_since_later(conn: &Connection, now: Millis) -> Result<Vec<i64>> {
    conn.prepare_cached("SELECT sequence FROM voids WHERE due_at_ms > ?1")?
        .query_map([now], |row| row.get(0))?
        .collect()
}

/// Voids that YUPY has to be told of, and among them those that need a person.
pub fn counts(conn: &Connection) -> Result<(u32, u32)> {
    conn.prepare_cached(
        "SELECT count(*), count(*) FILTER (WHERE state = 'needs_attention') FROM voids
         WHERE state IN ('queued', 'sending', 'needs_attention')",
    )?
    .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// What was given back for the sales of a ticket so far, and for how many of them.
pub fn returned_of_checkout(conn: &Connection, draft_id: &str) -> Result<(i64, u32)> {
    conn.prepare_cached(
        "SELECT coalesce(sum(returned_minor), 0), count(*) FROM sales JOIN voids ON voids.sequence = sales.sequence
         WHERE draft_id = ?1",
    )?
    .query_row([draft_id], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// An attempt that was about to leave.
pub fn start_attempt(conn: &Connection, sequence: i64, at: Millis) -> Result<i64> {
    conn.prepare_cached("INSERT INTO void_attempts (sequence, started_at_ms) VALUES (?1, ?2)")?
        .execute(params![sequence, at])?;
    Ok(conn.last_insert_rowid())
}

/// How an attempt ended.
pub struct Ended<'a> {
    pub outcome: &'a str,
    pub status: Option<u16>,
    pub yupy_request_id: Option<&'a str>,
}

pub fn end_attempt(conn: &Connection, attempt_id: i64, at: Millis, ended: &Ended<'_>) -> Result<()> {
    conn.prepare_cached(
        "UPDATE void_attempts SET finished_at_ms = ?2, outcome = ?3, status = ?4, yupy_request_id = ?5
         WHERE attempt_id = ?1",
    )?
    .execute(params![attempt_id, at, ended.outcome, ended.status, ended.yupy_request_id])?;
    Ok(())
}

/// The newest attempts of a void, the newest first.
pub fn attempts_of(
    conn: &Connection,
    sequence: i64,
    limit: u32,
) -> Result<Vec<crate::store::attempts::Tried>> {
    conn.prepare_cached(
        "SELECT started_at_ms, finished_at_ms, outcome, status, yupy_request_id FROM void_attempts
         WHERE sequence = ?1 ORDER BY attempt_id DESC LIMIT ?2",
    )?
    .query_map(params![sequence, limit], |row| {
        Ok(crate::store::attempts::Tried {
            started_at: row.get(0)?,
            finished_at: row.get(1)?,
            outcome: row.get(2)?,
            status: row.get(3)?,
            yupy_request_id: row.get(4)?,
            yupy_at: None,
        })
    })?
    .collect()
}
