//! What people and the till did, for managers.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::Approval;

/// What an audit row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum AuditKind {
    People,
    Shift,
    Sales,
    /// Look-alikes, and what was decided about them.
    Questions,
    Money,
    Printing,
    /// Who this till is: its numbers, its folder, its clock, its line.
    Till,
}

/// Which rows; what is null does not matter.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct AuditPageRequest {
    /// The `next` of the page before; null for the first page.
    pub after: Option<i64>,
    pub kind: Option<AuditKind>,
    pub person_id: Option<String>,
    /// A day at the till, e.g. `2026-11-30`.
    pub day: Option<String>,
    pub external_transaction_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct AuditPage {
    /// Newest first.
    pub items: Vec<AuditEntry>,
    pub next: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct AuditEntry {
    /// Its place in the chain, from 1.
    pub number: i64,
    pub at: String,
    /// e.g. `question_decided`; the screen has a sentence for each that it knows.
    pub event: String,
    /// By name.
    pub person: Option<String>,
    pub external_transaction_id: Option<String>,
    pub facts: Vec<AuditFact>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct AuditFact {
    pub name: String,
    pub value: String,
}

/// Whether the whole chain holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct AuditVerified {
    /// Rows that hold, from the first one on.
    pub rows: i64,
    /// The hash of the last row when all hold; whoever keeps it can tell a tail that was cut off.
    pub head: String,
    /// The first row that does not hold; null when all do.
    pub broken: Option<BrokenRow>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct BrokenRow {
    /// Its place in the chain, from 1.
    pub number: i64,
    pub fault: AuditFault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum AuditFault {
    /// A row before it is missing, or one was added or moved.
    OutOfPlace,
    /// It does not say what it said.
    Altered,
    /// It cannot be read.
    Unreadable,
}

/// A manager writes the audit to a file. The PIN approves this one act and nothing else.
#[derive(Clone, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct ExportAuditRequest {
    /// Where the file is to be, e.g. on a USB stick. A file that is there already stays.
    pub path: String,
    pub approval: Approval,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct AuditExported {
    pub path: String,
    pub rows: i64,
}
