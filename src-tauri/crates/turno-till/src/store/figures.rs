//! Sums over the rows of one shift. Nothing is kept: what is asked for is added up.
//!
//! Invariant: every sum but [`by_state`] leaves out what was discarded, so the sums by tender, by hour and by route are
//! equal to each other and to what the states say was sold and not discarded.

use rusqlite::{Connection, Result, params};
use turno_domain::money::cash_due;
use turno_domain::{Currency, Money};

use crate::store::{sales, tenders, unreadable};
use crate::view::TenderMethod;

/// So many sales and their sum in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub count: u32,
    pub minor: i64,
}

/// Sales of a shift with their state.
const COUNTED: &str = "sales JOIN outbox USING (sequence) WHERE shift_number = ?1
    AND state NOT IN ('discarded', 'withdrawn')";

/// By where the sales are on their way: the outbox's own words.
pub fn by_state(conn: &Connection, shift: u32) -> Result<Vec<(String, Tally)>> {
    shares(
        conn,
        "SELECT state, count(*), sum(amount_minor) FROM sales JOIN outbox USING (sequence)
         WHERE shift_number = ?1 GROUP BY state ORDER BY state",
        shift,
    )
}

/// Sales of a shift whose money was given back, at their price; those that YUPY never had are among the discarded.
pub fn returned(conn: &Connection, shift: u32) -> Result<Tally> {
    conn.prepare_cached(&format!(
        "SELECT count(*), coalesce(sum(amount_minor), 0) FROM {COUNTED}
             AND EXISTS (SELECT 1 FROM voids WHERE voids.sequence = sales.sequence)"
    ))?
    .query_row([shift], |row| Ok(Tally { count: row.get(0)?, minor: row.get(1)? }))
}

/// Sales of a shift that were sold below their price, and by how much.
pub fn discounts(conn: &Connection, shift: u32) -> Result<Tally> {
    conn.prepare_cached(
        "SELECT count(*), coalesce(sum(discount_minor), 0)
         FROM sales JOIN outbox USING (sequence) JOIN sale_discounts USING (sequence)
         WHERE shift_number = ?1 AND state NOT IN ('discarded', 'withdrawn')",
    )?
    .query_row([shift], |row| Ok(Tally { count: row.get(0)?, minor: row.get(1)? }))
}

/// By how the customers paid. A sale that was paid in two ways is counted in both, with its part of each; what was to be
/// paid by card counts as `card` when it was charged, else as `card_unconfirmed` or `card_not_charged`.
pub fn by_tender(conn: &Connection, shift: u32) -> Result<Vec<(String, Tally)>> {
    shares(
        conn,
        "SELECT CASE WHEN payment_method <> 'card' THEN coalesce(method, payment_method)
                     WHEN charge.acquirer_payment_id IS NOT NULL THEN 'card'
                     WHEN charge.outcome_unknown OR charge.state = 'sending' THEN 'card_unconfirmed'
                     ELSE 'card_not_charged' END AS paid_in, count(DISTINCT sales.sequence),
                sum(coalesce(part.amount_minor, sales.amount_minor)) AS minor
         FROM sales JOIN outbox USING (sequence) JOIN checkouts ON checkouts.draft_id = sales.draft_id
             LEFT JOIN sale_tenders AS part ON part.sequence = sales.sequence
             LEFT JOIN checkout_tenders AS tender
                 ON tender.draft_id = sales.draft_id AND tender.position = part.position
             LEFT JOIN payments AS charge ON charge.sequence = sales.sequence
                 AND charge.state NOT IN ('declined', 'withdrawn')
         WHERE sales.shift_number = ?1 AND outbox.state NOT IN ('discarded', 'withdrawn')
         GROUP BY paid_in ORDER BY minor DESC, paid_in",
        shift,
    )
}

/// By the code of the route, the most sold first; the empty word for what belongs to none.
pub fn by_route(conn: &Connection, shift: u32) -> Result<Vec<(String, Tally)>> {
    shares(
        conn,
        &format!(
            "SELECT coalesce(route, ''), count(*), sum(amount_minor) FROM {COUNTED}
             GROUP BY 1 ORDER BY sum(amount_minor) DESC, 1"
        ),
        shift,
    )
}

/// By hour of the day at the till, which is `offset_ms` from UTC. A clock may be so wrong that it is before 1970, where
/// remainders are negative.
pub fn by_hour(conn: &Connection, shift: u32, offset_ms: i64) -> Result<Vec<(u32, Tally)>> {
    conn.prepare_cached(&format!(
        "SELECT ((occurred_at_ms + ?2) / 3600000 % 24 + 24) % 24, count(*), sum(amount_minor) FROM {COUNTED}
         GROUP BY 1 ORDER BY 1"
    ))?
    .query_map(params![shift, offset_ms], |row| {
        Ok((row.get(0)?, Tally { count: row.get(1)?, minor: row.get(2)? }))
    })?
    .collect()
}

fn shares(conn: &Connection, sql: &str, shift: u32) -> Result<Vec<(String, Tally)>> {
    conn.prepare_cached(sql)?
        .query_map([shift], |row| Ok((row.get(0)?, Tally { count: row.get(1)?, minor: row.get(2)? })))?
        .collect()
}

/// What was paid in cash for a shift's sales, and how much of it rounding took off.
pub fn cash(conn: &Connection, shift: u32, currency: Currency) -> Result<(i64, i64)> {
    // Each checkout was rounded as a whole, and is again when a part of it turned out to be no sale.
    let mut untouched = conn.prepare_cached(
        "SELECT coalesce(sum(coalesce(cash.amount_minor, total_minor)), 0), coalesce(sum(rounding_minor), 0)
         FROM checkouts LEFT JOIN checkout_tenders AS cash
             ON cash.draft_id = checkouts.draft_id AND cash.method = 'cash'
         WHERE shift_number = ?1 AND (payment_method = 'cash' OR cash.method IS NOT NULL)
           AND checkouts.draft_id NOT IN (
             SELECT draft_id FROM sales JOIN outbox USING (sequence)
             WHERE shift_number = ?1 AND state = 'discarded')",
    )?;
    let (mut sales, mut rounding) = untouched.query_row([shift], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let touched: Vec<String> = conn
        .prepare_cached(
            "SELECT DISTINCT draft_id
             FROM sales JOIN outbox USING (sequence) JOIN checkouts USING (draft_id)
             WHERE sales.shift_number = ?1 AND state = 'discarded' AND payment_method IN ('cash', 'split')",
        )?
        .query_map([shift], |row| row.get(0))?
        .collect::<Result<_>>()?;
    for draft_id in touched {
        let (left, off) = cash_left(conn, &draft_id, currency)?;
        let both = |sum: i64, part: i64| sum.checked_add(part).ok_or_else(|| unreadable("cash", "too much"));
        sales = both(sales, left)?;
        rounding = both(rounding, off)?;
    }
    Ok((sales, rounding))
}

/// What of a checkout's price is cash, of what it still sells, and what rounding takes off it.
fn cash_left(conn: &Connection, draft_id: &str, currency: Currency) -> Result<(i64, i64)> {
    let left: i64 = conn
        .prepare_cached(
            "SELECT coalesce(sum(CASE payment_method WHEN 'cash' THEN sales.amount_minor ELSE part.amount_minor END)
                             FILTER (WHERE state <> 'discarded'), 0)
             FROM sales JOIN outbox USING (sequence) JOIN checkouts ON checkouts.draft_id = sales.draft_id
                 LEFT JOIN checkout_tenders AS tender
                     ON tender.draft_id = sales.draft_id AND tender.method = 'cash'
                 LEFT JOIN sale_tenders AS part
                     ON part.sequence = sales.sequence AND part.position = tender.position
             WHERE sales.draft_id = ?1",
        )?
        .query_row([draft_id], |row| row.get(0))?;
    Ok((left, cash_due(Money::from_minor(left, currency)).rounding.minor()))
}

/// What the customer of a checkout owes in cash for what it still sells.
pub fn cash_owed(conn: &Connection, draft_id: &str, currency: Currency) -> Result<i64> {
    let rounding = sales::checkout(conn, draft_id)?.rounding_minor;
    let tenders = tenders::of_checkout(conn, draft_id)?;
    let Some(cash) = tenders.iter().find(|tender| tender.method == TenderMethod::Cash) else { return Ok(0) };
    let (left, off) = cash_left(conn, draft_id, currency)?;
    Ok(if left == cash.amount_minor { left - rounding } else { left - off })
}
