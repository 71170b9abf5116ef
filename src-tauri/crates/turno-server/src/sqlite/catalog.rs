//! Table `catalog`.

use rusqlite::{Connection, OptionalExtension, params};
use turno_domain::ids::{Company, Integration};

use crate::ledger::StoredCatalog;

pub(super) fn put(
    connection: &Connection,
    company: &Company,
    integration: &Integration,
    catalog: &StoredCatalog,
) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO catalog (company, integration, etag, body) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (company, integration) DO UPDATE SET etag = excluded.etag, body = excluded.body",
        params![company.as_str(), integration.as_str(), catalog.etag, catalog.json],
    )?;
    Ok(())
}

pub(super) fn find(
    connection: &Connection,
    company: &Company,
    integration: &Integration,
) -> rusqlite::Result<Option<StoredCatalog>> {
    connection
        .prepare_cached("SELECT etag, body FROM catalog WHERE company = ?1 AND integration = ?2")?
        .query_row([company.as_str(), integration.as_str()], |row| {
            Ok(StoredCatalog { etag: row.get("etag")?, json: row.get("body")? })
        })
        .optional()
}
