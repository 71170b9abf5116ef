//! What people and the till did that somebody may have to prove later.
//!
//! Invariant: each row's hash covers the row and the hash before it, so a changed, missing or inserted row shows.

use rusqlite::{Connection, OptionalExtension, Result, params};
use serde_json::{Value, json};
use turno_protocol::{canonical, chain};

use crate::clock::Millis;
use crate::store::unreadable;

/// What happened. The words are stored; they are never renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Enrolled,
    PersonCreated,
    PinRefused,
    ShiftOpened,
    SaleRecorded,
    SaleAccepted,
    QuestionAsked,
    QuestionDecided,
    DecisionCarriedOver,
    IdentityCollision,
    StoredBodyChanged,
}

impl Event {
    #[must_use]
    pub fn as_word(self) -> &'static str {
        match self {
            Self::Enrolled => "enrolled",
            Self::PersonCreated => "person_created",
            Self::PinRefused => "pin_refused",
            Self::ShiftOpened => "shift_opened",
            Self::SaleRecorded => "sale_recorded",
            Self::SaleAccepted => "sale_accepted",
            Self::QuestionAsked => "question_asked",
            Self::QuestionDecided => "question_decided",
            Self::DecisionCarriedOver => "decision_carried_over",
            Self::IdentityCollision => "identity_collision",
            Self::StoredBodyChanged => "stored_body_changed",
        }
    }
}

pub struct Entry<'a> {
    pub event: Event,
    pub person_id: Option<&'a str>,
    pub external_transaction_id: Option<&'a str>,
    /// An object; ids, figures and reasons, never a PIN, a token or a buyer's name.
    pub data: Value,
}

impl Entry<'_> {
    #[must_use]
    pub fn new(event: Event) -> Self {
        Self { event, person_id: None, external_transaction_id: None, data: json!({}) }
    }
}

pub fn append(conn: &Connection, at: Millis, entry: &Entry<'_>) -> Result<()> {
    let prev = head(conn)?;
    let data = entry.data.to_string();
    let row = row_bytes(at, entry.event.as_word(), entry.person_id, entry.external_transaction_id, &data);
    let hash = chain::row_hash(&prev, &row);
    conn.prepare_cached(
        "INSERT INTO audit (at_ms, event, person_id, external_transaction_id, data, prev_hash, hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        at,
        entry.event.as_word(),
        entry.person_id,
        entry.external_transaction_id,
        data,
        prev.as_slice(),
        hash.as_slice()
    ])?;
    Ok(())
}

fn row_bytes(at: Millis, event: &str, person: Option<&str>, sale: Option<&str>, data: &str) -> Vec<u8> {
    canonical::to_bytes(&json!({
        "at_ms": at,
        "event": event,
        "person_id": person,
        "external_transaction_id": sale,
        "data": data,
    }))
}

fn head(conn: &Connection) -> Result<[u8; 32]> {
    let hash: Option<Vec<u8>> = conn
        .prepare_cached("SELECT hash FROM audit ORDER BY audit_id DESC LIMIT 1")?
        .query_row([], |row| row.get(0))
        .optional()?;
    hash.map_or(Ok(chain::GENESIS), |hash| hash.try_into().map_err(|_| unreadable("audit.hash", "?")))
}

/// The first row, by its number, at which the chain breaks; `None` when all rows stand as they were written.
pub fn first_broken(conn: &Connection) -> Result<Option<i64>> {
    let mut statement = conn.prepare(
        "SELECT audit_id, at_ms, event, person_id, external_transaction_id, data, prev_hash, hash
         FROM audit ORDER BY audit_id",
    )?;
    let mut rows = statement.query([])?;
    let mut prev = chain::GENESIS.to_vec();
    let mut number = 0_i64;
    while let Some(row) = rows.next()? {
        number += 1;
        let text = |column: usize| row.get::<_, Option<String>>(column);
        let (event, data) = (text(2)?.unwrap_or_default(), text(5)?.unwrap_or_default());
        let bytes = row_bytes(row.get(1)?, &event, text(3)?.as_deref(), text(4)?.as_deref(), &data);
        let (stored_prev, hash): (Vec<u8>, Vec<u8>) = (row.get(6)?, row.get(7)?);
        let Ok(before) = <[u8; 32]>::try_from(prev.as_slice()) else { return Ok(Some(number)) };
        let id: i64 = row.get(0)?;
        if id != number || stored_prev != prev || chain::row_hash(&before, &bytes).as_slice() != hash {
            return Ok(Some(number));
        }
        prev = hash;
    }
    Ok(None)
}
