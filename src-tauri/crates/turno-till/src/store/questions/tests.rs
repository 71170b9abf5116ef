use serde_json::json;

use super::*;
use crate::outbox::State;
use crate::store::fixture::shop;

fn question(challenge: &str) -> Question {
    Question {
        challenge_id: challenge.to_owned(),
        token: Secret::new(format!("token of {challenge}")),
        expires_at: "2026-12-01T15:00:00Z".to_owned(),
        candidate: json!({ "yupy_transaction_id": "ypt-0", "amount": "2.00", "of_tomorrow": [1] }),
        candidate_transaction_id: "ypt-0".to_owned(),
        candidates_count: 1,
        matching_signals: vec!["amount".to_owned(), "seat".to_owned()],
        previous_confirmation: Some("expired".to_owned()),
    }
}

fn different() -> Verdict {
    Verdict {
        decision: Decision::DifferentSale,
        decided_by: Decider::Here("m".to_owned()),
        decided_at: 5,
        reason: "dos pasajeros".to_owned(),
        money: None,
    }
}

fn two_in_review() -> Connection {
    shop(&[State::InReview { attempts: 1 }, State::InReview { attempts: 1 }])
}

fn open_ids(conn: &Connection) -> Vec<(i64, String)> {
    open(conn).unwrap().into_iter().map(|row| (row.sequence, row.question.challenge_id)).collect()
}

#[test]
fn a_question_is_read_as_it_was_asked() {
    let conn = two_in_review();
    assert_eq!(arrive(&conn, 2, &question("ch-1"), 7).unwrap(), Arrival::Open);
    let row = open_of(&conn, 2).unwrap().unwrap();
    assert_eq!((row.sequence, row.question, row.asked_at), (2, question("ch-1"), 7));
    assert!(open_of(&conn, 1).unwrap().is_none());
}

#[test]
fn a_newer_question_takes_the_place_of_the_same_sales_only() {
    let conn = two_in_review();
    for (sequence, challenge) in [(1, "ch-1"), (2, "ch-2"), (1, "ch-3")] {
        assert_eq!(arrive(&conn, sequence, &question(challenge), 7).unwrap(), Arrival::Open);
    }
    assert_eq!(open_ids(&conn), [(1, "ch-3".to_owned()), (2, "ch-2".to_owned())]);
}

#[test]
fn a_decision_is_about_one_question() {
    let conn = two_in_review();
    arrive(&conn, 1, &question("ch-1"), 7).unwrap();
    arrive(&conn, 2, &question("ch-2"), 7).unwrap();
    decide(&conn, "ch-1", &different()).unwrap();
    assert_eq!(open_ids(&conn), [(2, "ch-2".to_owned())]);
}

#[test]
fn a_decision_covers_the_renewed_question_of_its_own_sale_and_nothing_more() {
    let conn = two_in_review();
    arrive(&conn, 1, &question("ch-1"), 7).unwrap();
    decide(&conn, "ch-1", &different()).unwrap();
    assert_eq!(arrive(&conn, 2, &question("ch-2"), 8).unwrap(), Arrival::Open, "another sale");
    assert_eq!(arrive(&conn, 1, &question("ch-3"), 8).unwrap(), Arrival::Decided(different()));
    assert_eq!(arrive(&conn, 1, &question("ch-4"), 9).unwrap(), Arrival::Open, "used already");
}

#[test]
fn a_decision_for_the_same_sale_is_never_carried_over() {
    let conn = two_in_review();
    arrive(&conn, 1, &question("ch-1"), 7).unwrap();
    let same = Verdict { decision: Decision::SameSale, money: Some(MoneyHandled::Refunded), ..different() };
    decide(&conn, "ch-1", &same).unwrap();
    assert_eq!(arrive(&conn, 1, &question("ch-2"), 8).unwrap(), Arrival::Open);
}

#[test]
fn a_question_that_comes_back_is_open_again_with_what_it_says_now() {
    let conn = two_in_review();
    arrive(&conn, 1, &question("ch-1"), 7).unwrap();
    decide(&conn, "ch-1", &different()).unwrap();
    let again = Question {
        token: Secret::new("new"),
        previous_confirmation: Some("superseded".to_owned()),
        ..question("ch-1")
    };
    assert_eq!(arrive(&conn, 1, &again, 9).unwrap(), Arrival::Open);
    assert_eq!(open_of(&conn, 1).unwrap().unwrap().question, again);
    // Decided anew, the decision may be carried over anew.
    decide(&conn, "ch-1", &different()).unwrap();
    assert_eq!(arrive(&conn, 1, &question("ch-2"), 9).unwrap(), Arrival::Decided(different()));
}
