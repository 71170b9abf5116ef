//! Tables `company` and `integration`.

use jiff::SignedDuration;
use rusqlite::{Connection, Row, params};
use turno_domain::{
    Currency,
    ids::{Company, Integration},
    lookalike::{Rule, Signal},
};
use turno_protocol::code::ErrorProfile;

use super::row;
use crate::settings::{CompanySettings, IntegrationSettings};

pub(super) fn put_company(connection: &Connection, settings: &CompanySettings) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO company (company, name, currency) VALUES (?1, ?2, ?3)
         ON CONFLICT (company) DO UPDATE SET name = excluded.name, currency = excluded.currency",
        params![settings.company.as_str(), settings.name, settings.currency.code()],
    )?;
    Ok(())
}

pub(super) fn find(connection: &Connection, company: &Company) -> rusqlite::Result<CompanySettings> {
    connection
        .prepare_cached(
            "SELECT company, name AS company_name, currency AS company_currency FROM company WHERE company = ?1",
        )?
        .query_row([company.as_str()], company_from_row)
}

pub(super) fn company_exists(connection: &Connection, company: &Company) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM company WHERE company = ?1")?.exists([company.as_str()])
}

pub(super) fn put_integration(
    connection: &Connection,
    settings: &IntegrationSettings,
) -> rusqlite::Result<()> {
    let fields: Vec<_> = settings.rule.identifying().iter().map(|signal| signal.as_str()).collect();
    connection.execute(
        "INSERT INTO integration (company, integration, error_profile, similarity_window_s, identifying_fields,
            confirmation_token_life_s)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (company, integration) DO UPDATE SET
            error_profile = excluded.error_profile,
            similarity_window_s = excluded.similarity_window_s,
            identifying_fields = excluded.identifying_fields,
            confirmation_token_life_s = excluded.confirmation_token_life_s",
        params![
            settings.company.as_str(),
            settings.integration.as_str(),
            settings.error_profile.as_str(),
            settings.rule.window().as_secs(),
            row::to_json(&fields),
            settings.confirmation_token_life.as_secs(),
        ],
    )?;
    Ok(())
}

pub(super) fn integration_exists(
    connection: &Connection,
    company: &Company,
    integration: &Integration,
) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM integration WHERE company = ?1 AND integration = ?2")?
        .exists([company.as_str(), integration.as_str()])
}

/// From the columns `company`, `company_name`, `company_currency`.
pub(super) fn company_from_row(row: &Row<'_>) -> rusqlite::Result<CompanySettings> {
    Ok(CompanySettings {
        company: row::id(row, "company", Company::parse)?,
        name: row.get("company_name")?,
        currency: row::parsed(row, "company_currency", Currency::parse)?,
    })
}

/// From the columns of `integration`.
pub(super) fn integration_from_row(row: &Row<'_>) -> rusqlite::Result<IntegrationSettings> {
    let window = SignedDuration::from_secs(row.get("similarity_window_s")?);
    let names: Vec<String> = row::json(row, "identifying_fields")?;
    let fields: Option<Vec<Signal>> = names.iter().map(|name| Signal::parse(name)).collect();
    let fields = fields.ok_or_else(|| row::unreadable(row, "identifying_fields"))?;
    Ok(IntegrationSettings {
        company: row::id(row, "company", Company::parse)?,
        integration: row::id(row, "integration", Integration::parse)?,
        error_profile: row::parsed(row, "error_profile", |name| ErrorProfile::parse(name).ok_or(()))?,
        rule: Rule::new(window, fields).map_err(|_| row::unreadable(row, "similarity_window_s"))?,
        confirmation_token_life: SignedDuration::from_secs(row.get("confirmation_token_life_s")?),
    })
}
