//! Tells YUPY what was decided here, and learns what was decided elsewhere.
//!
//! Beside the relay, since nothing here ever delays a sale: it goes only while the relay hears YUPY. Invariant: an
//! attempt is on the disk before its first byte leaves, no transaction is open while a request is on its way, and
//! what is learnt is a person's recorded decision or nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use turno_domain::{Currency, Money};
use turno_protocol::body::{ListAnswer, Transaction};
use turno_sqlite::{Database, WriteError};

use crate::answer::{self, Expected, WaitCause};
use crate::clock::{Millis, SharedClock};
use crate::elsewhere;
use crate::random::{SharedEntropy, roll};
use crate::relay::Ear;
use crate::resolve;
use crate::resolving::{Event, Verdict};
use crate::settle::Context;
use crate::store::resolutions::{self, Ended};
use crate::store::{is_about_the_row, questions, unreadable};
use crate::transport::{Failure, Request, Response, SharedTransport, Transport};
use crate::view::ConnectionState;

/// Look again at least this often, whatever the clocks say.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);
/// After the disk refused: it may have room again.
const DISK_RETRY: Duration = Duration::from_secs(1);
/// How often questions of this till are looked at, for an answer that was given elsewhere.
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// Questions that are looked at in one go; with more of them each has its turn.
const LOOKED_AT: usize = 10;
/// Decisions that are told one after the other before anything else is looked at.
const AT_ONCE: usize = 20;

/// What the delivery needs from its till.
pub struct Parts {
    pub db: Database,
    pub transport: SharedTransport,
    pub clock: SharedClock,
    pub entropy: SharedEntropy,
    pub context: Context,
    pub ear: Ear,
    /// There may be something to tell.
    pub wanted: Arc<Notify>,
    /// A person wants to be up to date: the next look need not wait for its time.
    pub look_wanted: Arc<AtomicBool>,
    /// Bumped whenever something on the screen may have changed.
    pub changes: watch::Sender<u64>,
}

/// Whose turn it is to be looked at, and when.
struct Turn {
    next_look: Instant,
    first: usize,
}

/// Runs as long as the till is open.
pub async fn run(mut parts: Parts) {
    let mut turn = Turn { next_look: Instant::now(), first: 0 };
    loop {
        let sleep = parts.round(&mut turn).await;
        let Parts { ear, wanted, .. } = &mut parts;
        tokio::select! {
            () = tokio::time::sleep(sleep) => {}
            () = wanted.notified() => {}
            Ok(()) = ear.line.changed() => {}
            Ok(()) = ear.paused_since.changed() => {}
        }
    }
}

/// A claimed decision: everything that the attempt needs, read in the claiming transaction.
struct Letter {
    resolution_id: i64,
    attempt_id: i64,
    challenge_id: String,
    decision: turno_protocol::body::Decision,
    external_transaction_id: String,
    body: Vec<u8>,
}

impl Parts {
    /// Tells what is due, and says how long there is nothing else to do.
    async fn round(&mut self, turn: &mut Turn) -> Duration {
        if !self.may_speak() {
            return LONGEST_SLEEP;
        }
        for _ in 0..AT_ONCE {
            match self.claim().await {
                Ok(Some(letter)) => {
                    if !self.deliver(letter).await {
                        break;
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    tracing::error!(%error, "a decision cannot be claimed");
                    return DISK_RETRY;
                }
            }
        }
        self.learn(turn).await;
        self.next_due().await
    }

    /// Looks at questions that wait here: somebody elsewhere may have answered.
    async fn learn(&self, turn: &mut Turn) {
        let is_wanted = self.look_wanted.swap(false, Ordering::SeqCst);
        if Instant::now() < turn.next_look && !is_wanted {
            return;
        }
        turn.next_look = Instant::now() + LOOK_EVERY;
        let mut waiting = match self.db.read(questions::answerable_elsewhere).await {
            Ok(waiting) => waiting,
            Err(error) => {
                tracing::error!(%error, "the open questions cannot be read");
                return;
            }
        };
        if waiting.is_empty() {
            return;
        }
        turn.first %= waiting.len();
        waiting.rotate_left(turn.first);
        turn.first += LOOKED_AT;
        for (sequence, challenge_id) in waiting.into_iter().take(LOOKED_AT) {
            let Ok(answer) = self.transport.send(Request::challenge(&challenge_id)).await else { return };
            let Some(learnt) = elsewhere::read(&answer, &challenge_id) else { continue };
            let (context, now) = (self.context.clone(), self.now());
            let taken = self
                .db
                .write(move |conn| elsewhere::take(conn, &context, sequence, &challenge_id, &learnt, now))
                .await;
            match taken {
                Ok(true) => {
                    self.ear.wake.notify_one();
                    self.changes.send_modify(|version| *version += 1);
                }
                Ok(false) => {}
                // It is learnt again at the next look.
                Err(error) => tracing::error!(%error, "a decision made elsewhere could not be written"),
            }
        }
    }

    /// The relay hears YUPY, and nobody has sending switched off.
    fn may_speak(&self) -> bool {
        self.ear.paused_since.borrow().is_none() && self.ear.line.borrow().state == ConnectionState::Online
    }

    async fn next_due(&self) -> Duration {
        let now = self.now();
        match self.db.read(resolutions::next_due).await {
            // The clock was set back by hours: nothing waits that long.
            Ok(Some(due)) if due > now.saturating_add(self.context.policy.longest_wait_ms()) => {
                let context = self.context.clone();
                if let Err(error) = self.db.write(move |conn| resolve::hasten(conn, &context, now)).await {
                    tracing::error!(%error, "waiting decisions could not be hastened");
                }
                DISK_RETRY
            }
            Ok(Some(due)) => {
                let ms = u64::try_from(due.saturating_sub(now)).unwrap_or(0).max(1);
                Duration::from_millis(ms).min(LONGEST_SLEEP)
            }
            Ok(None) => LONGEST_SLEEP,
            Err(error) => {
                tracing::error!(%error, "the decisions cannot be read");
                DISK_RETRY
            }
        }
    }

    async fn claim(&self) -> Result<Option<Letter>, WriteError<rusqlite::Error>> {
        let now = self.now();
        // Most rounds find nothing; those cost a read, not a commit.
        let anything = self.db.read(resolutions::next_due).await;
        if anything.is_ok_and(|due| due.is_none_or(|due| due > now)) {
            return Ok(None);
        }
        let context = self.context.clone();
        self.db.write(move |conn| claim(conn, &context, now)).await
    }

    /// One attempt: sends, reads, settles. Says whether the line is good for another one.
    async fn deliver(&self, letter: Letter) -> bool {
        let Letter { resolution_id, attempt_id, challenge_id, decision, external_transaction_id, body } =
            letter;
        let expected = expected(&external_transaction_id);
        let outcome = self.transport.send(Request::resolve(body)).await;
        let mut verdict = answer::resolution::read(&outcome, &expected, &challenge_id, decision);
        if verdict == Verdict::NotOpen {
            verdict = if_it_exists(&*self.transport, &external_transaction_id).await;
        }
        let ended = ended(&outcome, &verdict);
        let goes_on = !matches!(verdict, Verdict::Wait { .. } | Verdict::Pause(_));
        let jitter = roll(&*self.entropy);
        loop {
            let (context, ended) = (self.context.clone(), ended.clone());
            let event = Event::Answered { verdict: verdict.clone(), roll: jitter };
            let now = self.now();
            let written = self
                .db
                .write(move |conn| {
                    resolutions::end_attempt(conn, attempt_id, now, &ended)?;
                    resolve::apply(conn, &context, resolution_id, &event, now)
                })
                .await;
            match written {
                Ok(_) | Err(WriteError::Closed) => break,
                // Settling twice is harmless: a settled decision no longer takes the answer.
                Err(error) => {
                    tracing::error!(%error, "the answer to a decision could not be written; trying again");
                    tokio::time::sleep(DISK_RETRY).await;
                }
            }
        }
        self.changes.send_modify(|version| *version += 1);
        goes_on
    }

    fn now(&self) -> Millis {
        self.clock.now().as_millisecond()
    }
}

/// Takes the decision that is due. Committed by the caller before anything is sent.
fn claim(conn: &Connection, context: &Context, now: Millis) -> rusqlite::Result<Option<Letter>> {
    // Whatever is set aside is due no more, so this ends.
    while let Some(id) = resolutions::due(conn, now)? {
        let row = match resolutions::get(conn, id) {
            Err(error) if is_about_the_row(&error) => {
                tracing::error!(%error, id, "a decision's row cannot be understood; it is set aside");
                resolutions::set_aside(conn, id, now)?;
                continue;
            }
            row => row?.ok_or_else(|| unreadable("resolutions.resolution_id", "?"))?,
        };
        // Nothing is told that was not approved in these words, or of a sale that is none of the discarded.
        let stands = match resolve::is_standing(conn, &row) {
            Err(error) if is_about_the_row(&error) => {
                tracing::error!(%error, id, "a decision's sale cannot be understood; the decision is set aside");
                false
            }
            stands => stands?,
        };
        if !row.is_intact() || !stands {
            resolutions::set_aside(conn, id, now)?;
            continue;
        }
        resolve::apply(conn, context, id, &Event::Claimed, now)?;
        return Ok(Some(Letter {
            resolution_id: id,
            attempt_id: resolutions::start_attempt(conn, id, now)?,
            challenge_id: row.challenge_id,
            decision: resolve::on_the_wire(row.decision),
            external_transaction_id: row.external_transaction_id,
            body: row.body,
        }));
    }
    Ok(None)
}

/// The question has ended. Whether the sale came to be at YUPY all the same is what matters then.
async fn if_it_exists(transport: &dyn Transport, external_transaction_id: &str) -> Verdict {
    let outcome = transport.send(Request::look_up(external_transaction_id)).await;
    let unusable = Verdict::Wait { cause: WaitCause::UnusableAnswer, retry_after_ms: None };
    let answer = match &outcome {
        Ok(answer) if answer.status == 200 => answer,
        Ok(answer) => {
            let retry_after_ms = answer.retry_after_ms();
            return Verdict::Wait { cause: WaitCause::ServerBusy, retry_after_ms };
        }
        Err(failure) => return Verdict::Wait { cause: failure.cause(), retry_after_ms: None },
    };
    let list: Option<ListAnswer<Transaction>> =
        answer.json().and_then(|body| serde_json::from_value(body).ok());
    match list {
        Some(list) if list.items.is_empty() => Verdict::NotOpen,
        Some(list)
            if list
                .items
                .iter()
                .all(|found| found.external_transaction_id.as_str() == external_transaction_id) =>
        {
            Verdict::SaleExists
        }
        Some(_) | None => unusable,
    }
}

/// For the reading of what is no answer to a decision: nothing of the sale itself is expected.
fn expected(external_transaction_id: &str) -> Expected {
    Expected {
        external_transaction_id: external_transaction_id.to_owned(),
        occurred_at: jiff::Timestamp::UNIX_EPOCH,
        amount: Money::from_minor(0, Currency::PEN),
        first_attempt: false,
        confirms: false,
        corrected: None,
    }
}

fn ended(outcome: &Result<Response, Failure>, verdict: &Verdict) -> Ended {
    let answer = outcome.as_ref().ok();
    Ended {
        outcome: match verdict {
            Verdict::Told => "accepted",
            Verdict::Wait { cause, .. } => cause.as_word(),
            Verdict::Pause(cause) => cause.as_word(),
            Verdict::DecidedOtherwise { .. }
            | Verdict::NotOpen
            | Verdict::SaleExists
            | Verdict::Refused { .. } => "refused",
        },
        status: answer.map(|answer| answer.status),
        yupy_request_id: answer.and_then(|answer| answer.request_id.clone()),
    }
}
