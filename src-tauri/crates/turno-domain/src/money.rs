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
mod tests;
