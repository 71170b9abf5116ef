//! How tickets were paid that were not all cash. Invariant (triggers): never changed nor deleted; a ticket without rows
//! was paid in its checkout's one method.

use rusqlite::{Connection, OptionalExtension, Result, params};
use serde::{Deserialize, Serialize};

use crate::store::sales::{self, SaleRow};
use crate::store::words;
use crate::view::{TenderMethod, WalletProvider};

words!(TenderMethod {
    TenderMethod::Cash => "cash" = TenderMethod::Cash,
    TenderMethod::Wallet => "wallet" = TenderMethod::Wallet,
    TenderMethod::Card => "card" = TenderMethod::Card,
});
words!(WalletProvider {
    WalletProvider::Yape => "yape" = WalletProvider::Yape,
    WalletProvider::Plin => "plin" = WalletProvider::Plin,
    WalletProvider::Other => "other" = WalletProvider::Other,
});

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenderRow {
    pub position: u8,
    pub method: TenderMethod,
    pub provider: Option<WalletProvider>,
    pub operation_number: Option<String>,
    /// Of the ticket's price; of cash, before rounding.
    pub amount_minor: i64,
}

pub fn insert(conn: &Connection, draft_id: &str, tender: &TenderRow) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO checkout_tenders (draft_id, position, method, provider, operation_number, amount_minor)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![
        draft_id,
        tender.position,
        tender.method.as_word(),
        tender.provider.map(WalletProvider::as_word),
        tender.operation_number,
        tender.amount_minor,
    ])?;
    Ok(())
}

/// What a sale has of a tender of its ticket; nothing is not written.
pub fn insert_part(conn: &Connection, sequence: i64, position: u8, amount_minor: i64) -> Result<()> {
    if amount_minor > 0 {
        conn.prepare_cached(
            "INSERT INTO sale_tenders (sequence, position, amount_minor) VALUES (?1, ?2, ?3)",
        )?
        .execute(params![sequence, position, amount_minor])?;
    }
    Ok(())
}

/// The rows of a ticket; none when it was paid in one method without particulars, which cash is.
pub fn rows(conn: &Connection, draft_id: &str) -> Result<Vec<TenderRow>> {
    conn.prepare_cached(
        "SELECT position, method, provider, operation_number, amount_minor FROM checkout_tenders
         WHERE draft_id = ?1 ORDER BY position",
    )?
    .query_map([draft_id], |row| {
        let (method, provider): (String, Option<String>) = (row.get(1)?, row.get(2)?);
        Ok(TenderRow {
            position: row.get(0)?,
            method: TenderMethod::from_word(&method)?,
            provider: provider.as_deref().map(WalletProvider::from_word).transpose()?,
            operation_number: row.get(3)?,
            amount_minor: row.get(4)?,
        })
    })?
    .collect()
}

/// How a ticket was paid, whether it has rows or not.
pub fn of_checkout(conn: &Connection, draft_id: &str) -> Result<Vec<TenderRow>> {
    let rows = rows(conn, draft_id)?;
    if !rows.is_empty() {
        return Ok(rows);
    }
    let ticket = sales::checkout(conn, draft_id)?;
    Ok(vec![TenderRow {
        position: 0,
        method: TenderMethod::from_word(&ticket.payment_method)?,
        provider: None,
        operation_number: None,
        amount_minor: ticket.total_minor,
    }])
}

/// What a sale of this till has of each tender of its ticket. The parts add up to its price.
pub fn of_sale(conn: &Connection, draft_id: &str, sale: &SaleRow) -> Result<Vec<TenderRow>> {
    let tenders = of_checkout(conn, draft_id)?;
    let mut parts =
        conn.prepare_cached("SELECT position, amount_minor FROM sale_tenders WHERE sequence = ?1")?;
    let parts: Vec<(u8, i64)> =
        parts.query_map([sale.sequence], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_>>()?;
    if parts.is_empty() {
        let whole = |tender| TenderRow { amount_minor: sale.amount_minor, ..tender };
        return Ok(tenders.into_iter().take(1).map(whole).collect());
    }
    let part = |tender: TenderRow| {
        let (_, amount_minor) = *parts.iter().find(|(position, _)| *position == tender.position)?;
        Some(TenderRow { amount_minor, ..tender })
    };
    Ok(tenders.into_iter().filter_map(part).collect())
}

/// A sale of the ticket that was paid with this operation, if there is one.
pub fn sale_paid_with(conn: &Connection, operation_number: &str) -> Result<Option<String>> {
    conn.prepare_cached(
        "SELECT external_transaction_id FROM checkout_tenders JOIN sales USING (draft_id)
         WHERE operation_number = ?1 ORDER BY sequence LIMIT 1",
    )?
    .query_row([operation_number], |row| row.get(0))
    .optional()
}
