//! Corrections of sales that YUPY had refused. Invariant (triggers): what was corrected, by whom and why stays.

use rusqlite::{Connection, Result, params};

use crate::clock::Millis;
use crate::store::unreadable;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorrectionRow {
    pub request_id: i64,
    pub corrected_by: String,
    pub reason: String,
    pub changed_fields: Vec<String>,
    pub corrected_at: Millis,
}

pub fn insert(conn: &Connection, sequence: i64, correction: &CorrectionRow) -> Result<()> {
    let changed = serde_json::to_string(&correction.changed_fields).expect("a list of texts is JSON");
    conn.execute(
        "INSERT INTO corrections (request_id, sequence, corrected_by, reason, changed_fields, corrected_at_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            correction.request_id,
            sequence,
            correction.corrected_by,
            correction.reason,
            changed,
            correction.corrected_at
        ],
    )?;
    Ok(())
}

/// The corrections of a sale, the first one first.
pub fn of_sale(conn: &Connection, sequence: i64) -> Result<Vec<CorrectionRow>> {
    conn.prepare_cached(
        "SELECT request_id, corrected_by, reason, changed_fields, corrected_at_ms FROM corrections
         WHERE sequence = ?1 ORDER BY request_id",
    )?
    .query_map([sequence], |row| {
        let changed: String = row.get(3)?;
        Ok(CorrectionRow {
            request_id: row.get(0)?,
            corrected_by: row.get(1)?,
            reason: row.get(2)?,
            changed_fields: serde_json::from_str(&changed)
                .map_err(|_| unreadable("corrections.changed_fields", &changed))?,
            corrected_at: row.get(4)?,
        })
    })?
    .collect()
}
