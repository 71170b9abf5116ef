//! The printer, what it was asked to print, and what became of it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Where the printer is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[ts(export)]
pub enum PrinterDevice {
    /// `192.168.1.50`, `cocina.local:9101`; port 9100 unless it says another.
    Network { address: String },
    /// `/dev/usb/lp0`.
    DeviceFile { path: String },
    /// Tickets are written behind each other into a file.
    File { path: String },
}

/// The characters that the printer was made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum PrinterCodePage {
    Pc850,
    Pc858,
    Wpc1252,
    Iso885915,
    /// Unknown: every line is printed as a picture, which any printer can.
    Drawn,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct PrinterSettings {
    /// Null: this till prints nothing.
    pub device: Option<PrinterDevice>,
    /// Characters in a row: 32, 42 or 48.
    pub columns: u32,
    pub code_page: PrinterCodePage,
    /// The printer draws QR codes; otherwise they are sent as pictures.
    pub qr_by_printer: bool,
    /// There is a knife.
    pub cuts: bool,
    /// A ticket is printed with every sale.
    pub prints_tickets: bool,
    /// A cash sale opens the drawer.
    pub opens_drawer: bool,
    /// The ticket says that it is not a tax document.
    pub says_no_receipt: bool,
    pub footer_1: String,
    pub footer_2: String,
}

/// What a job puts on the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum PrintKind {
    Ticket,
    /// Says that it is a copy, and which.
    Copy,
    Test,
    /// Nothing but the pulse for the drawer.
    Drawer,
    Report,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum PrintState {
    Queued,
    Printing,
    Printed,
    /// Nothing of it is on the paper.
    Failed,
    /// Some of it may be: only a person can see whether it came out whole.
    Unknown,
    /// It did not come out whole; a copy took its place.
    Replaced,
    /// A person decided to leave it unprinted.
    Dismissed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum PrintFailure {
    /// Off, unplugged or out of reach.
    NoPrinter,
    /// No paper, or the lid is open.
    NoPaper,
    /// It is there and takes nothing.
    NoAnswer,
    /// There is nothing of this name or address.
    WrongName,
    /// The program ended in the middle of it.
    Interrupted,
    /// What it is about cannot be read any more.
    NotMade,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct PrintJob {
    pub job_id: i64,
    pub kind: PrintKind,
    pub copy_number: u32,
    /// Of a ticket or a copy.
    pub external_transaction_id: Option<String>,
    pub description: Option<String>,
    pub state: PrintState,
    pub failure: Option<PrintFailure>,
    /// What the system or the printer said, for support.
    pub detail: Option<String>,
    pub created_at: String,
    pub changed_at: String,
}

/// What of printing needs a person's eye.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Printing {
    pub has_printer: bool,
    /// Queued or being printed.
    pub waiting_count: u32,
    pub failed_count: u32,
    /// The oldest of them.
    pub failed: Vec<PrintJob>,
    /// *¿Salió completo?*, the oldest first.
    pub questions: Vec<PrintJob>,
}

/// A line of a ticket, or something that is not text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(tag = "row", rename_all = "snake_case")]
#[ts(export)]
pub enum PreviewRow {
    /// In the order in which it is drawn from the left.
    Line {
        text: String,
        bold: bool,
        double: bool,
    },
    /// Dots in rows of `0` and `1`.
    Picture {
        rows: Vec<String>,
    },
    Cut,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct TicketPreview {
    pub columns: u32,
    pub rows: Vec<PreviewRow>,
}

#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct PrinterSettingsRequest {
    pub settings: PrinterSettings,
}

#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct PrintedSaleRequest {
    pub external_transaction_id: String,
}

#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct SalePrintsRequest {
    /// The sales of one checkout.
    pub external_transaction_ids: Vec<String>,
}

#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct RetryPrintRequest {
    /// Null: everything that failed.
    pub job_id: Option<i64>,
}

#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct PrintJobRequest {
    pub job_id: i64,
}

/// The answer to *¿salió completo?*
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct AnswerPrintRequest {
    pub job_id: i64,
    pub is_complete: bool,
}
