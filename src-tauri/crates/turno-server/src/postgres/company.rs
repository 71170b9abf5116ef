//! Tables `company` and `integration`.

use deadpool_postgres::Client;
use jiff::SignedDuration;
use tokio_postgres::Row;
use turno_domain::{
    Currency,
    ids::{Company, Integration},
    lookalike::{Rule, Signal},
};
use turno_protocol::{chain::GENESIS, code::ErrorProfile};

use super::{
    error::StoreError,
    row::{self, Result, execute},
};
use crate::{
    names,
    settings::{CompanySettings, IntegrationSettings},
};

pub(super) async fn put_company(client: &Client, settings: &CompanySettings) -> Result<()> {
    execute(
        client,
        "INSERT INTO company (company, name, currency) VALUES ($1, $2, $3)
         ON CONFLICT (company) DO UPDATE SET name = excluded.name, currency = excluded.currency",
        &[&settings.company.as_str(), &settings.name, &settings.currency.code()],
    )
    .await?;
    execute(
        client,
        "INSERT INTO company_head (company, audit_rows, audit_hash, arrivals) VALUES ($1, 0, $2, 0)
         ON CONFLICT DO NOTHING",
        &[&settings.company.as_str(), &GENESIS.as_slice()],
    )
    .await?;
    Ok(())
}

pub(super) async fn find(client: &Client, company: &Company) -> Result<CompanySettings> {
    let found = row::row(
        client,
        "SELECT company, name AS company_name, currency AS company_currency FROM company WHERE company = $1",
        &[&company.as_str()],
    )
    .await?;
    company_from_row(&found.ok_or(StoreError::Missing("company"))?)
}

pub(super) async fn company_exists(client: &Client, company: &Company) -> Result<bool> {
    let found = row::row(client, "SELECT FROM company WHERE company = $1", &[&company.as_str()]).await?;
    Ok(found.is_some())
}

pub(super) async fn put_integration(client: &Client, settings: &IntegrationSettings) -> Result<()> {
    let fields: Vec<_> = settings.rule.identifying().iter().map(|signal| signal.as_str()).collect();
    execute(
        client,
        "INSERT INTO integration (company, integration, error_profile, similarity_window_s, identifying_fields,
            confirmation_token_life_s)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (company, integration) DO UPDATE SET
            error_profile = excluded.error_profile,
            similarity_window_s = excluded.similarity_window_s,
            identifying_fields = excluded.identifying_fields,
            confirmation_token_life_s = excluded.confirmation_token_life_s",
        &[
            &settings.company.as_str(),
            &settings.integration.as_str(),
            &settings.error_profile.as_str(),
            &settings.rule.window().as_secs(),
            &names::to_json(&fields),
            &settings.confirmation_token_life.as_secs(),
        ],
    )
    .await?;
    Ok(())
}

pub(super) async fn integration_exists(
    client: &Client,
    company: &Company,
    integration: &Integration,
) -> Result<bool> {
    let found = row::row(
        client,
        "SELECT FROM integration WHERE company = $1 AND integration = $2",
        &[&company.as_str(), &integration.as_str()],
    )
    .await?;
    Ok(found.is_some())
}

/// From the columns `company`, `company_name`, `company_currency`.
pub(super) fn company_from_row(row: &Row) -> Result<CompanySettings> {
    Ok(CompanySettings {
        company: row::id(row, "company", Company::parse)?,
        name: row::get(row, "company_name")?,
        currency: row::parsed(row, "company_currency", Currency::parse)?,
    })
}

/// From the columns of `integration`.
pub(super) fn integration_from_row(row: &Row) -> Result<IntegrationSettings> {
    let window = SignedDuration::from_secs(row::get(row, "similarity_window_s")?);
    let names: Vec<String> = row::json(row, "identifying_fields")?;
    let fields: Option<Vec<Signal>> = names.iter().map(|name| Signal::parse(name)).collect();
    let fields = fields.ok_or(StoreError::Unreadable("identifying_fields"))?;
    Ok(IntegrationSettings {
        company: row::id(row, "company", Company::parse)?,
        integration: row::id(row, "integration", Integration::parse)?,
        error_profile: row::parsed(row, "error_profile", |name| ErrorProfile::parse(name).ok_or(()))?,
        rule: Rule::new(window, fields).map_err(|_| StoreError::Unreadable("similarity_window_s"))?,
        confirmation_token_life: SignedDuration::from_secs(row::get(row, "confirmation_token_life_s")?),
    })
}
