//! Questions of other tills, which a manager answers here, and answers that were given elsewhere.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Decision, ResolutionProgress, Review};

/// Somebody elsewhere said that it is the same sale. What is missing is the money, which only this till can give back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct DecidedElsewhere {
    pub decided_by: String,
    pub reason: Option<String>,
    pub decided_at: Option<String>,
}

/// Open questions of the company's other tills.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct OtherReviews {
    /// Whether this till's credential may see them.
    pub access: OtherAccess,
    /// Oldest first. `own` is the sale of the till that asks.
    pub reviews: Vec<Review>,
    /// What was answered here, the newest first.
    pub decided: Vec<OtherDecision>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum OtherAccess {
    Granted,
    /// The company gave this till no manager's right: `turno-server admin enrolment-code --manager` does.
    NotGranted,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct OtherDecision {
    pub external_transaction_id: String,
    pub challenge_id: String,
    pub decision: Decision,
    pub decided_by: String,
    pub decided_at: String,
    pub progress: ResolutionProgress,
    /// Who decided otherwise before, or YUPY's own word for support.
    pub detail: Option<String>,
}

/// A manager's answer to another till's question. The PIN approves this one act and nothing else.
#[derive(Clone, PartialEq, Eq, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct DecideOther {
    pub external_transaction_id: String,
    /// The question that was on the screen: a decision about one is never used for another.
    pub challenge_id: String,
    pub decision: Decision,
    pub manager_id: String,
    pub pin: String,
    pub reason: String,
}
