//! The way of a void to YUPY, as a pure function beside [`crate::outbox`].
//!
//! The money was given back before any of this; nothing here changes that. Invariant: a void is sent only for a sale
//! that YUPY has accepted, always under its one key, and only YUPY's word confirms it.

use crate::answer::{PauseCause, WaitCause};
use crate::clock::Millis;
use crate::outbox::{Policy, wait_ms};

/// YUPY may lose a sale once between its acceptance and its void; more often it is not to be believed.
const LOST_LIMIT: u32 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The transaction is in a state in which YUPY does not void it.
    InvalidState,
    /// YUPY says again and again that it does not have the sale that it accepts.
    NotFound,
    Refused,
}

/// What an answer to a void means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Voided, by this request or before.
    Voided,
    Wait {
        cause: WaitCause,
        retry_after_ms: Option<i64>,
    },
    Pause(PauseCause),
    /// YUPY does not have the sale.
    NotFound,
    Refused {
        refusal: Refusal,
        detail: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Behind its sale, which YUPY does not have yet.
    Waiting {
        attempts: u32,
    },
    Queued {
        attempts: u32,
        due: Millis,
        cause: Option<WaitCause>,
    },
    Sending {
        attempts: u32,
    },
    Confirmed,
    /// YUPY never had the sale; there is nothing to tell.
    Local,
    NeedsAttention {
        attempts: u32,
        refusal: Refusal,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    SaleAccepted,
    /// YUPY had accepted the sale and does not have it any more; it is sent again.
    SaleLost,
    /// The sale ended without ever reaching YUPY.
    SaleWithdrawn,
    Claimed,
    Answered {
        verdict: Verdict,
        roll: u32,
        /// How often YUPY did not have the sale before this answer.
        lost_count: u32,
    },
    Restarted,
    Hastened,
    /// A manager wants a refused void tried again.
    Retried,
}

/// The next state, or `None` where the event does not apply and nothing may change.
#[must_use]
pub fn step(state: State, event: &Event, now: Millis, policy: &Policy) -> Option<State> {
    let queued = |attempts| Some(State::Queued { attempts, due: now, cause: None });
    match (state, event) {
        (State::Waiting { attempts }, Event::SaleAccepted) => queued(attempts),
        // Whatever version of the sale reached YUPY after all is voided there.
        (State::Local, Event::SaleAccepted) => queued(0),
        (State::Waiting { .. }, Event::SaleWithdrawn) => Some(State::Local),
        (
            State::Queued { attempts, .. }
            | State::Sending { attempts }
            | State::NeedsAttention { attempts, .. },
            Event::SaleLost,
        ) => Some(State::Waiting { attempts }),
        // The sale comes back to YUPY as it was sold, so its void must come back as well.
        (State::Confirmed, Event::SaleLost) => Some(State::Waiting { attempts: 0 }),
        (State::Queued { attempts, .. }, Event::Claimed) => {
            Some(State::Sending { attempts: attempts.saturating_add(1) })
        }
        (State::Queued { attempts, cause, .. }, Event::Hastened) => {
            Some(State::Queued { attempts, due: now, cause })
        }
        (State::Queued { attempts, due, cause }, Event::Restarted) => Some(State::Queued {
            attempts,
            due: due.min(now.saturating_add(policy.longest_wait_ms())),
            cause,
        }),
        (State::Sending { attempts }, Event::Restarted) => queued(attempts),
        (State::NeedsAttention { attempts, .. }, Event::Retried) => queued(attempts),
        (State::Sending { attempts }, Event::Answered { verdict, roll, lost_count }) => {
            Some(answered(attempts, verdict, *roll, *lost_count, now, policy))
        }
        (
            State::Waiting { .. }
            | State::Queued { .. }
            | State::Sending { .. }
            | State::Confirmed
            | State::Local
            | State::NeedsAttention { .. },
            Event::SaleAccepted
            | Event::SaleLost
            | Event::SaleWithdrawn
            | Event::Claimed
            | Event::Answered { .. }
            | Event::Restarted
            | Event::Hastened
            | Event::Retried,
        ) => None,
    }
}

fn answered(
    attempts: u32,
    verdict: &Verdict,
    roll: u32,
    lost_count: u32,
    now: Millis,
    policy: &Policy,
) -> State {
    match verdict {
        Verdict::Voided => State::Confirmed,
        Verdict::Wait { cause, retry_after_ms } => State::Queued {
            attempts,
            due: now.saturating_add(wait_ms(attempts, *cause, *retry_after_ms, roll, policy)),
            cause: Some(*cause),
        },
        // Nobody's attempts are counted: the next claim gives the same number again.
        Verdict::Pause(_) => State::Queued { attempts: attempts.saturating_sub(1), due: now, cause: None },
        Verdict::NotFound if lost_count >= LOST_LIMIT => {
            State::NeedsAttention { attempts, refusal: Refusal::NotFound }
        }
        Verdict::NotFound => State::Waiting { attempts },
        Verdict::Refused { refusal, .. } => State::NeedsAttention { attempts, refusal: *refusal },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_796_050_800_000;

    fn states() -> Vec<State> {
        vec![
            State::Waiting { attempts: 2 },
            State::Queued { attempts: 2, due: NOW + 9_000, cause: Some(WaitCause::TimedOut) },
            State::Sending { attempts: 2 },
            State::Confirmed,
            State::Local,
            State::NeedsAttention { attempts: 2, refusal: Refusal::InvalidState },
        ]
    }

    fn verdicts() -> Vec<Verdict> {
        vec![
            Verdict::Voided,
            Verdict::Wait { cause: WaitCause::ServerBusy, retry_after_ms: Some(30_000) },
            Verdict::Pause(PauseCause::CredentialRefused),
            Verdict::NotFound,
            Verdict::Refused { refusal: Refusal::InvalidState, detail: String::new() },
        ]
    }

    fn events() -> Vec<Event> {
        let mut all = vec![
            Event::SaleAccepted,
            Event::SaleLost,
            Event::SaleWithdrawn,
            Event::Claimed,
            Event::Restarted,
            Event::Hastened,
            Event::Retried,
        ];
        for lost_count in [0, 1] {
            let answered = |verdict| Event::Answered { verdict, roll: 0, lost_count };
            all.extend(verdicts().into_iter().map(answered));
        }
        all
    }

    #[test]
    fn only_yupys_word_confirms_a_void_and_only_what_is_queued_is_sent() {
        for state in states() {
            for event in events() {
                let Some(next) = step(state, &event, NOW, &Policy::default()) else { continue };
                let voided = matches!(event, Event::Answered { verdict: Verdict::Voided, .. });
                assert_eq!(next == State::Confirmed, voided, "{state:?} {event:?}");
                if matches!(next, State::Sending { .. }) {
                    assert!(matches!(state, State::Queued { .. }), "{state:?} {event:?}");
                }
                if matches!(event, Event::Answered { .. }) {
                    assert!(matches!(state, State::Sending { .. }), "{state:?} {event:?}");
                }
                if let State::Queued { due, .. } = next {
                    assert!(due >= NOW && due <= NOW + Policy::default().longest_wait_ms());
                }
            }
        }
    }

    #[test]
    fn a_void_never_overtakes_its_sale() {
        for event in events() {
            let next = step(State::Waiting { attempts: 0 }, &event, NOW, &Policy::default());
            match event {
                Event::SaleAccepted => assert!(matches!(next, Some(State::Queued { .. }))),
                Event::SaleWithdrawn => assert_eq!(next, Some(State::Local)),
                Event::SaleLost
                | Event::Claimed
                | Event::Answered { .. }
                | Event::Restarted
                | Event::Hastened
                | Event::Retried => assert_eq!(next, None, "{event:?}"),
            }
        }
    }

    #[test]
    fn a_sale_that_yupy_lost_is_sent_again_before_its_void_and_once_only() {
        let answered = |lost_count| {
            let event = Event::Answered { verdict: Verdict::NotFound, roll: 0, lost_count };
            step(State::Sending { attempts: 1 }, &event, NOW, &Policy::default()).unwrap()
        };
        assert_eq!(answered(0), State::Waiting { attempts: 1 });
        assert_eq!(answered(1), State::NeedsAttention { attempts: 1, refusal: Refusal::NotFound });
        let confirmed = step(State::Confirmed, &Event::SaleLost, NOW, &Policy::default());
        assert_eq!(confirmed, Some(State::Waiting { attempts: 0 }));
    }
}
