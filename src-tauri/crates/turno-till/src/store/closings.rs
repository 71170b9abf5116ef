//! Closed shifts as they were. Invariant (a unique column, triggers): one closing a shift, never changed nor deleted.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};

use crate::clock::Millis;
use crate::store::figures::Tally;
use crate::store::words;

/// What a stored sum is by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TallyKind {
    State,
    Tender,
    Hour,
    Route,
}

words!(TallyKind {
    TallyKind::State => "state" = TallyKind::State,
    TallyKind::Tender => "tender" = TallyKind::Tender,
    TallyKind::Hour => "hour" = TallyKind::Hour,
    TallyKind::Route => "route" = TallyKind::Route,
});

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosingRow {
    pub z_number: i64,
    pub shift_number: u32,
    pub closed_by: String,
    pub closed_at: Millis,
    pub approved_by: Option<String>,
    pub reason: Option<String>,
    pub last_sequence: i64,
    pub float_minor: i64,
    pub cash_sales_minor: i64,
    pub rounding_minor: i64,
    pub pay_ins_minor: i64,
    pub pay_outs_minor: i64,
    pub refunds_minor: i64,
    pub returned: Tally,
    pub discounts: Tally,
    pub expected_minor: i64,
    pub counted_minor: i64,
    /// The letters of the till's numbers then; none in a closing of before they were kept.
    pub epoch: Option<String>,
}

impl ClosingRow {
    /// What people call the report: no other one of this till has it, also when the till was put back to a state that had
    /// not closed as often.
    #[must_use]
    pub fn z_id(&self) -> String {
        match &self.epoch {
            Some(epoch) => format!("{epoch}-{}", self.z_number),
            None => self.z_number.to_string(),
        }
    }
}

const COLUMNS: &str = "z_number, shift_number, closed_by, closed_at_ms, approved_by, reason, last_sequence,
    float_minor, cash_sales_minor, rounding_minor, pay_ins_minor, pay_outs_minor, refunds_minor, returned_count,
    returned_minor, expected_minor, counted_minor, discounts_count, discounts_minor, epoch";

fn read(row: &Row<'_>) -> Result<ClosingRow> {
    Ok(ClosingRow {
        z_number: row.get(0)?,
        shift_number: row.get(1)?,
        closed_by: row.get(2)?,
        closed_at: row.get(3)?,
        approved_by: row.get(4)?,
        reason: row.get(5)?,
        last_sequence: row.get(6)?,
        float_minor: row.get(7)?,
        cash_sales_minor: row.get(8)?,
        rounding_minor: row.get(9)?,
        pay_ins_minor: row.get(10)?,
        pay_outs_minor: row.get(11)?,
        refunds_minor: row.get(12)?,
        returned: Tally { count: row.get(13)?, minor: row.get(14)? },
        expected_minor: row.get(15)?,
        counted_minor: row.get(16)?,
        discounts: Tally { count: row.get(17)?, minor: row.get(18)? },
        epoch: row.get(19)?,
    })
}

pub fn next_number(conn: &Connection) -> Result<i64> {
    conn.query_row("SELECT coalesce(max(z_number), 0) + 1 FROM closings", [], |row| row.get(0))
}

pub fn insert(conn: &Connection, row: &ClosingRow) -> Result<()> {
    conn.execute(
        "INSERT INTO closings (z_number, shift_number, closed_by, closed_at_ms, approved_by, reason, last_sequence,
                               float_minor, cash_sales_minor, rounding_minor, pay_ins_minor, pay_outs_minor,
                               refunds_minor, returned_count, returned_minor, expected_minor, counted_minor,
                               discounts_count, discounts_minor, epoch)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
        params![
            row.z_number,
            row.shift_number,
            row.closed_by,
            row.closed_at,
            row.approved_by,
            row.reason,
            row.last_sequence,
            row.float_minor,
            row.cash_sales_minor,
            row.rounding_minor,
            row.pay_ins_minor,
            row.pay_outs_minor,
            row.refunds_minor,
            row.returned.count,
            row.returned.minor,
            row.expected_minor,
            row.counted_minor,
            row.discounts.count,
            row.discounts.minor,
            row.epoch,
        ],
    )?;
    Ok(())
}

pub fn insert_count(conn: &Connection, z_number: i64, denomination_minor: i64, pieces: u32) -> Result<()> {
    conn.execute(
        "INSERT INTO closing_counts (z_number, denomination_minor, pieces) VALUES (?1, ?2, ?3)",
        params![z_number, denomination_minor, pieces],
    )?;
    Ok(())
}

pub fn insert_tallies(
    conn: &Connection,
    z_number: i64,
    kind: TallyKind,
    tallies: &[(String, Tally)],
) -> Result<()> {
    for (position, (label, tally)) in (0_u32..).zip(tallies) {
        conn.prepare_cached(
            "INSERT INTO closing_tallies (z_number, kind, position, label, sales_count, amount_minor)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![z_number, kind.as_word(), position, label, tally.count, tally.minor])?;
    }
    Ok(())
}

/// Keeps which of the shift's sales are not settled, and where they are.
pub fn insert_unsettled(conn: &Connection, z_number: i64, shift_number: u32) -> Result<()> {
    conn.execute(
        "INSERT INTO closing_unsettled (z_number, sequence, state)
         SELECT ?1, sequence, state FROM sales JOIN outbox USING (sequence)
         WHERE shift_number = ?2 AND state NOT IN ('accepted', 'discarded', 'withdrawn')",
        params![z_number, shift_number],
    )?;
    Ok(())
}

pub fn of_shift(conn: &Connection, shift_number: u32) -> Result<Option<ClosingRow>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM closings WHERE shift_number = ?1"))?
        .query_row([shift_number], read)
        .optional()
}

/// The newest closing, by its number: clocks are not asked.
pub fn last(conn: &Connection) -> Result<Option<ClosingRow>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM closings ORDER BY z_number DESC LIMIT 1"))?
        .query_row([], read)
        .optional()
}

/// Denomination and pieces, the biggest first.
pub fn counts(conn: &Connection, z_number: i64) -> Result<Vec<(i64, u32)>> {
    conn.prepare_cached(
        "SELECT denomination_minor, pieces FROM closing_counts WHERE z_number = ?1 ORDER BY 1 DESC",
    )?
    .query_map([z_number], |row| Ok((row.get(0)?, row.get(1)?)))?
    .collect()
}

pub fn tallies(conn: &Connection, z_number: i64, kind: TallyKind) -> Result<Vec<(String, Tally)>> {
    conn.prepare_cached(
        "SELECT label, sales_count, amount_minor FROM closing_tallies WHERE z_number = ?1 AND kind = ?2
         ORDER BY position",
    )?
    .query_map(params![z_number, kind.as_word()], |row| {
        Ok((row.get(0)?, Tally { count: row.get(1)?, minor: row.get(2)? }))
    })?
    .collect()
}

/// A sale that is elsewhere now than the report says: settled or unsettled since, or put into the shift later.
pub struct Moved {
    pub sequence: i64,
    pub was: Option<String>,
    pub changed_at: Millis,
}

const MOVED: &str = "sales JOIN outbox USING (sequence)
         LEFT JOIN closing_unsettled AS open ON open.z_number = ?1 AND open.sequence = sales.sequence
     WHERE shift_number = ?2 AND (sales.sequence > ?3
           OR (open.sequence IS NOT NULL) = (outbox.state IN ('accepted', 'discarded', 'withdrawn')))";

pub fn moved(conn: &Connection, closing: &ClosingRow, limit: usize) -> Result<Vec<Moved>> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    conn.prepare_cached(&format!(
        "SELECT sales.sequence, open.state, changed_at_ms FROM {MOVED} ORDER BY sales.sequence LIMIT ?4"
    ))?
    .query_map(params![closing.z_number, closing.shift_number, closing.last_sequence, limit], |row| {
        Ok(Moved { sequence: row.get(0)?, was: row.get(1)?, changed_at: row.get(2)? })
    })?
    .collect()
}

pub fn moved_count(conn: &Connection, closing: &ClosingRow) -> Result<u32> {
    conn.prepare_cached(&format!("SELECT count(*) FROM {MOVED}"))?
        .query_row(params![closing.z_number, closing.shift_number, closing.last_sequence], |row| row.get(0))
}

/// Sequence and state of what was not settled then, oldest first.
pub fn unsettled(conn: &Connection, z_number: i64, limit: usize) -> Result<Vec<(i64, String)>> {
    conn.prepare_cached(
        "SELECT sequence, state FROM closing_unsettled WHERE z_number = ?1 ORDER BY sequence LIMIT ?2",
    )?
    .query_map(params![z_number, i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?
    .collect()
}
