//! What is taken off a line's price, and was.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::Money;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum DiscountKind {
    Percent,
    Amount,
}

/// As typed: `10` or `12.5` percent, or an amount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct Discount {
    pub kind: DiscountKind,
    pub value: String,
    /// Needed when the ticket is charged; a quote is given before it is there.
    pub reason: String,
}

/// A sale's discount as it was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct SaleDiscount {
    pub list: Money,
    pub discount: Money,
    pub reason: String,
    /// By name; null where none was needed.
    pub approved_by: Option<String>,
}
