//! A card pays for a sale, through YUPY, which asks the acquirer.
//!
//! A payment begins when YUPY has the sale and is asked for until YUPY settles it. Only a sale whose ticket was to be
//! paid by card has any.
//!
//! | its newest payment | the sale's money |
//! |---|---|
//! | none, or never asked for | nothing was charged |
//! | approved | was charged once |
//! | declined | nothing was charged; the next card is a payment of its own |
//! | asked for, without an answer | *sin confirmar*: no other charge and no void until YUPY says |
//!
//! Its id is made of the sale's and the card's number, so a till that lost its rows asks for the same payment again.

use rusqlite::Connection;
use serde_json::json;
use turno_domain::ids::{ExternalPaymentId, ExternalTransactionId};
use turno_domain::{Currency, Money};
use turno_protocol::body::PaymentRequest;
use turno_protocol::keys;

use crate::clock::Millis;
use crate::outbox::{self, State as SaleState};
use crate::paying::{self, Event, State, Verdict};
use crate::settle::{self, Context};
use crate::store::audit::{self, Event as Happened};
use crate::store::outbox as entries;
use crate::store::payments::{self, NewPayment, PaymentRow};
use crate::store::sales::{self, SaleRow};
use crate::store::{is_about_the_row, unreadable, voids};
use crate::view::{Person, Problem, ProblemCode, TenderMethod};
use crate::{void, voiding};

/// Whether a sale's ticket was to be paid by card.
///
/// # Errors
/// The database refused.
pub fn is_by_card(conn: &Connection, sale: &SaleRow) -> rusqlite::Result<bool> {
    let Some(draft_id) = sale.draft_id.as_deref() else { return Ok(false) };
    Ok(sales::checkout(conn, draft_id)?.payment_method == TenderMethod::Card.as_word())
}

/// How the newest payment of a sale stands. A row that cannot be understood is set aside and may have been charged.
///
/// # Errors
/// The database refused.
pub fn state_of(conn: &Connection, sequence: i64, now: Millis) -> rusqlite::Result<Option<State>> {
    Ok(newest(conn, sequence, now)?.map(|row| row.state))
}

fn newest(conn: &Connection, sequence: i64, now: Millis) -> rusqlite::Result<Option<PaymentRow>> {
    let Some(payment_id) = payments::newest(conn, sequence)? else { return Ok(None) };
    readable(conn, payment_id, now)
}

/// A payment's row. One that cannot be understood is set aside for people, so that it stops no other.
///
/// # Errors
/// The database refused.
pub fn readable(conn: &Connection, payment_id: i64, now: Millis) -> rusqlite::Result<Option<PaymentRow>> {
    match payments::get(conn, payment_id) {
        Err(error) if is_about_the_row(&error) => {
            tracing::error!(%error, payment_id, "a payment's row cannot be understood; it is set aside");
            payments::set_aside(conn, payment_id, now)?;
            payments::get(conn, payment_id)
        }
        read => read,
    }
}

/// Whether nobody knows yet if the sale's card was charged.
///
/// # Errors
/// The database refused.
pub fn is_unsettled(conn: &Connection, sequence: i64, now: Millis) -> rusqlite::Result<bool> {
    Ok(state_of(conn, sequence, now)?.is_some_and(State::is_unsettled))
}

/// YUPY has the sale: the payment begins, or goes on.
///
/// # Errors
/// The database refused.
pub fn sale_accepted(
    conn: &Connection,
    context: &Context,
    sequence: i64,
    now: Millis,
) -> rusqlite::Result<()> {
    if let Some(row) = newest(conn, sequence, now)? {
        return apply(conn, context, row.payment_id, &Event::SaleAccepted, None, now).map(|_| ());
    }
    let sale = sales::by_sequence(conn, sequence)?.ok_or_else(|| unreadable("outbox.sequence", "?"))?;
    // What was taken back is not charged.
    if is_by_card(conn, &sale)? && !voids::exists(conn, sequence)? {
        begin(conn, context, &sale, 1, sale.occurred_at, now)?;
    }
    Ok(())
}

/// Freezes a payment and queues it.
fn begin(
    conn: &Connection,
    context: &Context,
    sale: &SaleRow,
    card_number: u32,
    wanted_at: Millis,
    now: Millis,
) -> rusqlite::Result<()> {
    let unusable = |_| unreadable("sales.external_transaction_id", "?");
    let id = ExternalTransactionId::parse(sale.external_transaction_id.clone()).map_err(unusable)?;
    let external_payment_id =
        ExternalPaymentId::parse(format!("{}-P{card_number}", id.as_str())).map_err(unusable)?;
    let currency =
        Currency::parse(&sale.currency).map_err(|_| unreadable("sales.currency", &sale.currency))?;
    let key = keys::payment_key(&context.scope, &id, &external_payment_id);
    let body = PaymentRequest {
        external_payment_id: external_payment_id.clone(),
        amount: Money::from_minor(sale.amount_minor, currency).to_amount_text(),
        currency,
        method: TenderMethod::Card.as_word().to_owned(),
    };
    let payment = NewPayment {
        sequence: sale.sequence,
        card_number,
        external_payment_id: external_payment_id.as_str().to_owned(),
        idempotency_key: key.as_str().to_owned(),
        body: serde_json::to_vec(&body).map_err(|_| unreadable("payments.body", "?"))?,
        amount_minor: sale.amount_minor,
        created_at: now,
        wanted_at,
    };
    payments::insert(conn, &payment).map(|_| ())
}

/// Applies an event to a payment as it stands in the database. False: it does not apply and nothing changed.
///
/// # Errors
/// The database refused.
pub fn apply(
    conn: &Connection,
    context: &Context,
    payment_id: i64,
    event: &Event,
    detail: Option<&str>,
    now: Millis,
) -> rusqlite::Result<bool> {
    let Some(row) = readable(conn, payment_id, now)? else { return Ok(false) };
    let Some(next) = paying::step(row.state, event, now, &context.policy) else { return Ok(false) };
    match event {
        Event::Answered { verdict: Verdict::Approved { acquirer_payment_id }, .. } => {
            payments::approve(conn, payment_id, acquirer_payment_id, now)?;
        }
        Event::SaleAccepted
        | Event::SaleLost
        | Event::Claimed { .. }
        | Event::Answered { .. }
        | Event::Restarted
        | Event::Hastened
        | Event::AskedFor
        | Event::Withdrawn => payments::update(conn, payment_id, next, detail, now)?,
    }
    let settled = match next {
        State::Approved => Some(Happened::PaymentApproved),
        State::Declined => Some(Happened::PaymentDeclined),
        State::Waiting { .. }
        | State::Queued { .. }
        | State::Sending { .. }
        | State::Withdrawn
        | State::NeedsAttention { .. } => None,
    };
    if let Some(settled) = settled {
        note(conn, &row, settled, None, now)?;
    }
    // A void waits for the end of its sale's payment.
    let is_accepted =
        entries::get(conn, row.sequence)?.is_some_and(|it| matches!(it.state, SaleState::Accepted { .. }));
    if is_accepted && !next.is_unsettled() {
        void::follow(conn, context, row.sequence, &voiding::Event::SaleAccepted, now)?;
    }
    Ok(true)
}

fn note(
    conn: &Connection,
    row: &PaymentRow,
    event: Happened,
    person: Option<&Person>,
    now: Millis,
) -> rusqlite::Result<()> {
    let sale = sales::by_sequence(conn, row.sequence)?;
    let id = sale.as_ref().map(|sale| sale.external_transaction_id.as_str());
    let person_id = person.map(|person| person.person_id.as_str());
    let data = json!({
        "external_payment_id": row.external_payment_id, "amount_minor": row.amount_minor,
        "card_number": row.card_number,
    });
    audit::append(conn, now, &audit::Entry { event, person_id, external_transaction_id: id, data })
}

/// Settles the answer to a payment. A sale that YUPY has lost is sent again first.
///
/// # Errors
/// The database refused.
pub fn answered(
    conn: &Connection,
    context: &Context,
    payment_id: i64,
    (verdict, roll): (Verdict, u32),
    now: Millis,
) -> rusqlite::Result<()> {
    let Some(row) = readable(conn, payment_id, now)? else { return Ok(()) };
    let lost = verdict == Verdict::NotFound;
    let detail = match &verdict {
        Verdict::Refused { detail, .. } => Some(detail.clone()),
        Verdict::Approved { .. }
        | Verdict::Declined
        | Verdict::Wait { .. }
        | Verdict::Pause(_)
        | Verdict::NotFound => None,
    };
    let event = Event::Answered { verdict, roll, lost_count: row.lost_count };
    if apply(conn, context, payment_id, &event, detail.as_deref(), now)? && lost {
        payments::count_lost(conn, payment_id)?;
        let next = payments::get(conn, payment_id)?.map(|row| row.state);
        if matches!(next, Some(State::Waiting { .. })) {
            settle::apply(conn, context, row.sequence, &outbox::Event::MissingAtYupy, None, now)?;
        }
    }
    Ok(())
}

/// YUPY does not have the sale any more.
///
/// # Errors
/// The database refused.
pub fn sale_lost(conn: &Connection, context: &Context, sequence: i64, now: Millis) -> rusqlite::Result<()> {
    let Some(payment_id) = payments::newest(conn, sequence)? else { return Ok(()) };
    apply(conn, context, payment_id, &Event::SaleLost, None, now).map(|_| ())
}

/// Somebody at the till wants a card charged: the next one after a declined one, or the same payment again.
///
/// # Errors
/// `not_found`; `card_not_chargeable` where the sale is paid, voided, not at YUPY, or its payment is on its way.
pub fn charge(
    conn: &Connection,
    context: &Context,
    external_transaction_id: &str,
    person: &Person,
    now: Millis,
) -> Result<(), Problem> {
    let sale = sales::by_external_id(conn, external_transaction_id)?.ok_or(ProblemCode::NotFound)?;
    let refused = || Problem::from(ProblemCode::CardNotChargeable);
    if voids::exists(conn, sale.sequence)? {
        return Err(refused());
    }
    let entry = entries::get(conn, sale.sequence)?.ok_or(ProblemCode::NotFound)?;
    if !matches!(entry.state, SaleState::Accepted { .. }) {
        return Err(refused());
    }
    let row = newest(conn, sale.sequence, now)?.ok_or_else(refused)?;
    if row.state == State::Declined {
        begin(conn, context, &sale, row.card_number.saturating_add(1), now, now)?;
    } else {
        payments::want(conn, row.payment_id, now)?;
        if !apply(conn, context, row.payment_id, &Event::AskedFor, None, now)? {
            return Err(refused());
        }
    }
    let asked = newest(conn, sale.sequence, now)?.ok_or(ProblemCode::Internal)?;
    note(conn, &asked, Happened::PaymentAskedFor, Some(person), now)?;
    Ok(())
}

/// What a void of the sale means for its payment: one that was never asked for is given up, with the ticket that waits
/// for it. False: nobody knows yet whether the card was charged, and the void must wait.
///
/// # Errors
/// The database refused.
pub fn withdraw(conn: &Connection, context: &Context, sequence: i64, now: Millis) -> rusqlite::Result<bool> {
    if let Some(row) = newest(conn, sequence, now)? {
        if row.state.is_unsettled() {
            return Ok(false);
        }
        apply(conn, context, row.payment_id, &Event::Withdrawn, None, now)?;
    }
    Ok(true)
}

/// That a sale was to be paid by card, and that no card was charged for it.
///
/// # Errors
/// `not_found`, `card_was_charged` for what is paid, in whatever way.
pub fn check_unpaid(conn: &Connection, external_transaction_id: &str) -> Result<(), Problem> {
    let sale = sales::by_external_id(conn, external_transaction_id)?.ok_or(ProblemCode::NotFound)?;
    if !is_by_card(conn, &sale)? || payments::is_paid(conn, sale.sequence)? {
        return Err(ProblemCode::CardWasCharged.into());
    }
    Ok(())
}

/// Payments that were being sent, or wait for a time that no policy would set, can go on.
///
/// # Errors
/// The database refused.
pub fn restart(conn: &Connection, context: &Context, now: Millis) -> rusqlite::Result<()> {
    let beyond = now.saturating_add(context.policy.longest_wait_ms());
    for payment_id in payments::interrupted(conn, beyond)? {
        apply(conn, context, payment_id, &Event::Restarted, None, now)?;
    }
    Ok(())
}

/// Makes every waiting payment due now.
///
/// # Errors
/// The database refused.
pub fn hasten(conn: &Connection, context: &Context, now: Millis) -> rusqlite::Result<()> {
    for payment_id in payments::waiting_since_later(conn, now)? {
        apply(conn, context, payment_id, &Event::Hastened, None, now)?;
    }
    Ok(())
}
