//! Table `catalog`.

use deadpool_postgres::Client;
use turno_domain::ids::{Company, Integration};

use super::row::{self, Result, execute};
use crate::ledger::StoredCatalog;

pub(super) async fn put(
    client: &Client,
    company: &Company,
    integration: &Integration,
    catalog: &StoredCatalog,
) -> Result<()> {
    execute(
        client,
        "INSERT INTO catalog (company, integration, etag, body) VALUES ($1, $2, $3, $4)
         ON CONFLICT (company, integration) DO UPDATE SET etag = excluded.etag, body = excluded.body",
        &[&company.as_str(), &integration.as_str(), &catalog.etag, &catalog.json],
    )
    .await?;
    Ok(())
}

pub(super) async fn find(
    client: &Client,
    company: &Company,
    integration: &Integration,
) -> Result<Option<StoredCatalog>> {
    let found = row::row(
        client,
        "SELECT etag, body FROM catalog WHERE company = $1 AND integration = $2",
        &[&company.as_str(), &integration.as_str()],
    )
    .await?;
    let read = |row| Ok(StoredCatalog { etag: row::get(&row, "etag")?, json: row::get(&row, "body")? });
    found.map(read).transpose()
}
