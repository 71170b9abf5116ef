//! Runs of [`crate::reconcile`], what each found, and which sales it saw.
//!
//! Invariant: a run that did not come to its end decides nothing, neither about a sale nor about where a later run
//! begins.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};

use crate::clock::{Millis, rfc3339};
use crate::store::words;
use crate::view::{Finding, FindingKind, Money, Reconciliation, ReconciliationReason};

words!(ReconciliationReason {
    ReconciliationReason::Daily => "daily" = ReconciliationReason::Daily,
    ReconciliationReason::Outage => "outage" = ReconciliationReason::Outage,
    ReconciliationReason::Asked => "asked" = ReconciliationReason::Asked,
});

words!(FindingKind {
    FindingKind::UnknownHere => "unknown_here" = FindingKind::UnknownHere,
    FindingKind::AmountDiffers => "amount_differs" = FindingKind::AmountDiffers,
    FindingKind::DiscardedHere => "discarded_here" = FindingKind::DiscardedHere,
    FindingKind::SentAgain => "sent_again" = FindingKind::SentAgain,
});

/// What a report shows of a run that found a thousand differences.
const FINDINGS_SHOWN: u32 = 200;

pub struct Begun {
    pub run_id: i64,
    /// Where YUPY's list is read from; `None`: from its beginning.
    pub cursor: Option<String>,
}

/// One of YUPY's sales, as its list has it.
pub struct Listed<'a> {
    pub external_transaction_id: &'a str,
    pub yupy_transaction_id: &'a str,
    pub amount: &'a str,
    pub currency: &'a str,
}

/// A new run. It goes on from the newest finished one that began before `from_before`, if there is one.
pub fn begin(
    conn: &Connection,
    reason: ReconciliationReason,
    from_before: Option<Millis>,
    at: Millis,
) -> Result<Begun> {
    let from: Option<(i64, Option<String>)> = conn
        .prepare_cached(
            "SELECT run_id, cursor FROM reconciliations
             WHERE finished_at_ms IS NOT NULL AND started_at_ms < ?1 ORDER BY run_id DESC LIMIT 1",
        )?
        .query_row([from_before], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (from_run, cursor) = from.map_or((None, None), |(run_id, cursor)| (Some(run_id), cursor));
    conn.execute(
        "INSERT INTO reconciliations (reason, from_run, last_attempt_id, started_at_ms)
         SELECT ?1, ?2, coalesce(max(attempt_id), 0), ?3 FROM attempts",
        params![reason.as_word(), from_run, at],
    )?;
    Ok(Begun { run_id: conn.last_insert_rowid(), cursor })
}

/// YUPY has this sale.
pub fn saw(conn: &Connection, run_id: i64, sequence: i64) -> Result<()> {
    conn.prepare_cached("UPDATE outbox SET seen_in_run = ?1 WHERE sequence = ?2")?
        .execute([run_id, sequence])?;
    Ok(())
}

pub fn count(conn: &Connection, run_id: i64, compared: u32, of_others: u32) -> Result<()> {
    conn.prepare_cached(
        "UPDATE reconciliations SET compared = compared + ?2, of_others = of_others + ?3 WHERE run_id = ?1",
    )?
    .execute(params![run_id, compared, of_others])?;
    Ok(())
}

pub fn find(
    conn: &Connection,
    run_id: i64,
    kind: FindingKind,
    listed: &Listed<'_>,
    our_amount_minor: Option<i64>,
) -> Result<()> {
    conn.prepare_cached(
        "INSERT OR REPLACE INTO reconciliation_findings
         (run_id, external_transaction_id, kind, yupy_transaction_id, yupy_amount, yupy_currency, our_amount_minor)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        run_id,
        listed.external_transaction_id,
        kind.as_word(),
        listed.yupy_transaction_id,
        listed.amount,
        listed.currency,
        our_amount_minor
    ])?;
    Ok(())
}

/// A sale that YUPY had confirmed and does not have.
pub fn find_missing(conn: &Connection, run_id: i64, sequence: i64) -> Result<()> {
    conn.prepare_cached(
        "INSERT OR IGNORE INTO reconciliation_findings (run_id, external_transaction_id, kind, our_amount_minor)
         SELECT ?1, external_transaction_id, 'sent_again', amount_minor FROM sales WHERE sequence = ?2",
    )?
    .execute([run_id, sequence])?;
    Ok(())
}

/// Up to `limit` sales that YUPY confirmed before this run began and that were not in what it read of the list,
/// though they had to be: never seen, or last seen behind the place from which it read.
pub fn missing(conn: &Connection, run_id: i64, limit: u32) -> Result<Vec<i64>> {
    conn.prepare_cached(
        "SELECT o.sequence FROM reconciliations r JOIN outbox o
         WHERE r.run_id = ?1 AND o.state = 'accepted'
           -- YUPY lists it under the till that sold it.
           AND NOT EXISTS (SELECT 1 FROM imported_sales i WHERE i.sequence = o.sequence)
           AND (o.seen_in_run IS NULL
                OR (o.seen_in_run > coalesce(r.from_run, 0) AND o.seen_in_run < r.run_id))
           AND NOT EXISTS (
               SELECT 1 FROM requests q JOIN attempts a ON a.request_id = q.request_id
               WHERE q.sequence = o.sequence AND a.attempt_id > r.last_attempt_id)
         ORDER BY o.sequence LIMIT ?2",
    )?
    .query_map(params![run_id, limit], |row| row.get(0))?
    .collect()
}

pub fn finish(conn: &Connection, run_id: i64, cursor: Option<&str>, at: Millis) -> Result<()> {
    conn.execute(
        "UPDATE reconciliations SET finished_at_ms = ?3, cursor = ?2 WHERE run_id = ?1",
        params![run_id, cursor, at],
    )?;
    Ok(())
}

/// The newest run that came to its end.
pub fn last(conn: &Connection, currency: &str) -> Result<Option<Reconciliation>> {
    let run: Option<(i64, Reconciliation)> = conn
        .prepare_cached(
            "SELECT run_id, reason, finished_at_ms, compared, of_others,
                    (SELECT count(*) FROM reconciliation_findings f WHERE f.run_id = r.run_id)
             FROM reconciliations r WHERE finished_at_ms IS NOT NULL ORDER BY run_id DESC LIMIT 1",
        )?
        .query_row([], |row| {
            let reconciliation = Reconciliation {
                reason: ReconciliationReason::from_word(&row.get::<_, String>(1)?)?,
                finished_at: rfc3339(row.get(2)?),
                compared_count: row.get(3)?,
                of_others_count: row.get(4)?,
                findings_count: row.get(5)?,
                findings: Vec::new(),
            };
            Ok((row.get(0)?, reconciliation))
        })
        .optional()?;
    let Some((run_id, reconciliation)) = run else { return Ok(None) };
    let findings = conn
        .prepare_cached(
            "SELECT external_transaction_id, kind, yupy_transaction_id, yupy_amount, yupy_currency, our_amount_minor
             FROM reconciliation_findings WHERE run_id = ?1
             ORDER BY kind = 'sent_again', external_transaction_id LIMIT ?2",
        )?
        .query_map([run_id, FINDINGS_SHOWN.into()], |row| finding(row, currency))?
        .collect::<Result<_>>()?;
    Ok(Some(Reconciliation { findings, ..reconciliation }))
}

fn finding(row: &Row<'_>, currency: &str) -> Result<Finding> {
    let (amount, unit): (Option<String>, Option<String>) = (row.get(3)?, row.get(4)?);
    Ok(Finding {
        external_transaction_id: row.get(0)?,
        kind: FindingKind::from_word(&row.get::<_, String>(1)?)?,
        yupy_transaction_id: row.get(2)?,
        yupy_amount: amount.zip(unit).map(|(amount, unit)| format!("{unit} {amount}")),
        our_amount: row.get::<_, Option<i64>>(5)?.map(|minor| Money { minor, currency: currency.to_owned() }),
    })
}

/// When the newest run came to its end.
pub fn last_finished_at(conn: &Connection) -> Result<Option<Millis>> {
    conn.prepare_cached(
        "SELECT finished_at_ms FROM reconciliations WHERE finished_at_ms IS NOT NULL
         ORDER BY run_id DESC LIMIT 1",
    )?
    .query_row([], |row| row.get(0))
    .optional()
}

/// How many differences of the newest run are for a person to look into.
pub fn alarms(conn: &Connection) -> Result<u32> {
    conn.prepare_cached(
        "SELECT count(*) FROM reconciliation_findings
         WHERE kind <> 'sent_again' AND run_id =
             (SELECT max(run_id) FROM reconciliations WHERE finished_at_ms IS NOT NULL)",
    )?
    .query_one([], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbox::State;
    use crate::store::attempts;
    use crate::store::fixture::shop;

    const DAY: Millis = 24 * 60 * 60 * 1_000;

    fn accepted(count: usize) -> Connection {
        let state = || State::Accepted { yupy_transaction_id: "ypt".to_owned() };
        let conn = shop(&std::iter::repeat_with(state).take(count).collect::<Vec<_>>());
        for request_id in 1..=i64::try_from(count).unwrap() {
            attempts::start(&conn, request_id, 0).unwrap();
        }
        conn
    }

    /// A whole run that saw these sales.
    fn run(conn: &Connection, from_before: Option<Millis>, at: Millis, seen: &[i64]) -> (Begun, Vec<i64>) {
        let begun = begin(conn, ReconciliationReason::Daily, from_before, at).unwrap();
        for &sequence in seen {
            saw(conn, begun.run_id, sequence).unwrap();
        }
        let missing = missing(conn, begun.run_id, 100).unwrap();
        finish(conn, begun.run_id, Some(&format!("after {at}")), at).unwrap();
        (begun, missing)
    }

    #[test]
    fn a_confirmed_sale_is_missing_when_no_page_had_it() {
        let conn = accepted(4);
        assert_eq!(run(&conn, None, DAY, &[1, 3]).1, [2, 4]);
        assert_eq!(run(&conn, None, 2 * DAY, &[1, 2, 4]).1, [3], "seen once is not seen now");
        assert!(run(&conn, None, 3 * DAY, &[1, 2, 3, 4]).1.is_empty());
    }

    #[test]
    fn only_as_much_of_the_list_as_was_read_is_judged() {
        let conn = accepted(4);
        run(&conn, None, DAY, &[1, 2]);
        run(&conn, None, 2 * DAY, &[1, 2, 3]);
        let (begun, missing) = run(&conn, Some(DAY + 1), 3 * DAY, &[4]);
        assert_eq!(
            begun.cursor.as_deref(),
            Some(&*format!("after {DAY}")),
            "from the end of the first run on"
        );
        assert_eq!(missing, [1, 2, 3], "the second run saw them behind that place");
        let (begun, missing) = run(&conn, Some(2 * DAY + 1), 4 * DAY, &[]);
        assert_eq!(begun.cursor.as_deref(), Some(&*format!("after {}", 2 * DAY)));
        assert_eq!(missing, [4], "the others were seen before it");
    }

    #[test]
    fn a_sale_that_was_sent_after_the_run_began_is_not_missed() {
        let conn = accepted(2);
        let begun = begin(&conn, ReconciliationReason::Asked, None, 0).unwrap();
        attempts::start(&conn, 2, 0).unwrap();
        assert_eq!(missing(&conn, begun.run_id, 100).unwrap(), [1]);
    }

    #[test]
    fn a_run_without_an_end_says_nothing_and_is_no_beginning() {
        let conn = accepted(2);
        let cut = begin(&conn, ReconciliationReason::Daily, Some(DAY), 0).unwrap();
        let listed = Listed {
            external_transaction_id: "x",
            yupy_transaction_id: "y",
            amount: "1.00",
            currency: "PEN",
        };
        find(&conn, cut.run_id, FindingKind::UnknownHere, &listed, None).unwrap();
        assert_eq!(last(&conn, "PEN").unwrap(), None);
        assert_eq!((alarms(&conn).unwrap(), last_finished_at(&conn).unwrap()), (0, None));
        let next = begin(&conn, ReconciliationReason::Daily, Some(DAY), 1).unwrap();
        assert_eq!(next.cursor, None);
        finish(&conn, cut.run_id, None, 2).unwrap();
        assert_eq!(alarms(&conn).unwrap(), 1);
    }
}
