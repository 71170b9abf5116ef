//! The line as a person meets it: switched off and on, and what its answers say about this machine's clock.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;
use tokio::time::Instant;
use turno_till::transport::Response;
use turno_till::view::{ConnectionState, PauseSendingRequest, ProblemCode, SaleState, Standing};

use crate::crash::disk::audited;
use crate::support::{MORNING, Reply, Shop, accepted, fare, seat};

const ON: PauseSendingRequest = PauseSendingRequest { paused: false };
const OFF: PauseSendingRequest = PauseSendingRequest { paused: true };

async fn connection(shop: &Shop) -> ConnectionState {
    shop.till.status().await.unwrap().unwrap().connection.state
}

#[tokio::test(start_paused = true)]
async fn switched_off_the_till_sells_and_sends_nothing_until_it_is_switched_on_whatever_happens() {
    let mut shop = Shop::open().await;
    shop.till.pause_sending(&OFF).await.unwrap();
    let sale = shop.sell(seat("12A")).await.sales[0].external_transaction_id.clone();
    assert_eq!(connection(&shop).await, ConnectionState::Paused);
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    let report = shop.till.send_now().await.unwrap();
    assert_eq!((report.attempted, report.connection.state), (0, ConnectionState::Paused));
    shop.crash().await;
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(connection(&shop).await, ConnectionState::Paused, "a restart is nobody's decision");
    assert_eq!(shop.yupy.sales().len(), 0);
    assert_eq!(shop.sale(&sale).await.standing, Standing::Saved);

    let switched_on = Instant::now();
    shop.till.pause_sending(&ON).await.unwrap();
    shop.until(&sale, SaleState::Accepted).await;
    assert!(switched_on.elapsed() < Duration::from_secs(2), "{:?}", switched_on.elapsed());
    assert_eq!(connection(&shop).await, ConnectionState::Online);
}

#[tokio::test(start_paused = true)]
async fn switched_off_not_even_the_catalog_is_asked_for() {
    let shop = Shop::open().await;
    shop.till.pause_sending(&OFF).await.unwrap();
    let asked = || shop.yupy.sent.lock().unwrap().len();
    // What was on its way when it was switched off has come.
    tokio::time::sleep(Duration::from_secs(60)).await;
    let before = asked();
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(asked(), before);
}

#[tokio::test(start_paused = true)]
async fn whoever_switches_is_in_the_audit_and_switching_twice_is_once() {
    let shop = Shop::open().await;
    for request in [&OFF, &OFF, &ON, &ON] {
        shop.till.pause_sending(request).await.unwrap();
    }
    shop.till.lock();
    assert_eq!(shop.till.pause_sending(&OFF).await.unwrap_err().code, ProblemCode::NotUnlocked);
    let audit = audited(shop.folder());
    let times = |event: &str| audit.get(event).copied().unwrap_or_default();
    assert_eq!((times("sending_paused"), times("sending_resumed")), (1, 1));
}

/// An accepted sale, answered when YUPY's clock says `ms`.
fn accepted_at(ms: i64) -> impl FnOnce(&serde_json::Value) -> Reply + Send + 'static {
    move |body| {
        let date = Timestamp::from_millisecond(ms).unwrap();
        let date = DateTimePrinter::new().timestamp_to_rfc9110_string(&date).unwrap();
        Ok(Response { date: Some(date), ..accepted(body)? })
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_more_than_two_minutes_off_is_shown_until_it_is_right() {
    let shop = Shop::open().await;
    for (ahead_s, shown) in [
        (0, None),
        (119, None),
        (-119, None),
        (121, Some(121)),
        (31_536_000, Some(31_536_000)),
        (-3_600, Some(-3_600)),
        (1, None),
        (-121, Some(-121)),
    ] {
        shop.yupy.then(accepted_at(MORNING - ahead_s * 1_000));
        let sale = shop.sell(fare(1)).await;
        shop.until(&sale.sales[0].external_transaction_id, SaleState::Accepted).await;
        let mut changes = shop.till.changes();
        while shop.till.status().await.unwrap().unwrap().clock_ahead_s != shown {
            let change = tokio::time::timeout(Duration::from_secs(60), changes.changed()).await;
            change.unwrap_or_else(|_| panic!("{ahead_s}")).unwrap();
        }
    }
    assert_eq!(audited(shop.folder()).get("clock_wrong"), Some(&2), "once each time that it becomes wrong");

    let file = rusqlite::Connection::open(shop.folder().join("till.db")).unwrap();
    let both: (i64, i64) = file
        .query_one(
            "SELECT finished_at_ms, yupy_at_ms FROM attempts ORDER BY attempt_id LIMIT 1 OFFSET 3",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    assert_eq!(both, (MORNING, MORNING - 121_000), "both times are kept");
}

#[tokio::test(start_paused = true)]
async fn a_portals_clock_says_nothing_about_ours() {
    let shop = Shop::open().await;
    let portal = Response {
        status: 200,
        media_type: Some("text/html".to_owned()),
        date: Some("Sat, 01 Jan 2000 00:00:00 GMT".to_owned()),
        ..Response::default()
    };
    shop.yupy.then(move |_| Ok(portal));
    let sale = shop.sell(fare(1)).await;
    shop.until(&sale.sales[0].external_transaction_id, SaleState::Accepted).await;
    assert_eq!(shop.till.status().await.unwrap().unwrap().clock_ahead_s, None);
    assert_eq!(audited(shop.folder()).get("clock_wrong"), None);
}
