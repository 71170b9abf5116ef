use proptest::prelude::*;
use turno_protocol::secret::Secret;

use super::*;
use crate::answer::{Acceptance, AttentionReason, Collision, Question};

const NOW: Millis = 1_796_050_800_000;

fn wait(cause: WaitCause) -> Verdict {
    Verdict::Wait { cause, retry_after_ms: None }
}

fn asked_to_wait(cause: WaitCause, ms: i64) -> Verdict {
    Verdict::Wait { cause, retry_after_ms: Some(ms) }
}

/// Whatever shows that YUPY itself was heard.
fn words_of_yupy() -> Vec<Verdict> {
    let question = Question {
        challenge_id: "ch".to_owned(),
        token: Secret::new("t"),
        expires_at: "2026-12-01T15:00:00Z".to_owned(),
        candidate: serde_json::Value::Null,
        candidate_transaction_id: "ypt-0".to_owned(),
        candidates_count: 1,
        matching_signals: Vec::new(),
        previous_confirmation: None,
    };
    vec![
        Verdict::Accepted(Acceptance { yupy_transaction_id: "ypt-1".to_owned(), differs: false }),
        Verdict::Review(Box::new(question)),
        Verdict::ReviewAgain,
        Verdict::Attention { reason: AttentionReason::Refused, detail: String::new() },
        Verdict::Hold,
        Verdict::Collision(Collision { yupy_transaction_id: None, detail: String::new() }),
        wait(WaitCause::InProgress),
        asked_to_wait(WaitCause::InProgress, 5_000),
    ]
}

fn dead() -> Line {
    let mut line = Line::default();
    line.heard(&wait(WaitCause::NoNetwork), NOW, 0);
    line
}

#[test]
fn a_new_line_is_free_and_unknown() {
    let line = Line::default();
    assert_eq!((line.permit(NOW), line.state), (Permit::Free(PARALLEL), ConnectionState::Unknown));
}

#[test]
fn what_every_sale_would_meet_stops_the_line_at_once_and_is_named() {
    for (cause, state) in [
        (WaitCause::NoNetwork, ConnectionState::NoNetwork),
        (WaitCause::NoNameResolution, ConnectionState::NoNameResolution),
        (WaitCause::CertificateOrClock, ConnectionState::CertificateOrClock),
        (WaitCause::Unreachable, ConnectionState::Unreachable),
        (WaitCause::Portal, ConnectionState::Portal),
    ] {
        let mut line = Line::default();
        assert_eq!(line.heard(&wait(cause), NOW, u32::MAX), Change { recovered: false });
        assert_eq!(line.state, state);
        assert_eq!(line.since, Some(NOW));
        assert!(matches!(line.permit(NOW), Permit::Until(_)), "{cause:?}");
    }
}

#[test]
fn two_unclear_failures_are_a_sales_trouble_and_three_in_a_row_are_the_lines() {
    for cause in
        [WaitCause::ConnectionLost, WaitCause::TimedOut, WaitCause::ServerBusy, WaitCause::UnusableAnswer]
    {
        let mut line = Line::default();
        line.heard(&wait(cause), NOW, 0);
        assert_eq!(line.state, ConnectionState::Unreachable, "nothing better is known yet");
        line.heard(&wait(cause), NOW, 0);
        assert_eq!(line.permit(NOW), Permit::Free(PARALLEL), "{cause:?}");
        line.heard(&wait(cause), NOW, 0);
        assert!(matches!(line.permit(NOW), Permit::Until(_)), "{cause:?}");
    }
}

#[test]
fn a_word_from_yupy_between_them_makes_unclear_failures_count_from_the_beginning() {
    let mut line = Line::default();
    for word in words_of_yupy() {
        line.heard(&wait(WaitCause::TimedOut), NOW, 0);
        line.heard(&wait(WaitCause::TimedOut), NOW, 0);
        assert_eq!(line.heard(&word, NOW, 0), Change { recovered: false });
        assert_eq!((line.permit(NOW), line.state), (Permit::Free(PARALLEL), ConnectionState::Online));
    }
}

#[test]
fn every_word_from_yupy_opens_a_dead_line_and_hastens_what_waits_once() {
    for word in words_of_yupy() {
        let mut line = dead();
        assert_eq!(line.heard(&word, NOW + 1, 0), Change { recovered: true }, "{word:?}");
        assert_eq!(
            (line.permit(NOW + 1), line.state, line.next_probe()),
            (Permit::Free(1), ConnectionState::Online, None)
        );
        assert_eq!(line.heard(&word, NOW + 2, 0), Change { recovered: false });
        assert_eq!(line.since, Some(NOW + 1), "since it came back, not since the last word");
    }
}

#[test]
fn an_unclear_failure_does_not_open_a_dead_line() {
    let mut line = dead();
    let Permit::Until(at) = line.permit(NOW) else { panic!("free") };
    line.heard(&wait(WaitCause::TimedOut), at, 0);
    assert!(matches!(line.permit(at), Permit::Until(_)));
}

#[test]
fn after_a_pause_one_probe_may_leave_and_no_more_before_it_is_heard() {
    let mut line = dead();
    let Permit::Until(at) = line.permit(NOW) else { panic!("free") };
    assert_eq!(line.permit(at - 1), Permit::Until(at));
    assert_eq!(line.permit(at), Permit::Probe);
    line.heard(&wait(WaitCause::NoNetwork), at, 0);
    assert!(matches!(line.permit(at), Permit::Until(_)));
}

#[test]
fn retry_after_is_a_floor_for_the_whole_line_up_to_its_cap() {
    for (asked, least) in [
        (7_000, 7_000),
        (0, 0),
        (-5, 0),
        (RETRY_AFTER_CAP_MS, RETRY_AFTER_CAP_MS),
        (i64::MAX, RETRY_AFTER_CAP_MS),
    ] {
        for roll in [0, 1, u32::MAX / 2, u32::MAX] {
            let mut line = Line::default();
            // Said with the first 429 or 503 already, which alone would not stop the line.
            line.heard(&asked_to_wait(WaitCause::ServerBusy, asked), NOW, roll);
            let Permit::Until(at) = line.permit(NOW) else { panic!("free") };
            assert!((least..=least + PROBE_CAP_MS).contains(&(at - NOW)), "{asked}: {}", at - NOW);
        }
    }
}

#[test]
fn a_person_may_always_try_now() {
    for mut line in [Line::default(), dead(), {
        let mut paused = Line::default();
        paused.heard(&Verdict::Pause(PauseCause::CredentialRefused), NOW, 0);
        paused
    }] {
        line.allow_probe(NOW);
        assert!(!matches!(line.permit(NOW), Permit::Until(_)));
    }
}

#[test]
fn trouble_of_credential_or_address_is_named_and_asked_about_once_a_minute() {
    for (cause, state) in [
        (PauseCause::CredentialRefused, ConnectionState::CredentialRefused),
        (PauseCause::WrongAddress, ConnectionState::WrongAddress),
    ] {
        let mut line = Line::default();
        for _ in 0..20 {
            assert_eq!(line.heard(&Verdict::Pause(cause), NOW, u32::MAX), Change { recovered: false });
            assert_eq!((line.state, line.permit(NOW)), (state, Permit::Until(NOW + PAUSE_PROBE_MS)));
        }
        line.heard(&words_of_yupy()[0], NOW, 0);
        assert_eq!(line.permit(NOW), Permit::Free(1), "somebody mended it");
    }
}

#[test]
fn a_line_that_opens_again_begins_with_one_at_a_time_and_widens_with_its_answers() {
    let mut line = dead();
    let mut widths = Vec::new();
    for _ in 0..WIDENED_AFTER * 4 {
        line.heard(&words_of_yupy()[0], NOW, 0);
        let Permit::Free(width) = line.permit(NOW) else { panic!("it is open") };
        widths.push(width);
    }
    assert!(widths.is_sorted(), "{widths:?}");
    for width in 1..PARALLEL {
        let so_wide = widths.iter().filter(|seen| **seen == width).count();
        assert!(so_wide >= usize::try_from(WIDENED_AFTER).unwrap() - 1, "{width}: {so_wide}");
    }
    assert_eq!(widths.last(), Some(&PARALLEL), "and no wider");
    line.heard(&asked_to_wait(WaitCause::ServerBusy, 1_000), NOW, 0);
    line.heard(&words_of_yupy()[0], NOW + 10_000, 0);
    assert_eq!(line.permit(NOW + 10_000), Permit::Free(1), "it bore less than that");
}

#[test]
fn a_clock_that_is_set_back_by_whatever_does_not_silence_the_till() {
    for back in [1, 5_000, 60_000, 3_600_000, 3 * 86_400_000, NOW] {
        let line = dead();
        assert_eq!(line.permit(NOW - back), Permit::Probe, "{back} ms");
    }
}

proptest! {
    #[test]
    fn a_dead_line_is_probed_within_ten_seconds_whatever_the_rolls_and_never_at_once(
        rolls in prop::collection::vec(any::<u32>(), 1..200),
    ) {
        let mut line = Line::default();
        let mut now = NOW;
        for roll in rolls {
            line.heard(&wait(WaitCause::NoNetwork), now, roll);
            let Permit::Until(at) = line.permit(now) else { panic!("free at once") };
            prop_assert!((PROBE_BASE_MS / 2..=10_000).contains(&(at - now)), "{}", at - now);
            now = at;
            prop_assert_eq!(line.permit(now), Permit::Probe);
        }
    }

    #[test]
    fn a_portal_is_left_in_peace_for_longer(rolls in prop::collection::vec(any::<u32>(), 1..200)) {
        let mut line = Line::default();
        let mut longest = 0;
        for roll in rolls {
            line.heard(&wait(WaitCause::Portal), NOW, roll);
            longest = line.next_probe().unwrap() - NOW;
            prop_assert!((PROBE_BASE_MS / 2..=PORTAL_PROBE_CAP_MS).contains(&longest));
        }
        prop_assert!(line.failures < 6 || longest >= PORTAL_PROBE_CAP_MS / 2);
    }
}

#[test]
fn patience_that_yupy_asked_for_outlives_its_answers_to_requests_that_were_on_their_way() {
    for word in words_of_yupy() {
        let mut line = Line::default();
        line.heard(&asked_to_wait(WaitCause::ServerBusy, 5_000), NOW, 0);
        let Permit::Until(until) = line.permit(NOW) else { panic!("it waits") };
        assert_eq!(line.heard(&word, NOW + 10, 0), Change { recovered: false });
        assert_eq!((line.state, line.permit(NOW + 20)), (ConnectionState::Online, Permit::Until(until)));
        assert_eq!(line.permit(until), Permit::Probe, "{word:?}");
        assert_eq!(line.heard(&word, until, 0), Change { recovered: true });
        assert_eq!(line.permit(until), Permit::Free(1));
        // A clock that is set back ends it as well, and so does a person.
        line.heard(&asked_to_wait(WaitCause::ServerBusy, 5_000), NOW, 0);
        assert_eq!(line.clone().heard(&word, NOW - 1, 0), Change { recovered: true });
        line.allow_probe(NOW + 10);
        assert_eq!(line.heard(&word, NOW + 10, 0), Change { recovered: true });
    }
}
