//! Cash that a person puts into the drawer or takes out of it, and money given back for a sale of an earlier shift.

use rusqlite::Connection;
use serde_json::json;
use turno_domain::text::{has_control, normalise_free_text};
use turno_domain::{Currency, Money};

use super::{Drawer, limits};
use crate::clock::Millis;
use crate::store::audit::{self, Entry, Event};
use crate::store::movements::{self, MovementRow};
use crate::store::sales::SaleRow;
use crate::store::shifts;
use crate::view::{CashDirection, MovementKind, Person, Problem, ProblemCode};

/// As much as fits on a line of the report.
const REASON_LIMIT: usize = 120;

/// Who moves cash, with whose approval, and when.
pub struct Mover {
    pub person: Person,
    pub approver: Option<Person>,
    pub currency: Currency,
    pub now: Millis,
}

/// A reason as a person typed it.
///
/// # Errors
/// `reason_required`.
pub fn reason(typed: &str) -> Result<String, Problem> {
    let reason = normalise_free_text(typed);
    let fits = !reason.is_empty() && reason.chars().count() <= REASON_LIMIT && !has_control(&reason);
    if fits { Ok(reason) } else { Err(ProblemCode::ReasonRequired.into()) }
}

/// Records a pay-in or a pay-out inside the caller's transaction. The same draft again does nothing.
///
/// # Errors
/// `shift_required`, `reason_required`, `manager_required`, `not_enough_cash`, `draft_already_recorded`.
pub fn move_cash(
    conn: &Connection,
    mover: &Mover,
    draft_id: &str,
    direction: CashDirection,
    amount: Money,
    typed_reason: &str,
) -> Result<(), Problem> {
    let reason = reason(typed_reason)?;
    let (kind, event) = match direction {
        CashDirection::PayIn => (MovementKind::PayIn, Event::CashPaidIn),
        CashDirection::PayOut => (MovementKind::PayOut, Event::CashPaidOut),
    };
    if let Some(recorded) = movements::of_draft(conn, draft_id)? {
        let is_same = recorded == (kind, amount.minor(), reason);
        return if is_same { Ok(()) } else { Err(ProblemCode::DraftAlreadyRecorded.into()) };
    }
    let shift = shifts::current(conn)?.ok_or(ProblemCode::ShiftRequired)?;
    if direction == CashDirection::PayOut {
        let expected = Drawer::of(conn, shift.shift_number, shift.float_minor, mover.currency)?.expected()?;
        if amount.minor() > expected {
            let there = Money::from_minor(expected, mover.currency).to_amount_text();
            return Err(Problem::with(ProblemCode::NotEnoughCash, there));
        }
        if amount.minor() > limits(mover.currency).pay_out && mover.approver.is_none() {
            return Err(ProblemCode::ManagerRequired.into());
        }
    }
    let approved_by = mover.approver.as_ref().map(|approver| approver.person_id.clone());
    let data = json!({
        "shift": shift.shift_number,
        "amount": amount.to_amount_text(),
        "reason": reason,
        "approved_by": approved_by,
    });
    movements::insert(
        conn,
        &MovementRow {
            draft_id: Some(draft_id.to_owned()),
            shift_number: shift.shift_number,
            kind,
            amount_minor: amount.minor(),
            reason,
            person_id: mover.person.person_id.clone(),
            approved_by,
            sequence: None,
            at: mover.now,
        },
    )?;
    let entry = Entry { person_id: Some(&mover.person.person_id), data, ..Entry::new(event) };
    Ok(audit::append(conn, mover.now, &entry)?)
}

/// Money of a sale of a closed shift was given back: it came out of the drawer that is open now. With no drawer open
/// it came out of none that is counted. The sale's own shift needs no row, as it counts the sale no more.
pub fn refund(
    conn: &Connection,
    manager: &Person,
    sale: &SaleRow,
    amount: Money,
    reason: &str,
    now: Millis,
) -> Result<(), Problem> {
    match shifts::current_number(conn)? {
        Some(shift) if sale.shift_number != Some(shift) => {
            give_back(conn, shift, manager, sale, amount, reason, now)
        }
        Some(_) | None => Ok(()),
    }
}

/// Money of a sale came out of the drawer of this shift.
pub fn give_back(
    conn: &Connection,
    shift: u32,
    manager: &Person,
    sale: &SaleRow,
    amount: Money,
    reason: &str,
    now: Millis,
) -> Result<(), Problem> {
    if amount.minor() <= 0 {
        return Ok(());
    }
    let approver = manager.person_id.clone();
    movements::insert(
        conn,
        &MovementRow {
            draft_id: None,
            shift_number: shift,
            kind: MovementKind::Refund,
            amount_minor: amount.minor(),
            reason: reason.to_owned(),
            person_id: approver.clone(),
            approved_by: Some(approver),
            sequence: Some(sale.sequence),
            at: now,
        },
    )?;
    let entry = Entry {
        person_id: Some(&manager.person_id),
        external_transaction_id: Some(&sale.external_transaction_id),
        data: json!({ "shift": shift, "amount": amount.to_amount_text() }),
        ..Entry::new(Event::CashRefunded)
    };
    Ok(audit::append(conn, now, &entry)?)
}
