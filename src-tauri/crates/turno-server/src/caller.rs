//! Who asks, and what they may do.
//!
//! Invariant: the scope is the credential's, found by its hash; the token's text names nothing and is kept nowhere.

use std::fmt;

use sha2::{Digest, Sha256};
use turno_domain::ids::Scope;

use crate::settings::{CompanySettings, IntegrationSettings};

/// Everything that a request takes from its credential.
#[derive(Clone, Debug)]
pub struct Caller {
    pub scope: Scope,
    pub scope_number: ScopeNumber,
    pub rights: Rights,
    pub company: CompanySettings,
    pub integration: IntegrationSettings,
}

/// A ledger's own short name of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScopeNumber(pub i64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// Sell, void, pay, and decide one's own questions.
    Create,
    /// Look-ups and the catalog.
    Read,
    /// A manager: the audit, and the questions of the whole company.
    Audit,
}

impl Right {
    const ALL: [Self; 3] = [Self::Create, Self::Read, Self::Audit];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Read => "read",
            Self::Audit => "audit",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|right| right.as_str() == text)
    }
}

/// A set of rights.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rights(Vec<Right>);

impl Rights {
    /// What an enrolled till may do.
    pub fn of_a_till() -> Self {
        [Right::Create, Right::Read].into_iter().collect()
    }

    /// What a till may do on which a manager answers the whole company's questions.
    pub fn of_a_managers_till() -> Self {
        Right::ALL.into_iter().collect()
    }

    pub fn has(&self, right: Right) -> bool {
        self.0.contains(&right)
    }

    /// As the store and the command line write it: `create,read`.
    pub fn parse(text: &str) -> Option<Self> {
        text.split(',').map(|name| Right::parse(name.trim())).collect()
    }
}

impl FromIterator<Right> for Rights {
    fn from_iter<I: IntoIterator<Item = Right>>(rights: I) -> Self {
        let given: Vec<_> = rights.into_iter().collect();
        Self(Right::ALL.into_iter().filter(|right| given.contains(right)).collect())
    }
}

impl fmt::Display for Rights {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.0.iter().map(|right| right.as_str()).collect();
        formatter.write_str(&names.join(","))
    }
}

/// SHA-256 of a credential or of an enrolment code: all that a store knows of it. Tokens are random and long, so a
/// plain hash cannot be guessed back.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenHash(pub [u8; 32]);

impl TokenHash {
    pub fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TokenHash")
    }
}
