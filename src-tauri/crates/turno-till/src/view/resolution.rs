//! A discard on its way to YUPY.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Decision, ProblemCode};

/// How far YUPY knows of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ResolutionProgress {
    Queued,
    Sending,
    Told,
    /// The question had ended; there is nobody to tell.
    Closed,
    /// Somebody else decided otherwise before, and theirs stands.
    DecidedOtherwise,
    /// The sale has become a transaction of its own.
    SaleExists,
    Refused,
    /// A manager saw the trouble and left things as they are.
    Acknowledged,
    TakenBack,
}

/// What was decided, and what can be done about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct SaleResolution {
    pub progress: ResolutionProgress,
    pub decision: Decision,
    pub decided_by: String,
    pub decided_at: String,
    pub reason: String,
    /// Who decided otherwise, or YUPY's own word for support.
    pub detail: Option<String>,
    /// Why the discard cannot be taken back; null when it can.
    pub take_back_refused: Option<ProblemCode>,
}

/// A manager takes a discard back, or leaves one of which YUPY says otherwise. The PIN approves this one act.
#[derive(Clone, PartialEq, Eq, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct DiscardRequest {
    pub external_transaction_id: String,
    pub manager_id: String,
    pub pin: String,
    pub reason: String,
}
