use proptest::prelude::*;

use super::*;

fn currency(code: &str) -> Currency {
    Currency::parse(code).expect(code)
}

fn pen(minor: i64) -> Money {
    Money::from_minor(minor, Currency::PEN)
}

#[test]
fn an_amount_that_is_written_well_is_read_and_printed_at_full_scale() {
    let cases = [
        ("PEN", "85.50", 8550, "85.50"),
        ("PEN", "85.5", 8550, "85.50"),
        ("PEN", "85", 8500, "85.00"),
        ("PEN", "0.01", 1, "0.01"),
        ("PEN", "0.5", 50, "0.50"),
        ("PEN", "10.00", 1000, "10.00"),
        ("PEN", "9999999.99", 999_999_999, "9999999.99"),
        ("CLP", "8550", 8550, "8550"),
        ("CLP", "9999999", 9_999_999, "9999999"),
        ("KWD", "85.505", 85_505, "85.505"),
        ("KWD", "0.001", 1, "0.001"),
        ("KWD", "9999999.99", 9_999_999_990, "9999999.990"),
        ("CLF", "1.0001", 10_001, "1.0001"),
        ("UYW", "9999999.9900", 99_999_999_900, "9999999.9900"),
    ];
    for (code, text, minor, printed) in cases {
        let money = Money::parse_amount(text, currency(code)).expect(text);
        assert_eq!(money.minor(), minor, "{text} {code}");
        assert_eq!(money.to_amount_text(), printed, "{text} {code}");
    }
}

#[test]
fn an_amount_that_is_written_badly_is_refused_and_never_repaired() {
    use AmountError::{Malformed, NotPositive, TooLarge, TooManyDecimals};
    let cases = [
        ("PEN", "", Malformed),
        ("PEN", ".", Malformed),
        ("PEN", "085.50", Malformed),
        ("PEN", "00.50", Malformed),
        ("PEN", ".50", Malformed),
        ("PEN", "85.", Malformed),
        ("PEN", "+85.5", Malformed),
        ("PEN", "-85.50", Malformed),
        ("PEN", "8.55e1", Malformed),
        ("PEN", "85,50", Malformed),
        ("PEN", "1,085.50", Malformed),
        ("PEN", " 85.50", Malformed),
        ("PEN", "85.50 ", Malformed),
        ("PEN", "85 50", Malformed),
        ("PEN", "85.5.0", Malformed),
        ("PEN", "S/ 85.50", Malformed),
        ("PEN", "0x55", Malformed),
        ("PEN", "NaN", Malformed),
        ("PEN", "Infinity", Malformed),
        ("PEN", "85_50", Malformed),
        ("PEN", "\u{668}\u{665}.\u{665}", Malformed),
        ("PEN", "\u{ff18}\u{ff15}", Malformed),
        ("PEN", "85.500", TooManyDecimals),
        ("PEN", "85.001", TooManyDecimals),
        ("CLP", "8550.5", TooManyDecimals),
        ("CLP", "8550.00", TooManyDecimals),
        ("KWD", "85.5055", TooManyDecimals),
        ("PEN", "0", NotPositive),
        ("PEN", "0.00", NotPositive),
        ("PEN", "10000000", TooLarge),
        ("PEN", "10000000.00", TooLarge),
        ("CLP", "10000000", TooLarge),
        ("KWD", "9999999.991", TooLarge),
        ("PEN", "99999999999999999999.00", TooLarge),
    ];
    for (code, text, expected) in cases {
        assert_eq!(Money::parse_amount(text, currency(code)), Err(expected), "{text:?} {code}");
    }
}

#[test]
fn what_a_person_types_is_read_with_point_or_comma() {
    let cases = [
        ("100", 10_000),
        ("85.5", 8550),
        ("85,50", 8550),
        (".5", 50),
        (",05", 5),
        ("5.", 500),
        ("007", 700),
        ("  85.50\u{a0}", 8550),
        ("0", 0),
        ("0.00", 0),
        ("9999999.99", 999_999_999),
    ];
    for (text, minor) in cases {
        assert_eq!(Money::parse_typed(text, Currency::PEN), Ok(pen(minor)), "{text:?}");
    }
}

#[test]
fn what_a_person_types_is_never_guessed_at() {
    use AmountError::{Malformed, TooLarge, TooManyDecimals};
    let cases = [
        ("", Malformed),
        (" ", Malformed),
        (".", Malformed),
        ("-1", Malformed),
        ("+1", Malformed),
        ("1.085,50", Malformed),
        ("1 000", Malformed),
        ("S/ 5", Malformed),
        ("1e3", Malformed),
        ("1,500", TooManyDecimals),
        ("85.505", TooManyDecimals),
        ("10000000", TooLarge),
    ];
    for (text, expected) in cases {
        assert_eq!(Money::parse_typed(text, Currency::PEN), Err(expected), "{text:?}");
    }
}

#[test]
fn sums_of_different_currencies_or_beyond_the_range_do_not_exist() {
    let dollars = Money::from_minor(100, currency("USD"));
    assert_eq!(pen(100).checked_add(dollars), None);
    assert_eq!(pen(100).checked_sub(dollars), None);
    assert_eq!(pen(i64::MAX).checked_add(pen(1)), None);
    assert_eq!(pen(i64::MIN).checked_sub(pen(1)), None);
    assert_eq!(pen(i64::MAX).checked_mul(2), None);
    assert_eq!(pen(100).checked_add(pen(50)), Some(pen(150)));
    assert_eq!(pen(100).checked_sub(pen(150)), Some(pen(-50)));
    assert_eq!(pen(850).checked_mul(3), Some(pen(2550)));
}

#[test]
fn amounts_below_zero_are_printed_with_their_sign() {
    assert_eq!(pen(-5).to_amount_text(), "-0.05");
    assert_eq!(pen(-8550).to_amount_text(), "-85.50");
    assert_eq!(Money::from_minor(-7, currency("CLP")).to_amount_text(), "-7");
    assert_eq!(pen(i64::MIN).to_amount_text(), "-92233720368547758.08");
    assert_eq!(format!("{}", pen(8550)), "85.50 PEN");
}

#[test]
fn cash_in_soles_rounds_down_to_ten_centimos() {
    for (total, due) in [(996, 990), (990, 990), (999, 990), (991, 990), (5, 0), (0, 0), (1_000, 1_000)] {
        let rounded = cash_due(pen(total));
        assert_eq!(rounded, CashDue { due: pen(due), rounding: pen(total - due) }, "{total}");
    }
}

#[test]
fn cash_in_other_currencies_is_exact() {
    for code in ["USD", "CLP", "KWD"] {
        let total = Money::from_minor(1_996, currency(code));
        assert_eq!(cash_due(total), CashDue { due: total, rounding: Money::zero(currency(code)) });
    }
}

fn any_currency() -> impl Strategy<Value = Currency> {
    prop::sample::select(Currency::all().collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn every_amount_in_range_survives_being_printed_and_read(
        (currency, minor) in any_currency().prop_flat_map(|c| (Just(c), 1..=max_minor(c))),
    ) {
        let money = Money::from_minor(minor, currency);
        let text = money.to_amount_text();
        prop_assert_eq!(Money::parse_amount(&text, currency), Ok(money));
        prop_assert_eq!(Money::parse_typed(&text.replace('.', ","), currency), Ok(money));
    }

    #[test]
    fn reading_any_text_never_panics_and_never_leaves_the_range(text in ".{0,40}", currency in any_currency()) {
        for money in [Money::parse_amount(&text, currency), Money::parse_typed(&text, currency)].into_iter().flatten() {
            prop_assert!((0..=max_minor(currency)).contains(&money.minor()));
        }
    }

    #[test]
    fn reading_number_like_texts_agrees_with_their_digits(
        whole in "[0-9]{0,12}", fraction in prop::option::of("[0-9]{0,5}"), currency in any_currency(),
    ) {
        let text = fraction.as_ref().map_or(whole.clone(), |f| format!("{whole}.{f}"));
        if let Ok(money) = Money::parse_amount(&text, currency) {
            let printed = money.to_amount_text();
            // Printing only ever adds zeros (and the point before them) at the end.
            let added = printed.strip_prefix(&text);
            prop_assert!(added.is_some_and(|zeros| zeros.chars().all(|c| c == '0' || c == '.')), "{text} {printed}");
        }
    }

    #[test]
    fn printing_never_panics_and_adding_then_taking_away_gives_the_same(
        a in any::<i64>(), b in any::<i64>(), currency in any_currency(),
    ) {
        let (a, b) = (Money::from_minor(a, currency), Money::from_minor(b, currency));
        prop_assert!(!a.to_amount_text().is_empty());
        if let Some(sum) = a.checked_add(b) {
            prop_assert_eq!(sum.checked_sub(b), Some(a));
        }
    }

    #[test]
    fn cash_rounding_is_small_and_adds_up(minor in any::<i64>(), currency in any_currency()) {
        let total = Money::from_minor(minor, currency);
        let CashDue { due, rounding } = cash_due(total);
        prop_assert_eq!(due.checked_add(rounding), Some(total));
        prop_assert!(rounding.minor().abs() < 10);
        prop_assert_eq!(cash_due(due).due, due, "rounding twice changes nothing more");
    }
}
