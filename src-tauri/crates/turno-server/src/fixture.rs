//! The `--fixture` file of tests: companies, integrations and credentials with tokens that everybody knows.
//!
//! Invariant: a fixture may be loaded again and again; what it names ends up as it says.

use jiff::SignedDuration;
use serde::Deserialize;
use turno_domain::{
    Currency,
    ids::{Company, Environment, Integration, Scope},
    lookalike::{Rule, RuleError, Signal},
};
use turno_protocol::{code::ErrorProfile, secret::Secret};

use crate::{
    admin::NewCredential,
    caller::{Right, Rights},
    config::Config,
    ledger::{AdminError, Administration},
    postgres::PostgresOptions,
    settings::{CompanySettings, IntegrationSettings},
    sqlite::SqliteOptions,
};

#[derive(Debug, Deserialize)]
pub struct Fixture {
    settings: Settings,
    integrations: Vec<IntegrationEntry>,
    credentials: Vec<CredentialEntry>,
}

/// Defaults of every integration, and what belongs to the whole server.
#[derive(Debug, Deserialize)]
struct Settings {
    currency: Currency,
    body_limit_bytes: usize,
    key_retention_days: u16,
    similarity_window_s: u32,
    identifying_fields: Vec<String>,
    confirmation_token_life_s: u32,
    error_profile: String,
    acquirer_visibility_delay_s: u32,
    acquirer_webhook_secret: Secret,
}

#[derive(Debug, Deserialize)]
struct IntegrationEntry {
    company: Company,
    integration: Integration,
    error_profile: Option<String>,
    similarity_window_s: Option<u32>,
    identifying_fields: Option<Vec<String>>,
    confirmation_token_life_s: Option<u32>,
}

#[derive(Debug, Deserialize)]
struct CredentialEntry {
    token: Secret,
    company: Company,
    integration: Integration,
    environment: Environment,
    rights: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum FixtureError {
    #[error("the fixture is not what a fixture looks like")]
    Shape(#[from] serde_json::Error),
    #[error("unknown field, right or profile `{0}`")]
    UnknownName(String),
    #[error(transparent)]
    Rule(#[from] RuleError),
    #[error(transparent)]
    Admin(#[from] AdminError),
}

impl Fixture {
    pub fn parse(json: &[u8]) -> Result<Self, FixtureError> {
        Ok(serde_json::from_slice(json)?)
    }

    /// How a server of this fixture opens its file.
    pub fn options(&self) -> SqliteOptions {
        SqliteOptions { key_retention: self.key_retention(), ..SqliteOptions::default() }
    }

    /// How a server of this fixture opens its database.
    pub fn postgres_options(&self) -> PostgresOptions {
        PostgresOptions { key_retention: self.key_retention(), ..PostgresOptions::default() }
    }

    fn key_retention(&self) -> SignedDuration {
        SignedDuration::from_hours(24 * i64::from(self.settings.key_retention_days))
    }

    /// What a server of this fixture is told.
    pub fn config(&self) -> Config {
        let delay = self.settings.acquirer_visibility_delay_s;
        Config {
            body_limit: self.settings.body_limit_bytes,
            acquirer_visibility_delay: SignedDuration::from_secs(delay.into()),
            acquirer_webhook_secret: Some(self.settings.acquirer_webhook_secret.clone()),
            ..Config::default()
        }
    }

    /// Put everything that the fixture names into `ledger`.
    pub async fn load<L: Administration>(&self, ledger: &L) -> Result<(), FixtureError> {
        for entry in &self.integrations {
            ledger.put_company(self.company(&entry.company)).await?;
            ledger.put_integration(self.integration(entry)?).await?;
        }
        for entry in &self.credentials {
            ledger.put_credential(entry.credential()?).await?;
        }
        Ok(())
    }

    fn company(&self, company: &Company) -> CompanySettings {
        CompanySettings {
            company: company.clone(),
            name: company.to_string(),
            currency: self.settings.currency,
        }
    }

    fn integration(&self, entry: &IntegrationEntry) -> Result<IntegrationSettings, FixtureError> {
        let defaults = &self.settings;
        let profile = entry.error_profile.as_ref().unwrap_or(&defaults.error_profile);
        let window = entry.similarity_window_s.unwrap_or(defaults.similarity_window_s);
        let names = entry.identifying_fields.as_ref().unwrap_or(&defaults.identifying_fields);
        let life = entry.confirmation_token_life_s.unwrap_or(defaults.confirmation_token_life_s);
        let fields = names.iter().map(|name| known(name, Signal::parse)).collect::<Result<Vec<_>, _>>()?;
        Ok(IntegrationSettings {
            company: entry.company.clone(),
            integration: entry.integration.clone(),
            error_profile: known(profile, ErrorProfile::parse)?,
            rule: Rule::new(SignedDuration::from_secs(window.into()), fields)?,
            confirmation_token_life: SignedDuration::from_secs(life.into()),
        })
    }
}

impl CredentialEntry {
    fn credential(&self) -> Result<NewCredential, FixtureError> {
        let rights =
            self.rights.iter().map(|name| known(name, Right::parse)).collect::<Result<Rights, _>>()?;
        let scope = Scope {
            company: self.company.clone(),
            integration: self.integration.clone(),
            environment: self.environment.clone(),
        };
        Ok(NewCredential::with_token(&self.token, scope, rights))
    }
}

fn known<T>(name: &str, parse: impl FnOnce(&str) -> Option<T>) -> Result<T, FixtureError> {
    parse(name).ok_or_else(|| FixtureError::UnknownName(name.to_owned()))
}
