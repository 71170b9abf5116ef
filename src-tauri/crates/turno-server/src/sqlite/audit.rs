//! Table `audit`: one hash chain a company.

use rusqlite::{Connection, OptionalExtension, params};
use turno_domain::ids::Company;
use turno_protocol::{
    audit::{AuditRow, canonical_entry},
    chain::{self, GENESIS, Hash},
};

use super::row;
use crate::{
    audit::AuditEntry,
    ledger::{Page, PageRequest, Position},
};

/// Hang `entry` on the chain's end.
pub(super) fn append(connection: &Connection, company: &Company, entry: &AuditEntry) -> rusqlite::Result<()> {
    let end: Option<(i64, Hash)> = connection
        .prepare_cached("SELECT number, hash FROM audit WHERE company = ?1 ORDER BY number DESC LIMIT 1")?
        .query_row([company.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (last, prev_hash) = end.unwrap_or((0, GENESIS));
    let number = last + 1;
    let canonical = canonical_entry(&entry.numbered(number));
    let hash = chain::row_hash(&prev_hash, &canonical);
    let text = std::str::from_utf8(&canonical).expect("json is utf-8");
    connection
        .prepare_cached(
            "INSERT INTO audit (company, number, entry, prev_hash, hash) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![company.as_str(), number, text, prev_hash, hash])?;
    Ok(())
}

pub(super) fn list(
    connection: &Connection,
    company: &Company,
    page: PageRequest,
) -> rusqlite::Result<Page<AuditRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT number, entry, prev_hash, hash FROM audit WHERE company = ?1 AND number > ?2 ORDER BY number LIMIT ?3",
    )?;
    let after = page.after.map_or(0, |position| position.0);
    let rows = statement.query_map(params![company.as_str(), after, page.one_more()], |row| {
        let audit_row = AuditRow {
            entry: row::json(row, "entry")?,
            prev_hash: chain::to_hex(&row.get("prev_hash")?),
            hash: chain::to_hex(&row.get("hash")?),
        };
        Ok((Position(row.get("number")?), audit_row))
    })?;
    page.collect(rows)
}
