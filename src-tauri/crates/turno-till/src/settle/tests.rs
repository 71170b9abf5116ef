use std::sync::Arc;

use turno_domain::ids::{Company, Environment, Integration};
use turno_protocol::secret::Secret;

use super::*;
use crate::answer::{Acceptance, Collision, Verdict, WaitCause};
use crate::outbox::{Doubt, QueueReason};
use crate::random::OsEntropy;
use crate::store::fixture::shop;
use crate::store::voids;

const NOW: Millis = 1_796_050_800_000;

fn context() -> Context {
    let scope = Scope {
        company: Company::parse("A").unwrap(),
        integration: Integration::parse("pos").unwrap(),
        environment: Environment::parse("production").unwrap(),
    };
    Context { scope, policy: Policy::default(), entropy: Arc::new(OsEntropy) }
}

fn question(challenge: &str, token: &str, candidate: &str) -> Question {
    Question {
        challenge_id: challenge.to_owned(),
        token: Secret::new(token),
        expires_at: "2026-12-01T15:00:00Z".to_owned(),
        candidate: json!({ "yupy_transaction_id": candidate }),
        candidate_transaction_id: candidate.to_owned(),
        candidates_count: 1,
        matching_signals: vec!["amount".to_owned()],
        previous_confirmation: None,
    }
}

fn sending() -> State {
    State::Sending { attempts: 2, since: 7, doubt: Doubt::None }
}

fn verdicts() -> Vec<Verdict> {
    vec![
        Verdict::Accepted(Acceptance { yupy_transaction_id: "ypt-1".to_owned(), differs: false }),
        Verdict::Wait { cause: WaitCause::TimedOut, retry_after_ms: Some(5_000) },
        Verdict::Pause(PauseCause::CredentialRefused),
        Verdict::Review(Box::new(question("ch-1", "t-1", "ypt-0"))),
        Verdict::ReviewAgain,
        Verdict::Attention { reason: AttentionReason::Refused, detail: "x".to_owned() },
        Verdict::Hold,
        Verdict::Collision(Collision { yupy_transaction_id: None, detail: "x".to_owned() }),
    ]
}

fn answered(conn: &Connection, sequence: i64, verdict: Verdict) -> State {
    let event = Event::Answered { verdict, roll: 0 };
    apply(conn, &context(), sequence, &event, None, NOW).unwrap().unwrap().state
}

fn claimed(conn: &Connection, sequence: i64) {
    apply(conn, &context(), sequence, &Event::Claimed, None, NOW).unwrap().unwrap();
}

fn confirmed(conn: &Connection, sequence: i64, question: &Question, reason: &str) -> Option<State> {
    let decision = questions::Verdict {
        decision: crate::view::Decision::DifferentSale,
        decided_by: Decider::Here("m".to_owned()),
        decided_at: NOW,
        reason: reason.to_owned(),
        money: None,
    };
    questions::decide(conn, &question.challenge_id, &decision).unwrap();
    confirm(conn, &context(), sequence, question, &Decider::Here("m".to_owned()), reason, NOW).unwrap()
}

/// Everything that could be sent: which sale, what kind, which key, which bytes.
fn frozen(conn: &Connection) -> Vec<(i64, String, String, Vec<u8>)> {
    conn.prepare("SELECT sequence, operation, idempotency_key, body FROM requests ORDER BY request_id")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .unwrap()
        .collect::<Result<_>>()
        .unwrap()
}

fn events(conn: &Connection) -> Vec<String> {
    assert_eq!(audit::first_broken(conn).unwrap(), None);
    conn.prepare("SELECT event FROM audit ORDER BY audit_id")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_>>()
        .unwrap()
}

fn entry(conn: &Connection, sequence: i64) -> Entry {
    entries::get(conn, sequence).unwrap().unwrap()
}

fn confirming() -> Option<State> {
    let reason = QueueReason::Confirming;
    Some(State::Queued { attempts: 2, due: NOW, doubt: Doubt::None, reason })
}

#[test]
fn no_answer_ever_makes_a_new_key_or_touches_another_sale() {
    for verdict in verdicts() {
        let conn = shop(&[sending(), sending(), sending()]);
        let (before, neighbours) = (frozen(&conn), [entry(&conn, 1), entry(&conn, 3)]);
        answered(&conn, 2, verdict.clone());
        assert_eq!(frozen(&conn), before, "{verdict:?}");
        assert_eq!([entry(&conn, 1), entry(&conn, 3)], neighbours, "{verdict:?}");
        assert_eq!(entry(&conn, 2).request_id, 2, "{verdict:?}");
    }
}

#[test]
fn an_answer_that_comes_twice_or_too_late_changes_nothing() {
    for first in verdicts() {
        for second in verdicts() {
            let conn = shop(&[sending()]);
            answered(&conn, 1, first.clone());
            let (state, told) = (entry(&conn, 1), events(&conn));
            let event = Event::Answered { verdict: second, roll: 0 };
            assert_eq!(apply(&conn, &context(), 1, &event, None, NOW).unwrap(), None);
            assert_eq!((entry(&conn, 1), events(&conn)), (state, told));
        }
    }
}

#[test]
fn what_somebody_may_have_to_prove_is_in_the_audit_with_the_step() {
    let told = |verdict| {
        let conn = shop(&[sending(), sending()]);
        answered(&conn, 1, verdict);
        events(&conn)
    };
    let all: Vec<_> = verdicts().into_iter().map(told).collect();
    let none: &[&str] = &[];
    assert_eq!(
        all,
        [&["sale_accepted"][..], none, none, &["question_asked"], none, none, none, &["identity_collision"]]
    );
}

#[test]
fn a_confirmation_is_frozen_once_and_its_refusal_goes_back_to_the_first_request() {
    let conn = shop(&[sending(), sending()]);
    let asked = question("ch-1", "t-1", "ypt-0");
    answered(&conn, 2, Verdict::Review(Box::new(asked.clone())));
    assert_eq!(confirmed(&conn, 2, &asked, "dos pasajeros"), confirming());
    assert_eq!(
        confirm(&conn, &context(), 2, &asked, &Decider::Here("m".to_owned()), "again", NOW).unwrap(),
        None,
        "decided already"
    );
    let all = frozen(&conn);
    assert_eq!(all.len(), 3);
    assert_eq!((all[2].0, all[2].1.as_str()), (2, "confirm"));
    assert_ne!(all[2].2, all[1].2, "other content, other key");
    assert_eq!(entry(&conn, 2).request_id, 3);
    claimed(&conn, 2);
    answered(&conn, 2, Verdict::ReviewAgain);
    assert_eq!((entry(&conn, 2).request_id, entry(&conn, 1).request_id), (2, 1));
}

#[test]
fn a_question_that_comes_back_with_its_token_is_confirmed_again_with_the_same_bytes() {
    let conn = shop(&[sending()]);
    let asked = question("ch-1", "t-1", "ypt-0");
    answered(&conn, 1, Verdict::Review(Box::new(asked.clone())));
    confirmed(&conn, 1, &asked, "dos pasajeros");
    let first = frozen(&conn);
    claimed(&conn, 1);
    answered(&conn, 1, Verdict::ReviewAgain);
    claimed(&conn, 1);
    answered(&conn, 1, Verdict::Review(Box::new(asked.clone())));
    assert_eq!(questions::open(&conn).unwrap().len(), 1, "a manager is asked again");
    assert!(confirmed(&conn, 1, &asked, "en otras palabras").is_some());
    assert_eq!(frozen(&conn), first, "a key never carries two bodies");
    assert_eq!(entry(&conn, 1).request_id, 2);
}

#[test]
fn nothing_is_confirmed_over_a_stored_body_that_was_changed() {
    let conn = shop(&[sending(), sending()]);
    let asked = question("ch-1", "t-1", "ypt-0");
    answered(&conn, 1, Verdict::Review(Box::new(asked.clone())));
    conn.execute_batch(
        "DROP TRIGGER requests_are_frozen; UPDATE requests SET body = x'7b7d' WHERE sequence = 1",
    )
    .unwrap();
    let state = confirmed(&conn, 1, &asked, "dos pasajeros");
    let reason = AttentionReason::StoredBodyChanged;
    assert_eq!(state, Some(State::NeedsAttention { attempts: 2, reason }));
    assert_eq!(frozen(&conn).len(), 2, "no request was built on it");
    assert_eq!(events(&conn), ["question_asked", "stored_body_changed"]);
}

#[test]
fn a_decision_is_carried_over_once_and_only_to_the_same_single_candidate() {
    let renewed = |change: fn(&mut Question)| {
        let conn = shop(&[sending()]);
        let asked = question("ch-1", "t-1", "ypt-0");
        answered(&conn, 1, Verdict::Review(Box::new(asked.clone())));
        confirmed(&conn, 1, &asked, "dos pasajeros");
        claimed(&conn, 1);
        let mut second = question("ch-2", "t-2", "ypt-0");
        change(&mut second);
        let state = answered(&conn, 1, Verdict::Review(Box::new(second)));
        (conn, state)
    };
    let in_review = |attempts| State::InReview { attempts };

    let (conn, state) = renewed(|_| {});
    assert!(matches!(state, State::Queued { reason: QueueReason::Confirming, .. }), "{state:?}");
    assert_eq!(events(&conn), ["question_asked", "question_asked", "decision_carried_over"]);
    assert_eq!(frozen(&conn).len(), 3, "a new token is a new key");
    claimed(&conn, 1);
    let third = answered(&conn, 1, Verdict::Review(Box::new(question("ch-3", "t-3", "ypt-0"))));
    assert_eq!(third, in_review(4), "once");

    for change in [
        |question: &mut Question| question.candidate_transaction_id = "ypt-9".to_owned(),
        |question: &mut Question| question.candidates_count = 2,
        |question: &mut Question| question.candidates_count = 0,
    ] {
        let (conn, state) = renewed(change);
        assert_eq!(state, in_review(3));
        assert_eq!(frozen(&conn).len(), 2);
        assert_eq!(questions::open(&conn).unwrap().len(), 1);
    }
}

#[test]
fn a_question_with_the_id_of_another_sales_is_for_people_and_leaves_the_other_alone() {
    let conn = shop(&[sending(), sending()]);
    let asked = question("ch-1", "t-1", "ypt-0");
    answered(&conn, 1, Verdict::Review(Box::new(asked.clone())));
    let state = answered(&conn, 2, Verdict::Review(Box::new(question("ch-1", "t-2", "ypt-0"))));
    assert_eq!(state, State::NeedsAttention { attempts: 2, reason: AttentionReason::Refused });
    assert_eq!(entry(&conn, 2).state, state);
    let open = questions::open(&conn).unwrap();
    assert_eq!(open.len(), 1);
    assert_eq!((open[0].sequence, &open[0].question), (1, &asked));
}

#[test]
fn a_start_gives_back_what_was_sending_and_leaves_the_rest() {
    let waiting = |due| State::Queued {
        attempts: 1,
        due,
        doubt: Doubt::None,
        reason: QueueReason::Waiting(WaitCause::NoNetwork),
    };
    let beyond = NOW + Policy::default().longest_wait_ms();
    let accepted = State::Accepted { yupy_transaction_id: "ypt-1".to_owned() };
    let conn = shop(&[sending(), waiting(NOW + 5), waiting(beyond + 1), accepted.clone(), sending()]);
    restart(&conn, &context(), NOW).unwrap();
    let given_back = State::Queued {
        attempts: 2,
        due: NOW,
        doubt: Doubt::OutcomeUnknown,
        reason: QueueReason::InterruptedByRestart,
    };
    let states: Vec<State> = (1..=5).map(|sequence| entry(&conn, sequence).state).collect();
    assert_eq!(states, [given_back.clone(), waiting(NOW + 5), waiting(beyond), accepted, given_back]);
}

#[test]
fn a_row_that_cannot_be_understood_stops_neither_the_start_nor_the_others() {
    let later =
        State::Queued { attempts: 1, due: NOW + 9, doubt: Doubt::None, reason: QueueReason::NotTriedYet };
    let conn = shop(&[sending(), later.clone(), later]);
    conn.execute_batch(
        "PRAGMA ignore_check_constraints = ON;
         UPDATE outbox SET attempts = -1 WHERE sequence = 1;
         UPDATE outbox SET reason = 'of_tomorrow' WHERE sequence = 2;
         PRAGMA ignore_check_constraints = OFF;
         UPDATE outbox SET attempts = 0 WHERE sequence = 3;",
    )
    .unwrap();
    restart(&conn, &context(), NOW).unwrap();
    hasten(&conn, &context(), NOW).unwrap();
    assert!(matches!(entry(&conn, 3).state, State::Queued { due: NOW, .. }));
    let aside: i64 = conn
        .query_row("SELECT count(*) FROM outbox WHERE state = 'needs_attention'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(aside, 2, "set aside once, for people");
}

/// The money of each of these sales was given back; how far YUPY knows it stands in `state`.
fn voided(conn: &Connection, sequence: i64, state: voiding::State) {
    let void = voids::NewVoid {
        sequence,
        operation_id: format!("V-{sequence}"),
        idempotency_key: format!("void-{sequence}"),
        body: b"{}".to_vec(),
        shift_number: 1,
        asked_by: "c".to_owned(),
        approved_by: "m".to_owned(),
        reason: "viaje cancelado".to_owned(),
        returned_minor: 200,
        tender: "cash".to_owned(),
        voided_at: 7,
    };
    voids::insert(conn, &void, state).unwrap();
}

#[test]
fn a_void_that_cannot_be_understood_stops_neither_its_sale_nor_the_others_nor_the_start() {
    let accepted = State::Accepted { yupy_transaction_id: "ypt-1".to_owned() };
    let conn = shop(&[accepted.clone(), accepted.clone(), accepted, sending()]);
    let later = voiding::State::Queued { attempts: 1, due: NOW + 9, cause: None };
    voided(&conn, 1, voiding::State::Sending { attempts: 1 });
    voided(&conn, 2, later);
    voided(&conn, 3, later);
    voided(&conn, 4, voiding::State::Waiting { attempts: 0 });
    conn.execute_batch(
        "PRAGMA ignore_check_constraints = ON;
         UPDATE voids SET attempts = -1 WHERE sequence IN (1, 4);
         UPDATE voids SET trouble = 'of_tomorrow' WHERE sequence = 2;
         PRAGMA ignore_check_constraints = OFF;",
    )
    .unwrap();
    restart(&conn, &context(), NOW).unwrap();
    hasten(&conn, &context(), NOW).unwrap();
    let state = |sequence| voids::get(&conn, sequence).unwrap().unwrap().state;
    assert_eq!(state(3), voiding::State::Queued { attempts: 1, due: NOW, cause: None });
    for sequence in [1, 2] {
        assert!(matches!(state(sequence), voiding::State::NeedsAttention { .. }), "{sequence}");
    }
    claimed(&conn, 4);
    let verdict = Verdict::Accepted(Acceptance { yupy_transaction_id: "ypt-4".to_owned(), differs: false });
    assert!(
        matches!(answered(&conn, 4, verdict), State::Accepted { .. }),
        "YUPY has the sale, whatever its void"
    );
    assert!(matches!(state(4), voiding::State::NeedsAttention { .. }));
}
