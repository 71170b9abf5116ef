//! A sale's money given back: once, offline as well, and told to YUPY behind the sale itself.

use serde_json::{Value, json};
use turno_till::transport::Failure;
use turno_till::view::{
    Decision, Happening, ProblemCode, SaleDetail, SaleState, SaleVerdict, VoidProgress, VoidSaleRequest,
};

use crate::review::decide;
use crate::support::{
    CASHIER_PIN, MANAGER_PIN, Reply, Sent, Shop, accepted, error, json_answer, luggage, question, recorded,
    seat,
};

fn is_void(sent: &Sent) -> bool {
    sent.path.ends_with("/void")
}

impl Shop {
    pub async fn request_void(&self, id: &str) -> VoidSaleRequest {
        let shown = self.till.sale_detail(id).await.unwrap();
        VoidSaleRequest {
            external_transaction_id: id.to_owned(),
            shown_returned_minor: shown.void_offer.returned.minor,
            manager_id: "m".to_owned(),
            pin: MANAGER_PIN.to_owned(),
            reason: "viaje cancelado".to_owned(),
        }
    }

    async fn void(&self, id: &str) {
        let request = self.request_void(id).await;
        self.till.void_sale(&request).await.unwrap();
    }

    async fn until_void(&self, id: &str, progress: VoidProgress) -> SaleDetail {
        for _ in 0..200 {
            let shown = self.till.sale_detail(id).await.unwrap();
            if shown.void.as_ref().is_some_and(|void| void.progress == progress) {
                return shown;
            }
            self.clock.forward(1_000);
            self.till.send_now().await.unwrap();
        }
        panic!("the void never became {progress:?}: {:?}", self.till.sale_detail(id).await.unwrap().void);
    }

    fn voids(&self) -> Vec<Sent> {
        self.yupy.sent.lock().unwrap().iter().filter(|sent| is_void(sent)).cloned().collect()
    }
}

/// YUPY's answers to creates and voids of sales that it has accepted.
fn voided(id: &str) -> impl FnOnce(&Value) -> Reply + Send + 'static {
    let id = id.to_owned();
    move |body| {
        json_answer(
            200,
            &json!({
                "result": "applied", "idempotency_replayed": false, "yupy_transaction_id": format!("ypt-{id}"),
                "external_transaction_id": id, "external_operation_id": body["external_operation_id"],
                "state": { "operational": "voided", "financial": "refunded" }, "request_id": "r-9",
            }),
        )
    }
}

async fn sold(shop: &Shop) -> String {
    let id = shop.sell(seat("12A")).await.sales[0].external_transaction_id.clone();
    shop.until(&id, SaleState::Accepted).await;
    id
}

#[tokio::test(start_paused = true)]
async fn an_accepted_sale_is_voided_once_under_its_own_key_and_frees_its_seat() {
    let shop = Shop::open().await;
    let id = sold(&shop).await;
    let free = |map: turno_till::view::SeatMap| map.offer.seats_free.unwrap();
    let before = free(shop.till.seat_map("departure:184-2030").await.unwrap());
    shop.yupy.then(|_| Err(Failure::ConnectionLost)).then(voided(&id));
    shop.void(&id).await;
    let shown = shop.until_void(&id, VoidProgress::Confirmed).await;
    assert_eq!(free(shop.till.seat_map("departure:184-2030").await.unwrap()), before + 1);
    let sent = shop.voids();
    assert_eq!(sent.len(), 2, "the lost answer is asked for again");
    assert_eq!((&sent[0].key, &sent[0].body), (&sent[1].key, &sent[1].body));
    assert_eq!(sent[0].path, format!("/v1/transactions/ypt-{id}/void"));
    assert_eq!(sent[0].json()["reason"], "viaje cancelado");
    assert_eq!(shown.verdict, SaleVerdict::Voided);
    let void = shown.void.unwrap();
    assert_eq!((void.returned.minor, void.approved_by.as_str()), (8_550, "Encargado"));
    let happened: Vec<_> = shown.timeline.iter().map(|entry| entry.happened).collect();
    let position = |wanted| happened.iter().position(|one| *one == wanted).unwrap();
    assert!(position(Happening::Voided) < position(Happening::VoidConfirmed));
    let cash = &shown.timeline[position(Happening::CashRefunded)];
    assert_eq!((cash.person.as_deref(), cash.detail.as_deref()), (Some("Encargado"), Some("85.50")));
    assert!(!happened.contains(&Happening::Other), "{happened:?}");
    let again = shop.till.void_sale(&shop.request_void(&id).await).await.unwrap_err();
    assert_eq!(again.code, ProblemCode::AlreadyVoided);
}

#[tokio::test(start_paused = true)]
async fn offline_the_money_goes_back_at_once_and_the_void_follows_its_sale() {
    let mut shop = Shop::open().await;
    shop.yupy.down(Failure::NoNetwork);
    let id = shop.sell(seat("12A")).await.sales[0].external_transaction_id.clone();
    shop.void(&id).await;
    let shown = shop.till.sale_detail(&id).await.unwrap();
    assert_eq!(shown.void.unwrap().progress, VoidProgress::Waiting);
    assert_eq!(shown.verdict, SaleVerdict::Voided);
    let again = shop.till.void_sale(&shop.request_void(&id).await).await.unwrap_err();
    assert_eq!(again.code, ProblemCode::AlreadyVoided, "offline it is not given back twice either");
    shop.crash().await;
    shop.yupy.then(accepted).then(voided(&id));
    shop.yupy.up();
    shop.until_void(&id, VoidProgress::Confirmed).await;
    let paths: Vec<_> =
        shop.yupy.sales().into_iter().chain(shop.voids()).map(|sent| sent.path.clone()).collect();
    assert_eq!(paths.last().unwrap(), &format!("/v1/transactions/ypt-{id}/void"));
    assert_eq!(shop.till.pending(None).await.unwrap().items.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_is_given_back_is_what_was_paid_rounding_included() {
    let shop = Shop::open().await;
    // 9.96 costs 9.90 in coins; two of them 19.92, of which 19.90 were paid.
    let one = shop.sell(luggage()).await.sales[0].external_transaction_id.clone();
    let shown = shop.till.sale_detail(&one).await.unwrap();
    assert_eq!((shown.sale.amount.minor, shown.void_offer.returned.minor), (996, 990));
    let ticket = recorded(shop.charge(vec![luggage(), seat("11A")]).await.unwrap());
    let ids: Vec<_> = ticket.sales.iter().map(|sale| sale.external_transaction_id.clone()).collect();
    assert_eq!((ticket.total.minor, ticket.due.minor), (996 + 8_550, 9_540));
    let mut returned = 0;
    for id in &ids {
        let request = shop.request_void(id).await;
        returned += request.shown_returned_minor;
        shop.till.void_sale(&request).await.unwrap();
    }
    assert_eq!(returned, ticket.due.minor, "all sales of a ticket bring back what was paid for it");
}

#[tokio::test(start_paused = true)]
async fn a_void_needs_a_manager_a_reason_the_figure_that_was_shown_and_stays_within_the_limit() {
    let shop = Shop::open().await;
    let id = sold(&shop).await;
    let good = shop.request_void(&id).await;
    let with = |change: &dyn Fn(&mut VoidSaleRequest)| {
        let mut request = good.clone();
        change(&mut request);
        request
    };
    for (request, code) in [
        (with(&|it| it.pin = CASHIER_PIN.to_owned()), ProblemCode::PinWrong),
        (
            with(&|it| (it.manager_id, it.pin) = ("c".to_owned(), CASHIER_PIN.to_owned())),
            ProblemCode::ManagerRequired,
        ),
        (with(&|it| it.reason = String::new()), ProblemCode::ReasonRequired),
        (with(&|it| it.shown_returned_minor = 8_600), ProblemCode::SaleChanged),
        (with(&|it| it.external_transaction_id = "X".to_owned()), ProblemCode::NotFound),
    ] {
        assert_eq!(shop.till.void_sale(&request).await.unwrap_err().code, code);
    }
    assert!(shop.till.sale_detail(&id).await.unwrap().void.is_none());
    let dear = shop.sell(crate::support::fare(150)).await.sales[0].external_transaction_id.clone();
    shop.until(&dear, SaleState::Accepted).await;
    assert_eq!(shop.till.sale_detail(&dear).await.unwrap().void_offer.refused, None, "S/ 300 is within it");
}

#[tokio::test(start_paused = true)]
async fn a_refused_sale_is_taken_back_here_and_yupy_hears_nothing_of_it() {
    let shop = Shop::open().await;
    shop.yupy.then(error(422, "validation_failed"));
    let id = shop.sell(seat("12A")).await.sales[0].external_transaction_id.clone();
    shop.until(&id, SaleState::NeedsAttention).await;
    shop.void(&id).await;
    let shown = shop.till.sale_detail(&id).await.unwrap();
    assert_eq!(shown.sale.state, SaleState::Withdrawn);
    assert_eq!(shown.void.unwrap().progress, VoidProgress::Local);
    shop.till.send_now().await.unwrap();
    assert_eq!(shop.yupy.sales().len(), 1);
    assert!(shop.voids().is_empty());
    assert_eq!(shop.till.pending(None).await.unwrap().items.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_sale_whose_money_is_back_is_neither_corrected_nor_asked_about() {
    for reply in [0, 1] {
        let shop = Shop::open().await;
        shop.yupy.down(Failure::NoNetwork);
        let id = shop.sell(seat("12A")).await.sales[0].external_transaction_id.clone();
        shop.void(&id).await;
        if reply == 0 {
            shop.yupy.then(question("ch-1", "token-1", "ypt-1"));
        } else {
            shop.yupy.then(error(422, "validation_failed"));
        }
        shop.yupy.up();
        shop.until(&id, SaleState::Withdrawn).await;
        assert!(shop.till.reviews().await.unwrap().is_empty());
        assert_eq!(shop.till.sale_detail(&id).await.unwrap().void.unwrap().progress, VoidProgress::Local);
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_is_answered_before_the_money_goes_back() {
    let shop = Shop::open().await;
    shop.yupy.then(question("ch-1", "token-1", "ypt-1"));
    let id = shop.sell(seat("12A")).await.sales[0].external_transaction_id.clone();
    shop.until(&id, SaleState::InReview).await;
    let refused = shop.till.void_sale(&shop.request_void(&id).await).await.unwrap_err();
    assert_eq!(refused.code, ProblemCode::VoidAwaitsDecision);
    shop.till.decide(&decide(&id, "ch-1", Decision::DifferentSale)).await.unwrap();
    shop.until(&id, SaleState::Accepted).await;
    shop.yupy.then(voided(&id));
    shop.void(&id).await;
    shop.until_void(&id, VoidProgress::Confirmed).await;
}

#[tokio::test(start_paused = true)]
async fn a_sale_under_whose_id_yupy_has_something_else_is_not_voided_there() {
    let shop = Shop::open().await;
    shop.yupy.then(error(409, "external_transaction_conflict"));
    let id = shop.sell(seat("12A")).await.sales[0].external_transaction_id.clone();
    shop.until(&id, SaleState::NeedsAttention).await;
    let refused = shop.till.void_sale(&shop.request_void(&id).await).await.unwrap_err();
    assert_eq!(refused.code, ProblemCode::VoidNotPossible);
}

#[tokio::test(start_paused = true)]
async fn a_void_that_yupy_refuses_is_seen_and_can_be_tried_again_without_giving_money_twice() {
    let shop = Shop::open().await;
    let id = sold(&shop).await;
    shop.yupy.then(error(409, "invalid_state"));
    shop.void(&id).await;
    let shown = shop.until_void(&id, VoidProgress::NeedsAttention).await;
    assert_eq!(shown.verdict, SaleVerdict::VoidRefused);
    let pending = shop.till.pending(None).await.unwrap();
    assert_eq!(pending.items.len(), 1, "a person has to see it");
    let status = shop.till.status().await.unwrap().unwrap();
    assert_eq!((status.pending_count, status.needs_attention_count), (1, 1));
    shop.yupy.then(voided(&id));
    shop.void(&id).await;
    shop.until_void(&id, VoidProgress::Confirmed).await;
    let sent = shop.voids();
    assert_eq!((&sent[0].key, &sent[0].body), (&sent[1].key, &sent[1].body));
}

#[tokio::test(start_paused = true)]
async fn a_sale_that_yupy_lost_is_sent_again_before_its_void_and_not_for_ever() {
    let shop = Shop::open().await;
    let id = sold(&shop).await;
    shop.yupy.then(error(404, "transaction_not_found")).then(accepted).then(voided(&id));
    shop.void(&id).await;
    shop.until_void(&id, VoidProgress::Confirmed).await;
    assert_eq!(shop.yupy.sales().len(), 2);
    let other = shop.sell(seat("12B")).await.sales[0].external_transaction_id.clone();
    shop.until(&other, SaleState::Accepted).await;
    shop.yupy
        .then(error(404, "transaction_not_found"))
        .then(accepted)
        .then(error(404, "transaction_not_found"));
    shop.void(&other).await;
    let shown = shop.until_void(&other, VoidProgress::NeedsAttention).await;
    assert_eq!(shown.sale.state, SaleState::Accepted);
}

#[tokio::test(start_paused = true)]
async fn a_voided_sale_is_no_longer_in_the_shifts_figure_and_its_seat_can_be_sold_again() {
    let shop = Shop::open().await;
    let id = sold(&shop).await;
    let sold_minor = async || {
        let phase = shop.till.phase().await.unwrap();
        let turno_till::view::Phase::Selling { shift, .. } = phase else { panic!("{phase:?}") };
        (shift.sales_count, shift.sold.minor)
    };
    assert_eq!(sold_minor().await, (1, 8_550));
    shop.yupy.then(voided(&id));
    shop.void(&id).await;
    assert_eq!(sold_minor().await, (0, 0));
    let outcome = shop.charge(vec![seat("12A")]).await.unwrap();
    recorded(outcome);
    let listed = shop.sale(&id).await;
    assert!(listed.voided.is_some(), "it stays in the history");
}
