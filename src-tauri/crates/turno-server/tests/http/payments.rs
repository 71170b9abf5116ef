//! Payments: one charge, whatever dies on the way.

use std::{sync::Arc, time::Duration};

use axum::{body::Body, http::Request};
use jiff::SignedDuration;
use serde_json::{Value, json};
use turno_domain::{Currency, Money};
use turno_server::{
    acquirer::{Found, NoAnswer},
    payment::PaymentResult,
};

use crate::{
    acquirer::Scripted,
    harness::{Answer, Server, Site, WEBHOOK_SECRET, sale},
};

fn approved(minor: i64) -> PaymentResult {
    PaymentResult::Approved { amount: Money::from_minor(minor, Currency::PEN) }
}

/// For the amount that was asked.
fn approval() -> PaymentResult {
    approved(8550)
}

/// A server, its acquirer, and a sale that waits for its payment.
struct Till {
    server: Server,
    acquirer: Scripted,
    sale: String,
}

impl Till {
    async fn new() -> Self {
        let acquirer = Scripted::default();
        let server = Site::new(Arc::new(acquirer.clone())).start().await;
        let body = sale("E-1", json!({"payment_method": "card"}));
        let sale = server.create("sale", body).await.expect(201).text("yupy_transaction_id");
        Self { server, acquirer, sale }
    }

    async fn pay(&self, key: &str, payment: &str) -> Answer {
        self.pay_amount(key, payment, "85.50").await
    }

    async fn pay_amount(&self, key: &str, payment: &str, amount: &str) -> Answer {
        let body =
            json!({"external_payment_id": payment, "amount": amount, "currency": "PEN", "method": "card"});
        self.server.post(&format!("/v1/transactions/{}/payments", self.sale), key, body).await
    }

    async fn financial(&self) -> String {
        self.server.get(&format!("/v1/transactions/{}", self.sale)).await.expect(200).text("state.financial")
    }

    /// Drive `request` until the acquirer has been asked, which has not answered yet.
    async fn until_charged(&self, request: &mut (impl Future<Output = Answer> + Unpin)) {
        while self.acquirer.charged().is_empty() {
            tokio::select! {
                biased;
                answer = &mut *request => panic!("nobody has answered yet: {}", answer.body),
                () = tokio::task::yield_now() => {}
            }
        }
    }

    async fn webhook(&self, event: &str, status: &str) -> Answer {
        let id = self.acquirer.charged()[0].clone();
        let body = json!({
            "event_id": event, "acquirer_payment_id": id, "status": status, "amount": "85.50", "currency": "PEN",
        });
        let bytes = body.to_string();
        let signature = signature(bytes.as_bytes());
        let request = Request::post("/v1/acquirer/webhook")
            .header("content-type", "application/json")
            .header("x-acquirer-signature", format!("sha256={signature}"));
        self.server.send(request.body(Body::from(bytes)).unwrap()).await
    }
}

fn signature(bytes: &[u8]) -> String {
    use hmac::{Hmac, KeyInit, Mac};
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(WEBHOOK_SECRET.as_bytes()).unwrap();
    mac.update(bytes);
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn an_approval_pays_the_sale_and_is_repeated() {
    let till = Till::new().await;
    till.acquirer.on_charge(Ok(approval()));
    let paid = till.pay("p", "P").await.expect(201);
    assert_eq!(paid.body["state"]["financial"], "paid");
    assert!(till.pay("p", "P").await.expect(200).is_replay());
    assert_eq!(till.pay("p2", "P").await.expect(200).body["duplicate"], true);
    till.pay("p3", "Q").await.refused(409, "invalid_state");
    till.pay_amount("p4", "P", "85.60").await.refused(409, "external_transaction_conflict");
    assert_eq!(till.acquirer.charged().len(), 1);
}

#[tokio::test]
async fn a_decline_is_final_for_its_id_and_another_id_is_another_attempt() {
    let till = Till::new().await;
    till.acquirer.on_charge(Ok(PaymentResult::Declined)).on_charge(Ok(approval()));
    assert!(!till.pay("p", "P").await.refused(402, "payment_declined").is_replay());
    assert!(till.pay("p", "P").await.refused(402, "payment_declined").is_replay());
    till.pay("p2", "P").await.refused(402, "payment_declined");
    assert_eq!(till.financial().await, "declined");
    till.pay("q", "Q").await.expect(201);
    assert!(till.pay("p", "P").await.refused(402, "payment_declined").is_replay());
    assert_eq!(till.financial().await, "paid");
}

#[tokio::test]
async fn a_payment_is_for_the_whole_sale() {
    let till = Till::new().await;
    let refused = till.pay_amount("p", "P", "1.00").await.refused(422, "validation_failed");
    assert_eq!(refused.body["error"]["fields"], json!([{"path": "amount", "code": "differs_from_sale"}]));
    assert_eq!(till.financial().await, "awaiting_payment");
    assert_eq!(till.acquirer.charged().len(), 0);
}

/// What a retry finds at the acquirer after an owner that went without an outcome.
#[tokio::test]
async fn every_answer_of_the_acquirer_about_a_lost_charge_has_its_own_end() {
    let check = async |found: Result<Found, NoAnswer>, status: u16, code: &str, financial: &str| {
        let till = Till::new().await;
        till.acquirer.on_charge(Err(NoAnswer)).on_lookup(found);
        till.pay("p", "P").await.refused(503, "outcome_unknown");
        assert_eq!(till.financial().await, "processing");
        let retry = till.pay("p", "P").await.expect(status);
        assert_eq!(retry.code(), code);
        assert_eq!(till.financial().await, financial, "{found:?}");
        assert_eq!(till.acquirer.charged().len(), 1, "{found:?}");
        retry
    };
    let recovered = check(Ok(Found::Payment(approval())), 201, "", "paid").await;
    assert_eq!(recovered.body["recovered"], true);
    check(Ok(Found::Payment(PaymentResult::Declined)), 402, "payment_declined", "declined").await;
    let pending =
        check(Ok(Found::Payment(PaymentResult::Pending)), 409, "idempotency_in_progress", "processing").await;
    assert_eq!(pending.header("retry-after"), Some("5"));
    let young = check(Ok(Found::Nothing), 409, "idempotency_in_progress", "processing").await;
    assert_eq!(young.header("retry-after"), Some("5"));
    check(Ok(Found::Payment(approved(8450))), 409, "reconciliation_required", "processing").await;
    check(Err(NoAnswer), 503, "outcome_unknown", "processing").await;
}

#[tokio::test]
async fn a_charge_that_never_arrived_is_sent_again_under_its_own_id_once_that_is_certain() {
    let till = Till::new().await;
    till.acquirer.on_charge(Err(NoAnswer)).on_lookup(Ok(Found::Nothing)).on_lookup(Ok(Found::Nothing));
    till.acquirer.on_charge(Ok(approval()));
    till.pay("p", "P").await.refused(503, "outcome_unknown");
    till.pay("p", "P").await.refused(409, "idempotency_in_progress");
    till.server.site.clock.advance(SignedDuration::from_secs(10));
    let paid = till.pay("p", "P").await.expect(201);
    assert!(paid.body.get("recovered").is_none(), "it was charged now, not found");
    let charged = till.acquirer.charged();
    assert_eq!(charged.len(), 2);
    assert_eq!(charged[0], charged[1]);
    assert_eq!(till.server.audited("taken_over").await.len(), 2);
}

#[tokio::test]
async fn a_till_that_hangs_up_does_not_stop_its_payment() {
    let till = Till::new().await;
    let open = till.acquirer.hold_charge(Ok(approval()));
    {
        let mut request = Box::pin(till.pay("p", "P"));
        till.until_charged(&mut request).await;
        // The request is dropped here, with its connection.
    }
    till.pay("p", "P").await.refused(409, "idempotency_in_progress");
    till.pay("p2", "P").await.refused(409, "idempotency_in_progress");
    let void = json!({"external_operation_id": "V"});
    let void = till.server.post(&format!("/v1/transactions/{}/void", till.sale), "v", void).await;
    void.refused(409, "invalid_state");
    open.send(()).unwrap();
    while till.financial().await == "processing" {
        tokio::task::yield_now().await;
    }
    assert!(till.pay("p", "P").await.expect(200).is_replay());
    assert!(till.pay("p2", "P").await.expect(200).is_replay(), "a key that waited ends with its payment");
}

#[tokio::test]
async fn an_owner_that_comes_back_too_late_writes_nothing() {
    let till = Till::new().await;
    let open = till.acquirer.hold_charge(Ok(PaymentResult::Declined));
    till.acquirer.on_lookup(Ok(Found::Payment(approval())));
    let mut late = Box::pin(till.pay("p", "P"));
    till.until_charged(&mut late).await;
    till.server.site.clock.advance(SignedDuration::from_secs(60));
    assert_eq!(till.pay("p", "P").await.expect(201).body["recovered"], true);
    open.send(()).unwrap();
    assert_eq!(
        late.await.expect(201).body["state"]["financial"],
        "paid",
        "it reads what the other one wrote"
    );
    assert_eq!(till.financial().await, "paid");
    assert_eq!(till.server.audited("payment_declined").await.len(), 0);
}

/// `kill -9` between the charge and its answer: the runtime goes with everything that was running in it.
#[test]
fn the_next_process_follows_what_the_last_one_left() {
    let (server, acquirer, sale) = {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let till = runtime.block_on(async {
            let till = Till::new().await;
            drop(till.acquirer.hold_charge(Ok(approval())));
            let mut request = Box::pin(till.pay("p", "P"));
            till.until_charged(&mut request).await;
            till.server.ledger.close().await;
            drop(request);
            till
        });
        runtime.shutdown_background();
        (till.server, till.acquirer, till.sale)
    };
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        acquirer.on_lookup(Ok(Found::Payment(approval())));
        let till = Till { server: server.restart().await, acquirer, sale };
        let retry = till.pay("p", "P").await.expect(201);
        assert_eq!(retry.body["recovered"], true, "no lease has to run out on a store of one process");
        assert_eq!(till.acquirer.charged().len(), 1);
    });
}

#[tokio::test(start_paused = true)]
async fn a_payment_that_nobody_asks_about_is_looked_up_and_never_charged_again() {
    let till = Till::new().await;
    till.acquirer
        .on_charge(Err(NoAnswer))
        .on_lookup(Ok(Found::Nothing))
        .on_lookup(Ok(Found::Payment(approval())));
    till.pay("p", "P").await.refused(503, "outcome_unknown");
    let config = till.server.site.config();
    let housekeeping = tokio::spawn(turno_server::housekeeping(till.server.ledger.clone(), config));
    while till.financial().await == "processing" {
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    housekeeping.abort();
    assert_eq!(till.financial().await, "paid");
    assert_eq!(till.acquirer.charged().len(), 1);
}

/// Nobody is there who could move the money: the sale stays as it is, and another server may still take the payment.
#[tokio::test]
async fn without_an_acquirer_a_payment_is_refused_before_it_begins() {
    let mut till = Till::new().await;
    till.server = till.server.with_config(|config| config.acquirer = None);
    till.pay("p", "P").await.refused(503, "service_unavailable");
    assert_eq!(till.financial().await, "awaiting_payment");
    till.acquirer.on_charge(Ok(approval()));
    till.server = till.server.with_config(|_| ());
    till.pay("p", "P").await.expect(201);
}

#[tokio::test]
async fn a_webhook_closes_a_pending_payment_once() {
    let till = Till::new().await;
    till.acquirer.on_charge(Ok(PaymentResult::Pending)).on_lookup(Ok(Found::Payment(PaymentResult::Pending)));
    let pending = till.pay("p", "P").await.expect(202);
    assert_eq!(pending.body["result"], "processing");
    till.pay("p", "P").await.refused(409, "idempotency_in_progress");
    till.webhook("EV-1", "approved").await.expect(200);
    till.webhook("EV-1", "approved").await.expect(200);
    till.webhook("EV-2", "declined").await.expect(200);
    assert_eq!(till.financial().await, "paid");
    assert!(till.pay("p", "P").await.expect(200).is_replay());
    assert_eq!(till.server.audited("payment_approved").await.len(), 1);
}

#[tokio::test]
async fn a_webhook_is_believed_by_its_signature_alone() {
    let till = Till::new().await;
    let body: Value = json!({"event_id": "E", "acquirer_payment_id": "x", "status": "approved"});
    for signature in ["", "sha256=", "sha256=00", "none", &format!("sha256={}", signature(b"other bytes"))] {
        let request = Request::post("/v1/acquirer/webhook")
            .header("content-type", "application/json")
            .header("x-acquirer-signature", signature);
        let refused = till.server.send(request.body(Body::from(body.to_string())).unwrap()).await;
        refused.refused(401, "unauthenticated");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn equal_payments_at_once_charge_once() {
    let till = Till::new().await;
    till.acquirer.on_charge(Ok(approval()));
    let answers = futures_util::future::join_all((0..20).map(|_| till.pay("p", "P"))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
    let others = |answer: &&Answer| answer.is_replay() || answer.code() == "idempotency_in_progress";
    assert_eq!(answers.iter().filter(others).count(), 19);
    assert_eq!(till.acquirer.charged().len(), 1);
}
