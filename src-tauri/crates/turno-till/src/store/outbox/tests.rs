use super::*;
use crate::store::fixture::shop;

fn queued(due: Millis, reason: QueueReason) -> State {
    State::Queued { attempts: 0, due, doubt: Doubt::None, reason }
}

fn states() -> Vec<State> {
    let mut all = vec![
        State::Sending { attempts: 1, since: 7, doubt: Doubt::None },
        State::Sending { attempts: u32::MAX, since: 7, doubt: Doubt::OutcomeUnknown },
        State::Accepted { yupy_transaction_id: "ypt-1".to_owned() },
        State::InReview { attempts: 2 },
        State::OnHold { attempts: 3, due: i64::MAX },
        State::Discarded { duplicate_of: "ypt-0".to_owned() },
        State::Withdrawn,
    ];
    let waits = [
        WaitCause::NoNetwork,
        WaitCause::NoNameResolution,
        WaitCause::CertificateOrClock,
        WaitCause::Unreachable,
        WaitCause::Portal,
        WaitCause::ConnectionLost,
        WaitCause::TimedOut,
        WaitCause::ServerBusy,
        WaitCause::InProgress,
        WaitCause::UnusableAnswer,
    ];
    let reasons = [
        QueueReason::NotTriedYet,
        QueueReason::Paused(PauseCause::CredentialRefused),
        QueueReason::Paused(PauseCause::WrongAddress),
        QueueReason::InterruptedByRestart,
        QueueReason::Confirming,
        QueueReason::ConfirmationRefused,
        QueueReason::MissingAtYupy,
    ];
    for reason in waits.map(QueueReason::Waiting).into_iter().chain(reasons) {
        all.push(State::Queued { attempts: 4, due: -1, doubt: Doubt::OutcomeUnknown, reason });
    }
    for reason in [
        AttentionReason::ExternalTransactionConflict,
        AttentionReason::IdempotencyConflict,
        AttentionReason::ValidationFailed,
        AttentionReason::Refused,
        AttentionReason::IdentityCollision,
        AttentionReason::StoredBodyChanged,
    ] {
        all.push(State::NeedsAttention { attempts: 5, reason });
    }
    all
}

#[test]
fn every_state_is_read_as_it_was_written_and_its_neighbours_stay_as_they_are() {
    for state in states() {
        let other = queued(3, QueueReason::NotTriedYet);
        let conn = shop(&[other.clone(), state.clone(), other.clone()]);
        let read = [1, 2, 3].map(|sequence| get(&conn, sequence).unwrap().unwrap().state);
        assert_eq!(read, [other.clone(), state, other]);
    }
}

#[test]
fn what_is_due_comes_longest_due_first_and_what_does_not_wait_never_comes() {
    for settled in
        states().into_iter().filter(|state| !matches!(state, State::Queued { .. } | State::OnHold { .. }))
    {
        let hold = State::OnHold { attempts: 1, due: 10 };
        let conn = shop(&[queued(20, QueueReason::NotTriedYet), settled, hold]);
        let due = |until, limit| due(&conn, until, limit).unwrap();
        assert_eq!((due(9, 9), due(10, 9), due(20, 9), due(20, 1)), (vec![], vec![3], vec![3, 1], vec![3]));
        assert_eq!(next_due(&conn).unwrap(), Some(10));
        assert_eq!(waiting_since_later(&conn, 10).unwrap(), [1]);
    }
}

#[test]
fn what_a_dead_program_left_is_what_was_sending_or_waits_beyond_reason() {
    let sending = State::Sending { attempts: 1, since: 7, doubt: Doubt::None };
    let conn = shop(&[sending, queued(50, QueueReason::NotTriedYet), queued(51, QueueReason::NotTriedYet)]);
    assert_eq!(interrupted(&conn, 50).unwrap(), [1, 3]);
}

#[test]
fn pending_is_whatever_is_not_settled() {
    let accepted = State::Accepted { yupy_transaction_id: "ypt-1".to_owned() };
    let discarded = State::Discarded { duplicate_of: "ypt-1".to_owned() };
    for state in states() {
        let settled = matches!(state, State::Accepted { .. } | State::Discarded { .. } | State::Withdrawn);
        let conn = shop(&[accepted.clone(), state.clone(), discarded.clone()]);
        assert_eq!(counts(&conn).unwrap().pending, u32::from(!settled), "{state:?}");
    }
}
