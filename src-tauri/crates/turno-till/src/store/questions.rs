//! YUPY's questions and what managers said to them.
//!
//! Invariant: a decision belongs to the question that was on the screen; it is carried over to a renewed question
//! at most once, and only when that question names the same single candidate.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};

use turno_protocol::secret::Secret;

use crate::answer::Question;
use crate::clock::Millis;
use crate::store::{unreadable, words};
use crate::view::{Decision, MoneyHandled};

words!(Decision {
    Decision::DifferentSale => "different_sale" = Decision::DifferentSale,
    Decision::SameSale => "same_sale" = Decision::SameSale,
});

words!(MoneyHandled {
    MoneyHandled::Refunded => "refunded" = MoneyHandled::Refunded,
    MoneyHandled::NotCollected => "not_collected" = MoneyHandled::NotCollected,
});

#[derive(Clone, Debug)]
pub struct QuestionRow {
    pub sequence: i64,
    pub question: Question,
    pub asked_at: Millis,
}

/// Whose word a decision is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decider {
    /// A person of this till, by id.
    Here(String),
    /// Somebody on another till or at a desk, by the name that YUPY gave.
    Elsewhere(String),
}

/// A manager's word, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub decision: Decision,
    pub decided_by: Decider,
    pub decided_at: Millis,
    pub reason: String,
    pub money: Option<MoneyHandled>,
}

/// What became of a question that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    Open,
    /// An earlier decision for another sale still stands: same till, same candidate, and used for the first time.
    Decided(Verdict),
    /// It has the id of a question about another sale: whoever asked is confused, and nothing was stored.
    AboutAnotherSale,
}

/// Stores a question. Whatever was open for this sale is superseded.
pub fn arrive(conn: &Connection, sequence: i64, question: &Question, at: Millis) -> Result<Arrival> {
    let earlier = standing_decision(conn, sequence, question)?;
    conn.execute(
        "UPDATE questions SET state = 'superseded' WHERE sequence = ?1 AND state = 'open' AND challenge_id <> ?2",
        params![sequence, question.challenge_id],
    )?;
    let signals = serde_json::to_string(&question.matching_signals).expect("a list of texts is JSON");
    // A question that comes back under its own id is the same question, open again.
    let stored = conn.execute(
        "INSERT INTO questions (challenge_id, sequence, token, expires_at, candidate, candidate_transaction_id,
             candidates_count, matching_signals, previous_confirmation, asked_at_ms, state)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'open')
         ON CONFLICT (challenge_id) DO UPDATE SET
             token = excluded.token, expires_at = excluded.expires_at, candidate = excluded.candidate,
             candidate_transaction_id = excluded.candidate_transaction_id,
             candidates_count = excluded.candidates_count, matching_signals = excluded.matching_signals,
             previous_confirmation = excluded.previous_confirmation, state = 'open', decision = NULL,
             decided_by = NULL, decided_elsewhere_by = NULL, decided_at_ms = NULL, reason = NULL, money = NULL,
             honours = NULL, is_refused = 0
         WHERE sequence = excluded.sequence",
        params![
            question.challenge_id,
            sequence,
            question.token.expose(),
            question.expires_at,
            question.candidate.to_string(),
            question.candidate_transaction_id,
            question.candidates_count,
            signals,
            question.previous_confirmation,
            at,
        ],
    )?;
    if stored == 0 {
        return Ok(Arrival::AboutAnotherSale);
    }
    let Some((honoured, verdict)) = earlier else { return Ok(Arrival::Open) };
    decide(conn, &question.challenge_id, &verdict)?;
    conn.execute(
        "UPDATE questions SET honours = ?2 WHERE challenge_id = ?1",
        params![question.challenge_id, honoured],
    )?;
    Ok(Arrival::Decided(verdict))
}

/// The decision of the sale's newest question, if it may be carried over to this one.
fn standing_decision(
    conn: &Connection,
    sequence: i64,
    question: &Question,
) -> Result<Option<(String, Verdict)>> {
    // Only one candidate is named in an answer: with several nobody can say that they are the same ones.
    if question.candidates_count != 1 {
        return Ok(None);
    }
    conn.query_row(
        "SELECT challenge_id, decided_by, decided_elsewhere_by, decided_at_ms, reason FROM questions newest
         WHERE sequence = ?1 AND state = 'decided' AND decision = 'different_sale' AND honours IS NULL
           AND is_refused = 0 AND challenge_id <> ?2 AND candidate_transaction_id = ?3 AND candidates_count = 1
           AND rowid = (SELECT max(rowid) FROM questions WHERE sequence = newest.sequence)",
        params![sequence, question.challenge_id, question.candidate_transaction_id],
        |row| {
            let elsewhere: Option<String> = row.get(2)?;
            let verdict = Verdict {
                decision: Decision::DifferentSale,
                decided_by: match elsewhere {
                    Some(name) => Decider::Elsewhere(name),
                    None => Decider::Here(row.get(1)?),
                },
                decided_at: row.get(3)?,
                reason: row.get(4)?,
                money: None,
            };
            Ok((row.get(0)?, verdict))
        },
    )
    .optional()
}

pub fn decide(conn: &Connection, challenge_id: &str, verdict: &Verdict) -> Result<()> {
    let (here, elsewhere) = match &verdict.decided_by {
        Decider::Here(person_id) => (Some(person_id), None),
        Decider::Elsewhere(name) => (None, Some(name)),
    };
    conn.execute(
        "UPDATE questions SET state = 'decided', decision = ?2, decided_by = ?3, decided_elsewhere_by = ?7,
                              decided_at_ms = ?4, reason = ?5, money = ?6
         WHERE challenge_id = ?1",
        params![
            challenge_id,
            verdict.decision.as_word(),
            here,
            verdict.decided_at,
            verdict.reason,
            verdict.money.map(MoneyHandled::as_word),
            elsewhere,
        ],
    )?;
    Ok(())
}

/// Whether this till was asked it.
pub fn is_known(conn: &Connection, challenge_id: &str) -> Result<bool> {
    conn.prepare_cached("SELECT EXISTS (SELECT 1 FROM questions WHERE challenge_id = ?1)")?
        .query_row([challenge_id], |row| row.get(0))
}

/// A decision that was taken back: the question is asked as it was.
pub fn reopen(conn: &Connection, challenge_id: &str) -> Result<()> {
    conn.execute(
        "UPDATE questions SET state = 'open', decision = NULL, decided_by = NULL, decided_elsewhere_by = NULL,
                              decided_at_ms = NULL, reason = NULL, money = NULL
         WHERE challenge_id = ?1",
        [challenge_id],
    )?;
    Ok(())
}

/// YUPY did not take the confirmation of the sale's newest question: that decision stands for no other one.
pub fn refuse_newest(conn: &Connection, sequence: i64) -> Result<()> {
    conn.execute(
        "UPDATE questions SET is_refused = 1
         WHERE state = 'decided' AND rowid = (SELECT max(rowid) FROM questions WHERE sequence = ?1)",
        [sequence],
    )?;
    Ok(())
}

/// Questions of sales in review that somebody elsewhere may have answered, the longest unasked first: the open ones,
/// and those whose confirmation YUPY refused.
pub fn answerable_elsewhere(conn: &Connection) -> Result<Vec<(i64, String)>> {
    conn.prepare_cached(&format!(
        "SELECT questions.sequence, challenge_id FROM questions JOIN outbox USING (sequence)
         WHERE outbox.state = 'in_review' AND (questions.state = 'open' OR is_refused = 1)
           AND NOT EXISTS (SELECT 1 FROM decisions_elsewhere learnt
                           WHERE learnt.challenge_id = questions.challenge_id)
         ORDER BY questions.rowid LIMIT {OPEN_LIMIT}"
    ))?
    .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
    .collect()
}

const COLUMNS: &str = "sequence, challenge_id, token, expires_at, candidate, candidate_transaction_id,
    candidates_count, matching_signals, previous_confirmation, asked_at_ms";

fn read(row: &Row<'_>) -> Result<QuestionRow> {
    let json = |column: usize, name: &str| -> Result<serde_json::Value> {
        let text: String = row.get(column)?;
        serde_json::from_str(&text).map_err(|_| unreadable(name, &text))
    };
    let signals = json(7, "matching_signals")?;
    Ok(QuestionRow {
        sequence: row.get(0)?,
        asked_at: row.get(9)?,
        question: Question {
            challenge_id: row.get(1)?,
            token: Secret::new(row.get::<_, String>(2)?),
            expires_at: row.get(3)?,
            candidate: json(4, "candidate")?,
            candidate_transaction_id: row.get(5)?,
            candidates_count: row.get(6)?,
            matching_signals: serde_json::from_value(signals)
                .map_err(|_| unreadable("matching_signals", "?"))?,
            previous_confirmation: row.get(8)?,
        },
    })
}

/// Questions that wait for a manager, oldest first.
pub fn open(conn: &Connection) -> Result<Vec<QuestionRow>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM questions WHERE state = 'open' ORDER BY asked_at_ms, sequence LIMIT {OPEN_LIMIT}"
    ))?
    .query_map([], read)?
    .collect()
}

/// No open question counts any more.
pub fn close_open(conn: &Connection) -> Result<()> {
    conn.execute("UPDATE questions SET state = 'superseded' WHERE state = 'open'", [])?;
    Ok(())
}

/// The question about this sale does not count any more.
pub fn close_open_of(conn: &Connection, sequence: i64) -> Result<()> {
    conn.execute(
        "UPDATE questions SET state = 'superseded' WHERE state = 'open' AND sequence = ?1",
        [sequence],
    )?;
    Ok(())
}

/// Nobody answers more than this at a sitting; the rest follows.
const OPEN_LIMIT: u32 = 200;

pub fn open_of(conn: &Connection, sequence: i64) -> Result<Option<QuestionRow>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM questions WHERE state = 'open' AND sequence = ?1"))?
        .query_row([sequence], read)
        .optional()
}

#[cfg(test)]
mod tests;
