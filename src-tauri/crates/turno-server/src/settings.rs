//! What each company and each integration chooses for itself.
//!
//! Invariant: whatever is here belongs to the company or the integration of the credential, never to a request.

use jiff::SignedDuration;
use turno_domain::{
    currency::Currency,
    ids::{Company, Integration},
    lookalike::Rule,
};
use turno_protocol::code::ErrorProfile;

/// How long a question may be confirmed unless an integration says otherwise: a manager on a route may be offline
/// for hours.
pub const DEFAULT_TOKEN_LIFE: SignedDuration = SignedDuration::from_hours(24);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompanySettings {
    pub company: Company,
    /// As the till shows it.
    pub name: String,
    /// Of sales that do not name one.
    pub currency: Currency,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntegrationSettings {
    pub company: Company,
    pub integration: Integration,
    pub error_profile: ErrorProfile,
    /// When two sales look alike.
    pub rule: Rule,
    pub confirmation_token_life: SignedDuration,
}

impl IntegrationSettings {
    pub fn new(company: Company, integration: Integration) -> Self {
        Self {
            company,
            integration,
            error_profile: ErrorProfile::default(),
            rule: Rule::default(),
            confirmation_token_life: DEFAULT_TOKEN_LIFE,
        }
    }
}
