//! The queue: what waits, when it is tried again, and what stops whom.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use turno_till::transport::{Failure, Response};
use turno_till::view::{ConnectionState, SaleReason, SaleState, Standing};

use crate::support::{Shop, accepted, catalog, error, fare, json_answer, seat};

fn first_id(checkout: &turno_till::view::Checkout) -> &str {
    &checkout.sales[0].external_transaction_id
}

#[tokio::test(start_paused = true)]
async fn a_lost_reply_is_asked_for_again_with_the_same_key_and_the_same_bytes() {
    let shop = Shop::open().await;
    shop.yupy.then(|_| Err(Failure::ConnectionLost));
    let checkout = shop.sell(seat("12A")).await;
    shop.until(first_id(&checkout), SaleState::Accepted).await;
    let sent = shop.yupy.sales();
    assert_eq!(sent.len(), 2);
    assert_eq!((&sent[0].key, &sent[0].body), (&sent[1].key, &sent[1].body));
}

#[tokio::test(start_paused = true)]
async fn the_key_stays_the_same_over_failures_and_restarts() {
    let mut shop = Shop::open().await;
    shop.yupy.down(Failure::TimedOut);
    let checkout = shop.sell(seat("12A")).await;
    for _ in 0..3 {
        shop.till.send_now().await.unwrap();
        shop.crash().await;
    }
    shop.yupy.up();
    shop.until(first_id(&checkout), SaleState::Accepted).await;
    let mut keys: Vec<_> = shop.yupy.sales().into_iter().map(|sent| sent.key).collect();
    assert!(keys.len() > 3, "{keys:?}");
    keys.dedup();
    assert_eq!(keys.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn offline_sales_wait_and_all_go_when_the_line_returns() {
    let shop = Shop::open().await;
    shop.yupy.down(Failure::NoNetwork);
    let mut ids = Vec::new();
    for _ in 0..5 {
        let checkout = shop.sell(fare(1)).await;
        ids.push(first_id(&checkout).to_owned());
    }
    let status = shop.till.send_now().await.unwrap();
    assert_eq!(status.connection.state, ConnectionState::NoNetwork);
    assert_eq!((status.accepted, status.still_pending), (0, 5));
    for id in &ids {
        assert_eq!(shop.sale(id).await.standing, Standing::Saved, "nothing left this till");
    }
    shop.yupy.up();
    for id in &ids {
        shop.until(id, SaleState::Accepted).await;
    }
    assert_eq!(shop.till.status().await.unwrap().unwrap().pending_count, 0);
}

#[tokio::test(start_paused = true)]
async fn a_dead_line_is_probed_and_not_stormed() {
    let shop = Shop::open().await;
    shop.yupy.down(Failure::Unreachable);
    for _ in 0..50 {
        shop.sell(fare(1)).await;
    }
    let mut changes = shop.till.changes();
    for _ in 0..60 {
        let _ = tokio::time::timeout(std::time::Duration::from_secs(1), changes.changed()).await;
        shop.clock.forward(1_000);
    }
    let attempts = shop.yupy.sales().len();
    assert!((5..=90).contains(&attempts), "a minute of a dead line cost {attempts} requests");
}

#[tokio::test(start_paused = true)]
async fn one_refused_sale_does_not_stop_the_others() {
    let shop = Shop::open().await;
    shop.yupy.down(Failure::NoNetwork);
    let mut ids = Vec::new();
    for _ in 0..10 {
        let checkout = shop.sell(fare(1)).await;
        ids.push(first_id(&checkout).to_owned());
    }
    shop.yupy.up();
    shop.yupy.then(accepted).then(accepted).then(error(422, "validation_failed"));
    shop.till.send_now().await.unwrap();
    let page = shop.till.recent_sales(None).await.unwrap();
    let refused: Vec<_> = page.items.iter().filter(|sale| sale.state == SaleState::NeedsAttention).collect();
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].reason, Some(SaleReason::ValidationFailed));
    assert_eq!(page.items.iter().filter(|sale| sale.state == SaleState::Accepted).count(), 9);
}

#[tokio::test(start_paused = true)]
async fn a_sale_that_always_fails_at_the_server_does_not_block_the_line() {
    let shop = Shop::open().await;
    let poison = shop.yupy.clone();
    // Whatever comes first fails for ever; the others are fine.
    let bad = std::sync::Arc::new(std::sync::Mutex::new(None::<String>));
    for _ in 0..60 {
        let bad = bad.clone();
        poison.then(move |body| {
            let id = body["external_transaction_id"].as_str().unwrap().to_owned();
            let mut bad = bad.lock().unwrap();
            if bad.get_or_insert_with(|| id.clone()) == &id {
                error(500, "internal_error")(body)
            } else {
                accepted(body)
            }
        });
    }
    let first = shop.sell(fare(1)).await;
    for _ in 0..5 {
        let next = shop.sell(fare(1)).await;
        shop.until(first_id(&next), SaleState::Accepted).await;
    }
    assert_eq!(shop.sale(first_id(&first)).await.state, SaleState::Queued);
}

#[tokio::test(start_paused = true)]
async fn a_refused_credential_pauses_the_queue_and_counts_nobodys_attempts() {
    let shop = Shop::open().await;
    for _ in 0..3 {
        shop.yupy.then(error(401, "unauthenticated"));
    }
    let checkout = shop.sell(seat("12A")).await;
    for _ in 0..3 {
        shop.till.send_now().await.unwrap();
    }
    let state = shop.till.status().await.unwrap().unwrap().connection.state;
    assert!([ConnectionState::CredentialRefused, ConnectionState::Online].contains(&state), "{state:?}");
    let sale = shop.until(first_id(&checkout), SaleState::Accepted).await;
    assert_eq!(sale.attempts, 1, "only the attempt that was heard counts");
}

#[tokio::test(start_paused = true)]
async fn a_portal_is_never_taken_for_yupy() {
    let html = || Response {
        status: 200,
        media_type: Some("text/html".to_owned()),
        body: b"<html>".to_vec(),
        ..Response::default()
    };
    let shop = Shop::open().await;
    shop.yupy.then(move |_| Ok(html())).then(|_| Ok(Response { status: 302, ..Response::default() }));
    shop.yupy.then(|_| json_answer(200, &serde_json::json!({})));
    let checkout = shop.sell(seat("12A")).await;
    let report = shop.till.send_now().await.unwrap();
    assert_eq!(report.accepted, 0);
    assert_eq!(report.connection.state, ConnectionState::Portal);
    shop.until(first_id(&checkout), SaleState::Accepted).await;
}

#[tokio::test(start_paused = true)]
async fn a_transaction_that_happened_at_another_time_is_an_alarm_and_never_acknowledged() {
    let shop = Shop::open().await;
    shop.yupy.then(|body| {
        json_answer(200, &serde_json::json!({
            "result": "existing_transaction", "idempotency_replayed": true, "yupy_transaction_id": "ypt-other",
            "external_transaction_id": body["external_transaction_id"], "occurred_at": "2026-11-29T10:00:00-05:00",
        }))
    });
    let checkout = shop.sell(seat("12A")).await;
    let sale = shop.until(first_id(&checkout), SaleState::NeedsAttention).await;
    assert_eq!(sale.reason, Some(SaleReason::IdentityCollision));
    assert_eq!(shop.till.status().await.unwrap().unwrap().identity_collision_count, 1);
}

#[tokio::test(start_paused = true)]
async fn a_stored_body_that_was_changed_is_not_sent() {
    let mut shop = Shop::open().await;
    shop.yupy.down(Failure::NoNetwork);
    let checkout = shop.sell(seat("12A")).await;
    shop.till.close().await;
    let file = rusqlite::Connection::open(shop.folder().join("till.db")).unwrap();
    file.execute_batch(
        "DROP TRIGGER requests_are_frozen;
         UPDATE requests SET body = CAST(replace(CAST(body AS TEXT), '85.50', '85.51') AS BLOB)",
    )
    .unwrap();
    drop(file);
    shop.yupy.up();
    shop.yupy.sent.lock().unwrap().clear();
    shop.crash().await;
    let sale = shop.until(first_id(&checkout), SaleState::NeedsAttention).await;
    assert_eq!(sale.reason, Some(SaleReason::StoredBodyChanged));
    assert!(shop.yupy.sales().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_row_that_cannot_be_understood_is_set_aside_once_and_blocks_nobody() {
    let mut shop = Shop::open().await;
    shop.yupy.down(Failure::NoNetwork);
    let (broken, sound) = (shop.sell(seat("12A")).await, shop.sell(fare(1)).await);
    shop.till.close().await;
    let file = rusqlite::Connection::open(shop.folder().join("till.db")).unwrap();
    file.execute_batch("PRAGMA foreign_keys = OFF; UPDATE outbox SET request_id = 999 WHERE sequence = 1")
        .unwrap();
    drop(file);
    shop.yupy.up();
    shop.crash().await;
    shop.until(first_id(&sound), SaleState::Accepted).await;
    shop.until(first_id(&broken), SaleState::NeedsAttention).await;
}

#[tokio::test(start_paused = true)]
async fn the_status_bar_learns_of_the_line_without_a_sale() {
    let shop = Shop::open().await;
    let mut changes = shop.till.changes();
    let state = || async { shop.till.status().await.unwrap().unwrap().connection.state };
    while state().await == ConnectionState::Unknown {
        changes.changed().await.unwrap();
    }
    assert_eq!(state().await, ConnectionState::Online);
    shop.yupy.down(Failure::NoNetwork);
    shop.till.send_now().await.unwrap();
    assert_eq!(state().await, ConnectionState::NoNetwork);
    shop.yupy.up();
    while state().await != ConnectionState::Online {
        if tokio::time::timeout(std::time::Duration::from_secs(1), changes.changed()).await.is_err() {
            shop.clock.forward(1_000);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn sending_now_also_asks_for_the_newest_catalog() {
    let shop = Shop::open().await;
    let mut changes = shop.till.changes();
    let mut newer = catalog();
    newer["products"] = json!([{ "product": "SOBRE", "name": "Sobre", "detail": "", "price": "5.00" }]);
    shop.yupy.offer(newer);
    let pressed = Instant::now();
    shop.till.send_now().await.unwrap();
    while shop.till.search_offers("sobre", 1).await.unwrap().is_empty() {
        changes.changed().await.unwrap();
    }
    assert!(pressed.elapsed() < Duration::from_secs(1), "{:?}", pressed.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_sale_whose_key_yupy_may_have_forgotten_is_looked_up_before_it_is_sent_again() {
    const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
    for (days, looks) in [(24, 0), (26, 1)] {
        let shop = Shop::open().await;
        shop.yupy.then(|_| Err(Failure::ConnectionLost));
        let sale = shop.sell(seat("12A")).await;
        while shop.yupy.sales().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        shop.yupy.down(Failure::NoNetwork);
        shop.till.send_now().await.unwrap();
        shop.clock.forward(days * DAY_MS);
        shop.yupy.sent.lock().unwrap().clear();
        shop.yupy.up();
        shop.until(first_id(&sale), SaleState::Accepted).await;
        let sent = shop.yupy.sent.lock().unwrap().clone();
        let asked = sent.iter().filter(|sent| sent.path.contains("?external_transaction_id=")).count();
        assert_eq!((asked, shop.yupy.sales().len()), (looks, 1), "after {days} days");
    }
}
