//! Every try to send, written before its first byte leaves. What the timeline and the doubts are computed from.

use rusqlite::{Connection, OptionalExtension, Result, params};

use crate::clock::Millis;

pub struct Finished<'a> {
    pub outcome: &'a str,
    pub status: Option<u16>,
    pub yupy_request_id: Option<&'a str>,
    /// By YUPY's own clock.
    pub yupy_at: Option<Millis>,
    pub may_have_arrived: bool,
}

pub fn start(conn: &Connection, request_id: i64, at: Millis) -> Result<i64> {
    conn.prepare_cached("INSERT INTO attempts (request_id, started_at_ms) VALUES (?1, ?2)")?
        .execute(params![request_id, at])?;
    Ok(conn.last_insert_rowid())
}

pub fn finish(conn: &Connection, attempt_id: i64, at: Millis, finished: &Finished<'_>) -> Result<()> {
    conn.prepare_cached(
        "UPDATE attempts SET finished_at_ms = ?2, outcome = ?3, status = ?4, yupy_request_id = ?5,
                             may_have_arrived = ?6, yupy_at_ms = ?7
         WHERE attempt_id = ?1",
    )?
    .execute(params![
        attempt_id,
        at,
        finished.outcome,
        finished.status,
        finished.yupy_request_id,
        finished.may_have_arrived,
        finished.yupy_at
    ])?;
    Ok(())
}

/// An attempt as it is read back for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    pub started_at: Millis,
    pub finished_at: Option<Millis>,
    pub outcome: Option<String>,
    pub status: Option<u16>,
    pub yupy_request_id: Option<String>,
    pub yupy_at: Option<Millis>,
}

/// The newest attempts of a sale, whichever request they carried, the newest first.
pub fn of_sale(conn: &Connection, sequence: i64, limit: u32) -> Result<Vec<Tried>> {
    conn.prepare_cached(
        "SELECT started_at_ms, finished_at_ms, outcome, status, yupy_request_id, yupy_at_ms
         FROM requests JOIN attempts ON attempts.request_id = requests.request_id
         WHERE sequence = ?1 ORDER BY attempt_id DESC LIMIT ?2",
    )?
    .query_map(params![sequence, limit], |row| {
        Ok(Tried {
            started_at: row.get(0)?,
            finished_at: row.get(1)?,
            outcome: row.get(2)?,
            status: row.get(3)?,
            yupy_request_id: row.get(4)?,
            yupy_at: row.get(5)?,
        })
    })?
    .collect()
}

pub fn count_of_sale(conn: &Connection, sequence: i64) -> Result<u32> {
    conn.prepare_cached(
        "SELECT count(*) FROM requests JOIN attempts ON attempts.request_id = requests.request_id
         WHERE sequence = ?1",
    )?
    .query_row([sequence], |row| row.get(0))
}

/// Whether an earlier attempt of this request can have reached YUPY.
pub fn may_have_arrived_before(conn: &Connection, request_id: i64, attempt_id: i64) -> Result<bool> {
    conn.prepare_cached(
        "SELECT 1 FROM attempts WHERE request_id = ?1 AND attempt_id < ?2 AND may_have_arrived = 1 LIMIT 1",
    )?
    .query_row([request_id, attempt_id], |_| Ok(()))
    .optional()
    .map(|found| found.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbox::State;
    use crate::store::fixture::shop;

    #[test]
    fn a_request_may_have_arrived_unless_each_of_its_earlier_attempts_cannot_have() {
        let conn = shop(&[State::InReview { attempts: 1 }, State::InReview { attempts: 1 }]);
        let finished = |may_have_arrived| Finished {
            outcome: "no_network",
            status: None,
            yupy_request_id: None,
            yupy_at: None,
            may_have_arrived,
        };
        let [mine, theirs, later] = [1, 2, 1].map(|request_id| start(&conn, request_id, 0).unwrap());
        assert!(!may_have_arrived_before(&conn, 1, mine).unwrap(), "the first attempt");
        assert!(may_have_arrived_before(&conn, 1, later).unwrap(), "nobody knows what became of the first");
        finish(&conn, mine, 1, &finished(false)).unwrap();
        assert!(!may_have_arrived_before(&conn, 1, later).unwrap());
        let outcomes: Vec<Option<String>> = conn
            .prepare("SELECT outcome FROM attempts ORDER BY attempt_id")
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<Result<_>>()
            .unwrap();
        assert_eq!(outcomes, [Some("no_network".to_owned()), None, None], "only its own row");
        assert!(!may_have_arrived_before(&conn, 2, theirs).unwrap());
        finish(&conn, mine, 1, &finished(true)).unwrap();
        assert!(may_have_arrived_before(&conn, 1, later).unwrap());
    }
}
