//! The last catalog that YUPY gave, as it came, with its version.

use rusqlite::{Connection, OptionalExtension, Result, params};

use crate::clock::Millis;

pub struct CatalogRow {
    pub etag: Option<String>,
    pub body: Vec<u8>,
}

pub fn get(conn: &Connection) -> Result<Option<CatalogRow>> {
    conn.query_row("SELECT etag, body FROM catalog", [], |row| {
        Ok(CatalogRow { etag: row.get(0)?, body: row.get(1)? })
    })
    .optional()
}

pub fn set(conn: &Connection, etag: Option<&str>, body: &[u8], at: Millis) -> Result<()> {
    conn.execute(
        "INSERT OR REPLACE INTO catalog (id, etag, body, fetched_at_ms) VALUES (1, ?1, ?2, ?3)",
        params![etag, body, at],
    )?;
    Ok(())
}
