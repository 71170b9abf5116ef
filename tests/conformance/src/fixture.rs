//! The file with which the server was started: who may ask, and how their integrations are set.
//!
//! Invariant: cases ask for what a credential *is* (a till, a manager, a till of another company) and never for its
//! name, so any fixture that has such a credential will do. What a fixture does not have is skipped, not failed.

use std::time::Duration;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::case::Skipped;

#[derive(Clone, Debug, Deserialize)]
pub struct Fixture {
    settings: Settings,
    integrations: Vec<Integration>,
    credentials: Vec<Credential>,
}

#[derive(Clone, Debug, Deserialize)]
struct Settings {
    confirmation_token_life_s: u32,
    error_profile: String,
    body_limit_bytes: usize,
    acquirer_webhook_secret: String,
    acquirer_visibility_delay_s: u64,
}

#[derive(Clone, Debug, Deserialize)]
struct Integration {
    company: String,
    integration: String,
    error_profile: Option<String>,
    similarity_window_s: Option<u32>,
    confirmation_token_life_s: Option<u32>,
    identifying_fields: Option<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Credential {
    pub token: String,
    company: String,
    integration: String,
    environment: String,
    rights: Vec<String>,
}

/// Somebody who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sells and reads, on an integration with the default settings.
    Till,
    /// Another token of the till's own scope.
    RotatedTill,
    /// The till's company and integration in another environment.
    OtherEnvironment,
    /// The till's company and environment, another integration.
    OtherIntegration,
    OtherCompany,
    /// Audits the till's company.
    Manager,
    /// The till's scope, reads and does nothing else.
    Reader,
    /// Sells on an integration with the IETF's error profile.
    Ietf,
    /// Sells on an integration whose tokens live for seconds.
    ShortLived,
    /// Sells on an integration with a look-alike rule of its own: `order` only.
    OtherRule,
}

/// Longest token life that a case waits for.
const SHORT_LIFE_S: u32 = 5;

impl Fixture {
    pub fn parse(json: &[u8]) -> Result<Self> {
        serde_json::from_slice(json).context("the fixture is not what a fixture looks like")
    }

    pub fn body_limit(&self) -> usize {
        self.settings.body_limit_bytes
    }

    pub fn webhook_secret(&self) -> &[u8] {
        self.settings.acquirer_webhook_secret.as_bytes()
    }

    /// How long a charge that the acquirer does not know of may still be on its way.
    pub fn visibility_delay(&self) -> Duration {
        Duration::from_secs(self.settings.acquirer_visibility_delay_s)
    }

    pub fn token(&self, role: Role) -> Result<&str> {
        let found = self.credentials.iter().find(|credential| self.plays(credential, role));
        let found = found.ok_or_else(|| Skipped(format!("the fixture has no credential for {role:?}")))?;
        Ok(&found.token)
    }

    fn plays(&self, who: &Credential, role: Role) -> bool {
        let Some(till) = self.till() else { return false };
        let same_company = who.company == till.company;
        let same_integration = same_company && who.integration == till.integration;
        let same_scope = same_integration && who.environment == till.environment;
        match role {
            Role::Till => who == till,
            Role::RotatedTill => same_scope && who.sells() && who != till,
            Role::OtherEnvironment => same_integration && !same_scope && who.sells(),
            Role::OtherIntegration => {
                same_company && !same_integration && who.environment == till.environment && who.sells()
            }
            Role::OtherCompany => !same_company && who.sells(),
            Role::Manager => same_scope && who.may("audit") && !who.may("create"),
            Role::Reader => same_scope && who.rights == ["read"],
            Role::Ietf => who.sells() && self.profile(who) == "ietf",
            Role::ShortLived => who.sells() && self.token_life_s(who) <= SHORT_LIFE_S,
            Role::OtherRule => {
                let fields =
                    self.integration(who).and_then(|integration| integration.identifying_fields.as_ref());
                who.sells() && fields.is_some_and(|fields| fields == &["order"])
            }
        }
    }

    fn till(&self) -> Option<&Credential> {
        self.credentials.iter().find(|who| {
            let integration = self.integration(who);
            let has_defaults = integration.is_some_and(|integration| {
                integration.similarity_window_s.is_none() && integration.identifying_fields.is_none()
            });
            let is_patient = self.token_life_s(who) > SHORT_LIFE_S;
            who.sells() && has_defaults && is_patient && self.profile(who) == "default"
        })
    }

    fn profile(&self, who: &Credential) -> &str {
        let own = self.integration(who).and_then(|integration| integration.error_profile.as_deref());
        own.unwrap_or(&self.settings.error_profile)
    }

    fn token_life_s(&self, who: &Credential) -> u32 {
        let own = self.integration(who).and_then(|integration| integration.confirmation_token_life_s);
        own.unwrap_or(self.settings.confirmation_token_life_s)
    }

    fn integration(&self, who: &Credential) -> Option<&Integration> {
        self.integrations
            .iter()
            .find(|known| known.company == who.company && known.integration == who.integration)
    }
}

impl Credential {
    fn may(&self, right: &str) -> bool {
        self.rights.iter().any(|known| known == right)
    }

    fn sells(&self) -> bool {
        self.may("create") && self.may("read")
    }
}
