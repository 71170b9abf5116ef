//! One attempt: claimed on the disk, sent, and its answer written down.
//!
//! Invariant: a row that cannot be understood stops its own sale and no other.

use std::pin::Pin;

use rusqlite::Connection;
use turno_domain::{Currency, Money};
use turno_sqlite::WriteError;

use super::{DISK_RETRY, Parts};
use crate::answer::{self, Expected, Verdict};
use crate::clock::Millis;
use crate::outbox::Event;
use crate::random::roll;
use crate::settle::{self, Context};
use crate::store::attempts::{self, Finished};
use crate::store::audit;
use crate::store::requests::RequestKind;
use crate::store::{epochs, is_about_the_row, outbox as entries, payments, requests, sales, unreadable};
use crate::transport::{Failure, Request, Response, Transport};

/// YUPY keeps a key for thirty days after its answer (contract §8). A sale that was sent so long ago that its key may be
/// gone is looked up before it is sent again.
const KEY_TRUSTED_MS: Millis = 25 * 24 * 60 * 60 * 1_000;

/// A claimed sale: everything that the attempt needs, read in the claiming transaction.
pub struct Flight {
    sequence: i64,
    request_id: i64,
    attempt_id: i64,
    /// Another folder or till may have sent it: it was numbered before the guard fired, or travelled in a file. Or it was
    /// corrected, and an earlier version may have arrived after all.
    look_up_first: bool,
    request: Request,
    expected: Expected,
}

/// Takes up to `places` sales that are due until then, first those that a card is to pay. Committed by the caller before anything is sent.
pub fn claim(
    db: &Connection,
    context: &Context,
    places: usize,
    until: Millis,
    now: Millis,
) -> rusqlite::Result<Vec<Flight>> {
    let mut flights = Vec::new();
    // Without an epoch nothing was sold yet.
    let Some(epoch) = epochs::current(db)? else { return Ok(flights) };
    let mut claimed = payments::sales_awaited(db, until, places)?;
    for sequence in entries::due(db, until, places)? {
        if claimed.len() < places && !claimed.contains(&sequence) {
            claimed.push(sequence);
        }
    }
    for sequence in claimed {
        match board(db, context, sequence, epoch.after_sequence, now) {
            Ok(flight) => flights.extend(flight),
            Err(error) if is_about_the_row(&error) => {
                tracing::error!(%error, sequence, "an outbox row cannot be understood; it is set aside");
                entries::set_aside(db, sequence, now)?;
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
    after_sequence: i64,
    now: Millis,
) -> rusqlite::Result<Option<Flight>> {
    let missing = || unreadable("outbox.sequence", "a sale that is not there");
    let entry = entries::get(db, sequence)?.ok_or_else(missing)?;
    let sale = sales::by_sequence(db, sequence)?.ok_or_else(missing)?;
    let request = requests::get(db, entry.request_id)?;
    if !request.is_intact() {
        settle::apply(db, context, sequence, &Event::BodyChanged, None, now)?;
        return Ok(None);
    }
    if settle::apply(db, context, sequence, &Event::Claimed, None, now)?.is_none() {
        return Ok(None);
    }
    let attempt_id = attempts::start(db, request.request_id, now)?;
    let arrived = attempts::may_have_arrived_before(db, request.request_id, attempt_id)?;
    let corrected = match request.revision {
        0 => None,
        _ => Some(serde_json::from_slice(&request.body).map_err(|_| unreadable("requests.body", "?"))?),
    };
    Ok(Some(Flight {
        sequence,
        request_id: request.request_id,
        attempt_id,
        look_up_first: sequence <= after_sequence
            || now.saturating_sub(sale.occurred_at) > KEY_TRUSTED_MS
            || (corrected.is_some() && !arrived)
            || entries::is_carried(db, sequence)?,
        request: Request {
            idempotency_key: Some(request.idempotency_key),
            audit_head: Some(audit::kept_head(db)?.to_text()),
            ..Request::post(request.path, request.body)
        },
        expected: Expected {
            external_transaction_id: sale.external_transaction_id,
            occurred_at: jiff::Timestamp::from_millisecond(sale.occurred_at)
                .map_err(|_| unreadable("sales.occurred_at_ms", "?"))?,
            amount: Money::from_minor(
                sale.amount_minor,
                Currency::parse(&sale.currency).map_err(|_| unreadable("sales.currency", "?"))?,
            ),
            first_attempt: !arrived,
            confirms: request.kind == RequestKind::Confirm,
            corrected,
        },
    }))
}

/// Writes down how an attempt ended, however long the disk takes.
pub type Settling = Pin<Box<dyn Future<Output = ()> + Send>>;

/// How an attempt ended.
pub struct Flown {
    pub verdict: Verdict,
    /// Our time and YUPY's when the answer came.
    pub clocks: Option<(Millis, Millis)>,
    /// To be run to its end: until then the sale is on its way.
    pub settling: Settling,
}

/// One attempt: sends and reads. Writing the answer down is the second half, which needs no place on the line.
pub async fn fly(parts: Parts, flight: Flight) -> Flown {
    let Flight { sequence, request_id, attempt_id, request, expected, look_up_first } = flight;
    let (outcome, verdict) = ask(&*parts.transport, request, &expected, look_up_first).await;
    let record = Record::of(&outcome, &verdict);
    let clocks = record.yupy_at.map(|yupys| (parts.clock.now().as_millisecond(), yupys));
    let settling = Box::pin(settle(parts, (sequence, request_id, attempt_id), verdict.clone(), record));
    Flown { verdict, clocks, settling }
}

async fn settle(
    parts: Parts,
    (sequence, request_id, attempt_id): (i64, i64, i64),
    verdict: Verdict,
    record: Record,
) {
    let jitter = roll(&*parts.entropy);
    loop {
        let (context, record) = (parts.context.clone(), record.clone());
        let said = (verdict.clone(), jitter);
        let now = parts.clock.now().as_millisecond();
        let written = parts
            .db
            .write(move |db| {
                attempts::finish(db, attempt_id, now, &record.as_finished())?;
                settle::answered(db, &context, sequence, request_id, said, record.detail.as_deref(), now)
            })
            .await;
        match written {
            Ok(_) | Err(WriteError::Closed) => return,
            Err(WriteError::Rejected(error)) if is_about_the_row(&error) => {
                tracing::error!(%error, sequence, "an answer fits no row; the sale is set aside");
                let set_aside = parts.db.write(move |db| entries::set_aside(db, sequence, now)).await;
                if set_aside.is_ok() {
                    return;
                }
                tokio::time::sleep(DISK_RETRY).await;
            }
            // Settling twice is harmless: a settled sale no longer takes the answer.
            Err(error) => {
                tracing::error!(%error, "an answer could not be written; trying again");
                tokio::time::sleep(DISK_RETRY).await;
            }
        }
    }
}

/// What YUPY says. A sale that another folder may have sent is looked up first, and sent only if YUPY has none.
async fn ask(
    transport: &dyn Transport,
    request: Request,
    expected: &Expected,
    look_up_first: bool,
) -> (Result<Response, Failure>, Verdict) {
    if look_up_first {
        let outcome = transport.send(Request::look_up(&expected.external_transaction_id)).await;
        if let Some(verdict) = answer::read_look_up(&outcome, expected) {
            return (outcome, verdict);
        }
    }
    let outcome = transport.send(request).await;
    let verdict = answer::read(&outcome, expected);
    // Of a corrected sale YUPY may have an earlier version, whose answer never came: that is this sale, and no other's.
    if expected.corrected.is_some() && verdict.is_conflict_about_the_id() {
        let found = transport.send(Request::look_up(&expected.external_transaction_id)).await;
        if let Some(verdict) = answer::read_look_up(&found, expected) {
            return (found, verdict);
        }
    }
    (outcome, verdict)
}

/// The attempt's row, without anything personal.
#[derive(Clone)]
struct Record {
    outcome: &'static str,
    status: Option<u16>,
    yupy_request_id: Option<String>,
    yupy_at: Option<Millis>,
    may_have_arrived: bool,
    detail: Option<String>,
}

impl Record {
    fn of(outcome: &Result<Response, Failure>, verdict: &Verdict) -> Self {
        let answer = outcome.as_ref().ok();
        let (word, detail) = match verdict {
            Verdict::Accepted(_) => ("accepted", None),
            Verdict::Wait { cause, .. } => (cause.as_word(), None),
            Verdict::Pause(cause) => (cause.as_word(), None),
            Verdict::Review(_) => ("possible_duplicate", None),
            Verdict::ReviewAgain => ("confirmation_refused", None),
            Verdict::Attention { reason, detail } => (reason.as_word(), Some(detail.clone())),
            Verdict::Hold => ("reconciliation_required", None),
            Verdict::Collision(collision) => ("identity_collision", Some(collision.detail.clone())),
        };
        Self {
            outcome: word,
            status: answer.map(|answer| answer.status),
            yupy_request_id: answer.and_then(|answer| answer.request_id.clone()),
            yupy_at: answer.and_then(Response::answered_at),
            may_have_arrived: match verdict {
                Verdict::Wait { cause, .. } => cause.may_have_arrived(),
                Verdict::Pause(_) => false,
                Verdict::Accepted(_)
                | Verdict::Review(_)
                | Verdict::ReviewAgain
                | Verdict::Attention { .. }
                | Verdict::Hold
                | Verdict::Collision(_) => true,
            },
            detail,
        }
    }

    fn as_finished(&self) -> Finished<'_> {
        Finished {
            outcome: self.outcome,
            status: self.status,
            yupy_request_id: self.yupy_request_id.as_deref(),
            yupy_at: self.yupy_at,
            may_have_arrived: self.may_have_arrived,
        }
    }
}
