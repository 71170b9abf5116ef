//! A card that pays for a sale.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Where the payment of the last card that was tried stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum CardProgress {
    /// YUPY does not have the sale yet; nothing was charged.
    AwaitsSale,
    /// It is asked for, or asked for again.
    Asking,
    Approved,
    /// Nothing was charged.
    Declined,
    /// The sale was taken back before a card was charged.
    Withdrawn,
    /// It waits for a person; `trouble` says why.
    NeedsAttention,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum CardTrouble {
    /// The line came back when the customer had been waiting too long: nothing was charged.
    TooLate,
    InvalidState,
    NotFound,
    /// The acquirer has another amount.
    ReconciliationRequired,
    Refused,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct CardPayment {
    pub progress: CardProgress,
    /// *Sin confirmar*: the card may have been charged.
    pub is_unconfirmed: bool,
    /// 1 for the first card.
    pub card_number: u32,
    pub trouble: Option<CardTrouble>,
    pub next_attempt_at: Option<String>,
}

/// A sale whose card is to be charged: the next card, or the same payment again.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct ChargeCardRequest {
    pub external_transaction_id: String,
}

/// A sale for which no card was charged is taken back, by whoever sold it: no money moves.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct CancelUnpaidRequest {
    pub external_transaction_id: String,
    pub reason: String,
}
