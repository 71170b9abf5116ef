//! Everything that is counted can be seen to move, and what is counted apart is not on the main address.

use std::{sync::Arc, time::Duration};

use axum::{Router, body::Body, http::Request};
use jiff::SignedDuration;
use serde_json::{Value, json};
use tower::ServiceExt;
use turno_domain::{Currency, Money};
use turno_server::{
    Config, MetricsPlace,
    acquirer::{Found, NoAnswer, SimulatedAcquirer},
    housekeeping, metrics_app,
    payment::PaymentResult,
};

use crate::{
    acquirer::Scripted,
    harness::{Answer, Server, Site, sale},
};

/// What a series has come to.
async fn value(server: &Server, series: &str) -> u64 {
    let text = server.text("/metrics").await;
    let found = text.lines().filter_map(|line| line.rsplit_once(' ')).find(|(name, _)| *name == series);
    found.unwrap_or_else(|| panic!("{series} in\n{text}")).1.parse().unwrap()
}

/// A server, and the config with which others count together with it.
async fn server() -> (Server, Config) {
    let server = Server::new().await;
    let config = server.site.config();
    let own = config.clone();
    (server.with_config(|config| *config = own), config)
}

async fn keep_house_until(server: &Server, config: Config, series: &str, is_there: impl Fn(u64) -> bool) {
    let work = tokio::spawn(housekeeping(server.ledger.clone(), config));
    let watching = async {
        while !is_there(value(server, series).await) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), watching).await.expect(series);
    work.abort();
}

#[track_caller]
fn confirmed(external_id: &str, question: &Answer) -> Value {
    let token = question.text("error.duplicate_confirmation_token");
    sale(external_id, json!({"duplicate_confirmation_token": token, "confirmed_by": "Jefa"}))
}

#[tokio::test]
async fn replays_and_conflicts_are_counted() {
    let server = Server::new().await;
    for _ in 0..3 {
        server.create("k", sale("E-1", json!({}))).await;
    }
    server.create("k", sale("E-1", json!({"shift_id": "S45"}))).await.refused(409, "idempotency_conflict");
    let other = sale("E-1", json!({"amount": "1.00"}));
    server.create("k2", other).await.refused(409, "external_transaction_conflict");
    assert_eq!(value(&server, "turno_replays_total").await, 2);
    assert_eq!(value(&server, "turno_answers_total{code=\"ok\"}").await, 3);
    assert_eq!(value(&server, "turno_answers_total{code=\"idempotency_conflict\"}").await, 1);
    assert_eq!(value(&server, "turno_answers_total{code=\"external_transaction_conflict\"}").await, 1);
    assert_eq!(value(&server, "turno_answer_milliseconds_count").await, 5);
}

#[tokio::test]
async fn questions_are_counted_when_they_are_asked_confirmed_and_over() {
    let (server, config) = server().await;
    server.create("k1", sale("E-1", json!({}))).await.expect(201);
    let issued = async || value(&server, "turno_challenges_issued_total").await;
    let question = server.create("k2", sale("E-2", json!({}))).await.expect(409);
    server.create("k2", sale("E-2", json!({}))).await.expect(409);
    assert_eq!(issued().await, 1, "the same question again is not another");
    server.create("k3", confirmed("E-2", &question)).await.expect(201);
    assert_eq!(value(&server, "turno_challenges_confirmed_total").await, 1);

    // One ends because its sale comes back too late, one because nobody comes back at all.
    server.create("k4", sale("E-3", json!({}))).await.expect(409);
    server.create("k5", sale("E-4", json!({}))).await.expect(409);
    server.site.clock.advance(SignedDuration::from_hours(25));
    server.create("k4", sale("E-3", json!({}))).await.expect(409);
    assert_eq!(issued().await, 4);
    assert_eq!(value(&server, "turno_challenges_expired_total").await, 1);
    keep_house_until(&server, config, "turno_challenges_expired_total", |expired| expired == 2).await;
    let open = server.get_as("manager", "/v1/duplicate-challenges?state=open").await.expect(200);
    assert_eq!(open.body["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_retry_after_its_key_was_forgotten_is_counted_and_so_is_the_purge() {
    let (server, config) = server().await;
    server.create("k", sale("E-1", json!({}))).await.expect(201);
    assert_eq!(value(&server, "turno_purge_lag_seconds").await, 0);
    server.site.clock.advance(SignedDuration::from_hours(24 * 31));
    assert_eq!(value(&server, "turno_purge_lag_seconds").await, 31 * 24 * 3600);
    assert_eq!(server.create("k", sale("E-1", json!({}))).await.expect(200).body["duplicate"], true);
    assert_eq!(value(&server, "turno_late_retries_total").await, 1);

    server.create("k2", sale("E-2", json!({"amount": "9.00"}))).await.expect(201);
    server.site.clock.advance(SignedDuration::from_hours(24 * 31));
    keep_house_until(&server, config, "turno_purge_lag_seconds", |lag| lag == 0).await;
    assert_eq!(value(&server, "turno_keys_purged_total").await, 2);
}

/// A server with a scripted acquirer and a sale of 85.50 that waits for its payment.
async fn till() -> (Server, Scripted, String) {
    let acquirer = Scripted::default();
    let server = Site::new(Arc::new(acquirer.clone())).start().await;
    let sold = server.create("sale", sale("E-1", json!({"payment_method": "card"}))).await.expect(201);
    let path = format!("/v1/transactions/{}/payments", sold.text("yupy_transaction_id"));
    (server, acquirer, path)
}

async fn pay(server: &Server, path: &str) -> Answer {
    server.post(path, "pay", json!({"external_payment_id": "P", "amount": "85.50", "currency": "PEN"})).await
}

fn approved(minor: i64) -> PaymentResult {
    PaymentResult::Approved { amount: Money::from_minor(minor, Currency::PEN) }
}

#[tokio::test]
async fn take_overs_are_counted_by_what_the_acquirer_says() {
    for (found, name) in [
        (Ok(Found::Payment(approved(8550))), "approved"),
        (Ok(Found::Payment(PaymentResult::Declined)), "declined"),
        (Ok(Found::Payment(PaymentResult::Pending)), "pending"),
        (Ok(Found::Nothing), "not_found"),
        (Ok(Found::Payment(approved(8450))), "mismatched"),
        (Err(NoAnswer), "unreachable"),
    ] {
        let (server, acquirer, path) = till().await;
        let series = format!("turno_take_overs_total{{result=\"{name}\"}}");
        acquirer.on_charge(Err(NoAnswer)).on_lookup(found);
        pay(&server, &path).await.refused(503, "outcome_unknown");
        assert_eq!(value(&server, &series).await, 0);
        pay(&server, &path).await;
        assert_eq!(value(&server, &series).await, 1, "{name}");
    }
}

#[tokio::test]
async fn payments_in_flight_and_lost_leases_are_counted() {
    let (server, acquirer, path) = till().await;
    let open = acquirer.hold_charge(Ok(approved(8550)));
    acquirer.on_lookup(Ok(Found::Payment(approved(8550))));
    let mut late = Box::pin(pay(&server, &path));
    while acquirer.charged().is_empty() {
        tokio::select! {
            biased;
            answer = &mut late => panic!("nobody has answered yet: {}", answer.body),
            () = tokio::task::yield_now() => {}
        }
    }
    assert_eq!(value(&server, "turno_payments_in_flight").await, 1);
    pay(&server, &path).await.refused(409, "idempotency_in_progress");
    assert_eq!(value(&server, "turno_answers_total{code=\"idempotency_in_progress\"}").await, 1);
    server.site.clock.advance(SignedDuration::from_secs(60));
    pay(&server, &path).await.expect(201);
    assert_eq!(value(&server, "turno_leases_lost_total").await, 0);
    open.send(()).unwrap();
    late.await.expect(201);
    assert_eq!(value(&server, "turno_leases_lost_total").await, 1);
    assert_eq!(value(&server, "turno_payments_in_flight").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_wait_for_the_store_are_counted() {
    let server = Server::new().await;
    let holder = rusqlite::Connection::open(server.site.file()).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let sell = |n: u32| {
        let server = &server;
        async move {
            server
                .create(&format!("k{n}"), sale(&format!("E-{n}"), json!({"amount": format!("{n}.00")})))
                .await
        }
    };
    let selling = futures_util::future::join_all((1..=8).map(sell));
    let watching = async {
        while value(&server, "turno_store_queue_depth").await == 0 {
            tokio::task::yield_now().await;
        }
        holder.execute_batch("ROLLBACK").unwrap();
    };
    let (sold, ()) = tokio::join!(selling, watching);
    assert!(sold.iter().all(|answer| answer.status == 201));
    assert_eq!(value(&server, "turno_store_queue_depth").await, 0);
}

#[tokio::test]
async fn metrics_on_an_address_of_their_own_are_not_on_the_main_one() {
    let site = Site::new(Arc::new(SimulatedAcquirer::default()));
    let server = site.start().await.with_config(|config| config.metrics_place = MetricsPlace::Apart);
    assert!(server.text("/metrics").await.contains("not_found"));
    let description: Value = serde_json::from_str(&server.text("/openapi.json").await).unwrap();
    assert!(description["paths"].get("/metrics").is_none());

    let apart = metrics_app(server.ledger.clone(), server.site.config());
    let status = async |path: &str| {
        let request = Request::get(path).body(Body::empty()).unwrap();
        Router::clone(&apart).oneshot(request).await.unwrap().status().as_u16()
    };
    assert_eq!(status("/metrics").await, 200);
    for path in ["/v1/catalog", "/health", "/openapi.json"] {
        assert_eq!(status(path).await, 404, "{path}");
    }
}
