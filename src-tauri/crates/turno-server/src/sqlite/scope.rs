//! Table `scope`: the short name of company + integration + environment.

use rusqlite::{Connection, OptionalExtension, Row, params};
use turno_domain::ids::{Company, Environment, Integration, Scope};

use super::row;
use crate::caller::ScopeNumber;

/// The number of `scope`, given to it now if it has none.
pub(super) fn number_of(connection: &Connection, scope: &Scope) -> rusqlite::Result<ScopeNumber> {
    let texts = (scope.company.as_str(), scope.integration.as_str(), scope.environment.as_str());
    let known = connection
        .prepare_cached(
            "SELECT scope_id FROM scope WHERE company = ?1 AND integration = ?2 AND environment = ?3",
        )?
        .query_row(texts, |row| row.get(0))
        .optional()?;
    if let Some(number) = known {
        return Ok(ScopeNumber(number));
    }
    connection.execute(
        "INSERT INTO scope (company, integration, environment) VALUES (?1, ?2, ?3)",
        params![texts.0, texts.1, texts.2],
    )?;
    Ok(ScopeNumber(connection.last_insert_rowid()))
}

/// From the columns `company`, `integration`, `environment`.
pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<Scope> {
    Ok(Scope {
        company: row::id(row, "company", Company::parse)?,
        integration: row::id(row, "integration", Integration::parse)?,
        environment: row::id(row, "environment", Environment::parse)?,
    })
}
