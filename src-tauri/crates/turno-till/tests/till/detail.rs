//! A sale looked at: what it says first, and what happened to it in order.

use turno_till::transport::Failure;
use turno_till::view::{Decision, Happening, MoneyHandled, SaleReason, SaleState, SaleVerdict};

use crate::review::decide;
use crate::support::{Shop, error, json_answer, luggage, question, seat};

async fn happenings(shop: &Shop, id: &str) -> Vec<Happening> {
    shop.till.sale_detail(id).await.unwrap().timeline.into_iter().map(|entry| entry.happened).collect()
}

#[tokio::test(start_paused = true)]
async fn a_sale_tells_what_happened_to_it_in_order() {
    let shop = Shop::open().await;
    shop.yupy.then(|_| Err(Failure::TimedOut));
    shop.yupy.then(question("ch-1", "token-1", "ypt-1"));
    let id = shop.sell(seat("12A")).await.sales[0].external_transaction_id.clone();
    shop.until(&id, SaleState::InReview).await;
    assert_eq!(shop.till.sale_detail(&id).await.unwrap().verdict, SaleVerdict::AwaitsDecision);
    shop.clock.forward(5_000);
    shop.till.decide(&decide(&id, "ch-1", Decision::DifferentSale)).await.unwrap();
    shop.until(&id, SaleState::Accepted).await;
    let happened = happenings(&shop, &id).await;
    assert_eq!(happened[0], Happening::Recorded);
    assert_eq!(happened[1], Happening::AttemptEnded);
    let position = |wanted| happened.iter().position(|one| *one == wanted).unwrap();
    assert!(position(Happening::QuestionAsked) < position(Happening::DecidedDifferent));
    assert!(position(Happening::DecidedDifferent) < position(Happening::AttemptAccepted));
    let shown = shop.till.sale_detail(&id).await.unwrap();
    assert_eq!(shown.verdict, SaleVerdict::Counts);
    assert_eq!(shown.timeline[1].outcome, Some(SaleReason::TimedOut));
    let decided = shown.timeline.iter().find(|entry| entry.happened == Happening::DecidedDifferent).unwrap();
    assert_eq!(decided.person.as_deref(), Some("Encargado"));
    assert_eq!(decided.reason.as_deref(), Some("dos pasajeros"));
}

#[tokio::test(start_paused = true)]
async fn the_first_sentence_about_a_sale_follows_its_state() {
    let shop = Shop::open().await;
    let verdict = async |id: &str| shop.till.sale_detail(id).await.unwrap().verdict;
    shop.yupy.down(Failure::NoNetwork);
    let id = shop.sell(seat("12A")).await.sales[0].external_transaction_id.clone();
    assert_eq!(verdict(&id).await, SaleVerdict::OnItsWay);
    shop.yupy.down(Failure::TimedOut);
    shop.till.send_now().await.unwrap();
    assert_eq!(verdict(&id).await, SaleVerdict::Unconfirmed);
    shop.yupy.up();
    shop.yupy.then(question("ch-1", "token-1", "ypt-1"));
    shop.until(&id, SaleState::InReview).await;
    let same = turno_till::view::Decide {
        money: Some(MoneyHandled::Refunded),
        ..decide(&id, "ch-1", Decision::SameSale)
    };
    shop.till.decide(&same).await.unwrap();
    assert_eq!(verdict(&id).await, SaleVerdict::DoesNotCount);
    for (status, code, said) in [
        (422, "validation_failed", SaleVerdict::AwaitsCorrection),
        (409, "idempotency_conflict", SaleVerdict::AwaitsSupport),
    ] {
        shop.yupy.then(error(status, code));
        let id = shop.sell(luggage()).await.sales[0].external_transaction_id.clone();
        shop.until(&id, SaleState::NeedsAttention).await;
        assert_eq!(verdict(&id).await, said, "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_figures_of_a_sale_are_those_of_its_ticket_and_an_id_that_is_not_there_is_said_to_be() {
    let shop = Shop::open().await;
    let id = shop.sell(luggage()).await.sales[0].external_transaction_id.clone();
    let shown = shop.till.sale_detail(&id).await.unwrap();
    let minor = |money: &turno_till::view::Money| money.minor;
    let ticket = shown.checkout.as_ref().unwrap();
    assert_eq!([&ticket.total, &ticket.rounding, &ticket.due].map(minor), [996, 6, 990]);
    assert_eq!((minor(&shown.sale.amount), ticket.sales_count), (996, 1));
    assert_eq!(
        shop.till.sale_detail("D03-K7M-S1-9999").await.unwrap_err().code,
        turno_till::view::ProblemCode::NotFound
    );
}

#[tokio::test(start_paused = true)]
async fn of_thousands_of_attempts_the_newest_are_shown_and_the_rest_are_counted() {
    let shop = Shop::open().await;
    for _ in 0..60 {
        shop.yupy.then(|_| json_answer(503, &serde_json::json!({})));
    }
    let id = shop.sell(seat("12A")).await.sales[0].external_transaction_id.clone();
    for _ in 0..60 {
        shop.clock.forward(700_000);
        shop.till.send_now().await.unwrap();
    }
    shop.until(&id, SaleState::Accepted).await;
    let shown = shop.till.sale_detail(&id).await.unwrap();
    let tried = shown.timeline.iter().filter(|entry| entry.outcome.is_some()).count();
    assert!(tried < 45, "{tried}");
    assert!(shown.attempts_left_out > 10, "{}", shown.attempts_left_out);
    assert!(shown.timeline.iter().any(|entry| entry.happened == Happening::AttemptAccepted));
}
