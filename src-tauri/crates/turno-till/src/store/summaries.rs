//! Sales as lists show them: one join, one page at a time, by keyset.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};

use crate::clock::rfc3339;
use crate::store::unreadable;
use crate::view::{
    CardPayment, CardProgress, Money, ResolutionProgress, SalePage, SaleReason, SaleState, SaleSummary,
    Standing, VoidProgress,
};

/// Rows on one page; two screens full.
pub const PAGE: u32 = 50;

const COLUMNS: &str = "sales.sequence, sales.external_transaction_id, sales.shift_number, description, route, seat, buyer_name,
    sales.amount_minor, currency, occurred_at_ms, coalesce(people.name, imported_sales.seller), outbox.state,
    outbox.outcome_unknown, outbox.reason, outbox.detail, outbox.attempts, outbox.due_at_ms, yupy_transaction_id, voids.state,
    returned_minor, imported_sales.shift_id, imported_sales.device_id,
    iif(resolutions.state = 'needs_attention', resolutions.trouble, resolutions.state),
    ticket.payment_method = 'card', payments.state, payments.outcome_unknown, payments.card_number, payments.trouble,
    payments.due_at_ms";

const TABLES: &str =
    "sales JOIN outbox ON outbox.sequence = sales.sequence LEFT JOIN people ON people.person_id = sales.seller
    LEFT JOIN imported_sales ON imported_sales.sequence = sales.sequence
    LEFT JOIN voids ON voids.sequence = sales.sequence
    LEFT JOIN resolutions ON resolutions.sequence = sales.sequence AND resolutions.sequence IS NOT NULL
        AND resolutions.state <> 'taken_back'
    LEFT JOIN checkouts AS ticket ON ticket.draft_id = sales.draft_id
    LEFT JOIN payments ON payments.sequence = sales.sequence AND ticket.payment_method = 'card' AND payments.card_number =
        (SELECT max(card_number) FROM payments AS tried WHERE tried.sequence = sales.sequence)";

fn read(row: &Row<'_>) -> Result<SaleSummary> {
    let state = state(&row.get::<_, String>(11)?)?;
    let outcome_unknown: bool = row.get(12)?;
    let reason: Option<String> = row.get(13)?;
    let due: Option<i64> = row.get(16)?;
    let voided: Option<String> = row.get(18)?;
    let currency: String = row.get(8)?;
    let shift: Option<u32> = row.get(2)?;
    Ok(SaleSummary {
        sequence: row.get(0)?,
        external_transaction_id: row.get(1)?,
        shift_id: shift.map_or_else(|| row.get(20), |shift| Ok(format!("S{shift}")))?,
        description: row.get(3)?,
        route: row.get(4)?,
        seat: row.get(5)?,
        buyer_name: row.get(6)?,
        amount: Money { minor: row.get(7)?, currency: row.get(8)? },
        returned: row.get::<_, Option<i64>>(19)?.map(|minor| Money { minor, currency: currency.clone() }),
        voided: voided.as_deref().map(progress).transpose()?,
        occurred_at: rfc3339(row.get(9)?),
        seller: row.get(10)?,
        state,
        standing: standing(state, outcome_unknown),
        reason: reason.as_deref().map(reason_of).transpose()?,
        detail: row.get(14)?,
        attempts: row.get(15)?,
        next_attempt_at: due.map(rfc3339),
        yupy_transaction_id: row.get(17)?,
        card: card(row, state)?,
        origin_device_id: row.get(21)?,
        resolution: row.get::<_, Option<String>>(22)?.as_deref().map(told).transpose()?,
    })
}

fn card(row: &Row<'_>, sale: SaleState) -> Result<Option<CardPayment>> {
    if row.get::<_, Option<bool>>(23)? != Some(true) {
        return Ok(None);
    }
    let Some(state) = row.get::<_, Option<String>>(24)? else {
        // A sale that ended without a charge never gets one.
        let progress = match sale {
            SaleState::Discarded | SaleState::Withdrawn => CardProgress::Withdrawn,
            SaleState::Queued
            | SaleState::Sending
            | SaleState::Accepted
            | SaleState::InReview
            | SaleState::NeedsAttention
            | SaleState::OnHold => CardProgress::AwaitsSale,
        };
        return Ok(Some(CardPayment {
            progress,
            is_unconfirmed: false,
            card_number: 1,
            trouble: None,
            next_attempt_at: None,
        }));
    };
    let progress = match state.as_str() {
        "waiting" | "queued" | "sending" => CardProgress::Asking,
        "approved" => CardProgress::Approved,
        "declined" => CardProgress::Declined,
        "withdrawn" => CardProgress::Withdrawn,
        "needs_attention" => CardProgress::NeedsAttention,
        other => return Err(unreadable("payments.state", other)),
    };
    let trouble: Option<String> = row.get(27)?;
    let trouble = trouble.filter(|_| progress == CardProgress::NeedsAttention);
    let trouble = trouble
        .map(|word| {
            serde_json::from_value(word.as_str().into()).map_err(|_| unreadable("payments.trouble", &word))
        })
        .transpose()?;
    let outcome_unknown = row.get::<_, bool>(25)? || state == "sending";
    let stays_unknown =
        progress == CardProgress::Asking || trouble == Some(crate::view::CardTrouble::ReconciliationRequired);
    Ok(Some(CardPayment {
        progress,
        is_unconfirmed: outcome_unknown && stays_unknown,
        card_number: row.get(26)?,
        trouble,
        next_attempt_at: row.get::<_, Option<i64>>(28)?.map(rfc3339),
    }))
}

/// While bytes may be on their way nobody knows, so *sending* is *sin confirmar* too.
fn standing(state: SaleState, outcome_unknown: bool) -> Standing {
    match state {
        SaleState::Accepted => Standing::Confirmed,
        SaleState::Sending | SaleState::OnHold => Standing::Unconfirmed,
        SaleState::Queued if outcome_unknown => Standing::Unconfirmed,
        SaleState::Queued
        | SaleState::InReview
        | SaleState::NeedsAttention
        | SaleState::Discarded
        | SaleState::Withdrawn => Standing::Saved,
    }
}

pub fn state(word: &str) -> Result<SaleState> {
    match word {
        "queued" => Ok(SaleState::Queued),
        "sending" => Ok(SaleState::Sending),
        "accepted" => Ok(SaleState::Accepted),
        "in_review" => Ok(SaleState::InReview),
        "needs_attention" => Ok(SaleState::NeedsAttention),
        "on_hold" => Ok(SaleState::OnHold),
        "discarded" => Ok(SaleState::Discarded),
        "withdrawn" => Ok(SaleState::Withdrawn),
        other => Err(unreadable("outbox.state", other)),
    }
}

fn progress(word: &str) -> Result<VoidProgress> {
    serde_json::from_value(word.into()).map_err(|_| unreadable("voids.state", word))
}

pub fn told(word: &str) -> Result<ResolutionProgress> {
    serde_json::from_value(word.into()).map_err(|_| unreadable("resolutions.state", word))
}

fn reason_of(word: &str) -> Result<SaleReason> {
    serde_json::from_value(word.into()).map_err(|_| unreadable("outbox.reason", word))
}

/// Unsettled sales, and those of whose payment, void or discard YUPY has to hear, oldest first. `after` is the sequence of the last one seen.
pub fn pending(conn: &Connection, after: Option<i64>) -> Result<SalePage> {
    let items = conn
        .prepare_cached(&format!(
            "WITH unsettled AS MATERIALIZED (
                 SELECT sequence FROM (SELECT sequence FROM outbox
                     WHERE state NOT IN ('accepted', 'discarded', 'withdrawn') AND sequence > ?1
                     ORDER BY sequence LIMIT ?2)
                 UNION SELECT sequence FROM (SELECT sequence FROM voids
                     WHERE state IN ('queued', 'sending', 'needs_attention') AND sequence > ?1
                     ORDER BY sequence LIMIT ?2)
                 UNION SELECT sequence FROM (SELECT sequence FROM payments
                     WHERE state IN ('waiting', 'queued', 'sending', 'needs_attention') AND sequence > ?1
                     ORDER BY sequence LIMIT ?2)
                 UNION SELECT sequence FROM (SELECT sequence FROM resolutions
                     WHERE state IN ('queued', 'sending', 'needs_attention') AND sequence > ?1
                     ORDER BY sequence LIMIT ?2)
                 ORDER BY 1 LIMIT ?2)
             SELECT {COLUMNS} FROM unsettled CROSS JOIN {TABLES} WHERE sales.sequence = unsettled.sequence
             ORDER BY sales.sequence"
        ))?
        .query_map(params![after.unwrap_or(0), PAGE + 1], read)?
        .collect::<Result<Vec<_>>>()?;
    Ok(page(items))
}

/// All sales, newest first. `after` is the sequence of the last one seen.
pub fn recent(conn: &Connection, after: Option<i64>) -> Result<SalePage> {
    let items = conn
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM {TABLES} WHERE sales.sequence < ?1 ORDER BY sales.sequence DESC LIMIT ?2"
        ))?
        .query_map(params![after.unwrap_or(i64::MAX), PAGE + 1], read)?
        .collect::<Result<Vec<_>>>()?;
    Ok(page(items))
}

/// A shift's sales that are not settled, oldest first.
pub fn unsettled_of_shift(conn: &Connection, shift: u32, limit: usize) -> Result<Vec<SaleSummary>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM {TABLES}
         WHERE sales.shift_number = ?1 AND outbox.state NOT IN ('accepted', 'discarded', 'withdrawn') ORDER BY sales.sequence LIMIT ?2"
    ))?
    .query_map(params![shift, i64::try_from(limit).unwrap_or(i64::MAX)], read)?
    .collect()
}

/// One row more than a page was asked for: whether it is there says whether there is a next page.
fn page(mut items: Vec<SaleSummary>) -> SalePage {
    let full = items.len() > PAGE as usize;
    items.truncate(PAGE as usize);
    let next = if full { items.last().map(|item| item.sequence) } else { None };
    SalePage { items, next }
}

pub fn of_checkout(conn: &Connection, draft_id: &str) -> Result<Vec<SaleSummary>> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM {TABLES} WHERE sales.draft_id = ?1 ORDER BY sales.sequence"
    ))?
    .query_map([draft_id], read)?
    .collect()
}

pub fn by_sequence(conn: &Connection, sequence: i64) -> Result<Option<SaleSummary>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM {TABLES} WHERE sales.sequence = ?1"))?
        .query_row([sequence], read)
        .optional()
}
