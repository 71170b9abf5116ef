//! One attempt of a void: claimed on the disk, sent, and its answer written down.
//!
//! Invariant: a row that cannot be understood stops no other void and no sale; a void leaves only when YUPY has
//! accepted its sale, under its one key with its one body.

use rusqlite::Connection;
use turno_domain::{Currency, Money};
use turno_sqlite::WriteError;

use super::flight::Flown;
use super::{DISK_RETRY, Parts};
use crate::answer::{self, Acceptance, AttentionReason, Expected, void as void_answer};
use crate::clock::Millis;
use crate::outbox::State as SaleState;
use crate::random::roll;
use crate::settle::Context;
use crate::store::voids::{self, Ended};
use crate::store::{is_about_the_row, outbox as entries, sales, unreadable};
use crate::transport::{Request, Response};
use crate::void;
use crate::voiding::{Event, Refusal, Verdict};

pub struct VoidFlight {
    sequence: i64,
    attempt_id: i64,
    yupy_transaction_id: String,
    request: Request,
    expected: Expected,
}

/// Takes up to `places` voids that are due until then. Committed by the caller before anything is sent.
pub fn claim(
    db: &Connection,
    context: &Context,
    places: usize,
    until: Millis,
    now: Millis,
) -> rusqlite::Result<Vec<VoidFlight>> {
    let mut flights = Vec::new();
    for sequence in voids::due(db, until, places)? {
        match board(db, context, sequence, now) {
            Ok(flight) => flights.extend(flight),
            Err(error) if is_about_the_row(&error) => {
                tracing::error!(%error, sequence, "a void's sale cannot be understood; the void is set aside");
                voids::set_aside(db, sequence, now)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(flights)
}

fn board(
    db: &Connection,
    context: &Context,
    sequence: i64,
    now: Millis,
) -> rusqlite::Result<Option<VoidFlight>> {
    let missing = || unreadable("voids.sequence", "a sale that is not there");
    let Some(row) = void::readable(db, sequence, now)? else { return Ok(None) };
    let sale = sales::by_sequence(db, sequence)?.ok_or_else(missing)?;
    let entry = entries::get(db, sequence)?.ok_or_else(missing)?;
    let SaleState::Accepted { yupy_transaction_id } = entry.state else {
        void::apply(db, context, sequence, &Event::SaleLost, None, now)?;
        return Ok(None);
    };
    if !void::apply(db, context, sequence, &Event::Claimed, None, now)? {
        return Ok(None);
    }
    if !row.is_intact() {
        let refused = Verdict::Refused {
            refusal: Refusal::Refused,
            detail: "the stored void is not what was approved".to_owned(),
        };
        void::answered(db, context, sequence, (refused, 0), now)?;
        return Ok(None);
    }
    let attempt_id = voids::start_attempt(db, sequence, now)?;
    Ok(Some(VoidFlight {
        sequence,
        attempt_id,
        request: Request {
            idempotency_key: Some(row.idempotency_key),
            ..Request::void(&yupy_transaction_id, row.body)
        },
        yupy_transaction_id,
        expected: Expected {
            external_transaction_id: sale.external_transaction_id,
            occurred_at: jiff::Timestamp::from_millisecond(sale.occurred_at)
                .map_err(|_| unreadable("sales.occurred_at_ms", "?"))?,
            amount: Money::from_minor(
                sale.amount_minor,
                Currency::parse(&sale.currency).map_err(|_| unreadable("sales.currency", "?"))?,
            ),
            first_attempt: false,
            confirms: false,
            corrected: None,
        },
    }))
}

/// One attempt: sends and reads. Writing the answer down is the second half, which needs no place on the line.
pub async fn fly(parts: Parts, flight: VoidFlight) -> Flown {
    let VoidFlight { sequence, attempt_id, yupy_transaction_id, request, expected } = flight;
    let outcome = parts.transport.send(request).await;
    let verdict = void_answer::read(&outcome, &expected, &yupy_transaction_id);
    let answer = outcome.as_ref().ok();
    let clocks =
        answer.and_then(Response::answered_at).map(|yupys| (parts.clock.now().as_millisecond(), yupys));
    let ended = (answer.map(|answer| answer.status), answer.and_then(|answer| answer.request_id.clone()));
    let settling = Box::pin(settle(parts, (sequence, attempt_id), verdict.clone(), ended));
    Flown { verdict: for_the_line(verdict, yupy_transaction_id), clocks, settling }
}

async fn settle(
    parts: Parts,
    (sequence, attempt_id): (i64, i64),
    verdict: Verdict,
    (status, request_id): (Option<u16>, Option<String>),
) {
    let (word, jitter) = (word(&verdict), roll(&*parts.entropy));
    loop {
        let (context, verdict, request_id) = (parts.context.clone(), verdict.clone(), request_id.clone());
        let now = parts.clock.now().as_millisecond();
        let written = parts
            .db
            .write(move |db| {
                let ended = Ended { outcome: word, status, yupy_request_id: request_id.as_deref() };
                voids::end_attempt(db, attempt_id, now, &ended)?;
                void::answered(db, &context, sequence, (verdict, jitter), now)
            })
            .await;
        match written {
            Ok(()) | Err(WriteError::Closed) => return,
            Err(WriteError::Rejected(error)) if is_about_the_row(&error) => {
                tracing::error!(%error, sequence, "an answer fits no void's row; it is set aside");
                if parts.db.write(move |db| voids::set_aside(db, sequence, now)).await.is_ok() {
                    return;
                }
                tokio::time::sleep(DISK_RETRY).await;
            }
            // Settling twice is harmless: a settled void no longer takes the answer.
            Err(error) => {
                tracing::error!(%error, "the answer to a void could not be written; trying again");
                tokio::time::sleep(DISK_RETRY).await;
            }
        }
    }
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Voided => "accepted",
        Verdict::Wait { cause, .. } => cause.as_word(),
        Verdict::Pause(cause) => cause.as_word(),
        Verdict::NotFound => "missing_at_yupy",
        Verdict::Refused { .. } => "refused",
    }
}

/// What the answer says about the line is the same as if it had been about the sale.
fn for_the_line(verdict: Verdict, yupy_transaction_id: String) -> answer::Verdict {
    match verdict {
        Verdict::Voided => answer::Verdict::Accepted(Acceptance { yupy_transaction_id, differs: false }),
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
