//! What was taken off sales. Invariant (triggers): never changed nor deleted.

use rusqlite::{Connection, OptionalExtension, Result, params};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscountRow {
    pub list_minor: i64,
    pub discount_minor: i64,
    pub reason: String,
    pub approved_by: Option<String>,
}

pub fn insert(conn: &Connection, sequence: i64, discount: &DiscountRow) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO sale_discounts (sequence, list_minor, discount_minor, reason, approved_by)
         VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![
        sequence,
        discount.list_minor,
        discount.discount_minor,
        discount.reason,
        discount.approved_by,
    ])?;
    Ok(())
}

pub fn of_sale(conn: &Connection, sequence: i64) -> Result<Option<DiscountRow>> {
    conn.prepare_cached(
        "SELECT list_minor, discount_minor, reason, approved_by FROM sale_discounts WHERE sequence = ?1",
    )?
    .query_row([sequence], |row| {
        Ok(DiscountRow {
            list_minor: row.get(0)?,
            discount_minor: row.get(1)?,
            reason: row.get(2)?,
            approved_by: row.get(3)?,
        })
    })
    .optional()
}
