//! What is taken off a line's price. Invariant: a discount is more than nothing, leaves a price that a coin can pay, and
//! beyond the cashier's limit it needs a manager. Pure: whole céntimos, and a percentage is cut off, never rounded up.

use turno_domain::Money;

use crate::view::{Discount, DiscountKind, Problem, ProblemCode};

/// What a cashier takes off alone, as a share of the line's price: enough for a torn seat or a regular, and little
/// enough that nobody sells a cousin's ticket at half the price. Beyond it a manager looks.
const CASHIER_PERCENT: i64 = 10;
/// The smallest coin. Whoever pays nothing at all is not sold a ticket but given one.
const LEAST_MINOR: i64 = 10;
/// 100 % in hundredths of a percent, as many decimals as are typed.
const WHOLE: i64 = 10_000;

/// What of `price` is taken off.
///
/// # Errors
/// `discount_invalid`.
pub fn off(price: Money, discount: &Discount) -> Result<Money, Problem> {
    let invalid = || Problem::new(ProblemCode::DiscountInvalid);
    let minor = match discount.kind {
        DiscountKind::Amount => {
            Money::parse_typed(&discount.value, price.currency()).map_err(|_| invalid())?.minor()
        }
        DiscountKind::Percent => {
            let share = hundredths(&discount.value).ok_or_else(invalid)?;
            price.minor().checked_mul(share).ok_or_else(invalid)? / WHOLE
        }
    };
    if minor < 1 || price.minor() - minor < LEAST_MINOR {
        return Err(invalid());
    }
    Ok(Money::from_minor(minor, price.currency()))
}

/// Whether a cashier may not give it alone.
#[must_use]
pub fn needs_manager(price: Money, off: Money) -> bool {
    off.minor().saturating_mul(100) > price.minor().saturating_mul(CASHIER_PERCENT)
}

/// `12.5` as 1250; more than the whole is none.
fn hundredths(typed: &str) -> Option<i64> {
    // Read as an amount of two decimals, which is what a percentage has too.
    let share = Money::parse_typed(typed.trim().trim_end_matches('%'), turno_domain::Currency::PEN).ok()?;
    Some(share.minor()).filter(|share| *share <= WHOLE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use turno_domain::Currency;

    use super::*;

    fn soles(minor: i64) -> Money {
        Money::from_minor(minor, Currency::PEN)
    }

    fn taken(price: i64, kind: DiscountKind, value: &str) -> Option<i64> {
        let discount = Discount { kind, value: value.to_owned(), reason: String::new() };
        off(soles(price), &discount).ok().map(Money::minor)
    }

    #[test]
    fn a_discount_is_typed_as_a_share_or_an_amount_and_cut_to_the_centimo() {
        for (kind, value, minor) in [
            (DiscountKind::Percent, "10", Some(99)),
            (DiscountKind::Percent, "12,5 %", Some(124)),
            (DiscountKind::Percent, "12,5%", Some(124)),
            (DiscountKind::Percent, "98.99", Some(985)),
            (DiscountKind::Percent, "99", Some(986)),
            (DiscountKind::Percent, "100", None),
            (DiscountKind::Percent, "0.01", None),
            (DiscountKind::Percent, "-5", None),
            (DiscountKind::Percent, "ten", None),
            (DiscountKind::Amount, "9.86", Some(986)),
            (DiscountKind::Amount, "9.87", None),
            (DiscountKind::Amount, "20", None),
            (DiscountKind::Amount, "0", None),
            (DiscountKind::Amount, "", None),
        ] {
            assert_eq!(taken(996, kind, value), minor, "{value}");
        }
    }

    #[test]
    fn a_cashier_gives_a_tenth_alone_and_not_a_centimo_more() {
        assert!(!needs_manager(soles(8_550), soles(855)));
        assert!(needs_manager(soles(8_550), soles(856)));
        assert!(!needs_manager(soles(996), soles(99)));
        assert!(needs_manager(soles(996), soles(100)));
    }

    proptest! {
        #[test]
        fn whatever_is_typed_what_is_left_is_a_price(price in 1_i64..1_000_000, value in "[0-9]{0,4}[.,]?[0-9]{0,2}", share in any::<bool>()) {
            let kind = if share { DiscountKind::Percent } else { DiscountKind::Amount };
            if let Some(minor) = taken(price, kind, &value) {
                prop_assert!(minor > 0 && price - minor >= LEAST_MINOR);
            }
        }
    }
}
