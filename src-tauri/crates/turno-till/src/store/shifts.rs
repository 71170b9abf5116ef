//! Shifts. Invariant (a unique index): at most one is open.

use rusqlite::{Connection, OptionalExtension, Result, params};

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

/// The open shift with what was sold in it; a sale that turned out to be the same as another is not sold.
pub fn current(conn: &Connection) -> Result<Option<ShiftRow>> {
    conn.query_row(
        "SELECT shift_number, opened_by, opened_at_ms, float_minor, count(sequence), coalesce(sum(amount_minor), 0)
         FROM shifts LEFT JOIN
              (SELECT shift_number, sequence, amount_minor FROM sales JOIN outbox USING (sequence)
               WHERE state <> 'discarded') USING (shift_number)
         WHERE closed_at_ms IS NULL GROUP BY shift_number",
        [],
        |row| {
            Ok(ShiftRow {
                shift_number: row.get(0)?,
                opened_by: row.get(1)?,
                opened_at: row.get(2)?,
                float_minor: row.get(3)?,
                sales_count: row.get(4)?,
                sold_minor: row.get(5)?,
            })
        },
    )
    .optional()
}

pub fn current_number(conn: &Connection) -> Result<Option<u32>> {
    conn.query_row("SELECT shift_number FROM shifts WHERE closed_at_ms IS NULL", [], |row| row.get(0))
        .optional()
}
