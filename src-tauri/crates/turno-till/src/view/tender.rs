//! How a ticket is paid, and how one was.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::Money;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum TenderMethod {
    Cash,
    Wallet,
    Card,
}

/// Whose wallet: money that goes from telephone to telephone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum WalletProvider {
    Yape,
    Plin,
    Other,
}

/// One way in which the customer pays. Amounts are as typed (`100`, `85.50`, `85,50`); the till reads them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "method", rename_all = "snake_case", deny_unknown_fields)]
#[ts(export)]
pub enum Tender {
    /// Pays whatever the others leave. No `received` means exactly the amount due.
    Cash { received: Option<String> },
    /// The cashier has seen the payment arrive.
    Wallet {
        provider: WalletProvider,
        operation_number: String,
        /// Null: whatever the others leave.
        amount: Option<String>,
    },
    /// Pays all of a ticket, and needs the line.
    Card,
}

/// What a tender pays of a ticket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct TenderShare {
    pub method: TenderMethod,
    pub provider: Option<WalletProvider>,
    pub operation_number: Option<String>,
    /// What was, or is to be, handed over: of cash, after rounding.
    pub amount: Money,
}
