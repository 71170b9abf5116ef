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
use crate::resolving::Trouble;
use crate::sell;
use crate::store::attempts::{self, Tried};
use crate::store::audit::{self, Event, Told};
use crate::store::requests::RequestRow;
use crate::store::tenders::TenderRow;
use crate::store::{
    discounts, outbox as entries, payments, people, print_jobs, requests, resolutions, sales, summaries,
    voids,
};
use crate::view::{
    CardProgress, Happening, Money, ProblemCode, ResolutionProgress, Role, SaleCheckout, SaleContent,
    SaleDetail, SaleDiscount, SaleReason, SaleResolution, SaleState, SaleSummary, SaleVerdict, SaleVoid,
    Standing, TenderShare, TimelineEntry, VoidOffer, VoidProgress,
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
    let is_charging = payments::newest_row(conn, sale.sequence)?.is_some_and(|it| it.state.is_unsettled());
    let awaits_payment = is_charging.then_some(ProblemCode::VoidAwaitsPayment);
    let (parts, refused) = match voids::get(conn, sale.sequence)? {
        Some(row) => (void::parts_of(conn, sale, row.returned_minor)?, Some(ProblemCode::AlreadyVoided)),
        None => (void::returned(conn, sale)?, begins.and_then(std::result::Result::err).or(awaits_payment)),
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
    if let Some(card) = &sale.card {
        match card.progress {
            _ if card.is_unconfirmed => return SaleVerdict::CardUnconfirmed,
            CardProgress::Declined | CardProgress::NeedsAttention => return SaleVerdict::CardNotCharged,
            CardProgress::AwaitsSale
            | CardProgress::Asking
            | CardProgress::Approved
            | CardProgress::Withdrawn => {}
        }
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
    for attempt in payments::attempts_of_sale(conn, sale.sequence, ATTEMPTS_SHOWN)?.into_iter().rev() {
        let at = attempt.finished_at.unwrap_or(attempt.started_at);
        // What YUPY settled is told by the audit.
        let happened = match attempt.outcome.as_deref() {
            Some("approved" | "declined") => continue,
            Some(_) => Happening::PaymentAttemptEnded,
            None => Happening::PaymentAttemptCutOff,
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
    let detail = match Event::from_word(&told.event) {
        Some(Event::SaleCorrected) => {
            let names = told.data.get("fields").and_then(Value::as_array);
            let names = names.map(|names| names.iter().filter_map(Value::as_str).collect::<Vec<_>>());
            names.map(|names| names.join(", "))
        }
        Some(Event::SaleVoided) => text("operation_id"),
        Some(Event::CashRefunded) => text("amount"),
        Some(Event::PaymentApproved | Event::PaymentDeclined | Event::PaymentAskedFor) => {
            text("external_payment_id")
        }
        Some(Event::DiscardDisputed) if decided_otherwise(&told) => text("outcome"),
        Some(Event::DiscardDisputed) => text("detail").or_else(|| text("outcome")),
        known if happening(known, &told.data) == Happening::Other => Some(told.event.clone()),
        Some(_) | None => text("challenge_id"),
    };
    let decided_by = text("decided_by");
    let person = match told.person_id.as_deref().or(decided_by.as_deref()) {
        Some(id) => people::find(conn, id)?.map(|person| person.name),
        // A name belongs where names are left out of what support gets.
        None if decided_otherwise(&told) => text("detail"),
        None => text("decided_elsewhere_by"),
    };
    let happened = happening(Event::from_word(&told.event), &told.data);
    Ok(TimelineEntry { person, reason: text("reason"), detail, ..bare(told.at, happened) })
}

fn decided_otherwise(told: &Told) -> bool {
    let outcome = told.data.get("outcome").and_then(Value::as_str);
    outcome == Some(Trouble::DecidedOtherwise.as_word())
}

/// What of a sale's life an audit row tells. `None`, or what is never about one sale, has no words here.
fn happening(event: Option<Event>, data: &Value) -> Happening {
    let is_same = data.get("decision").and_then(Value::as_str) == Some("same_sale");
    let differs = data.get("differs").and_then(Value::as_bool).unwrap_or_default();
    let Some(event) = event else { return Happening::Other };
    match event {
        Event::SaleRecorded => Happening::Recorded,
        Event::DiscountGiven => Happening::DiscountGiven,
        Event::PriceApproved => Happening::PriceApproved,
        Event::SaleRecovered => Happening::Recovered,
        Event::SaleImported => Happening::Imported,
        Event::SaleAccepted if differs => Happening::AcceptedEarlier,
        Event::SaleAccepted => Happening::Accepted,
        Event::QuestionAsked => Happening::QuestionAsked,
        Event::QuestionDecided | Event::OtherTillDecided if is_same => Happening::DecidedSame,
        Event::QuestionDecided | Event::OtherTillDecided => Happening::DecidedDifferent,
        Event::OtherTillTold => Happening::AnswerTold,
        Event::DecisionCarriedOver => Happening::DecisionCarriedOver,
        Event::SaleCorrected => Happening::Corrected,
        Event::SaleSentAgain => Happening::SentAgain,
        Event::SaleMissingAtYupy => Happening::MissingAtYupy,
        Event::IdentityCollision => Happening::IdentityCollision,
        Event::StoredBodyChanged => Happening::BodyChanged,
        Event::SaleVoided => Happening::Voided,
        Event::VoidConfirmed => Happening::VoidConfirmed,
        Event::VoidRetried => Happening::VoidRetried,
        Event::VoidRecovered => Happening::VoidRecovered,
        Event::PaymentApproved => Happening::PaymentApproved,
        Event::PaymentDeclined => Happening::PaymentDeclined,
        Event::PaymentAskedFor => Happening::PaymentAskedFor,
        Event::CashRefunded => Happening::CashRefunded,
        Event::DiscardTold => Happening::DiscardTold,
        Event::DiscardNotTold => Happening::DiscardNotTold,
        Event::DiscardDisputed => Happening::DiscardDisputed,
        Event::DiscardTakenBack => Happening::DiscardTakenBack,
        Event::DiscardLeft => Happening::DiscardLeft,
        Event::DecidedElsewhere if is_same => Happening::DecidedElsewhereSame,
        Event::DecidedElsewhere => Happening::DecidedElsewhereDifferent,
        Event::TicketPrintedAgain => Happening::CopyAsked,
        Event::PrintAnswered => Happening::PrintAnswered,
        Event::Enrolled
        | Event::PersonCreated
        | Event::PinReset
        | Event::PinChanged
        | Event::PersonRetired
        | Event::PinRefused
        | Event::ShiftOpened
        | Event::CashPaidIn
        | Event::CashPaidOut
        | Event::ShiftClosed
        | Event::IdentityGuardFired
        | Event::BackupRestored
        | Event::TicketNotSaved
        | Event::SalesExported
        | Event::SalesImported
        | Event::SendingPaused
        | Event::SendingResumed
        | Event::ClockWrong
        | Event::Reconciled
        | Event::PrinterSet
        | Event::AuditExported
        | Event::SalesTableExported => Happening::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::AuditKind;

    #[test]
    fn whatever_is_written_about_questions_and_money_has_words_in_a_sales_timeline() {
        for event in Event::ALL {
            let is_about_a_sale = matches!(audit::kind_of(event), AuditKind::Questions | AuditKind::Money);
            let has_words = happening(Some(event), &Value::Null) != Happening::Other;
            assert!(has_words || !is_about_a_sale, "{event:?}");
        }
    }
}
