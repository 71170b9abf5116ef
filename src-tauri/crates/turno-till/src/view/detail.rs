//! One sale with everything that is known of it, and what a manager may change about it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Money, SaleDiscount, SaleReason, SaleResolution, SaleSummary, SaleVoid, TenderShare, VoidOffer};

/// The one thing that a cashier wants to know about a sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum SaleVerdict {
    /// It counts, and YUPY has it.
    Counts,
    /// It counts. YUPY has it as it was before it was corrected.
    CountsWithDifference,
    /// It counts here; YUPY gets it by itself.
    OnItsWay,
    /// It counts here; whether YUPY has it is being found out.
    Unconfirmed,
    /// A manager has to say whether it is another sale.
    AwaitsDecision,
    /// YUPY refused what it says; a manager can correct it.
    AwaitsCorrection,
    /// Something about it is wrong that nobody can put right at the till.
    AwaitsSupport,
    /// It was the same sale as another one.
    DoesNotCount,
    /// It was discarded here, and YUPY says otherwise.
    DiscardDisputed,
    /// Its card may have been charged; that is being found out.
    CardUnconfirmed,
    /// It was to be paid by card, and no card was charged.
    CardNotCharged,
    /// Its money was given back.
    Voided,
    /// Its money was given back, and YUPY refuses to void it.
    VoidRefused,
}

/// What a sale says beyond its figures: the members that a correction may change. Absent is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct SaleContent {
    pub buyer_name: Option<String>,
    pub route: Option<String>,
    pub seat: Option<String>,
    pub service: Option<String>,
    pub product: Option<String>,
    pub order: Option<String>,
    pub custom_reference_1: Option<String>,
    pub custom_reference_2: Option<String>,
}

/// What happened to a sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Happening {
    Recorded,
    DiscountGiven,
    PriceApproved,
    /// Put back from the journal.
    Recovered,
    /// An attempt of which nobody knows how it ended: the program stopped.
    AttemptCutOff,
    /// An attempt that is on its way.
    AttemptRunning,
    /// `outcome` says how it ended.
    AttemptEnded,
    AttemptAccepted,
    QuestionAsked,
    DecidedDifferent,
    DecidedSame,
    DecisionCarriedOver,
    Corrected,
    SentAgain,
    Accepted,
    /// What YUPY accepted is an earlier version.
    AcceptedEarlier,
    MissingAtYupy,
    IdentityCollision,
    BodyChanged,
    /// Its ticket, or a copy of it, was printed.
    Printed,
    /// A copy of its ticket was asked for.
    CopyAsked,
    /// The money was given back.
    Voided,
    VoidRetried,
    /// The void was put back from the journal.
    VoidRecovered,
    /// `outcome` says how an attempt to void it at YUPY ended.
    VoidAttemptEnded,
    VoidAttemptCutOff,
    /// YUPY has voided it as well.
    VoidConfirmed,
    /// A card was charged for it; `detail` is the payment's id.
    PaymentApproved,
    /// A card was declined; `detail` is the payment's id.
    PaymentDeclined,
    /// Somebody had a card charged, or the payment asked for again.
    PaymentAskedFor,
    /// `outcome` says how an attempt to charge the card ended.
    PaymentAttemptEnded,
    PaymentAttemptCutOff,
    /// Cash was taken out of the drawer for it; `detail` is how much.
    CashRefunded,
    /// `outcome` says how an attempt to tell YUPY of the discard ended.
    DiscardAttemptEnded,
    DiscardAttemptCutOff,
    /// YUPY knows that it was discarded.
    DiscardTold,
    /// YUPY's question had ended before.
    DiscardNotTold,
    /// YUPY says otherwise of the discarded sale; `detail` is who or what.
    DiscardDisputed,
    DiscardTakenBack,
    DiscardLeft,
    /// Somebody on another till, or at a desk, said that it is another sale.
    DecidedElsewhereDifferent,
    DecidedElsewhereSame,
    /// It came from another till, in a file.
    Imported,
    /// Before it came, a manager had answered for it here, and YUPY heard that.
    AnswerTold,
    /// Somebody looked whether its ticket, which was interrupted, had come out whole.
    PrintAnswered,
    /// Something that this version has no word for; `detail` is the audit's.
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct TimelineEntry {
    pub at: String,
    pub happened: Happening,
    /// Who did it, by name.
    pub person: Option<String>,
    /// A person's own words.
    pub reason: Option<String>,
    /// How an attempt ended.
    pub outcome: Option<SaleReason>,
    /// For support: a challenge, the members that changed.
    pub detail: Option<String>,
    pub status: Option<u16>,
    /// YUPY's id of the answer.
    pub request_id: Option<String>,
}

/// The ticket that a sale was on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct SaleCheckout {
    pub draft_id: String,
    pub payment_method: String,
    pub sales_count: u32,
    pub total: Money,
    pub rounding: Money,
    pub due: Money,
    pub received: Money,
    pub change: Money,
    pub tenders: Vec<TenderShare>,
}

/// A sale with everything that is known of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct SaleDetail {
    pub sale: SaleSummary,
    pub verdict: SaleVerdict,
    pub quantity: u32,
    /// Null for a sale that another till made: its ticket stayed there.
    pub checkout: Option<SaleCheckout>,
    pub discount: Option<SaleDiscount>,
    /// As it was recorded at the sale; on the customer's ticket for ever.
    pub sold: SaleContent,
    /// As YUPY is told it: the newest correction.
    pub content: SaleContent,
    /// How often it was corrected.
    pub revision: u32,
    pub idempotency_key: String,
    pub void: Option<SaleVoid>,
    pub void_offer: VoidOffer,
    /// The discard of which YUPY is told.
    pub resolution: Option<SaleResolution>,
    /// Oldest first.
    pub timeline: Vec<TimelineEntry>,
    /// Attempts in the middle that the timeline leaves out.
    pub attempts_left_out: u32,
}

#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct SaleDetailRequest {
    pub external_transaction_id: String,
}

/// A manager's correction of a sale that YUPY refused. The same content again sends it as it is. The PIN approves this
/// one act and nothing else.
#[derive(Clone, PartialEq, Eq, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct CorrectSaleRequest {
    pub external_transaction_id: String,
    /// The revision that was on the screen.
    pub revision: u32,
    pub content: SaleContent,
    pub manager_id: String,
    pub pin: String,
    pub reason: String,
}
