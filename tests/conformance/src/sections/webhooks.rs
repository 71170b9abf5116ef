//! §7 and §11: the acquirer's webhook, signed, repeated, late.

use super::prelude::*;

section! { "webhooks":
    an_approval_closes_a_pending_payment_and_the_retry_replays_it covers Webhook Pending D2 Payments;
    a_decline_closes_a_pending_payment_for_good covers Webhook Declined;
    repeats_and_late_events_are_200_without_effect covers Webhook Payments;
    a_webhook_without_a_good_signature_changes_nothing covers Webhook Payments;
    an_event_about_another_amount_does_not_make_a_sale_paid covers Webhook OtherAmount;
}

/// A payment that the acquirer left pending.
struct Pending<'a> {
    stage: &'a Stage,
    id: String,
    acquirer: String,
}

impl<'a> Pending<'a> {
    async fn begin(stage: &'a Stage) -> Result<Self> {
        let sale = stage.sale("E", json!({"payment_method": "card", "amount": stage.amount(2)}));
        let id = stage.created("k", &sale).await?;
        let mut pending = Self { stage, id, acquirer: String::new() };
        pending.acquirer = pending.pay().await?.expect(202)?.text("acquirer_payment_id")?;
        Ok(pending)
    }

    async fn pay(&self) -> Result<Answer> {
        let body = json!({"external_payment_id": self.stage.id("P"), "amount": self.stage.amount(2), "currency": "PEN"});
        self.stage.post(format!("/v1/transactions/{}/payments", self.id)).key("p").json(&body).send().await
    }

    fn event(&self, event: &str, status: &str) -> Value {
        json!({
            "event_id": self.stage.id(event), "acquirer_payment_id": self.acquirer, "status": status,
            "amount": self.stage.amount(2), "currency": "PEN",
        })
    }

    async fn tell(&self, event: &Value) -> Result<Answer> {
        self.stage.post("/v1/acquirer/webhook").by_nobody().json(event).signed().send().await
    }

    async fn financial(&self) -> Result<String> {
        self.stage.read(&self.id).await?.text("state.financial")
    }
}

async fn an_approval_closes_a_pending_payment_and_the_retry_replays_it(stage: Stage) -> Result<()> {
    let payment = Pending::begin(&stage).await?;
    payment.tell(&payment.event("1", "approved")).await?.expect(200)?;
    ensure!(payment.financial().await? == "paid", "it is not paid");
    let replay = payment.pay().await?.expect(200)?;
    replay.with(json!({
        "idempotency_replayed": true, "acquirer_payment_id": payment.acquirer, "state": {"financial": "paid"},
    }))?;
    Ok(())
}

async fn a_decline_closes_a_pending_payment_for_good(stage: Stage) -> Result<()> {
    let payment = Pending::begin(&stage).await?;
    payment.tell(&payment.event("1", "declined")).await?.expect(200)?;
    payment.pay().await?.refused(402, "payment_declined")?;
    // Too late to change its mind.
    payment.tell(&payment.event("2", "approved")).await?.expect(200)?;
    payment.pay().await?.refused(402, "payment_declined")?;
    ensure!(payment.financial().await? == "declined", "it is not declined");
    Ok(())
}

async fn repeats_and_late_events_are_200_without_effect(stage: Stage) -> Result<()> {
    let payment = Pending::begin(&stage).await?;
    for (event, status) in [("1", "approved"), ("1", "approved"), ("2", "approved"), ("3", "declined")] {
        payment.tell(&payment.event(event, status)).await?.expect(200)?;
        ensure!(payment.financial().await? == "paid", "event {event} {status} had an effect");
    }
    Ok(())
}

async fn a_webhook_without_a_good_signature_changes_nothing(stage: Stage) -> Result<()> {
    let payment = Pending::begin(&stage).await?;
    let event = payment.event("1", "approved");
    let hook = || stage.post("/v1/acquirer/webhook").by_nobody().json(&event);
    hook().send().await?.refused(401, "unauthenticated")?;
    for signature in ["", "sha256=", "sha256=00", "x", &format!("sha256={}", "0".repeat(64))] {
        hook().header("x-acquirer-signature", signature).send().await?.refused(401, "unauthenticated")?;
    }
    // A signature of other bytes, and a till's credential instead of one.
    let mut other = event.clone();
    other["amount"] = json!("1.02");
    let swapped =
        stage.post("/v1/acquirer/webhook").by_nobody().json(&other).signed().bytes(event.to_string());
    swapped.send().await?.refused(401, "unauthenticated")?;
    stage.post("/v1/acquirer/webhook").json(&event).send().await?.refused(401, "unauthenticated")?;
    ensure!(payment.financial().await? == "processing", "an unsigned event had an effect");
    Ok(())
}

async fn an_event_about_another_amount_does_not_make_a_sale_paid(stage: Stage) -> Result<()> {
    let payment = Pending::begin(&stage).await?;
    let mut event = payment.event("1", "approved");
    event["amount"] = json!("1.02");
    payment.tell(&event).await?;
    ensure!(payment.financial().await? != "paid", "paid with another amount");
    Ok(())
}
