use proptest::prelude::*;
use turno_domain::Currency;

use super::*;

fn soles(minor: i64) -> Money {
    Money::from_minor(minor, Currency::PEN)
}

fn cash(received: &str) -> Tender {
    Tender::Cash { received: Some(received.to_owned()).filter(|typed| !typed.is_empty()) }
}

fn yape(amount: &str, operation: &str) -> Tender {
    Tender::Wallet {
        provider: WalletProvider::Yape,
        operation_number: operation.to_owned(),
        amount: Some(amount.to_owned()).filter(|typed| !typed.is_empty()),
    }
}

/// Due, rounding, missing and change in minor units.
fn figures(total: i64, tenders: &[Tender]) -> (i64, i64, Option<i64>, Option<i64>) {
    let payment = divide(soles(total), tenders).unwrap();
    let minor = |money: Option<Money>| money.map(Money::minor);
    (
        payment.due(soles(total)).minor(),
        payment.rounding.minor(),
        minor(payment.missing),
        minor(payment.change),
    )
}

#[test]
fn only_what_is_paid_in_cash_is_rounded() {
    assert_eq!(figures(996, &[cash("")]), (990, 6, None, Some(0)));
    assert_eq!(figures(996, &[yape("", "1234")]), (996, 0, None, Some(0)));
    assert_eq!(figures(996, &[yape("5.02", "1234"), cash("")]), (992, 4, None, Some(0)));
    assert_eq!(
        figures(996, &[cash(""), yape("5,02", "1234")]),
        (992, 4, None, Some(0)),
        "whatever the order"
    );
}

#[test]
fn what_is_missing_is_said_and_change_comes_only_from_cash() {
    assert_eq!(figures(996, &[yape("5", "1234")]), (996, 0, Some(496), None));
    assert_eq!(figures(996, &[yape("5", "1234"), cash("4")]), (990, 6, Some(90), None));
    assert_eq!(figures(996, &[yape("5", "1234"), cash("10")]), (990, 6, None, Some(510)));
    assert_eq!(
        figures(996, &[yape("9.96", "1234"), cash("2")]),
        (996, 0, None, Some(200)),
        "all of it goes back"
    );
    assert_eq!(
        figures(996, &[yape("9.90", "1234"), cash("1")]),
        (996, 0, Some(6), None),
        "no coin pays 0.06"
    );
}

#[test]
fn tenders_that_make_no_sense_are_refused() {
    let refused = |tenders: &[Tender]| divide(soles(996), tenders).unwrap_err().code;
    let too_much = divide(soles(996), &[yape("4", "1234"), yape("6", "5678"), cash("")]).unwrap_err();
    assert_eq!((too_much.code, too_much.detail.as_deref()), (ProblemCode::TenderTooMuch, Some("PEN 5.96")));
    assert_eq!(refused(&[yape("9.97", "1234")]), ProblemCode::TenderTooMuch);
    assert_eq!(refused(&[yape("9.96", "1234"), yape("", "5678")]), ProblemCode::TenderTooMuch);
    assert_eq!(refused(&[cash(""), cash("")]), ProblemCode::TendersInvalid);
    assert_eq!(refused(&[yape("", "1234"), cash("")]), ProblemCode::TendersInvalid);
    assert_eq!(refused(&[]), ProblemCode::TendersInvalid);
    assert_eq!(refused(&vec![yape("1", "1234"); 5]), ProblemCode::TendersInvalid);
    for typed in ["0", "-1", "cinco", "1.001"] {
        assert_eq!(refused(&[yape(typed, "1234"), cash("")]), ProblemCode::AmountInvalid, "{typed}");
    }
}

#[test]
fn an_operation_number_is_letters_and_digits_in_one_case() {
    assert_eq!(operation_number(" 00ab12 ").unwrap(), "00AB12");
    for typed in ["", "123", "12 34", "12-34", "ñ1234", &"1".repeat(33)] {
        assert_eq!(operation_number(typed).unwrap_err().code, ProblemCode::OperationNumberInvalid, "{typed}");
    }
    let twice = divide(soles(900), &[yape("4", "ab12"), yape("5", "AB12 ")]).unwrap();
    assert_eq!(twice.rows().unwrap_err().code, ProblemCode::OperationNumberUsed);
}

#[test]
fn several_payments_of_one_kind_are_no_split() {
    let method = |tenders: &[Tender]| divide(soles(900), tenders).unwrap().method();
    assert_eq!(method(&[cash("")]), "cash");
    assert_eq!(method(&[yape("4", "1234"), yape("", "5678")]), "wallet");
    assert_eq!(method(&[yape("4", "1234"), cash("")]), "split");
}

proptest! {
    #[test]
    fn every_sale_is_paid_and_every_tender_used_to_the_centimo(
        sales in proptest::collection::vec(1_i64..50_000, 1..12), cuts in proptest::collection::vec(0_i64..600_000, 0..3)
    ) {
        let total: i64 = sales.iter().sum();
        let mut cuts: Vec<i64> = cuts.into_iter().map(|cut| cut % total).collect();
        cuts.sort_unstable();
        let ends = cuts.iter().copied().chain([total]);
        let tenders: Vec<i64> = ends.zip([0].into_iter().chain(cuts.clone())).map(|(end, from)| end - from).collect();
        let parts = allocate(&sales, &tenders);
        for (price, parts) in sales.iter().zip(&parts) {
            prop_assert_eq!(parts.iter().sum::<i64>(), *price);
            prop_assert!(parts.iter().all(|part| *part >= 0));
        }
        for (index, of_tender) in tenders.iter().enumerate() {
            prop_assert_eq!(parts.iter().map(|parts| parts[index]).sum::<i64>(), *of_tender);
        }
        prop_assert_eq!(allocate(&sales, &tenders), parts);
    }

    #[test]
    fn shares_and_rounding_are_the_price_and_no_tender_but_cash_is_more(
        total in 1_i64..100_000, first in 1_i64..100_000, received in 0_i64..200_000
    ) {
        let typed = |minor: i64| soles(minor).to_amount_text();
        let tenders = [yape(&typed(first), "1234"), cash(&typed(received))];
        match divide(soles(total), &tenders) {
            Err(problem) => {
                prop_assert_eq!(problem.code, ProblemCode::TenderTooMuch);
                prop_assert!(first > total);
            }
            Ok(payment) => {
                let shares: i64 = payment.shares.iter().map(|share| share.amount.minor()).sum();
                let missing_of_all = payment.missing.filter(|_| payment.cash_due.minor() == 0).map_or(0, Money::minor);
                prop_assert_eq!(shares + missing_of_all, total);
                prop_assert_eq!(payment.cash_due.minor() % 10, 0);
                prop_assert!(payment.rounding.minor() < 10);
                prop_assert_eq!(payment.missing.is_some(), payment.change.is_none());
                if let Some(change) = payment.change {
                    let paid = payment.others.minor() + payment.received.minor() - change.minor();
                    prop_assert_eq!(paid, payment.due(soles(total)).minor());
                }
            }
        }
    }
}
