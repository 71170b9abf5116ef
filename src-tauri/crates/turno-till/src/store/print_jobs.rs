//! What was to be printed. Invariant: a job is taken by one update that says from which state, so that none is printed
//! twice; and none is ever deleted.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};

use crate::clock::{Millis, rfc3339};
use crate::store::words;
use crate::view::{PrintFailure, PrintJob, PrintKind, PrintState};

words!(PrintKind {
    PrintKind::Ticket => "ticket" = PrintKind::Ticket,
    PrintKind::Copy => "copy" = PrintKind::Copy,
    PrintKind::Test => "test" = PrintKind::Test,
    PrintKind::Drawer => "drawer" = PrintKind::Drawer,
    PrintKind::Report => "report" = PrintKind::Report,
});

words!(PrintState {
    PrintState::Queued => "queued" = PrintState::Queued,
    PrintState::Printing => "printing" = PrintState::Printing,
    PrintState::Printed => "printed" = PrintState::Printed,
    PrintState::Failed => "failed" = PrintState::Failed,
    PrintState::Unknown => "unknown" = PrintState::Unknown,
    PrintState::Replaced => "replaced" = PrintState::Replaced,
    PrintState::Dismissed => "dismissed" = PrintState::Dismissed,
});

words!(PrintFailure {
    PrintFailure::NoPrinter => "no_printer" = PrintFailure::NoPrinter,
    PrintFailure::NoPaper => "no_paper" = PrintFailure::NoPaper,
    PrintFailure::NoAnswer => "no_answer" = PrintFailure::NoAnswer,
    PrintFailure::WrongName => "wrong_name" = PrintFailure::WrongName,
    PrintFailure::Interrupted => "interrupted" = PrintFailure::Interrupted,
    PrintFailure::NotMade => "not_made" = PrintFailure::NotMade,
});

/// A job that is asked for.
#[derive(Clone, Debug)]
pub struct NewJob {
    pub kind: PrintKind,
    pub sequence: Option<i64>,
    pub copy_number: u32,
    pub departs_at: Option<Millis>,
    pub document: Option<String>,
    pub opens_drawer: bool,
    pub person_id: String,
}

/// A job as the printer's side needs it.
#[derive(Clone, Debug)]
pub struct JobRow {
    pub job_id: i64,
    pub kind: PrintKind,
    pub sequence: Option<i64>,
    pub copy_number: u32,
    pub departs_at: Option<Millis>,
    pub document: Option<String>,
    pub opens_drawer: bool,
    pub state: PrintState,
}

pub fn insert(conn: &Connection, job: &NewJob, now: Millis) -> Result<i64> {
    conn.prepare_cached(
        "INSERT INTO print_jobs (kind, sequence, copy_number, departs_at_ms, document, opens_drawer, person_id,
                                 state, created_at_ms, changed_at_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'queued', ?8, ?8)",
    )?
    .insert(params![
        job.kind.as_word(),
        job.sequence,
        job.copy_number,
        job.departs_at,
        job.document,
        job.opens_drawer,
        job.person_id,
        now,
    ])
}

const ROW: &str = "job_id, kind, sequence, copy_number, departs_at_ms, document, opens_drawer, state";

fn read_row(row: &Row<'_>) -> Result<JobRow> {
    Ok(JobRow {
        job_id: row.get(0)?,
        kind: PrintKind::from_word(&row.get::<_, String>(1)?)?,
        sequence: row.get(2)?,
        copy_number: row.get(3)?,
        departs_at: row.get(4)?,
        document: row.get(5)?,
        opens_drawer: row.get(6)?,
        state: PrintState::from_word(&row.get::<_, String>(7)?)?,
    })
}

/// A ticket that a card is to pay comes out when the card was charged.
const AWAITS_CARD: &str = "(kind = 'ticket' AND EXISTS (
    SELECT 1 FROM sales JOIN checkouts USING (draft_id)
    WHERE sales.sequence = print_jobs.sequence AND payment_method = 'card'
      AND NOT EXISTS (SELECT 1 FROM payments
                      WHERE payments.sequence = sales.sequence AND acquirer_payment_id IS NOT NULL)))";

/// The oldest job that waits and may be printed.
pub fn next(conn: &Connection) -> Result<Option<JobRow>> {
    conn.prepare_cached(&format!(
        "SELECT {ROW} FROM print_jobs WHERE state = 'queued' AND NOT {AWAITS_CARD} ORDER BY job_id LIMIT 1"
    ))?
    .query_row([], read_row)
    .optional()
}

pub fn find(conn: &Connection, job_id: i64) -> Result<Option<JobRow>> {
    conn.prepare_cached(&format!("SELECT {ROW} FROM print_jobs WHERE job_id = ?1"))?
        .query_row([job_id], read_row)
        .optional()
}

/// Jobs of a sale, the oldest first.
pub fn rows_of(conn: &Connection, sequence: i64) -> Result<Vec<JobRow>> {
    conn.prepare_cached(&format!("SELECT {ROW} FROM print_jobs WHERE sequence = ?1 ORDER BY job_id"))?
        .query_map([sequence], read_row)?
        .collect()
}

/// When tickets of a sale came out, the oldest first.
pub fn printed_at(conn: &Connection, sequence: i64, limit: u32) -> Result<Vec<Millis>> {
    conn.prepare_cached(
        "SELECT changed_at_ms FROM print_jobs WHERE sequence = ?1 AND state = 'printed' ORDER BY job_id LIMIT ?2",
    )?
    .query_map(params![sequence, limit], |row| row.get(0))?
    .collect()
}

/// Moves a job on, if it is where it is thought to be. What failed or ended in the middle keeps its cause.
pub fn pass(
    conn: &Connection,
    job_id: i64,
    from: PrintState,
    to: PrintState,
    cause: Option<(PrintFailure, &str)>,
    now: Millis,
) -> Result<bool> {
    let keeps_cause = matches!(to, PrintState::Replaced | PrintState::Dismissed);
    let changed = conn
        .prepare_cached(
            "UPDATE print_jobs SET state = ?3, changed_at_ms = ?6,
                failure = CASE WHEN ?7 THEN failure ELSE ?4 END, detail = CASE WHEN ?7 THEN detail ELSE ?5 END
             WHERE job_id = ?1 AND state = ?2",
        )?
        .execute(params![
            job_id,
            from.as_word(),
            to.as_word(),
            cause.map(|(failure, _)| failure.as_word()),
            cause.map(|(_, detail)| detail),
            now,
            keeps_cause,
        ])?;
    Ok(changed == 1)
}

/// Puts failed jobs into the queue again; `None`: all of them. The drawer stays shut: it was wanted at the sale.
pub fn queue_again(conn: &Connection, job_id: Option<i64>, now: Millis) -> Result<usize> {
    conn.execute(
        "UPDATE print_jobs SET state = 'queued', failure = NULL, detail = NULL, opens_drawer = 0, changed_at_ms = ?2
         WHERE state = 'failed' AND (?1 IS NULL OR job_id = ?1)",
        params![job_id, now],
    )
}

/// What was not printed yet of a sale that was taken back stays unprinted.
pub fn dismiss_queued_of(conn: &Connection, sequence: i64, now: Millis) -> Result<()> {
    conn.execute(
        "UPDATE print_jobs SET state = 'dismissed', changed_at_ms = ?2
         WHERE sequence = ?1 AND state = 'queued' AND kind = 'ticket'",
        [sequence, now],
    )?;
    Ok(())
}

/// Nobody knows what of these is on the paper: those that were being printed, and, where the folder is another state of
/// itself, those that waited as well. No drawer opens for a sale of before.
pub fn ask_about_open(conn: &Connection, with_queued: bool, now: Millis) -> Result<()> {
    conn.execute(
        "UPDATE print_jobs SET state = 'dismissed', changed_at_ms = ?1
         WHERE kind = 'drawer' AND state IN ('queued', 'printing')",
        [now],
    )?;
    conn.execute(
        "UPDATE print_jobs SET state = 'unknown', failure = 'interrupted', changed_at_ms = ?2
         WHERE state = 'printing' OR (?1 AND state = 'queued')",
        params![with_queued, now],
    )?;
    conn.execute("UPDATE print_jobs SET opens_drawer = 0 WHERE state = 'queued'", [])?;
    Ok(())
}

/// How many wait or are being printed, and how many failed.
pub fn counts(conn: &Connection) -> Result<(u32, u32)> {
    conn.prepare_cached(&format!(
        "SELECT count(*) FILTER (WHERE state IN ('queued', 'printing') AND NOT {AWAITS_CARD}),
                count(*) FILTER (WHERE state = 'failed')
         FROM print_jobs WHERE state NOT IN ('printed', 'replaced', 'dismissed')"
    ))?
    .query_one([], |row| Ok((row.get(0)?, row.get(1)?)))
}

const SHOWN: &str =
    "print_jobs.job_id, kind, copy_number, sales.external_transaction_id, sales.description, print_jobs.state,
    failure, detail, created_at_ms, changed_at_ms";

fn read_shown(row: &Row<'_>) -> Result<PrintJob> {
    let failure: Option<String> = row.get(6)?;
    Ok(PrintJob {
        job_id: row.get(0)?,
        kind: PrintKind::from_word(&row.get::<_, String>(1)?)?,
        copy_number: row.get(2)?,
        external_transaction_id: row.get(3)?,
        description: row.get(4)?,
        state: PrintState::from_word(&row.get::<_, String>(5)?)?,
        failure: failure.as_deref().map(PrintFailure::from_word).transpose()?,
        detail: row.get(7)?,
        created_at: rfc3339(row.get(8)?),
        changed_at: rfc3339(row.get(9)?),
    })
}

/// The oldest jobs in a state, as a screen shows them.
pub fn shown(conn: &Connection, state: PrintState, limit: u32) -> Result<Vec<PrintJob>> {
    conn.prepare_cached(&format!(
        "SELECT {SHOWN} FROM print_jobs LEFT JOIN sales ON sales.sequence = print_jobs.sequence
         WHERE print_jobs.state = ?1 AND print_jobs.state NOT IN ('printed', 'replaced', 'dismissed')
         ORDER BY print_jobs.job_id LIMIT ?2"
    ))?
    .query_map(params![state.as_word(), limit], read_shown)?
    .collect()
}

/// All that was printed or to be printed of a sale, the oldest first.
pub fn shown_of(conn: &Connection, sequence: i64) -> Result<Vec<PrintJob>> {
    conn.prepare_cached(&format!(
        "SELECT {SHOWN} FROM print_jobs JOIN sales ON sales.sequence = print_jobs.sequence
         WHERE print_jobs.sequence = ?1 ORDER BY print_jobs.job_id"
    ))?
    .query_map([sequence], read_shown)?
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbox::State;
    use crate::store::fixture::shop;

    fn job(kind: PrintKind, sequence: Option<i64>) -> NewJob {
        let (copy_number, opens_drawer) = (u32::from(kind == PrintKind::Copy), kind == PrintKind::Drawer);
        NewJob {
            kind,
            sequence,
            copy_number,
            departs_at: None,
            document: None,
            opens_drawer,
            person_id: "c".to_owned(),
        }
    }

    /// Two tickets and a pulse, all queued.
    fn queue() -> Connection {
        let conn = shop(&[State::InReview { attempts: 1 }, State::InReview { attempts: 1 }]);
        for (kind, sequence) in
            [(PrintKind::Ticket, Some(1)), (PrintKind::Ticket, Some(2)), (PrintKind::Drawer, None)]
        {
            insert(&conn, &job(kind, sequence), 1).unwrap();
        }
        conn
    }

    fn states(conn: &Connection) -> Vec<PrintState> {
        (1..=3).map(|job_id| find(conn, job_id).unwrap().unwrap().state).collect()
    }

    #[test]
    fn a_job_is_taken_once_and_in_order() {
        let conn = queue();
        let take = |job_id| pass(&conn, job_id, PrintState::Queued, PrintState::Printing, None, 2).unwrap();
        assert_eq!(next(&conn).unwrap().unwrap().job_id, 1);
        assert!(take(1) && !take(1));
        assert_eq!(states(&conn), [PrintState::Printing, PrintState::Queued, PrintState::Queued]);
        assert_eq!(next(&conn).unwrap().unwrap().job_id, 2);
    }

    #[test]
    fn what_was_being_printed_is_asked_about_and_what_waited_waits() {
        let conn = queue();
        pass(&conn, 1, PrintState::Queued, PrintState::Printing, None, 2).unwrap();
        ask_about_open(&conn, false, 3).unwrap();
        assert_eq!(states(&conn), [PrintState::Unknown, PrintState::Queued, PrintState::Dismissed]);
        let asked = &shown(&conn, PrintState::Unknown, 9).unwrap()[0];
        assert_eq!(asked.failure, Some(PrintFailure::Interrupted));
        assert_eq!(counts(&conn).unwrap(), (1, 0));
    }

    #[test]
    fn in_another_state_of_the_folder_what_waited_is_asked_about_too() {
        let conn = queue();
        pass(&conn, 1, PrintState::Queued, PrintState::Printed, None, 2).unwrap();
        ask_about_open(&conn, true, 3).unwrap();
        assert_eq!(states(&conn), [PrintState::Printed, PrintState::Unknown, PrintState::Dismissed]);
    }

    #[test]
    fn trying_one_again_leaves_the_other_alone_and_trying_all_takes_both() {
        let conn = queue();
        let cause = Some((PrintFailure::NoPaper, "x"));
        for job_id in [1, 2] {
            pass(&conn, job_id, PrintState::Queued, PrintState::Failed, cause, 2).unwrap();
        }
        assert_eq!(shown(&conn, PrintState::Failed, 9).unwrap()[1].failure, Some(PrintFailure::NoPaper));
        assert_eq!(queue_again(&conn, Some(2), 3).unwrap(), 1);
        assert_eq!(states(&conn)[..2], [PrintState::Failed, PrintState::Queued]);
        assert_eq!(queue_again(&conn, None, 4).unwrap(), 1);
        assert_eq!(shown_of(&conn, 1).unwrap()[0].failure, None, "the cause of before is gone");
    }

    #[test]
    fn a_job_is_never_deleted() {
        let refused = queue().execute("DELETE FROM print_jobs", []).unwrap_err().to_string();
        assert!(refused.contains("never deleted"), "{refused}");
    }
}
