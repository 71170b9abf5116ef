//! Which sales another till made, and where. Their rows in `sales` belong to no ticket, shift or person of this till.
//!
//! Invariant: a sale is in this table exactly if it was not sold here.

use rusqlite::{Connection, OptionalExtension, Result, params};
use serde::{Deserialize, Serialize};

use crate::clock::Millis;
use crate::store::sales::SaleRow;
use crate::store::{people, unreadable};

/// Where a sale was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    pub device_id: String,
    /// e.g. `S44`.
    pub shift_id: String,
    /// The seller's name; the person may be unknown here.
    pub seller: String,
}

impl Origin {
    /// Of a sale that was made here, on the till of this name, or elsewhere.
    pub fn of(conn: &Connection, sale: &SaleRow, own_device_id: &str) -> Result<Self> {
        if let Some(elsewhere) = find(conn, sale.sequence)? {
            return Ok(elsewhere);
        }
        let missing = || unreadable("sales.seller", "nobody, for a sale that was made here");
        let (seller, shift) = sale.seller.as_deref().zip(sale.shift_number).ok_or_else(missing)?;
        Ok(Self {
            device_id: own_device_id.to_owned(),
            shift_id: format!("S{shift}"),
            seller: people::find(conn, seller)?.ok_or_else(missing)?.name,
        })
    }
}

pub fn insert(
    conn: &Connection,
    sequence: i64,
    origin: &Origin,
    imported_by: &str,
    at: Millis,
) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO imported_sales (sequence, device_id, shift_id, seller, imported_by, imported_at_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![sequence, origin.device_id, origin.shift_id, origin.seller, imported_by, at])?;
    Ok(())
}

/// Where a sale was made, if not here.
pub fn find(conn: &Connection, sequence: i64) -> Result<Option<Origin>> {
    conn.prepare_cached("SELECT device_id, shift_id, seller FROM imported_sales WHERE sequence = ?1")?
        .query_row([sequence], |row| {
            Ok(Origin { device_id: row.get(0)?, shift_id: row.get(1)?, seller: row.get(2)? })
        })
        .optional()
}
