//! Everything that is known of one sale, and its timeline.
//!
//! Nothing is kept for it: the facts are the sale's rows, and what happened is read from the audit and the attempts.
//! Whatever else is written to the audit under the sale's id (a print, a reprint) appears by itself.

use rusqlite::{Connection, Result};
use serde_json::Value;
use turno_domain::Currency;
use turno_protocol::body::TransactionBody;

use crate::clock::{Millis, rfc3339};
use crate::outbox::Policy;
use crate::sell;
use crate::store::attempts::{self, Tried};
use crate::store::audit::{self, Told};
use crate::store::requests::RequestRow;
use crate::store::tenders::TenderRow;
use crate::store::{
    discounts, outbox as entries, people, print_jobs, requests, resolutions, sales, summaries, voids,
};
use crate::view::{
    Happening, Money, ProblemCode, ResolutionProgress, Role, SaleCheckout, SaleContent, SaleDetail,
    SaleDiscount, SaleReason, SaleResolution, SaleState, SaleSummary, SaleVerdict, SaleVoid, Standing,
    TenderShare, TimelineEntry, VoidOffer, VoidProgress,
};
use crate::{resolve, void};

/// A sale that waited for a week was tried thousands of times; people read the newest, and how many there were.
const ATTEMPTS_SHOWN: u32 = 40;
const EVENTS_SHOWN: u32 = 200;

/// `None`: there is no such sale.
pub fn of(conn: &Connection, external_transaction_id: &str) -> Result<Option<SaleDetail>> {
    let Some(row) = sales::by_external_id(conn, external_transaction_id)? else { return Ok(None) };
    let Some(sale) = summaries::by_sequence(conn, row.sequence)? else { return Ok(None) };
    let first = requests::first_request(conn, row.sequence)?;
    let newest = requests::create_request(conn, row.sequence)?;
    let differs = entries::differs(conn, row.sequence)?;
    let tried = attempts::of_sale(conn, row.sequence, ATTEMPTS_SHOWN)?;
    let shown = u32::try_from(tried.len()).unwrap_or(u32::MAX);
    Ok(Some(SaleDetail {
        verdict: verdict(&sale, differs),
        void: void(conn, &row, &sale)?,
        void_offer: void_offer(conn, &row)?,
        resolution: resolution(conn, &row, &sale)?,
        quantity: row.quantity,
        checkout: checkout(conn, &row)?,
        discount: discount(conn, &row)?,
        sold: content(&first),
        content: content(&newest),
        revision: newest.revision,
        idempotency_key: newest.idempotency_key,
        timeline: timeline(conn, &sale, tried)?,
        attempts_left_out: attempts::count_of_sale(conn, row.sequence)?.saturating_sub(shown),
        sale,
    }))
}

/// A body that cannot be read shows as empty, never as a sale that cannot be opened.
fn content(request: &RequestRow) -> SaleContent {
    serde_json::from_slice::<TransactionBody>(&request.body)
        .map(|body| SaleContent::of(&body))
        .unwrap_or_default()
}

fn void(conn: &Connection, sold: &sales::SaleRow, sale: &SaleSummary) -> Result<Option<SaleVoid>> {
    let (Some(row), Some(progress)) = (voids::get(conn, sale.sequence)?, sale.voided) else {
        return Ok(None);
    };
    let name = |id: &str| -> Result<String> {
        Ok(people::find(conn, id)?.map(|person| person.name).unwrap_or_default())
    };
    Ok(Some(SaleVoid {
        progress,
        returned: Money { minor: row.returned_minor, currency: sale.amount.currency.clone() },
        parts: shares(void::parts_of(conn, sold, row.returned_minor)?, &sold.currency),
        voided_at: rfc3339(row.voided_at),
        shift_id: format!("S{}", row.shift_number),
        asked_by: name(&row.asked_by)?,
        approved_by: name(&row.approved_by)?,
        reason: row.reason,
        operation_id: row.operation_id,
        detail: row.detail,
    }))
}

fn resolution(conn: &Connection, row: &sales::SaleRow, sale: &SaleSummary) -> Result<Option<SaleResolution>> {
    let (Some(decided), Some(progress)) = (resolutions::of_sale(conn, row.sequence)?, sale.resolution) else {
        return Ok(None);
    };
    // Whether it can be taken back does not depend on the time.
    let refused = resolve::take_back_refused(conn, row, &decided, decided.decided_at, &Policy::default())?;
    Ok(Some(SaleResolution {
        progress,
        decision: decided.decision,
        decided_by: people::find(conn, &decided.decided_by)?.map(|person| person.name).unwrap_or_default(),
        decided_at: rfc3339(decided.decided_at),
        reason: decided.reason,
        detail: decided.detail,
        take_back_refused: refused,
    }))
}

fn discount(conn: &Connection, sale: &sales::SaleRow) -> Result<Option<SaleDiscount>> {
    let Some(row) = discounts::of_sale(conn, sale.sequence)? else { return Ok(None) };
    let money = |minor| Money { minor, currency: sale.currency.clone() };
    let approver = row.approved_by.as_deref().map(|id| people::find(conn, id)).transpose()?.flatten();
    Ok(Some(SaleDiscount {
        list: money(row.list_minor),
        discount: money(row.discount_minor),
        reason: row.reason,
        approved_by: approver.map(|person| person.name),
    }))
}

fn shares(rows: Vec<TenderRow>, currency: &str) -> Vec<TenderShare> {
    rows.into_iter().map(|row| sell::shown(row, 0, currency)).collect()
}

fn void_offer(conn: &Connection, sale: &sales::SaleRow) -> Result<VoidOffer> {
    let money = |minor| Money { minor, currency: sale.currency.clone() };
    let limit = Currency::parse(&sale.currency)
        .map(|currency| void::limit_minor(Role::Manager, currency))
        .unwrap_or_default();
    let begins = entries::get(conn, sale.sequence)?.map(|entry| void::begins(&entry.state, sale.occurred_at));
    let (parts, refused) = match voids::get(conn, sale.sequence)? {
        Some(row) => (void::parts_of(conn, sale, row.returned_minor)?, Some(ProblemCode::AlreadyVoided)),
        None => (void::returned(conn, sale)?, begins.and_then(std::result::Result::err)),
    };
    let returned = parts.iter().map(|part| part.amount_minor).sum();
    let refused = refused.or((returned > limit).then_some(ProblemCode::VoidLimit));
    let parts = shares(parts, &sale.currency);
    Ok(VoidOffer { returned: money(returned), parts, limit: money(limit), refused })
}

fn verdict(sale: &SaleSummary, differs: bool) -> SaleVerdict {
    match sale.voided {
        Some(VoidProgress::NeedsAttention) => return SaleVerdict::VoidRefused,
        Some(
            VoidProgress::Waiting
            | VoidProgress::Queued
            | VoidProgress::Sending
            | VoidProgress::Confirmed
            | VoidProgress::Local,
        ) => return SaleVerdict::Voided,
        None => {}
    }
    match sale.resolution {
        Some(
            ResolutionProgress::DecidedOtherwise
            | ResolutionProgress::SaleExists
            | ResolutionProgress::Refused,
        ) => return SaleVerdict::DiscardDisputed,
        Some(
            ResolutionProgress::Queued
            | ResolutionProgress::Sending
            | ResolutionProgress::Told
            | ResolutionProgress::Closed
            | ResolutionProgress::Acknowledged
            | ResolutionProgress::TakenBack,
        )
        | None => {}
    }
    match sale.state {
        SaleState::Accepted if differs => SaleVerdict::CountsWithDifference,
        SaleState::Accepted => SaleVerdict::Counts,
        SaleState::Discarded => SaleVerdict::DoesNotCount,
        SaleState::Withdrawn => SaleVerdict::Voided,
        SaleState::InReview => SaleVerdict::AwaitsDecision,
        SaleState::NeedsAttention => match sale.reason {
            Some(SaleReason::ValidationFailed | SaleReason::Refused) => SaleVerdict::AwaitsCorrection,
            _ => SaleVerdict::AwaitsSupport,
        },
        SaleState::Queued | SaleState::Sending | SaleState::OnHold => match sale.standing {
            Standing::Unconfirmed => SaleVerdict::Unconfirmed,
            Standing::Saved | Standing::Confirmed => SaleVerdict::OnItsWay,
        },
    }
}

/// None for a sale that another till made: its ticket stayed there.
fn checkout(conn: &Connection, sale: &sales::SaleRow) -> Result<Option<SaleCheckout>> {
    let Some(draft_id) = sale.draft_id.as_deref() else { return Ok(None) };
    let row = sales::checkout(conn, draft_id)?;
    let sales_count = sales::of_checkout(conn, draft_id)?.len();
    let money = |minor| Money { minor, currency: sale.currency.clone() };
    let due = row.total_minor - row.rounding_minor;
    Ok(Some(SaleCheckout {
        draft_id: row.draft_id,
        payment_method: row.payment_method,
        sales_count: u32::try_from(sales_count).unwrap_or(u32::MAX),
        total: money(row.total_minor),
        rounding: money(row.rounding_minor),
        due: money(due),
        received: money(row.received_minor),
        change: money(row.received_minor - due),
        tenders: sell::paid_with(conn, draft_id, row.rounding_minor, &sale.currency)?,
    }))
}

fn timeline(conn: &Connection, sale: &SaleSummary, tried: Vec<Tried>) -> Result<Vec<TimelineEntry>> {
    let mut entries: Vec<(Millis, TimelineEntry)> = Vec::new();
    for told in audit::of_sale(conn, &sale.external_transaction_id, EVENTS_SHOWN)? {
        entries.push((told.at, event(conn, told)?));
    }
    let newest = tried.first().map(|attempt| attempt.started_at);
    for attempt in tried.into_iter().rev() {
        let runs = sale.state == SaleState::Sending && Some(attempt.started_at) == newest;
        entries.push((attempt.finished_at.unwrap_or(attempt.started_at), tried_entry(attempt, runs)));
    }
    for attempt in voids::attempts_of(conn, sale.sequence, ATTEMPTS_SHOWN)?.into_iter().rev() {
        let at = attempt.finished_at.unwrap_or(attempt.started_at);
        // What YUPY confirmed is told by the audit.
        if attempt.outcome.as_deref() == Some("accepted") {
            continue;
        }
        let happened = if attempt.outcome.is_some() {
            Happening::VoidAttemptEnded
        } else {
            Happening::VoidAttemptCutOff
        };
        entries.push((at, TimelineEntry { happened, ..tried_entry(attempt, false) }));
    }
    for attempt in resolutions::attempts_of_sale(conn, sale.sequence, ATTEMPTS_SHOWN)?.into_iter().rev() {
        let at = attempt.finished_at.unwrap_or(attempt.started_at);
        // What YUPY took or refused is told by the audit.
        let happened = match attempt.outcome.as_deref() {
            Some("accepted" | "refused") => continue,
            Some(_) => Happening::DiscardAttemptEnded,
            None => Happening::DiscardAttemptCutOff,
        };
        entries.push((at, TimelineEntry { happened, ..tried_entry(attempt, false) }));
    }
    entries.extend(
        print_jobs::printed_at(conn, sale.sequence, EVENTS_SHOWN)?
            .into_iter()
            .map(|at| (at, bare(at, Happening::Printed))),
    );
    // Stable: an attempt that ended in the millisecond of what it led to comes after it, and both are told.
    entries.sort_by_key(|(at, _)| *at);
    Ok(entries.into_iter().map(|(_, entry)| entry).collect())
}

fn bare(at: Millis, happened: Happening) -> TimelineEntry {
    TimelineEntry {
        at: rfc3339(at),
        happened,
        person: None,
        reason: None,
        outcome: None,
        detail: None,
        status: None,
        request_id: None,
    }
}

fn tried_entry(attempt: Tried, runs: bool) -> TimelineEntry {
    let outcome = attempt.outcome.as_deref().and_then(reason_of);
    let happened = match (&attempt.outcome, outcome) {
        (None, _) if runs => Happening::AttemptRunning,
        (None, _) => Happening::AttemptCutOff,
        (Some(word), _) if word == "accepted" => Happening::AttemptAccepted,
        (Some(_), _) => Happening::AttemptEnded,
    };
    TimelineEntry {
        outcome,
        status: attempt.status,
        request_id: attempt.yupy_request_id,
        ..bare(attempt.finished_at.unwrap_or(attempt.started_at), happened)
    }
}

fn reason_of(word: &str) -> Option<SaleReason> {
    serde_json::from_value(word.into()).ok()
}

fn event(conn: &Connection, told: Told) -> Result<TimelineEntry> {
    let text = |name: &str| told.data.get(name).and_then(Value::as_str).map(str::to_owned);
    let is = |name: &str| told.data.get(name).and_then(Value::as_bool).unwrap_or_default();
    let mut detail = text("challenge_id");
    let happened = match told.event.as_str() {
        "sale_recorded" => Happening::Recorded,
        "discount_given" => Happening::DiscountGiven,
        "sale_recovered" => Happening::Recovered,
        "sale_accepted" if is("differs") => Happening::AcceptedEarlier,
        "sale_accepted" => Happening::Accepted,
        "question_asked" => Happening::QuestionAsked,
        "question_decided" if text("decision").as_deref() == Some("same_sale") => Happening::DecidedSame,
        "question_decided" => Happening::DecidedDifferent,
        "decision_carried_over" => Happening::DecisionCarriedOver,
        "sale_corrected" => {
            let names = told.data.get("fields").and_then(Value::as_array);
            let names = names.map(|names| names.iter().filter_map(Value::as_str).collect::<Vec<_>>());
            detail = names.map(|names| names.join(", "));
            Happening::Corrected
        }
        "sale_sent_again" => Happening::SentAgain,
        "sale_missing_at_yupy" => Happening::MissingAtYupy,
        "identity_collision" => Happening::IdentityCollision,
        "stored_body_changed" => Happening::BodyChanged,
        "sale_voided" => {
            detail = text("operation_id");
            Happening::Voided
        }
        "void_confirmed" => Happening::VoidConfirmed,
        "void_retried" => Happening::VoidRetried,
        "discard_told" => Happening::DiscardTold,
        "discard_not_told" => Happening::DiscardNotTold,
        "discard_disputed" => {
            detail = text("detail").or_else(|| text("outcome"));
            Happening::DiscardDisputed
        }
        "discard_taken_back" => Happening::DiscardTakenBack,
        "discard_left" => Happening::DiscardLeft,
        "decided_elsewhere" if text("decision").as_deref() == Some("same_sale") => {
            Happening::DecidedElsewhereSame
        }
        "decided_elsewhere" => Happening::DecidedElsewhereDifferent,
        "ticket_printed_again" => Happening::CopyAsked,
        other => {
            detail = Some(other.to_owned());
            Happening::Other
        }
    };
    let decided_by = text("decided_by");
    let person = match told.person_id.as_deref().or(decided_by.as_deref()) {
        Some(id) => people::find(conn, id)?.map(|person| person.name),
        None => text("decided_elsewhere_by"),
    };
    Ok(TimelineEntry { person, reason: text("reason"), detail, ..bare(told.at, happened) })
}
