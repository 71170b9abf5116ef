//! What people and the till did that somebody may have to prove later.
//!
//! Invariant: each row's hash covers the row and the hash before it, so a changed, missing or inserted row shows.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};
use serde::Serialize;
use serde_json::{Value, json};
use ts_rs::TS;
use turno_protocol::canonical;
use turno_protocol::chain::{self, Hash, Head, Link};

use crate::clock::Millis;

mod rows;
pub use rows::{AuditRow, PAGE, Verified, after, kind_of, page, verify_next};

/// What happened. The words are stored; they are never renamed. The screen has a sentence for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, rename = "AuditEvent")]
pub enum Event {
    Enrolled,
    PersonCreated,
    PinReset,
    PinChanged,
    PersonRetired,
    PinRefused,
    ShiftOpened,
    CashPaidIn,
    CashPaidOut,
    CashRefunded,
    ShiftClosed,
    SaleRecorded,
    DiscountGiven,
    /// A manager let a ticket be sold at a price list that no cashier uses alone.
    PriceApproved,
    SaleAccepted,
    QuestionAsked,
    QuestionDecided,
    DecisionCarriedOver,
    IdentityCollision,
    IdentityGuardFired,
    BackupRestored,
    SaleRecovered,
    StoredBodyChanged,
    /// The disk failed a ticket's commit, and it is certain that the ticket was not recorded.
    TicketNotSaved,
    /// Unsent sales were written to a file for another till.
    SalesExported,
    /// A file of another till's sales was taken in.
    SalesImported,
    SaleImported,
    SendingPaused,
    SendingResumed,
    /// YUPY's answers show that this machine's clock is wrong.
    ClockWrong,
    /// Our sales were compared with YUPY's list.
    Reconciled,
    /// YUPY had confirmed the sale and does not have it any more.
    SaleMissingAtYupy,
    PrinterSet,
    /// A ticket was asked for once more; `copy` is 0 where there was none on paper.
    TicketPrintedAgain,
    /// A person said whether an interrupted ticket came out whole.
    PrintAnswered,
    /// A manager changed what YUPY is told of a sale that it had refused.
    SaleCorrected,
    /// A manager had a refused sale sent again as it is.
    SaleSentAgain,
    /// A sale's money was given back.
    SaleVoided,
    /// YUPY has voided the sale as well.
    VoidConfirmed,
    /// A manager had a void that YUPY refused tried again.
    VoidRetried,
    /// A void was put back from the journal.
    VoidRecovered,
    /// YUPY says that a card was charged for the sale.
    PaymentApproved,
    /// YUPY says that a card was declined; nothing was charged.
    PaymentDeclined,
    /// Somebody had a card charged: the next one, or the same payment again.
    PaymentAskedFor,
    /// YUPY knows that a sale was discarded.
    DiscardTold,
    /// The question of a discarded sale had ended before YUPY could be told.
    DiscardNotTold,
    /// YUPY says otherwise of a discarded sale; `trouble` is why.
    DiscardDisputed,
    /// A manager took a discard back before YUPY knew of it.
    DiscardTakenBack,
    /// A manager saw that a discard is disputed and left it.
    DiscardLeft,
    /// Somebody on another till, or at a desk, answered a question of this one.
    DecidedElsewhere,
    /// A manager answered another till's question here.
    OtherTillDecided,
    /// What became of that answer at YUPY.
    OtherTillTold,
    /// A manager wrote the audit to a file.
    AuditExported,
    /// A manager let sales be written to a table for a bookkeeper.
    SalesTableExported,
}

impl Event {
    /// For whoever looks for a kind of them.
    pub const ALL: [Self; 54] = [
        Self::Enrolled,
        Self::PersonCreated,
        Self::PinReset,
        Self::PinChanged,
        Self::PersonRetired,
        Self::PinRefused,
        Self::ShiftOpened,
        Self::CashPaidIn,
        Self::CashPaidOut,
        Self::CashRefunded,
        Self::ShiftClosed,
        Self::SaleRecorded,
        Self::DiscountGiven,
        Self::PriceApproved,
        Self::SaleAccepted,
        Self::QuestionAsked,
        Self::QuestionDecided,
        Self::DecisionCarriedOver,
        Self::IdentityCollision,
        Self::IdentityGuardFired,
        Self::SaleRecovered,
        Self::BackupRestored,
        Self::StoredBodyChanged,
        Self::TicketNotSaved,
        Self::SalesExported,
        Self::SalesImported,
        Self::SaleImported,
        Self::SendingPaused,
        Self::SendingResumed,
        Self::ClockWrong,
        Self::Reconciled,
        Self::SaleMissingAtYupy,
        Self::PrinterSet,
        Self::TicketPrintedAgain,
        Self::PrintAnswered,
        Self::SaleCorrected,
        Self::SaleSentAgain,
        Self::SaleVoided,
        Self::VoidConfirmed,
        Self::VoidRetried,
        Self::VoidRecovered,
        Self::PaymentApproved,
        Self::PaymentDeclined,
        Self::PaymentAskedFor,
        Self::DiscardTold,
        Self::DiscardNotTold,
        Self::DiscardDisputed,
        Self::DiscardTakenBack,
        Self::DiscardLeft,
        Self::DecidedElsewhere,
        Self::OtherTillDecided,
        Self::OtherTillTold,
        Self::AuditExported,
        Self::SalesTableExported,
    ];

    /// `None`: a newer version wrote it.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.as_word() == word)
    }

    #[must_use]
    pub fn as_word(self) -> &'static str {
        match self {
            Self::Enrolled => "enrolled",
            Self::PersonCreated => "person_created",
            Self::PinReset => "pin_reset",
            Self::PinChanged => "pin_changed",
            Self::PersonRetired => "person_retired",
            Self::PinRefused => "pin_refused",
            Self::ShiftOpened => "shift_opened",
            Self::CashPaidIn => "cash_paid_in",
            Self::CashPaidOut => "cash_paid_out",
            Self::CashRefunded => "cash_refunded",
            Self::ShiftClosed => "shift_closed",
            Self::SaleRecorded => "sale_recorded",
            Self::DiscountGiven => "discount_given",
            Self::PriceApproved => "price_approved",
            Self::SaleAccepted => "sale_accepted",
            Self::QuestionAsked => "question_asked",
            Self::QuestionDecided => "question_decided",
            Self::DecisionCarriedOver => "decision_carried_over",
            Self::IdentityCollision => "identity_collision",
            Self::IdentityGuardFired => "identity_guard_fired",
            Self::SaleRecovered => "sale_recovered",
            Self::BackupRestored => "backup_restored",
            Self::StoredBodyChanged => "stored_body_changed",
            Self::TicketNotSaved => "ticket_not_saved",
            Self::SalesExported => "sales_exported",
            Self::SalesImported => "sales_imported",
            Self::SaleImported => "sale_imported",
            Self::SendingPaused => "sending_paused",
            Self::SendingResumed => "sending_resumed",
            Self::ClockWrong => "clock_wrong",
            Self::Reconciled => "reconciled",
            Self::SaleMissingAtYupy => "sale_missing_at_yupy",
            Self::PrinterSet => "printer_set",
            Self::TicketPrintedAgain => "ticket_printed_again",
            Self::PrintAnswered => "print_answered",
            Self::SaleCorrected => "sale_corrected",
            Self::SaleSentAgain => "sale_sent_again",
            Self::SaleVoided => "sale_voided",
            Self::VoidConfirmed => "void_confirmed",
            Self::VoidRetried => "void_retried",
            Self::VoidRecovered => "void_recovered",
            Self::PaymentApproved => "payment_approved",
            Self::PaymentDeclined => "payment_declined",
            Self::PaymentAskedFor => "payment_asked_for",
            Self::DiscardTold => "discard_told",
            Self::DiscardNotTold => "discard_not_told",
            Self::DiscardDisputed => "discard_disputed",
            Self::DiscardTakenBack => "discard_taken_back",
            Self::DiscardLeft => "discard_left",
            Self::DecidedElsewhere => "decided_elsewhere",
            Self::OtherTillDecided => "other_till_decided",
            Self::OtherTillTold => "other_till_told",
            Self::AuditExported => "audit_exported",
            Self::SalesTableExported => "sales_table_exported",
        }
    }
}

/// A row as it is read back for people.
#[derive(Clone, Debug)]
pub struct Told {
    pub at: Millis,
    /// An [`Event`]'s word, or that of a newer version.
    pub event: String,
    pub person_id: Option<String>,
    pub data: Value,
}

/// What happened to one sale, the oldest first.
pub fn of_sale(conn: &Connection, external_transaction_id: &str, limit: u32) -> Result<Vec<Told>> {
    conn.prepare_cached(
        "SELECT at_ms, event, person_id, data FROM audit WHERE external_transaction_id = ?1
         ORDER BY audit_id LIMIT ?2",
    )?
    .query_map(params![external_transaction_id, limit], |row| {
        let data: String = row.get(3)?;
        Ok(Told {
            at: row.get(0)?,
            event: row.get(1)?,
            person_id: row.get(2)?,
            data: serde_json::from_str(&data).unwrap_or_default(),
        })
    })?
    .collect()
}

pub struct Entry<'a> {
    pub event: Event,
    pub person_id: Option<&'a str>,
    pub external_transaction_id: Option<&'a str>,
    /// An object; ids, figures and reasons, never a PIN, a token or a buyer's name.
    pub data: Value,
}

impl Entry<'_> {
    #[must_use]
    pub fn new(event: Event) -> Self {
        Self { event, person_id: None, external_transaction_id: None, data: json!({}) }
    }
}

/// The number of the newest row; 0 while there is none.
pub fn last_id(conn: &Connection) -> Result<i64> {
    conn.prepare_cached("SELECT coalesce(max(audit_id), 0) FROM audit")?.query_row([], |row| row.get(0))
}

/// Rows of one kind behind a number, the oldest first: their numbers, and the sales that they are about.
pub fn of_event_behind(
    conn: &Connection,
    event: Event,
    audit_id: i64,
    limit: u32,
) -> Result<Vec<(i64, String)>> {
    conn.prepare_cached(
        "SELECT audit_id, external_transaction_id FROM audit
         WHERE audit_id > ?1 AND event = ?2 AND external_transaction_id IS NOT NULL ORDER BY audit_id LIMIT ?3",
    )?
    .query_map(params![audit_id, event.as_word(), limit], |row| Ok((row.get(0)?, row.get(1)?)))?
    .collect()
}

pub fn append(conn: &Connection, at: Millis, entry: &Entry<'_>) -> Result<()> {
    let prev = head(conn)?;
    let data = entry.data.to_string();
    let row = row_bytes(at, entry.event.as_word(), entry.person_id, entry.external_transaction_id, &data);
    let hash = chain::row_hash(&prev, &row);
    conn.prepare_cached(
        "INSERT INTO audit (at_ms, event, person_id, external_transaction_id, data, prev_hash, hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        at,
        entry.event.as_word(),
        entry.person_id,
        entry.external_transaction_id,
        data,
        prev.as_slice(),
        hash.as_slice()
    ])?;
    Ok(())
}

fn row_bytes(at: Millis, event: &str, person: Option<&str>, sale: Option<&str>, data: &str) -> Vec<u8> {
    canonical::to_bytes(&json!({
        "at_ms": at,
        "event": event,
        "person_id": person,
        "external_transaction_id": sale,
        "data": data,
    }))
}

fn head(conn: &Connection) -> Result<Hash> {
    let hash = conn
        .prepare_cached("SELECT hash FROM audit ORDER BY audit_id DESC LIMIT 1")?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(hash.unwrap_or(chain::GENESIS))
}

/// The end of the chain, for YUPY to keep: a tail that is cut off shows against it.
pub fn kept_head(conn: &Connection) -> Result<Head> {
    let head = conn
        .prepare_cached("SELECT audit_id, hash FROM audit ORDER BY audit_id DESC LIMIT 1")?
        .query_row([], |row| Ok(Head { rows: row.get::<_, u32>(0)?.into(), hash: row.get(1)? }))
        .optional()?;
    Ok(head.unwrap_or(Head::EMPTY))
}

/// The first row, counted from 1, at which the chain breaks; `None` when all rows stand as they were written.
pub fn first_broken(conn: &Connection) -> Result<Option<u64>> {
    let mut statement = conn.prepare(
        "SELECT at_ms, event, person_id, external_transaction_id, data, prev_hash, hash
         FROM audit ORDER BY audit_id",
    )?;
    let mut unread = None;
    let links =
        statement.query_map([], link)?.map_while(|link| link.map_err(|error| unread = Some(error)).ok());
    let broken = chain::verify(links).err().map(|broken| broken.row);
    unread.map_or(Ok(broken), Err)
}

fn link(row: &Row<'_>) -> Result<Link> {
    let text = |column: usize| row.get::<_, Option<String>>(column);
    let (event, data): (String, String) = (row.get(1)?, row.get(4)?);
    Ok(Link {
        canonical: row_bytes(row.get(0)?, &event, text(2)?.as_deref(), text(3)?.as_deref(), &data),
        prev_hash: row.get(5)?,
        hash: row.get(6)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::fixture::in_memory;

    fn three_rows() -> Connection {
        let conn = in_memory();
        for (at, event) in [(1, Event::Enrolled), (2, Event::SaleRecorded), (3, Event::SaleAccepted)] {
            let data = json!({ "ñ": at, "a": "1.00" });
            let entry = Entry { person_id: Some("c"), data, ..Entry::new(event) };
            append(&conn, at, &entry).unwrap();
        }
        conn
    }

    #[test]
    fn rows_as_they_were_written_hold_and_every_change_breaks_the_chain_there() {
        assert_eq!(first_broken(&in_memory()).unwrap(), None);
        assert_eq!(first_broken(&three_rows()).unwrap(), None);
        for (damage, row) in [
            ("UPDATE audit SET at_ms = 7 WHERE audit_id = 2", 2),
            ("UPDATE audit SET event = 'sale_accepted' WHERE audit_id = 2", 2),
            ("UPDATE audit SET person_id = NULL WHERE audit_id = 3", 3),
            ("UPDATE audit SET external_transaction_id = 'X' WHERE audit_id = 1", 1),
            ("UPDATE audit SET data = replace(data, '1.00', '1.01') WHERE audit_id = 1", 1),
            ("UPDATE audit SET data = replace(data, ',', ', ') WHERE audit_id = 3", 3),
            ("UPDATE audit SET hash = zeroblob(32) WHERE audit_id = 2", 2),
            ("UPDATE audit SET prev_hash = zeroblob(32) WHERE audit_id = 2", 2),
            ("DELETE FROM audit WHERE audit_id = 1", 1),
            ("DELETE FROM audit WHERE audit_id = 2", 2),
        ] {
            let conn = three_rows();
            let refused = conn.execute_batch(damage).unwrap_err().to_string();
            assert!(refused.contains("append-only"), "{refused}");
            conn.execute_batch("DROP TRIGGER audit_is_frozen; DROP TRIGGER audit_is_kept").unwrap();
            conn.execute_batch(damage).unwrap();
            assert_eq!(first_broken(&conn).unwrap(), Some(row), "{damage}");
        }
    }

    #[test]
    fn a_row_that_cannot_be_read_is_an_error_and_not_a_chain_that_holds() {
        let conn = three_rows();
        conn.execute_batch(
            "DROP TRIGGER audit_is_frozen; PRAGMA ignore_check_constraints = ON;
             UPDATE audit SET hash = x'00' WHERE audit_id = 2",
        )
        .unwrap();
        assert!(first_broken(&conn).is_err());
    }
}
