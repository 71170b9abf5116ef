//! A decision on its way to YUPY: written with the discard, taken back before it leaves, and what YUPY's answer means.
//!
//! Invariant: a decision is written in the transaction in which it was made; YUPY's answer to it changes no sale. When
//! YUPY says otherwise, a person sees it and either takes the discard back or leaves it.

use rusqlite::Connection;
use serde_json::json;
use turno_protocol::body::{Decision as Told, ResolutionRequest};

use crate::clock::Millis;
use crate::outbox::{self, State as SaleState};
use crate::resolving::{self, Event, State, Trouble, Verdict};
use crate::settle::{self, Context};
use crate::store::audit::{self, Event as Happened};
use crate::store::outbox as entries;
use crate::store::resolutions::{self, NewResolution, ResolutionRow};
use crate::store::sales::{self, SaleRow};
use crate::store::{is_about_the_row, movements, questions, shifts};
use crate::view::{Decision, Person, Problem, ProblemCode};

/// A decision that YUPY has to be told of.
pub struct Decided<'a> {
    pub challenge_id: &'a str,
    /// The sale of this till; `None` when it is another till's.
    pub sequence: Option<i64>,
    pub external_transaction_id: &'a str,
    pub decision: Decision,
    pub manager: &'a Person,
    pub reason: &'a str,
}

/// The word as it travels.
#[must_use]
pub fn on_the_wire(decision: Decision) -> Told {
    match decision {
        Decision::SameSale => Told::SameSale,
        Decision::DifferentSale => Told::DifferentSale,
    }
}

/// Writes the words that YUPY is told, once and for all.
///
/// # Errors
/// The database refused.
pub fn begin(conn: &Connection, decided: &Decided<'_>, state: State, now: Millis) -> Result<(), Problem> {
    let request = ResolutionRequest {
        challenge_id: Some(decided.challenge_id.to_owned()),
        duplicate_confirmation_token: None,
        decision: on_the_wire(decided.decision),
        decided_by: decided.manager.name.clone(),
        reason: Some(decided.reason.to_owned()),
    };
    let body = serde_json::to_vec(&request).map_err(|_| ProblemCode::Internal)?;
    let resolution = NewResolution {
        challenge_id: decided.challenge_id,
        sequence: decided.sequence,
        external_transaction_id: decided.external_transaction_id,
        decision: decided.decision,
        decided_by: &decided.manager.person_id,
        reason: decided.reason,
        decided_at: now,
        body: &body,
    };
    Ok(resolutions::insert(conn, &resolution, state)?)
}

/// Whether the discard of a sale can be taken back: YUPY does not know of it, and its money and its seat are still
/// where the discard left them. `None`: there is no discard of which YUPY is told.
///
/// # Errors
/// The database refused.
pub fn take_back_refused(
    conn: &Connection,
    sale: &SaleRow,
    row: &ResolutionRow,
    now: Millis,
    context: &outbox::Policy,
) -> rusqlite::Result<Option<ProblemCode>> {
    let too_late = Ok(Some(ProblemCode::TakeBackTooLate));
    if resolving::step(row.state, &Event::TakenBack, now, context).is_none() {
        return too_late;
    }
    // What came out of another drawer, or was counted in one that is closed, is not put back by a press.
    if movements::is_refunded(conn, sale.sequence)? {
        return too_late;
    }
    if let Some(shift) = sale.shift_number
        && let Some((_, Some(closed_at))) = shifts::find(conn, shift)?
        && closed_at >= row.decided_at
    {
        return too_late;
    }
    if let (Some(service), Some(seat)) = (&sale.service, &sale.seat)
        && sales::seats_of(conn, service)?.iter().any(|other| other.seat.as_ref() == Some(seat))
    {
        return too_late;
    }
    Ok(None)
}

/// Takes a discard back inside the caller's transaction: the question is open again, as it was.
///
/// # Errors
/// `not_found`, `take_back_too_late`; nothing is written.
pub fn take_back(
    conn: &Connection,
    context: &Context,
    external_transaction_id: &str,
    manager: &Person,
    reason: &str,
    now: Millis,
) -> Result<(), Problem> {
    let sale = sales::by_external_id(conn, external_transaction_id)?.ok_or(ProblemCode::NotFound)?;
    let row = resolutions::of_sale(conn, sale.sequence)?.ok_or(ProblemCode::TakeBackTooLate)?;
    if let Some(refused) = take_back_refused(conn, &sale, &row, now, &context.policy)? {
        return Err(refused.into());
    }
    let state = resolving::step(row.state, &Event::TakenBack, now, &context.policy)
        .ok_or(ProblemCode::TakeBackTooLate)?;
    resolutions::update(conn, row.resolution_id, state, None, now)?;
    questions::reopen(conn, &row.challenge_id)?;
    let event = outbox::Event::DiscardTakenBack;
    if settle::apply(conn, context, sale.sequence, &event, None, now)?.is_none() {
        return Err(ProblemCode::TakeBackTooLate.into());
    }
    // The question is none any more, and the sale is there: looked up, it is found.
    if matches!(row.state, State::NeedsAttention { trouble: Trouble::SaleExists, .. }) {
        questions::close_open_of(conn, sale.sequence)?;
        settle::apply(conn, context, sale.sequence, &outbox::Event::GuardFired, None, now)?;
    }
    note(conn, &sale, Happened::DiscardTakenBack, manager, &row, reason, now)?;
    Ok(())
}

/// A manager saw what YUPY says of a discarded sale, and leaves it discarded.
///
/// # Errors
/// `not_found`, `not_allowed_now` when nothing waits to be seen; nothing is written.
pub fn leave(
    conn: &Connection,
    context: &Context,
    external_transaction_id: &str,
    manager: &Person,
    reason: &str,
    now: Millis,
) -> Result<(), Problem> {
    let sale = sales::by_external_id(conn, external_transaction_id)?.ok_or(ProblemCode::NotFound)?;
    let row = resolutions::of_sale(conn, sale.sequence)?.ok_or(ProblemCode::NotAllowedNow)?;
    let state = resolving::step(row.state, &Event::Acknowledged, now, &context.policy)
        .ok_or(ProblemCode::NotAllowedNow)?;
    resolutions::update(conn, row.resolution_id, state, None, now)?;
    note(conn, &sale, Happened::DiscardLeft, manager, &row, reason, now)?;
    Ok(())
}

fn note(
    conn: &Connection,
    sale: &SaleRow,
    event: Happened,
    manager: &Person,
    row: &ResolutionRow,
    reason: &str,
    now: Millis,
) -> rusqlite::Result<()> {
    audit::append(
        conn,
        now,
        &audit::Entry {
            event,
            person_id: Some(&manager.person_id),
            external_transaction_id: Some(&sale.external_transaction_id),
            data: json!({ "challenge_id": row.challenge_id, "reason": reason }),
        },
    )
}

/// Applies an event to a decision as it stands in the database. False: it does not apply and nothing changed.
///
/// # Errors
/// The database refused.
pub fn apply(
    conn: &Connection,
    context: &Context,
    resolution_id: i64,
    event: &Event,
    now: Millis,
) -> rusqlite::Result<bool> {
    let row = match resolutions::get(conn, resolution_id) {
        Err(error) if is_about_the_row(&error) => {
            tracing::error!(%error, resolution_id, "a decision's row cannot be understood; it is set aside");
            resolutions::set_aside(conn, resolution_id, now)?;
            None
        }
        read => read?,
    };
    let Some(row) = row else { return Ok(false) };
    let Some(next) = resolving::step(row.state, event, now, &context.policy) else { return Ok(false) };
    let detail = match event {
        Event::Answered { verdict: Verdict::DecidedOtherwise { decided_by }, .. } => {
            Some(decided_by.as_str())
        }
        Event::Answered { verdict: Verdict::Refused { detail }, .. } => Some(detail.as_str()),
        Event::Answered { .. }
        | Event::Claimed
        | Event::Restarted
        | Event::Hastened
        | Event::TakenBack
        | Event::Acknowledged => None,
    };
    resolutions::update(conn, resolution_id, next, detail, now)?;
    tell_the_audit(conn, &row, next, detail, now)?;
    Ok(true)
}

fn tell_the_audit(
    conn: &Connection,
    row: &ResolutionRow,
    next: State,
    detail: Option<&str>,
    now: Millis,
) -> rusqlite::Result<()> {
    let (event, outcome) = match next {
        State::Told => (Happened::DiscardTold, "told"),
        State::Closed => (Happened::DiscardNotTold, "closed"),
        State::NeedsAttention { trouble, .. } => (Happened::DiscardDisputed, trouble.as_word()),
        State::Queued { .. } | State::Sending { .. } | State::TakenBack | State::Acknowledged => {
            return Ok(());
        }
    };
    let event = if row.sequence.is_some() { event } else { Happened::OtherTillTold };
    let data = json!({ "challenge_id": row.challenge_id, "outcome": outcome, "detail": detail });
    let external_transaction_id = Some(row.external_transaction_id.as_str());
    audit::append(conn, now, &audit::Entry { external_transaction_id, data, ..audit::Entry::new(event) })
}

/// Decisions that were being sent, or wait for a time that no policy would set, can go on. Run once at start.
///
/// # Errors
/// The database refused.
pub fn restart(conn: &Connection, context: &Context, now: Millis) -> rusqlite::Result<()> {
    let beyond = now.saturating_add(context.policy.longest_wait_ms());
    for id in resolutions::interrupted(conn, beyond)? {
        apply(conn, context, id, &Event::Restarted, now)?;
    }
    Ok(())
}

/// Makes every waiting decision due now.
///
/// # Errors
/// The database refused.
pub fn hasten(conn: &Connection, context: &Context, now: Millis) -> rusqlite::Result<()> {
    for id in resolutions::waiting_since_later(conn, now)? {
        apply(conn, context, id, &Event::Hastened, now)?;
    }
    Ok(())
}

/// Whether the discarded sale of a decision still is one: a row that says otherwise sends nothing.
///
/// # Errors
/// The database refused.
pub fn is_standing(conn: &Connection, row: &ResolutionRow) -> rusqlite::Result<bool> {
    let Some(sequence) = row.sequence else { return Ok(true) };
    Ok(entries::get(conn, sequence)?.is_some_and(|entry| matches!(entry.state, SaleState::Discarded { .. })))
}
