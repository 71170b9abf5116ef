//! What is taken off a price: by whom, within which limit, and that it is told wherever the price is.

use turno_till::view::{
    Approval, Charge, Discount, DiscountKind, Happening, Line, Problem, ProblemCode, QuoteRequest,
    ShiftReportRequest, Tender,
};

use crate::crash::disk::audited;
use crate::support::{self, CASHIER_PIN, MANAGER_PIN, Shop, fare, luggage, recorded, seat};

fn off(line: Line, kind: DiscountKind, value: &str) -> Line {
    let reason = "asiento roto".to_owned();
    Line { discount: Some(Discount { kind, value: value.to_owned(), reason }), ..line }
}

fn percent(line: Line, value: &str) -> Line {
    off(line, DiscountKind::Percent, value)
}

fn soles(line: Line, value: &str) -> Line {
    off(line, DiscountKind::Amount, value)
}

fn by(person: &str, pin: &str) -> Option<Approval> {
    Some(Approval { manager_id: person.to_owned(), pin: pin.to_owned() })
}

/// The id of the only sale of a ticket with this line.
async fn sell(shop: &Shop, line: Line, approval: Option<Approval>) -> Result<String, Problem> {
    let request = Charge { approval, ..support::charge(&shop.till.open_draft().draft_id, vec![line]) };
    shop.till.charge(&request).await.map(|it| recorded(it).sales[0].external_transaction_id.clone())
}

#[tokio::test(start_paused = true)]
async fn what_is_sent_is_the_price_after_the_discount_and_the_rest_is_kept_with_its_reason() {
    let shop = Shop::open().await;
    let line = percent(seat("12A"), "10");
    let cash = vec![Tender::Cash { received: None }];
    let quote = shop.till.quote(&QuoteRequest { lines: vec![line.clone()], tenders: cash }).unwrap();
    assert_eq!(quote.lines[0].discount.as_ref().map(|off| off.minor), Some(855));
    assert_eq!((quote.total.minor, quote.due.minor, quote.needs_manager), (7_695, 7_690, false));
    let id = sell(&shop, line, None).await.unwrap();
    shop.until(&id, turno_till::view::SaleState::Accepted).await;
    assert_eq!(shop.yupy.sales()[0].json()["amount"], "76.95");
    let shown = shop.till.sale_detail(&id).await.unwrap();
    let given = shown.discount.unwrap();
    assert_eq!((given.list.minor, given.discount.minor, given.reason.as_str()), (8_550, 855, "asiento roto"));
    assert_eq!(given.approved_by, None, "a tenth needs nobody");
    let told = shown.timeline.iter().find(|entry| entry.happened == Happening::DiscountGiven).unwrap();
    assert_eq!((told.person.as_deref(), told.reason.as_deref()), (Some("Caja"), Some("asiento roto")));
    assert_eq!(shown.void_offer.returned.minor, 7_690, "what was paid");
}

#[tokio::test(start_paused = true)]
async fn more_than_a_tenth_needs_a_manager_for_that_ticket() {
    let shop = Shop::open().await;
    let line = || soles(seat("12A"), "8.56");
    for (approval, code) in [
        (None, ProblemCode::ManagerRequired),
        (by("m", "000000"), ProblemCode::PinWrong),
        (by("c", CASHIER_PIN), ProblemCode::ManagerRequired),
    ] {
        assert_eq!(sell(&shop, line(), approval).await.unwrap_err().code, code);
    }
    let id = sell(&shop, line(), by("m", MANAGER_PIN)).await.unwrap();
    let given = shop.till.sale_detail(&id).await.unwrap().discount.unwrap();
    assert_eq!(given.approved_by.as_deref(), Some("Encargado"));
    assert_eq!(
        sell(&shop, soles(luggage(), "5"), None).await.unwrap_err().code,
        ProblemCode::ManagerRequired
    );
    assert_eq!(audited(shop.folder()).get("discount_given"), Some(&1));
}

#[tokio::test(start_paused = true)]
async fn a_discount_that_leaves_no_price_or_has_no_reason_is_refused() {
    let shop = Shop::open().await;
    let approved = || by("m", MANAGER_PIN);
    for line in
        [soles(luggage(), "9.87"), percent(luggage(), "100"), percent(luggage(), "-1"), soles(luggage(), "x")]
    {
        assert_eq!(sell(&shop, line, approved()).await.unwrap_err().code, ProblemCode::DiscountInvalid);
    }
    let mut silent = percent(luggage(), "5");
    silent.discount.as_mut().unwrap().reason = "  ".to_owned();
    assert_eq!(sell(&shop, silent, None).await.unwrap_err().code, ProblemCode::ReasonRequired);
    assert!(shop.till.recent_sales(None).await.unwrap().items.is_empty());
    let id = sell(&shop, soles(luggage(), "9.86"), approved()).await.unwrap();
    assert_eq!(shop.sale(&id).await.amount.minor, 10, "the smallest coin");
}

#[tokio::test(start_paused = true)]
async fn the_report_says_how_much_was_taken_off_and_keeps_saying_it() {
    let shop = Shop::open().await;
    sell(&shop, percent(seat("12A"), "10"), None).await.unwrap();
    sell(&shop, soles(luggage(), "0.50"), None).await.unwrap();
    sell(&shop, fare(1), None).await.unwrap();
    let x = shop.till.shift_report(&ShiftReportRequest { shift_id: None }).await.unwrap();
    let figures = &x.figures;
    assert_eq!((figures.discounts.count, figures.discounts.amount.minor), (2, 905));
    assert_eq!(figures.net.amount.minor, 8_550 + 996 + 200 - 905);
    let paper = turno_till::shift::lines(&x, turno_print::Columns::C32);
    assert!(paper.iter().any(|line| line == "Descuentos 2               -9.05"), "{paper:#?}");
    crate::shift::close_exactly(&shop).await;
    let z = shop.till.shift_report(&ShiftReportRequest { shift_id: Some("S1".to_owned()) }).await.unwrap();
    assert_eq!(z.figures.discounts, x.figures.discounts);
}
