//! What a customer pays with: each tender to the céntimo on the till, at YUPY, in the drawer and on the way back.

use serde_json::{Value, json};
use turno_till::transport::Failure;
use turno_till::view::{
    Charge, ChargeOutcome, Checkout, Line, Problem, ProblemCode, QuoteRequest, SaleState, ShiftReport,
    ShiftReportRequest, Tender, TenderMethod, TenderShare, WalletProvider,
};

use crate::support::{self, Shop, luggage, recorded, seat};

fn wallet(provider: WalletProvider, operation: &str, amount: Option<&str>) -> Tender {
    Tender::Wallet { provider, operation_number: operation.to_owned(), amount: amount.map(str::to_owned) }
}

fn yape(operation: &str, amount: Option<&str>) -> Tender {
    wallet(WalletProvider::Yape, operation, amount)
}

fn cash(received: Option<&str>) -> Tender {
    Tender::Cash { received: received.map(str::to_owned) }
}

fn request(shop: &Shop, lines: Vec<Line>, tenders: Vec<Tender>) -> Charge {
    Charge { tenders, ..support::charge(&shop.till.open_draft().draft_id, lines) }
}

async fn pay(shop: &Shop, lines: Vec<Line>, tenders: Vec<Tender>) -> Result<Box<Checkout>, Problem> {
    shop.till.charge(&request(shop, lines, tenders)).await.map(recorded)
}

async fn x_report(shop: &Shop) -> ShiftReport {
    shop.till.shift_report(&ShiftReportRequest { shift_id: None }).await.unwrap()
}

/// Method and amount of each, as a person would read them.
fn amounts(shares: &[TenderShare]) -> Vec<(TenderMethod, i64)> {
    shares.iter().map(|share| (share.method, share.amount.minor)).collect()
}

fn by_tender(report: &ShiftReport) -> Vec<(&str, u32, i64)> {
    report.tenders.iter().map(|share| (share.label.as_str(), share.count, share.amount.minor)).collect()
}

/// How a body says that its sale was paid.
fn told(body: &Value) -> (Value, Value) {
    (body["payment_method"].clone(), body["tenders"].clone())
}

#[tokio::test(start_paused = true)]
async fn a_wallet_pays_exactly_and_its_operation_is_kept_and_told() {
    let shop = Shop::open().await;
    let sold = pay(&shop, vec![luggage()], vec![yape(" ab12345 ", None)]).await.unwrap();
    assert_eq!((sold.due.minor, sold.rounding.minor, sold.change.minor), (996, 0, 0), "9.96, not 9.90");
    assert_eq!(sold.tenders[0].operation_number.as_deref(), Some("AB12345"));
    shop.until(&sold.sales[0].external_transaction_id, SaleState::Accepted).await;
    let (method, tenders) = told(&shop.yupy.sales()[0].json());
    assert_eq!(method, "wallet");
    assert_eq!(
        tenders,
        json!([{ "method": "wallet", "amount": "9.96", "provider": "yape", "operation_number": "AB12345" }])
    );
    let report = x_report(&shop).await;
    assert_eq!(by_tender(&report), [("wallet", 1, 996)]);
    assert_eq!(report.drawer.expected.minor, 10_000, "nothing of it is in the drawer");
}

#[tokio::test(start_paused = true)]
async fn both_tenders_of_a_sale_that_was_made_offline_reach_yupy_and_the_shift() {
    let shop = Shop::open().await;
    shop.yupy.down(Failure::NoNetwork);
    let tenders = vec![yape("00123456", Some("5")), cash(Some("20"))];
    let sold = pay(&shop, vec![luggage()], tenders).await.unwrap();
    assert_eq!(
        (sold.total.minor, sold.rounding.minor, sold.due.minor, sold.received.minor, sold.change.minor),
        (996, 6, 990, 2_500, 1_510),
        "the cash of 4.96 is rounded to 4.90; of 20.00 the rest is change"
    );
    assert_eq!(amounts(&sold.tenders), [(TenderMethod::Wallet, 500), (TenderMethod::Cash, 490)]);
    shop.yupy.up();
    shop.until(&sold.sales[0].external_transaction_id, SaleState::Accepted).await;
    let (method, tenders) = told(&shop.yupy.sales().last().unwrap().json());
    assert_eq!(method, "split");
    assert_eq!(
        tenders,
        json!([
            { "method": "wallet", "amount": "5.00", "provider": "yape", "operation_number": "00123456" },
            { "method": "cash", "amount": "4.96" },
        ]),
        "they add up to the amount of the sale"
    );
    let report = x_report(&shop).await;
    assert_eq!(by_tender(&report), [("wallet", 1, 500), ("cash", 1, 496)]);
    assert_eq!((report.drawer.sales.minor, report.drawer.rounding.minor), (496, 6));
    assert_eq!(report.drawer.expected.minor, 10_000 + 490);
}

#[tokio::test(start_paused = true)]
async fn each_sale_of_a_ticket_has_its_part_of_each_tender() {
    let shop = Shop::open().await;
    let tenders =
        vec![yape("1111", Some("100")), wallet(WalletProvider::Plin, "2222", Some("60")), cash(None)];
    let sold = pay(&shop, vec![seat("12A"), seat("12B"), luggage()], tenders).await.unwrap();
    let mut told_parts = Vec::new();
    for sale in &sold.sales {
        shop.until(&sale.external_transaction_id, SaleState::Accepted).await;
    }
    for sent in shop.yupy.sales() {
        let (method, tenders) = told(&sent.json());
        let parts: Vec<String> = tenders
            .as_array()
            .into_iter()
            .flatten()
            .map(|part| format!("{} {}", part["method"].as_str().unwrap(), part["amount"].as_str().unwrap()))
            .collect();
        told_parts.push((method.as_str().unwrap().to_owned(), parts.join(", ")));
    }
    told_parts.sort();
    assert_eq!(
        told_parts,
        [
            ("cash".to_owned(), String::new()),
            ("split".to_owned(), "wallet 14.50, wallet 60.00, cash 11.00".to_owned()),
            ("wallet".to_owned(), "wallet 85.50".to_owned()),
        ],
        "a sale that was all cash says so as ever"
    );
}

#[tokio::test(start_paused = true)]
async fn a_payment_that_paid_a_sale_before_pays_no_other_and_the_sale_is_named() {
    let shop = Shop::open().await;
    let first = request(&shop, vec![seat("12A")], vec![yape("ab123", None)]);
    let sold = recorded(shop.till.charge(&first).await.unwrap());
    let again = recorded(shop.till.charge(&first).await.unwrap());
    assert_eq!(again.sales.len(), 1, "the same press is the same sale");
    for operation in ["AB123", " ab123"] {
        let tenders = vec![wallet(WalletProvider::Other, operation, Some("5")), cash(None)];
        let refused = pay(&shop, vec![luggage()], tenders).await.unwrap_err();
        assert_eq!(refused.code, ProblemCode::OperationNumberUsed);
        assert_eq!(refused.detail.as_deref(), Some(&*sold.sales[0].external_transaction_id));
    }
    pay(&shop, vec![luggage()], vec![yape("AB124", None)]).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_does_not_pay_a_ticket_is_refused_and_nothing_is_recorded() {
    let shop = Shop::open().await;
    for (tenders, code) in [
        (vec![], ProblemCode::TendersInvalid),
        (vec![cash(None), cash(None)], ProblemCode::TendersInvalid),
        (vec![yape("12", None)], ProblemCode::OperationNumberInvalid),
        (vec![yape("1234", Some("5"))], ProblemCode::ReceivedTooLittle),
        (vec![yape("1234", Some("5")), cash(Some("4.80"))], ProblemCode::ReceivedTooLittle),
        (vec![yape("1234", Some("5")), yape("1234", None)], ProblemCode::OperationNumberUsed),
        (vec![yape("1234", Some("20")), cash(None)], ProblemCode::TenderTooMuch),
    ] {
        let refused = pay(&shop, vec![luggage()], tenders.clone()).await.unwrap_err();
        assert_eq!(refused.code, code, "{tenders:?}");
    }
    assert!(shop.till.recent_sales(None).await.unwrap().items.is_empty());
    let typing = QuoteRequest { lines: vec![luggage()], tenders: vec![yape("", Some("5"))] };
    let quote = shop.till.quote(&typing).unwrap();
    assert_eq!(quote.missing.map(|missing| missing.minor), Some(496), "figures are there while it is typed");
}

#[tokio::test(start_paused = true)]
async fn a_void_returns_each_tender_its_part_and_only_cash_leaves_the_drawer() {
    let shop = Shop::open().await;
    let tenders = vec![yape("1111", Some("90")), cash(Some("100"))];
    let sold = pay(&shop, vec![seat("12A"), luggage()], tenders).await.unwrap();
    let ids: Vec<&str> = sold.sales.iter().map(|sale| sale.external_transaction_id.as_str()).collect();
    for id in &ids {
        shop.until(id, SaleState::Accepted).await;
    }
    let paid = sold.due.minor;
    assert_eq!(paid, 9_540, "95.46: 90.00 exactly and 5.40 in cash");
    let offered = |id: &str| {
        let (till, id) = (shop.till.clone(), id.to_owned());
        async move { amounts(&till.sale_detail(&id).await.unwrap().void_offer.parts) }
    };
    assert_eq!(offered(ids[0]).await, [(TenderMethod::Wallet, 8_550)]);
    assert_eq!(offered(ids[1]).await, [(TenderMethod::Wallet, 450), (TenderMethod::Cash, 540)]);
    let mut returned = 0;
    for id in [ids[1], ids[0]] {
        let void = shop.request_void(id).await;
        returned += void.shown_returned_minor;
        shop.till.void_sale(&void).await.unwrap();
    }
    assert_eq!(returned, paid, "what was paid, no more and no less");
    let shown = shop.till.sale_detail(ids[1]).await.unwrap().void.unwrap();
    assert_eq!(amounts(&shown.parts), [(TenderMethod::Wallet, 450), (TenderMethod::Cash, 540)]);
    let report = x_report(&shop).await;
    assert_eq!(report.drawer.refunds.minor, 540);
    assert_eq!(report.drawer.expected.minor, 10_000, "the drawer is as it was");
}

#[tokio::test(start_paused = true)]
async fn a_split_ticket_is_the_same_after_a_crash() {
    let mut shop = Shop::open().await;
    let split = request(&shop, vec![seat("12A"), luggage()], vec![yape("1111", Some("90")), cash(None)]);
    let sold = recorded(shop.till.charge(&split).await.unwrap());
    shop.crash().await;
    let ChargeOutcome::Recorded { checkout } = shop.till.charge(&split).await.unwrap() else { panic!() };
    assert_eq!((&checkout.tenders, &checkout.due), (&sold.tenders, &sold.due));
    let other = Charge { tenders: vec![cash(None)], ..split };
    assert_eq!(shop.till.charge(&other).await.unwrap_err().code, ProblemCode::DraftAlreadyRecorded);
}
