//! `kill -9` at every point of a payment: one charge, and the right answer to whoever asks again.

use std::io::Write;

use crate::{
    program::PATIENCE,
    town::{Store, TILL, Town, payment, sale},
};

/// What the next server has to do for a payment that was left at a point.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// Ask for the money: nothing has left.
    Charge,
    /// Look it up and write it down.
    Recover,
    /// Say it again.
    Replay,
}

const POINTS: [(&str, Rest); 6] = [
    ("after_reserve", Rest::Charge),
    ("after_acquirer_started", Rest::Charge),
    ("after_approval", Rest::Recover),
    ("before_finalise", Rest::Recover),
    ("within_finalise", Rest::Recover),
    ("after_commit_before_reply", Rest::Replay),
];

#[tokio::test(flavor = "multi_thread")]
async fn wherever_a_server_on_sqlite_dies_the_payment_is_made_once() {
    for (point, rest) in POINTS {
        dies(Store::Sqlite, point, rest).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wherever_a_server_on_postgresql_dies_the_payment_is_made_once() {
    for (point, rest) in POINTS {
        let Some(store) = Store::postgres() else { return };
        dies(store, point, rest).await;
    }
}

async fn dies(store: Store, point: &str, rest: Rest) {
    let town = Town::new(store);
    let server = town.server();
    let path = town.till(&server).sell("85.50").await;
    server.end().await;

    let doomed = town.doomed(point);
    let nothing = town.till(&doomed).post(&path, "pay", &payment("85.50")).await;
    assert!(nothing.is_none(), "{point}: {nothing:?}");
    doomed.killed().await;
    let charges = if rest == Rest::Charge { 0 } else { 1 };
    assert_eq!(town.statement().await.len(), charges, "{point}");

    let server = town.server();
    let till = town.till(&server);
    let answer = till.insist(&path, "pay", &payment("85.50")).await;
    match rest {
        Rest::Charge => assert!(answer.expect(201).body.get("recovered").is_none(), "{point}"),
        // The reaper, which looks at start, may have been there first.
        Rest::Recover if answer.status == 200 => assert!(answer.is_replay, "{point}"),
        Rest::Recover => assert_eq!(answer.expect(201).body["recovered"], true, "{point}"),
        Rest::Replay => assert!(answer.expect(200).is_replay, "{point}"),
    }
    let again = till.post(&path, "pay", &payment("85.50")).await.unwrap().expect(200);
    assert!(again.is_replay, "{point}");
    assert_eq!(till.financial(&path).await, "paid", "{point}");
    assert_eq!(till.audited("payment_approved").await, 1, "{point}");
    let statement = town.statement().await;
    assert_eq!(statement.len(), 1, "{point}: one payment");
    assert_eq!((statement[0].asked, statement[0].amount.as_deref()), (1, Some("85.50")), "{point}");
    server.end().await;
    town.audit_head();
}

/// Whoever finds out what became of a payment may die of it as well.
#[tokio::test(flavor = "multi_thread")]
async fn one_death_after_the_other_on_sqlite_is_still_one_charge() {
    dies_again_and_again(Store::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_death_after_the_other_on_postgresql_is_still_one_charge() {
    let Some(store) = Store::postgres() else { return };
    dies_again_and_again(store).await;
}

async fn dies_again_and_again(store: Store) {
    let town = Town::new(store);
    let server = town.server();
    let path = town.till(&server).sell("85.50").await;
    server.end().await;
    for point in
        ["after_reserve", "after_acquirer_started", "after_approval", "before_finalise", "within_finalise"]
    {
        let doomed = town.doomed(point);
        town.till(&doomed).insist_until_it_dies(&path, "pay", &payment("85.50")).await;
        doomed.killed().await;
    }
    let server = town.server();
    let till = town.till(&server);
    let answer = till.insist(&path, "pay", &payment("85.50")).await;
    assert!(answer.is_replay || answer.body["recovered"] == true, "{answer:?}");
    assert_eq!(till.financial(&path).await, "paid");
    assert_eq!(till.audited("payment_approved").await, 1);
    let statement = town.statement().await;
    assert_eq!((statement.len(), statement[0].asked), (1, 1));
    server.end().await;
    town.audit_head();
}

/// A decline is as final as an approval, whoever found out.
#[tokio::test(flavor = "multi_thread")]
async fn a_decline_that_its_server_took_along_is_found_again() {
    let town = Town::new(Store::Sqlite);
    let server = town.server();
    let path = town.till(&server).sell("85.01").await;
    server.end().await;
    let doomed = town.doomed("after_approval");
    assert!(town.till(&doomed).post(&path, "pay", &payment("85.01")).await.is_none());
    doomed.killed().await;
    let server = town.server();
    let till = town.till(&server);
    let declined = till.insist(&path, "pay", &payment("85.01")).await.expect(402);
    assert_eq!(declined.code(), "payment_declined");
    assert_eq!(till.financial(&path).await, "declined");
    assert_eq!(town.statement().await[0].asked, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_whose_server_died_after_its_commit_is_not_sold_again() {
    let town = Town::new(Store::Sqlite);
    let doomed = town.doomed("after_commit_before_reply");
    assert!(town.till(&doomed).post("/v1/transactions", "sale", &sale("85.50")).await.is_none());
    doomed.killed().await;
    let server = town.server();
    let till = town.till(&server);
    let again = till.post("/v1/transactions", "sale", &sale("85.50")).await.unwrap().expect(200);
    assert!(again.is_replay);
    assert_eq!(till.audited("created").await, 1);
}

/// The acquirer takes three seconds, and the till is gone after the first byte.
#[tokio::test(flavor = "multi_thread")]
async fn a_till_that_hangs_up_while_the_acquirer_answers_is_paid_all_the_same() {
    let town = Town::with_lease(Store::Sqlite, 60);
    let server = town.server();
    let till = town.till(&server);
    let path = till.sell("85.08").await;
    let body = payment("85.08").to_string();
    let mut line = std::net::TcpStream::connect(server.address.strip_prefix("http://").unwrap()).unwrap();
    write!(
        line,
        "POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TILL}\r\ncontent-type: application/json\r\n\
         idempotency-key: pay\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    // It has begun. On a machine that stands still for three seconds it may be over as well.
    let has_begun = async { while till.financial(&path).await == "awaiting_payment" {} };
    tokio::time::timeout(PATIENCE, has_begun).await.unwrap();
    drop(line);
    let answer = till.insist(&path, "pay", &payment("85.08")).await.expect(200);
    assert!(answer.is_replay, "the first request has finished it: {}", answer.body);
    assert_eq!(till.financial(&path).await, "paid");
    assert_eq!(town.statement().await[0].asked, 1);
    server.end().await;
}

/// SIGTERM in the middle of a payment: the till hears how it ended, and the server ends after that.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_asked_to_end_finishes_its_payment_first() {
    let town = Town::with_lease(Store::Sqlite, 60);
    let server = town.server();
    let till = town.till(&server);
    let path = till.sell("85.08").await;
    let paying = tokio::spawn({
        let (till, path) = (till.clone(), path.clone());
        async move { till.post(&path, "pay", &payment("85.08")).await }
    });
    let has_begun = async { while till.financial(&path).await == "awaiting_payment" {} };
    tokio::time::timeout(PATIENCE, has_begun).await.unwrap();
    server.end().await;
    paying.await.unwrap().expect("it is answered").expect(201);
    assert_eq!(town.statement().await[0].asked, 1);
}
