//! Sends what the outbox holds: the only sender of the process.
//!
//! A short transaction claims, the request travels, a short transaction settles. Invariant: no transaction is open
//! while a request is on its way, and an attempt is on the disk before its first byte leaves.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection as Db;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::JoinSet;
use turno_sqlite::{Database, WriteError};

use crate::answer::{self, Expected, Verdict};
use crate::clock::{Millis, SharedClock};
use crate::outbox::Event;
use crate::random::{SharedEntropy, roll};
use crate::settle::{self, Context};
use crate::store::attempts::{self, Finished};
use crate::store::{outbox as entries, requests, sales, unreadable};
use crate::transport::{Failure, Request, Response, SharedTransport};

mod line;
pub use line::{Change, Line, Permit};

/// Requests on their way at once: enough to hide a slow line's delay, few enough for YUPY's patience.
pub const PARALLEL: usize = 4;
/// Look again at least this often, so that no missed wake-up and no set clock can silence the queue.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);
/// After the disk refused: it may have room again.
const DISK_RETRY: Duration = Duration::from_secs(1);
/// *Enviar ahora* answers after this even if sales are still on their way.
const SEND_NOW_LIMIT: Duration = Duration::from_secs(20);

/// What the relay needs from its till.
#[derive(Clone)]
pub struct Parts {
    pub db: Database,
    pub transport: SharedTransport,
    pub clock: SharedClock,
    pub entropy: SharedEntropy,
    pub context: Context,
    /// Bumped whenever something on the screen may have changed.
    pub changes: watch::Sender<u64>,
}

/// What one press of *Enviar ahora* did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendNow {
    pub attempted: u32,
    pub accepted: u32,
}

/// A handle to the running relay. The relay ends when its last handle is dropped.
#[derive(Clone)]
pub struct Relay {
    wake: Arc<Notify>,
    commands: mpsc::Sender<oneshot::Sender<SendNow>>,
    line: watch::Receiver<Line>,
}

impl Relay {
    /// Starts sending. Whatever an earlier run left in `sending` has been given back by [`settle::restart`].
    #[must_use]
    pub fn start(parts: Parts) -> Self {
        let wake = Arc::new(Notify::new());
        let (commands, inbox) = mpsc::channel(8);
        let (line_out, line) = watch::channel(Line::default());
        let driver = Driver {
            parts,
            wake: Arc::clone(&wake),
            line: Line::default(),
            line_out,
            flights: JoinSet::new(),
            waiters: Vec::new(),
        };
        tokio::spawn(driver.run(inbox));
        Self { wake, commands, line }
    }

    /// There may be something to send. Any number of calls make one run.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    #[must_use]
    pub fn line(&self) -> Line {
        self.line.borrow().clone()
    }

    /// Tries everything that waits, now, and says what came of it.
    pub async fn send_now(&self) -> SendNow {
        let (answer, done) = oneshot::channel();
        if self.commands.send(answer).await.is_err() {
            return SendNow::default();
        }
        done.await.unwrap_or_default()
    }
}

/// A claimed sale: everything that the attempt needs, read in the claiming transaction.
struct Flight {
    sequence: i64,
    attempt_id: i64,
    request: Request,
    expected: Expected,
}

struct Waiter {
    answer: oneshot::Sender<SendNow>,
    so_far: SendNow,
    deadline: tokio::time::Instant,
}

struct Driver {
    parts: Parts,
    wake: Arc<Notify>,
    line: Line,
    line_out: watch::Sender<Line>,
    flights: JoinSet<Verdict>,
    waiters: Vec<Waiter>,
}

impl Driver {
    async fn run(mut self, mut inbox: mpsc::Receiver<oneshot::Sender<SendNow>>) {
        loop {
            let sleep = self.launch().await;
            if self.flights.is_empty() {
                self.answer_waiters(|_| true);
            }
            tokio::select! {
                Some(landed) = self.flights.join_next() => {
                    if let Ok(verdict) = landed {
                        self.landed(&verdict).await;
                    }
                }
                command = inbox.recv() => match command {
                    Some(answer) => self.send_now(answer).await,
                    None => break,
                },
                () = self.wake.notified() => {}
                () = tokio::time::sleep(sleep) => {}
            }
            let now = tokio::time::Instant::now();
            self.answer_waiters(|waiter| waiter.deadline <= now);
        }
        // What is on its way is heard out: its answer is worth an attempt saved after the next start.
        while self.flights.join_next().await.is_some() {}
    }

    /// Sends what may be sent and says how long there is nothing else to do.
    async fn launch(&mut self) -> Duration {
        let now = self.now();
        let (places, until) = match self.line.permit(now) {
            Permit::Free => (PARALLEL.saturating_sub(self.flights.len()), now),
            // A probe need not be due itself: it stands for everything that waits.
            Permit::Probe if self.flights.is_empty() => (1, Millis::MAX),
            Permit::Probe => (0, now),
            Permit::Until(at) => return span(now, at),
        };
        if places == 0 {
            return LONGEST_SLEEP;
        }
        match self.claim(places, until).await {
            Ok(claimed) if claimed.is_empty() => self.next_due(now).await,
            Ok(claimed) => {
                let full = claimed.len() == places;
                for flight in claimed {
                    self.flights.spawn(fly(self.parts.clone(), flight));
                }
                self.changed();
                if full { LONGEST_SLEEP } else { self.next_due(now).await }
            }
            Err(error) => {
                tracing::error!(%error, "the relay cannot claim");
                DISK_RETRY
            }
        }
    }

    async fn claim(&self, places: usize, until: Millis) -> Result<Vec<Flight>, WriteError<rusqlite::Error>> {
        // Most wake-ups find nothing; those cost a read, not a commit.
        let anything = self.parts.db.read(entries::next_due).await;
        if anything.is_ok_and(|due| due.is_none_or(|due| due > until)) {
            return Ok(Vec::new());
        }
        let (context, now) = (self.parts.context.clone(), self.now());
        self.parts.db.write(move |conn| claim(conn, &context, places, until, now)).await
    }

    async fn next_due(&self, now: Millis) -> Duration {
        match self.parts.db.read(entries::next_due).await {
            Ok(Some(due)) if due > now.saturating_add(self.parts.context.policy.longest_wait_ms()) => {
                self.hasten().await;
                Duration::ZERO
            }
            Ok(Some(due)) => span(now, due),
            Ok(None) => LONGEST_SLEEP,
            Err(error) => {
                tracing::error!(%error, "the relay cannot read");
                DISK_RETRY
            }
        }
    }

    async fn landed(&mut self, verdict: &Verdict) {
        let accepted = matches!(verdict, Verdict::Accepted(_));
        for waiter in &mut self.waiters {
            waiter.so_far.attempted += 1;
            waiter.so_far.accepted += u32::from(accepted);
        }
        let change = self.line.heard(verdict, self.now(), roll(&*self.parts.entropy));
        self.line_out.send_replace(self.line.clone());
        if change.recovered {
            self.hasten().await;
        }
        self.changed();
    }

    async fn send_now(&mut self, answer: oneshot::Sender<SendNow>) {
        let deadline = tokio::time::Instant::now() + SEND_NOW_LIMIT;
        self.waiters.push(Waiter { answer, so_far: SendNow::default(), deadline });
        self.line.allow_probe(self.now());
        self.hasten().await;
    }

    async fn hasten(&self) {
        let (context, now) = (self.parts.context.clone(), self.now());
        if let Err(error) = self.parts.db.write(move |conn| settle::hasten(conn, &context, now)).await {
            tracing::error!(%error, "waiting sales could not be hastened; they go out when they are due");
        }
    }

    fn answer_waiters(&mut self, ready: impl Fn(&Waiter) -> bool) {
        for waiter in self.waiters.extract_if(.., |waiter| ready(waiter)) {
            // Whoever asked may have gone.
            let _ = waiter.answer.send(waiter.so_far);
        }
    }

    fn now(&self) -> Millis {
        self.parts.clock.now().as_millisecond()
    }

    fn changed(&self) {
        self.parts.changes.send_modify(|version| *version += 1);
    }
}

/// From now until then, at least a moment and at most [`LONGEST_SLEEP`].
fn span(now: Millis, then: Millis) -> Duration {
    let ms = u64::try_from(then.saturating_sub(now)).unwrap_or(0).max(1);
    Duration::from_millis(ms).min(LONGEST_SLEEP)
}

fn claim(
    db: &Db,
    context: &Context,
    places: usize,
    until: Millis,
    now: Millis,
) -> rusqlite::Result<Vec<Flight>> {
    let mut flights = Vec::new();
    for entry in entries::due(db, until, places)? {
        let request = requests::get(db, entry.request_id)?;
        if !request.is_intact() {
            settle::apply(db, context, entry.sequence, &Event::BodyChanged, None, now)?;
            continue;
        }
        if settle::apply(db, context, entry.sequence, &Event::Claimed, None, now)?.is_none() {
            continue;
        }
        let sale =
            sales::by_sequence(db, entry.sequence)?.ok_or_else(|| unreadable("outbox.sequence", "?"))?;
        let attempt_id = attempts::start(db, request.request_id, now)?;
        let arrived = attempts::may_have_arrived_before(db, request.request_id, attempt_id)?;
        flights.push(Flight {
            sequence: entry.sequence,
            attempt_id,
            request: Request {
                idempotency_key: Some(request.idempotency_key),
                ..Request::post(request.path, request.body)
            },
            expected: Expected {
                external_transaction_id: sale.external_transaction_id,
                occurred_at: jiff::Timestamp::from_millisecond(sale.occurred_at)
                    .map_err(|_| unreadable("sales.occurred_at_ms", "?"))?,
                first_attempt: !arrived,
            },
        });
    }
    Ok(flights)
}

/// One attempt: sends, reads, settles. The answer is kept until the disk takes it.
async fn fly(parts: Parts, flight: Flight) -> Verdict {
    let outcome = parts.transport.send(flight.request).await;
    let verdict = answer::read(&outcome, &flight.expected);
    let record = Record::of(&outcome, &verdict);
    let jitter = roll(&*parts.entropy);
    loop {
        let (context, record) = (parts.context.clone(), record.clone());
        let event = Event::Answered { verdict: verdict.clone(), roll: jitter };
        let now = parts.clock.now().as_millisecond();
        let written = parts
            .db
            .write(move |db| {
                attempts::finish(db, flight.attempt_id, now, &record.as_finished())?;
                settle::apply(db, &context, flight.sequence, &event, record.detail.as_deref(), now)
            })
            .await;
        match written {
            Ok(_) | Err(WriteError::Closed) => return verdict,
            // Settling twice is harmless: a settled sale no longer takes the answer.
            Err(error) => {
                tracing::error!(%error, "an answer could not be written; trying again");
                tokio::time::sleep(DISK_RETRY).await;
            }
        }
    }
}

/// The attempt's row, without anything personal.
#[derive(Clone)]
struct Record {
    outcome: &'static str,
    status: Option<u16>,
    yupy_request_id: Option<String>,
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
            may_have_arrived: self.may_have_arrived,
        }
    }
}
