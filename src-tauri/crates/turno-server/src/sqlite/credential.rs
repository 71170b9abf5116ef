//! Table `credential`: who may ask, by the hash of a token.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};
use subtle::ConstantTimeEq;

use super::{company, row, scope};
use crate::{
    admin::NewCredential,
    caller::{Caller, Rights, ScopeNumber, TokenHash},
};

pub(super) fn put(
    connection: &Connection,
    credential: &NewCredential,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let scope = scope::number_of(connection, &credential.scope)?;
    connection.execute(
        "INSERT INTO credential (token_hash, scope_id, rights, created_at_ms) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (token_hash) DO UPDATE SET scope_id = excluded.scope_id, rights = excluded.rights",
        params![credential.token.0, scope.0, credential.rights.to_string(), now.as_millisecond()],
    )?;
    Ok(())
}

pub(super) fn find(connection: &Connection, token: &TokenHash) -> rusqlite::Result<Option<Caller>> {
    let found = connection
        .prepare_cached(
            "SELECT credential.token_hash, credential.rights, scope.scope_id, scope.environment, integration.*,
                company.name AS company_name, company.currency AS company_currency
             FROM credential
             JOIN scope USING (scope_id)
             JOIN integration USING (company, integration)
             JOIN company USING (company)
             WHERE credential.token_hash = ?1",
        )?
        .query_row([token.0], |row| {
            let stored: [u8; 32] = row.get("token_hash")?;
            let caller = Caller {
                scope: scope::from_row(row)?,
                scope_number: ScopeNumber(row.get("scope_id")?),
                rights: row::parsed(row, "rights", |text| Rights::parse(text).ok_or(()))?,
                company: company::company_from_row(row)?,
                integration: company::integration_from_row(row)?,
            };
            Ok((stored, caller))
        })
        .optional()?;
    // An index compares byte by byte and may leave early; what decides takes the same time for every token.
    Ok(found.filter(|(stored, _)| stored.ct_eq(&token.0).into()).map(|(_, caller)| caller))
}

/// A credential that a code gave out.
pub(super) fn insert_for_code(
    connection: &Connection,
    token: &TokenHash,
    code: &crate::books::EnrolmentCode,
    now: Timestamp,
) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO credential (token_hash, scope_id, rights, code_hash, created_at_ms) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![token.0, code.scope_number.0, code.rights.to_string(), code.hash.0, now.as_millisecond()],
    )?;
    Ok(())
}

/// Whether there was such a credential.
pub(super) fn delete(connection: &Connection, token: &TokenHash) -> rusqlite::Result<bool> {
    Ok(connection.execute("DELETE FROM credential WHERE token_hash = ?1", [token.0])? > 0)
}
