//! The cashier's shift on the screen: figures at any time, the closing, and shifts that are past.

use std::fmt;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Money, Person, SaleState, SaleSummary};

/// So many sales and their sum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Tally {
    pub count: u32,
    pub amount: Money,
}

/// A part of what was sold, by hour, route or tender.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Share {
    /// `10` for 10:00 to 10:59; a route's name, empty for what has none; a tender's word, e.g. `cash`.
    pub label: String,
    pub count: u32,
    pub amount: Money,
}

/// What a shift sold. Always: sold = accepted + pending + attention + discarded, and net = sold − discarded − returned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct SoldFigures {
    pub sold: Tally,
    pub accepted: Tally,
    /// Waiting, or on its way.
    pub pending: Tally,
    /// In review, on hold, or needing a person.
    pub attention: Tally,
    /// The same sale as another one.
    pub discarded: Tally,
    pub returned: Tally,
    /// Already taken off everything else.
    pub discounts: Tally,
    pub net: Tally,
}

/// The cash that should be there: float + sales − rounding + pay-ins − pay-outs − refunds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct DrawerFigures {
    pub float: Money,
    pub sales: Money,
    /// What cash rounding took off; never below zero.
    pub rounding: Money,
    pub pay_ins: Money,
    pub pay_outs: Money,
    /// Given back for sales of earlier shifts.
    pub refunds: Money,
    pub expected: Money,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum MovementKind {
    PayIn,
    PayOut,
    /// Money of an earlier shift's sale, given back from this drawer.
    Refund,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Movement {
    pub movement_number: i64,
    pub kind: MovementKind,
    pub amount: Money,
    pub reason: String,
    pub at: String,
    pub person: String,
    pub approved_by: Option<String>,
}

/// Pieces of one coin or note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct CountedPieces {
    pub denomination: Money,
    pub pieces: u32,
    pub amount: Money,
}

/// How a shift ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Closing {
    /// Letters and number, e.g. `K7M-12`; no other report of this till has it.
    pub z_id: String,
    pub closed_at: String,
    pub closed_by: String,
    /// The manager who approved the difference, and why.
    pub approved_by: Option<String>,
    pub reason: Option<String>,
    pub count: Vec<CountedPieces>,
    pub counted: Money,
    /// Counted − expected: below zero money is missing.
    pub difference: Money,
}

/// A sale that is no longer where the shift's report says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct LateSale {
    pub sale: SaleSummary,
    /// Null: it was settled then, or came into the shift later (put back from the journal).
    pub was: Option<SaleState>,
    pub changed_at: String,
}

/// What a person may do alone. Beyond it a manager's PIN approves the one act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct ShiftLimits {
    pub pay_out: Money,
    pub difference: Money,
    /// More cash than this should not be in a drawer.
    pub cash_held: Money,
    /// Coins and notes to count, the smallest first.
    pub denominations: Vec<Money>,
}

/// The X report of an open shift, or the Z report of a closed one with what happened since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct ShiftReport {
    pub shift_id: String,
    pub opened_at: String,
    pub opened_by: String,
    /// Null while the shift is open.
    pub closing: Option<Closing>,
    pub figures: SoldFigures,
    pub drawer: DrawerFigures,
    pub tenders: Vec<Share>,
    /// From the first hour with a sale to the last one, none left out.
    pub hours: Vec<Share>,
    /// The most sold first.
    pub routes: Vec<Share>,
    pub movements: Vec<Movement>,
    /// Sales that YUPY has not settled (when closed: had not settled then), oldest first; at most as many as fit.
    pub unsettled: Vec<UnsettledSale>,
    pub unsettled_count: u32,
    /// A closed shift's late addendum.
    pub addendum: Vec<LateSale>,
    pub limits: ShiftLimits,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct UnsettledSale {
    pub external_transaction_id: String,
    pub description: String,
    pub amount: Money,
    pub state: SaleState,
}

/// A closed shift in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct PastShift {
    pub shift_id: String,
    pub shift_number: u32,
    /// Null for one that was put back from the journal and never counted.
    pub z_id: Option<String>,
    pub opened_at: String,
    pub closed_at: String,
    pub opened_by: String,
    pub net: Option<Money>,
    pub counted: Option<Money>,
    pub difference: Option<Money>,
    /// Sales that were not settled at the close and are now.
    pub late_count: u32,
    pub unsettled_count: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct PastShiftPage {
    pub items: Vec<PastShift>,
    pub next: Option<u32>,
}

/// Where a report was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct SavedReport {
    pub path: String,
}

/// A manager's PIN for one act.
#[derive(Clone, PartialEq, Eq, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct Approval {
    pub manager_id: String,
    pub pin: String,
}

/// Without the PIN, which is to be in no log.
impl fmt::Debug for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approval").field("manager_id", &self.manager_id).finish_non_exhaustive()
    }
}

#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct ShiftReportRequest {
    /// Null: the open one.
    pub shift_id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum CashDirection {
    PayIn,
    PayOut,
}

#[derive(Clone, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct MoveCashRequest {
    /// From `open_draft`: pressed twice, moved once.
    pub draft_id: String,
    pub direction: CashDirection,
    /// As typed.
    pub amount: String,
    pub reason: String,
    pub approval: Option<Approval>,
}

#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct Pieces {
    pub denomination_minor: i64,
    pub pieces: u32,
}

#[derive(Clone, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct CloseShiftRequest {
    /// The shift on the screen. Closing it again does nothing.
    pub shift_id: String,
    pub count: Vec<Pieces>,
    /// The expected cash that the screen showed: if it changed meanwhile nothing is closed.
    pub shown_expected_minor: i64,
    /// Needed when the difference is beyond the limit.
    pub approval: Option<Approval>,
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct PastShiftsRequest {
    /// The `next` of the page before; null for the newest.
    pub before: Option<u32>,
}

/// The drawer as the last person left it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct LastClosing {
    pub shift_id: String,
    pub z_id: String,
    pub closed_at: String,
    pub closed_by: Person,
    pub counted: Money,
    pub difference: Money,
}
