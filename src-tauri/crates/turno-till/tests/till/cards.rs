//! A card pays: with the line only, once for a sale, and nobody but YUPY says whether it did.

use std::time::Duration;

use serde_json::{Value, json};
use turno_till::transport::Failure;
use turno_till::view::{
    CancelUnpaidRequest, CardProgress, CardTrouble, Charge, ChargeCardRequest, ChargeOutcome, Checkout,
    ConnectionState, Happening, Line, LookAlikePolicy, Problem, ProblemCode, SaleSummary, SaleVerdict,
    ShiftReportRequest, Tender, VoidProgress,
};

use crate::support::{
    Reply, Sent, Shop, accepted, charge, error, fare, json_answer, luggage, question, recorded, seat,
};

fn is_payment(sent: &Sent) -> bool {
    sent.path.ends_with("/payments")
}

fn by_card(shop: &Shop, lines: Vec<Line>) -> Charge {
    Charge {
        tenders: vec![Tender::Card],
        look_alikes: LookAlikePolicy::SellAnyway,
        ..charge(&shop.till.open_draft().draft_id, lines)
    }
}

/// What YUPY says to a payment of the sale that it was asked for.
fn paid(result: &'static str, status: u16) -> impl FnOnce(&Value) -> Reply + Send + 'static {
    move |body| {
        let payment = body["external_payment_id"].as_str().unwrap();
        let id = payment.rsplit_once("-P").unwrap().0;
        json_answer(
            status,
            &json!({
                "result": result, "idempotency_replayed": false, "yupy_transaction_id": format!("ypt-{id}"),
                "external_transaction_id": id, "external_payment_id": payment, "acquirer_payment_id": "acq-1",
                "amount": body["amount"], "currency": body["currency"], "request_id": "r-7",
                "state": { "operational": "active", "financial": "paid" },
            }),
        )
    }
}

fn voided(body: &Value, id: &str) -> Reply {
    json_answer(
        200,
        &json!({
            "result": "applied", "idempotency_replayed": false, "yupy_transaction_id": format!("ypt-{id}"),
            "external_transaction_id": id, "external_operation_id": body["external_operation_id"],
            "state": { "operational": "voided", "financial": "declined" }, "request_id": "r-9",
        }),
    )
}

impl Shop {
    /// A till that hears YUPY.
    async fn on_line() -> Self {
        let shop = Self::open().await;
        shop.until_online().await;
        shop
    }

    async fn until_online(&self) {
        let mut changes = self.till.changes();
        while self.till.status().await.unwrap().unwrap().connection.state != ConnectionState::Online {
            if tokio::time::timeout(Duration::from_secs(1), changes.changed()).await.is_err() {
                self.clock.forward(1_000);
            }
        }
    }

    async fn sell_by_card(&self, lines: Vec<Line>) -> Box<Checkout> {
        recorded(self.till.charge(&by_card(self, lines)).await.unwrap())
    }

    async fn until_card(&self, id: &str, wanted: impl Fn(&SaleSummary) -> bool) -> SaleSummary {
        let mut changes = self.till.changes();
        for _ in 0..400 {
            let sale = self.sale(id).await;
            if wanted(&sale) {
                return sale;
            }
            if tokio::time::timeout(Duration::from_secs(1), changes.changed()).await.is_err() {
                self.clock.forward(1_000);
            }
        }
        panic!("its card never got there: {:?}", self.sale(id).await);
    }

    async fn until_progress(&self, id: &str, progress: CardProgress) -> SaleSummary {
        self.until_card(id, |sale| sale.card.as_ref().unwrap().progress == progress).await
    }

    async fn until_unconfirmed(&self, id: &str) -> SaleSummary {
        self.until_card(id, |sale| {
            let card = sale.card.as_ref().unwrap();
            card.is_unconfirmed && card.next_attempt_at.is_some()
        })
        .await
    }

    fn payments(&self) -> Vec<Sent> {
        self.yupy.sent.lock().unwrap().iter().filter(|sent| is_payment(sent)).cloned().collect()
    }

    async fn charge_card(&self, id: &str) -> Result<(), Problem> {
        self.till.charge_card(&ChargeCardRequest { external_transaction_id: id.to_owned() }).await
    }

    async fn cancel_unpaid(&self, id: &str) -> Result<(), Problem> {
        let reason = "tarjeta no cobrada".to_owned();
        self.till.cancel_unpaid(&CancelUnpaidRequest { external_transaction_id: id.to_owned(), reason }).await
    }

    async fn tenders(&self) -> Vec<(String, i64)> {
        let report = self.till.shift_report(&ShiftReportRequest { shift_id: None }).await.unwrap();
        report.tenders.into_iter().map(|share| (share.label, share.amount.minor)).collect()
    }
}

fn only(checkout: &Checkout) -> String {
    assert_eq!(checkout.sales.len(), 1);
    checkout.sales[0].external_transaction_id.clone()
}

#[tokio::test(start_paused = true)]
async fn a_card_is_charged_exactly_the_price_behind_its_sale_and_under_a_key_of_its_own() {
    let shop = Shop::on_line().await;
    shop.yupy.then(accepted).then(paid("approved", 201));
    let checkout = shop.sell_by_card(vec![luggage()]).await;
    assert_eq!((checkout.due.minor, checkout.rounding.minor, checkout.change.minor), (996, 0, 0));
    let id = only(&checkout);
    shop.until_progress(&id, CardProgress::Approved).await;
    let sent = shop.payments();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].path, format!("/v1/transactions/ypt-{id}/payments"));
    let body = json!({
        "external_payment_id": format!("{id}-P1"), "amount": "9.96", "currency": "PEN", "method": "card",
    });
    assert_eq!(sent[0].json(), body);
    let create = &shop.yupy.sales()[0];
    assert_eq!(create.json()["payment_method"], "card");
    assert_ne!(sent[0].key, create.key);
    let detail = shop.till.sale_detail(&id).await.unwrap();
    assert_eq!(detail.verdict, SaleVerdict::Counts);
    assert!(detail.timeline.iter().any(|entry| entry.happened == Happening::PaymentApproved));
    assert_eq!(shop.tenders().await, [("card".to_owned(), 996)]);
    let report = shop.till.shift_report(&ShiftReportRequest { shift_id: None }).await.unwrap();
    assert_eq!(report.drawer.expected.minor, 10_000, "nothing of it is in the drawer");
}

#[tokio::test(start_paused = true)]
async fn without_a_line_no_card_is_charged_and_nothing_is_recorded() {
    let shop = Shop::on_line().await;
    shop.yupy.down(Failure::NoNetwork);
    shop.till.send_now().await.unwrap();
    shop.sell(fare(1)).await;
    let mut changes = shop.till.changes();
    while shop.till.status().await.unwrap().unwrap().connection.state == ConnectionState::Online {
        changes.changed().await.unwrap();
    }
    let refused = shop.till.charge(&by_card(&shop, vec![luggage()])).await.unwrap_err();
    assert_eq!(refused.code, ProblemCode::CardNeedsLine);
    assert_eq!(shop.till.recent_sales(None).await.unwrap().items.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_card_pays_a_whole_ticket_or_none_of_it() {
    let shop = Shop::on_line().await;
    let split = Charge {
        tenders: vec![Tender::Card, Tender::Cash { received: None }],
        ..by_card(&shop, vec![luggage()])
    };
    assert_eq!(shop.till.charge(&split).await.unwrap_err().code, ProblemCode::CardAlone);
}

/// Every way in which nobody knows: the same payment is asked for again, with its key and its bytes, and there is no
/// other charge and no void meanwhile.
#[tokio::test(start_paused = true)]
async fn while_nobody_knows_the_same_payment_is_asked_for_and_no_other() {
    type Doubt = Box<dyn FnOnce(&Value) -> Reply + Send>;
    let doubts: Vec<(&str, Doubt)> = vec![
        ("lost answer", Box::new(|_: &Value| Err(Failure::ConnectionLost))),
        ("time-out", Box::new(|_: &Value| Err(Failure::TimedOut))),
        ("pending", Box::new(paid("processing", 202))),
        ("in progress", Box::new(error(409, "idempotency_in_progress"))),
        ("unknown", Box::new(error(503, "outcome_unknown"))),
        (
            "another amount in the answer",
            Box::new(|body: &Value| {
                let mut other = body.clone();
                other["amount"] = json!("1.00");
                paid("approved", 201)(&other)
            }),
        ),
    ];
    for (name, doubt) in doubts {
        let mut shop = Shop::on_line().await;
        shop.yupy.then(accepted).then(doubt);
        let id = only(&*shop.sell_by_card(vec![seat("12A")]).await);
        let shown = shop.until_unconfirmed(&id).await;
        assert_eq!(shown.card.unwrap().progress, CardProgress::Asking, "{name}");
        assert_eq!(shop.till.sale_detail(&id).await.unwrap().verdict, SaleVerdict::CardUnconfirmed, "{name}");
        assert_eq!(shop.tenders().await, [("card_unconfirmed".to_owned(), 8_550)], "{name}");
        assert_eq!(shop.cancel_unpaid(&id).await.unwrap_err().code, ProblemCode::VoidAwaitsPayment, "{name}");
        let void = shop.request_void(&id).await;
        assert_eq!(
            shop.till.void_sale(&void).await.unwrap_err().code,
            ProblemCode::VoidAwaitsPayment,
            "{name}"
        );
        shop.crash().await;
        shop.until_online().await;
        shop.yupy.then(paid("approved", 200));
        // Pressed by a cashier who does not want to wait: the same payment again.
        let _ = shop.charge_card(&id).await;
        shop.until_progress(&id, CardProgress::Approved).await;
        let sent = shop.payments();
        assert!(sent.len() >= 2, "{name}");
        for again in &sent {
            assert_eq!((&again.key, &again.body), (&sent[0].key, &sent[0].body), "{name}");
        }
        assert_eq!(shop.charge_card(&id).await.unwrap_err().code, ProblemCode::CardNotChargeable, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_declined_card_the_next_one_is_a_payment_of_its_own() {
    let shop = Shop::on_line().await;
    shop.yupy.then(accepted).then(error(402, "payment_declined"));
    let id = only(&*shop.sell_by_card(vec![seat("12A")]).await);
    shop.until_progress(&id, CardProgress::Declined).await;
    assert_eq!(shop.till.sale_detail(&id).await.unwrap().verdict, SaleVerdict::CardNotCharged);
    assert_eq!(shop.tenders().await, [("card_not_charged".to_owned(), 8_550)]);
    shop.yupy.then(paid("approved", 201));
    shop.charge_card(&id).await.unwrap();
    let shown = shop.until_progress(&id, CardProgress::Approved).await;
    assert_eq!(shown.card.unwrap().card_number, 2);
    let sent = shop.payments();
    assert_eq!(sent.len(), 2);
    assert_ne!(sent[0].key, sent[1].key);
    assert_eq!(sent[1].json()["external_payment_id"], format!("{id}-P2"));
}

#[tokio::test(start_paused = true)]
async fn a_sale_whose_card_was_declined_is_taken_back_by_whoever_sold_it_and_no_money_moves() {
    let shop = Shop::on_line().await;
    shop.yupy.then(accepted).then(error(402, "payment_declined"));
    let id = only(&*shop.sell_by_card(vec![seat("12A")]).await);
    shop.until_progress(&id, CardProgress::Declined).await;
    let of = id.clone();
    shop.yupy.then(move |body| voided(body, &of));
    shop.cancel_unpaid(&id).await.unwrap();
    let detail = shop.until_voided(&id).await;
    let void = detail.void.unwrap();
    assert_eq!((void.returned.minor, void.parts.len(), void.approved_by.as_str()), (0, 0, "Caja"));
    let report = shop.till.shift_report(&ShiftReportRequest { shift_id: None }).await.unwrap();
    assert_eq!(report.drawer.expected.minor, 10_000);
    assert_eq!(report.figures.net.amount.minor, 0);
    // The seat is free, and is sold for cash.
    shop.sell(seat("12A")).await;
    assert_eq!(shop.charge_card(&id).await.unwrap_err().code, ProblemCode::CardNotChargeable);
}

#[tokio::test(start_paused = true)]
async fn what_was_paid_is_given_back_by_a_manager_only() {
    let shop = Shop::on_line().await;
    shop.yupy.then(accepted).then(paid("approved", 201));
    let id = only(&*shop.sell_by_card(vec![seat("12A")]).await);
    shop.until_progress(&id, CardProgress::Approved).await;
    assert_eq!(shop.cancel_unpaid(&id).await.unwrap_err().code, ProblemCode::CardWasCharged);
    let cash = shop.sell(fare(1)).await.sales[0].external_transaction_id.clone();
    assert_eq!(shop.cancel_unpaid(&cash).await.unwrap_err().code, ProblemCode::CardWasCharged);
    let of = id.clone();
    shop.yupy.otherwise(move |_, body| {
        if body["external_operation_id"].is_string() { voided(body, &of) } else { accepted(body) }
    });
    let request = shop.request_void(&id).await;
    assert_eq!(request.shown_returned_minor, 8_550);
    shop.till.void_sale(&request).await.unwrap();
    let void = shop.until_voided(&id).await.void.unwrap();
    assert_eq!(void.parts.len(), 1, "to the card, nothing from the drawer");
    let report = shop.till.shift_report(&ShiftReportRequest { shift_id: None }).await.unwrap();
    assert_eq!(report.drawer.refunds.minor, 0);
}

#[tokio::test(start_paused = true)]
async fn a_sale_that_is_taken_back_before_its_card_was_asked_is_never_charged() {
    let shop = Shop::on_line().await;
    shop.yupy.down(Failure::NoNetwork);
    let id = only(&*shop.sell_by_card(vec![seat("12A")]).await);
    shop.cancel_unpaid(&id).await.unwrap();
    let of = id.clone();
    shop.yupy.otherwise(move |_, body| {
        if body["external_operation_id"].is_string() { voided(body, &of) } else { accepted(body) }
    });
    shop.yupy.up();
    shop.until_voided(&id).await;
    assert_eq!(shop.payments().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_line_that_comes_back_after_the_customer_left_charges_nothing_by_itself() {
    let shop = Shop::on_line().await;
    shop.yupy.down(Failure::NoNetwork);
    let id = only(&*shop.sell_by_card(vec![seat("12A")]).await);
    assert_eq!(shop.sale(&id).await.card.unwrap().progress, CardProgress::AwaitsSale);
    shop.clock.forward(6 * 60 * 1_000);
    shop.yupy.then(accepted);
    shop.yupy.up();
    let shown = shop.until_progress(&id, CardProgress::NeedsAttention).await;
    let card = shown.card.unwrap();
    assert_eq!((card.trouble, card.is_unconfirmed), (Some(CardTrouble::TooLate), false));
    assert_eq!(shop.payments().len(), 0);
    shop.yupy.then(paid("approved", 201));
    shop.charge_card(&id).await.unwrap();
    shop.until_progress(&id, CardProgress::Approved).await;
    assert_eq!(shop.payments().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_same_sale_as_another_is_not_charged() {
    let shop = Shop::on_line().await;
    shop.yupy.then(question("ch-1", "token-1", "ypt-other"));
    let id = only(&*shop.sell_by_card(vec![seat("12A")]).await);
    shop.until(&id, turno_till::view::SaleState::InReview).await;
    assert_eq!(shop.sale(&id).await.card.unwrap().progress, CardProgress::AwaitsSale);
    assert_eq!(shop.cancel_unpaid(&id).await.unwrap_err().code, ProblemCode::VoidAwaitsDecision);
    assert_eq!(shop.payments().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn yupy_without_the_sale_gets_it_again_and_is_told_of_the_charge_before_its_void() {
    let shop = Shop::on_line().await;
    shop.yupy.then(accepted).then(|_| Err(Failure::TimedOut)).then(error(404, "transaction_not_found"));
    let id = only(&*shop.sell_by_card(vec![seat("12A")]).await);
    shop.yupy.otherwise(|_, body| {
        if body["external_payment_id"].is_string() { paid("approved", 201)(body) } else { accepted(body) }
    });
    shop.until_progress(&id, CardProgress::Approved).await;
    let paths: Vec<_> =
        shop.yupy.sent.lock().unwrap().iter().filter(|sent| sent.key.is_some()).cloned().collect();
    let payments: Vec<_> = paths.iter().filter(|sent| is_payment(sent)).collect();
    assert_eq!(payments.len(), 3);
    assert!(payments.iter().all(|sent| sent.key == payments[0].key));
    assert_eq!(shop.yupy.sales().len(), 2, "the sale was sent again, with its key");
}

#[tokio::test(start_paused = true)]
async fn each_sale_of_a_ticket_has_its_own_charge_and_its_own_fate() {
    let shop = Shop::on_line().await;
    shop.yupy.otherwise(|_, body| match body["external_payment_id"].as_str() {
        Some(_) if body["amount"] == "9.96" => error(402, "payment_declined")(body),
        Some(_) => paid("approved", 201)(body),
        None => accepted(body),
    });
    let checkout = shop.sell_by_card(vec![seat("12A"), luggage()]).await;
    let [ticket, extra] = &checkout.sales[..] else { panic!("two sales") };
    shop.until_progress(&ticket.external_transaction_id, CardProgress::Approved).await;
    shop.until_progress(&extra.external_transaction_id, CardProgress::Declined).await;
    shop.cancel_unpaid(&extra.external_transaction_id).await.unwrap();
    // What was not charged leaves nothing to give back with the other one.
    let request = shop.request_void(&ticket.external_transaction_id).await;
    assert_eq!(request.shown_returned_minor, 8_550);
}

#[tokio::test(start_paused = true)]
async fn pressed_twice_it_is_one_sale_and_one_charge() {
    let shop = Shop::on_line().await;
    shop.yupy.then(accepted).then(paid("approved", 201));
    let request = by_card(&shop, vec![seat("12A")]);
    let first = recorded(shop.till.charge(&request).await.unwrap());
    shop.until_progress(&only(&first), CardProgress::Approved).await;
    // Also when the line has gone since.
    shop.yupy.down(Failure::NoNetwork);
    let ChargeOutcome::Recorded { checkout } = shop.till.charge(&request).await.unwrap() else { panic!() };
    assert_eq!(only(&checkout), only(&first));
    assert_eq!(shop.payments().len(), 1);
}

impl Shop {
    async fn until_voided(&self, id: &str) -> turno_till::view::SaleDetail {
        self.until_card(id, |sale| sale.voided == Some(VoidProgress::Confirmed)).await;
        self.till.sale_detail(id).await.unwrap()
    }
}
