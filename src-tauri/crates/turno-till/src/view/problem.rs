//! Why something was refused or failed, as the screen hears it.

use serde::Serialize;
use ts_rs::TS;

/// A refusal or failure for the screen: it branches on `code` and has its own sentence for each;
/// `message` is the till's Spanish sentence for whatever it has none for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Problem {
    pub code: ProblemCode,
    pub message: String,
    /// Figures that the sentence needs, e.g. seconds to wait, a path, the names of what is missing.
    pub detail: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ProblemCode {
    // at start
    FolderInUse,
    FolderNotWritable,
    DatabaseNewer,
    DatabaseDamaged,
    DiskFull,
    // setting up
    AddressInvalid,
    AddressUnreachable,
    EnrolmentRefused,
    NotYupy,
    PracticeFailed,
    // people
    NotUnlocked,
    /// `detail` is nothing; equal for an unknown person and a wrong PIN.
    PinWrong,
    /// `detail` is the seconds to wait.
    PinLocked,
    PinWeak,
    NameInvalid,
    ManagerRequired,
    /// A till always has a manager.
    LastManager,
    ReasonRequired,
    // shift
    ShiftRequired,
    ShiftAlreadyOpen,
    /// `detail` is the cash that there is.
    NotEnoughCash,
    /// What the screen showed is not so any more.
    FiguresChanged,
    AmountInvalid,
    // selling
    TicketEmpty,
    TicketTooLong,
    OfferGone,
    PriceChanged,
    SeatRequired,
    SeatUnknown,
    /// The same seat twice on one ticket.
    SeatTwice,
    QuantityInvalid,
    BuyerNameInvalid,
    ReceivedTooLittle,
    /// None, more than the price, or no number.
    DiscountInvalid,
    /// None, too many, or two that take what the others leave.
    TendersInvalid,
    /// More than is to be paid, which only cash may be. `detail` is what is left, e.g. `PEN 5.96`.
    TenderTooMuch,
    OperationNumberInvalid,
    /// `detail` is the sale that was paid with it.
    OperationNumberUsed,
    /// A card pays a whole ticket or nothing of it.
    CardAlone,
    /// Cards are charged with the line only.
    CardNeedsLine,
    /// It is paid, voided, not at YUPY yet, or being charged.
    CardNotChargeable,
    /// It is paid, so that only a manager gives its money back.
    CardWasCharged,
    DraftAlreadyRecorded,
    // review
    QuestionChanged,
    NotInReview,
    MoneyHandlingRequired,
    /// YUPY may know of the discard, or its money or seat has moved on.
    TakeBackTooLate,
    /// Somebody elsewhere decided first; `detail` is who.
    DecidedElsewhere,
    // printing
    PrinterMissing,
    /// `detail` is what of them: `columns`, `address`, `path` or `footer`.
    PrinterSettingsInvalid,
    // amending
    /// The sale is not one that a correction can help.
    NotCorrectable,
    /// It was corrected or answered since it was shown.
    SaleChanged,
    /// `detail` is the member that cannot be sent as it is.
    TextInvalid,
    AlreadyVoided,
    VoidAwaitsDecision,
    /// Whether the card was charged is being found out.
    VoidAwaitsPayment,
    VoidNotPossible,
    /// `detail` is the most that this person may give back, e.g. `PEN 1000.00`.
    VoidLimit,
    // unsent sales in a file
    /// `detail` is how many characters are enough.
    PassphraseShort,
    PassphraseWrong,
    NothingToExport,
    /// `detail` is the largest number.
    TooManySales,
    FileExists,
    FileNotWritten,
    /// `detail` is the folder.
    FolderMissing,
    /// `detail` is the folder on the medium that is full; the till's own disk is another matter.
    FileNoRoom,
    FileNotRead,
    /// It is no export of unsent sales.
    FileForeign,
    FileNewer,
    /// It was cut or changed.
    FileDamaged,
    OtherCompany,
    // anything else
    NotFound,
    NotAllowedNow,
    /// The disk refused in the middle of it. Nothing was recorded; the same press may be repeated.
    DiskFailed,
    /// The disk said neither yes nor no, and the till could not find out either.
    OutcomeUnknown,
    Internal,
}
