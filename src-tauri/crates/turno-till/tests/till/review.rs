//! Questions about two sales that look alike: who decides, and what is sent then.

use turno_till::transport::Failure;
use turno_till::view::{Decide, Decision, MoneyHandled, ProblemCode, SaleReason, SaleState, Standing};

use crate::support::{CASHIER_PIN, MANAGER_PIN, Shop, accepted, error, fare, question, seat};

pub fn decide(id: &str, challenge: &str, decision: Decision) -> Decide {
    Decide {
        external_transaction_id: id.to_owned(),
        challenge_id: challenge.to_owned(),
        decision,
        manager_id: "m".to_owned(),
        pin: MANAGER_PIN.to_owned(),
        reason: "dos pasajeros".to_owned(),
        money: None,
    }
}

pub async fn asked(shop: &Shop) -> String {
    shop.yupy.then(question("ch-1", "token-1", "ypt-1"));
    let checkout = shop.sell(seat("12A")).await;
    let id = checkout.sales[0].external_transaction_id.clone();
    shop.until(&id, SaleState::InReview).await;
    id
}

#[tokio::test(start_paused = true)]
async fn a_question_waits_for_a_manager_and_the_rest_goes_on() {
    let shop = Shop::open().await;
    let id = asked(&shop).await;
    let next = shop.sell(fare(1)).await;
    shop.until(&next.sales[0].external_transaction_id, SaleState::Accepted).await;
    shop.till.send_now().await.unwrap();
    let sale = shop.sale(&id).await;
    assert_eq!((sale.state, sale.standing), (SaleState::InReview, Standing::Saved));
    assert_eq!(shop.yupy.sales().len(), 2, "a question is never sent again by a program");
    let reviews = shop.till.reviews().await.unwrap();
    assert_eq!(reviews.len(), 1);
    assert_eq!(reviews[0].matching_signals, ["amount", "currency", "route", "seat"]);
    assert_eq!(reviews[0].seconds_apart, Some(40));
}

#[tokio::test(start_paused = true)]
async fn another_sale_is_confirmed_with_the_same_bytes_plus_the_token_under_its_own_key() {
    let shop = Shop::open().await;
    let id = asked(&shop).await;
    shop.till.decide(&decide(&id, "ch-1", Decision::DifferentSale)).await.unwrap();
    shop.until(&id, SaleState::Accepted).await;
    let sent = shop.yupy.sales();
    assert_eq!(sent.len(), 2);
    assert_ne!(sent[0].key, sent[1].key);
    let (first, mut second) = (sent[0].json(), sent[1].json());
    let confirmation = second.as_object_mut().unwrap();
    assert_eq!(confirmation.remove("duplicate_confirmation_token").unwrap(), "token-1");
    assert_eq!(confirmation.remove("confirmed_by").unwrap(), "Encargado");
    assert_eq!(confirmation.remove("confirmation_reason").unwrap(), "dos pasajeros");
    assert_eq!(first, second);
}

#[tokio::test(start_paused = true)]
async fn a_confirmation_with_a_lost_reply_is_repeated_under_one_key() {
    let mut shop = Shop::open().await;
    let id = asked(&shop).await;
    shop.yupy.then(|_| Err(Failure::ConnectionLost));
    shop.till.decide(&decide(&id, "ch-1", Decision::DifferentSale)).await.unwrap();
    shop.crash().await;
    shop.until(&id, SaleState::Accepted).await;
    let sent = shop.yupy.sales();
    let confirmations: Vec<_> =
        sent.iter().filter(|sent| sent.json().get("duplicate_confirmation_token").is_some()).collect();
    assert!(confirmations.windows(2).all(|pair| pair[0].key == pair[1].key && pair[0].body == pair[1].body));
}

#[tokio::test(start_paused = true)]
async fn the_same_sale_is_discarded_and_never_sent_again() {
    let shop = Shop::open().await;
    let id = asked(&shop).await;
    let unhandled = shop.till.decide(&decide(&id, "ch-1", Decision::SameSale)).await.unwrap_err();
    assert_eq!(unhandled.code, ProblemCode::MoneyHandlingRequired);
    let mut same = decide(&id, "ch-1", Decision::SameSale);
    same.money = Some(MoneyHandled::Refunded);
    shop.till.decide(&same).await.unwrap();
    let sale = shop.sale(&id).await;
    assert_eq!((sale.state, sale.reason), (SaleState::Discarded, Some(SaleReason::SameSale)));
    shop.till.send_now().await.unwrap();
    assert_eq!(shop.yupy.sales().len(), 1);
    let map = shop.till.seat_map("departure:184-2030").await.unwrap();
    assert!(
        map.decks
            .iter()
            .flat_map(|deck| deck.rows.iter().flatten().flatten())
            .all(|seat| seat.sold.is_none())
    );
}

#[tokio::test(start_paused = true)]
async fn only_a_manager_with_a_pin_and_a_reason_decides_and_a_refusal_changes_nothing() {
    let shop = Shop::open().await;
    let id = asked(&shop).await;
    let base = decide(&id, "ch-1", Decision::DifferentSale);
    let cases = [
        (Decide { pin: "000001".to_owned(), ..base.clone() }, ProblemCode::PinWrong),
        (Decide { manager_id: "nobody".to_owned(), ..base.clone() }, ProblemCode::PinWrong),
        (
            Decide { manager_id: "c".to_owned(), pin: CASHIER_PIN.to_owned(), ..base.clone() },
            ProblemCode::ManagerRequired,
        ),
        (Decide { reason: "  ".to_owned(), ..base.clone() }, ProblemCode::ReasonRequired),
        (Decide { challenge_id: "ch-0".to_owned(), ..base.clone() }, ProblemCode::QuestionChanged),
        (Decide { external_transaction_id: "X".to_owned(), ..base.clone() }, ProblemCode::NotFound),
    ];
    for (request, code) in cases {
        assert_eq!(shop.till.decide(&request).await.unwrap_err().code, code);
        assert_eq!(shop.sale(&id).await.state, SaleState::InReview);
    }
    shop.till.decide(&base).await.unwrap();
    assert_eq!(shop.till.decide(&base).await.unwrap_err().code, ProblemCode::NotInReview);
}

#[tokio::test(start_paused = true)]
async fn a_renewed_question_about_the_same_candidate_honours_the_decision_once() {
    let shop = Shop::open().await;
    let id = asked(&shop).await;
    shop.yupy.then(question("ch-2", "token-2", "ypt-1")).then(question("ch-3", "token-3", "ypt-1"));
    shop.till.decide(&decide(&id, "ch-1", Decision::DifferentSale)).await.unwrap();
    shop.until(&id, SaleState::InReview).await;
    let reviews = shop.till.reviews().await.unwrap();
    assert_eq!(reviews[0].challenge_id, "ch-3", "carried over to ch-2, asked anew for ch-3");
    let tokens: Vec<_> =
        shop.yupy.sales().iter().map(|sent| sent.json()["duplicate_confirmation_token"].clone()).collect();
    assert_eq!(tokens, [serde_json::Value::Null, "token-1".into(), "token-2".into()]);
}

#[tokio::test(start_paused = true)]
async fn a_renewed_question_about_another_candidate_is_asked_anew() {
    let shop = Shop::open().await;
    let id = asked(&shop).await;
    shop.yupy.then(question("ch-2", "token-2", "ypt-9"));
    shop.till.decide(&decide(&id, "ch-1", Decision::DifferentSale)).await.unwrap();
    shop.until(&id, SaleState::InReview).await;
    assert_eq!(shop.till.reviews().await.unwrap()[0].challenge_id, "ch-2");
    assert_eq!(shop.yupy.sales().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_refused_confirmation_asks_yupy_again_with_the_first_key() {
    let shop = Shop::open().await;
    let id = asked(&shop).await;
    shop.yupy.then(error(422, "duplicate_confirmation_invalid")).then(accepted);
    shop.till.decide(&decide(&id, "ch-1", Decision::DifferentSale)).await.unwrap();
    shop.until(&id, SaleState::Accepted).await;
    let sent = shop.yupy.sales();
    assert_eq!(sent.len(), 3);
    assert_eq!((&sent[0].key, &sent[0].body), (&sent[2].key, &sent[2].body));
}
