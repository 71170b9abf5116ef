//! The way of a card payment to YUPY, as a pure function beside [`crate::voiding`].
//!
//! A payment is for a sale that YUPY has accepted, and is asked for under one key with one body until YUPY's word settles
//! it. Invariant: what YUPY may have been asked for is never given up and never made anew; a charge that nobody can have
//! heard of is not made behind the back of a customer who has gone.

use crate::answer::{PauseCause, WaitCause};
use crate::clock::Millis;
use crate::outbox::{Policy, wait_ms};

/// YUPY may lose a sale once between its acceptance and its payment; more often it is not to be believed.
const LOST_LIMIT: u32 = 1;
/// So long somebody with a card in the hand is still there. Later the first charge is a person's to ask for.
const PATIENCE_MS: Millis = 5 * 60 * 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// YUPY was not asked while the customer was there.
    TooLate,
    /// YUPY does not take a payment for the transaction as it stands.
    InvalidState,
    /// YUPY says again and again that it does not have the sale that it accepts.
    NotFound,
    /// The acquirer has the payment with another amount: people must look.
    ReconciliationRequired,
    Refused,
}

/// What an answer to a payment means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Approved {
        acquirer_payment_id: String,
    },
    Declined,
    Wait {
        cause: WaitCause,
        retry_after_ms: Option<i64>,
    },
    Pause(PauseCause),
    /// YUPY does not have the sale.
    NotFound,
    Refused {
        trouble: Trouble,
        detail: String,
    },
}

/// How often it was tried, and whether YUPY may have been asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    pub attempts: u32,
    pub outcome_unknown: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Behind its sale, which YUPY does not have any more.
    Waiting {
        tried: Tried,
    },
    Queued {
        tried: Tried,
        due: Millis,
        cause: Option<WaitCause>,
    },
    /// `tried` as it was before this attempt's answer.
    Sending {
        tried: Tried,
    },
    Approved,
    Declined,
    /// The sale was taken back before YUPY was asked.
    Withdrawn,
    NeedsAttention {
        tried: Tried,
        trouble: Trouble,
    },
}

impl State {
    /// Whether the card may have been charged, or may be, without anybody knowing yet.
    #[must_use]
    pub fn is_unsettled(self) -> bool {
        match self {
            State::Waiting { tried } | State::Queued { tried, .. } => tried.outcome_unknown,
            State::Sending { .. } => true,
            State::NeedsAttention { tried, trouble } => {
                tried.outcome_unknown && trouble == Trouble::ReconciliationRequired
            }
            State::Approved | State::Declined | State::Withdrawn => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    SaleAccepted,
    /// YUPY had accepted the sale and does not have it any more; it is sent again.
    SaleLost,
    Claimed {
        /// When somebody last stood there with a card.
        wanted_at: Millis,
    },
    Answered {
        verdict: Verdict,
        roll: u32,
        /// How often YUPY did not have the sale before this answer.
        lost_count: u32,
    },
    Restarted,
    Hastened,
    /// Somebody at the till wants it asked for, again or after all.
    AskedFor,
    /// The sale is voided.
    Withdrawn,
}

/// The next state, or `None` where the event does not apply and nothing may change.
#[must_use]
pub fn step(state: State, event: &Event, now: Millis, policy: &Policy) -> Option<State> {
    let queued = |tried| Some(State::Queued { tried, due: now, cause: None });
    match (state, event) {
        (State::Waiting { tried }, Event::SaleAccepted) => queued(tried),
        (
            State::Queued { tried, .. } | State::Sending { tried } | State::NeedsAttention { tried, .. },
            Event::SaleLost,
        ) => Some(State::Waiting { tried }),
        // YUPY gets the sale again as it was sold, and must hear again that it was paid for.
        (State::Approved, Event::SaleLost) => {
            Some(State::Waiting { tried: Tried { attempts: 0, outcome_unknown: true } })
        }
        (State::Queued { tried, .. }, Event::Claimed { wanted_at }) => {
            let is_late = now.saturating_sub(*wanted_at) > PATIENCE_MS && !tried.outcome_unknown;
            Some(if is_late {
                State::NeedsAttention { tried, trouble: Trouble::TooLate }
            } else {
                State::Sending { tried: Tried { attempts: tried.attempts.saturating_add(1), ..tried } }
            })
        }
        (State::Queued { tried, cause, .. }, Event::Hastened) => {
            Some(State::Queued { tried, due: now, cause })
        }
        (State::Queued { tried, due, cause }, Event::Restarted) => {
            Some(State::Queued { tried, due: due.min(now.saturating_add(policy.longest_wait_ms())), cause })
        }
        (State::Sending { tried }, Event::Restarted) => queued(Tried { outcome_unknown: true, ..tried }),
        (State::NeedsAttention { tried, .. } | State::Queued { tried, .. }, Event::AskedFor) => queued(tried),
        (
            State::Waiting { tried } | State::Queued { tried, .. } | State::NeedsAttention { tried, .. },
            Event::Withdrawn,
        ) if !tried.outcome_unknown => Some(State::Withdrawn),
        (State::Sending { tried }, Event::Answered { verdict, roll, lost_count }) => {
            Some(answered(tried, verdict, *roll, *lost_count, now, policy))
        }
        (
            State::Waiting { .. }
            | State::Queued { .. }
            | State::Sending { .. }
            | State::Approved
            | State::Declined
            | State::Withdrawn
            | State::NeedsAttention { .. },
            Event::SaleAccepted
            | Event::SaleLost
            | Event::Claimed { .. }
            | Event::Answered { .. }
            | Event::Restarted
            | Event::Hastened
            | Event::AskedFor
            | Event::Withdrawn,
        ) => None,
    }
}

fn answered(
    tried: Tried,
    verdict: &Verdict,
    roll: u32,
    lost_count: u32,
    now: Millis,
    policy: &Policy,
) -> State {
    let arrived = Tried { outcome_unknown: true, ..tried };
    match verdict {
        Verdict::Approved { .. } => State::Approved,
        Verdict::Declined => State::Declined,
        Verdict::Wait { cause, retry_after_ms } => State::Queued {
            tried: if cause.may_have_arrived() { arrived } else { tried },
            due: now.saturating_add(wait_ms(tried.attempts, *cause, *retry_after_ms, roll, policy)),
            cause: Some(*cause),
        },
        // Nobody's attempts are counted: the next claim gives the same number again.
        Verdict::Pause(_) => State::Queued {
            tried: Tried { attempts: tried.attempts.saturating_sub(1), ..tried },
            due: now,
            cause: None,
        },
        Verdict::NotFound if lost_count >= LOST_LIMIT => {
            State::NeedsAttention { tried, trouble: Trouble::NotFound }
        }
        Verdict::NotFound => State::Waiting { tried },
        Verdict::Refused { trouble: Trouble::ReconciliationRequired, .. } => {
            State::NeedsAttention { tried: arrived, trouble: Trouble::ReconciliationRequired }
        }
        // YUPY reads a request before it charges, so what it refuses was not charged by this attempt.
        Verdict::Refused { trouble, .. } => State::NeedsAttention { tried, trouble: *trouble },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_796_050_800_000;
    const NEVER: Tried = Tried { attempts: 2, outcome_unknown: false };
    const MAYBE: Tried = Tried { attempts: 2, outcome_unknown: true };

    fn states() -> Vec<State> {
        let mut all = vec![State::Approved, State::Declined, State::Withdrawn];
        for tried in [NEVER, MAYBE] {
            all.extend([
                State::Waiting { tried },
                State::Queued { tried, due: NOW + 9_000, cause: Some(WaitCause::TimedOut) },
                State::Sending { tried },
            ]);
            for trouble in [
                Trouble::TooLate,
                Trouble::InvalidState,
                Trouble::NotFound,
                Trouble::ReconciliationRequired,
                Trouble::Refused,
            ] {
                all.push(State::NeedsAttention { tried, trouble });
            }
        }
        all
    }

    fn verdicts() -> Vec<Verdict> {
        let refused = |trouble| Verdict::Refused { trouble, detail: String::new() };
        vec![
            Verdict::Approved { acquirer_payment_id: "acq".to_owned() },
            Verdict::Declined,
            Verdict::Wait { cause: WaitCause::TimedOut, retry_after_ms: Some(5_000) },
            Verdict::Wait { cause: WaitCause::NoNetwork, retry_after_ms: None },
            Verdict::Pause(PauseCause::CredentialRefused),
            Verdict::NotFound,
            refused(Trouble::InvalidState),
            refused(Trouble::ReconciliationRequired),
            refused(Trouble::Refused),
        ]
    }

    fn events() -> Vec<Event> {
        let mut all = vec![
            Event::SaleAccepted,
            Event::SaleLost,
            Event::Claimed { wanted_at: NOW },
            Event::Claimed { wanted_at: NOW - PATIENCE_MS - 1 },
            Event::Restarted,
            Event::Hastened,
            Event::AskedFor,
            Event::Withdrawn,
        ];
        for lost_count in [0, 1] {
            let answered = |verdict| Event::Answered { verdict, roll: 0, lost_count };
            all.extend(verdicts().into_iter().map(answered));
        }
        all
    }

    fn tried(state: State) -> Option<Tried> {
        match state {
            State::Waiting { tried }
            | State::Queued { tried, .. }
            | State::Sending { tried }
            | State::NeedsAttention { tried, .. } => Some(tried),
            State::Approved | State::Declined | State::Withdrawn => None,
        }
    }

    #[test]
    fn only_yupys_word_settles_a_payment_and_only_what_is_queued_is_sent() {
        for state in states() {
            for event in events() {
                let Some(next) = step(state, &event, NOW, &Policy::default()) else { continue };
                let approved = matches!(event, Event::Answered { verdict: Verdict::Approved { .. }, .. });
                let declined = matches!(event, Event::Answered { verdict: Verdict::Declined, .. });
                assert_eq!(next == State::Approved, approved, "{state:?} {event:?}");
                assert_eq!(next == State::Declined, declined, "{state:?} {event:?}");
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
    fn what_yupy_may_have_been_asked_for_is_never_given_up_nor_forgotten() {
        for state in states() {
            let outcome_unknown = tried(state).is_some_and(|tried| tried.outcome_unknown);
            for event in events() {
                let Some(next) = step(state, &event, NOW, &Policy::default()) else { continue };
                assert!(!(outcome_unknown && next == State::Withdrawn), "{state:?} {event:?}");
                if let (true, Some(tried)) = (outcome_unknown, tried(next)) {
                    assert!(tried.outcome_unknown, "{state:?} {event:?}");
                }
            }
        }
        let cut_off = step(State::Sending { tried: NEVER }, &Event::Restarted, NOW, &Policy::default());
        assert!(tried(cut_off.unwrap()).unwrap().outcome_unknown, "the program stopped on the way");
    }

    #[test]
    fn nobodys_card_is_charged_first_when_the_customer_has_gone() {
        let queued = |tried| State::Queued { tried, due: NOW, cause: None };
        let claimed = |tried, waited| {
            step(queued(tried), &Event::Claimed { wanted_at: NOW - waited }, NOW, &Policy::default()).unwrap()
        };
        assert!(matches!(claimed(NEVER, PATIENCE_MS), State::Sending { .. }));
        let late = claimed(NEVER, PATIENCE_MS + 1);
        assert_eq!(late, State::NeedsAttention { tried: NEVER, trouble: Trouble::TooLate });
        // Whether that one was charged must be found out, however late it is.
        assert!(matches!(claimed(MAYBE, PATIENCE_MS + 1), State::Sending { .. }));
        let after_all = step(late, &Event::AskedFor, NOW, &Policy::default());
        assert_eq!(after_all, Some(queued(NEVER)));
    }

    #[test]
    fn an_attempt_that_never_left_leaves_no_doubt() {
        let answer = |cause| {
            let verdict = Verdict::Wait { cause, retry_after_ms: None };
            let event = Event::Answered { verdict, roll: 0, lost_count: 0 };
            step(State::Sending { tried: NEVER }, &event, NOW, &Policy::default()).unwrap()
        };
        assert!(!answer(WaitCause::NoNetwork).is_unsettled());
        assert!(answer(WaitCause::TimedOut).is_unsettled());
        assert!(answer(WaitCause::InProgress).is_unsettled());
    }
}
