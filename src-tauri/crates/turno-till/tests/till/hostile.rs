//! What a confused or hostile YUPY, a moved clock and a caller of odd habits can do to a till: nothing that matters.

use std::time::Duration;

use serde_json::{Value, json};
use turno_till::view::{ConnectRequest, Line, ProblemCode, SaleState, UnlockRequest};

use crate::support::{CASHIER_PIN, Shop, catalog, charge, error, fare, recorded, seat};

/// The usual catalog with one list changed.
fn catalog_with(list: &str, change: impl FnOnce(&mut Vec<Value>)) -> Value {
    let mut catalog = catalog();
    change(catalog[list].as_array_mut().unwrap());
    catalog
}

async fn shop_with(catalog: Value) -> Shop {
    let shop = Shop::open().await;
    shop.yupy.offer(catalog);
    shop.till.refresh_catalog().await.unwrap();
    shop
}

#[tokio::test(start_paused = true)]
async fn an_answer_about_a_confirmation_that_nobody_sent_starts_no_storm() {
    let shop = Shop::open().await;
    for _ in 0..500 {
        shop.yupy.then(error(422, "duplicate_confirmation_invalid"));
    }
    let sale = shop.sell(seat("12A")).await;
    let mut changes = shop.till.changes();
    for _ in 0..2_000 {
        // Only what is due without waiting happens: neither clock moves.
        tokio::select! {
            biased;
            changed = changes.changed() => changed.unwrap(),
            () = tokio::time::sleep(Duration::from_millis(1)) => {}
        }
    }
    let sent = shop.yupy.sales().len();
    assert!(sent < 5, "{sent} requests within a moment");
    let id = &sale.sales[0].external_transaction_id;
    assert_eq!(shop.sale(id).await.state, SaleState::Queued);
}

#[tokio::test(start_paused = true)]
async fn equal_lines_are_never_together_more_than_yupy_accepts() {
    let dear = catalog_with("fares", |fares| fares[0]["price"] = json!("9000000.00"));
    let shop = shop_with(dear).await;
    let line = Line { shown_price_minor: 900_000_000, ..fare(1) };
    let refused = shop.charge(vec![line.clone(), line]).await.unwrap_err();
    assert_eq!(refused.code, ProblemCode::AmountInvalid);
}

#[tokio::test(start_paused = true)]
async fn of_two_offers_with_one_id_the_one_that_is_shown_is_the_one_that_is_sold() {
    let twice = catalog_with("fares", |fares| {
        let other =
            json!({ "fare": "U7-adulto", "route": "U7", "name": "Otra cosa", "detail": "", "price": "2.00" });
        fares.push(other);
    });
    let shop = shop_with(twice).await;
    let shown = shop.till.search_offers("u7", 10).await.unwrap();
    assert_eq!(shown.len(), 1, "{shown:?}");
    let sold = recorded(shop.charge(vec![fare(1)]).await.unwrap());
    assert_eq!(sold.sales[0].description, shown[0].name);
}

#[tokio::test(start_paused = true)]
async fn an_offer_whose_sale_yupy_would_refuse_is_not_offered() {
    let odd = catalog_with("fares", |fares| {
        for (fare, route) in [("U8\u{0}", "U7"), ("U9", "U7\u{0}"), (" ", "U7"), (&"x".repeat(70_000), "U7")]
        {
            fares
                .push(json!({ "fare": fare, "route": route, "name": "Raro", "detail": "", "price": "2.00" }));
        }
    });
    let shop = shop_with(odd).await;
    assert!(shop.till.search_offers("raro", 10).await.unwrap().is_empty());
    assert_eq!(shop.till.search_offers("urbano", 10).await.unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_draft_is_the_same_draft_however_its_id_is_written() {
    let shop = Shop::open().await;
    let id = shop.till.open_draft().draft_id;
    let forms =
        [id.clone(), id.to_uppercase(), format!("{{{id}}}"), format!("urn:uuid:{id}"), id.replace('-', "")];
    for form in forms {
        recorded(shop.till.charge(&charge(&form, vec![fare(1)])).await.unwrap());
    }
    assert_eq!(shop.till.recent_sales(None).await.unwrap().items.len(), 1);
}

#[tokio::test]
async fn an_enrolment_with_which_nothing_could_ever_be_sent_is_none() {
    let shop = Shop::bare().await;
    let request = ConnectRequest { address: "http://yupy.test".to_owned(), enrolment_code: "C".to_owned() };
    for odd in [
        json!({ "credential": "" }),
        json!({ "credential": "a b" }),
        json!({ "credential": "a\r\nX-Other: 1" }),
        json!({ "credential": "ñ" }),
        json!({ "epoch": "ZZZ" }),
        json!({ "device_id": "" }),
        json!({ "currency": "QQQ" }),
    ] {
        shop.yupy.enrol_with(odd.clone());
        assert_eq!(shop.till.connect(&request).await.unwrap_err().code, ProblemCode::NotYupy, "{odd}");
        assert!(!shop.till.is_enrolled());
    }
    shop.yupy.enrol_with(json!({}));
    shop.till.connect(&request).await.unwrap();
}

#[tokio::test]
async fn setting_the_clock_back_gives_no_free_guess() {
    let shop = Shop::open().await;
    let request = |pin: &str| UnlockRequest { person_id: "c".to_owned(), pin: pin.to_owned() };
    let mut guesses = 0;
    for _ in 0..200 {
        if shop.till.unlock(&request("999998")).await.unwrap_err().code == ProblemCode::PinWrong {
            guesses += 1;
        }
        shop.clock.forward(-3_600_000);
    }
    assert!(guesses <= 3, "{guesses} guesses");
    assert_eq!(shop.till.unlock(&request(CASHIER_PIN)).await.unwrap_err().code, ProblemCode::PinLocked);
    shop.clock.forward(15 * 60_000);
    shop.till.unlock(&request(CASHIER_PIN)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_stored_catalog_that_cannot_be_read_is_asked_for_again() {
    let mut shop = Shop::open().await;
    shop.till.close().await;
    let file = rusqlite::Connection::open(shop.folder().join("till.db")).unwrap();
    file.execute_batch("UPDATE catalog SET body = CAST('{' AS BLOB), etag = '\"1\"'").unwrap();
    drop(file);
    shop.crash().await;
    shop.till.refresh_catalog().await.unwrap();
    recorded(shop.charge(vec![fare(1)]).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_sale_whose_attempt_ends_in_a_bug_is_tried_again() {
    let shop = Shop::open().await;
    shop.yupy.then(|_| panic!("a bug on the way"));
    let sale = shop.sell(seat("12A")).await;
    shop.until(&sale.sales[0].external_transaction_id, SaleState::Accepted).await;
}
