//! Questions about look-alikes as people see them: on the asking till, on a manager's, or at a desk.
//!
//! Invariant: the confirmation token is never part of what is shown; it stays with the till that asked.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use turno_domain::Currency;
use turno_domain::ids::ExternalTransactionId;
use turno_domain::lookalike::Signal;

use super::{Context, Transaction};
use crate::lenient;
use crate::secret::Secret;

/// A question with both sales side by side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChallengeView {
    pub challenge_id: String,
    pub state: ChallengeState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<Timestamp>,
    pub asked_at: Timestamp,
    pub expires_at: Timestamp,
    #[serde(default, deserialize_with = "lenient::list")]
    pub matching_signals: Vec<Signal>,
    /// The sale that is not created yet.
    pub asked: AskedSale,
    /// The stored sale that it looks like most.
    pub candidate: Transaction,
    pub candidates_count: u32,
}

/// The sale that a question is about. It has no id of YUPY's, for it does not exist there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedSale {
    pub external_transaction_id: ExternalTransactionId,
    pub amount: String,
    pub currency: Currency,
    pub occurred_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buyer_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_id: Option<String>,
    #[serde(default, skip_serializing_if = "Context::is_empty", deserialize_with = "lenient::or_default")]
    pub context: Context,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChallengeState {
    Open,
    /// The sale was created with the token.
    Spent,
    /// A newer question about the same sale took its place.
    Superseded,
    Expired,
    /// Decided to be the same sale: the token is dead.
    Closed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    SameSale,
    DifferentSale,
}

/// `POST /v1/duplicate-resolutions`: the question by its id or by its token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolutionRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub challenge_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate_confirmation_token: Option<Secret>,
    pub decision: Decision,
    pub decided_by: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl ChallengeState {
    pub fn as_str(self) -> &'static str {
        match self {
            ChallengeState::Open => "open",
            ChallengeState::Spent => "spent",
            ChallengeState::Superseded => "superseded",
            ChallengeState::Expired => "expired",
            ChallengeState::Closed => "closed",
        }
    }
}

impl Decision {
    pub fn as_str(self) -> &'static str {
        match self {
            Decision::SameSale => "same_sale",
            Decision::DifferentSale => "different_sale",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_stores_are_the_names_on_the_wire() {
        for state in [
            ChallengeState::Open,
            ChallengeState::Spent,
            ChallengeState::Superseded,
            ChallengeState::Expired,
            ChallengeState::Closed,
        ] {
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
        }
        for decision in [Decision::SameSale, Decision::DifferentSale] {
            assert_eq!(serde_json::to_value(decision).unwrap(), decision.as_str());
        }
    }

    #[test]
    fn a_decision_is_written_without_what_it_does_not_say() {
        let request = ResolutionRequest {
            challenge_id: Some("ch_1".to_owned()),
            duplicate_confirmation_token: None,
            decision: Decision::SameSale,
            decided_by: "Encargado".to_owned(),
            reason: None,
        };
        let json = serde_json::to_string(&request).unwrap();
        assert_eq!(json, r#"{"challenge_id":"ch_1","decision":"same_sale","decided_by":"Encargado"}"#);
        assert_eq!(serde_json::from_str::<ResolutionRequest>(&json).unwrap(), request);
    }
}
