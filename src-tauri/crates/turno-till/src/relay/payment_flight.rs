//! One attempt at a card payment: claimed on the disk, sent, and its answer written down.
//!
//! Invariant: a row that cannot be understood stops no other payment and no sale; a payment leaves only when YUPY has
//! accepted its sale, under its one key with its one body.

use rusqlite::Connection;
use turno_domain::{Currency, Money};
use turno_sqlite::WriteError;

use super::flight::Flown;
use super::{DISK_RETRY, Parts};
use crate::answer::payment::{self as payment_answer, Asked};
use crate::answer::{self, Acceptance, AttentionReason, Expected};
use crate::clock::Millis;
use crate::outbox::State as SaleState;
use crate::paying::{Event, State, Trouble, Verdict};
use crate::payment;
use crate::random::roll;
use crate::settle::Context;
use crate::store::payments;
use crate::store::voids::Ended;
use crate::store::{is_about_the_row, outbox as entries, sales, unreadable};
use crate::transport::{Request, Response};

pub struct PaymentFlight {
    payment_id: i64,
    attempt_id: i64,
    request: Request,
    expected: Expected,
    asked: Asked,
}

/// Takes up to `places` payments that are due until then. Committed by the caller before anything is sent.
pub fn claim(
    db: &Connection,
    context: &Context,
    places: usize,
    until: Millis,
    now: Millis,
) -> rusqlite::Result<Vec<PaymentFlight>> {
    let mut flights = Vec::new();
    for payment_id in payments::due(db, until, places)? {
        match board(db, context, payment_id, now) {
            Ok(flight) => flights.extend(flight),
            Err(error) if is_about_the_row(&error) => {
                tracing::error!(%error, payment_id, "a payment's sale cannot be understood; it is set aside");
                payments::set_aside(db, payment_id, now)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(flights)
}

fn board(
    db: &Connection,
    context: &Context,
    payment_id: i64,
    now: Millis,
) -> rusqlite::Result<Option<PaymentFlight>> {
    let missing = || unreadable("payments.sequence", "a sale that is not there");
    let Some(row) = payment::readable(db, payment_id, now)? else { return Ok(None) };
    let sale = sales::by_sequence(db, row.sequence)?.ok_or_else(missing)?;
    let entry = entries::get(db, row.sequence)?.ok_or_else(missing)?;
    let SaleState::Accepted { yupy_transaction_id } = entry.state else {
        payment::apply(db, context, payment_id, &Event::SaleLost, None, now)?;
        return Ok(None);
    };
    let claimed = Event::Claimed { wanted_at: row.wanted_at };
    if !payment::apply(db, context, payment_id, &claimed, None, now)? {
        return Ok(None);
    }
    // It came too late, and waits for a person.
    if !payments::get(db, payment_id)?.is_some_and(|row| matches!(row.state, State::Sending { .. })) {
        return Ok(None);
    }
    if !row.is_intact() {
        let detail = "the stored payment is not what the card was to pay".to_owned();
        let refused = Verdict::Refused { trouble: Trouble::Refused, detail };
        payment::answered(db, context, payment_id, (refused, 0), now)?;
        return Ok(None);
    }
    let currency =
        Currency::parse(&sale.currency).map_err(|_| unreadable("sales.currency", &sale.currency))?;
    let amount = Money::from_minor(row.amount_minor, currency);
    let attempt_id = payments::start_attempt(db, payment_id, now)?;
    Ok(Some(PaymentFlight {
        payment_id,
        attempt_id,
        request: Request {
            idempotency_key: Some(row.idempotency_key),
            ..Request::payment(&yupy_transaction_id, row.body)
        },
        expected: Expected {
            external_transaction_id: sale.external_transaction_id,
            occurred_at: jiff::Timestamp::from_millisecond(sale.occurred_at)
                .map_err(|_| unreadable("sales.occurred_at_ms", "?"))?,
            amount,
            first_attempt: false,
            confirms: false,
            corrected: None,
        },
        asked: Asked { external_payment_id: row.external_payment_id, yupy_transaction_id, amount },
    }))
}

/// One attempt: sends and reads. Writing the answer down is the second half, which needs no place on the line.
pub async fn fly(parts: Parts, flight: PaymentFlight) -> Flown {
    let PaymentFlight { payment_id, attempt_id, request, expected, asked } = flight;
    let outcome = parts.transport.send(request).await;
    let verdict = payment_answer::read(&outcome, &expected, &asked);
    let answer = outcome.as_ref().ok();
    let clocks =
        answer.and_then(Response::answered_at).map(|yupys| (parts.clock.now().as_millisecond(), yupys));
    let ended = (answer.map(|answer| answer.status), answer.and_then(|answer| answer.request_id.clone()));
    let settling = Box::pin(settle(parts, (payment_id, attempt_id), verdict.clone(), ended));
    Flown { verdict: for_the_line(verdict, asked.yupy_transaction_id), clocks, settling }
}

async fn settle(
    parts: Parts,
    (payment_id, attempt_id): (i64, i64),
    verdict: Verdict,
    (status, request_id): (Option<u16>, Option<String>),
) {
    let (word, jitter) = (word(&verdict), roll(&*parts.entropy));
    loop {
        let (context, verdict, request_id) = (parts.context.clone(), verdict.clone(), request_id.clone());
        let is_paid = matches!(verdict, Verdict::Approved { .. });
        let now = parts.clock.now().as_millisecond();
        let written = parts
            .db
            .write(move |db| {
                let ended = Ended { outcome: word, status, yupy_request_id: request_id.as_deref() };
                payments::end_attempt(db, attempt_id, now, &ended)?;
                payment::answered(db, &context, payment_id, (verdict, jitter), now)
            })
            .await;
        match written {
            Ok(()) => {
                if is_paid {
                    parts.after_payment.notify_one();
                }
                return;
            }
            Err(WriteError::Closed) => return,
            Err(WriteError::Rejected(error)) if is_about_the_row(&error) => {
                tracing::error!(%error, payment_id, "an answer fits no payment's row; it is set aside");
                if parts.db.write(move |db| payments::set_aside(db, payment_id, now)).await.is_ok() {
                    return;
                }
                tokio::time::sleep(DISK_RETRY).await;
            }
            // Settling twice is harmless: a settled payment no longer takes the answer.
            Err(error) => {
                tracing::error!(%error, "the answer to a payment could not be written; trying again");
                tokio::time::sleep(DISK_RETRY).await;
            }
        }
    }
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Approved { .. } => "approved",
        Verdict::Declined => "declined",
        Verdict::Wait { cause, .. } => cause.as_word(),
        Verdict::Pause(cause) => cause.as_word(),
        Verdict::NotFound => "missing_at_yupy",
        Verdict::Refused { trouble, .. } => trouble.as_word(),
    }
}

/// What the answer says about the line is the same as if it had been about the sale.
fn for_the_line(verdict: Verdict, yupy_transaction_id: String) -> answer::Verdict {
    match verdict {
        Verdict::Approved { .. } | Verdict::Declined => {
            answer::Verdict::Accepted(Acceptance { yupy_transaction_id, differs: false })
        }
        Verdict::Wait { cause, retry_after_ms } => answer::Verdict::Wait { cause, retry_after_ms },
        Verdict::Pause(cause) => answer::Verdict::Pause(cause),
        Verdict::NotFound => {
            answer::Verdict::Attention { reason: AttentionReason::Refused, detail: String::new() }
        }
        Verdict::Refused { detail, .. } => {
            answer::Verdict::Attention { reason: AttentionReason::Refused, detail }
        }
    }
}
