//! Sales that are looked for, newest first, a page at a time by keyset.
//!
//! From the newest block to the oldest: who in a block may be meant says its index, who is says the sale itself. So the
//! work is bounded by the blocks, whatever is looked for, and a page costs its own rows. Invariant: what is found is what
//! a look at every sale would find.

use rusqlite::{Connection, Result, params};

use crate::search::Query;
use crate::store::sale_terms::{self, BLOCK, Depth, Members, PART, block_of, facts, select};
use crate::store::{installation, summaries};
use crate::view::{SalePage, SaleSummary, SalesStanding};

/// What is looked for.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub query: Query,
    pub standing: Option<SalesStanding>,
    pub shift: Option<u32>,
}

/// Matching sales older than `after`, the sequence of the last one seen.
pub fn page(conn: &Connection, wanted: &Wanted, after: Option<i64>) -> Result<SalePage> {
    let limit = summaries::PAGE as usize;
    let mut sequences = sequences(conn, wanted, after, limit + 1)?;
    let is_full = sequences.len() > limit;
    sequences.truncate(limit);
    let next = sequences.last().copied().filter(|_| is_full);
    let items = sequences
        .into_iter()
        .filter_map(|sequence| summaries::by_sequence(conn, sequence).transpose())
        .collect::<Result<Vec<SaleSummary>>>()?;
    Ok(SalePage { items, next })
}

/// The sequences of matching sales older than `after`, newest first.
pub fn sequences(conn: &Connection, wanted: &Wanted, after: Option<i64>, limit: usize) -> Result<Vec<i64>> {
    let mut found = Vec::new();
    let Some((oldest, newest)) = bounds(conn, wanted, after)? else { return Ok(found) };
    let last_block = sale_terms::last_block(conn)?;
    let mut read = None;
    for block in (block_of(oldest)..=block_of(newest)).rev() {
        let mut members = Members::ALL;
        if block <= last_block {
            let part = match read {
                Some((part, meant)) if part == block / PART => meant,
                _ => sale_terms::meant(conn, block / PART, &wanted.query)?,
            };
            read = Some((block / PART, part));
            members = part[usize::try_from(block % PART).expect("a part is small")];
        }
        if !members.is_empty() {
            members = members.and(with_standing(conn, wanted.standing, block)?);
        }
        for place in members.newest_first() {
            let sequence = block * BLOCK + i64::from(place);
            if (oldest..=newest).contains(&sequence) && is_wanted(conn, wanted, sequence)? {
                found.push(sequence);
                if found.len() == limit {
                    return Ok(found);
                }
            }
        }
    }
    Ok(found)
}

/// The oldest and the newest sequence that can be wanted.
fn bounds(conn: &Connection, wanted: &Wanted, after: Option<i64>) -> Result<Option<(i64, i64)>> {
    let (oldest, newest) = match wanted.shift {
        None => (1, installation::last_sequence(conn)?),
        Some(shift) => conn
            .prepare_cached(
                "SELECT coalesce(min(sequence), 1), coalesce(max(sequence), 0) FROM sales WHERE shift_number = ?1",
            )?
            .query_row([shift], |row| Ok((row.get(0)?, row.get(1)?)))?,
    };
    let newest = after.map_or(newest, |after| newest.min(after.saturating_sub(1)));
    Ok((oldest <= newest).then_some((oldest, newest)))
}

/// Who in a block may stand so. Few do, except for what YUPY has.
fn with_standing(conn: &Connection, standing: Option<SalesStanding>, block: i64) -> Result<Members> {
    let sql = match standing {
        None | Some(SalesStanding::Confirmed) => return Ok(Members::ALL),
        Some(SalesStanding::Waiting | SalesStanding::NeedsAttention) => {
            "SELECT sequence FROM outbox
             WHERE sequence BETWEEN ?1 AND ?2 AND state NOT IN ('accepted', 'discarded', 'withdrawn')"
        }
        Some(SalesStanding::Voided) => "SELECT sequence FROM voids WHERE sequence BETWEEN ?1 AND ?2",
    };
    let mut members = Members::NONE;
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params![block * BLOCK, block * BLOCK + BLOCK - 1])?;
    while let Some(row) = rows.next()? {
        members.add(sale_terms::place_of(row.get(0)?));
    }
    Ok(members)
}

fn is_wanted(conn: &Connection, wanted: &Wanted, sequence: i64) -> Result<bool> {
    let depth = if wanted.query.asks_how_it_was_paid() { Depth::Payment } else { Depth::Sale };
    let mut sale = conn.prepare_cached(&format!("{} WHERE sales.sequence = ?1", select(depth)))?;
    let mut rows = sale.query([sequence])?;
    let Some(row) = rows.next()? else { return Ok(false) };
    if wanted.shift.is_some() && wanted.shift != row.get(9)? {
        return Ok(false);
    }
    let (state, is_voided) = (row.get_ref(10)?.as_str()?, row.get(11)?);
    if !wanted.standing.is_none_or(|standing| stands(standing, state, is_voided)) {
        return Ok(false);
    }
    Ok(wanted.query.is_met_by(&facts(row)?))
}

fn stands(standing: SalesStanding, state: &str, is_voided: bool) -> bool {
    match standing {
        SalesStanding::Waiting => matches!(state, "queued" | "sending" | "on_hold"),
        SalesStanding::Confirmed => state == "accepted" && !is_voided,
        SalesStanding::NeedsAttention => matches!(state, "in_review" | "needs_attention"),
        SalesStanding::Voided => is_voided,
    }
}

#[cfg(test)]
mod tests;
