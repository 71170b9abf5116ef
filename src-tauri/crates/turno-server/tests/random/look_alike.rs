//! §6: when two sales look alike.

use crate::ticket::{Field, Ticket};

/// What is compared of a sale.
#[derive(Clone, Debug)]
pub struct Traits {
    pub ticket: Ticket,
    pub minor: i64,
    pub currency: &'static str,
    pub happened_ms: i64,
}

const WINDOW_MS: i64 = 600_000;
const IDENTIFYING: [Field; 4] = [Field::Seat, Field::Order, Field::CustomReference2, Field::BuyerName];
const LEAST_SIGNALS: usize = 4;

/// The equal fields of two sales that look alike, in the contract's order; `None` of two that do not.
pub fn signals(one: &Traits, other: &Traits) -> Option<Vec<&'static str>> {
    if (one.minor, one.currency) != (other.minor, other.currency) || apart_ms(one, other) > WINDOW_MS {
        return None;
    }
    let (mut signals, mut is_identified) = (vec!["amount", "currency"], false);
    for field in Field::ALL {
        match (signal(one, field), signal(other, field)) {
            (Some(a), Some(b)) if a == b => {
                signals.push(field.as_str());
                is_identified |= IDENTIFYING.contains(&field);
            }
            (Some(_), Some(_)) if field.is_context() => return None,
            (Some(_) | None, Some(_) | None) => {}
        }
    }
    (is_identified && signals.len() >= LEAST_SIGNALS).then_some(signals)
}

pub fn apart_ms(one: &Traits, other: &Traits) -> i64 {
    (one.happened_ms - other.happened_ms).abs()
}

fn signal(sale: &Traits, field: Field) -> Option<&'static str> {
    sale.ticket.text(field).and_then(|text| text.signal)
}
