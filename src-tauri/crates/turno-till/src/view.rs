//! What the screen shows: plain data, computed from rows each time it is asked for.
//!
//! These types are the till's whole vocabulary towards a screen. They are exported to TypeScript
//! (`ui/src/bindings`), so a change here that the screen does not follow fails the build. Times are RFC 3339
//! texts with the till's offset; amounts are [`Money`]; ids are the texts that travel on the wire.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

mod appearance;
mod audit;
mod detail;
mod discount;
mod elsewhere;
mod export;
mod handover;
mod payment;
mod people;
mod printing;
mod problem;
mod reconciliation;
mod request;
mod resolution;
mod search;
mod settings;
mod shift;
mod tender;
mod void;
pub use appearance::*;
pub use audit::*;
pub use detail::*;
pub use discount::*;
pub use elsewhere::*;
pub use export::*;
pub use handover::*;
pub use payment::*;
pub use people::*;
pub use printing::*;
pub use problem::*;
pub use reconciliation::*;
pub use request::*;
pub use resolution::*;
pub use search::*;
pub use settings::*;
pub use shift::*;
pub use tender::*;
pub use void::*;

/// An amount for display: minor units (céntimos) of an ISO 4217 currency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Money {
    pub minor: i64,
    pub currency: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Role {
    Cashier,
    Manager,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Person {
    pub person_id: String,
    pub name: String,
    pub role: Role,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Shift {
    /// As printed and sent, e.g. `S44`.
    pub shift_id: String,
    pub opened_at: String,
    pub opened_by: Person,
    pub float: Money,
    pub sales_count: u32,
    pub sold: Money,
    /// There is more cash in the drawer than there should be.
    pub drawer_is_full: bool,
}

/// Why sales are, or are not, reaching YUPY. One cause at a time, the one to act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ConnectionState {
    /// Nothing was tried yet since the program started.
    Unknown,
    Online,
    NoNetwork,
    NoNameResolution,
    /// Something answered that is not YUPY: a Wi-Fi portal, a proxy.
    Portal,
    /// TLS failed: a certificate that is not YUPY's, or a clock so wrong that none is valid.
    CertificateOrClock,
    /// The network is there, YUPY does not answer or answers that it cannot.
    Unreachable,
    /// 401 or 403: the till's credential is not accepted. The queue waits, nothing is lost.
    CredentialRefused,
    /// 404, 405 or 415: the address or the version is wrong. The queue waits.
    WrongAddress,
    /// A person switched sending off.
    Paused,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Connection {
    pub state: ConnectionState,
    /// When this state began.
    pub since: Option<String>,
    /// When the relay tries next by itself, if it is waiting.
    pub next_attempt_at: Option<String>,
}

/// Why the till numbers its sales under another epoch than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum EpochReason {
    /// The first one, from the enrolment.
    Enrolled,
    /// What is kept of this till outside of its data folder is not there: the folder came from elsewhere.
    WitnessMissing,
    /// Another folder is in use that says it is this till.
    FolderCopied,
    OtherMachine,
    /// The folder is an older state of itself: it was restored.
    WentBack,
    /// The database was damaged and a backup took its place.
    BackupRestored,
    /// YUPY's answers show that another till sells under our numbers.
    IdentityCollision,
}

/// The till changed its numbers by itself; people should know why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct NewEpoch {
    /// The letters on tickets from here on, e.g. `K7M`.
    pub epoch: String,
    pub reason: EpochReason,
    pub taken_at: String,
    /// Sales of before that YUPY has not confirmed; each is looked up there before it is sent again.
    pub to_look_up_count: u32,
    /// Sales that were put back from the journal.
    pub recovered_count: u32,
}

/// The status bar. Every count is computed from rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Status {
    pub connection: Connection,
    /// Sales not settled yet, those in review and needing attention included.
    pub pending_count: u32,
    pub in_review_count: u32,
    pub needs_attention_count: u32,
    /// Answers that show this till's identity used by another one. Never zero again by itself.
    pub identity_collision_count: u32,
    /// Differences between YUPY's list and our sales that somebody has to look into.
    pub reconciliation_alarm_count: u32,
    /// By how many seconds this machine's clock is ahead of YUPY's (below zero: behind), when that is too much.
    pub clock_ahead_s: Option<i64>,
    /// The guard fired lately, or sales of before it are not settled.
    pub new_epoch: Option<NewEpoch>,
    /// What is not as safe as it should be.
    pub storage_warnings: Vec<StorageWarning>,
}

/// Something about the disk that somebody should see to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum StorageWarning {
    /// The last copy of the database could not be made.
    BackupFailed,
    /// New sales are not in the journal.
    JournalFailed,
    /// There is too little room to sell; what was sold is still sent and settled.
    DiskLow,
}

/// The three honest words about a sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Standing {
    /// *Guardada aquí*: recorded on this till; YUPY does not have it.
    Saved,
    /// *Sin confirmar*: an attempt left and its outcome is not known.
    Unconfirmed,
    /// *Confirmada por YUPY*.
    Confirmed,
}

/// Where a sale is on its way to YUPY (the outbox states of the design).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum SaleState {
    Queued,
    Sending,
    Accepted,
    InReview,
    NeedsAttention,
    OnHold,
    Discarded,
    Withdrawn,
}

/// Why a sale is where it is; the screen has a sentence for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum SaleReason {
    NotTriedYet,
    NoNetwork,
    NoNameResolution,
    Portal,
    CertificateOrClock,
    Unreachable,
    TimedOut,
    ConnectionLost,
    ServerBusy,
    InProgressAtYupy,
    CredentialRefused,
    WrongAddress,
    UnusableAnswer,
    Paused,
    InterruptedByRestart,
    PossibleDuplicate,
    ConfirmationRefused,
    Confirming,
    MissingAtYupy,
    Corrected,
    FromAnotherTill,
    ExternalTransactionConflict,
    IdempotencyConflict,
    IdentityCollision,
    /// The stored body is not the one that was frozen at the sale: it is not sent.
    StoredBodyChanged,
    ValidationFailed,
    Refused,
    ReconciliationRequired,
    SameSale,
    Withdrawn,
}

/// A sale in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct SaleSummary {
    pub external_transaction_id: String,
    pub sequence: i64,
    pub shift_id: String,
    /// What was sold in a few words, e.g. `Lima – Arequipa 20:30 · asiento 12A`.
    pub description: String,
    pub route: Option<String>,
    pub seat: Option<String>,
    pub buyer_name: Option<String>,
    pub amount: Money,
    pub occurred_at: String,
    pub seller: String,
    pub state: SaleState,
    pub standing: Standing,
    pub reason: Option<SaleReason>,
    /// YUPY's own words for a refusal, for support.
    pub detail: Option<String>,
    pub attempts: u32,
    pub next_attempt_at: Option<String>,
    pub yupy_transaction_id: Option<String>,
    /// How far YUPY knows that the sale was voided; null when it was not.
    pub voided: Option<VoidProgress>,
    /// What was given back for it.
    pub returned: Option<Money>,
    /// How far YUPY knows that the sale was discarded; null when it need not be told.
    pub resolution: Option<ResolutionProgress>,
    /// How its card stands; null for what is paid otherwise.
    pub card: Option<CardPayment>,
    /// The till that sold it, when it was not this one: the sale came in a file.
    pub origin_device_id: Option<String>,
}

/// A page of sales; `next` is the cursor for the following page, null at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct SalePage {
    pub items: Vec<SaleSummary>,
    pub next: Option<i64>,
}

/// Something that can be put on a ticket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Offer {
    pub offer_id: String,
    pub kind: OfferKind,
    /// e.g. `Lima – Arequipa` or `Equipaje extra`.
    pub name: String,
    /// e.g. `20:30 · Cama 160° · bus 184`.
    pub detail: String,
    pub route: Option<String>,
    /// RFC 3339, for a departure.
    pub departs_at: Option<String>,
    pub price: Money,
    pub seats_free: Option<u32>,
    /// What a scanner reads off a product.
    pub barcode: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum OfferKind {
    /// An intercity departure: a seat is chosen.
    Departure,
    /// A fare of an urban line: a quantity, no seat.
    Fare,
    /// Luggage, a parcel, anything else: a quantity, no seat.
    Product,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct SeatMap {
    pub offer: Offer,
    pub decks: Vec<Deck>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Deck {
    /// 1 is the lower deck.
    pub number: u8,
    /// Rows from the front of the bus; a null is the aisle or an empty place.
    pub rows: Vec<Vec<Option<Seat>>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Seat {
    pub seat: String,
    pub price: Money,
    pub sold: Option<SeatSold>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct SeatSold {
    pub external_transaction_id: String,
    pub occurred_at: String,
    pub buyer_name: Option<String>,
}

#[derive(Clone, Debug, Serialize, TS)]
#[ts(export)]
pub struct DraftOpened {
    pub draft_id: String,
}

/// One line of a ticket as the screen asks for it. Prices are never sent by the screen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct Line {
    pub offer_id: String,
    pub seat: Option<String>,
    /// 1 for a seat; how many for fares and products.
    pub quantity: u32,
    pub buyer_name: Option<String>,
    /// The price that the screen showed, in minor units: a catalog that changed meanwhile is refused, not re-priced.
    pub shown_price_minor: i64,
    pub discount: Option<Discount>,
}

/// What a ticket costs. All figures come from here, none from the screen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Quote {
    pub lines: Vec<QuoteLine>,
    /// The sum of the lines: what is sent to YUPY.
    pub total: Money,
    /// What cash rounding takes off (never adds), e.g. S/ 0.06.
    pub rounding: Money,
    pub due: Money,
    /// What of it is to be paid in cash.
    pub cash_due: Money,
    /// What each tender pays.
    pub tenders: Vec<TenderShare>,
    /// Null while less than `due` has been received.
    pub change: Option<Money>,
    pub missing: Option<Money>,
    /// A discount is beyond what a cashier gives alone.
    pub needs_manager: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct QuoteLine {
    pub description: String,
    pub quantity: u32,
    pub unit_price: Money,
    /// What was taken off; the amount is what is left.
    pub discount: Option<Money>,
    pub amount: Money,
}

/// What pressing *Cobrar* sends. The same draft pressed twice records one sale and gets the same answer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct Charge {
    pub draft_id: String,
    pub lines: Vec<Line>,
    /// One to four; at most one of them takes what the others leave.
    pub tenders: Vec<Tender>,
    pub look_alikes: LookAlikePolicy,
    /// Needed for a discount beyond the limit.
    pub approval: Option<Approval>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum LookAlikePolicy {
    /// Stop and say which earlier sale looks like this one.
    Ask,
    /// The cashier saw the warning and sells.
    SellAnyway,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(tag = "outcome", rename_all = "snake_case")]
#[ts(export)]
pub enum ChargeOutcome {
    /// Committed on this till. From here on it cannot be lost.
    Recorded { checkout: Box<Checkout> },
    /// Nothing was recorded; the cashier decides.
    LookAlike { warnings: Vec<LookAlike> },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Checkout {
    pub draft_id: String,
    pub recorded_at: String,
    pub sales: Vec<SaleSummary>,
    pub total: Money,
    pub rounding: Money,
    pub due: Money,
    pub received: Money,
    pub change: Money,
    pub tenders: Vec<TenderShare>,
}

/// An earlier sale of this till that the new line looks like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct LookAlike {
    /// Index into the lines of the ticket.
    pub line: u32,
    pub earlier: SaleSummary,
    pub matching_signals: Vec<String>,
    pub seconds_apart: u32,
}

/// What *Enviar ahora* did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct SendReport {
    pub attempted: u32,
    pub accepted: u32,
    pub still_pending: u32,
    pub connection: Connection,
}

/// One side of a review. On the candidate's side only what YUPY told is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct ReviewSide {
    pub external_transaction_id: String,
    pub yupy_transaction_id: Option<String>,
    pub amount: Money,
    pub occurred_at: Option<String>,
    pub device_id: Option<String>,
    pub shift_id: Option<String>,
    pub route: Option<String>,
    pub seat: Option<String>,
    pub buyer_name: Option<String>,
    pub seller: Option<String>,
    pub description: Option<String>,
    /// `active` or `voided` at YUPY; null when unknown.
    pub operational: Option<String>,
    pub financial: Option<String>,
}

/// A question that only a manager may answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Review {
    pub external_transaction_id: String,
    pub challenge_id: String,
    pub own: ReviewSide,
    pub candidate: ReviewSide,
    /// How many earlier sales look like this one; the nearest is `candidate`.
    pub candidates_count: u32,
    /// Contract order: amount, currency, buyer_name, shift_id, device_id, route, seat, …
    pub matching_signals: Vec<String>,
    pub seconds_apart: Option<u32>,
    pub asked_at: String,
    pub expires_at: String,
    /// `superseded` or `expired` when an earlier decision could not be used and is asked for anew.
    pub previous_confirmation: Option<String>,
    /// Somebody elsewhere decided first that it is the same sale.
    pub decided_elsewhere: Option<DecidedElsewhere>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Decision {
    DifferentSale,
    SameSale,
}

/// What became of the money of a sale that turned out to be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum MoneyHandled {
    Refunded,
    NotCollected,
}

/// A manager's answer. The PIN approves this one act and nothing else.
#[derive(Clone, PartialEq, Eq, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct Decide {
    pub external_transaction_id: String,
    /// The question that was on the screen: a decision about one is never used for another.
    pub challenge_id: String,
    pub decision: Decision,
    pub manager_id: String,
    pub pin: String,
    pub reason: String,
    /// Required for `same_sale`.
    pub money: Option<MoneyHandled>,
}

/// What the embedded server's line does in practice mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum PracticeLine {
    #[default]
    Online,
    /// Connections are refused.
    Offline,
    /// The server commits and its answer is dropped.
    LostReply,
    /// Seconds of delay each way, as on 3G.
    Slow,
    /// 200 with an HTML page.
    Portal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Language {
    Es,
    En,
}

/// Practice mode only: the people and PINs that the practice screen shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct PracticePin {
    pub name: String,
    pub role: Role,
    pub pin: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Practice {
    pub pins: Vec<PracticePin>,
    pub line: PracticeLine,
}

/// Where the program stands; decides which view is possible.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(tag = "phase", rename_all = "snake_case")]
#[ts(export)]
pub enum Phase {
    /// The till cannot work; says why. Nothing was changed.
    Unavailable {
        problem: Problem,
    },
    /// Nothing is set up: *Practicar* or *Conectar con YUPY*.
    Welcome,
    /// The data came without the credential and the PINs: a code of the same company makes it work again.
    Reconnect {
        address: String,
    },
    /// Connected, but nobody can unlock it yet.
    FirstManager,
    Locked {
        people: Vec<Person>,
        last_person_id: Option<String>,
    },
    NoShift {
        person: Person,
        /// How the shift before ended: its count is most often the next float.
        last_closing: Option<LastClosing>,
    },
    Selling {
        person: Person,
        shift: Shift,
    },
}

/// The whole frame of the screen in one read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Frame {
    pub phase: Phase,
    pub language: Language,
    pub appearance: Appearance,
    /// e.g. `D03`; null before set-up.
    pub device_id: Option<String>,
    pub currency: String,
    pub status: Option<Status>,
    /// Null outside practice mode.
    pub practice: Option<Practice>,
    /// Everybody who can unlock the till.
    pub people: Vec<Person>,
    /// Who can approve as a manager.
    pub managers: Vec<Person>,
}
