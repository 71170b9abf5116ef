//! Other prices for the same seats: found by typing, sold as any offer, and some of them only with a manager.

use serde_json::{Value, json};
use turno_till::view::{
    Approval, Charge, ChargeOutcome, Happening, Line, LookAlikePolicy, Problem, ProblemCode, SaleState,
};

use crate::crash::disk::audited;
use crate::support::{self, CASHIER_PIN, MANAGER_PIN, Shop, recorded, seat};

/// A departure for children, which anybody sells, and for pupils, which nobody sells alone.
fn with_lists() -> Value {
    let mut catalog = support::catalog();
    catalog["revision"] = json!("2");
    catalog["price_lists"] = json!([
        { "price_list": "nino", "name": "Niño" },
        { "price_list": "escolar", "name": "Escolar", "needs_manager": true },
        { "price_list": "feriado", "name": "Feriado" },
    ]);
    catalog["services"][0]["list_fares"] = json!({
        "nino": { "fare": "60.00", "seat_fares": { "1A": "80.00" } },
        "escolar": { "fare": "42.75" },
    });
    catalog
}

async fn open() -> Shop {
    let shop = Shop::bare().await;
    shop.yupy.offer(with_lists());
    support::set_up(&shop.till).await;
    shop
}

fn listed(list: &str, label: &str, shown_price_minor: i64) -> Line {
    Line { offer_id: format!("listed:{list}:184-2030"), shown_price_minor, ..seat(label) }
}

async fn sell(shop: &Shop, line: Line, approval: Option<Approval>) -> Result<ChargeOutcome, Problem> {
    let draft_id = shop.till.open_draft().draft_id;
    shop.till.charge(&Charge { approval, ..support::charge(&draft_id, vec![line]) }).await
}

fn by(person: &str, pin: &str) -> Option<Approval> {
    Some(Approval { manager_id: person.to_owned(), pin: pin.to_owned() })
}

#[tokio::test(start_paused = true)]
async fn each_price_list_of_a_departure_is_found_behind_its_full_price() {
    let shop = open().await;
    let named = |text: &str| {
        let (till, text) = (shop.till.clone(), text.to_owned());
        async move {
            let found = till.search_offers(&text, 10).await.unwrap();
            found.into_iter().map(|offer| (offer.name, offer.price.minor)).collect::<Vec<_>>()
        }
    };
    let (full, child, pupil) = ("Lima – Arequipa", "Niño · Lima – Arequipa", "Escolar · Lima – Arequipa");
    let all = [(full.to_owned(), 8_550), (child.to_owned(), 6_000), (pupil.to_owned(), 4_275)];
    assert_eq!(named("arequipa").await, all, "holidays have no price for it");
    assert_eq!(named("arequipa nino").await, all[1..2]);
    let map = shop.till.seat_map("listed:nino:184-2030").await.unwrap();
    let prices: Vec<i64> = map.decks[0].rows[0].iter().flatten().map(|place| place.price.minor).collect();
    assert_eq!(prices, [8_000, 6_000], "seats of a list have their own prices");
}

#[tokio::test(start_paused = true)]
async fn a_seat_sold_at_a_list_is_sent_at_its_price_and_taken_at_every_other() {
    let shop = open().await;
    let sold = recorded(sell(&shop, listed("nino", "12A", 6_000), None).await.unwrap());
    let sale = &sold.sales[0];
    assert_eq!(
        (sold.total.minor, sale.description.as_str()),
        (6_000, "Niño · Lima – Arequipa 20:30 · asiento 12A")
    );
    shop.until(&sale.external_transaction_id, SaleState::Accepted).await;
    let sent = shop.yupy.sales()[0].json();
    assert_eq!((&sent["amount"], &sent["context"]["seat"]), (&json!("60.00"), &json!("12A")));
    assert_eq!(sent["context"]["service"], "184-2030");
    for line in [seat("12A"), listed("escolar", "12A", 4_275)] {
        let ask = Charge {
            look_alikes: LookAlikePolicy::Ask,
            approval: by("m", MANAGER_PIN),
            ..support::charge(&shop.till.open_draft().draft_id, vec![line])
        };
        let asked = shop.till.charge(&ask).await.unwrap();
        assert!(matches!(asked, ChargeOutcome::LookAlike { .. }), "{asked:?}");
    }
    let twice = vec![seat("12B"), listed("nino", "12B", 6_000)];
    let twice = support::charge(&shop.till.open_draft().draft_id, twice);
    assert_eq!(shop.till.charge(&twice).await.unwrap_err().code, ProblemCode::SeatTwice);
}

#[tokio::test(start_paused = true)]
async fn a_list_for_managers_is_sold_with_a_managers_pin_who_stands_in_the_audit() {
    let shop = open().await;
    let line = || listed("escolar", "12A", 4_275);
    for (approval, code) in [
        (None, ProblemCode::ManagerRequired),
        (by("m", "000000"), ProblemCode::PinWrong),
        (by("c", CASHIER_PIN), ProblemCode::ManagerRequired),
    ] {
        assert_eq!(sell(&shop, line(), approval).await.unwrap_err().code, code);
    }
    assert!(shop.till.recent_sales(None).await.unwrap().items.is_empty());
    let sold = recorded(sell(&shop, line(), by("m", MANAGER_PIN)).await.unwrap());
    let detail = shop.till.sale_detail(&sold.sales[0].external_transaction_id).await.unwrap();
    let approved = detail.timeline.iter().find(|it| it.happened == Happening::PriceApproved).unwrap();
    assert_eq!(approved.person.as_deref(), Some("Encargado"));
    assert_eq!(detail.discount, None, "it is a price of its own and nothing off another one");
    assert_eq!(audited(shop.folder()).get("price_approved"), Some(&1));
}

#[tokio::test(start_paused = true)]
async fn a_price_that_changed_or_a_list_that_went_sells_nothing() {
    let shop = open().await;
    for (line, code) in [
        (listed("nino", "12A", 8_550), ProblemCode::PriceChanged),
        (listed("feriado", "12A", 8_550), ProblemCode::OfferGone),
        (listed("nino", "99Z", 6_000), ProblemCode::SeatUnknown),
    ] {
        assert_eq!(sell(&shop, line, None).await.unwrap_err().code, code);
    }
}
