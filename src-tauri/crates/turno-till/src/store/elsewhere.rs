//! What somebody on another till, or at a desk, said to questions of this one.
//!
//! Invariant (triggers): what was learnt is never changed. YUPY keeps the first decision of a question for ever, so
//! there is one row a question.

use rusqlite::{Connection, OptionalExtension, Result, params};

use crate::clock::Millis;
use crate::view::Decision;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    pub challenge_id: String,
    pub decision: Decision,
    /// The name that YUPY gave.
    pub decided_by: String,
    pub reason: Option<String>,
    pub decided_at: Option<Millis>,
}

/// False: it is known already.
pub fn learn(conn: &Connection, sequence: i64, said: &Elsewhere, at: Millis) -> Result<bool> {
    let stored = conn.execute(
        "INSERT INTO decisions_elsewhere (challenge_id, sequence, decision, decided_by, reason, decided_at_ms,
                                          learnt_at_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (challenge_id) DO NOTHING",
        params![
            said.challenge_id,
            sequence,
            said.decision.as_word(),
            said.decided_by,
            said.reason,
            said.decided_at,
            at
        ],
    )?;
    Ok(stored == 1)
}

/// That somebody said of a sale that it is the same as another: the newest such word, whichever question it was about.
pub fn same_sale(conn: &Connection, sequence: i64) -> Result<Option<Elsewhere>> {
    conn.prepare_cached(
        "SELECT challenge_id, decision, decided_by, reason, decided_at_ms FROM decisions_elsewhere
         WHERE sequence = ?1 AND decision = 'same_sale' ORDER BY rowid DESC LIMIT 1",
    )?
    .query_row([sequence], |row| {
        Ok(Elsewhere {
            challenge_id: row.get(0)?,
            decision: Decision::from_word(&row.get::<_, String>(1)?)?,
            decided_by: row.get(2)?,
            reason: row.get(3)?,
            decided_at: row.get(4)?,
        })
    })
    .optional()
}
