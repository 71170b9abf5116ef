//! Table `scope`: the short name of company + integration + environment.

use deadpool_postgres::Client;
use tokio_postgres::Row;
use turno_domain::ids::{Company, Environment, Integration, Scope};

use super::{
    error::StoreError,
    row::{self, Result, execute},
};
use crate::caller::ScopeNumber;

/// The number of `scope`, given to it now if it has none.
pub(super) async fn number_of(client: &Client, scope: &Scope) -> Result<ScopeNumber> {
    if let Some(number) = find(client, scope).await? {
        return Ok(number);
    }
    execute(
        client,
        "INSERT INTO scope (company, integration, environment) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        &[&scope.company.as_str(), &scope.integration.as_str(), &scope.environment.as_str()],
    )
    .await?;
    // A new statement: it also sees what somebody else inserted meanwhile.
    find(client, scope).await?.ok_or(StoreError::Missing("scope"))
}

async fn find(client: &Client, scope: &Scope) -> Result<Option<ScopeNumber>> {
    let found = row::row(
        client,
        "SELECT scope_id FROM scope WHERE company = $1 AND integration = $2 AND environment = $3",
        &[&scope.company.as_str(), &scope.integration.as_str(), &scope.environment.as_str()],
    )
    .await?;
    found.map(|row| row::get(&row, "scope_id").map(ScopeNumber)).transpose()
}

/// From the columns `company`, `integration`, `environment`.
pub(super) fn from_row(row: &Row) -> Result<Scope> {
    Ok(Scope {
        company: row::id(row, "company", Company::parse)?,
        integration: row::id(row, "integration", Integration::parse)?,
        environment: row::id(row, "environment", Environment::parse)?,
    })
}
