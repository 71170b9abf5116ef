//! Sends what the outbox holds: the only sender of the process.
//!
//! A short transaction claims, the request travels, a short transaction settles. Invariant: no transaction is open
//! while a request is on its way, and an attempt is on the disk before its first byte leaves.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::{AbortHandle, JoinError, JoinSet};
use turno_domain::ids::Epoch;
use turno_sqlite::{Database, WriteError};

use crate::answer::{Verdict, WaitCause};
use crate::clock::{Millis, SharedClock};
use crate::random::{SharedEntropy, roll};
use crate::settle::{self, Context};
use crate::store::audit::{self, Event};
use crate::store::outbox as entries;
use crate::store::{payments, voids};
use crate::transport::SharedTransport;
use crate::view::ConnectionState;

mod flight;
mod line;
mod payment_flight;
mod ping;
mod register;
mod void_flight;
use flight::{Flown, Settling};
pub use line::{Change, Line, PARALLEL, Permit};
use ping::Ponged;
pub use register::Registrant;
use register::Said;

/// After so long without a word from YUPY its books are worth comparing with ours.
const LONG_OUTAGE_MS: Millis = 60 * 60 * 1_000;
/// Answers that are not written down yet. A disk that stalls must not let the line run ahead of it.
const SETTLING_LIMIT: usize = 4 * PARALLEL;
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
    pub registrant: Registrant,
    /// Since when a person has sending switched off.
    pub paused_since: Option<Millis>,
    /// Told when YUPY is heard again after [`LONG_OUTAGE_MS`].
    pub after_outage: Arc<Notify>,
    /// Told when a card was charged: its ticket may be printed.
    pub after_payment: Arc<Notify>,
    /// Bumped whenever something on the screen may have changed.
    pub changes: watch::Sender<u64>,
}

/// What one press of *Enviar ahora* did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendNow {
    pub attempted: u32,
    pub accepted: u32,
}

/// A handle to the running relay. When its last one is dropped the relay stops where it stands, as it would if the
/// process were killed; the next start goes on with the same keys.
#[derive(Clone)]
pub struct Relay {
    _task: Arc<Task>,
    wake: Arc<Notify>,
    commands: mpsc::Sender<oneshot::Sender<SendNow>>,
    line: watch::Receiver<Line>,
    paused_since: Arc<watch::Sender<Option<Millis>>>,
}

impl Relay {
    /// Starts sending. Whatever an earlier run left in `sending` has been given back by [`settle::restart`].
    #[must_use]
    pub fn start(parts: Parts) -> Self {
        let wake = Arc::new(Notify::new());
        let (commands, inbox) = mpsc::channel(8);
        let (line_out, line) = watch::channel(Line::default());
        let paused_since = Arc::new(watch::Sender::new(parts.paused_since));
        let driver = Driver {
            parts,
            paused_since: paused_since.subscribe(),
            wake: Arc::clone(&wake),
            line: Line::default(),
            line_out,
            flights: JoinSet::new(),
            settling: JoinSet::new(),
            is_more_due: false,
            waiters: Vec::new(),
            suspect: false,
            ping_at: Millis::MIN,
            heard_at: None,
            tell_epoch_at: Some(Millis::MIN),
            epochs_taken: 0,
        };
        let task = Arc::new(Task(tokio::spawn(driver.run(inbox)).abort_handle()));
        Self { _task: task, wake, commands, line, paused_since }
    }

    /// Since when a person has sending switched off.
    #[must_use]
    pub fn paused_since(&self) -> Option<Millis> {
        *self.paused_since.borrow()
    }

    /// From now on nothing more leaves, or everything that waits does. What is on its way ends as it ends.
    pub fn pause(&self, since: Option<Millis>) {
        self.paused_since.send_replace(since);
    }

    /// There may be something to send. Any number of calls make one run.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    #[must_use]
    pub fn line(&self) -> Line {
        self.line.borrow().clone()
    }

    /// For whoever goes only while the relay hears YUPY. It does not keep the relay alive.
    #[must_use]
    pub fn ear(&self) -> Ear {
        Ear {
            line: self.line.clone(),
            paused_since: self.paused_since.subscribe(),
            wake: Arc::clone(&self.wake),
        }
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

/// What the relay hears.
pub struct Ear {
    pub line: watch::Receiver<Line>,
    pub paused_since: watch::Receiver<Option<Millis>>,
    /// Tells the relay that there may be something to send.
    pub wake: Arc<Notify>,
}

/// A task that does not outlive its owner.
pub struct Task(pub AbortHandle);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
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
    /// What is on the line.
    flights: JoinSet<Landed>,
    /// What was answered and is being written down; the line is free for others meanwhile.
    settling: JoinSet<Settled>,
    /// The last claim filled every place, so that the next one need not look first.
    is_more_due: bool,
    waiters: Vec<Waiter>,
    /// A claim failed in a way that may have been committed, or an attempt ended in a bug: sales may be marked as
    /// sent that nobody sends.
    suspect: bool,
    ping_at: Millis,
    /// When YUPY was heard last.
    heard_at: Option<Millis>,
    /// From when on it is to be seen to that YUPY knows our epoch; `None` while it does, or while it is being told.
    tell_epoch_at: Option<Millis>,
    /// How many in a row were somebody else's.
    epochs_taken: u32,
    paused_since: watch::Receiver<Option<Millis>>,
}

/// What goes out on the line.
enum Errand {
    Sale(flight::Flight),
    Void(void_flight::VoidFlight),
    Payment(payment_flight::PaymentFlight),
}

/// An answer was written down.
struct Settled {
    /// Such an answer may have cost us our epoch.
    is_about_us: bool,
}

/// What came back from the line.
enum Landed {
    Sale(Flown),
    Ping(Ponged),
    Epoch(Epoch, Said),
}

impl Driver {
    async fn run(mut self, mut inbox: mpsc::Receiver<oneshot::Sender<SendNow>>) {
        loop {
            let sleep = self.launch().await;
            if self.is_idle() {
                self.answer_waiters(|_| true);
            }
            tokio::select! {
                Some(landed) = self.flights.join_next() => {
                    self.landed(landed).await;
                    // All places that are free by now are claimed for in one commit.
                    while let Some(landed) = self.flights.try_join_next() {
                        self.landed(landed).await;
                    }
                }
                Some(settled) = self.settling.join_next() => {
                    self.settled(settled);
                    while let Some(settled) = self.settling.try_join_next() {
                        self.settled(settled);
                    }
                }
                command = inbox.recv() => match command {
                    Some(answer) => self.send_now(answer).await,
                    None => break,
                },
                () = self.wake.notified() => {}
                Ok(()) = self.paused_since.changed() => self.try_everything().await,
                () = tokio::time::sleep(sleep) => {}
            }
            self.tell_epoch().await;
            let now = tokio::time::Instant::now();
            self.answer_waiters(|waiter| waiter.deadline <= now);
        }
    }

    /// Sends what may be sent and says how long there is nothing else to do.
    async fn launch(&mut self) -> Duration {
        let now = self.now();
        if self.suspect && self.is_idle() {
            self.suspect = !self.give_back().await;
        }
        if self.paused_since.borrow().is_some() {
            return LONGEST_SLEEP;
        }
        let (places, until) = match self.line.permit(now) {
            Permit::Free(width) => (width.saturating_sub(self.flights.len()), now),
            // A probe need not be due itself: it stands for everything that waits.
            Permit::Probe if self.is_idle() => (1, Millis::MAX),
            Permit::Probe => (0, now),
            Permit::Until(at) => return span(now, at),
        };
        if places == 0 || self.settling.len() >= SETTLING_LIMIT {
            return LONGEST_SLEEP;
        }
        match self.claim(places, until).await {
            Ok(claimed) if claimed.is_empty() => {
                self.is_more_due = false;
                let due = self.next_due(now).await;
                due.min(self.ping(now))
            }
            Ok(claimed) => {
                self.is_more_due = claimed.len() == places;
                for errand in claimed {
                    let parts = self.parts.clone();
                    self.flights.spawn(async move {
                        Landed::Sale(match errand {
                            Errand::Sale(flight) => flight::fly(parts, flight).await,
                            Errand::Void(flight) => void_flight::fly(parts, flight).await,
                            Errand::Payment(flight) => payment_flight::fly(parts, flight).await,
                        })
                    });
                }
                self.changed();
                if self.is_more_due { LONGEST_SLEEP } else { self.next_due(now).await }
            }
            Err(error) => {
                tracing::error!(%error, "the relay cannot claim");
                self.suspect = true;
                DISK_RETRY
            }
        }
    }

    async fn claim(&self, places: usize, until: Millis) -> Result<Vec<Errand>, WriteError<rusqlite::Error>> {
        // Most wake-ups find nothing; those cost a read and do not wait for the writer.
        if !self.is_more_due {
            let anything = self.parts.db.read(next_due).await;
            if anything.is_ok_and(|due| due.is_none_or(|due| due > until)) {
                return Ok(Vec::new());
            }
        }
        let (context, now) = (self.parts.context.clone(), self.now());
        self.parts
            .db
            .write(move |conn| {
                // A card first: somebody stands there and waits.
                let payments = payment_flight::claim(conn, &context, places, until, now)?;
                let places = places - payments.len();
                // Voids before sales: a seat that was sold again must not look like a duplicate of the sale that was
                // taken back.
                let voids = void_flight::claim(conn, &context, places, until, now)?;
                let sales = flight::claim(conn, &context, places - voids.len(), until, now)?;
                let errands = payments.into_iter().map(Errand::Payment);
                let errands = errands.chain(voids.into_iter().map(Errand::Void));
                Ok(errands.chain(sales.into_iter().map(Errand::Sale)).collect())
            })
            .await
    }

    async fn next_due(&self, now: Millis) -> Duration {
        match self.parts.db.read(next_due).await {
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

    /// With nothing to send a small question finds out whether YUPY is there, so that the status bar never
    /// shows yesterday's line. Says when to ask again.
    fn ping(&mut self, now: Millis) -> Duration {
        if self.ping_at > now.saturating_add(ping::EVERY_MS) {
            self.ping_at = now;
        }
        if self.ping_at > now && self.line.state == ConnectionState::Online {
            return span(now, self.ping_at);
        }
        if !self.flights.is_empty() {
            return LONGEST_SLEEP;
        }
        self.ping_at = now.saturating_add(ping::EVERY_MS);
        let transport = Arc::clone(&self.parts.transport);
        self.flights.spawn(async move { Landed::Ping(ping::ping(&*transport).await) });
        LONGEST_SLEEP
    }

    /// A bug on the way left a sale marked as sent. It counts as an unclear answer, so that a bug which comes every
    /// time makes the line wait and not the till spin.
    fn crashed(&mut self, error: &JoinError) -> Landed {
        tracing::error!(%error, "an attempt ended in a bug; its sale is tried again");
        self.suspect = true;
        let verdict = Verdict::Wait { cause: WaitCause::UnusableAnswer, retry_after_ms: None };
        Landed::Sale(Flown { verdict, clocks: None, settling: Box::pin(async {}) })
    }

    /// While YUPY is heard, and has not been told of our epoch, it is told.
    async fn tell_epoch(&mut self) {
        let now = self.now();
        let is_due = self.tell_epoch_at.is_some_and(|at| at <= now);
        if !is_due || self.line.state != ConnectionState::Online || self.paused_since.borrow().is_some() {
            return;
        }
        match self.parts.db.read(register::unregistered).await {
            Ok(None) => self.tell_epoch_at = None,
            Ok(Some(epoch)) => {
                self.tell_epoch_at = None;
                let (transport, of) = (Arc::clone(&self.parts.transport), self.parts.registrant.clone());
                self.flights.spawn(async move {
                    Landed::Epoch(epoch, register::tell(&*transport, &of, epoch).await)
                });
            }
            Err(error) => {
                tracing::error!(%error, "the relay cannot read");
                self.tell_epoch_at = Some(now.saturating_add(register::AGAIN_MS));
            }
        }
    }

    async fn epoch_told(&mut self, epoch: Epoch, said: Said) {
        let (now, entropy) = (self.now(), Arc::clone(&self.parts.entropy));
        let noted = self.parts.db.write(move |conn| register::note(conn, &*entropy, epoch, said, now)).await;
        self.epochs_taken = if said == Said::Taken { self.epochs_taken + 1 } else { 0 };
        self.tell_epoch_at = match (said, noted) {
            (Said::NotKept, _) => None,
            _ if self.epochs_taken >= register::TAKEN_LIMIT => None,
            (Said::Known | Said::Taken, Ok(())) => Some(now),
            (Said::Nothing, _) | (_, Err(_)) => Some(now.saturating_add(register::AGAIN_MS)),
        };
        self.changed();
    }

    async fn landed(&mut self, landed: Result<Landed, JoinError>) {
        let landed = landed.unwrap_or_else(|error| self.crashed(&error));
        let (now, roll) = (self.now(), roll(&*self.parts.entropy));
        let (change, clocks) = match landed {
            Landed::Epoch(epoch, said) => return self.epoch_told(epoch, said).await,
            Landed::Ping(Ponged { trouble, yupy_at }) => {
                let change = match trouble {
                    None => self.line.spoke(now),
                    Some(trouble) => self.line.heard(&trouble, now, roll),
                };
                (change, yupy_at.map(|yupys| (now, yupys)))
            }
            Landed::Sale(Flown { verdict, clocks, settling }) => {
                for waiter in &mut self.waiters {
                    waiter.so_far.attempted += 1;
                    waiter.so_far.accepted += u32::from(matches!(verdict, Verdict::Accepted(_)));
                }
                self.settle(&verdict, settling);
                (self.line.heard(&verdict, now, roll), clocks)
            }
        };
        if let Some((ours, yupys)) = clocks {
            self.compare(ours, yupys).await;
        }
        if self.line.state == ConnectionState::Online {
            let silent_ms = self.heard_at.map_or(0, |heard_at| now.saturating_sub(heard_at));
            if silent_ms >= LONG_OUTAGE_MS {
                self.parts.after_outage.notify_one();
            }
            self.heard_at = Some(now);
        }
        self.line_out.send_replace(self.line.clone());
        if change.recovered {
            self.hasten().await;
        }
        self.changed();
    }

    fn settle(&mut self, verdict: &Verdict, settling: Settling) {
        let is_about_us = matches!(verdict, Verdict::Collision(_) | Verdict::Attention { .. });
        self.settling.spawn(async move {
            settling.await;
            Settled { is_about_us }
        });
    }

    fn settled(&mut self, settled: Result<Settled, JoinError>) {
        match settled {
            Ok(Settled { is_about_us: false }) => {}
            Ok(Settled { is_about_us: true }) => self.tell_epoch_at = Some(self.now()),
            Err(error) => {
                tracing::error!(%error, "writing an answer down ended in a bug; its sale is tried again");
                self.suspect = true;
            }
        }
        self.changed();
    }

    /// Nothing is on its way and every answer is written down.
    fn is_idle(&self) -> bool {
        self.flights.is_empty() && self.settling.is_empty()
    }

    async fn send_now(&mut self, answer: oneshot::Sender<SendNow>) {
        let deadline = tokio::time::Instant::now() + SEND_NOW_LIMIT;
        self.waiters.push(Waiter { answer, so_far: SendNow::default(), deadline });
        self.try_everything().await;
    }

    /// A person wants it: neither the line nor a sale waits for its time.
    async fn try_everything(&mut self) {
        self.line.allow_probe(self.now());
        self.ping_at = self.now();
        self.hasten().await;
    }

    /// A clock that is found wrong is written down once, until it is right again.
    async fn compare(&mut self, ours: Millis, yupys: Millis) {
        let was_wrong = self.line.wrong_clock().is_some();
        self.line.compared(ours, yupys);
        let Some(ahead_ms) = self.line.wrong_clock().filter(|_| !was_wrong) else { return };
        let noted = move |conn: &rusqlite::Connection| {
            let data = serde_json::json!({ "ahead_ms": ahead_ms });
            audit::append(conn, ours, &audit::Entry { data, ..audit::Entry::new(Event::ClockWrong) })
        };
        if let Err(error) = self.parts.db.write(noted).await {
            tracing::error!(%error, ahead_ms, "this machine's clock is wrong, and the audit does not know");
        }
    }

    /// Sales that are marked as sent and are not on their way wait again, with their keys.
    async fn give_back(&self) -> bool {
        let (context, now) = (self.parts.context.clone(), self.now());
        self.parts.db.write(move |conn| settle::restart(conn, &context, now)).await.is_ok()
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

/// When a sale, a void or a payment may be tried next.
fn next_due(conn: &Connection) -> rusqlite::Result<Option<Millis>> {
    let dues = [entries::next_due(conn)?, voids::next_due(conn)?, payments::next_due(conn)?];
    Ok(dues.into_iter().flatten().min())
}

/// From now until then, at least a moment and at most [`LONGEST_SLEEP`].
fn span(now: Millis, then: Millis) -> Duration {
    let ms = u64::try_from(then.saturating_sub(now)).unwrap_or(0).max(1);
    Duration::from_millis(ms).min(LONGEST_SLEEP)
}
