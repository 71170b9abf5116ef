//! Decisions that YUPY is told of: what was decided, and the states of [`crate::resolving`] as rows.
//!
//! Invariant (triggers): what was decided, by whom and in which words stays; a question has at most one decision of
//! this till that was not taken back.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};
use sha2::{Digest, Sha256};

use crate::answer::WaitCause;
use crate::clock::Millis;
use crate::outbox::Doubt;
use crate::resolving::{State, Trouble};
use crate::store::{unreadable, words};
use crate::view::Decision;

words!(Trouble {
    Trouble::DecidedOtherwise => "decided_otherwise" = Trouble::DecidedOtherwise,
    Trouble::SaleExists => "sale_exists" = Trouble::SaleExists,
    Trouble::Refused => "refused" = Trouble::Refused,
});

/// What is written once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewResolution<'a> {
    pub challenge_id: &'a str,
    /// The sale of this till that was discarded; `None` for another till's question.
    pub sequence: Option<i64>,
    pub external_transaction_id: &'a str,
    pub decision: Decision,
    pub decided_by: &'a str,
    pub reason: &'a str,
    pub decided_at: Millis,
    pub body: &'a [u8],
}

#[derive(Clone, Debug)]
pub struct ResolutionRow {
    pub resolution_id: i64,
    pub challenge_id: String,
    pub sequence: Option<i64>,
    pub external_transaction_id: String,
    pub decision: Decision,
    pub decided_by: String,
    pub reason: String,
    pub decided_at: Millis,
    pub body: Vec<u8>,
    body_sha256: Vec<u8>,
    pub state: State,
    pub detail: Option<String>,
}

impl ResolutionRow {
    /// The state as one word, in which trouble has its own.
    #[must_use]
    pub fn state_word(&self) -> &'static str {
        if let State::NeedsAttention { trouble, .. } = self.state {
            return trouble.as_word();
        }
        Columns::of(self.state).state
    }

    /// False when the stored words are not those that were approved: they must not be sent.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        Sha256::digest(&self.body).as_slice() == self.body_sha256
    }
}

struct Columns {
    state: &'static str,
    attempts: u32,
    due: Option<Millis>,
    doubt: Doubt,
    trouble: Option<&'static str>,
}

impl Columns {
    fn of(state: State) -> Self {
        let bare = |state, attempts| Self { state, attempts, due: None, doubt: Doubt::None, trouble: None };
        match state {
            State::Queued { attempts, due, doubt, cause } => Self {
                due: Some(due),
                doubt,
                trouble: cause.map(WaitCause::as_word),
                ..bare("queued", attempts)
            },
            State::Sending { attempts, doubt } => Self { doubt, ..bare("sending", attempts) },
            State::Told => bare("told", 0),
            State::TakenBack => bare("taken_back", 0),
            State::Closed => bare("closed", 0),
            State::NeedsAttention { attempts, trouble } => {
                Self { trouble: Some(trouble.as_word()), ..bare("needs_attention", attempts) }
            }
            State::Acknowledged => bare("acknowledged", 0),
        }
    }
}

pub fn insert(conn: &Connection, resolution: &NewResolution<'_>, state: State) -> Result<()> {
    let columns = Columns::of(state);
    conn.execute(
        "INSERT INTO resolutions (challenge_id, sequence, external_transaction_id, decision, decided_by, reason,
                                  decided_at_ms, body, body_sha256, state, attempts, due_at_ms, outcome_unknown,
                                  trouble, changed_at_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?7)",
        params![
            resolution.challenge_id,
            resolution.sequence,
            resolution.external_transaction_id,
            resolution.decision.as_word(),
            resolution.decided_by,
            resolution.reason,
            resolution.decided_at,
            resolution.body,
            Sha256::digest(resolution.body).as_slice(),
            columns.state,
            columns.attempts,
            columns.due,
            columns.doubt == Doubt::OutcomeUnknown,
            columns.trouble,
        ],
    )?;
    Ok(())
}

/// Writes the next state of one decision. `detail` is who decided otherwise, or YUPY's own word for support.
pub fn update(conn: &Connection, id: i64, state: State, detail: Option<&str>, at: Millis) -> Result<()> {
    let columns = Columns::of(state);
    conn.prepare_cached(
        "UPDATE resolutions SET state = ?2, attempts = ?3, due_at_ms = ?4, outcome_unknown = ?5, trouble = ?6,
                                detail = coalesce(?7, detail), changed_at_ms = ?8
         WHERE resolution_id = ?1",
    )?
    .execute(params![
        id,
        columns.state,
        columns.attempts,
        columns.due,
        columns.doubt == Doubt::OutcomeUnknown,
        columns.trouble,
        detail,
        at,
    ])?;
    Ok(())
}

/// Takes a decision whose row cannot be understood out of the queue, for people to look at.
pub fn set_aside(conn: &Connection, id: i64, at: Millis) -> Result<()> {
    let state = State::NeedsAttention { attempts: 0, trouble: Trouble::Refused };
    update(conn, id, state, Some("its row cannot be understood"), at)
}

const COLUMNS: &str =
    "resolution_id, challenge_id, sequence, external_transaction_id, decision, decided_by, reason,
    decided_at_ms, body, body_sha256, state, attempts, due_at_ms, outcome_unknown, trouble, detail";

fn read(row: &Row<'_>) -> Result<ResolutionRow> {
    let attempts = row.get(11)?;
    let doubt = if row.get(13)? { Doubt::OutcomeUnknown } else { Doubt::None };
    let trouble: Option<String> = row.get(14)?;
    let state = match row.get::<_, String>(10)?.as_str() {
        "queued" => {
            let cause = trouble.as_deref().map(WaitCause::from_word).transpose()?;
            State::Queued { attempts, due: row.get(12)?, doubt, cause }
        }
        "sending" => State::Sending { attempts, doubt },
        "told" => State::Told,
        "taken_back" => State::TakenBack,
        "closed" => State::Closed,
        "needs_attention" => State::NeedsAttention {
            attempts,
            trouble: Trouble::from_word(trouble.as_deref().unwrap_or_default())?,
        },
        "acknowledged" => State::Acknowledged,
        other => return Err(unreadable("resolutions.state", other)),
    };
    Ok(ResolutionRow {
        resolution_id: row.get(0)?,
        challenge_id: row.get(1)?,
        sequence: row.get(2)?,
        external_transaction_id: row.get(3)?,
        decision: Decision::from_word(&row.get::<_, String>(4)?)?,
        decided_by: row.get(5)?,
        reason: row.get(6)?,
        decided_at: row.get(7)?,
        body: row.get(8)?,
        body_sha256: row.get(9)?,
        state,
        detail: row.get(15)?,
    })
}

pub fn get(conn: &Connection, id: i64) -> Result<Option<ResolutionRow>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM resolutions WHERE resolution_id = ?1"))?
        .query_row([id], read)
        .optional()
}

/// The decision with which a sale was discarded, unless it was taken back.
pub fn of_sale(conn: &Connection, sequence: i64) -> Result<Option<ResolutionRow>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM resolutions WHERE sequence = ?1 AND state <> 'taken_back'"
    ))?
    .query_row([sequence], read)
    .optional()
}

/// What was decided here about a question, unless it was taken back.
pub fn of_question(conn: &Connection, challenge_id: &str) -> Result<Option<ResolutionRow>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM resolutions WHERE challenge_id = ?1 AND state <> 'taken_back'"
    ))?
    .query_row([challenge_id], read)
    .optional()
}

/// Decisions about other tills' questions, the newest first.
pub fn of_other_tills(conn: &Connection, limit: u32) -> Result<Vec<ResolutionRow>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM resolutions WHERE sequence IS NULL ORDER BY resolution_id DESC LIMIT ?1"
    ))?
    .query_map([limit], read)?
    .collect()
}

/// The decision that may be sent, the longest due first.
pub fn due(conn: &Connection, until: Millis) -> Result<Option<i64>> {
    conn.prepare_cached(
        "SELECT resolution_id FROM resolutions WHERE due_at_ms IS NOT NULL AND due_at_ms <= ?1
         ORDER BY due_at_ms, resolution_id LIMIT 1",
    )?
    .query_row([until], |row| row.get(0))
    .optional()
}

pub fn next_due(conn: &Connection) -> Result<Option<Millis>> {
    conn.prepare_cached("SELECT min(due_at_ms) FROM resolutions WHERE due_at_ms IS NOT NULL")?
        .query_row([], |row| row.get(0))
}

/// Decisions whose attempt was cut off by the end of the program, or that wait beyond `latest`.
pub fn interrupted(conn: &Connection, latest: Millis) -> Result<Vec<i64>> {
    conn.prepare_cached("SELECT resolution_id FROM resolutions WHERE state = 'sending' OR due_at_ms > ?1")?
        .query_map([latest], |row| row.get(0))?
        .collect()
}

/// Decisions that are due later than `now`.
pub fn waiting_since_later(conn: &Connection, now: Millis) -> Result<Vec<i64>> {
    conn.prepare_cached("SELECT resolution_id FROM resolutions WHERE due_at_ms > ?1")?
        .query_map([now], |row| row.get(0))?
        .collect()
}

/// Discarded sales of which YUPY has to be told, and among them those that need a person.
pub fn counts(conn: &Connection) -> Result<(u32, u32)> {
    conn.prepare_cached(
        "SELECT count(*), count(*) FILTER (WHERE state = 'needs_attention') FROM resolutions
         WHERE state IN ('queued', 'sending', 'needs_attention') AND sequence IS NOT NULL",
    )?
    .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// An attempt that was about to leave.
pub fn start_attempt(conn: &Connection, id: i64, at: Millis) -> Result<i64> {
    conn.prepare_cached("INSERT INTO resolution_attempts (resolution_id, started_at_ms) VALUES (?1, ?2)")?
        .execute(params![id, at])?;
    Ok(conn.last_insert_rowid())
}

/// How an attempt ended.
#[derive(Clone, Debug)]
pub struct Ended {
    pub outcome: &'static str,
    pub status: Option<u16>,
    pub yupy_request_id: Option<String>,
}

pub fn end_attempt(conn: &Connection, attempt_id: i64, at: Millis, ended: &Ended) -> Result<()> {
    conn.prepare_cached(
        "UPDATE resolution_attempts SET finished_at_ms = ?2, outcome = ?3, status = ?4, yupy_request_id = ?5
         WHERE attempt_id = ?1",
    )?
    .execute(params![attempt_id, at, ended.outcome, ended.status, ended.yupy_request_id])?;
    Ok(())
}

/// The newest attempts to tell of a discarded sale, the newest first.
pub fn attempts_of_sale(
    conn: &Connection,
    sequence: i64,
    limit: u32,
) -> Result<Vec<crate::store::attempts::Tried>> {
    conn.prepare_cached(
        "SELECT started_at_ms, finished_at_ms, outcome, status, yupy_request_id
         FROM resolution_attempts JOIN resolutions USING (resolution_id)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbox::State as SaleState;
    use crate::store::fixture::{external_id, shop};

    fn two() -> Connection {
        let discarded = || SaleState::Discarded { duplicate_of: "ypt-0".to_owned() };
        let conn = shop(&[discarded(), discarded()]);
        for sequence in [1, 2] {
            let resolution = NewResolution {
                challenge_id: &format!("ch-{sequence}"),
                sequence: Some(sequence),
                external_transaction_id: &external_id(sequence),
                decision: Decision::SameSale,
                decided_by: "m",
                reason: "se tecleó dos veces",
                decided_at: 5,
                body: b"{}",
            };
            let state = State::Queued { attempts: 0, due: 9, doubt: Doubt::None, cause: None };
            insert(&conn, &resolution, state).unwrap();
        }
        conn
    }

    #[test]
    fn every_state_is_read_as_it_was_written_and_only_its_own_row() {
        let conn = two();
        let untouched = of_sale(&conn, 2).unwrap().unwrap().state;
        for state in [
            State::Queued {
                attempts: 3,
                due: 7,
                doubt: Doubt::OutcomeUnknown,
                cause: Some(WaitCause::TimedOut),
            },
            State::Sending { attempts: 4, doubt: Doubt::OutcomeUnknown },
            State::NeedsAttention { attempts: 4, trouble: Trouble::DecidedOtherwise },
            State::NeedsAttention { attempts: 4, trouble: Trouble::SaleExists },
            State::NeedsAttention { attempts: 4, trouble: Trouble::Refused },
            State::Told,
            State::Closed,
            State::Acknowledged,
        ] {
            update(&conn, 1, state, Some("x"), 8).unwrap();
            assert_eq!(of_sale(&conn, 1).unwrap().unwrap().state, state);
            assert_eq!(of_sale(&conn, 2).unwrap().unwrap().state, untouched);
        }
        update(&conn, 1, State::TakenBack, None, 8).unwrap();
        assert!(of_sale(&conn, 1).unwrap().is_none() && of_question(&conn, "ch-1").unwrap().is_none());
        assert!(of_question(&conn, "ch-2").unwrap().is_some());
    }

    #[test]
    fn what_was_decided_is_neither_changed_nor_deleted_nor_said_twice() {
        let conn = two();
        for refused in [
            "UPDATE resolutions SET reason = 'x' WHERE resolution_id = 1",
            "UPDATE resolutions SET body = x'00' WHERE resolution_id = 1",
            "DELETE FROM resolutions WHERE resolution_id = 1",
            "INSERT INTO resolutions (challenge_id, sequence, external_transaction_id, decision, decided_by, reason,
                 decided_at_ms, body, body_sha256, state, attempts, outcome_unknown, changed_at_ms)
             SELECT challenge_id, NULL, external_transaction_id, decision, decided_by, reason, decided_at_ms, body,
                    body_sha256, 'told', 0, 0, 0 FROM resolutions WHERE resolution_id = 1",
        ] {
            assert!(conn.execute_batch(refused).is_err(), "{refused}");
        }
        assert!(of_sale(&conn, 1).unwrap().unwrap().is_intact());
        assert_eq!(counts(&conn).unwrap(), (2, 0));
        assert_eq!((due(&conn, 8).unwrap(), due(&conn, 9).unwrap()), (None, Some(1)));
    }
}
