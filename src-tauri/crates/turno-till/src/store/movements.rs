//! Cash that went into or out of the drawer by hand. Invariant (triggers): a movement is never changed nor deleted; one
//! that was wrong is set right by another one.

use rusqlite::{Connection, OptionalExtension, Result, params};

use crate::clock::Millis;
use crate::store::words;
use crate::view::MovementKind;

words!(MovementKind {
    MovementKind::PayIn => "pay_in" = MovementKind::PayIn,
    MovementKind::PayOut => "pay_out" = MovementKind::PayOut,
    MovementKind::Refund => "refund" = MovementKind::Refund,
});

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovementRow {
    /// What the screen asked under; nothing for a refund, which its sale names.
    pub draft_id: Option<String>,
    pub shift_number: u32,
    pub kind: MovementKind,
    pub amount_minor: i64,
    pub reason: String,
    pub person_id: String,
    pub approved_by: Option<String>,
    pub sequence: Option<i64>,
    pub at: Millis,
}

/// A movement with the names of its people.
#[derive(Clone, Debug)]
pub struct NamedMovement {
    pub movement_number: i64,
    pub kind: MovementKind,
    pub amount_minor: i64,
    pub reason: String,
    pub person: String,
    pub approved_by: Option<String>,
    pub at: Millis,
}

pub fn insert(conn: &Connection, row: &MovementRow) -> Result<()> {
    conn.execute(
        "INSERT INTO cash_movements (draft_id, shift_number, kind, amount_minor, reason, person_id, approved_by,
                                     sequence, at_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            row.draft_id,
            row.shift_number,
            row.kind.as_word(),
            row.amount_minor,
            row.reason,
            row.person_id,
            row.approved_by,
            row.sequence,
            row.at,
        ],
    )?;
    Ok(())
}

/// Kind, amount and reason of what was recorded under a draft.
pub fn of_draft(conn: &Connection, draft_id: &str) -> Result<Option<(MovementKind, i64, String)>> {
    conn.query_row(
        "SELECT kind, amount_minor, reason FROM cash_movements WHERE draft_id = ?1",
        [draft_id],
        |row| Ok((MovementKind::from_word(&row.get::<_, String>(0)?)?, row.get(1)?, row.get(2)?)),
    )
    .optional()
}

/// Whether money was given back for a sale from a drawer that had not taken it.
pub fn is_refunded(conn: &Connection, sequence: i64) -> Result<bool> {
    conn.prepare_cached("SELECT EXISTS (SELECT 1 FROM cash_movements WHERE sequence = ?1)")?
        .query_row([sequence], |row| row.get(0))
}

/// A shift's movements in the order in which they were made.
pub fn of_shift(conn: &Connection, shift_number: u32) -> Result<Vec<NamedMovement>> {
    conn.prepare_cached(
        "SELECT movement_number, kind, amount_minor, reason, people.name, approver.name, at_ms
         FROM cash_movements JOIN people USING (person_id)
              LEFT JOIN people AS approver ON approver.person_id = approved_by
         WHERE shift_number = ?1 ORDER BY movement_number",
    )?
    .query_map([shift_number], |row| {
        Ok(NamedMovement {
            movement_number: row.get(0)?,
            kind: MovementKind::from_word(&row.get::<_, String>(1)?)?,
            amount_minor: row.get(2)?,
            reason: row.get(3)?,
            person: row.get(4)?,
            approved_by: row.get(5)?,
            at: row.get(6)?,
        })
    })?
    .collect()
}

/// Pay-ins, pay-outs and refunds of a shift, each as one sum.
pub fn sums(conn: &Connection, shift_number: u32) -> Result<(i64, i64, i64)> {
    conn.prepare_cached(
        "SELECT coalesce(sum(amount_minor) FILTER (WHERE kind = 'pay_in'), 0),
                coalesce(sum(amount_minor) FILTER (WHERE kind = 'pay_out'), 0),
                coalesce(sum(amount_minor) FILTER (WHERE kind = 'refund'), 0)
         FROM cash_movements WHERE shift_number = ?1",
    )?
    .query_row([shift_number], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
}
