//! Closing a shift: the count against what should be there, and the report frozen as rows.
//!
//! The count is not blind. What should be in the drawer is in the X report, which a cashier may read at any time, so
//! hiding it here would hide nothing; shown while counting it finds the note that was counted twice before anybody is
//! called. What protects the drawer is the manager's PIN beyond the limit, and the count kept piece by piece.
//!
//! Invariant: a shift has one closing, written with the end of the shift in one transaction, of the figures that the
//! screen showed.

use rusqlite::Connection;
use serde_json::json;
use turno_domain::{Currency, Money};

use super::movement::reason;
use super::{Figures, Mover, denominations, limits};
use crate::catalog::Catalog;
use crate::store::audit::{self, Entry, Event};
use crate::store::closings::{self, ClosingRow, TallyKind};
use crate::store::{epochs, installation, shifts};
use crate::view::{CloseShiftRequest, Pieces, Problem, ProblemCode};

/// More pieces of one coin than a drawer holds: a slip, or a scanner in the field.
const PIECES_LIMIT: u32 = 10_000;

/// Whether this shift was closed already: pressed twice, or an answer that was lost.
///
/// # Errors
/// `not_found`.
pub fn is_closed(conn: &Connection, shift_number: u32) -> Result<bool, Problem> {
    let (_, closed_at) = shifts::find(conn, shift_number)?.ok_or(ProblemCode::NotFound)?;
    Ok(closed_at.is_some())
}

/// Closes the open shift inside the caller's transaction.
///
/// # Errors
/// `amount_invalid` for a count of what does not exist, `figures_changed`, `manager_required`, `reason_required`;
/// nothing is closed.
pub fn close(
    conn: &Connection,
    by: &Mover,
    catalog: &Catalog,
    shift_number: u32,
    request: &CloseShiftRequest,
) -> Result<(), Problem> {
    let shift = shifts::opened(conn, shift_number)?;
    let counted = counted(&request.count, by.currency)?;
    let figures = Figures::of(conn, &shift, by.currency, catalog)?;
    let expected = figures.drawer.expected()?;
    if expected != request.shown_expected_minor {
        return Err(ProblemCode::FiguresChanged.into());
    }
    let difference = counted.checked_sub(expected).ok_or(ProblemCode::AmountInvalid)?;
    let is_small = difference.unsigned_abs() <= limits(by.currency).difference.unsigned_abs();
    let approval = match &by.approver {
        _ if is_small => None,
        None => return Err(ProblemCode::ManagerRequired.into()),
        Some(manager) => {
            Some((manager.person_id.clone(), reason(request.reason.as_deref().unwrap_or_default())?))
        }
    };
    let z_number = closings::next_number(conn)?;
    let (approved_by, reason) = approval.unzip();
    let row = ClosingRow {
        z_number,
        shift_number,
        closed_by: by.person.person_id.clone(),
        closed_at: by.now,
        approved_by,
        reason,
        last_sequence: installation::last_sequence(conn)?,
        float_minor: figures.drawer.float,
        cash_sales_minor: figures.drawer.sales,
        rounding_minor: figures.drawer.rounding,
        pay_ins_minor: figures.drawer.pay_ins,
        pay_outs_minor: figures.drawer.pay_outs,
        refunds_minor: figures.drawer.refunds,
        returned: figures.sold.returned,
        discounts: figures.sold.discounts,
        expected_minor: expected,
        counted_minor: counted,
        epoch: epochs::current(conn)?.map(|current| current.epoch.as_str().to_owned()),
    };
    freeze(conn, &row, &figures, &request.count)?;
    shifts::close(conn, shift_number, by.now)?;
    let text = |minor| Money::from_minor(minor, by.currency).to_amount_text();
    let data = json!({
        "shift": shift_number,
        "z": row.z_id(),
        "expected": text(expected),
        "counted": text(counted),
        "difference": text(difference),
        "unsettled": figures.sold.unsettled()?.count,
        "approved_by": row.approved_by,
        "reason": row.reason,
    });
    let entry = Entry { person_id: Some(&by.person.person_id), data, ..Entry::new(Event::ShiftClosed) };
    Ok(audit::append(conn, by.now, &entry)?)
}

fn freeze(conn: &Connection, row: &ClosingRow, figures: &Figures, count: &[Pieces]) -> Result<(), Problem> {
    closings::insert(conn, row)?;
    for Pieces { denomination_minor, pieces } in count.iter().filter(|counted| counted.pieces > 0) {
        closings::insert_count(conn, row.z_number, *denomination_minor, *pieces)?;
    }
    for (kind, tallies) in [
        (TallyKind::State, &figures.states),
        (TallyKind::Tender, &figures.tenders),
        (TallyKind::Hour, &figures.hours),
        (TallyKind::Route, &figures.routes),
    ] {
        closings::insert_tallies(conn, row.z_number, kind, tallies)?;
    }
    Ok(closings::insert_unsettled(conn, row.z_number, row.shift_number)?)
}

/// The sum of what was counted, each coin and note once.
fn counted(count: &[Pieces], currency: Currency) -> Result<i64, Problem> {
    let known = denominations(currency);
    let mut sum = 0_i64;
    for (index, Pieces { denomination_minor, pieces }) in count.iter().enumerate() {
        let is_twice = count[..index].iter().any(|other| other.denomination_minor == *denomination_minor);
        if !known.contains(denomination_minor) || *pieces > PIECES_LIMIT || is_twice {
            return Err(ProblemCode::AmountInvalid.into());
        }
        let amount = denomination_minor.checked_mul(i64::from(*pieces));
        sum = amount.and_then(|amount| sum.checked_add(amount)).ok_or(ProblemCode::AmountInvalid)?;
    }
    Ok(sum)
}
