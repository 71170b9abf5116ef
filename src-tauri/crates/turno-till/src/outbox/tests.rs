use std::fmt::Write as _;

use proptest::prelude::*;
use turno_protocol::secret::Secret;

use super::*;

const NOW: Millis = 1_796_050_800_000;

const WAITS: [WaitCause; 10] = [
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
const PAUSES: [PauseCause; 2] = [PauseCause::CredentialRefused, PauseCause::WrongAddress];
const ATTENTIONS: [AttentionReason; 6] = [
    AttentionReason::ExternalTransactionConflict,
    AttentionReason::IdempotencyConflict,
    AttentionReason::ValidationFailed,
    AttentionReason::Refused,
    AttentionReason::IdentityCollision,
    AttentionReason::StoredBodyChanged,
];
const DOUBTS: [Doubt; 2] = [Doubt::None, Doubt::OutcomeUnknown];

fn question() -> Question {
    Question {
        challenge_id: "ch-1".to_owned(),
        token: Secret::new("t"),
        expires_at: "2026-12-01T15:00:00Z".to_owned(),
        candidate: serde_json::Value::Null,
        candidate_transaction_id: "ypt-0".to_owned(),
        candidates_count: 1,
        matching_signals: Vec::new(),
        previous_confirmation: None,
    }
}

fn verdicts() -> Vec<Verdict> {
    let mut all = vec![
        Verdict::Accepted(Acceptance { yupy_transaction_id: "ypt-1".to_owned(), differs: false }),
        Verdict::Review(Box::new(question())),
        Verdict::ReviewAgain,
        Verdict::Hold,
        Verdict::Collision(Collision { yupy_transaction_id: None, detail: String::new() }),
        Verdict::Wait { cause: WaitCause::ServerBusy, retry_after_ms: Some(30_000) },
        Verdict::Wait { cause: WaitCause::InProgress, retry_after_ms: Some(i64::MAX) },
    ];
    all.extend(WAITS.map(|cause| Verdict::Wait { cause, retry_after_ms: None }));
    all.extend(PAUSES.map(Verdict::Pause));
    all.extend(ATTENTIONS.map(|reason| Verdict::Attention { reason, detail: String::new() }));
    all
}

fn events() -> Vec<Event> {
    let mut all = vec![
        Event::Claimed,
        Event::BodyChanged,
        Event::Restarted,
        Event::GuardFired,
        Event::Hastened,
        Event::DecidedDifferent,
        Event::DecidedSame { duplicate_of: "ypt-0".to_owned() },
        Event::MissingAtYupy,
        Event::Corrected,
        Event::AcceptedEarlier { yupy_transaction_id: "ypt-2".to_owned() },
        Event::Withdrawn,
        Event::DiscardTakenBack,
    ];
    all.extend(verdicts().into_iter().map(|verdict| Event::Answered { verdict, roll: u32::MAX }));
    all
}

fn states() -> Vec<State> {
    let mut all = Vec::new();
    for doubt in DOUBTS {
        let reason = QueueReason::Waiting(WaitCause::TimedOut);
        all.push(State::Queued { attempts: 3, due: NOW + 9_000, doubt, reason });
        all.push(State::Sending { attempts: 3, since: NOW - 9_000, doubt });
    }
    all.extend([
        State::Accepted { yupy_transaction_id: "ypt-1".to_owned() },
        State::InReview { attempts: 3 },
        State::NeedsAttention { attempts: 3, reason: AttentionReason::Refused },
        State::OnHold { attempts: 3, due: NOW + 9_000 },
        State::Discarded { duplicate_of: "ypt-0".to_owned() },
        State::Withdrawn,
    ]);
    all
}

/// Times as seconds from now.
fn state_in_words(state: &State) -> String {
    let seconds = |at: &Millis| (at - NOW) / 1_000;
    let unconfirmed = |doubt: &Doubt| match doubt {
        Doubt::None => "",
        Doubt::OutcomeUnknown => ", unconfirmed",
    };
    match state {
        State::Queued { attempts, due, doubt, reason } => {
            format!("queued after {attempts}, due {:+}{}: {reason:?}", seconds(due), unconfirmed(doubt))
        }
        State::Sending { attempts, since, doubt } => {
            format!("sending number {attempts} since {:+}{}", seconds(since), unconfirmed(doubt))
        }
        State::Accepted { yupy_transaction_id } => format!("accepted as {yupy_transaction_id}"),
        State::InReview { attempts } => format!("in review after {attempts}"),
        State::NeedsAttention { attempts, reason } => format!("needs attention after {attempts}: {reason:?}"),
        State::OnHold { attempts, due } => format!("on hold after {attempts}, due {:+}", seconds(due)),
        State::Discarded { duplicate_of } => format!("discarded for {duplicate_of}"),
        State::Withdrawn => "withdrawn".to_owned(),
    }
}

fn event_in_words(event: &Event) -> String {
    match event {
        Event::Claimed => "claimed".to_owned(),
        Event::BodyChanged => "body changed".to_owned(),
        Event::Restarted => "restarted".to_owned(),
        Event::GuardFired => "guard fired".to_owned(),
        Event::Hastened => "hastened".to_owned(),
        Event::DecidedDifferent => "decided: different".to_owned(),
        Event::DecidedSame { .. } => "decided: same".to_owned(),
        Event::MissingAtYupy => "missing at YUPY".to_owned(),
        Event::Corrected => "corrected".to_owned(),
        Event::AcceptedEarlier { .. } => "an earlier version accepted".to_owned(),
        Event::Withdrawn => "withdrawn".to_owned(),
        Event::DiscardTakenBack => "discard taken back".to_owned(),
        Event::Answered { verdict, .. } => match verdict {
            Verdict::Accepted(_) => "accepted".to_owned(),
            Verdict::Wait { cause, retry_after_ms: None } => format!("wait {cause:?}"),
            Verdict::Wait { cause, retry_after_ms: Some(_) } => format!("wait {cause:?} and Retry-After"),
            Verdict::Pause(cause) => format!("pause {cause:?}"),
            Verdict::Review(_) => "review".to_owned(),
            Verdict::ReviewAgain => "review again".to_owned(),
            Verdict::Attention { reason, .. } => format!("attention {reason:?}"),
            Verdict::Hold => "hold".to_owned(),
            Verdict::Collision(_) => "collision".to_owned(),
        },
    }
}

fn effect_in_words(effect: &Effect) -> &'static str {
    match effect {
        Effect::UseCreateRequest => "first request",
        Effect::StoreQuestion(_) => "store question",
        Effect::RaiseCollision(_) => "raise collision",
        Effect::PauseQueue(_) => "pause queue",
    }
}

/// The longest jitter, so that the waits below are their upper bounds. `=` stands for: nothing changes.
#[test]
fn the_whole_table() {
    let mut table = String::new();
    for state in states() {
        let mut ignored = Vec::new();
        writeln!(table, "{}", state_in_words(&state)).unwrap();
        for event in events() {
            let Some(step) = step(&state, &event, NOW, &Policy::default()) else {
                ignored.push(event_in_words(&event));
                continue;
            };
            let mut effects: Vec<_> = step.effects.iter().map(effect_in_words).collect();
            effects.insert(0, "");
            let next = state_in_words(&step.state);
            writeln!(table, "    {:<41} {next}{}", event_in_words(&event), effects.join(" + ")).unwrap();
        }
        // Everything that is not listed above, so that the table has no holes.
        let answers = ignored.len() - ignored.iter().filter(|event| is_bare(event)).count();
        assert!(answers == 0 || answers == verdicts().len(), "an answer is taken in `sending` or not at all");
        ignored.retain(|event| is_bare(event));
        let any = if answers == 0 { "" } else { ", any answer" };
        writeln!(table, "    = {}{any}", ignored.join(", ")).unwrap();
    }
    insta::assert_snapshot!(table, @r"
    queued after 3, due +9: Waiting(TimedOut)
        claimed                                   sending number 4 since +0
        body changed                              needs attention after 3: StoredBodyChanged
        restarted                                 queued after 3, due +9: Waiting(TimedOut)
        hastened                                  queued after 3, due +0: Waiting(TimedOut)
        an earlier version accepted               accepted as ypt-2
        = guard fired, decided: different, decided: same, missing at YUPY, corrected, withdrawn, discard taken back, any answer
    sending number 3 since -9
        restarted                                 queued after 3, due +0, unconfirmed: InterruptedByRestart
        an earlier version accepted               accepted as ypt-2
        accepted                                  accepted as ypt-1
        review                                    in review after 3 + first request + store question
        review again                              queued after 3, due +0: ConfirmationRefused + first request
        hold                                      on hold after 3, due +900
        collision                                 needs attention after 3: IdentityCollision + raise collision
        wait ServerBusy and Retry-After           queued after 3, due +34, unconfirmed: Waiting(ServerBusy)
        wait InProgress and Retry-After           queued after 3, due +604, unconfirmed: Waiting(InProgress)
        wait NoNetwork                            queued after 3, due +4: Waiting(NoNetwork)
        wait NoNameResolution                     queued after 3, due +4: Waiting(NoNameResolution)
        wait CertificateOrClock                   queued after 3, due +4: Waiting(CertificateOrClock)
        wait Unreachable                          queued after 3, due +4: Waiting(Unreachable)
        wait Portal                               queued after 3, due +4, unconfirmed: Waiting(Portal)
        wait ConnectionLost                       queued after 3, due +4, unconfirmed: Waiting(ConnectionLost)
        wait TimedOut                             queued after 3, due +4, unconfirmed: Waiting(TimedOut)
        wait ServerBusy                           queued after 3, due +4, unconfirmed: Waiting(ServerBusy)
        wait InProgress                           queued after 3, due +4, unconfirmed: Waiting(InProgress)
        wait UnusableAnswer                       queued after 3, due +4, unconfirmed: Waiting(UnusableAnswer)
        pause CredentialRefused                   queued after 2, due +0: Paused(CredentialRefused) + pause queue
        pause WrongAddress                        queued after 2, due +0: Paused(WrongAddress) + pause queue
        attention ExternalTransactionConflict     needs attention after 3: ExternalTransactionConflict
        attention IdempotencyConflict             needs attention after 3: IdempotencyConflict
        attention ValidationFailed                needs attention after 3: ValidationFailed
        attention Refused                         needs attention after 3: Refused
        attention IdentityCollision               needs attention after 3: IdentityCollision
        attention StoredBodyChanged               needs attention after 3: StoredBodyChanged
        = claimed, body changed, guard fired, hastened, decided: different, decided: same, missing at YUPY, corrected, withdrawn, discard taken back
    queued after 3, due +9, unconfirmed: Waiting(TimedOut)
        claimed                                   sending number 4 since +0, unconfirmed
        body changed                              needs attention after 3: StoredBodyChanged
        restarted                                 queued after 3, due +9, unconfirmed: Waiting(TimedOut)
        hastened                                  queued after 3, due +0, unconfirmed: Waiting(TimedOut)
        an earlier version accepted               accepted as ypt-2
        = guard fired, decided: different, decided: same, missing at YUPY, corrected, withdrawn, discard taken back, any answer
    sending number 3 since -9, unconfirmed
        restarted                                 queued after 3, due +0, unconfirmed: InterruptedByRestart
        an earlier version accepted               accepted as ypt-2
        accepted                                  accepted as ypt-1
        review                                    in review after 3 + first request + store question
        review again                              queued after 3, due +0: ConfirmationRefused + first request
        hold                                      on hold after 3, due +900
        collision                                 needs attention after 3: IdentityCollision + raise collision
        wait ServerBusy and Retry-After           queued after 3, due +34, unconfirmed: Waiting(ServerBusy)
        wait InProgress and Retry-After           queued after 3, due +604, unconfirmed: Waiting(InProgress)
        wait NoNetwork                            queued after 3, due +4, unconfirmed: Waiting(NoNetwork)
        wait NoNameResolution                     queued after 3, due +4, unconfirmed: Waiting(NoNameResolution)
        wait CertificateOrClock                   queued after 3, due +4, unconfirmed: Waiting(CertificateOrClock)
        wait Unreachable                          queued after 3, due +4, unconfirmed: Waiting(Unreachable)
        wait Portal                               queued after 3, due +4, unconfirmed: Waiting(Portal)
        wait ConnectionLost                       queued after 3, due +4, unconfirmed: Waiting(ConnectionLost)
        wait TimedOut                             queued after 3, due +4, unconfirmed: Waiting(TimedOut)
        wait ServerBusy                           queued after 3, due +4, unconfirmed: Waiting(ServerBusy)
        wait InProgress                           queued after 3, due +4, unconfirmed: Waiting(InProgress)
        wait UnusableAnswer                       queued after 3, due +4, unconfirmed: Waiting(UnusableAnswer)
        pause CredentialRefused                   queued after 2, due +0, unconfirmed: Paused(CredentialRefused) + pause queue
        pause WrongAddress                        queued after 2, due +0, unconfirmed: Paused(WrongAddress) + pause queue
        attention ExternalTransactionConflict     needs attention after 3: ExternalTransactionConflict
        attention IdempotencyConflict             needs attention after 3: IdempotencyConflict
        attention ValidationFailed                needs attention after 3: ValidationFailed
        attention Refused                         needs attention after 3: Refused
        attention IdentityCollision               needs attention after 3: IdentityCollision
        attention StoredBodyChanged               needs attention after 3: StoredBodyChanged
        = claimed, body changed, guard fired, hastened, decided: different, decided: same, missing at YUPY, corrected, withdrawn, discard taken back
    accepted as ypt-1
        missing at YUPY                           queued after 0, due +0: MissingAtYupy
        = claimed, body changed, restarted, guard fired, hastened, decided: different, decided: same, corrected, an earlier version accepted, withdrawn, discard taken back, any answer
    in review after 3
        guard fired                               queued after 3, due +0, unconfirmed: InterruptedByRestart + first request
        decided: different                        queued after 3, due +0: Confirming
        decided: same                             discarded for ypt-0
        an earlier version accepted               accepted as ypt-2
        withdrawn                                 withdrawn
        = claimed, body changed, restarted, hastened, missing at YUPY, corrected, discard taken back, any answer
    needs attention after 3: Refused
        corrected                                 queued after 3, due +0: Corrected
        an earlier version accepted               accepted as ypt-2
        withdrawn                                 withdrawn
        = claimed, body changed, restarted, guard fired, hastened, decided: different, decided: same, missing at YUPY, discard taken back, any answer
    on hold after 3, due +9
        claimed                                   sending number 4 since +0, unconfirmed
        body changed                              needs attention after 3: StoredBodyChanged
        restarted                                 on hold after 3, due +9
        hastened                                  on hold after 3, due +0
        an earlier version accepted               accepted as ypt-2
        = guard fired, decided: different, decided: same, missing at YUPY, corrected, withdrawn, discard taken back, any answer
    discarded for ypt-0
        discard taken back                        in review after 1
        = claimed, body changed, restarted, guard fired, hastened, decided: different, decided: same, missing at YUPY, corrected, an earlier version accepted, withdrawn, any answer
    withdrawn
        an earlier version accepted               accepted as ypt-2
        = claimed, body changed, restarted, guard fired, hastened, decided: different, decided: same, missing at YUPY, corrected, withdrawn, discard taken back, any answer
    ");
}

fn is_bare(event: &str) -> bool {
    let named = ["claimed", "body changed", "restarted", "guard fired", "hastened", "missing at YUPY"];
    named.contains(&event)
        || ["decided", "corrected", "an earlier", "withdrawn", "discard"]
            .iter()
            .any(|word| event.starts_with(word))
}

fn attempts_of(state: &State) -> Option<u32> {
    match state {
        State::Queued { attempts, .. }
        | State::Sending { attempts, .. }
        | State::InReview { attempts }
        | State::NeedsAttention { attempts, .. }
        | State::OnHold { attempts, .. } => Some(*attempts),
        State::Accepted { .. } | State::Discarded { .. } | State::Withdrawn => None,
    }
}

fn due_of(state: &State) -> Option<Millis> {
    match state {
        State::Queued { due, .. } | State::OnHold { due, .. } => Some(*due),
        State::Sending { .. }
        | State::Accepted { .. }
        | State::InReview { .. }
        | State::NeedsAttention { .. }
        | State::Discarded { .. }
        | State::Withdrawn => None,
    }
}

fn is_in_doubt(state: &State) -> bool {
    match state {
        State::Queued { doubt, .. } | State::Sending { doubt, .. } => *doubt == Doubt::OutcomeUnknown,
        State::Accepted { .. }
        | State::InReview { .. }
        | State::NeedsAttention { .. }
        | State::OnHold { .. }
        | State::Discarded { .. }
        | State::Withdrawn => false,
    }
}

fn any_state() -> impl Strategy<Value = State> {
    let reasons = prop_oneof![
        Just(QueueReason::NotTriedYet),
        prop::sample::select(&WAITS[..]).prop_map(QueueReason::Waiting),
        prop::sample::select(&PAUSES[..]).prop_map(QueueReason::Paused),
        Just(QueueReason::InterruptedByRestart),
        Just(QueueReason::Confirming),
        Just(QueueReason::ConfirmationRefused),
        Just(QueueReason::MissingAtYupy),
    ];
    let doubts = prop::sample::select(&DOUBTS[..]);
    let attempts = prop_oneof![0..200_u32, Just(u32::MAX), any::<u32>()];
    (prop::sample::select(states()), attempts, any::<Millis>(), doubts, reasons).prop_map(
        |(shape, attempts, at, doubt, reason)| match shape {
            State::Queued { .. } => State::Queued { attempts, due: at, doubt, reason },
            State::Sending { .. } => State::Sending { attempts, since: at, doubt },
            State::InReview { .. } => State::InReview { attempts },
            State::NeedsAttention { reason, .. } => State::NeedsAttention { attempts, reason },
            State::OnHold { .. } => State::OnHold { attempts, due: at },
            settled @ (State::Accepted { .. } | State::Discarded { .. } | State::Withdrawn) => settled,
        },
    )
}

fn any_event() -> impl Strategy<Value = Event> {
    (prop::sample::select(events()), any::<u32>(), any::<Option<i64>>()).prop_map(|(event, roll, asked)| {
        let Event::Answered { mut verdict, .. } = event else { return event };
        if let Verdict::Wait { retry_after_ms, .. } = &mut verdict {
            *retry_after_ms = asked;
        }
        Event::Answered { verdict, roll }
    })
}

fn any_policy() -> impl Strategy<Value = Policy> {
    let ms = || 0..86_400_000_i64;
    (ms(), ms(), ms(), ms(), ms()).prop_map(|(base, cap, portal, retry_after, hold)| Policy {
        backoff_base_ms: base,
        backoff_cap_ms: cap,
        portal_cap_ms: portal,
        retry_after_cap_ms: retry_after,
        hold_ms: hold,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn every_step_keeps_the_invariants(
        state in any_state(),
        event in any_event(),
        now in -86_400_000..4_000_000_000_000_i64,
        policy in any_policy(),
    ) {
        let Some(Step { state: next, effects }) = step(&state, &event, now, &policy) else { return Ok(()) };
        let verdict = if let Event::Answered { verdict, .. } = &event { Some(verdict) } else { None };

        let late = matches!(event, Event::AcceptedEarlier { .. });
        prop_assert_eq!(
            matches!(state, State::Discarded { .. }),
            event == Event::DiscardTakenBack,
            "only a person leads out of a discard, and to the question again"
        );
        prop_assert_eq!(
            matches!(state, State::Accepted { .. }),
            event == Event::MissingAtYupy,
            "but that YUPY has lost what it had accepted"
        );
        if let State::NeedsAttention { reason, .. } = &state {
            let person = matches!(event, Event::Corrected | Event::Withdrawn) && reason.is_about_the_content();
            prop_assert!(person || late, "only a person puts right what YUPY refused, or its own late word");
        }
        prop_assert!(late || state != State::Withdrawn, "only YUPY's late word brings a withdrawn sale back");
        prop_assert_eq!(next == State::Withdrawn, event == Event::Withdrawn);
        let decided = matches!(event, Event::DecidedDifferent | Event::DecidedSame { .. });
        prop_assert_eq!(
            decided || event == Event::GuardFired,
            matches!(state, State::InReview { .. }) && !late && event != Event::Withdrawn,
            "only a person decides, only when asked"
        );
        prop_assert_eq!(
            matches!(next, State::Accepted { .. }),
            late || matches!(verdict, Some(Verdict::Accepted(_))),
            "only YUPY's word accepts"
        );
        prop_assert_eq!(matches!(next, State::Discarded { .. }), matches!(event, Event::DecidedSame { .. }));
        prop_assert_eq!(matches!(next, State::Sending { .. }), event == Event::Claimed);

        if let (Some(before), Some(after)) = (attempts_of(&state), attempts_of(&next)) {
            let expected = match (&event, verdict) {
                (Event::Claimed, _) => before.saturating_add(1),
                (_, Some(Verdict::Pause(_))) => before.saturating_sub(1),
                _ => before,
            };
            prop_assert_eq!(after, expected);
        }
        if let Some(due) = due_of(&next) {
            prop_assert!(due <= now.saturating_add(policy.longest_wait_ms()));
            prop_assert!(due >= now || event == Event::Restarted);
        }
        // Once a request may have arrived, only YUPY's own word makes it certain.
        if is_in_doubt(&state) && matches!(next, State::Queued { .. } | State::Sending { .. }) {
            prop_assert!(is_in_doubt(&next) || verdict == Some(&Verdict::ReviewAgain));
        }
        if let (State::Sending { .. }, Some(Verdict::Wait { cause, .. })) = (&state, verdict)
            && cause.may_have_arrived()
        {
            prop_assert!(is_in_doubt(&next));
        }
        let asks = effects.iter().any(|effect| matches!(effect, Effect::StoreQuestion(_)));
        let reopened = event == Event::DiscardTakenBack;
        prop_assert_eq!(asks || reopened, matches!(next, State::InReview { .. }), "a review has its question");
        if matches!(verdict, Some(Verdict::Review(_) | Verdict::ReviewAgain)) {
            prop_assert!(effects.contains(&Effect::UseCreateRequest), "a used token is never sent again");
        }
    }

    #[test]
    fn a_pause_and_the_next_claim_leave_the_number_of_attempts_as_it_was(attempts in 0..u32::MAX, roll: u32) {
        let policy = Policy::default();
        let start = State::Queued { attempts, due: 0, doubt: Doubt::None, reason: QueueReason::NotTriedYet };
        let sending = step(&start, &Event::Claimed, NOW, &policy).unwrap().state;
        let paused = Event::Answered { verdict: Verdict::Pause(PauseCause::CredentialRefused), roll };
        let queued = step(&sending, &paused, NOW, &policy).unwrap().state;
        prop_assert_eq!(attempts_of(&queued), Some(attempts));
    }

    #[test]
    fn a_wait_has_its_bounds_whatever_the_roll(
        attempts: u32,
        cause in prop::sample::select(&WAITS[..]),
        asked: Option<i64>,
        roll: u32,
        policy in any_policy(),
    ) {
        let wait = wait_ms(attempts, cause, asked, roll, &policy);
        let floor = asked.unwrap_or(0).clamp(0, policy.retry_after_cap_ms);
        let cap = if cause == WaitCause::Portal { policy.portal_cap_ms } else { policy.backoff_cap_ms };
        prop_assert!(wait >= floor, "Retry-After is a floor");
        prop_assert!(wait <= floor + cap, "the jitter on top has a cap");
        prop_assert!(wait <= policy.longest_wait_ms());
        prop_assert_eq!(wait_ms(attempts, cause, asked, 0, &policy), floor, "full jitter begins at nothing");
        let longest = wait_ms(attempts, cause, asked, u32::MAX, &policy);
        prop_assert!(wait <= longest);
        let later = wait_ms(attempts.saturating_add(1), cause, asked, u32::MAX, &policy);
        prop_assert!(longest <= later, "the bound grows with the attempts");
    }
}

#[test]
fn the_bound_doubles_from_a_second_to_a_minute_and_behind_a_portal_to_five() {
    let bounds = |cause| {
        [0, 1, 2, 3, 6, 7, 8, 9, 10, 100, u32::MAX]
            .map(|attempts| wait_ms(attempts, cause, None, u32::MAX, &Policy::default()) / 1_000)
    };
    assert_eq!(bounds(WaitCause::TimedOut), [1, 1, 2, 4, 32, 60, 60, 60, 60, 60, 60]);
    assert_eq!(bounds(WaitCause::Portal), [1, 1, 2, 4, 32, 64, 128, 256, 300, 300, 300]);
}
