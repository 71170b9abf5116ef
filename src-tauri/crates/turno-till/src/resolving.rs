//! The way of a decision to YUPY, as a pure function beside [`crate::outbox`] and [`crate::voiding`].
//!
//! Invariant: what a person decided is told with the same words until YUPY has answered it; once it may have arrived
//! nobody takes it back here; and a decision that stands against it at YUPY is for people to see, never for a program
//! to follow.

use crate::answer::{PauseCause, WaitCause};
use crate::clock::Millis;
use crate::outbox::{Doubt, Policy, wait_ms};

/// So long a discard stays here, also with a line: whoever sees at once that it was wrong can take it back.
pub const HELD_MS: Millis = 30_000;

/// Why people have to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Somebody else decided otherwise before: theirs stands (contract §6).
    DecidedOtherwise,
    /// The sale that was taken for another one has become a transaction of its own.
    SaleExists,
    Refused,
}

/// What an answer to a decision means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// YUPY has it: from this request, from one before, or from somebody who decided the same.
    Told,
    Wait {
        cause: WaitCause,
        retry_after_ms: Option<i64>,
    },
    Pause(PauseCause),
    DecidedOtherwise {
        decided_by: String,
    },
    /// The question ended without a decision, and YUPY has no sale of it.
    NotOpen,
    SaleExists,
    Refused {
        detail: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Queued {
        attempts: u32,
        due: Millis,
        doubt: Doubt,
        cause: Option<WaitCause>,
    },
    Sending {
        attempts: u32,
        doubt: Doubt,
    },
    Told,
    TakenBack,
    /// The question had ended: there is nobody to tell.
    Closed,
    NeedsAttention {
        attempts: u32,
        trouble: Trouble,
    },
    /// A manager saw the trouble and left things as they are.
    Acknowledged,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Claimed,
    Answered { verdict: Verdict, roll: u32 },
    Restarted,
    Hastened,
    TakenBack,
    Acknowledged,
}

/// A decision that was made just now, and how long it is held.
#[must_use]
pub fn begun(now: Millis, held_ms: Millis) -> State {
    State::Queued { attempts: 0, due: now.saturating_add(held_ms), doubt: Doubt::None, cause: None }
}

/// The next state, or `None` where the event does not apply and nothing may change.
#[must_use]
pub fn step(state: State, event: &Event, now: Millis, policy: &Policy) -> Option<State> {
    match (state, event) {
        (State::Queued { attempts, doubt, .. }, Event::Claimed) => {
            Some(State::Sending { attempts: attempts.saturating_add(1), doubt })
        }
        (State::Queued { attempts, doubt, cause, .. }, Event::Hastened) => {
            Some(State::Queued { attempts, due: now, doubt, cause })
        }
        (State::Queued { attempts, due, doubt, cause }, Event::Restarted) => Some(State::Queued {
            attempts,
            due: due.min(now.saturating_add(policy.longest_wait_ms())),
            doubt,
            cause,
        }),
        // Bytes may have left before the program stopped.
        (State::Sending { attempts, .. }, Event::Restarted) => {
            Some(State::Queued { attempts, due: now, doubt: Doubt::OutcomeUnknown, cause: None })
        }
        (State::Sending { attempts, doubt }, Event::Answered { verdict, roll }) => {
            Some(answered(attempts, doubt, verdict, *roll, now, policy))
        }
        (State::Queued { doubt: Doubt::None, .. } | State::NeedsAttention { .. }, Event::TakenBack) => {
            Some(State::TakenBack)
        }
        (State::NeedsAttention { .. }, Event::Acknowledged) => Some(State::Acknowledged),
        (
            State::Queued { .. }
            | State::Sending { .. }
            | State::Told
            | State::TakenBack
            | State::Closed
            | State::NeedsAttention { .. }
            | State::Acknowledged,
            Event::Claimed
            | Event::Answered { .. }
            | Event::Restarted
            | Event::Hastened
            | Event::TakenBack
            | Event::Acknowledged,
        ) => None,
    }
}

fn answered(
    attempts: u32,
    doubt: Doubt,
    verdict: &Verdict,
    roll: u32,
    now: Millis,
    policy: &Policy,
) -> State {
    match verdict {
        Verdict::Told => State::Told,
        Verdict::Wait { cause, retry_after_ms } => State::Queued {
            attempts,
            due: now.saturating_add(wait_ms(attempts, *cause, *retry_after_ms, roll, policy)),
            doubt: if cause.may_have_arrived() { Doubt::OutcomeUnknown } else { doubt },
            cause: Some(*cause),
        },
        // Nobody's attempts are counted. It is tried again when the line is heard, or after the longest wait.
        Verdict::Pause(_) => State::Queued {
            attempts: attempts.saturating_sub(1),
            due: now.saturating_add(policy.backoff_cap_ms),
            doubt,
            cause: None,
        },
        Verdict::DecidedOtherwise { .. } => {
            State::NeedsAttention { attempts, trouble: Trouble::DecidedOtherwise }
        }
        Verdict::SaleExists => State::NeedsAttention { attempts, trouble: Trouble::SaleExists },
        Verdict::NotOpen => State::Closed,
        Verdict::Refused { .. } => State::NeedsAttention { attempts, trouble: Trouble::Refused },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_796_050_800_000;

    fn states() -> Vec<State> {
        let mut all = vec![State::Told, State::TakenBack, State::Closed, State::Acknowledged];
        for doubt in [Doubt::None, Doubt::OutcomeUnknown] {
            all.push(State::Queued {
                attempts: 2,
                due: NOW + 9_000,
                doubt,
                cause: Some(WaitCause::NoNetwork),
            });
            all.push(State::Sending { attempts: 2, doubt });
        }
        for trouble in [Trouble::DecidedOtherwise, Trouble::SaleExists, Trouble::Refused] {
            all.push(State::NeedsAttention { attempts: 2, trouble });
        }
        all
    }

    fn verdicts() -> Vec<Verdict> {
        vec![
            Verdict::Told,
            Verdict::Wait { cause: WaitCause::ServerBusy, retry_after_ms: Some(30_000) },
            Verdict::Wait { cause: WaitCause::NoNetwork, retry_after_ms: None },
            Verdict::Pause(PauseCause::CredentialRefused),
            Verdict::DecidedOtherwise { decided_by: "Rosa".to_owned() },
            Verdict::NotOpen,
            Verdict::SaleExists,
            Verdict::Refused { detail: String::new() },
        ]
    }

    fn events() -> Vec<Event> {
        let mut all =
            vec![Event::Claimed, Event::Restarted, Event::Hastened, Event::TakenBack, Event::Acknowledged];
        all.extend(verdicts().into_iter().map(|verdict| Event::Answered { verdict, roll: u32::MAX }));
        all
    }

    #[test]
    fn only_what_is_sent_is_answered_and_only_what_waits_is_sent() {
        for state in states() {
            for event in events() {
                let Some(next) = step(state, &event, NOW, &Policy::default()) else { continue };
                if matches!(event, Event::Answered { .. }) {
                    assert!(matches!(state, State::Sending { .. }), "{state:?} {event:?}");
                }
                if matches!(next, State::Sending { .. }) {
                    assert!(matches!(state, State::Queued { .. }), "{state:?} {event:?}");
                }
                if let State::Queued { due, .. } = next {
                    assert!(due >= NOW && due <= NOW + Policy::default().longest_wait_ms(), "{next:?}");
                }
            }
        }
    }

    #[test]
    fn what_may_have_arrived_is_not_taken_back_and_a_doubt_does_not_go_away() {
        for state in states() {
            let taken = step(state, &Event::TakenBack, NOW, &Policy::default());
            let certain =
                matches!(state, State::Queued { doubt: Doubt::None, .. } | State::NeedsAttention { .. });
            assert_eq!(taken.is_some(), certain, "{state:?}");
            if let State::Queued { doubt: Doubt::OutcomeUnknown, .. }
            | State::Sending { doubt: Doubt::OutcomeUnknown, .. } = state
            {
                for event in events() {
                    let next = step(state, &event, NOW, &Policy::default());
                    let forgot = matches!(
                        next,
                        Some(
                            State::Queued { doubt: Doubt::None, .. }
                                | State::Sending { doubt: Doubt::None, .. }
                        )
                    );
                    assert!(!forgot, "{state:?} {event:?}");
                }
            }
        }
        let sending = State::Sending { attempts: 1, doubt: Doubt::None };
        let restarted = step(sending, &Event::Restarted, NOW, &Policy::default()).unwrap();
        assert_eq!(step(restarted, &Event::TakenBack, NOW, &Policy::default()), None);
    }

    #[test]
    fn nothing_leads_out_of_an_end_and_trouble_ends_only_by_a_person() {
        for state in [State::Told, State::TakenBack, State::Closed, State::Acknowledged] {
            for event in events() {
                assert_eq!(step(state, &event, NOW, &Policy::default()), None, "{state:?} {event:?}");
            }
        }
        for trouble in [Trouble::DecidedOtherwise, Trouble::SaleExists, Trouble::Refused] {
            for event in events() {
                let next =
                    step(State::NeedsAttention { attempts: 2, trouble }, &event, NOW, &Policy::default());
                let by_a_person = matches!(event, Event::TakenBack | Event::Acknowledged);
                assert_eq!(next.is_some(), by_a_person, "{event:?}");
            }
        }
    }
}
