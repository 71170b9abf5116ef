//! Checkouts and the sales in them. Invariant (triggers): what was recorded is never changed nor deleted.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};
use serde::{Deserialize, Serialize};

use crate::clock::Millis;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckoutRow {
    pub draft_id: String,
    pub charge_digest: Vec<u8>,
    pub shift_number: u32,
    pub seller: String,
    pub recorded_at: Millis,
    pub payment_method: String,
    pub total_minor: i64,
    pub rounding_minor: i64,
    pub received_minor: i64,
}

/// What of a checkout is read back.
#[derive(Clone, Debug)]
pub struct RecordedCheckout {
    pub charge_digest: Vec<u8>,
    pub recorded_at: Millis,
    pub total_minor: i64,
    pub rounding_minor: i64,
    pub received_minor: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaleRow {
    pub sequence: i64,
    pub external_transaction_id: String,
    /// Ticket, shift and seller are there exactly if the sale was made on this till.
    pub draft_id: Option<String>,
    pub shift_number: Option<u32>,
    pub seller: Option<String>,
    pub occurred_at: Millis,
    pub amount_minor: i64,
    pub currency: String,
    pub quantity: u32,
    pub description: String,
    pub offer_id: String,
    pub route: Option<String>,
    pub seat: Option<String>,
    pub product: Option<String>,
    pub service: Option<String>,
    pub buyer_name: Option<String>,
}

pub fn insert_checkout(conn: &Connection, checkout: &CheckoutRow) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO checkouts (draft_id, charge_digest, shift_number, seller, recorded_at_ms, payment_method,
                                total_minor, rounding_minor, received_minor)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(params![
        checkout.draft_id,
        checkout.charge_digest,
        checkout.shift_number,
        checkout.seller,
        checkout.recorded_at,
        checkout.payment_method,
        checkout.total_minor,
        checkout.rounding_minor,
        checkout.received_minor,
    ])?;
    Ok(())
}

pub fn find_checkout(conn: &Connection, draft_id: &str) -> Result<Option<RecordedCheckout>> {
    conn.prepare_cached(
        "SELECT charge_digest, recorded_at_ms, total_minor, rounding_minor, received_minor
         FROM checkouts WHERE draft_id = ?1",
    )?
    .query_row([draft_id], |row| {
        Ok(RecordedCheckout {
            charge_digest: row.get(0)?,
            recorded_at: row.get(1)?,
            total_minor: row.get(2)?,
            rounding_minor: row.get(3)?,
            received_minor: row.get(4)?,
        })
    })
    .optional()
}

/// A checkout as it was recorded.
pub fn checkout(conn: &Connection, draft_id: &str) -> Result<CheckoutRow> {
    conn.prepare_cached(
        "SELECT draft_id, charge_digest, shift_number, seller, recorded_at_ms, payment_method, total_minor,
                rounding_minor, received_minor
         FROM checkouts WHERE draft_id = ?1",
    )?
    .query_one([draft_id], |row| {
        Ok(CheckoutRow {
            draft_id: row.get(0)?,
            charge_digest: row.get(1)?,
            shift_number: row.get(2)?,
            seller: row.get(3)?,
            recorded_at: row.get(4)?,
            payment_method: row.get(5)?,
            total_minor: row.get(6)?,
            rounding_minor: row.get(7)?,
            received_minor: row.get(8)?,
        })
    })
}

/// Checkouts with sales behind this sequence, the oldest first.
pub fn drafts_since(conn: &Connection, sequence: i64, limit: u32) -> Result<Vec<String>> {
    conn.prepare_cached(
        "SELECT draft_id FROM sales WHERE sequence > ?1 AND draft_id IS NOT NULL
         GROUP BY draft_id ORDER BY min(sequence) LIMIT ?2",
    )?
    .query_map(params![sequence, limit], |row| row.get(0))?
    .collect()
}

pub fn of_checkout(conn: &Connection, draft_id: &str) -> Result<Vec<SaleRow>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM sales WHERE draft_id = ?1 ORDER BY sequence"))?
        .query_map([draft_id], read)?
        .collect()
}

pub fn insert(conn: &Connection, sale: &SaleRow) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO sales (sequence, external_transaction_id, draft_id, shift_number, seller, occurred_at_ms,
                            amount_minor, currency, quantity, description, offer_id, route, seat, product,
                            service, buyer_name)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
    )?
    .execute(params![
        sale.sequence,
        sale.external_transaction_id,
        sale.draft_id,
        sale.shift_number,
        sale.seller,
        sale.occurred_at,
        sale.amount_minor,
        sale.currency,
        sale.quantity,
        sale.description,
        sale.offer_id,
        sale.route,
        sale.seat,
        sale.product,
        sale.service,
        sale.buyer_name,
    ])?;
    Ok(())
}

const COLUMNS: &str = "sequence, external_transaction_id, draft_id, shift_number, seller, occurred_at_ms,
    amount_minor, currency, quantity, description, offer_id, route, seat, product, service, buyer_name";

fn read(row: &Row<'_>) -> Result<SaleRow> {
    Ok(SaleRow {
        sequence: row.get(0)?,
        external_transaction_id: row.get(1)?,
        draft_id: row.get(2)?,
        shift_number: row.get(3)?,
        seller: row.get(4)?,
        occurred_at: row.get(5)?,
        amount_minor: row.get(6)?,
        currency: row.get(7)?,
        quantity: row.get(8)?,
        description: row.get(9)?,
        offer_id: row.get(10)?,
        route: row.get(11)?,
        seat: row.get(12)?,
        product: row.get(13)?,
        service: row.get(14)?,
        buyer_name: row.get(15)?,
    })
}

pub fn by_sequence(conn: &Connection, sequence: i64) -> Result<Option<SaleRow>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM sales WHERE sequence = ?1"))?
        .query_row([sequence], read)
        .optional()
}

pub fn by_external_id(conn: &Connection, external_transaction_id: &str) -> Result<Option<SaleRow>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM sales WHERE external_transaction_id = ?1"))?
        .query_row([external_transaction_id], read)
        .optional()
}

/// Most sales of one price that are compared before recording; on a full bus every fare costs the same.
const COMPARED_LIMIT: u32 = 500;

/// Counted sales of one price around a time, newest first: what a new sale could look like.
pub fn around(
    conn: &Connection,
    currency: &str,
    amount_minor: i64,
    from: Millis,
    to: Millis,
) -> Result<Vec<SaleRow>> {
    let columns = COLUMNS.replacen("sequence", "sales.sequence", 1);
    conn.prepare_cached(&format!(
        "SELECT {columns} FROM sales JOIN outbox ON outbox.sequence = sales.sequence
         WHERE currency = ?1 AND amount_minor = ?2 AND occurred_at_ms BETWEEN ?3 AND ?4 AND state <> 'discarded'
           AND NOT EXISTS (SELECT 1 FROM voids WHERE voids.sequence = sales.sequence)
         ORDER BY occurred_at_ms DESC LIMIT {COMPARED_LIMIT}"
    ))?
    .query_map(params![currency, amount_minor, from, to], read)?
    .collect()
}

/// Counted sales of seats on one service, newest first.
pub fn seats_of(conn: &Connection, service: &str) -> Result<Vec<SaleRow>> {
    let columns = COLUMNS.replacen("sequence", "sales.sequence", 1);
    conn.prepare_cached(&format!(
        "SELECT {columns} FROM sales JOIN outbox ON outbox.sequence = sales.sequence
         WHERE service = ?1 AND seat IS NOT NULL AND state <> 'discarded'
           AND NOT EXISTS (SELECT 1 FROM voids WHERE voids.sequence = sales.sequence)
         ORDER BY sales.sequence DESC"
    ))?
    .query_map([service], read)?
    .collect()
}
