//! Table `credential`: who may ask, by the hash of a token.

use deadpool_postgres::Client;
use jiff::Timestamp;
use subtle::ConstantTimeEq;
use tokio_postgres::Row;

use super::{
    company,
    row::{self, Result, execute},
    scope,
};
use crate::{
    admin::NewCredential,
    books::EnrolmentCode,
    caller::{Caller, Rights, ScopeNumber, TokenHash},
};

pub(super) async fn put(client: &Client, credential: &NewCredential, now: Timestamp) -> Result<()> {
    let scope = scope::number_of(client, &credential.scope).await?;
    execute(
        client,
        "INSERT INTO credential (token_hash, scope_id, rights, created_at_ms) VALUES ($1, $2, $3, $4)
         ON CONFLICT (token_hash) DO UPDATE SET scope_id = excluded.scope_id, rights = excluded.rights",
        &[&credential.token.0.as_slice(), &scope.0, &credential.rights.to_string(), &now.as_millisecond()],
    )
    .await?;
    Ok(())
}

pub(super) async fn find(client: &Client, token: &TokenHash) -> Result<Option<Caller>> {
    let found = row::row(
        client,
        "SELECT credential.token_hash, credential.rights, scope.scope_id, scope.environment, integration.*,
            company.name AS company_name, company.currency AS company_currency
         FROM credential
         JOIN scope USING (scope_id)
         JOIN integration USING (company, integration)
         JOIN company USING (company)
         WHERE credential.token_hash = $1",
        &[&token.0.as_slice()],
    )
    .await?;
    let Some(found) = found else { return Ok(None) };
    // An index compares byte by byte and may leave early; what decides takes the same time for every token.
    let is_it: bool = row::bytes(&found, "token_hash")?.ct_eq(&token.0).into();
    if is_it { from_row(&found).map(Some) } else { Ok(None) }
}

fn from_row(row: &Row) -> Result<Caller> {
    Ok(Caller {
        scope: scope::from_row(row)?,
        scope_number: ScopeNumber(row::get(row, "scope_id")?),
        rights: row::parsed(row, "rights", |text| Rights::parse(text).ok_or(()))?,
        company: company::company_from_row(row)?,
        integration: company::integration_from_row(row)?,
    })
}

/// A credential that a code gave out.
pub(super) async fn insert_for_code(
    client: &Client,
    token: &TokenHash,
    code: &EnrolmentCode,
    now: Timestamp,
) -> Result<()> {
    execute(
        client,
        "INSERT INTO credential (token_hash, scope_id, rights, code_hash, created_at_ms)
         VALUES ($1, $2, $3, $4, $5)",
        &[
            &token.0.as_slice(),
            &code.scope_number.0,
            &code.rights.to_string(),
            &code.hash.0.as_slice(),
            &now.as_millisecond(),
        ],
    )
    .await?;
    Ok(())
}

/// Whether there was such a credential.
pub(super) async fn delete(client: &Client, token: &TokenHash) -> Result<bool> {
    let deleted =
        execute(client, "DELETE FROM credential WHERE token_hash = $1", &[&token.0.as_slice()]).await?;
    Ok(deleted > 0)
}
