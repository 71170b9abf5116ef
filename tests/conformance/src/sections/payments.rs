//! §7 and §11: payments, with each outcome of the sandbox acquirer. The céntimos of an amount choose it.

use std::time::{Duration, Instant};

use super::prelude::*;
use crate::wait::until;

section! { "payments":
    an_approved_payment_makes_the_sale_paid_and_is_replayed covers Approved Payments H1 D2;
    a_decline_is_final_under_any_key_and_a_new_id_is_a_new_attempt covers Declined Payments D2 F2;
    a_new_attempt_after_a_decline_may_succeed covers Declined Payments;
    a_pending_payment_is_in_progress_and_not_asked_for_again covers Pending Payments D3;
    an_approval_whose_answer_was_lost_is_found_and_never_charged_again covers Approved D4 Payments;
    a_lost_approval_is_found_under_another_key_too covers D4 F2 Payments;
    a_decline_whose_answer_was_lost_is_found_and_final covers Declined D4 D2;
    a_charge_that_never_arrived_is_charged_again_once_that_is_certain covers NotFoundYoung NotFoundOld D4;
    an_approval_of_another_amount_is_for_people covers OtherAmount D4;
    while_the_acquirer_is_unreachable_the_outcome_stays_unknown covers Unreachable D4 Payments;
    while_a_payment_is_made_its_key_is_in_progress covers D3 D1 D2 Payments;
    a_till_that_hangs_up_does_not_stop_its_payment covers HangUp D2;
    the_same_payment_id_is_the_payment_already_known_or_a_conflict covers F1 F2 Keys;
    a_payments_key_is_bound_to_its_content_and_its_sale covers D1 Compared;
    a_payment_needs_a_key_and_valid_content covers B1 B2 E1 Payments;
    a_voided_or_paid_sale_is_not_charged covers Payments;
    a_sale_that_does_not_exist_is_not_paid_and_the_key_stays_free covers Everywhere D6;
}

/// A sale that waits for its payment, and how it is paid.
struct Bill<'a> {
    stage: &'a Stage,
    id: String,
    amount: String,
}

impl<'a> Bill<'a> {
    async fn of(stage: &'a Stage, cents: u32) -> Result<Self> {
        let amount = stage.amount(cents);
        let sale = stage.sale("E", json!({"payment_method": "card", "amount": amount}));
        Ok(Self { stage, id: stage.created("k", &sale).await?, amount })
    }

    fn body(&self, payment: &str) -> Value {
        json!({
            "external_payment_id": self.stage.id(payment), "amount": self.amount, "currency": "PEN", "method": "card",
        })
    }

    async fn send(&self, key: &str, body: &Value) -> Result<Answer> {
        let path = format!("/v1/transactions/{}/payments", self.id);
        self.stage.post(path).key(key).json(body).send().await
    }

    async fn pay(&self, key: &str, payment: &str) -> Result<Answer> {
        self.send(key, &self.body(payment)).await
    }

    /// Asks under one key until the answer is no longer "wait".
    async fn settle(&self, key: &str, payment: &str) -> Result<Answer> {
        until("the payment is settled", async || {
            let answer = self.pay(key, payment).await?;
            Ok((answer.code() != IN_PROGRESS).then_some(answer))
        })
        .await
    }

    async fn financial(&self) -> Result<String> {
        self.stage.read(&self.id).await?.text("state.financial")
    }
}

/// How long the sandbox's slow acquirer takes at least.
const SLOW: Duration = Duration::from_secs(3);

/// Demands "wait" of an answer that came before `limit` was over. On a busy machine it may come later, and then says
/// nothing of this.
fn in_progress(answer: Answer, began: Instant, limit: Duration) -> Result<()> {
    if began.elapsed() < limit {
        answer.refused(409, IN_PROGRESS)?;
    }
    Ok(())
}

const IN_PROGRESS: &str = "idempotency_in_progress";
const UNKNOWN: &str = "outcome_unknown";

async fn an_approved_payment_makes_the_sale_paid_and_is_replayed(stage: Stage) -> Result<()> {
    let bill = Bill::of(&stage, 50).await?;
    let paid = bill.pay("p", "P").await?.expect(201)?.with_header("idempotency-replayed", "false")?;
    let paid = paid.with(json!({
        "yupy_transaction_id": bill.id, "external_transaction_id": stage.id("E"),
        "external_payment_id": stage.id("P"), "amount": bill.amount, "currency": "PEN",
        "state": {"operational": "active", "financial": "paid"},
    }))?;
    ensure!(paid.at("recovered") != true, "nothing was lost: {}", paid.summary());
    let acquirer = paid.text("acquirer_payment_id")?;
    ensure!(!acquirer.is_empty(), "no acquirer's id");
    let again = bill.pay("p", "P").await?.expect(200)?.with_header("idempotency-replayed", "true")?;
    again.with(json!({
        "idempotency_replayed": true, "original_status": 201, "acquirer_payment_id": acquirer,
        "state": {"financial": "paid"},
    }))?;
    ensure!(bill.financial().await? == "paid", "the sale is not paid");
    Ok(())
}

async fn a_decline_is_final_under_any_key_and_a_new_id_is_a_new_attempt(stage: Stage) -> Result<()> {
    let bill = Bill::of(&stage, 1).await?;
    bill.pay("p", "P").await?.refused(402, "payment_declined")?;
    let again = bill.pay("p", "P").await?.refused(402, "payment_declined")?;
    again.with_header("idempotency-replayed", "true")?;
    bill.pay("another", "P").await?.refused(402, "payment_declined")?;
    ensure!(bill.financial().await? == "declined", "the sale is not declined");
    bill.pay("q", "Q").await?.refused(402, "payment_declined")?;
    Ok(())
}

async fn a_new_attempt_after_a_decline_may_succeed(stage: Stage) -> Result<()> {
    let bill = Bill::of(&stage, 5).await?;
    bill.pay("p", "P").await?.refused(402, "payment_declined")?;
    bill.pay("q", "Q").await?.expect(201)?.with(json!({"state": {"financial": "paid"}}))?;
    // The first id stays declined.
    bill.pay("p", "P").await?.refused(402, "payment_declined")?;
    ensure!(bill.financial().await? == "paid", "the sale is not paid");
    Ok(())
}

async fn a_pending_payment_is_in_progress_and_not_asked_for_again(stage: Stage) -> Result<()> {
    let bill = Bill::of(&stage, 2).await?;
    bill.pay("p", "P").await?.expect(202)?.with(json!({
        "result": "processing", "state": {"financial": "processing"}, "external_payment_id": stage.id("P"),
    }))?;
    for key in ["p", "p", "another"] {
        bill.pay(key, "P").await?.refused(409, IN_PROGRESS)?;
    }
    ensure!(bill.financial().await? == "processing", "it is not processing");
    Ok(())
}

async fn an_approval_whose_answer_was_lost_is_found_and_never_charged_again(stage: Stage) -> Result<()> {
    let bill = Bill::of(&stage, 3).await?;
    bill.pay("p", "P").await?.refused(503, UNKNOWN)?;
    ensure!(bill.financial().await? == "processing", "it is not processing");
    let found = bill.settle("p", "P").await?.expect(201)?;
    found.with(json!({"recovered": true, "state": {"financial": "paid"}, "amount": bill.amount}))?;
    bill.pay("p", "P").await?.expect(200)?.with(json!({"idempotency_replayed": true}))?;
    Ok(())
}

async fn a_lost_approval_is_found_under_another_key_too(stage: Stage) -> Result<()> {
    let bill = Bill::of(&stage, 3).await?;
    bill.pay("p", "P").await?.refused(503, UNKNOWN)?;
    let found = bill.settle("another", "P").await?.expect(201)?;
    let found = found.with(json!({"recovered": true, "state": {"financial": "paid"}}))?;
    let known = bill.pay("p", "P").await?.expect(200)?;
    known.with(json!({"acquirer_payment_id": found.body["acquirer_payment_id"]}))?;
    Ok(())
}

async fn a_decline_whose_answer_was_lost_is_found_and_final(stage: Stage) -> Result<()> {
    let bill = Bill::of(&stage, 7).await?;
    bill.pay("p", "P").await?.refused(503, UNKNOWN)?;
    bill.settle("p", "P").await?.refused(402, "payment_declined")?;
    bill.pay("p", "P").await?.refused(402, "payment_declined")?;
    ensure!(bill.financial().await? == "declined", "the sale is not declined");
    Ok(())
}

async fn a_charge_that_never_arrived_is_charged_again_once_that_is_certain(stage: Stage) -> Result<()> {
    let bill = Bill::of(&stage, 4).await?;
    let began = Instant::now();
    bill.pay("p", "P").await?.refused(503, UNKNOWN)?;
    // At once the acquirer may only not know of it yet.
    in_progress(bill.pay("p", "P").await?, began, stage.fixture().visibility_delay())?;
    let settled = bill.settle("p", "P").await?;
    ensure!([200, 201].contains(&settled.status), "not charged again: {}", settled.summary());
    settled.with(json!({"state": {"financial": "paid"}}))?;
    Ok(())
}

async fn an_approval_of_another_amount_is_for_people(stage: Stage) -> Result<()> {
    let bill = Bill::of(&stage, 6).await?;
    bill.pay("p", "P").await?.refused(503, UNKNOWN)?;
    bill.settle("p", "P").await?.refused(409, "reconciliation_required")?;
    bill.pay("p", "P").await?.refused(409, "reconciliation_required")?;
    ensure!(bill.financial().await? != "paid", "paid with another amount");
    Ok(())
}

async fn while_the_acquirer_is_unreachable_the_outcome_stays_unknown(stage: Stage) -> Result<()> {
    let bill = Bill::of(&stage, 9).await?;
    for _ in 0..3 {
        bill.pay("p", "P").await?.refused(503, UNKNOWN)?;
    }
    ensure!(bill.financial().await? == "processing", "it is not processing");
    Ok(())
}

async fn while_a_payment_is_made_its_key_is_in_progress(stage: Stage) -> Result<()> {
    let bill = Bill::of(&stage, 8).await?;
    let began = Instant::now();
    let meanwhile = async {
        let is_begun = async || Ok((bill.financial().await? != "awaiting_payment").then_some(()));
        until("the payment is under way", is_begun).await?;
        in_progress(bill.pay("p", "P").await?, began, SLOW)?;
        let mut other = bill.body("P");
        other["method"] = json!("wallet");
        bill.send("p", &other).await?.refused(409, "idempotency_conflict")?;
        in_progress(bill.pay("another", "P").await?, began, SLOW)
    };
    let (paid, meanwhile) = futures_util::future::join(bill.pay("p", "P"), meanwhile).await;
    meanwhile?;
    paid?.expect(201)?;
    bill.pay("p", "P").await?.expect(200)?.with(json!({"idempotency_replayed": true}))?;
    Ok(())
}

async fn a_till_that_hangs_up_does_not_stop_its_payment(stage: Stage) -> Result<()> {
    let bill = Bill::of(&stage, 8).await?;
    let begun = until("the payment is under way", async || {
        Ok((bill.financial().await? != "awaiting_payment").then_some(()))
    });
    // Whoever loses the race is dropped, and with it its connection.
    tokio::select! {
        answer = bill.pay("p", "P") => { answer?.fail::<()>("answered before it was under way")?; }
        begun = begun => begun?,
    }
    let settled = bill.settle("p", "P").await?;
    ensure!(settled.status == 200, "the payment was begun again: {}", settled.summary());
    settled.with(
        json!({"idempotency_replayed": true, "original_status": 201, "state": {"financial": "paid"}}),
    )?;
    Ok(())
}

async fn the_same_payment_id_is_the_payment_already_known_or_a_conflict(stage: Stage) -> Result<()> {
    let bill = Bill::of(&stage, 50).await?;
    let paid = bill.pay("p", "P").await?.expect(201)?;
    let known = bill.pay("p2", "P").await?.expect(200)?.with_header("idempotency-replayed", "false")?;
    known.with(
        json!({"acquirer_payment_id": paid.body["acquirer_payment_id"], "state": {"financial": "paid"}}),
    )?;
    for (key, name, value) in [("p3", "amount", stage.amount(51)), ("p4", "currency", "USD".to_owned())] {
        let mut other = bill.body("P");
        other[name] = json!(value);
        let conflict = bill.send(key, &other).await?.refused(409, "external_transaction_conflict")?;
        conflict.with(json!({"error": {"conflicting_fields": [name]}}))?;
    }
    Ok(())
}

async fn a_payments_key_is_bound_to_its_content_and_its_sale(stage: Stage) -> Result<()> {
    let bill = Bill::of(&stage, 50).await?;
    bill.pay("p", "P").await?.expect(201)?;
    bill.pay("p", "Q").await?.refused(409, "idempotency_conflict")?;
    let other = stage.created("k2", &stage.sale("F", json!({"context": {"seat": "2"}}))).await?;
    let elsewhere = stage.post(format!("/v1/transactions/{other}/payments")).key("p").json(&bill.body("P"));
    elsewhere.send().await?.refused(409, "idempotency_conflict")?;
    stage.read(&other).await?.with(json!({"state": {"financial": "awaiting_payment"}}))?;
    Ok(())
}

async fn a_payment_needs_a_key_and_valid_content(stage: Stage) -> Result<()> {
    let bill = Bill::of(&stage, 50).await?;
    let path = format!("/v1/transactions/{}/payments", bill.id);
    let post = || stage.post(&path).json(&bill.body("P"));
    post().send().await?.refused(400, "idempotency_key_required")?;
    post().key("one").key("two").send().await?.refused(400, "idempotency_key_invalid")?;
    for (name, value) in [
        ("external_payment_id", json!("")),
        ("external_payment_id", json!(null)),
        ("external_payment_id", json!(7)),
        ("amount", json!(85.5)),
        ("amount", json!("-1")),
        ("amount", json!(null)),
        ("currency", json!("pen")),
        ("method", json!(7)),
    ] {
        let mut bad = bill.body("P");
        bad[name] = value;
        bill.send("p", &bad).await?.invalid(&[name])?;
    }
    ensure!(bill.financial().await? == "awaiting_payment", "a bad payment was begun");
    bill.pay("p", "P").await?.expect(201)?;
    Ok(())
}

async fn a_voided_or_paid_sale_is_not_charged(stage: Stage) -> Result<()> {
    let bill = Bill::of(&stage, 50).await?;
    bill.pay("p", "P").await?.expect(201)?;
    bill.pay("q", "Q").await?.refused(409, "invalid_state")?;
    let sale = stage.sale("F", json!({"payment_method": "card", "context": {"seat": "2"}}));
    let voided = stage.created("k2", &sale).await?;
    stage.void(&voided).await?;
    let late = stage.post(format!("/v1/transactions/{voided}/payments")).key("r").json(&bill.body("R"));
    late.send().await?.refused(409, "invalid_state")?;
    stage.read(&voided).await?.with(json!({"state": {"financial": "awaiting_payment"}}))?;
    Ok(())
}

async fn a_sale_that_does_not_exist_is_not_paid_and_the_key_stays_free(stage: Stage) -> Result<()> {
    let bill = Bill::of(&stage, 50).await?;
    let nowhere = stage.post("/v1/transactions/no-such-sale/payments").key("p").json(&bill.body("P"));
    nowhere.send().await?.refused(404, "transaction_not_found")?;
    bill.pay("p", "P").await?.expect(201)?;
    Ok(())
}
