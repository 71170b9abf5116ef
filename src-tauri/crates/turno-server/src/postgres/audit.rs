//! Tables `audit` and `company_head`: one hash chain a company, and in which order its rows were committed.
//!
//! Invariant: whoever continues a company's series holds its head until the commit. So it is locked as the last thing
//! that a transaction does, for one exchange with the server and the commit.

use deadpool_postgres::Client;
use turno_domain::ids::Company;
use turno_protocol::{
    audit::{AuditRow, canonical_entry},
    chain::{self, Hash},
};

use super::{
    error::{Remedy, StoreError},
    row::{self, Result, execute},
};
use crate::{
    audit::AuditEntry,
    caller::ScopeNumber,
    ledger::{Page, PageRequest, Position},
};

/// Where a company's series end, held.
pub(super) struct Head {
    pub company: String,
    audit_rows: i64,
    audit_hash: Hash,
    arrivals: i64,
}

pub(super) const LOCK_HEAD: &str =
    "SELECT company, audit_rows, audit_hash, arrivals FROM company_head WHERE company = $1 FOR UPDATE";

impl Head {
    pub(super) async fn lock(client: &Client, company: &Company) -> Result<Self> {
        Self::from_row(row::row(client, LOCK_HEAD, &[&company.as_str()]).await)
    }

    pub(super) async fn lock_for(client: &Client, scope: ScopeNumber) -> Result<Self> {
        let sql = "SELECT company, audit_rows, audit_hash, arrivals FROM company_head
                   WHERE company = (SELECT company FROM scope WHERE scope_id = $1) FOR UPDATE";
        Self::from_row(row::row(client, sql, &[&scope.0]).await)
    }

    fn from_row(found: Result<Option<tokio_postgres::Row>>) -> Result<Self> {
        let row = match found {
            Ok(row) => row.ok_or(StoreError::Missing("company_head"))?,
            Err(error) if error.remedy() == Remedy::Busy => return Err(StoreError::HeadIsHeld),
            Err(error) => return Err(error),
        };
        Ok(Self {
            company: row::get(&row, "company")?,
            audit_rows: row::get(&row, "audit_rows")?,
            audit_hash: row::bytes(&row, "audit_hash")?,
            arrivals: row::get(&row, "arrivals")?,
        })
    }

    /// The place of the next row in lists.
    pub(super) fn next_arrival(&mut self) -> i64 {
        self.arrivals += 1;
        self.arrivals
    }

    /// Hang `entry` on the chain's end.
    pub(super) fn next_row(&mut self, entry: &AuditEntry) -> ChainedRow {
        self.audit_rows += 1;
        let canonical = canonical_entry(&entry.numbered(self.audit_rows));
        let prev_hash = self.audit_hash;
        self.audit_hash = chain::row_hash(&prev_hash, &canonical);
        ChainedRow {
            number: self.audit_rows,
            entry: String::from_utf8(canonical).expect("json is utf-8"),
            prev_hash,
            hash: self.audit_hash,
        }
    }

    pub(super) async fn save(&self, client: &Client) -> Result<()> {
        execute(
            client,
            "UPDATE company_head SET audit_rows = $2, audit_hash = $3, arrivals = $4 WHERE company = $1",
            &[&self.company, &self.audit_rows, &self.audit_hash.as_slice(), &self.arrivals],
        )
        .await?;
        Ok(())
    }
}

/// A row that has its place in a chain.
pub(super) struct ChainedRow {
    number: i64,
    entry: String,
    prev_hash: Hash,
    hash: Hash,
}

pub(super) async fn insert(client: &Client, company: &str, row: &ChainedRow) -> Result<()> {
    execute(
        client,
        "INSERT INTO audit (company, number, entry, prev_hash, hash) VALUES ($1, $2, $3, $4, $5)",
        &[&company, &row.number, &row.entry, &row.prev_hash.as_slice(), &row.hash.as_slice()],
    )
    .await?;
    Ok(())
}

pub(super) async fn insert_all(client: &Client, company: &str, rows: &[ChainedRow]) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    execute(
        client,
        "INSERT INTO audit (company, number, entry, prev_hash, hash)
         SELECT $1, number, entry, prev_hash, hash
         FROM unnest($2::bigint[], $3::text[], $4::bytea[], $5::bytea[]) AS new (number, entry, prev_hash, hash)",
        &[
            &company,
            &row::column(rows, |row| row.number),
            &row::column(rows, |row| row.entry.as_str()),
            &row::column(rows, |row| row.prev_hash.as_slice()),
            &row::column(rows, |row| row.hash.as_slice()),
        ],
    )
    .await?;
    Ok(())
}

pub(super) async fn list(client: &Client, company: &Company, page: PageRequest) -> Result<Page<AuditRow>> {
    let after = page.after.map_or(0, |position| position.0);
    let rows = row::rows(
        client,
        "SELECT number, entry, prev_hash, hash FROM audit WHERE company = $1 AND number > $2
         ORDER BY number LIMIT $3",
        &[&company.as_str(), &after, &page.one_more()],
    )
    .await?;
    page.collect(rows.iter().map(|row| {
        let audit_row = AuditRow {
            entry: row::json(row, "entry")?,
            prev_hash: chain::to_hex(&row::bytes(row, "prev_hash")?),
            hash: chain::to_hex(&row::bytes(row, "hash")?),
        };
        Ok((Position(row::get(row, "number")?), audit_row))
    }))
}
