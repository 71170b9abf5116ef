//! Looking for sales.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::TenderMethod;

/// Which sales; all that is given must hold.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct SearchSalesRequest {
    /// As typed: number, seat, name, amount, day, what was sold. Every word must hold; empty is all.
    pub text: String,
    pub standing: Option<SalesStanding>,
    /// Paid so, or in part.
    pub tender: Option<TenderMethod>,
    pub period: SalesPeriod,
    /// The `next` of the page before; null for the first page.
    pub after: Option<i64>,
}

/// How it stands with a sale, in the words of who looks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum SalesStanding {
    /// It goes to YUPY by itself.
    Waiting,
    /// YUPY has it, and it was not voided.
    Confirmed,
    /// Somebody has to look at it: it was refused, or it looks like another.
    NeedsAttention,
    Voided,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[ts(export)]
pub enum SalesPeriod {
    Always,
    /// The shift that is open.
    ThisShift,
    /// Days at the till, both included, e.g. `2026-11-30`.
    Days {
        from: String,
        to: String,
    },
}
