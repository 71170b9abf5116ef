//! The life of one sale on its way to YUPY, as a pure function.
//!
//! `step` takes a state, what happened and the time, and says the next state and what else must be done in the
//! same transaction. It reads nothing and writes nothing; the relay and the review execute it. Invariant: only
//! an accepted answer leads to `Accepted`, only a person's decision, or a look-up after the guard fired, leads from
//! `InReview` anywhere, out of `Discarded` only a person's taking it back, and out of `Accepted` only that YUPY has lost
//! the sale.

use crate::answer::{Acceptance, AttentionReason, Collision, PauseCause, Question, Verdict, WaitCause};
use crate::clock::Millis;

/// How long a sale waits before it is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// First upper bound of the wait; it doubles with each attempt.
    pub backoff_base_ms: i64,
    pub backoff_cap_ms: i64,
    /// Cap behind a portal: somebody has to log in first, and its owner counts requests.
    pub portal_cap_ms: i64,
    /// A server may ask for patience, not for ever.
    pub retry_after_cap_ms: i64,
    /// How often a sale on hold is looked up.
    pub hold_ms: i64,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            backoff_base_ms: 1_000,
            backoff_cap_ms: 60_000,
            portal_cap_ms: 300_000,
            retry_after_cap_ms: 600_000,
            hold_ms: 900_000,
        }
    }
}

impl Policy {
    /// No sale waits longer than this, whatever was asked for; a later due time means that the clock was set.
    #[must_use]
    pub fn longest_wait_ms(&self) -> i64 {
        let jitter_ms = self.backoff_cap_ms.max(self.portal_cap_ms);
        self.retry_after_cap_ms.saturating_add(jitter_ms).max(self.hold_ms)
    }
}

/// Whether YUPY may hold the sale although nobody told us: *sin confirmar*.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    None,
    OutcomeUnknown,
}

/// Why a queued sale is still here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueReason {
    NotTriedYet,
    Waiting(WaitCause),
    Paused(PauseCause),
    InterruptedByRestart,
    /// A manager said that it is another sale.
    Confirming,
    /// The confirmation was refused; the question is asked anew.
    ConfirmationRefused,
    /// YUPY had confirmed the sale and does not have it any more.
    MissingAtYupy,
    /// A manager looked at what YUPY had refused.
    Corrected,
    /// Another till sold it; it came in a file.
    FromAnotherTill,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Queued {
        attempts: u32,
        due: Millis,
        doubt: Doubt,
        reason: QueueReason,
    },
    Sending {
        attempts: u32,
        since: Millis,
        doubt: Doubt,
    },
    Accepted {
        yupy_transaction_id: String,
    },
    InReview {
        attempts: u32,
    },
    NeedsAttention {
        attempts: u32,
        reason: AttentionReason,
    },
    OnHold {
        attempts: u32,
        due: Millis,
    },
    Discarded {
        duplicate_of: String,
    },
    /// Its money was given back before YUPY had it; there is nothing to send any more.
    Withdrawn,
}

impl State {
    /// How often the sale was sent; a settled one no longer counts.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        match self {
            Self::Queued { attempts, .. }
            | Self::Sending { attempts, .. }
            | Self::InReview { attempts }
            | Self::NeedsAttention { attempts, .. }
            | Self::OnHold { attempts, .. } => *attempts,
            Self::Accepted { .. } | Self::Discarded { .. } | Self::Withdrawn => 0,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The relay takes the sale; committed before the first byte leaves.
    Claimed,
    /// An attempt came back; `roll` is the jitter, uniform over all of `u32`.
    Answered { verdict: Verdict, roll: u32 },
    /// The stored body is not the one that was frozen at the sale. Nothing may be sent.
    BodyChanged,
    /// The program started and found the sale as it was.
    Restarted,
    /// The folder is an older state of itself, or a copy: what YUPY had asked may have been answered since.
    GuardFired,
    /// A person asked to try now, or the line came back.
    Hastened,
    /// A manager decided: another sale.
    DecidedDifferent,
    /// A manager decided: the same sale as that one.
    DecidedSame { duplicate_of: String },
    /// YUPY's list of this till's sales does not have it.
    MissingAtYupy,
    /// A manager corrected what YUPY had refused, or wants it sent again as it is.
    Corrected,
    /// YUPY took a version of the sale that was given up here meanwhile: its answer was late.
    AcceptedEarlier { yupy_transaction_id: String },
    /// The sale was voided here, and YUPY has not taken it.
    Withdrawn,
    /// A manager takes the discard back, of which YUPY does not know: the question is open again.
    DiscardTakenBack,
}

/// What else the transaction does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The entry points to the first request again: confirmations are for the question they answer.
    UseCreateRequest,
    StoreQuestion(Question),
    RaiseCollision(Collision),
    PauseQueue(PauseCause),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub state: State,
    pub effects: Vec<Effect>,
}

impl Step {
    fn to(state: State) -> Option<Self> {
        Some(Self { state, effects: Vec::new() })
    }

    fn with(state: State, effects: impl Into<Vec<Effect>>) -> Option<Self> {
        Some(Self { state, effects: effects.into() })
    }
}

/// The next state, or `None` where the event does not apply and nothing may change.
#[must_use]
pub fn step(state: &State, event: &Event, now: Millis, policy: &Policy) -> Option<Step> {
    match state {
        State::Queued { attempts, doubt, reason, due } => match event {
            Event::Claimed => {
                Step::to(State::Sending { attempts: attempts.saturating_add(1), since: now, doubt: *doubt })
            }
            Event::Hastened => {
                Step::to(State::Queued { attempts: *attempts, due: now, doubt: *doubt, reason: *reason })
            }
            // A wall clock that was set back must not leave a sale waiting for hours.
            Event::Restarted => {
                let latest = now.saturating_add(policy.longest_wait_ms());
                Step::to(State::Queued {
                    attempts: *attempts,
                    due: (*due).min(latest),
                    doubt: *doubt,
                    reason: *reason,
                })
            }
            Event::BodyChanged => Step::to(State::NeedsAttention {
                attempts: *attempts,
                reason: AttentionReason::StoredBodyChanged,
            }),
            Event::AcceptedEarlier { yupy_transaction_id } => {
                Step::to(State::Accepted { yupy_transaction_id: yupy_transaction_id.clone() })
            }
            Event::Answered { .. }
            | Event::GuardFired
            | Event::DecidedDifferent
            | Event::DecidedSame { .. }
            | Event::MissingAtYupy
            | Event::Corrected
            | Event::Withdrawn
            | Event::DiscardTakenBack => None,
        },
        State::Sending { attempts, doubt, .. } => match event {
            Event::Answered { verdict, roll } => answered(*attempts, *doubt, verdict, *roll, now, policy),
            // Bytes may have left before the program stopped.
            Event::Restarted => Step::to(State::Queued {
                attempts: *attempts,
                due: now,
                doubt: Doubt::OutcomeUnknown,
                reason: QueueReason::InterruptedByRestart,
            }),
            Event::AcceptedEarlier { yupy_transaction_id } => {
                Step::to(State::Accepted { yupy_transaction_id: yupy_transaction_id.clone() })
            }
            Event::Claimed
            | Event::BodyChanged
            | Event::Hastened
            | Event::GuardFired
            | Event::DecidedDifferent
            | Event::DecidedSame { .. }
            | Event::MissingAtYupy
            | Event::Corrected
            | Event::Withdrawn
            | Event::DiscardTakenBack => None,
        },
        State::InReview { attempts } => match event {
            Event::DecidedDifferent => Step::to(State::Queued {
                attempts: *attempts,
                due: now,
                doubt: Doubt::None,
                reason: QueueReason::Confirming,
            }),
            // It is looked up first, and asked about again only if YUPY does not have it.
            Event::GuardFired => Step::with(
                State::Queued {
                    attempts: *attempts,
                    due: now,
                    doubt: Doubt::OutcomeUnknown,
                    reason: QueueReason::InterruptedByRestart,
                },
                [Effect::UseCreateRequest],
            ),
            Event::DecidedSame { duplicate_of } => {
                Step::to(State::Discarded { duplicate_of: duplicate_of.clone() })
            }
            Event::Withdrawn => Step::to(State::Withdrawn),
            Event::AcceptedEarlier { yupy_transaction_id } => {
                Step::to(State::Accepted { yupy_transaction_id: yupy_transaction_id.clone() })
            }
            Event::Claimed
            | Event::Answered { .. }
            | Event::BodyChanged
            | Event::Restarted
            | Event::Hastened
            | Event::MissingAtYupy
            | Event::Corrected
            | Event::DiscardTakenBack => None,
        },
        State::OnHold { attempts, due } => match event {
            Event::Claimed => Step::to(State::Sending {
                attempts: attempts.saturating_add(1),
                since: now,
                doubt: Doubt::OutcomeUnknown,
            }),
            Event::Hastened => Step::to(State::OnHold { attempts: *attempts, due: now }),
            Event::Restarted => Step::to(State::OnHold {
                attempts: *attempts,
                due: (*due).min(now.saturating_add(policy.longest_wait_ms())),
            }),
            Event::BodyChanged => Step::to(State::NeedsAttention {
                attempts: *attempts,
                reason: AttentionReason::StoredBodyChanged,
            }),
            Event::AcceptedEarlier { yupy_transaction_id } => {
                Step::to(State::Accepted { yupy_transaction_id: yupy_transaction_id.clone() })
            }
            Event::Answered { .. }
            | Event::GuardFired
            | Event::DecidedDifferent
            | Event::DecidedSame { .. }
            | Event::MissingAtYupy
            | Event::Corrected
            | Event::Withdrawn
            | Event::DiscardTakenBack => None,
        },
        State::Accepted { .. } => match event {
            Event::MissingAtYupy => Step::to(State::Queued {
                attempts: 0,
                due: now,
                doubt: Doubt::None,
                reason: QueueReason::MissingAtYupy,
            }),
            Event::Claimed
            | Event::Answered { .. }
            | Event::BodyChanged
            | Event::Restarted
            | Event::Hastened
            | Event::GuardFired
            | Event::DecidedDifferent
            | Event::DecidedSame { .. }
            | Event::Corrected
            | Event::AcceptedEarlier { .. }
            | Event::Withdrawn
            | Event::DiscardTakenBack => None,
        },
        State::NeedsAttention { attempts, reason } => match event {
            Event::Corrected if reason.is_about_the_content() => Step::to(State::Queued {
                attempts: *attempts,
                due: now,
                doubt: Doubt::None,
                reason: QueueReason::Corrected,
            }),
            Event::Withdrawn if reason.is_about_the_content() => Step::to(State::Withdrawn),
            Event::AcceptedEarlier { yupy_transaction_id } => {
                Step::to(State::Accepted { yupy_transaction_id: yupy_transaction_id.clone() })
            }
            Event::Claimed
            | Event::Answered { .. }
            | Event::BodyChanged
            | Event::Restarted
            | Event::Hastened
            | Event::GuardFired
            | Event::DecidedDifferent
            | Event::DecidedSame { .. }
            | Event::MissingAtYupy
            | Event::Corrected
            | Event::Withdrawn
            | Event::DiscardTakenBack => None,
        },
        State::Withdrawn => match event {
            Event::AcceptedEarlier { yupy_transaction_id } => {
                Step::to(State::Accepted { yupy_transaction_id: yupy_transaction_id.clone() })
            }
            Event::Claimed
            | Event::Answered { .. }
            | Event::BodyChanged
            | Event::Restarted
            | Event::Hastened
            | Event::GuardFired
            | Event::DecidedDifferent
            | Event::DecidedSame { .. }
            | Event::MissingAtYupy
            | Event::Corrected
            | Event::Withdrawn
            | Event::DiscardTakenBack => None,
        },
        State::Discarded { .. } => match event {
            // It was asked about; how often it was sent before no longer matters.
            Event::DiscardTakenBack => Step::to(State::InReview { attempts: 1 }),
            Event::Claimed
            | Event::Answered { .. }
            | Event::BodyChanged
            | Event::Restarted
            | Event::Hastened
            | Event::GuardFired
            | Event::DecidedDifferent
            | Event::DecidedSame { .. }
            | Event::MissingAtYupy
            | Event::Corrected
            | Event::AcceptedEarlier { .. }
            | Event::Withdrawn => None,
        },
    }
}

fn answered(
    attempts: u32,
    doubt: Doubt,
    verdict: &Verdict,
    roll: u32,
    now: Millis,
    policy: &Policy,
) -> Option<Step> {
    match verdict {
        Verdict::Accepted(Acceptance { yupy_transaction_id, .. }) => {
            Step::to(State::Accepted { yupy_transaction_id: yupy_transaction_id.clone() })
        }
        Verdict::Wait { cause, retry_after_ms } => Step::to(State::Queued {
            attempts,
            due: now.saturating_add(wait_ms(attempts, *cause, *retry_after_ms, roll, policy)),
            doubt: if cause.may_have_arrived() { Doubt::OutcomeUnknown } else { doubt },
            reason: QueueReason::Waiting(*cause),
        }),
        Verdict::Pause(cause) => Step::with(
            // Nobody's attempts are counted: the next claim gives the same number again.
            State::Queued {
                attempts: attempts.saturating_sub(1),
                due: now,
                doubt,
                reason: QueueReason::Paused(*cause),
            },
            [Effect::PauseQueue(*cause)],
        ),
        Verdict::Review(question) => Step::with(
            State::InReview { attempts },
            [Effect::UseCreateRequest, Effect::StoreQuestion((**question).clone())],
        ),
        Verdict::ReviewAgain => Step::with(
            State::Queued {
                attempts,
                due: now,
                doubt: Doubt::None,
                reason: QueueReason::ConfirmationRefused,
            },
            [Effect::UseCreateRequest],
        ),
        Verdict::Attention { reason, .. } => Step::to(State::NeedsAttention { attempts, reason: *reason }),
        Verdict::Hold => Step::to(State::OnHold { attempts, due: now.saturating_add(policy.hold_ms) }),
        Verdict::Collision(collision) => Step::with(
            State::NeedsAttention { attempts, reason: AttentionReason::IdentityCollision },
            [Effect::RaiseCollision(collision.clone())],
        ),
    }
}

/// Full jitter: uniform between nothing and an exponentially growing bound, so that a fleet that lost its line
/// together does not come back together. A `Retry-After` is a floor, with jitter on top.
#[must_use]
pub fn wait_ms(
    attempts: u32,
    cause: WaitCause,
    retry_after_ms: Option<i64>,
    roll: u32,
    policy: &Policy,
) -> i64 {
    let cap = if cause == WaitCause::Portal { policy.portal_cap_ms } else { policy.backoff_cap_ms };
    let doublings = attempts.saturating_sub(1).min(20);
    let bound = policy.backoff_base_ms.saturating_mul(1 << doublings).min(cap);
    let jitter = i64::try_from(i128::from(bound) * i128::from(roll) / i128::from(u32::MAX))
        .expect("a share of an i64 is an i64");
    retry_after_ms.map_or(0, |floor| floor.clamp(0, policy.retry_after_cap_ms)).saturating_add(jitter)
}

#[cfg(test)]
mod tests;
