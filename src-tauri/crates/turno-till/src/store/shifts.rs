//! Shifts. Invariant (a unique index): at most one is open.

use rusqlite::{Connection, OptionalExtension, Result, params};
use serde::{Deserialize, Serialize};

use crate::clock::Millis;

#[derive(Clone, Debug)]
pub struct ShiftRow {
    pub shift_number: u32,
    pub opened_by: String,
    pub opened_at: Millis,
    pub float_minor: i64,
    pub sales_count: u32,
    pub sold_minor: i64,
}

/// A shift as it was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenedShift {
    pub shift_number: u32,
    pub opened_by: String,
    pub opened_at: Millis,
    pub float_minor: i64,
}

pub fn opened(conn: &Connection, shift_number: u32) -> Result<OpenedShift> {
    conn.prepare_cached(
        "SELECT shift_number, opened_by, opened_at_ms, float_minor FROM shifts WHERE shift_number = ?1",
    )?
    .query_one([shift_number], |row| {
        Ok(OpenedShift {
            shift_number: row.get(0)?,
            opened_by: row.get(1)?,
            opened_at: row.get(2)?,
            float_minor: row.get(3)?,
        })
    })
}

/// Makes sure of a shift that was opened after the database was copied. Where a later one was opened, the one before
/// had been closed.
pub fn put_back(conn: &Connection, shift: &OpenedShift) -> Result<()> {
    let is_known = conn
        .prepare_cached("SELECT 1 FROM shifts WHERE shift_number = ?1")?
        .query_row([shift.shift_number], |_| Ok(()))
        .optional()?
        .is_some();
    if is_known {
        return Ok(());
    }
    conn.execute(
        "UPDATE shifts SET closed_at_ms = ?2 WHERE closed_at_ms IS NULL AND shift_number < ?1",
        params![shift.shift_number, shift.opened_at],
    )?;
    // One that is older than the open shift is closed: there is one open shift.
    conn.execute(
        "INSERT INTO shifts (shift_number, opened_by, opened_at_ms, float_minor, closed_at_ms)
         SELECT ?1, ?2, ?3, ?4, (SELECT opened_at_ms FROM shifts WHERE closed_at_ms IS NULL)",
        params![shift.shift_number, shift.opened_by, shift.opened_at, shift.float_minor],
    )?;
    Ok(())
}

pub fn open(
    conn: &Connection,
    shift_number: u32,
    opened_by: &str,
    at: Millis,
    float_minor: i64,
) -> Result<()> {
    conn.execute(
        "INSERT INTO shifts (shift_number, opened_by, opened_at_ms, float_minor) VALUES (?1, ?2, ?3, ?4)",
        params![shift_number, opened_by, at, float_minor],
    )?;
    Ok(())
}

/// Asked after every change, so it must look at the shift's own sales and at no others.
const CURRENT: &str =
    "SELECT shifts.shift_number, opened_by, opened_at_ms, float_minor, count(sales.sequence),
        coalesce(sum(amount_minor), 0)
    FROM shifts LEFT JOIN sales ON sales.shift_number = shifts.shift_number
         AND (SELECT state FROM outbox WHERE outbox.sequence = sales.sequence) <> 'discarded'
         AND NOT EXISTS (SELECT 1 FROM voids WHERE voids.sequence = sales.sequence)
    WHERE closed_at_ms IS NULL GROUP BY shifts.shift_number";

/// The open shift with what was sold in it; a sale that turned out to be the same as another is not sold.
pub fn current(conn: &Connection) -> Result<Option<ShiftRow>> {
    conn.query_row(CURRENT, [], |row| {
        Ok(ShiftRow {
            shift_number: row.get(0)?,
            opened_by: row.get(1)?,
            opened_at: row.get(2)?,
            float_minor: row.get(3)?,
            sales_count: row.get(4)?,
            sold_minor: row.get(5)?,
        })
    })
    .optional()
}

pub fn current_number(conn: &Connection) -> Result<Option<u32>> {
    conn.query_row("SELECT shift_number FROM shifts WHERE closed_at_ms IS NULL", [], |row| row.get(0))
        .optional()
}

/// Ends the open shift.
pub fn close(conn: &Connection, shift_number: u32, at: Millis) -> Result<()> {
    conn.execute(
        "UPDATE shifts SET closed_at_ms = ?2 WHERE shift_number = ?1 AND closed_at_ms IS NULL",
        params![shift_number, at],
    )?;
    Ok(())
}

/// A shift, with the time of its end.
pub fn find(conn: &Connection, shift_number: u32) -> Result<Option<(OpenedShift, Option<Millis>)>> {
    conn.prepare_cached("SELECT closed_at_ms FROM shifts WHERE shift_number = ?1")?
        .query_row([shift_number], |row| row.get(0))
        .optional()?
        .map(|closed_at| Ok((opened(conn, shift_number)?, closed_at)))
        .transpose()
}

/// Closed shifts before this number, the newest first.
pub fn closed_before(conn: &Connection, before: u32, limit: u32) -> Result<Vec<(OpenedShift, Millis)>> {
    conn.prepare_cached(
        "SELECT shift_number, closed_at_ms FROM shifts WHERE closed_at_ms IS NOT NULL AND shift_number < ?1
         ORDER BY shift_number DESC LIMIT ?2",
    )?
    .query_map(params![before, limit], |row| Ok((row.get::<_, u32>(0)?, row.get(1)?)))?
    .collect::<Result<Vec<_>>>()?
    .into_iter()
    .map(|(number, closed_at)| Ok((opened(conn, number)?, closed_at)))
    .collect()
}

/// How many of a shift's sales are not settled.
pub fn unsettled(conn: &Connection, shift_number: u32) -> Result<u32> {
    conn.prepare_cached(
        "SELECT count(*) FROM sales JOIN outbox USING (sequence)
         WHERE shift_number = ?1 AND state NOT IN ('accepted', 'discarded', 'withdrawn')",
    )?
    .query_row([shift_number], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbox::State;
    use crate::store::fixture::shop;

    #[test]
    fn a_shift_counts_its_own_sales_but_those_that_were_discarded() {
        let discarded = State::Discarded { duplicate_of: "ypt-1".to_owned() };
        let conn = shop(&[State::InReview { attempts: 1 }, discarded, State::InReview { attempts: 1 }]);
        let counted = |conn: &Connection| current(conn).unwrap().map(|row| (row.sales_count, row.sold_minor));
        assert_eq!(counted(&conn), Some((2, 400)));
        conn.execute_batch("UPDATE shifts SET closed_at_ms = 1").unwrap();
        assert_eq!(counted(&conn), None);
        open(&conn, 2, "c", 2, 0).unwrap();
        assert_eq!(counted(&conn), Some((0, 0)), "an earlier shift's sales stay in it");
    }

    #[test]
    fn the_figures_of_a_shift_cost_nothing_more_after_years_of_shifts() {
        let conn = shop(&[]);
        let plan: Vec<String> = conn
            .prepare(&format!("EXPLAIN QUERY PLAN {CURRENT}"))
            .unwrap()
            .query_map([], |row| row.get("detail"))
            .unwrap()
            .collect::<Result<_>>()
            .unwrap();
        for table in ["sales", "outbox"] {
            let reads: Vec<_> = plan.iter().filter(|step| step.contains(&format!(" {table} "))).collect();
            assert!(!reads.is_empty() && reads.iter().all(|step| step.starts_with("SEARCH")), "{plan:?}");
        }
    }
}
