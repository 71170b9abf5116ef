//! Compares what YUPY has of this till with what the till has: once a day, after a long time without a line, and
//! when a person asks.
//!
//! A sale that YUPY confirmed and has no more (it was restored from a backup) is sent again, with the key and the bytes
//! that it has; a sale that YUPY has and this till does not, or has otherwise, is for people. Invariant: only a run
//! that read the list to its end decides anything, and nothing that it decides can make two sales of one.

use std::sync::Arc;

use rusqlite::Connection;
use serde::Deserialize;
use serde_json::json;
use turno_domain::ids::DeviceId;
use turno_domain::{Currency, Money};
use turno_protocol::body::ListAnswer;
use turno_sqlite::Database;

use crate::clock::{Millis, SharedClock};
use crate::outbox::{Event, State};
use crate::settle::{self, Context};
use crate::store::audit::{self, Event as Happened};
use crate::store::reconciliations::{self as runs, Listed};
use crate::store::{epochs, outbox as entries, sales};
use crate::transport::{Request, SharedTransport, Transport};
use crate::view::{FindingKind, Problem, ProblemCode, ReconciliationReason};

/// The contract's largest page (§2).
const PAGE: usize = 500;
/// How far back the list is read by itself: further than YUPY's newest backup is old, and short enough for a prepaid
/// line. Whoever asks gets all of it.
const WINDOW_MS: Millis = 3 * 24 * 60 * 60 * 1_000;
/// Sales that are queued again in one transaction.
const BATCH: u32 = 100;

#[derive(Clone)]
pub struct Parts {
    pub db: Database,
    pub transport: SharedTransport,
    pub clock: SharedClock,
    pub context: Context,
    pub device_id: DeviceId,
}

/// What of a listed sale is compared.
#[derive(Debug, Deserialize)]
struct Item {
    external_transaction_id: String,
    yupy_transaction_id: String,
    amount: String,
    currency: String,
}

/// One comparison, from the first page to the report.
///
/// # Errors
/// `address_unreachable` with the cause, `not_yupy`; nothing was decided.
pub async fn run(parts: &Parts, reason: ReconciliationReason) -> Result<(), Problem> {
    let now = parts.now();
    let from_before = match reason {
        ReconciliationReason::Asked => None,
        ReconciliationReason::Daily | ReconciliationReason::Outage => Some(now.saturating_sub(WINDOW_MS)),
    };
    let begun =
        parts.db.write(move |conn| Ok::<_, Problem>(runs::begin(conn, reason, from_before, now)?)).await?;
    let (run_id, mut cursor) = (begun.run_id, begun.cursor);
    loop {
        let ListAnswer { items, next } = page(&*parts.transport, &parts.device_id, cursor.as_deref()).await?;
        let (device_id, context, now) = (parts.device_id.clone(), parts.context.clone(), parts.now());
        parts
            .db
            .write(move |conn| Ok::<_, Problem>(compare(conn, &context, run_id, &device_id, &items, now)?))
            .await?;
        match next {
            // A list that goes round in circles has no end.
            Some(next) if cursor.as_ref() == Some(&next) => return Err(ProblemCode::NotYupy.into()),
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    let mut sent_again = 0;
    loop {
        let (context, now) = (parts.context.clone(), parts.now());
        let some =
            parts.db.write(move |conn| Ok::<_, Problem>(send_again(conn, &context, run_id, now)?)).await?;
        if some == 0 {
            break;
        }
        sent_again += some;
    }
    let now = parts.now();
    parts
        .db
        .write(move |conn| {
            runs::finish(conn, run_id, cursor.as_deref(), now)?;
            let data = json!({ "run_id": run_id, "sent_again": sent_again, "alarms": runs::alarms(conn)? });
            audit::append(conn, now, &audit::Entry { data, ..audit::Entry::new(Happened::Reconciled) })?;
            Ok::<_, Problem>(())
        })
        .await?;
    Ok(())
}

async fn page(
    transport: &dyn Transport,
    device_id: &DeviceId,
    cursor: Option<&str>,
) -> Result<ListAnswer<Item>, Problem> {
    let unreachable = |cause: &str| Problem::with(ProblemCode::AddressUnreachable, cause);
    let request = Request::list(device_id.as_str(), cursor, PAGE);
    let answer = transport.send(request).await.map_err(|failure| unreachable(failure.cause().as_word()))?;
    match answer.status {
        200 => {}
        429 | 500..=510 => return Err(unreachable("server_busy")),
        401 | 403 => return Err(unreachable("credential_refused")),
        _ => return Err(ProblemCode::NotYupy.into()),
    }
    let body = answer.json().ok_or(ProblemCode::NotYupy)?;
    serde_json::from_value(body).map_err(|_| ProblemCode::NotYupy.into())
}

/// Notes what of a page is ours, and what is not as we have it.
fn compare(
    conn: &Connection,
    context: &Context,
    run_id: i64,
    device_id: &DeviceId,
    items: &[Item],
    now: Millis,
) -> rusqlite::Result<()> {
    let (mut compared, mut of_others) = (0, 0);
    for item in items {
        compared += 1;
        let listed = Listed {
            external_transaction_id: &item.external_transaction_id,
            yupy_transaction_id: &item.yupy_transaction_id,
            amount: &item.amount,
            currency: &item.currency,
        };
        let Some(sale) = sales::by_external_id(conn, &item.external_transaction_id)? else {
            if epochs::is_ours(conn, device_id, &item.external_transaction_id)? {
                runs::find(conn, run_id, FindingKind::UnknownHere, &listed, None)?;
            } else {
                of_others += 1;
            }
            continue;
        };
        runs::saw(conn, run_id, sale.sequence)?;
        let theirs = Currency::parse(&item.currency)
            .ok()
            .and_then(|currency| Money::parse_amount(&item.amount, currency).ok());
        let is_equal = theirs.is_some_and(|theirs| {
            theirs.minor() == sale.amount_minor && theirs.currency().code() == sale.currency
        });
        let entry = entries::get(conn, sale.sequence)?;
        let kind = if !is_equal {
            FindingKind::AmountDiffers
        } else if entry.as_ref().is_some_and(|entry| entry.state == State::Withdrawn) {
            // It arrived after all. Its money is back with the customer, so its void follows it.
            let yupy_transaction_id = item.yupy_transaction_id.clone();
            let event = Event::AcceptedEarlier { yupy_transaction_id };
            settle::apply(conn, context, sale.sequence, &event, None, now)?;
            continue;
        } else if entry.is_some_and(|entry| matches!(entry.state, State::Discarded { .. })) {
            FindingKind::DiscardedHere
        } else {
            continue;
        };
        runs::find(conn, run_id, kind, &listed, Some(sale.amount_minor))?;
    }
    runs::count(conn, run_id, compared, of_others)
}

/// Queues some of the sales that YUPY has lost. Says how many; none means that there are no more.
fn send_again(conn: &Connection, context: &Context, run_id: i64, now: Millis) -> rusqlite::Result<usize> {
    let missing = runs::missing(conn, run_id, BATCH)?;
    for &sequence in &missing {
        settle::apply(conn, context, sequence, &Event::MissingAtYupy, None, now)?;
        runs::find_missing(conn, run_id, sequence)?;
    }
    Ok(missing.len())
}

impl Parts {
    fn now(&self) -> Millis {
        self.clock.now().as_millisecond()
    }
}

/// One run at a time: two would judge each other's half-read lists.
pub type OneAtATime = Arc<tokio::sync::Mutex<()>>;
