//! Selling: what is recorded, what it costs, and what is refused before money is taken.

use turno_till::transport::Failure;
use turno_till::view::{
    ChargeOutcome, Line, LookAlikePolicy, ProblemCode, QuoteRequest, SaleState, Standing, Tender,
};

use crate::support::{Shop, charge, fare, luggage, recorded, seat};

#[tokio::test(start_paused = true)]
async fn a_sale_is_recorded_first_and_accepted_a_moment_later() {
    let shop = Shop::open().await;
    let checkout = recorded(shop.charge(vec![seat("12A")]).await.unwrap());
    let sale = &checkout.sales[0];
    assert!(
        sale.external_transaction_id.starts_with("D03-")
            && sale.external_transaction_id.ends_with("-S1-0001")
    );
    assert_eq!((sale.state, sale.standing), (SaleState::Queued, Standing::Saved));
    let sale = shop.until(&sale.external_transaction_id, SaleState::Accepted).await;
    assert_eq!(sale.standing, Standing::Confirmed);
    assert_eq!(shop.yupy.sales().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_sent_is_what_was_sold() {
    let shop = Shop::open().await;
    let buyer_name = Some("  María   Ramos ".to_owned());
    let checkout = recorded(shop.charge(vec![Line { buyer_name, ..seat("12A") }]).await.unwrap());
    shop.until(&checkout.sales[0].external_transaction_id, SaleState::Accepted).await;
    let body = shop.yupy.sales()[0].json();
    let id = &checkout.sales[0].external_transaction_id;
    let expected = serde_json::json!({
        "external_transaction_id": id, "amount": "85.50", "currency": "PEN", "buyer_name": "María Ramos",
        "integration_experience": "turno_pos", "shift_id": "S1", "device_id": "D03",
        "occurred_at": "2026-11-30T10:00:00-05:00", "payment_method": "cash",
        "context": { "route": "184", "seat": "12A", "product": "pasaje", "service": "184-2030" },
    });
    assert_eq!(body, expected);
}

#[tokio::test(start_paused = true)]
async fn pressing_cobrar_twice_records_one_sale_and_answers_the_same() {
    let shop = Shop::open().await;
    let request = charge(&shop.till.open_draft().draft_id, vec![seat("12A")]);
    let (first, second) = tokio::join!(shop.till.charge(&request), shop.till.charge(&request));
    let (first, second) = (recorded(first.unwrap()), recorded(second.unwrap()));
    let ids = |checkout: &turno_till::view::Checkout| {
        checkout.sales.iter().map(|sale| sale.external_transaction_id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&first), ids(&second));
    assert_eq!(shop.till.recent_sales(None).await.unwrap().items.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_draft_that_was_recorded_takes_no_other_content() {
    let shop = Shop::open().await;
    let draft = shop.till.open_draft().draft_id;
    recorded(shop.till.charge(&charge(&draft, vec![seat("12A")])).await.unwrap());
    let refused = shop.till.charge(&charge(&draft, vec![seat("12B")])).await.unwrap_err();
    assert_eq!(refused.code, ProblemCode::DraftAlreadyRecorded);
    assert_eq!(shop.till.recent_sales(None).await.unwrap().items.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_checkout_of_several_lines_is_several_sales_under_one_total() {
    let shop = Shop::open().await;
    let checkout =
        recorded(shop.charge(vec![seat("12A"), seat("1A"), luggage(), fare(1), fare(2)]).await.unwrap());
    let amounts: Vec<i64> = checkout.sales.iter().map(|sale| sale.amount.minor).collect();
    assert_eq!(amounts, [8_550, 11_000, 996, 600], "equal lines are one sale with a quantity");
    assert_eq!(checkout.total.minor, amounts.iter().sum::<i64>());
    assert_eq!(
        (checkout.rounding.minor, checkout.due.minor),
        (6, 21_140),
        "cash rounds the total down, once"
    );
    let mut numbers: Vec<i64> = checkout.sales.iter().map(|sale| sale.sequence).collect();
    numbers.dedup();
    assert_eq!(numbers, [1, 2, 3, 4]);
}

#[tokio::test(start_paused = true)]
async fn figures_come_from_the_till_and_follow_what_was_received() {
    let shop = Shop::open().await;
    let quote = |received: &str| {
        let tenders = vec![Tender::Cash { received: Some(received.to_owned()) }];
        shop.till.quote(&QuoteRequest { lines: vec![luggage()], tenders })
    };
    let minor = |money: Option<turno_till::view::Money>| money.map(|money| money.minor);
    for (received, change, missing) in
        [("", Some(0), None), ("20", Some(1_010), None), ("9,90", Some(0), None), ("9.89", None, Some(1))]
    {
        let quote = quote(received).unwrap();
        assert_eq!(
            (quote.due.minor, minor(quote.change), minor(quote.missing)),
            (990, change, missing),
            "{received:?}"
        );
    }
    assert_eq!(quote("veinte").unwrap_err().code, ProblemCode::AmountInvalid);
    assert_eq!(quote("-5").unwrap_err().code, ProblemCode::AmountInvalid);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_sold_is_refused_before_anything_is_written() {
    let shop = Shop::open().await;
    let gone = Line { offer_id: "departure:999".to_owned(), ..seat("12A") };
    let no_seat = Line { seat: None, ..seat("12A") };
    let odd_seat = Line { seat: Some("99Z".to_owned()), ..seat("12A") };
    let old_price = Line { shown_price_minor: 8_000, ..seat("12A") };
    let long_name = Line { buyer_name: Some("ñ".repeat(10_000)), ..seat("12A") };
    let control = Line { buyer_name: Some("Ana\u{0}".to_owned()), ..seat("12A") };
    let cases = [
        (vec![], ProblemCode::TicketEmpty),
        (vec![gone], ProblemCode::OfferGone),
        (vec![no_seat], ProblemCode::SeatRequired),
        (vec![odd_seat], ProblemCode::SeatUnknown),
        (vec![seat("12A"), seat("12A")], ProblemCode::SeatTwice),
        (vec![old_price], ProblemCode::PriceChanged),
        (vec![fare(0)], ProblemCode::QuantityInvalid),
        (vec![fare(201)], ProblemCode::QuantityInvalid),
        (vec![fare(150), fare(150)], ProblemCode::QuantityInvalid),
        (vec![Line { quantity: 2, ..seat("12A") }], ProblemCode::QuantityInvalid),
        (vec![Line { seat: Some("12A".to_owned()), ..fare(1) }], ProblemCode::SeatUnknown),
        (vec![long_name], ProblemCode::BuyerNameInvalid),
        (vec![control], ProblemCode::BuyerNameInvalid),
        ((0..41).map(|_| fare(1)).collect(), ProblemCode::TicketTooLong),
    ];
    for (lines, code) in cases {
        assert_eq!(shop.charge(lines.clone()).await.unwrap_err().code, code, "{lines:?}");
    }
    let mut short = charge(&shop.till.open_draft().draft_id, vec![luggage()]);
    short.tenders = vec![Tender::Cash { received: Some("9.80".to_owned()) }];
    assert_eq!(shop.till.charge(&short).await.unwrap_err().code, ProblemCode::ReceivedTooLittle);
    assert!(shop.till.recent_sales(None).await.unwrap().items.is_empty());
    assert_eq!(
        recorded(shop.charge(vec![seat("12A")]).await.unwrap()).sales[0].sequence,
        1,
        "a refused ticket takes no number"
    );
}

#[tokio::test(start_paused = true)]
async fn selling_needs_a_person_and_a_shift() {
    let shop = Shop::open().await;
    shop.till.lock();
    assert_eq!(shop.charge(vec![seat("12A")]).await.unwrap_err().code, ProblemCode::NotUnlocked);
}

#[tokio::test(start_paused = true)]
async fn a_seat_sold_before_is_shown_and_warned_of_and_the_cashier_decides() {
    let shop = Shop::open().await;
    shop.yupy.down(Failure::NoNetwork);
    let first = recorded(shop.charge(vec![seat("12A")]).await.unwrap());
    let map = shop.till.seat_map("departure:184-2030").await.unwrap();
    let seats = map.decks.iter().flat_map(|deck| deck.rows.iter().flatten().flatten());
    let sold: Vec<&str> = seats.filter(|seat| seat.sold.is_some()).map(|seat| seat.seat.as_str()).collect();
    assert_eq!(sold, ["12A"]);

    // Three hours later it is no look-alike any more, but the seat is still taken.
    for ms in [120_000, 3 * 3_600_000] {
        shop.clock.forward(ms);
        let ChargeOutcome::LookAlike { warnings } = shop.charge(vec![seat("12A")]).await.unwrap() else {
            panic!("the same seat was sold without a word");
        };
        assert_eq!(warnings[0].earlier.external_transaction_id, first.sales[0].external_transaction_id);
        assert!(warnings[0].matching_signals.contains(&"seat".to_owned()));
    }
    recorded(shop.charge(vec![seat("12B")]).await.unwrap());
    let mut again = charge(&shop.till.open_draft().draft_id, vec![seat("12A")]);
    again.look_alikes = LookAlikePolicy::SellAnyway;
    recorded(shop.till.charge(&again).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_family_with_luggage_and_equal_fares_are_nobodys_look_alike() {
    let shop = Shop::open().await;
    let named = |line: Line| Line { buyer_name: Some("Ana Quispe".to_owned()), ..line };
    recorded(shop.charge(vec![named(seat("11A")), named(seat("11B")), named(luggage())]).await.unwrap());
    for _ in 0..10 {
        recorded(shop.charge(vec![fare(1)]).await.unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn numbers_never_repeat_however_often_the_program_starts() {
    let mut shop = Shop::open().await;
    let mut seen = std::collections::HashSet::new();
    for _ in 0..5 {
        for _ in 0..6 {
            let checkout = shop.sell(fare(1)).await;
            assert!(seen.insert(checkout.sales[0].external_transaction_id.clone()));
        }
        shop.crash().await;
    }
    assert_eq!(seen.len(), 30);
}

#[tokio::test(start_paused = true)]
async fn search_finds_by_any_word_without_case_and_accents() {
    let shop = Shop::open().await;
    let names = |text: &str| {
        let till = shop.till.clone();
        let text = text.to_owned();
        async move {
            till.search_offers(&text, 10)
                .await
                .unwrap()
                .into_iter()
                .map(|offer| offer.name)
                .collect::<Vec<_>>()
        }
    };
    assert_eq!(names("").await, ["Lima – Arequipa", "Pasaje urbano", "Equipaje extra"]);
    assert_eq!(names("AREQ").await, ["Lima – Arequipa"]);
    assert_eq!(names("ica 20:30").await, ["Lima – Arequipa"]);
    assert_eq!(names("u7").await, ["Pasaje urbano"]);
    assert_eq!(names("equipaje").await, ["Equipaje extra"]);
    assert!(names("puno").await.is_empty());
    shop.clock.forward(24 * 3_600_000);
    assert_eq!(names("lima").await, Vec::<String>::new(), "a bus that left is not sold");
}
