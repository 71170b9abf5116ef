//! How a ticket's price is divided among the ways in which it is paid, and each way among the ticket's sales.
//!
//! Invariant: the tenders add up to the price and so do the sales' parts of them, to the céntimo. Only what is paid in
//! cash is rounded, once; only cash gives change. Pure: no rows, no clock.

use turno_domain::Money;
use turno_domain::money::cash_due;

use crate::store::tenders::TenderRow;
use crate::view::{Problem, ProblemCode, Tender, TenderMethod, WalletProvider};

/// A family that puts its money together; more is a mistake. The table says so as well.
const TENDERS_LIMIT: usize = 4;
/// Wallets show six to twelve; banks up to twenty.
const OPERATION_NUMBER_CHARS: std::ops::RangeInclusive<usize> = 4..=32;
/// A ticket that was paid in more than one way, as YUPY and the figures call it.
pub const SPLIT: &str = "split";

/// One tender's share of the price.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    pub means: Means,
    /// Of cash, before rounding.
    pub amount: Money,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Means {
    Cash,
    /// `operation` is as typed: a quote is asked for before it is there.
    Wallet {
        provider: WalletProvider,
        operation: String,
    },
    Card,
}

impl Means {
    #[must_use]
    pub fn method(&self) -> TenderMethod {
        match self {
            Means::Cash => TenderMethod::Cash,
            Means::Wallet { .. } => TenderMethod::Wallet,
            Means::Card => TenderMethod::Card,
        }
    }
}

/// How a price is paid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    /// Whatever takes what the others leave comes last.
    pub shares: Vec<Share>,
    /// What cash rounding takes off.
    pub rounding: Money,
    /// To be paid in cash, after rounding.
    pub cash_due: Money,
    /// What is covered but for cash.
    pub others: Money,
    /// In cash. Nothing typed means exactly what is due.
    pub received: Money,
    pub missing: Option<Money>,
    pub change: Option<Money>,
}

/// Divides a price.
///
/// # Errors
/// `amount_invalid`, `tender_too_much`, `tenders_invalid`.
pub fn divide(total: Money, tenders: &[Tender]) -> Result<Payment, Problem> {
    if tenders.is_empty() || tenders.len() > TENDERS_LIMIT {
        return Err(ProblemCode::TendersInvalid.into());
    }
    let currency = total.currency();
    if tenders.contains(&Tender::Card) {
        return if tenders.len() == 1 { by_card(total) } else { Err(ProblemCode::CardAlone.into()) };
    }
    let mut left = total;
    let mut shares = Vec::new();
    let mut open = None;
    for tender in tenders {
        match tender {
            Tender::Wallet { provider, operation_number, amount: Some(typed) } => {
                let amount = typed_amount(typed, total)?;
                if amount.minor() == 0 {
                    return Err(ProblemCode::AmountInvalid.into());
                }
                left = less(left, amount)?;
                let means = Means::Wallet { provider: *provider, operation: operation_number.clone() };
                shares.push(Share { means, amount });
            }
            Tender::Cash { .. } | Tender::Wallet { amount: None, .. } | Tender::Card => {
                if open.replace(tender).is_some() {
                    return Err(ProblemCode::TendersInvalid.into());
                }
            }
        }
    }
    let others = total.checked_sub(left).ok_or(ProblemCode::AmountInvalid)?;
    let zero = Money::zero(currency);
    let none_in_cash = Payment {
        shares,
        rounding: zero,
        cash_due: zero,
        others,
        received: zero,
        missing: Some(left).filter(|left| left.minor() > 0),
        change: Some(zero).filter(|_| left.minor() == 0),
    };
    match open {
        None => Ok(none_in_cash),
        Some(Tender::Wallet { provider, operation_number, .. }) => {
            if left.minor() == 0 {
                return Err(too_much(left));
            }
            let means = Means::Wallet { provider: *provider, operation: operation_number.clone() };
            let mut payment = Payment { others: total, missing: None, change: Some(zero), ..none_in_cash };
            payment.shares.push(Share { means, amount: left });
            Ok(payment)
        }
        Some(Tender::Cash { received }) => in_cash(none_in_cash, left, received.as_deref()),
        Some(Tender::Card) => by_card(total),
    }
}

/// A card pays exactly the price.
fn by_card(total: Money) -> Result<Payment, Problem> {
    if total.minor() == 0 {
        return Err(ProblemCode::TicketEmpty.into());
    }
    let zero = Money::zero(total.currency());
    Ok(Payment {
        shares: vec![Share { means: Means::Card, amount: total }],
        rounding: zero,
        cash_due: zero,
        others: total,
        received: zero,
        missing: None,
        change: Some(zero),
    })
}

/// Cash pays what is left.
fn in_cash(mut payment: Payment, left: Money, received: Option<&str>) -> Result<Payment, Problem> {
    let cash = cash_due(left);
    let is_all = payment.shares.is_empty();
    // Beside another tender, what no coin can pay is not given away: the other one pays it exactly.
    if !is_all && left.minor() > 0 && cash.due.minor() == 0 {
        return Ok(payment);
    }
    let typed = received.map(str::trim).filter(|typed| !typed.is_empty());
    let received = typed.map_or(Ok(cash.due), |typed| typed_amount(typed, left))?;
    if is_all || left.minor() > 0 {
        payment.shares.push(Share { means: Means::Cash, amount: left });
    }
    let change = received.checked_sub(cash.due).filter(|change| change.minor() >= 0);
    let missing = cash.due.checked_sub(received).filter(|_| change.is_none());
    Ok(Payment { rounding: cash.rounding, cash_due: cash.due, received, missing, change, ..payment })
}

fn typed_amount(typed: &str, like: Money) -> Result<Money, Problem> {
    Money::parse_typed(typed, like.currency()).map_err(|_| ProblemCode::AmountInvalid.into())
}

/// Only cash may be more than what is to be paid.
fn less(left: Money, amount: Money) -> Result<Money, Problem> {
    left.checked_sub(amount).filter(|rest| rest.minor() >= 0).ok_or_else(|| too_much(left))
}

fn too_much(left: Money) -> Problem {
    Problem::with(ProblemCode::TenderTooMuch, format!("{} {}", left.currency().code(), left.to_amount_text()))
}

impl Payment {
    /// As YUPY and the figures call it.
    #[must_use]
    pub fn method(&self) -> &'static str {
        method_of(self.shares.iter().map(|share| share.means.method()))
    }

    #[must_use]
    pub fn is_all_cash(&self) -> bool {
        self.shares.iter().all(|share| share.means == Means::Cash)
    }

    /// What the customer pays altogether.
    #[must_use]
    pub fn due(&self, total: Money) -> Money {
        total.checked_sub(self.rounding).unwrap_or(total)
    }

    /// The tenders as they are kept.
    ///
    /// # Errors
    /// `operation_number_invalid`; `operation_number_used` when two of them name one payment.
    pub fn rows(&self) -> Result<Vec<TenderRow>, Problem> {
        let mut rows: Vec<TenderRow> = Vec::new();
        for (position, share) in (0_u8..).zip(&self.shares) {
            let (provider, operation) = match &share.means {
                Means::Cash | Means::Card => (None, None),
                Means::Wallet { provider, operation } => {
                    (Some(*provider), Some(operation_number(operation)?))
                }
            };
            if operation.is_some() && rows.iter().any(|row| row.operation_number == operation) {
                return Err(ProblemCode::OperationNumberUsed.into());
            }
            rows.push(TenderRow {
                position,
                method: share.means.method(),
                provider,
                operation_number: operation,
                amount_minor: share.amount.minor(),
            });
        }
        Ok(rows)
    }
}

/// One word for several methods.
pub fn method_of(mut methods: impl Iterator<Item = TenderMethod>) -> &'static str {
    let Some(first) = methods.next() else { return TenderMethod::Cash.as_word() };
    if methods.all(|method| method == first) { first.as_word() } else { SPLIT }
}

/// The number of a payment as it is kept: letters and digits, in one case, so that it is found again.
///
/// # Errors
/// `operation_number_invalid`.
pub fn operation_number(typed: &str) -> Result<String, Problem> {
    let number = typed.trim();
    let is_one =
        OPERATION_NUMBER_CHARS.contains(&number.len()) && number.bytes().all(|it| it.is_ascii_alphanumeric());
    is_one.then(|| number.to_ascii_uppercase()).ok_or_else(|| ProblemCode::OperationNumberInvalid.into())
}

/// What each sale has of each tender: the first sale is paid from the first tender until either is used up, and so on.
/// Both lists add up to the same; what one has more stays unpaid, or unused.
#[must_use]
pub fn allocate(sales: &[i64], tenders: &[i64]) -> Vec<Vec<i64>> {
    let mut left = tenders.to_vec();
    sales
        .iter()
        .map(|price| {
            let mut unpaid = *price;
            left.iter_mut()
                .map(|of_tender| {
                    let part = unpaid.min(*of_tender);
                    unpaid -= part;
                    *of_tender -= part;
                    part
                })
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests;
