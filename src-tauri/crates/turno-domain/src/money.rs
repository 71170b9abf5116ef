//! Money as whole minor units of one currency, and the only two ways to read it from a text.
//!
//! Invariant: no float ever touches an amount, and no operation wraps, rounds or mixes currencies: what cannot be
//! exact is `None` or an error. Cash rounding is the one rounding there is, and it has its own name and figure.

use std::fmt;

use crate::currency::Currency;

/// The contract's upper limit, 9 999 999.99, in hundredths. It applies to the number, whatever the currency.
const MAX_AMOUNT_HUNDREDTHS: i64 = 999_999_999;

/// The smallest coin of Peru is S/ 0.10 (central bank, circular 0033-2018-BCRP).
const PEN_SMALLEST_COIN_MINOR: i64 = 10;

/// An amount in the minor units of its currency, e.g. céntimos. May be negative: a difference, a pay-out.
///
/// Deliberately without `Ord`: two amounts of different currencies have no order.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Money {
    minor: i64,
    currency: Currency,
}

/// Why a text is not an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AmountError {
    #[error("not a plain decimal number")]
    Malformed,
    #[error("more decimals than the currency has")]
    TooManyDecimals,
    #[error("must be more than zero")]
    NotPositive,
    #[error("more than 9 999 999.99")]
    TooLarge,
}

impl AmountError {
    /// The code for programs, as in `fields[].code` of a refused request.
    pub fn code(self) -> &'static str {
        match self {
            AmountError::Malformed => "malformed",
            AmountError::TooManyDecimals => "too_many_decimals",
            AmountError::NotPositive => "not_positive",
            AmountError::TooLarge => "too_large",
        }
    }
}

impl Money {
    pub fn from_minor(minor: i64, currency: Currency) -> Money {
        Money { minor, currency }
    }

    pub fn zero(currency: Currency) -> Money {
        Money { minor: 0, currency }
    }

    /// Reads an amount as it travels: ASCII digits without leading zeros, then at most a point and one digit up to
    /// the currency's decimals; more than zero and at most 9 999 999.99. Nothing is trimmed, repaired or rounded.
    pub fn parse_amount(text: &str, currency: Currency) -> Result<Money, AmountError> {
        let (whole, fraction) = match text.split_once('.') {
            Some((_, "")) => return Err(AmountError::Malformed),
            Some(parts) => parts,
            None => (text, ""),
        };
        if whole.is_empty() || (whole.len() > 1 && whole.starts_with('0')) {
            return Err(AmountError::Malformed);
        }
        let money = read(whole, fraction, currency)?;
        if money.minor == 0 { Err(AmountError::NotPositive) } else { Ok(money) }
    }

    /// Reads what a person types into a field: `100`, `85.5`, `85,50`, `.5`, `5.`, leading zeros and surrounding
    /// white space. Zero is fine (a float may be empty). There is no thousands separator: `1,500` soles is refused as
    /// too many decimals rather than guessed at.
    pub fn parse_typed(text: &str, currency: Currency) -> Result<Money, AmountError> {
        let text = text.trim();
        let (whole, fraction) = text.split_once(['.', ',']).unwrap_or((text, ""));
        if whole.is_empty() && fraction.is_empty() {
            return Err(AmountError::Malformed);
        }
        read(whole, fraction, currency)
    }

    pub fn minor(self) -> i64 {
        self.minor
    }

    pub fn currency(self) -> Currency {
        self.currency
    }

    /// `None` if the currencies differ or the sum does not fit.
    pub fn checked_add(self, other: Money) -> Option<Money> {
        self.same_currency(other)?;
        Some(Money { minor: self.minor.checked_add(other.minor)?, ..self })
    }

    /// `None` if the currencies differ or the difference does not fit. The difference may be negative.
    pub fn checked_sub(self, other: Money) -> Option<Money> {
        self.same_currency(other)?;
        Some(Money { minor: self.minor.checked_sub(other.minor)?, ..self })
    }

    /// `None` if the product does not fit.
    pub fn checked_mul(self, quantity: u32) -> Option<Money> {
        Some(Money { minor: self.minor.checked_mul(i64::from(quantity))?, ..self })
    }

    /// The amount as it travels, always with all decimals of the currency: `85.50`, `8550`, `85.500`.
    pub fn to_amount_text(self) -> String {
        let sign = if self.minor < 0 { "-" } else { "" };
        let magnitude = self.minor.unsigned_abs();
        let decimals = usize::from(self.currency.decimals());
        if decimals == 0 {
            return format!("{sign}{magnitude}");
        }
        let unit = 10_u64.pow(u32::from(self.currency.decimals()));
        format!("{sign}{}.{:0decimals$}", magnitude / unit, magnitude % unit)
    }

    fn same_currency(self, other: Money) -> Option<()> {
        (self.currency == other.currency).then_some(())
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.to_amount_text(), self.currency)
    }
}

impl fmt::Debug for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What a customer hands over in cash for a total, and what rounding took off it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CashDue {
    pub due: Money,
    /// `total - due`: what the customer is spared, never negative for a total that is not.
    pub rounding: Money,
}

/// Rounds a cash total to coins that exist. In soles it goes down to S/ 0.10, in the customer's favour as the law
/// demands; in other currencies nothing is rounded. Only for cash, and only once, on the whole total.
pub fn cash_due(total: Money) -> CashDue {
    let rounding_minor =
        if total.currency == Currency::PEN { total.minor % PEN_SMALLEST_COIN_MINOR } else { 0 };
    CashDue {
        // The remainder has the total's sign and is no larger, so this moves towards zero and cannot overflow.
        due: Money { minor: total.minor - rounding_minor, ..total },
        rounding: Money { minor: rounding_minor, ..total },
    }
}

/// Puts digits before and after the point together. Either may be empty here; the callers decide what is allowed.
fn read(whole: &str, fraction: &str, currency: Currency) -> Result<Money, AmountError> {
    // `char::is_numeric` would let other scripts' digits in.
    if !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return Err(AmountError::Malformed);
    }
    let decimals = usize::from(currency.decimals());
    let missing_zeros = decimals.checked_sub(fraction.len()).ok_or(AmountError::TooManyDecimals)?;
    let limit = max_minor(currency);
    let mut minor: i64 = 0;
    for digit in whole.bytes().chain(fraction.bytes()).chain(std::iter::repeat_n(b'0', missing_zeros)) {
        // Stopping at the limit keeps the sum far from overflowing, however many digits follow.
        minor = minor * 10 + i64::from(digit - b'0');
        if minor > limit {
            return Err(AmountError::TooLarge);
        }
    }
    Ok(Money { minor, currency })
}

/// 9 999 999.99 in the currency's minor units, rounded down where it has fewer than two decimals.
fn max_minor(currency: Currency) -> i64 {
    match u32::from(currency.decimals()) {
        decimals @ 0..2 => MAX_AMOUNT_HUNDREDTHS / 10_i64.pow(2 - decimals),
        decimals => MAX_AMOUNT_HUNDREDTHS * 10_i64.pow(decimals - 2),
    }
}

#[cfg(test)]
mod tests {
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
}
