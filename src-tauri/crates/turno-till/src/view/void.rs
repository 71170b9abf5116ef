//! Giving a sale's money back.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Money, ProblemCode, TenderShare};

/// How far YUPY knows that a sale was voided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum VoidProgress {
    /// Behind its sale, which YUPY does not have yet.
    Waiting,
    Queued,
    Sending,
    Confirmed,
    /// YUPY never had the sale; there is nothing to tell.
    Local,
    /// YUPY refuses to void it: the money is back with the customer, and YUPY still counts the sale.
    NeedsAttention,
}

/// What can be given back for a sale, or why nothing can.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct VoidOffer {
    /// What was paid: with cash not the price, but what coins can pay.
    pub returned: Money,
    /// The same by how it was paid: only cash comes out of the drawer.
    pub parts: Vec<TenderShare>,
    pub limit: Money,
    pub refused: Option<ProblemCode>,
}

/// A sale's money as it was given back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct SaleVoid {
    pub progress: VoidProgress,
    pub returned: Money,
    pub parts: Vec<TenderShare>,
    pub voided_at: String,
    /// From whose drawer, e.g. `S44`.
    pub shift_id: String,
    pub asked_by: String,
    pub approved_by: String,
    pub reason: String,
    pub operation_id: String,
    /// YUPY's own words for a refusal, for support.
    pub detail: Option<String>,
}

/// A manager gives the money of a sale back. The PIN approves this one act and nothing else.
#[derive(Clone, PartialEq, Eq, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct VoidSaleRequest {
    pub external_transaction_id: String,
    /// What the screen said would be given back: another figure is refused, not given.
    pub shown_returned_minor: i64,
    pub manager_id: String,
    pub pin: String,
    pub reason: String,
}
