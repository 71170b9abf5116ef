//! The audit read back: for people, for whoever verifies it, and for a file.
//!
//! Invariant: rows are read page by page, so that no look at a long audit keeps the database from being tidied; and a
//! row in a file carries all that its hash covers, so that anybody can verify it without this program.

use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, Result, Row, params, params_from_iter};
use serde_json::{Value, json};
use turno_protocol::chain::{self, ChainFault, Head, Link};

use super::{Event, row_bytes};
use crate::clock::{Millis, TILL_OFFSET_MS};
use crate::view::{AuditFault, AuditKind, AuditPageRequest, BrokenRow};

/// Rows of one page of the viewer; two screens full.
pub const PAGE: u32 = 50;
/// Rows that are verified or exported in one read.
const CHUNK: u32 = 2_000;
const DAY_MS: Millis = 24 * 60 * 60 * 1_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    pub number: i64,
    pub at: Millis,
    /// An [`Event`]'s word, or that of a newer version.
    pub event: String,
    pub person_id: Option<String>,
    pub external_transaction_id: Option<String>,
    /// The members as they were written; the hash is over this text.
    pub data: String,
    prev_hash: Vec<u8>,
    hash: Vec<u8>,
}

const COLUMNS: &str = "audit_id, at_ms, event, person_id, external_transaction_id, data, prev_hash, hash";

fn read(row: &Row<'_>) -> Result<AuditRow> {
    Ok(AuditRow {
        number: row.get(0)?,
        at: row.get(1)?,
        event: row.get(2)?,
        person_id: row.get(3)?,
        external_transaction_id: row.get(4)?,
        data: row.get(5)?,
        prev_hash: row.get(6)?,
        hash: row.get(7)?,
    })
}

impl AuditRow {
    /// `None` when its hashes are none.
    fn link(&self) -> Option<Link> {
        Some(Link {
            prev_hash: self.prev_hash.as_slice().try_into().ok()?,
            hash: self.hash.as_slice().try_into().ok()?,
            canonical: row_bytes(
                self.at,
                &self.event,
                self.person_id.as_deref(),
                self.external_transaction_id.as_deref(),
                &self.data,
            ),
        })
    }

    /// The row as a line of a file: what the hash covers under its own names, and the two hashes.
    #[must_use]
    pub fn as_line(&self) -> String {
        let hex = |hash: &[u8]| hash.try_into().map(|hash| chain::to_hex(&hash)).unwrap_or_default();
        json!({
            "number": self.number, "at_ms": self.at, "event": self.event, "person_id": self.person_id,
            "external_transaction_id": self.external_transaction_id, "data": self.data,
            "prev_hash": hex(&self.prev_hash), "hash": hex(&self.hash),
        })
        .to_string()
    }

    /// The members of `data`, each as a text.
    #[must_use]
    pub fn facts(&self) -> Vec<(String, String)> {
        let Ok(Value::Object(members)) = serde_json::from_str(&self.data) else { return Vec::new() };
        members
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                (name, text)
            })
            .collect()
    }
}

/// A page of the rows that a manager asked for, newest first. A day that is none finds nothing.
pub fn page(conn: &Connection, wanted: &AuditPageRequest) -> Result<Vec<AuditRow>> {
    let mut conditions = vec!["audit_id < ?".to_owned()];
    let mut values: Vec<SqlValue> = vec![wanted.after.unwrap_or(i64::MAX).into()];
    if let Some(kind) = wanted.kind {
        let words: Vec<SqlValue> =
            Event::ALL.iter().filter(|event| kind_of(**event) == kind).map(|event| word(*event)).collect();
        conditions.push(format!("event IN ({})", vec!["?"; words.len()].join(", ")));
        values.extend(words);
    }
    if let Some(person_id) = &wanted.person_id {
        conditions.push("person_id = ?".to_owned());
        values.push(person_id.clone().into());
    }
    if let Some(id) = &wanted.external_transaction_id {
        conditions.push("external_transaction_id = ?".to_owned());
        values.push(id.clone().into());
    }
    if let Some(day) = &wanted.day {
        let Ok(date) = day.parse::<jiff::civil::Date>() else { return Ok(Vec::new()) };
        let Ok(midnight) = jiff::tz::Offset::UTC.to_timestamp(date.at(0, 0, 0, 0)) else {
            return Ok(Vec::new());
        };
        let from = midnight.as_millisecond() - TILL_OFFSET_MS;
        conditions.push("at_ms BETWEEN ? AND ?".to_owned());
        values.extend([from.into(), (from + DAY_MS - 1).into()]);
    }
    let sql = format!(
        "SELECT {COLUMNS} FROM audit WHERE {} ORDER BY audit_id DESC LIMIT {}",
        conditions.join(" AND "),
        PAGE + 1
    );
    conn.prepare_cached(&sql)?.query_map(params_from_iter(values), read)?.collect()
}

fn word(event: Event) -> SqlValue {
    event.as_word().to_owned().into()
}

/// The rows after this one, oldest first, as many as are read at once.
pub fn after(conn: &Connection, number: i64) -> Result<Vec<AuditRow>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM audit WHERE audit_id > ?1 ORDER BY audit_id LIMIT {CHUNK}"
    ))?
    .query_map(params![number], read)?
    .collect()
}

/// How far a chain holds, and where to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    pub head: Head,
    /// The last row that was looked at.
    pub number: i64,
}

impl Verified {
    pub const NOTHING: Self = Self { head: Head::EMPTY, number: 0 };
}

/// Verifies the rows that follow. `Ok(None)`: there are none.
pub fn verify_next(
    conn: &Connection,
    so_far: Verified,
) -> Result<std::result::Result<Option<Verified>, BrokenRow>> {
    let rows = match after(conn, so_far.number) {
        Err(error) if crate::store::is_about_the_row(&error) => {
            return Ok(Err(broken(so_far.head.rows + 1, AuditFault::Unreadable)));
        }
        rows => rows?,
    };
    let mut reached = so_far;
    for row in &rows {
        let place = reached.head.rows + 1;
        let Some(link) = row.link() else { return Ok(Err(broken(place, AuditFault::Unreadable))) };
        match chain::verify_after(reached.head, [link]) {
            // The numbers are the places: a row that was renumbered is out of place although its text is whole.
            Ok(head) if i64::try_from(place) == Ok(row.number) => {
                reached = Verified { head, number: row.number };
            }
            Ok(_) => return Ok(Err(broken(place, AuditFault::OutOfPlace))),
            Err(at) => {
                let fault = match at.fault {
                    ChainFault::OutOfPlace => AuditFault::OutOfPlace,
                    ChainFault::Altered => AuditFault::Altered,
                };
                return Ok(Err(broken(at.row, fault)));
            }
        }
    }
    Ok(Ok((!rows.is_empty()).then_some(reached)))
}

fn broken(place: u64, fault: AuditFault) -> BrokenRow {
    BrokenRow { number: i64::try_from(place).unwrap_or(i64::MAX), fault }
}

/// What an event is about.
#[must_use]
pub fn kind_of(event: Event) -> AuditKind {
    match event {
        Event::PersonCreated
        | Event::PinReset
        | Event::PinChanged
        | Event::PersonRetired
        | Event::PinRefused => AuditKind::People,
        Event::ShiftOpened | Event::CashPaidIn | Event::CashPaidOut | Event::ShiftClosed => AuditKind::Shift,
        Event::SaleRecorded
        | Event::SaleAccepted
        | Event::SaleRecovered
        | Event::SaleImported
        | Event::SaleMissingAtYupy
        | Event::SaleCorrected
        | Event::SaleSentAgain
        | Event::StoredBodyChanged
        | Event::TicketNotSaved
        | Event::SalesExported
        | Event::SalesImported
        | Event::Reconciled => AuditKind::Sales,
        Event::QuestionAsked
        | Event::QuestionDecided
        | Event::DecisionCarriedOver
        | Event::DiscardTold
        | Event::DiscardNotTold
        | Event::DiscardDisputed
        | Event::DiscardTakenBack
        | Event::DiscardLeft
        | Event::DecidedElsewhere
        | Event::OtherTillDecided
        | Event::OtherTillTold => AuditKind::Questions,
        Event::DiscountGiven
        | Event::PriceApproved
        | Event::CashRefunded
        | Event::SaleVoided
        | Event::VoidConfirmed
        | Event::VoidRetried
        | Event::VoidRecovered
        | Event::PaymentApproved
        | Event::PaymentDeclined
        | Event::PaymentAskedFor => AuditKind::Money,
        Event::PrinterSet | Event::TicketPrintedAgain | Event::PrintAnswered => AuditKind::Printing,
        Event::Enrolled
        | Event::IdentityCollision
        | Event::IdentityGuardFired
        | Event::BackupRestored
        | Event::SendingPaused
        | Event::SendingResumed
        | Event::ClockWrong
        | Event::AuditExported
        | Event::SalesTableExported => AuditKind::Till,
    }
}

#[cfg(test)]
mod tests;
