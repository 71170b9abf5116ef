//! Card payments: what was asked for, and the states of [`crate::paying`] as rows.
//!
//! Invariant (triggers, unique index): what a card was asked to pay stays, and a sale has at most one payment that is not
//! declined or withdrawn.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};
use sha2::{Digest, Sha256};

use crate::answer::WaitCause;
use crate::clock::Millis;
use crate::paying::{State, Tried, Trouble};
use crate::store::attempts;
use crate::store::voids::Ended;
use crate::store::{unreadable, words};

words!(Trouble {
    Trouble::TooLate => "too_late" = Trouble::TooLate,
    Trouble::InvalidState => "invalid_state" = Trouble::InvalidState,
    Trouble::NotFound => "not_found" = Trouble::NotFound,
    Trouble::ReconciliationRequired => "reconciliation_required" = Trouble::ReconciliationRequired,
    Trouble::Refused => "refused" = Trouble::Refused,
});

/// What is written once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPayment {
    pub sequence: i64,
    pub card_number: u32,
    pub external_payment_id: String,
    pub idempotency_key: String,
    pub body: Vec<u8>,
    pub amount_minor: i64,
    pub created_at: Millis,
    /// When somebody last stood at the till with a card.
    pub wanted_at: Millis,
}

#[derive(Clone, Debug)]
pub struct PaymentRow {
    pub payment_id: i64,
    pub sequence: i64,
    pub card_number: u32,
    pub external_payment_id: String,
    pub idempotency_key: String,
    pub body: Vec<u8>,
    body_sha256: Vec<u8>,
    pub amount_minor: i64,
    pub wanted_at: Millis,
    pub state: State,
    pub lost_count: u32,
}

impl PaymentRow {
    /// False when the stored body is not the one that was frozen: it must not be sent.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        Sha256::digest(&self.body).as_slice() == self.body_sha256
    }
}

struct Columns {
    state: &'static str,
    tried: Tried,
    due: Option<Millis>,
    trouble: Option<&'static str>,
}

impl Columns {
    fn of(state: State) -> Self {
        let bare = |state, tried| Self { state, tried, due: None, trouble: None };
        let settled = |state| bare(state, Tried::default());
        match state {
            State::Waiting { tried } => bare("waiting", tried),
            State::Queued { tried, due, cause } => {
                Self { due: Some(due), trouble: cause.map(WaitCause::as_word), ..bare("queued", tried) }
            }
            State::Sending { tried } => bare("sending", tried),
            State::Approved => settled("approved"),
            State::Declined => settled("declined"),
            State::Withdrawn => settled("withdrawn"),
            State::NeedsAttention { tried, trouble } => {
                Self { trouble: Some(trouble.as_word()), ..bare("needs_attention", tried) }
            }
        }
    }
}

/// A payment that is asked for as soon as it is claimed.
pub fn insert(conn: &Connection, payment: &NewPayment) -> Result<i64> {
    let due = payment.created_at;
    let columns = Columns::of(State::Queued { tried: Tried::default(), due, cause: None });
    conn.prepare_cached(
        "INSERT INTO payments (sequence, card_number, external_payment_id, idempotency_key, body, body_sha256,
                               amount_minor, created_at_ms, state, wanted_at_ms, attempts, outcome_unknown,
                               due_at_ms, changed_at_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?8)",
    )?
    .insert(params![
        payment.sequence,
        payment.card_number,
        payment.external_payment_id,
        payment.idempotency_key,
        payment.body,
        Sha256::digest(&payment.body).as_slice(),
        payment.amount_minor,
        payment.created_at,
        columns.state,
        payment.wanted_at,
        columns.tried.attempts,
        columns.tried.outcome_unknown,
        columns.due,
    ])
}

/// Writes the next state of one payment. `detail` is YUPY's own word for support.
pub fn update(
    conn: &Connection,
    payment_id: i64,
    state: State,
    detail: Option<&str>,
    at: Millis,
) -> Result<()> {
    let columns = Columns::of(state);
    conn.prepare_cached(
        "UPDATE payments SET state = ?2, attempts = ?3, outcome_unknown = ?4, due_at_ms = ?5, trouble = ?6,
                             detail = ?7, changed_at_ms = ?8
         WHERE payment_id = ?1",
    )?
    .execute(params![
        payment_id,
        columns.state,
        columns.tried.attempts,
        columns.tried.outcome_unknown,
        columns.due,
        columns.trouble,
        detail,
        at
    ])?;
    Ok(())
}

/// YUPY's word that the card was charged, with the acquirer's name for it.
pub fn approve(conn: &Connection, payment_id: i64, acquirer_payment_id: &str, at: Millis) -> Result<()> {
    conn.execute(
        "UPDATE payments SET acquirer_payment_id = ?2 WHERE payment_id = ?1",
        params![payment_id, acquirer_payment_id],
    )?;
    update(conn, payment_id, State::Approved, None, at)
}

/// Somebody stands there with a card again.
pub fn want(conn: &Connection, payment_id: i64, at: Millis) -> Result<()> {
    conn.execute("UPDATE payments SET wanted_at_ms = ?2 WHERE payment_id = ?1", [payment_id, at])?;
    Ok(())
}

/// Takes a payment whose row cannot be understood out of the queue, for people to look at. Whether the card was charged
/// is not known.
pub fn set_aside(conn: &Connection, payment_id: i64, at: Millis) -> Result<()> {
    let tried = Tried { attempts: 0, outcome_unknown: true };
    let state = State::NeedsAttention { tried, trouble: Trouble::ReconciliationRequired };
    update(conn, payment_id, state, Some("its row cannot be understood"), at)
}

/// YUPY did not have the sale that it had accepted.
pub fn count_lost(conn: &Connection, payment_id: i64) -> Result<()> {
    conn.execute("UPDATE payments SET lost_count = lost_count + 1 WHERE payment_id = ?1", [payment_id])?;
    Ok(())
}

const ROW: &str = "payment_id, sequence, card_number, external_payment_id, idempotency_key, body, body_sha256, amount_minor,
    wanted_at_ms, state, attempts, outcome_unknown, due_at_ms, trouble, lost_count";

fn read(row: &Row<'_>) -> Result<PaymentRow> {
    let tried = Tried { attempts: row.get(10)?, outcome_unknown: row.get(11)? };
    let trouble: Option<String> = row.get(13)?;
    let state = match row.get::<_, String>(9)?.as_str() {
        "waiting" => State::Waiting { tried },
        "queued" => {
            let cause = trouble.as_deref().map(WaitCause::from_word).transpose()?;
            State::Queued { tried, due: row.get(12)?, cause }
        }
        "sending" => State::Sending { tried },
        "approved" => State::Approved,
        "declined" => State::Declined,
        "withdrawn" => State::Withdrawn,
        "needs_attention" => State::NeedsAttention {
            tried,
            trouble: Trouble::from_word(trouble.as_deref().unwrap_or_default())?,
        },
        other => return Err(unreadable("payments.state", other)),
    };
    Ok(PaymentRow {
        payment_id: row.get(0)?,
        sequence: row.get(1)?,
        card_number: row.get(2)?,
        external_payment_id: row.get(3)?,
        idempotency_key: row.get(4)?,
        body: row.get(5)?,
        body_sha256: row.get(6)?,
        amount_minor: row.get(7)?,
        wanted_at: row.get(8)?,
        state,
        lost_count: row.get(14)?,
    })
}

pub fn get(conn: &Connection, payment_id: i64) -> Result<Option<PaymentRow>> {
    conn.prepare_cached(&format!("SELECT {ROW} FROM payments WHERE payment_id = ?1"))?
        .query_row([payment_id], read)
        .optional()
}

/// The payment of the last card that was tried for a sale, as it stands.
pub fn newest_row(conn: &Connection, sequence: i64) -> Result<Option<PaymentRow>> {
    newest(conn, sequence)?.map_or(Ok(None), |payment_id| get(conn, payment_id))
}

/// The payment of the last card that was tried for a sale.
pub fn newest(conn: &Connection, sequence: i64) -> Result<Option<i64>> {
    conn.prepare_cached(
        "SELECT payment_id FROM payments WHERE sequence = ?1 ORDER BY card_number DESC LIMIT 1",
    )?
    .query_row([sequence], |row| row.get(0))
    .optional()
}

/// Whether YUPY has said that a card was charged for the sale. While it is told again, after it lost the sale, that stands.
pub fn is_paid(conn: &Connection, sequence: i64) -> Result<bool> {
    conn.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM payments WHERE sequence = ?1 AND acquirer_payment_id IS NOT NULL)",
    )?
    .query_row([sequence], |row| row.get(0))
}

/// How far back somebody may still be waiting with a card: the tickets of some minutes.
const NEWEST_SALES: u32 = 40;

/// Sales that may be sent and were to be paid by card, among the newest ones: somebody stands there and waits. However
/// long the queue is, this looks at a handful.
pub fn sales_awaited(conn: &Connection, until: Millis, limit: usize) -> Result<Vec<i64>> {
    conn.prepare_cached(
        "WITH newest AS MATERIALIZED (SELECT sequence, draft_id FROM sales ORDER BY sequence DESC LIMIT ?3)
         SELECT newest.sequence FROM newest CROSS JOIN outbox USING (sequence) CROSS JOIN checkouts USING (draft_id)
         WHERE due_at_ms <= ?1 AND payment_method = 'card' ORDER BY newest.sequence LIMIT ?2",
    )?
    .query_map(params![until, i64::try_from(limit).unwrap_or(i64::MAX), NEWEST_SALES], |row| row.get(0))?
    .collect()
}

/// Payments that may be asked for, the longest due first. `until` may lie ahead, for a probe.
pub fn due(conn: &Connection, until: Millis, limit: usize) -> Result<Vec<i64>> {
    conn.prepare_cached(
        "SELECT payment_id FROM payments WHERE due_at_ms IS NOT NULL AND due_at_ms <= ?1
         ORDER BY due_at_ms, payment_id LIMIT ?2",
    )?
    .query_map(params![until, i64::try_from(limit).unwrap_or(i64::MAX)], |row| row.get(0))?
    .collect()
}

pub fn next_due(conn: &Connection) -> Result<Option<Millis>> {
    conn.prepare_cached("SELECT min(due_at_ms) FROM payments WHERE due_at_ms IS NOT NULL")?
        .query_row([], |row| row.get(0))
}

/// Payments whose attempt was cut off by the end of the program, or that wait beyond `latest`.
pub fn interrupted(conn: &Connection, latest: Millis) -> Result<Vec<i64>> {
    conn.prepare_cached(
        "SELECT payment_id FROM payments
         WHERE state IN ('waiting', 'queued', 'sending', 'needs_attention')
           AND (state = 'sending' OR due_at_ms > ?1)",
    )?
    .query_map([latest], |row| row.get(0))?
    .collect()
}

/// Payments that are due later than `now`.
pub fn waiting_since_later(conn: &Connection, now: Millis) -> Result<Vec<i64>> {
    conn.prepare_cached("SELECT payment_id FROM payments WHERE due_at_ms > ?1")?
        .query_map([now], |row| row.get(0))?
        .collect()
}

/// Payments that YUPY has to be asked for, and among them those that need a person.
pub fn counts(conn: &Connection) -> Result<(u32, u32)> {
    conn.prepare_cached(
        "SELECT count(*), count(*) FILTER (WHERE state = 'needs_attention') FROM payments
         WHERE state IN ('waiting', 'queued', 'sending', 'needs_attention')",
    )?
    .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// An attempt that was about to leave.
pub fn start_attempt(conn: &Connection, payment_id: i64, at: Millis) -> Result<i64> {
    conn.prepare_cached("INSERT INTO payment_attempts (payment_id, started_at_ms) VALUES (?1, ?2)")?
        .insert(params![payment_id, at])
}

pub fn end_attempt(conn: &Connection, attempt_id: i64, at: Millis, ended: &Ended<'_>) -> Result<()> {
    conn.prepare_cached(
        "UPDATE payment_attempts SET finished_at_ms = ?2, outcome = ?3, status = ?4, yupy_request_id = ?5
         WHERE attempt_id = ?1",
    )?
    .execute(params![attempt_id, at, ended.outcome, ended.status, ended.yupy_request_id])?;
    Ok(())
}

/// The newest attempts at a sale's payments, the newest first.
pub fn attempts_of_sale(conn: &Connection, sequence: i64, limit: u32) -> Result<Vec<attempts::Tried>> {
    conn.prepare_cached(
        "SELECT started_at_ms, finished_at_ms, outcome, status, yupy_request_id
         FROM payments JOIN payment_attempts USING (payment_id)
         WHERE sequence = ?1 ORDER BY attempt_id DESC LIMIT ?2",
    )?
    .query_map(params![sequence, limit], |row| {
        Ok(attempts::Tried {
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
