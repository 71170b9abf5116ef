//! A shift as the screen and the printer show it: the X report of an open one, the Z report of a closed one with what
//! happened since. Invariant: of a closed shift only the addendum can change.

use rusqlite::Connection;
use turno_domain::Currency;

use super::{Drawer, Figures, Sold, denominations, limits};
use crate::catalog::Catalog;
use crate::clock::{Millis, rfc3339};
use crate::store::closings::{self, ClosingRow, TallyKind};
use crate::store::figures::Tally;
use crate::store::shifts::{self, OpenedShift};
use crate::store::{movements, people, summaries, unreadable};
use crate::view::{
    Closing, CountedPieces, DrawerFigures, LastClosing, LateSale, Money, Movement, PastShift, PastShiftPage,
    Problem, ProblemCode, SaleState, Share, ShiftLimits, ShiftReport, SoldFigures, Tally as Shown,
    UnsettledSale,
};

/// Sales that a report lists one by one; the sums are of all of them. A till that was offline for a day has hundreds.
const LISTED: usize = 500;
/// Shifts on one page of the list.
const PAGE: u32 = 30;

/// Writes minor units as money of the till's currency.
#[derive(Clone, Copy)]
struct Purse(Currency);

impl Purse {
    fn money(self, minor: i64) -> Money {
        Money { minor, currency: self.0.code().to_owned() }
    }

    fn tally(self, tally: Tally) -> Shown {
        Shown { count: tally.count, amount: self.money(tally.minor) }
    }

    fn shares(self, tallies: Vec<(String, Tally)>) -> Vec<Share> {
        let share = |(label, tally): (String, Tally)| Share {
            label,
            count: tally.count,
            amount: self.money(tally.minor),
        };
        tallies.into_iter().map(share).collect()
    }

    fn sold(self, sold: &Sold) -> rusqlite::Result<SoldFigures> {
        Ok(SoldFigures {
            sold: self.tally(sold.sold()?),
            accepted: self.tally(sold.accepted),
            pending: self.tally(sold.pending),
            attention: self.tally(sold.attention),
            discarded: self.tally(sold.discarded),
            returned: self.tally(sold.returned),
            discounts: self.tally(sold.discounts),
            net: self.tally(sold.net()?),
        })
    }

    fn drawer(self, drawer: &Drawer) -> rusqlite::Result<DrawerFigures> {
        Ok(DrawerFigures {
            float: self.money(drawer.float),
            sales: self.money(drawer.sales),
            rounding: self.money(drawer.rounding),
            pay_ins: self.money(drawer.pay_ins),
            pay_outs: self.money(drawer.pay_outs),
            refunds: self.money(drawer.refunds),
            expected: self.money(drawer.expected()?),
        })
    }

    fn limits(self) -> ShiftLimits {
        let of = limits(self.0);
        ShiftLimits {
            pay_out: self.money(of.pay_out),
            difference: self.money(of.difference),
            cash_held: self.money(of.cash_held),
            denominations: denominations(self.0).iter().map(|minor| self.money(*minor)).collect(),
        }
    }
}

/// The report of a shift, or of the open one.
///
/// # Errors
/// `not_found`, `shift_required` when none is open.
pub fn report(
    conn: &Connection,
    shift_number: Option<u32>,
    currency: Currency,
    catalog: &Catalog,
) -> Result<ShiftReport, Problem> {
    let number = match shift_number {
        Some(number) => number,
        None => shifts::current_number(conn)?.ok_or(ProblemCode::ShiftRequired)?,
    };
    let (shift, closed_at) = shifts::find(conn, number)?.ok_or(ProblemCode::NotFound)?;
    let closing = closings::of_shift(conn, number)?;
    let purse = Purse(currency);
    let report = match (closing, closed_at) {
        (Some(closing), _) => z_report(conn, &shift, &closing, purse)?,
        (None, None) => x_report(conn, &shift, purse, catalog)?,
        // Put back from the journal and never counted: there is no report of it.
        (None, Some(_)) => return Err(ProblemCode::NotFound.into()),
    };
    Ok(report)
}

fn x_report(
    conn: &Connection,
    shift: &OpenedShift,
    purse: Purse,
    catalog: &Catalog,
) -> rusqlite::Result<ShiftReport> {
    let figures = Figures::of(conn, shift, purse.0, catalog)?;
    let unsettled = summaries::unsettled_of_shift(conn, shift.shift_number, LISTED)?;
    Ok(ShiftReport {
        shift_id: format!("S{}", shift.shift_number),
        opened_at: rfc3339(shift.opened_at),
        opened_by: name(conn, &shift.opened_by)?,
        closing: None,
        figures: purse.sold(&figures.sold)?,
        drawer: purse.drawer(&figures.drawer)?,
        tenders: purse.shares(figures.tenders),
        hours: purse.shares(figures.hours),
        routes: purse.shares(figures.routes),
        movements: listed_movements(conn, shift.shift_number, purse)?,
        unsettled: unsettled.into_iter().map(|sale| unsettled_sale(sale.state, sale)).collect(),
        unsettled_count: figures.sold.unsettled()?.count,
        addendum: Vec::new(),
        limits: purse.limits(),
    })
}

fn z_report(
    conn: &Connection,
    shift: &OpenedShift,
    closing: &ClosingRow,
    purse: Purse,
) -> rusqlite::Result<ShiftReport> {
    let tallies = |kind| closings::tallies(conn, closing.z_number, kind);
    let sold = Sold::of(&tallies(TallyKind::State)?, closing.returned, closing.discounts)?;
    let drawer = Drawer {
        float: closing.float_minor,
        sales: closing.cash_sales_minor,
        rounding: closing.rounding_minor,
        pay_ins: closing.pay_ins_minor,
        pay_outs: closing.pay_outs_minor,
        refunds: closing.refunds_minor,
    };
    let mut unsettled = Vec::new();
    for (sequence, state) in closings::unsettled(conn, closing.z_number, LISTED)? {
        if let Some(sale) = summaries::by_sequence(conn, sequence)? {
            unsettled.push(unsettled_sale(summaries::state(&state)?, sale));
        }
    }
    Ok(ShiftReport {
        shift_id: format!("S{}", shift.shift_number),
        opened_at: rfc3339(shift.opened_at),
        opened_by: name(conn, &shift.opened_by)?,
        figures: purse.sold(&sold)?,
        drawer: purse.drawer(&drawer)?,
        tenders: purse.shares(tallies(TallyKind::Tender)?),
        hours: purse.shares(tallies(TallyKind::Hour)?),
        routes: purse.shares(tallies(TallyKind::Route)?),
        movements: listed_movements(conn, shift.shift_number, purse)?,
        unsettled,
        unsettled_count: sold.unsettled()?.count,
        addendum: addendum(conn, closing)?,
        limits: purse.limits(),
        closing: Some(shown_closing(conn, closing, purse)?),
    })
}

fn shown_closing(conn: &Connection, row: &ClosingRow, purse: Purse) -> rusqlite::Result<Closing> {
    let mut count = Vec::new();
    for (denomination, pieces) in closings::counts(conn, row.z_number)? {
        let amount = denomination.checked_mul(i64::from(pieces)).ok_or_else(super::too_much)?;
        count.push(CountedPieces {
            denomination: purse.money(denomination),
            pieces,
            amount: purse.money(amount),
        });
    }
    Ok(Closing {
        z_id: row.z_id(),
        closed_at: rfc3339(row.closed_at),
        closed_by: name(conn, &row.closed_by)?,
        approved_by: row.approved_by.as_deref().map(|id| name(conn, id)).transpose()?,
        reason: row.reason.clone(),
        count,
        counted: purse.money(row.counted_minor),
        difference: purse.money(difference(row)?),
    })
}

fn difference(row: &ClosingRow) -> rusqlite::Result<i64> {
    row.counted_minor.checked_sub(row.expected_minor).ok_or_else(super::too_much)
}

fn addendum(conn: &Connection, closing: &ClosingRow) -> rusqlite::Result<Vec<LateSale>> {
    let mut late = Vec::new();
    for moved in closings::moved(conn, closing, LISTED)? {
        if let Some(sale) = summaries::by_sequence(conn, moved.sequence)? {
            let was = moved.was.as_deref().map(summaries::state).transpose()?;
            late.push(LateSale { sale, was, changed_at: rfc3339(moved.changed_at) });
        }
    }
    Ok(late)
}

fn listed_movements(conn: &Connection, shift: u32, purse: Purse) -> rusqlite::Result<Vec<Movement>> {
    let rows = movements::of_shift(conn, shift)?;
    let movement = |row: movements::NamedMovement| Movement {
        movement_number: row.movement_number,
        kind: row.kind,
        amount: purse.money(row.amount_minor),
        reason: row.reason,
        at: rfc3339(row.at),
        person: row.person,
        approved_by: row.approved_by,
    };
    Ok(rows.into_iter().map(movement).collect())
}

fn unsettled_sale(state: SaleState, sale: crate::view::SaleSummary) -> UnsettledSale {
    UnsettledSale {
        external_transaction_id: sale.external_transaction_id,
        description: sale.description,
        amount: sale.amount,
        state,
    }
}

fn name(conn: &Connection, person_id: &str) -> rusqlite::Result<String> {
    let person = people::find(conn, person_id)?;
    person.map(|person| person.name).ok_or_else(|| unreadable("person_id", person_id))
}

/// Closed shifts, the newest first.
///
/// # Errors
/// The database cannot be read.
pub fn past(conn: &Connection, before: Option<u32>, currency: Currency) -> Result<PastShiftPage, Problem> {
    let mut rows = shifts::closed_before(conn, before.unwrap_or(u32::MAX), PAGE + 1)?;
    let has_more = rows.len() > PAGE as usize;
    rows.truncate(PAGE as usize);
    let items = rows
        .iter()
        .map(|(shift, closed_at)| past_shift(conn, shift, *closed_at, Purse(currency)))
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let next = if has_more { items.last().map(|last| last.shift_number) } else { None };
    Ok(PastShiftPage { items, next })
}

fn past_shift(
    conn: &Connection,
    shift: &OpenedShift,
    closed_at: Millis,
    purse: Purse,
) -> rusqlite::Result<PastShift> {
    let closing = closings::of_shift(conn, shift.shift_number)?;
    let net = match &closing {
        Some(row) => {
            let states = closings::tallies(conn, row.z_number, TallyKind::State)?;
            Some(purse.money(Sold::of(&states, row.returned, row.discounts)?.net()?.minor))
        }
        None => None,
    };
    Ok(PastShift {
        shift_id: format!("S{}", shift.shift_number),
        shift_number: shift.shift_number,
        z_id: closing.as_ref().map(ClosingRow::z_id),
        opened_at: rfc3339(shift.opened_at),
        closed_at: rfc3339(closed_at),
        opened_by: name(conn, &shift.opened_by)?,
        net,
        counted: closing.as_ref().map(|row| purse.money(row.counted_minor)),
        difference: closing.as_ref().map(difference).transpose()?.map(|minor| purse.money(minor)),
        late_count: closing.as_ref().map_or(Ok(0), |row| closings::moved_count(conn, row))?,
        unsettled_count: shifts::unsettled(conn, shift.shift_number)?,
    })
}

/// How the newest closed shift ended.
pub fn last_closing(conn: &Connection, currency: Currency) -> rusqlite::Result<Option<LastClosing>> {
    let Some(row) = closings::last(conn)? else { return Ok(None) };
    let Some(closed_by) = people::find(conn, &row.closed_by)? else { return Ok(None) };
    let purse = Purse(currency);
    Ok(Some(LastClosing {
        shift_id: format!("S{}", row.shift_number),
        z_id: row.z_id(),
        closed_at: rfc3339(row.closed_at),
        closed_by,
        counted: purse.money(row.counted_minor),
        difference: purse.money(difference(&row)?),
    }))
}
