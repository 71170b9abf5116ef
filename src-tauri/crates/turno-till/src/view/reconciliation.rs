//! What came of comparing this till's sales with YUPY's list of them.

use serde::Serialize;
use ts_rs::TS;

use super::Money;

/// Why our sales were compared with YUPY's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ReconciliationReason {
    Daily,
    /// YUPY had not been heard for a long time.
    Outage,
    /// A person asked. The only one that reads all of YUPY's list.
    Asked,
}

/// A difference between YUPY's list and our sales.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum FindingKind {
    /// YUPY has a sale under this till's numbers that this till does not have.
    UnknownHere,
    AmountDiffers,
    /// A manager decided here that it was the same sale as another, and YUPY has both.
    DiscardedHere,
    /// YUPY had confirmed it and has it no more; the till sends it again, with its number and key.
    SentAgain,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Finding {
    pub kind: FindingKind,
    pub external_transaction_id: String,
    pub yupy_transaction_id: Option<String>,
    pub our_amount: Option<Money>,
    /// As YUPY writes it, e.g. `PEN 85.50`.
    pub yupy_amount: Option<String>,
}

/// What a comparison of our sales with YUPY's list found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Reconciliation {
    pub reason: ReconciliationReason,
    pub finished_at: String,
    pub compared_count: u32,
    /// Sales of other installations that have this till's name: not ours to judge.
    pub of_others_count: u32,
    pub findings_count: u32,
    /// The first of them; those for people come before those that mend themselves.
    pub findings: Vec<Finding>,
}
