//! What the last answers say about the line, and whether another request may be tried.
//!
//! A circuit breaker whose state is the sentence on the status bar. Line trouble delays the line, not the sales:
//! while it is open one probe goes out now and then, and the first word from YUPY lets everything go. Pure.

use crate::answer::{Blame, PauseCause, Verdict, WaitCause};
use crate::clock::Millis;
use crate::view::ConnectionState;

/// Requests on their way at once: enough to hide a slow line's delay, few enough for YUPY's patience.
pub const PARALLEL: usize = 4;
/// A line that was closed opens with one request at a time, and with one more after so many answers. A fleet that comes
/// back together is then no flood, and each till finds out how much YUPY bears (as TCP does: additive increase).
const WIDENED_AFTER: u32 = 20;
/// Probes of a dead line: often enough that a bus which comes out of a tunnel sells online within ten seconds.
const PROBE_CAP_MS: i64 = 8_000;
/// A portal counts requests and waits for somebody to log in.
const PORTAL_PROBE_CAP_MS: i64 = 30_000;
const PROBE_BASE_MS: i64 = 1_000;
/// A refused credential is for a person to mend; asking is how the till notices that somebody did.
const PAUSE_PROBE_MS: i64 = 60_000;
/// So many time-outs or 5xx in a row are the host's trouble, not one sale's.
const UNCLEAR_LIMIT: u32 = 3;
/// An answer's `Date` counts whole seconds and took its time to come; beyond this a person should set the clock.
const CLOCK_LIMIT_MS: i64 = 120_000;
/// A server may ask everybody for patience, not for ever.
const RETRY_AFTER_CAP_MS: i64 = 600_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    /// So many on their way at once.
    Free(usize),
    /// One, and only when nothing else is on its way.
    Probe,
    Until(Millis),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub state: ConnectionState,
    pub since: Option<Millis>,
    pause: Option<Pause>,
    failures: u32,
    unclear: u32,
    /// Requests that may be on their way at once.
    width: usize,
    /// Answers since the line has this width.
    answers: u32,
    clock_ahead_ms: i64,
}

/// How long nothing is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pause {
    from: Millis,
    until: Millis,
    /// YUPY asked for it (`Retry-After`).
    is_asked: bool,
}

impl Pause {
    /// Earlier than it began: the clock was set back, and must not silence the till.
    fn is_over(self, now: Millis) -> bool {
        self.until <= now || now < self.from
    }
}

/// What an answer changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Sales that wait because of the line are due again.
    pub recovered: bool,
}

impl Default for Line {
    fn default() -> Self {
        Self {
            state: ConnectionState::Unknown,
            since: None,
            pause: None,
            failures: 0,
            unclear: 0,
            width: PARALLEL,
            answers: 0,
            clock_ahead_ms: 0,
        }
    }
}

impl Line {
    #[must_use]
    pub fn permit(&self, now: Millis) -> Permit {
        match self.pause {
            None => Permit::Free(self.width),
            Some(pause) if pause.is_over(now) => Permit::Probe,
            Some(pause) => Permit::Until(pause.until),
        }
    }

    #[must_use]
    pub fn next_probe(&self) -> Option<Millis> {
        self.pause.map(|pause| pause.until)
    }

    /// How far our clock is ahead of YUPY's (below zero: behind), when it is so far that somebody should set it.
    #[must_use]
    pub fn wrong_clock(&self) -> Option<i64> {
        (self.clock_ahead_ms.abs() > CLOCK_LIMIT_MS).then_some(self.clock_ahead_ms)
    }

    /// What the clocks said when an answer came. Only YUPY's own word is believed: a portal has a clock as well.
    pub fn compared(&mut self, ours: Millis, yupys: Millis) {
        if self.state == ConnectionState::Online {
            self.clock_ahead_ms = ours.saturating_sub(yupys);
        }
    }

    /// The next request may leave now: a person asked.
    pub fn allow_probe(&mut self, now: Millis) {
        if self.pause.is_some() {
            self.pause(now, 0, false);
        }
    }

    pub fn heard(&mut self, verdict: &Verdict, now: Millis, roll: u32) -> Change {
        match verdict {
            Verdict::Accepted(_)
            | Verdict::Review(_)
            | Verdict::ReviewAgain
            | Verdict::Attention { .. }
            | Verdict::Hold
            | Verdict::Collision(_) => self.spoke(now),
            Verdict::Pause(cause) => {
                self.enter(paused(*cause), now);
                self.pause(now, PAUSE_PROBE_MS, false);
                Change::default()
            }
            Verdict::Wait { cause, retry_after_ms } => match cause.blames() {
                Blame::Sale => self.spoke(now),
                Blame::Line => {
                    self.close(*cause, *retry_after_ms, now, roll);
                    Change::default()
                }
                Blame::Unclear => {
                    self.unclear = self.unclear.saturating_add(1);
                    // An open line stays open on the first doubt; a closed one is not opened by it.
                    if self.unclear >= UNCLEAR_LIMIT || self.pause.is_some() || retry_after_ms.is_some() {
                        self.close(*cause, *retry_after_ms, now, roll);
                    } else if self.state == ConnectionState::Unknown {
                        self.enter(ConnectionState::Unreachable, now);
                    }
                    Change::default()
                }
            },
        }
    }

    /// YUPY answered: whatever it said, the line is there. If it asked for patience a moment ago, in answer to another
    /// of our requests, it still wants that.
    pub fn spoke(&mut self, now: Millis) -> Change {
        self.enter(ConnectionState::Online, now);
        self.failures = 0;
        self.unclear = 0;
        if self.pause.is_some_and(|pause| pause.is_asked && !pause.is_over(now)) {
            return Change::default();
        }
        self.answers = self.answers.saturating_add(1);
        if self.answers >= WIDENED_AFTER && self.width < PARALLEL {
            (self.width, self.answers) = (self.width + 1, 0);
        }
        Change { recovered: self.pause.take().is_some() }
    }

    fn close(&mut self, cause: WaitCause, retry_after_ms: Option<i64>, now: Millis, roll: u32) {
        self.enter(named(cause), now);
        let cap = if cause == WaitCause::Portal { PORTAL_PROBE_CAP_MS } else { PROBE_CAP_MS };
        let bound = PROBE_BASE_MS.saturating_mul(1 << self.failures.min(10)).min(cap);
        self.failures = self.failures.saturating_add(1);
        // Half of the bound is certain, half is chance: a probe that could come at once would be none.
        let jitter = bound / 2 + bound / 2 * i64::from(roll >> 1) / i64::from(u32::MAX >> 1);
        let asked = retry_after_ms.map_or(0, |wait| wait.clamp(0, RETRY_AFTER_CAP_MS));
        self.pause(now, asked.saturating_add(jitter), asked > 0);
    }

    fn pause(&mut self, now: Millis, ms: i64, is_asked: bool) {
        self.pause = Some(Pause { from: now, until: now.saturating_add(ms), is_asked });
        (self.width, self.answers) = (1, 0);
    }

    fn enter(&mut self, state: ConnectionState, now: Millis) {
        if self.state != state {
            self.state = state;
            self.since = Some(now);
        }
    }
}

fn paused(cause: PauseCause) -> ConnectionState {
    match cause {
        PauseCause::CredentialRefused => ConnectionState::CredentialRefused,
        PauseCause::WrongAddress => ConnectionState::WrongAddress,
    }
}

fn named(cause: WaitCause) -> ConnectionState {
    match cause {
        WaitCause::NoNetwork => ConnectionState::NoNetwork,
        WaitCause::NoNameResolution => ConnectionState::NoNameResolution,
        WaitCause::CertificateOrClock => ConnectionState::CertificateOrClock,
        WaitCause::Portal => ConnectionState::Portal,
        WaitCause::Unreachable
        | WaitCause::ConnectionLost
        | WaitCause::TimedOut
        | WaitCause::ServerBusy
        | WaitCause::InProgress
        | WaitCause::UnusableAnswer => ConnectionState::Unreachable,
    }
}

#[cfg(test)]
mod tests;
