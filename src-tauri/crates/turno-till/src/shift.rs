//! A cashier's shift in figures: what was sold, and the cash that should be in the drawer.
//!
//! Every formula of a shift is in this file. Invariant: sold = accepted + pending + attention + discarded; net = sold −
//! discarded − returned = the sum by tender = by hour = by route, less what was returned; and the cash expected is what
//! went into the drawer less what came out of it. Sums that do not fit are an error, never a wrong figure.

use rusqlite::Connection;
use turno_domain::Currency;

use crate::catalog::Catalog;
use crate::clock::{TILL_OFFSET_MS, hour_of_day};
use crate::store::figures::{self, Tally};
use crate::store::shifts::OpenedShift;
use crate::store::{movements, unreadable};

mod close;
mod layout;
mod movement;
mod pdf;
mod report;

pub use close::{close, is_closed};
pub use layout::{document as printed, lines};
pub use movement::{Mover, give_back, move_cash, refund};
pub use pdf::document as pdf;
pub use report::{last_closing, past, report};

/// In whole units of the currency. What a cashier pays out alone: change for a taxi, water, a repair's screw. A second
/// person looks at more.
const PAY_OUT_UNITS: i64 = 100;
/// What a slip of the hand costs: below the smallest note, so that a note that is missing always needs a manager.
const DIFFERENCE_UNITS: i64 = 5;
/// More in a drawer than a robber should find; beyond it the cashier is reminded to hand some over.
const CASH_HELD_UNITS: i64 = 1_500;

/// Coins and notes of the sol that are in use; the cent coins are not.
const PEN_DENOMINATIONS: [i64; 11] = [10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000];
/// Of another currency: the series that most of them follow, from the smallest unit up.
const OTHER_DENOMINATIONS: [i64; 14] =
    [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000];

/// What needs nobody's approval, in minor units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub pay_out: i64,
    pub difference: i64,
    pub cash_held: i64,
}

#[must_use]
pub fn limits(currency: Currency) -> Limits {
    let unit = 10_i64.pow(u32::from(currency.decimals()));
    Limits {
        pay_out: PAY_OUT_UNITS * unit,
        difference: DIFFERENCE_UNITS * unit,
        cash_held: CASH_HELD_UNITS * unit,
    }
}

#[must_use]
pub fn denominations(currency: Currency) -> &'static [i64] {
    if currency == Currency::PEN { &PEN_DENOMINATIONS } else { &OTHER_DENOMINATIONS }
}

/// The four parts of what was sold, and what came back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sold {
    pub accepted: Tally,
    pub pending: Tally,
    pub attention: Tally,
    pub discarded: Tally,
    pub returned: Tally,
    /// What was taken off prices. The other figures are without it.
    pub discounts: Tally,
}

impl Sold {
    /// From the sums by the outbox's words.
    fn of(states: &[(String, Tally)], returned: Tally, discounts: Tally) -> rusqlite::Result<Self> {
        let mut sold = Self { returned, discounts, ..Self::default() };
        for (state, tally) in states {
            let part = match state.as_str() {
                "accepted" => &mut sold.accepted,
                "queued" | "sending" => &mut sold.pending,
                "in_review" | "needs_attention" | "on_hold" => &mut sold.attention,
                "discarded" | "withdrawn" => &mut sold.discarded,
                other => return Err(unreadable("outbox.state", other)),
            };
            *part = plus(*part, *tally)?;
        }
        Ok(sold)
    }

    pub fn sold(&self) -> rusqlite::Result<Tally> {
        [self.pending, self.attention, self.discarded].into_iter().try_fold(self.accepted, plus)
    }

    /// What counts in the end.
    pub fn net(&self) -> rusqlite::Result<Tally> {
        let counted = plus(plus(self.accepted, self.pending)?, self.attention)?;
        let minor = counted.minor.checked_sub(self.returned.minor).ok_or_else(too_much)?;
        Ok(Tally { count: counted.count.saturating_sub(self.returned.count), minor })
    }

    pub fn unsettled(&self) -> rusqlite::Result<Tally> {
        plus(self.pending, self.attention)
    }
}

/// What went into the drawer and came out of it, in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drawer {
    pub float: i64,
    pub sales: i64,
    pub rounding: i64,
    pub pay_ins: i64,
    pub pay_outs: i64,
    pub refunds: i64,
}

impl Drawer {
    /// Of a shift that is open, from its rows.
    pub fn of(conn: &Connection, shift: u32, float: i64, currency: Currency) -> rusqlite::Result<Self> {
        let (sales, rounding) = figures::cash(conn, shift, currency)?;
        let (pay_ins, pay_outs, refunds) = movements::sums(conn, shift)?;
        Ok(Self { float, sales, rounding, pay_ins, pay_outs, refunds })
    }

    /// The cash that should be there. Below zero when more was paid out than the till knows to have come in.
    pub fn expected(&self) -> rusqlite::Result<i64> {
        let came = [self.sales, self.pay_ins].into_iter().try_fold(self.float, i64::checked_add);
        let went = [self.rounding, self.pay_outs, self.refunds];
        came.and_then(|came| went.into_iter().try_fold(came, i64::checked_sub)).ok_or_else(too_much)
    }
}

/// All figures of a shift that is open.
#[derive(Clone, Debug)]
pub struct Figures {
    pub states: Vec<(String, Tally)>,
    pub sold: Sold,
    pub drawer: Drawer,
    pub tenders: Vec<(String, Tally)>,
    /// From the first hour with a sale to the last one.
    pub hours: Vec<(String, Tally)>,
    /// By the route's name.
    pub routes: Vec<(String, Tally)>,
}

impl Figures {
    /// # Errors
    /// The rows cannot be read, or their sum does not fit.
    pub fn of(
        conn: &Connection,
        shift: &OpenedShift,
        currency: Currency,
        catalog: &Catalog,
    ) -> rusqlite::Result<Self> {
        let number = shift.shift_number;
        let states = figures::by_state(conn, number)?;
        let returned = figures::returned(conn, number)?;
        let routes = figures::by_route(conn, number)?;
        let name = |code: String| catalog.route_name(&code).map_or(code, str::to_owned);
        Ok(Self {
            sold: Sold::of(&states, returned, figures::discounts(conn, number)?)?,
            drawer: Drawer::of(conn, number, shift.float_minor, currency)?,
            tenders: figures::by_tender(conn, number)?,
            hours: hours(figures::by_hour(conn, number, TILL_OFFSET_MS)?, hour_of_day(shift.opened_at)),
            routes: routes.into_iter().map(|(code, tally)| (name(code), tally)).collect(),
            states,
        })
    }
}

/// Puts the hours of a day in the order in which the shift went through them, and those without a sale in between.
fn hours(sold: Vec<(u32, Tally)>, opened: u32) -> Vec<(String, Tally)> {
    const HOURS: u32 = 24;
    let since_opening = |hour: u32| (hour + HOURS - opened % HOURS) % HOURS;
    let first = sold.iter().map(|(hour, _)| since_opening(*hour)).min();
    let last = sold.iter().map(|(hour, _)| since_opening(*hour)).max();
    let Some((first, last)) = first.zip(last) else { return Vec::new() };
    (first..=last)
        .map(|since| {
            let hour = (opened + since) % HOURS;
            let tally = sold.iter().find(|(one, _)| *one == hour).map(|(_, tally)| *tally);
            (hour.to_string(), tally.unwrap_or_default())
        })
        .collect()
}

fn plus(one: Tally, other: Tally) -> rusqlite::Result<Tally> {
    let count = one.count.checked_add(other.count);
    let minor = one.minor.checked_add(other.minor);
    count.zip(minor).map(|(count, minor)| Tally { count, minor }).ok_or_else(too_much)
}

fn too_much() -> rusqlite::Error {
    unreadable("amount_minor", "more than fits")
}

#[cfg(test)]
mod tests;
