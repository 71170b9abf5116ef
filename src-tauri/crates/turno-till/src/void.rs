//! Voiding a sale: the money goes back to the customer now, and YUPY hears of it behind the sale itself.
//!
//! What counts is what was recorded here, so a void works offline and is one row that exists at most once. What YUPY
//! must be told depends on how far the sale got:
//!
//! | the sale is | the void |
//! |---|---|
//! | accepted | is queued |
//! | queued, being sent, on hold | waits behind it; if YUPY refuses or questions the sale, both end here (*withdrawn*) |
//! | refused for its content | ends here at once: YUPY has nothing under the id |
//! | accepted, its card being charged | is not made until YUPY says whether it was |
//! | in review | is not made: the manager's answer settles the money as well |
//! | in conflict, collided, changed on the disk | is not made: what YUPY has under the id may be another sale |
//! | discarded | is not made: its money was settled with the decision |
//!
//! Invariant: a sale's money is given back once, and never more than was paid for its ticket.

use rusqlite::Connection;
use serde_json::json;
use turno_domain::ids::{ExternalOperationId, ExternalTransactionId};
use turno_domain::money::cash_due;
use turno_domain::{Currency, Money};
use turno_protocol::body::VoidRequest;
use turno_protocol::keys;

use crate::answer::AttentionReason;
use crate::clock::Millis;
use crate::outbox::{self, State as SaleState};
use crate::settle::{self, Context};
use crate::shift;
use crate::store::audit::{self, Event as Happened};
use crate::store::outbox as entries;
use crate::store::payments;
use crate::store::sales::{self, SaleRow};
use crate::store::tenders::{self, TenderRow};
use crate::store::voids::{self, NewVoid, VoidRow};
use crate::store::{is_about_the_row, print_jobs, shifts, unreadable};
use crate::view::{Person, Problem, ProblemCode, Role, TenderMethod};
use crate::voiding::{self, Event, State};
use crate::{payment, tender};

/// What a manager gives back at a till, in whole units of the currency: more than the dearest seats of a family cost,
/// and less than a drawer holds at night. Beyond it the office does it.
const MANAGER_LIMIT_UNITS: i64 = 1_000;
/// A cashier gives nothing back alone.
const CASHIER_LIMIT_UNITS: i64 = 0;

/// The most that this person may give back for one sale.
#[must_use]
pub fn limit_minor(role: Role, currency: Currency) -> i64 {
    let units = match role {
        Role::Manager => MANAGER_LIMIT_UNITS,
        Role::Cashier => CASHIER_LIMIT_UNITS,
    };
    units.saturating_mul(10_i64.saturating_pow(u32::from(currency.decimals())))
}

/// What the customer gets back for a sale, by how it was paid: what was paid for it. With cash that is what coins can
/// pay, and the last sale of a ticket brings whatever of the ticket's money is left, so that all of them together are
/// what was paid.
///
/// # Errors
/// A row that cannot be read.
pub fn returned(conn: &Connection, sale: &SaleRow) -> rusqlite::Result<Vec<TenderRow>> {
    let currency =
        Currency::parse(&sale.currency).map_err(|_| unreadable("sales.currency", &sale.currency))?;
    // What another till sold was paid into its drawer.
    let Some(draft_id) = sale.draft_id.as_deref() else { return Ok(Vec::new()) };
    let rounding = sales::checkout(conn, draft_id)?.rounding_minor;
    let of_ticket = sales::of_checkout(conn, draft_id)?;
    let mut earlier = Vec::new();
    for other in &of_ticket {
        if other.sequence != sale.sequence
            && let Some(void) = voids::get(conn, other.sequence)?
        {
            earlier.push(parts_of(conn, other, void.returned_minor)?);
        }
    }
    let is_last = earlier.len() + 1 == of_ticket.len();
    let own = tenders::of_sale(conn, draft_id, sale)?;
    let is_charged = payments::is_paid(conn, sale.sequence)?;
    let share = |tender: TenderRow| {
        let is_cash = tender.method == TenderMethod::Cash;
        let paid = tender.amount_minor - if is_cash { rounding } else { 0 };
        // Each sale has a card's charge of its own, so one that was not charged leaves nothing to the others.
        if tender.method == TenderMethod::Card {
            let part = if is_charged { amount_at(&own, tender.position) } else { 0 };
            return TenderRow { amount_minor: part, ..tender };
        }
        let given: i64 = amount_at(earlier.iter().flatten(), tender.position);
        let part = Money::from_minor(amount_at(&own, tender.position), currency);
        let part = if is_cash { cash_due(part).due } else { part }.minor();
        let left = (paid - given).max(0);
        TenderRow { amount_minor: if is_last { left } else { part.min(left) }, ..tender }
    };
    let shares = tenders::of_checkout(conn, draft_id)?.into_iter().map(share);
    Ok(shares.filter(|share| share.amount_minor > 0).collect())
}

/// What was given back for a sale, by how it was paid: all but cash exactly as it was paid, and the rest in cash.
///
/// # Errors
/// A row that cannot be read.
pub fn parts_of(conn: &Connection, sale: &SaleRow, returned_minor: i64) -> rusqlite::Result<Vec<TenderRow>> {
    let Some(draft_id) = sale.draft_id.as_deref().filter(|_| returned_minor > 0) else {
        return Ok(Vec::new());
    };
    let own = tenders::of_sale(conn, draft_id, sale)?;
    let mut parts: Vec<TenderRow> =
        own.into_iter().filter(|part| part.method != TenderMethod::Cash).collect();
    let in_cash = returned_minor - parts.iter().map(|part| part.amount_minor).sum::<i64>();
    let cash = tenders::of_checkout(conn, draft_id)?;
    let cash = cash.into_iter().find(|tender| tender.method == TenderMethod::Cash);
    parts.extend(cash.filter(|_| in_cash > 0).map(|cash| TenderRow { amount_minor: in_cash, ..cash }));
    Ok(parts)
}

fn amount_at<'a>(rows: impl IntoIterator<Item = &'a TenderRow>, position: u8) -> i64 {
    rows.into_iter().filter(|row| row.position == position).map(|row| row.amount_minor).sum()
}

/// Whether a sale in this state can be voided, and where its void begins. `Err`: why not.
///
/// # Errors
/// `void_awaits_decision`, `void_not_possible`.
pub fn begins(sale: &SaleState, now: Millis) -> Result<State, ProblemCode> {
    match sale {
        SaleState::Accepted { .. } => Ok(State::Queued { attempts: 0, due: now, cause: None }),
        SaleState::Queued { .. } | SaleState::Sending { .. } | SaleState::OnHold { .. } => {
            Ok(State::Waiting { attempts: 0 })
        }
        SaleState::NeedsAttention { reason, .. } if reason.is_about_the_content() => {
            Ok(State::Waiting { attempts: 0 })
        }
        SaleState::InReview { .. } => Err(ProblemCode::VoidAwaitsDecision),
        SaleState::NeedsAttention {
            reason:
                AttentionReason::ExternalTransactionConflict
                | AttentionReason::IdempotencyConflict
                | AttentionReason::ValidationFailed
                | AttentionReason::Refused
                | AttentionReason::IdentityCollision
                | AttentionReason::StoredBodyChanged,
            ..
        }
        | SaleState::Discarded { .. }
        | SaleState::Withdrawn => Err(ProblemCode::VoidNotPossible),
    }
}

/// Who voids, and from which drawer.
pub struct Voiding<'a> {
    pub external_transaction_id: &'a str,
    /// What the screen said would be given back.
    pub shown_returned_minor: i64,
    pub asked_by: &'a Person,
    /// A manager, or whoever sold what was never paid.
    pub approved_by: &'a Person,
    pub reason: &'a str,
    pub operation_id: String,
    pub now: Millis,
}

/// Writes an approved void inside the caller's transaction. A void that YUPY refused is tried again, and gives
/// nothing back twice.
///
/// # Errors
/// `not_found`, `already_voided`, `void_awaits_decision`, `void_awaits_payment`, `void_not_possible`, `void_limit`, `shift_required`,
/// `sale_changed` when the amount to give back is not the one that was shown; nothing is written.
pub fn void(conn: &Connection, context: &Context, voiding: &Voiding<'_>) -> Result<(), Problem> {
    let Voiding {
        external_transaction_id, asked_by, approved_by: manager, reason, operation_id, now, ..
    } = voiding;
    let now = *now;
    let sale = sales::by_external_id(conn, external_transaction_id)?.ok_or(ProblemCode::NotFound)?;
    let note = |event, data| {
        audit::append(
            conn,
            now,
            &audit::Entry {
                event,
                person_id: Some(&manager.person_id),
                external_transaction_id: Some(&sale.external_transaction_id),
                data,
            },
        )
    };
    if voids::get(conn, sale.sequence)?.is_some() {
        if !apply(conn, context, sale.sequence, &Event::Retried, None, now)? {
            return Err(ProblemCode::AlreadyVoided.into());
        }
        note(Happened::VoidRetried, json!({ "reason": reason }))?;
        return Ok(());
    }
    let entry = entries::get(conn, sale.sequence)?.ok_or(ProblemCode::NotFound)?;
    let state = begins(&entry.state, now)?;
    // While another till may send the sale, only YUPY can say that it is not made behind the void's back.
    let is_accepted = matches!(entry.state, SaleState::Accepted { .. });
    if sale.draft_id.is_none() {
        return Err(ProblemCode::VoidNotPossible.into());
    }
    if !payment::withdraw(conn, context, sale.sequence, now)? {
        return Err(ProblemCode::VoidAwaitsPayment.into());
    }
    if !is_accepted && entries::is_carried(conn, sale.sequence)? {
        return Err(ProblemCode::VoidNotPossible.into());
    }
    let shift_number = shifts::current_number(conn)?.ok_or(ProblemCode::ShiftRequired)?;
    let returned = returned(conn, &sale)?;
    let returned_minor = returned.iter().map(|part| part.amount_minor).sum();
    if returned_minor != voiding.shown_returned_minor {
        return Err(ProblemCode::SaleChanged.into());
    }
    let currency = Currency::parse(&sale.currency).map_err(|_| ProblemCode::Internal)?;
    let limit = limit_minor(manager.role, currency);
    if returned_minor > limit {
        let limit = Money::from_minor(limit, currency);
        return Err(Problem::with(
            ProblemCode::VoidLimit,
            format!("{} {}", currency.code(), limit.to_amount_text()),
        ));
    }
    let id = ExternalTransactionId::parse(sale.external_transaction_id.clone())
        .map_err(|_| ProblemCode::Internal)?;
    let external_operation_id =
        ExternalOperationId::parse(operation_id.clone()).map_err(|_| ProblemCode::Internal)?;
    let key = keys::void_key(&context.scope, &id, &external_operation_id);
    let body = VoidRequest { external_operation_id, reason: Some((*reason).to_owned()) };
    let void = NewVoid {
        sequence: sale.sequence,
        operation_id: operation_id.clone(),
        idempotency_key: key.as_str().to_owned(),
        body: serde_json::to_vec(&body).map_err(|_| ProblemCode::Internal)?,
        shift_number,
        asked_by: asked_by.person_id.clone(),
        approved_by: manager.person_id.clone(),
        reason: (*reason).to_owned(),
        returned_minor,
        tender: tender::method_of(returned.iter().map(|part| part.method)).to_owned(),
        voided_at: now,
    };
    voids::insert(conn, &void, state)?;
    for part in returned.iter().filter(|part| part.method == TenderMethod::Cash) {
        let amount = Money::from_minor(part.amount_minor, currency);
        shift::give_back(conn, shift_number, manager, &sale, amount, reason, now)?;
    }
    note(
        Happened::SaleVoided,
        json!({
            "operation_id": operation_id, "returned_minor": returned_minor, "shift": shift_number,
            "asked_by": asked_by.person_id, "reason": reason,
        }),
    )?;
    print_jobs::dismiss_queued_of(conn, sale.sequence, now)?;
    // A sale that was refused has nothing more to wait for.
    settle::apply(conn, context, sale.sequence, &outbox::Event::Withdrawn, None, now)?;
    Ok(())
}

/// The void of a sale, if it has one. A row that cannot be understood is set aside for people and counts as none, so
/// that it stops neither its sale nor the other voids nor the till's start.
///
/// # Errors
/// The database refused.
pub fn readable(conn: &Connection, sequence: i64, now: Millis) -> rusqlite::Result<Option<VoidRow>> {
    match voids::get(conn, sequence) {
        Err(error) if is_about_the_row(&error) => {
            tracing::error!(%error, sequence, "a void's row cannot be understood; it is set aside");
            voids::set_aside(conn, sequence, now)?;
            Ok(None)
        }
        read => read,
    }
}

/// Applies an event to a void as it stands in the database. False: it does not apply and nothing changed.
///
/// # Errors
/// The database refused.
pub fn apply(
    conn: &Connection,
    context: &Context,
    sequence: i64,
    event: &Event,
    detail: Option<&str>,
    now: Millis,
) -> rusqlite::Result<bool> {
    let Some(row) = readable(conn, sequence, now)? else { return Ok(false) };
    let Some(next) = voiding::step(row.state, event, now, &context.policy) else { return Ok(false) };
    voids::update(conn, sequence, next, detail, now)?;
    if next == State::Confirmed {
        let sale = sales::by_sequence(conn, sequence)?.ok_or_else(|| unreadable("voids.sequence", "?"))?;
        audit::append(
            conn,
            now,
            &audit::Entry {
                external_transaction_id: Some(&sale.external_transaction_id),
                data: json!({ "operation_id": row.operation_id }),
                ..audit::Entry::new(Happened::VoidConfirmed)
            },
        )?;
    }
    Ok(true)
}

/// Settles the answer to a void. A sale that YUPY has lost is sent again first.
///
/// # Errors
/// The database refused.
pub fn answered(
    conn: &Connection,
    context: &Context,
    sequence: i64,
    (verdict, roll): (voiding::Verdict, u32),
    now: Millis,
) -> rusqlite::Result<()> {
    let Some(row) = readable(conn, sequence, now)? else { return Ok(()) };
    let lost = verdict == voiding::Verdict::NotFound;
    let detail = match &verdict {
        voiding::Verdict::Refused { detail, .. } => Some(detail.clone()),
        voiding::Verdict::Voided
        | voiding::Verdict::Wait { .. }
        | voiding::Verdict::Pause(_)
        | voiding::Verdict::NotFound => None,
    };
    let event = Event::Answered { verdict, roll, lost_count: row.lost_count };
    if apply(conn, context, sequence, &event, detail.as_deref(), now)? && lost {
        voids::count_lost(conn, sequence)?;
        if waits_for(conn, sequence, now)? {
            settle::apply(conn, context, sequence, &outbox::Event::MissingAtYupy, None, now)?;
        }
    }
    Ok(())
}

/// What a step of the sale means for its void.
///
/// # Errors
/// The database refused.
pub fn follow(
    conn: &Connection,
    context: &Context,
    sequence: i64,
    event: &Event,
    now: Millis,
) -> rusqlite::Result<()> {
    apply(conn, context, sequence, event, None, now).map(|_| ())
}

/// Whether the sale's money was given back before YUPY had the sale.
///
/// # Errors
/// The database refused.
pub fn waits_for(conn: &Connection, sequence: i64, now: Millis) -> rusqlite::Result<bool> {
    Ok(readable(conn, sequence, now)?.is_some_and(|row| matches!(row.state, State::Waiting { .. })))
}

/// Voids that were being sent, or wait for a time that no policy would set, can go on.
///
/// # Errors
/// The database refused.
pub fn restart(conn: &Connection, context: &Context, now: Millis) -> rusqlite::Result<()> {
    let beyond = now.saturating_add(context.policy.longest_wait_ms());
    for sequence in voids::interrupted(conn, beyond)? {
        apply(conn, context, sequence, &Event::Restarted, None, now)?;
    }
    Ok(())
}

/// Makes every waiting void due now.
///
/// # Errors
/// The database refused.
pub fn hasten(conn: &Connection, context: &Context, now: Millis) -> rusqlite::Result<()> {
    for sequence in voids::waiting_since_later(conn, now)? {
        apply(conn, context, sequence, &Event::Hastened, None, now)?;
    }
    Ok(())
}
