//! The shift: cash in and out, the closing whatever the network does, and what arrives after it.

use turno_print::Columns;
use turno_till::Till;
use turno_till::shift::lines;
use turno_till::transport::Failure;
use turno_till::view::{
    Approval, CashDirection, CloseShiftRequest, Decide, Decision, MoneyHandled, MoveCashRequest,
    OpenShiftRequest, PastShiftsRequest, Phase, Pieces, ProblemCode, SaleState, ShiftReport,
    ShiftReportRequest,
};

use crate::crash::disk::audited;
use crate::support::{MANAGER_PIN, Shop, charge, fare, luggage, question, recorded, seat};

async fn report(till: &Till, shift_id: Option<&str>) -> ShiftReport {
    till.shift_report(&ShiftReportRequest { shift_id: shift_id.map(str::to_owned) }).await.unwrap()
}

fn approval() -> Approval {
    Approval { manager_id: "m".to_owned(), pin: MANAGER_PIN.to_owned() }
}

fn pieces(count: &[(i64, u32)]) -> Vec<Pieces> {
    count
        .iter()
        .map(|(denomination_minor, pieces)| Pieces {
            denomination_minor: *denomination_minor,
            pieces: *pieces,
        })
        .collect()
}

/// A closing of `shift_id` with what the till expects, plus or minus nothing.
pub async fn exact(till: &Till, shift_id: &str) -> CloseShiftRequest {
    let expected = report(till, None).await.drawer.expected.minor;
    assert_eq!(expected % 10, 0, "cash is rounded to coins that exist");
    let tens = u32::try_from(expected / 1_000).unwrap();
    let cents = u32::try_from(expected % 1_000 / 10).unwrap();
    CloseShiftRequest {
        shift_id: shift_id.to_owned(),
        count: pieces(&[(1_000, tens), (10, cents)]),
        shown_expected_minor: expected,
        approval: None,
        reason: None,
    }
}

/// Closes the open shift with what should be there.
pub async fn close_exactly(shop: &Shop) {
    let request = exact(&shop.till, "S1").await;
    shop.till.close_shift(&request).await.unwrap();
}

fn movement(till: &Till, direction: CashDirection, amount: &str) -> MoveCashRequest {
    MoveCashRequest {
        draft_id: till.open_draft().draft_id,
        direction,
        amount: amount.to_owned(),
        reason: "Agua para la oficina".to_owned(),
        approval: None,
    }
}

#[tokio::test(start_paused = true)]
async fn the_x_report_shows_the_drawer_with_sales_rounding_and_what_was_moved_by_hand() {
    let shop = Shop::open().await;
    shop.sell(luggage()).await;
    shop.till.move_cash(&movement(&shop.till, CashDirection::PayIn, "50")).await.unwrap();
    shop.till.move_cash(&movement(&shop.till, CashDirection::PayOut, "12.50")).await.unwrap();
    let x = report(&shop.till, None).await;
    assert_eq!(x.drawer.sales.minor, 996);
    assert_eq!(x.drawer.rounding.minor, 6, "its own figure");
    assert_eq!(x.drawer.expected.minor, 10_000 + 990 + 5_000 - 1_250);
    assert_eq!(x.movements.len(), 2);
    assert_eq!((x.figures.sold.count, x.figures.net.amount.minor), (1, 996));
}

#[tokio::test(start_paused = true)]
async fn a_movement_pressed_twice_is_made_once_and_another_under_its_name_is_refused() {
    let shop = Shop::open().await;
    let request = movement(&shop.till, CashDirection::PayOut, "20");
    shop.till.move_cash(&request).await.unwrap();
    let again = shop.till.move_cash(&request).await.unwrap();
    assert_eq!(again.movements.len(), 1);
    let other = MoveCashRequest { amount: "30".to_owned(), ..request };
    assert_eq!(shop.till.move_cash(&other).await.unwrap_err().code, ProblemCode::DraftAlreadyRecorded);
}

#[tokio::test(start_paused = true)]
async fn a_pay_out_beyond_the_limit_needs_a_managers_pin_for_that_one_act() {
    let shop = Shop::open().await;
    shop.till.move_cash(&movement(&shop.till, CashDirection::PayIn, "400")).await.unwrap();
    let big = movement(&shop.till, CashDirection::PayOut, "100.10");
    assert_eq!(shop.till.move_cash(&big).await.unwrap_err().code, ProblemCode::ManagerRequired);
    let cashier = Approval { manager_id: "c".to_owned(), pin: crate::support::CASHIER_PIN.to_owned() };
    let by_cashier = MoveCashRequest { approval: Some(cashier), ..big.clone() };
    assert_eq!(shop.till.move_cash(&by_cashier).await.unwrap_err().code, ProblemCode::ManagerRequired);
    let wrong = Approval { pin: "999998".to_owned(), ..approval() };
    let refused = MoveCashRequest { approval: Some(wrong), ..big.clone() };
    assert_eq!(shop.till.move_cash(&refused).await.unwrap_err().code, ProblemCode::PinWrong);
    let approved = MoveCashRequest { approval: Some(approval()), ..big.clone() };
    let x = shop.till.move_cash(&approved).await.unwrap();
    assert_eq!(x.movements[1].approved_by.as_deref(), Some("Encargado"));
    let next = MoveCashRequest { draft_id: shop.till.open_draft().draft_id, ..big };
    assert_eq!(shop.till.move_cash(&next).await.unwrap_err().code, ProblemCode::ManagerRequired);
    assert_eq!(audited(shop.folder()).get("cash_paid_out"), Some(&1));
}

#[tokio::test(start_paused = true)]
async fn amounts_and_reasons_that_say_nothing_move_nothing() {
    let shop = Shop::open().await;
    for amount in ["", "0", "-5", "1e3", "5.001"] {
        let request = movement(&shop.till, CashDirection::PayIn, amount);
        assert_eq!(
            shop.till.move_cash(&request).await.unwrap_err().code,
            ProblemCode::AmountInvalid,
            "{amount}"
        );
    }
    for reason in ["", "   ", "a\u{7}b", &"x".repeat(200)] {
        let request = movement(&shop.till, CashDirection::PayIn, "5");
        let request = MoveCashRequest { reason: reason.to_owned(), ..request };
        assert_eq!(shop.till.move_cash(&request).await.unwrap_err().code, ProblemCode::ReasonRequired);
    }
    let more_than_there_is = movement(&shop.till, CashDirection::PayOut, "100.10");
    let refused = shop.till.move_cash(&more_than_there_is).await.unwrap_err();
    assert_eq!((refused.code, refused.detail.as_deref()), (ProblemCode::NotEnoughCash, Some("100.00")));
    assert!(report(&shop.till, None).await.movements.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_shift_closes_offline_with_the_list_of_what_waits_and_says_later_what_settled() {
    let shop = Shop::open().await;
    let early = shop.sell(fare(1)).await;
    shop.until(&early.sales[0].external_transaction_id, SaleState::Accepted).await;
    shop.yupy.down(Failure::NoNetwork);
    let late = recorded(shop.charge(vec![seat("12A"), luggage()]).await.unwrap());
    let request = exact(&shop.till, "S1").await;
    shop.till.close_shift(&request).await.unwrap();
    assert!(matches!(shop.till.phase().await.unwrap(), Phase::NoShift { last_closing: Some(_), .. }));

    let z = report(&shop.till, Some("S1")).await;
    let waiting: Vec<_> = z.unsettled.iter().map(|sale| sale.external_transaction_id.as_str()).collect();
    let sold: Vec<_> = late.sales.iter().map(|sale| sale.external_transaction_id.as_str()).collect();
    assert_eq!((waiting, z.unsettled_count), (sold, 2));
    assert!(z.addendum.is_empty());
    assert_eq!(z.closing.as_ref().unwrap().z_id, "YYN-1");

    shop.till.open_shift(&OpenShiftRequest { float: "50".to_owned() }).await.unwrap();
    shop.yupy.up();
    for sale in &late.sales {
        shop.until(&sale.external_transaction_id, SaleState::Accepted).await;
    }
    let after = report(&shop.till, Some("S1")).await;
    assert_eq!(after.addendum.len(), 2);
    assert!(after.addendum.iter().all(|late| late.was.is_some() && late.sale.shift_id == "S1"));
    assert_eq!(ShiftReport { addendum: Vec::new(), ..after }, z, "what was true then stays");
    let own = report(&shop.till, None).await;
    assert_eq!(
        (own.figures.sold.count, own.drawer.expected.minor),
        (0, 5_000),
        "it is no sale of the next shift"
    );
    let past = shop.till.past_shifts(&PastShiftsRequest { before: None }).await.unwrap();
    assert_eq!((past.items.len(), past.items[0].late_count, past.items[0].unsettled_count), (1, 2, 0));
}

#[tokio::test(start_paused = true)]
async fn closing_twice_closes_once_and_a_shift_without_sales_closes_with_zeros() {
    let shop = Shop::open().await;
    let request = exact(&shop.till, "S1").await;
    let (one, other) = tokio::join!(shop.till.close_shift(&request), shop.till.close_shift(&request));
    one.unwrap();
    other.unwrap();
    shop.till.close_shift(&CloseShiftRequest { count: Vec::new(), ..request }).await.unwrap();
    let z = report(&shop.till, Some("S1")).await;
    assert_eq!((z.figures.sold.count, z.figures.sold.amount.minor), (0, 0));
    assert_eq!(z.closing.unwrap().counted.minor, 10_000, "the first count");
    assert_eq!(audited(shop.folder()).get("shift_closed"), Some(&1));
    let past = shop.till.past_shifts(&PastShiftsRequest { before: None }).await.unwrap();
    assert_eq!(past.items.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_difference_beyond_the_limit_needs_a_manager_and_a_reason() {
    let shop = Shop::open().await;
    let short = CloseShiftRequest { count: pieces(&[(5_000, 1)]), ..exact(&shop.till, "S1").await };
    assert_eq!(shop.till.close_shift(&short).await.unwrap_err().code, ProblemCode::ManagerRequired);
    let silent = CloseShiftRequest { approval: Some(approval()), ..short.clone() };
    assert_eq!(shop.till.close_shift(&silent).await.unwrap_err().code, ProblemCode::ReasonRequired);
    let said = CloseShiftRequest { reason: Some("Falta un billete".to_owned()), ..silent };
    shop.till.close_shift(&said).await.unwrap();
    let closing = report(&shop.till, Some("S1")).await.closing.unwrap();
    assert_eq!((closing.difference.minor, closing.approved_by.as_deref()), (-5_000, Some("Encargado")));
    assert_eq!(closing.count.len(), 1);

    shop.till.open_shift(&OpenShiftRequest { float: "100".to_owned() }).await.unwrap();
    let slip = CloseShiftRequest {
        count: pieces(&[(5_000, 1), (2_000, 2), (500, 1)]),
        ..exact(&shop.till, "S2").await
    };
    shop.till.close_shift(&slip).await.unwrap();
    assert_eq!(report(&shop.till, Some("S2")).await.closing.unwrap().difference.minor, -500);
}

#[tokio::test(start_paused = true)]
async fn a_count_of_what_does_not_exist_or_of_figures_that_changed_closes_nothing() {
    let shop = Shop::open().await;
    let request = exact(&shop.till, "S1").await;
    for count in [&[(300, 1)][..], &[(10, 10_001)], &[(100, 1), (100, 1)], &[(-10, 1)]] {
        let request = CloseShiftRequest { count: pieces(count), ..request.clone() };
        assert_eq!(shop.till.close_shift(&request).await.unwrap_err().code, ProblemCode::AmountInvalid);
    }
    shop.sell(fare(1)).await;
    assert_eq!(shop.till.close_shift(&request).await.unwrap_err().code, ProblemCode::FiguresChanged);
    let unknown = CloseShiftRequest { shift_id: "S9".to_owned(), ..request };
    assert_eq!(shop.till.close_shift(&unknown).await.unwrap_err().code, ProblemCode::NotFound);
    assert_eq!(report(&shop.till, None).await.shift_id, "S1");
}

#[tokio::test(start_paused = true)]
async fn after_the_close_nothing_is_sold_or_moved_until_the_next_shift_opens() {
    let shop = Shop::open().await;
    shop.till.close_shift(&exact(&shop.till, "S1").await).await.unwrap();
    let sale = charge(&shop.till.open_draft().draft_id, vec![fare(1)]);
    assert_eq!(shop.till.charge(&sale).await.unwrap_err().code, ProblemCode::ShiftRequired);
    let cash = movement(&shop.till, CashDirection::PayIn, "5");
    assert_eq!(shop.till.move_cash(&cash).await.unwrap_err().code, ProblemCode::ShiftRequired);
    shop.till.open_shift(&OpenShiftRequest { float: "100".to_owned() }).await.unwrap();
    let sold = recorded(shop.till.charge(&sale).await.unwrap());
    assert_eq!(sold.sales[0].shift_id, "S2");
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_back_during_the_shift_changes_no_figure_and_no_order() {
    let shop = Shop::open().await;
    shop.sell(fare(1)).await;
    shop.clock.forward(-3 * 86_400_000);
    shop.sell(fare(2)).await;
    shop.till.move_cash(&movement(&shop.till, CashDirection::PayIn, "5")).await.unwrap();
    shop.till.close_shift(&exact(&shop.till, "S1").await).await.unwrap();
    shop.till.open_shift(&OpenShiftRequest { float: "0".to_owned() }).await.unwrap();
    shop.till.close_shift(&exact(&shop.till, "S2").await).await.unwrap();
    let past = shop.till.past_shifts(&PastShiftsRequest { before: None }).await.unwrap();
    let order: Vec<_> =
        past.items.iter().map(|shift| (shift.shift_id.as_str(), shift.z_id.as_deref())).collect();
    assert_eq!(order, [("S2", Some("YYN-2")), ("S1", Some("YYN-1"))]);
    let z = report(&shop.till, Some("S1")).await;
    assert_eq!(z.figures.net.amount.minor, 600);
    assert_eq!(z.hours.iter().map(|hour| hour.amount.minor).sum::<i64>(), 600);
    let Phase::NoShift { last_closing, .. } = shop.till.phase().await.unwrap() else {
        panic!("it is closed")
    };
    assert_eq!(last_closing.unwrap().shift_id, "S2");
}

#[tokio::test(start_paused = true)]
async fn killed_after_the_close_the_till_opens_without_a_shift_and_with_its_report() {
    let mut shop = Shop::open().await;
    shop.sell(fare(3)).await;
    shop.till.close_shift(&exact(&shop.till, "S1").await).await.unwrap();
    shop.crash().await;
    assert!(matches!(shop.till.phase().await.unwrap(), Phase::NoShift { .. }));
    assert_eq!(report(&shop.till, Some("S1")).await.figures.net.amount.minor, 600);
}

#[tokio::test(start_paused = true)]
async fn money_given_back_for_a_sale_of_an_earlier_shift_leaves_the_drawer_that_is_open() {
    let shop = Shop::open().await;
    shop.yupy.then(question("ch-1", "token", "ypt-0"));
    let sale = shop.sell(luggage()).await.sales[0].external_transaction_id.clone();
    shop.until(&sale, SaleState::InReview).await;
    shop.till.close_shift(&exact(&shop.till, "S1").await).await.unwrap();
    shop.till.open_shift(&OpenShiftRequest { float: "80".to_owned() }).await.unwrap();
    shop.till
        .decide(&Decide {
            external_transaction_id: sale,
            challenge_id: "ch-1".to_owned(),
            decision: Decision::SameSale,
            manager_id: "m".to_owned(),
            pin: MANAGER_PIN.to_owned(),
            reason: "Se cobró dos veces".to_owned(),
            money: Some(MoneyHandled::Refunded),
        })
        .await
        .unwrap();
    let x = report(&shop.till, None).await;
    assert_eq!(
        (x.drawer.refunds.minor, x.drawer.expected.minor),
        (990, 8_000 - 990),
        "what was paid, not the price"
    );
    let z = report(&shop.till, Some("S1")).await;
    assert_eq!(z.drawer.expected.minor, 10_990, "the drawer of then is as it was");
    assert_eq!(z.addendum[0].sale.state, SaleState::Discarded);
}

#[tokio::test(start_paused = true)]
async fn a_drawer_with_more_cash_than_it_should_hold_says_so() {
    let shop = Shop::open().await;
    let is_full = async || {
        let Phase::Selling { shift, .. } = shop.till.phase().await.unwrap() else {
            panic!("a shift is open")
        };
        shift.drawer_is_full
    };
    assert!(!is_full().await);
    shop.till.move_cash(&movement(&shop.till, CashDirection::PayIn, "1400.10")).await.unwrap();
    assert!(is_full().await);
}

#[tokio::test(start_paused = true)]
async fn closing_a_shift_makes_a_copy_of_the_database_that_holds_the_closing() {
    let shop = Shop::open().await;
    let copies = || std::fs::read_dir(shop.folder().join("backups")).into_iter().flatten().count();
    let before = copies();
    shop.clock.forward(5_000);
    shop.till.close_shift(&exact(&shop.till, "S1").await).await.unwrap();
    assert!(copies() > before);
}

#[tokio::test(start_paused = true)]
async fn a_second_shift_is_not_opened_beside_the_first() {
    let shop = Shop::open().await;
    let again = OpenShiftRequest { float: "0".to_owned() };
    assert_eq!(shop.till.open_shift(&again).await.unwrap_err().code, ProblemCode::ShiftAlreadyOpen);
    let past = shop.till.past_shifts(&PastShiftsRequest { before: None }).await.unwrap();
    assert_eq!((report(&shop.till, None).await.shift_id.as_str(), past.items.len()), ("S1", 0));
}

#[tokio::test(start_paused = true)]
async fn the_report_fits_every_paper_and_says_every_figure_of_the_screen() {
    let shop = Shop::open().await;
    shop.yupy.down(Failure::NoNetwork);
    shop.sell(luggage()).await;
    shop.sell(seat("12A")).await;
    let long = "Un motivo largo con_una_palabra_que_no_cabe_en_ninguna_línea_de_papel_angosto y más";
    let out =
        MoveCashRequest { reason: long.to_owned(), ..movement(&shop.till, CashDirection::PayOut, "20") };
    shop.till.move_cash(&out).await.unwrap();
    shop.till.close_shift(&exact(&shop.till, "S1").await).await.unwrap();
    let z = report(&shop.till, Some("S1")).await;
    for columns in Columns::ALL {
        let lines = lines(&z, columns);
        let widest = lines.iter().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= columns.count(), "{columns:?}: {lines:#?}");
        for figure in [&z.figures.sold.amount, &z.drawer.expected, &z.drawer.sales] {
            let text = format!("{}.{:02}", figure.minor / 100, figure.minor % 100);
            assert!(lines.iter().any(|line| line.ends_with(&text)), "{columns:?} lacks {text}: {lines:#?}");
        }
        assert!(lines.iter().any(|line| line.contains("SIN CONFIRMAR")));
    }
}

#[tokio::test(start_paused = true)]
async fn a_report_is_kept_as_a_whole_pdf_under_its_number() {
    let shop = Shop::open().await;
    let x = shop.till.save_shift_report(&ShiftReportRequest { shift_id: None }).await.unwrap();
    assert!(x.path.contains("D03-X-S1-"), "{}", x.path);
    shop.till.close_shift(&exact(&shop.till, "S1").await).await.unwrap();
    let request = ShiftReportRequest { shift_id: Some("S1".to_owned()) };
    let first = shop.till.save_shift_report(&request).await.unwrap();
    assert_eq!(shop.till.save_shift_report(&request).await.unwrap(), first, "again, in its place");
    assert!(first.path.ends_with("reports/D03-Z-YYN-1-S1.pdf"), "{}", first.path);
    let bytes = std::fs::read(&first.path).unwrap();
    assert!(bytes.starts_with(b"%PDF-1.4") && bytes.ends_with(b"%%EOF\n"));
}
