//! An owner that stands still past its lease, and comes back when another server has finished its work.

use crate::town::{Store, Town, payment};

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_that_was_stopped_after_the_answer_writes_nothing_any_more() {
    comes_back("after_approval", Some(true)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_that_was_stopped_before_its_last_transaction_writes_nothing_any_more() {
    comes_back("before_finalise", Some(true)).await;
}

/// Its charge leaves late, under the id under which the other one was made.
#[tokio::test(flavor = "multi_thread")]
async fn an_owner_that_was_stopped_before_it_charged_charges_nothing_more() {
    comes_back("after_acquirer_started", None).await;
}

/// The payment belongs to the other one before anything has left.
#[tokio::test(flavor = "multi_thread")]
async fn an_owner_that_was_stopped_with_its_reservation_sends_nothing_any_more() {
    comes_back("after_reserve", None).await;
}

async fn comes_back(point: &str, recovered: Option<bool>) {
    let Some(store) = Store::postgres() else { return };
    let town = Town::new(store);
    let (owner, other) = (town.held(point), town.server());
    let till = town.till(&other);
    let path = till.sell("85.50").await;
    let late = tokio::spawn({
        let (till, path) = (town.till(&owner), path.clone());
        async move { till.post(&path, "pay", &payment("85.50")).await }
    });
    town.stop(&owner).await;

    let answer = till.insist(&path, "pay", &payment("85.50")).await.expect(201);
    assert_eq!(answer.body.get("recovered").and_then(serde_json::Value::as_bool), recovered, "{point}");
    let (before, charges) = (town.audit_head(), town.statement().await);

    owner.signal("CONT");
    let late = late.await.unwrap().expect("it answers when it goes on");
    assert!([201, 409].contains(&late.status), "{point}: {late:?}");
    if late.status == 201 {
        assert_eq!(late.body["state"]["financial"], "paid", "it reads what the other one wrote");
    } else {
        assert_eq!(late.code(), "idempotency_in_progress", "{point}");
    }
    assert_eq!(town.audit_head(), before, "{point}: it wrote nothing");
    let after = town.statement().await;
    assert_eq!((charges.len(), after.len()), (1, 1), "{point}: one payment at the acquirer");
    assert_eq!(after[0].amount.as_deref(), Some("85.50"));
    assert_eq!(till.financial(&path).await, "paid");
    assert!(till.post(&path, "pay", &payment("85.50")).await.unwrap().expect(200).is_replay);
}
