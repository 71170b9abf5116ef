//! When two sales look alike (contract §6): the server asks about it, and the till warns before it records.
//!
//! Invariant: an equal amount alone is never enough, and one field that differs on both sides always tells two sales
//! apart. Absent is not different, and a text that is empty after normalisation is absent.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::money::Money;
use crate::text::{fold_for_comparison, normalise_free_text};

/// Amount and currency, one identifying field and one more: fewer equal fields are chance.
const LEAST_SIGNALS: usize = 4;

/// What a field of a sale can say about being the same sale, in the order in which signals are always named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    Amount,
    Currency,
    BuyerName,
    ShiftId,
    DeviceId,
    Route,
    Seat,
    Order,
    Product,
    Service,
    #[serde(rename = "custom_reference_1")]
    CustomReference1,
    #[serde(rename = "custom_reference_2")]
    CustomReference2,
}

impl Signal {
    pub const ALL: [Signal; 12] = [
        Signal::Amount,
        Signal::Currency,
        Signal::BuyerName,
        Signal::ShiftId,
        Signal::DeviceId,
        Signal::Route,
        Signal::Seat,
        Signal::Order,
        Signal::Product,
        Signal::Service,
        Signal::CustomReference1,
        Signal::CustomReference2,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Signal::Amount => "amount",
            Signal::Currency => "currency",
            Signal::BuyerName => "buyer_name",
            Signal::ShiftId => "shift_id",
            Signal::DeviceId => "device_id",
            Signal::Route => "route",
            Signal::Seat => "seat",
            Signal::Order => "order",
            Signal::Product => "product",
            Signal::Service => "service",
            Signal::CustomReference1 => "custom_reference_1",
            Signal::CustomReference2 => "custom_reference_2",
        }
    }

    /// The signal of this name, as settings and fixtures write it.
    pub fn parse(name: &str) -> Option<Signal> {
        Signal::ALL.into_iter().find(|signal| signal.as_str() == name)
    }

    /// The fields that tell two sales apart when both have them and they differ.
    pub const TELLING: [Signal; 7] = [
        Signal::Route,
        Signal::Seat,
        Signal::Order,
        Signal::Product,
        Signal::Service,
        Signal::CustomReference1,
        Signal::CustomReference2,
    ];

    fn nature(self) -> Nature {
        match self {
            Signal::Amount | Signal::Currency => Nature::Necessary,
            Signal::BuyerName | Signal::ShiftId | Signal::DeviceId => Nature::Accompanying,
            Signal::Route
            | Signal::Seat
            | Signal::Order
            | Signal::Product
            | Signal::Service
            | Signal::CustomReference1
            | Signal::CustomReference2 => Nature::Telling,
        }
    }
}

/// What it means that a field differs.
enum Nature {
    /// Two sales, whatever else is equal.
    Necessary,
    /// Two sales, if both have a value.
    Telling,
    /// Nothing: the second of two equal sales may be rung up at another till, or under a misspelt name.
    Accompanying,
}

/// What a sale looks like. Texts may be as they were sent: the comparison normalises them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traits {
    pub amount: Money,
    /// When it happened, not when it arrived: an offline till sends hours of sales in a second.
    pub occurred_at: Timestamp,
    pub buyer_name: Option<String>,
    pub shift_id: Option<String>,
    pub device_id: Option<String>,
    pub route: Option<String>,
    pub seat: Option<String>,
    pub order: Option<String>,
    pub product: Option<String>,
    pub service: Option<String>,
    pub custom_reference_1: Option<String>,
    pub custom_reference_2: Option<String>,
}

impl Traits {
    /// A sale of which only the necessary is known.
    pub fn new(amount: Money, occurred_at: Timestamp) -> Traits {
        Traits {
            amount,
            occurred_at,
            buyer_name: None,
            shift_id: None,
            device_id: None,
            route: None,
            seat: None,
            order: None,
            product: None,
            service: None,
            custom_reference_1: None,
            custom_reference_2: None,
        }
    }

    /// The field in the form in which it is compared; `None` when there is nothing to compare.
    pub fn comparable(&self, signal: Signal) -> Option<String> {
        let free = |text: &Option<String>| text.as_deref().map(normalise_free_text);
        let value = match signal {
            Signal::Amount => Some(self.amount.minor().to_string()),
            Signal::Currency => Some(self.amount.currency().code().to_owned()),
            Signal::BuyerName => self.buyer_name.as_deref().map(fold_for_comparison),
            // Ids, not free text: compared as they are, so that nobody's id is equal to another by a repair.
            Signal::ShiftId => self.shift_id.clone(),
            Signal::DeviceId => self.device_id.clone(),
            Signal::Route => free(&self.route),
            Signal::Seat => free(&self.seat),
            Signal::Order => free(&self.order),
            Signal::Product => free(&self.product),
            Signal::Service => free(&self.service),
            Signal::CustomReference1 => free(&self.custom_reference_1),
            Signal::CustomReference2 => free(&self.custom_reference_2),
        };
        value.filter(|text| !text.trim().is_empty())
    }
}

/// An integration's setting of the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    window: SignedDuration,
    identifying: BTreeSet<Signal>,
}

/// Why a setting is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    #[error("the window must be from 30 seconds to 24 hours")]
    Window,
    #[error("`{}` cannot identify a sale: every pair that is compared has it equal", .0.as_str())]
    NotIdentifying(Signal),
}

impl Rule {
    pub const SHORTEST_WINDOW: SignedDuration = SignedDuration::from_secs(30);
    pub const LONGEST_WINDOW: SignedDuration = SignedDuration::from_hours(24);
    pub const DEFAULT_WINDOW: SignedDuration = SignedDuration::from_mins(10);
    pub const DEFAULT_IDENTIFYING: [Signal; 4] =
        [Signal::Seat, Signal::Order, Signal::CustomReference2, Signal::BuyerName];

    /// An empty set of identifying fields is allowed and turns the question off.
    pub fn new(
        window: SignedDuration,
        identifying: impl IntoIterator<Item = Signal>,
    ) -> Result<Rule, RuleError> {
        if !(Rule::SHORTEST_WINDOW..=Rule::LONGEST_WINDOW).contains(&window) {
            return Err(RuleError::Window);
        }
        let identifying: BTreeSet<Signal> = identifying.into_iter().collect();
        for signal in &identifying {
            if let Nature::Necessary = signal.nature() {
                return Err(RuleError::NotIdentifying(*signal));
            }
        }
        Ok(Rule { window, identifying })
    }

    /// How far apart two sales may have happened, the limit included.
    pub fn window(&self) -> SignedDuration {
        self.window
    }

    pub fn identifying(&self) -> &BTreeSet<Signal> {
        &self.identifying
    }
}

impl Default for Rule {
    fn default() -> Rule {
        Rule { window: Rule::DEFAULT_WINDOW, identifying: Rule::DEFAULT_IDENTIFYING.into() }
    }
}

/// The equal fields of two sales that look alike, in order; `None` when they are distinct.
///
/// Both must be of one scope and neither voided: that is for whoever finds the candidates to see to.
pub fn compare(a: &Traits, b: &Traits, rule: &Rule) -> Option<Vec<Signal>> {
    if distance(a, b) > rule.window {
        return None;
    }
    let mut equal = Vec::with_capacity(Signal::ALL.len());
    for signal in Signal::ALL {
        let (one, other) = (a.comparable(signal), b.comparable(signal));
        if one.is_some() && one == other {
            equal.push(signal);
            continue;
        }
        let differs = one.is_some() && other.is_some();
        let distinct = match signal.nature() {
            Nature::Necessary => true,
            Nature::Telling => differs,
            Nature::Accompanying => false,
        };
        if distinct {
            return None;
        }
    }
    let identified = equal.iter().any(|signal| rule.identifying.contains(signal));
    (identified && equal.len() >= LEAST_SIGNALS).then_some(equal)
}

/// A field by which a sale may be found again: one that may identify it, in the form in which it is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clue {
    pub signal: Signal,
    pub value: String,
}

/// In the order of [`Signal::TELLING`]: a store may leave out whatever has another value in one of these.
pub fn telling(sale: &Traits) -> [Option<String>; 7] {
    Signal::TELLING.map(|signal| sale.comparable(signal))
}

/// What a store has to search by: whatever looks like `sale` has one of these fields with the same value. Without any,
/// nothing looks like it.
pub fn clues(sale: &Traits, rule: &Rule) -> Vec<Clue> {
    let clue = |signal: &Signal| Some(Clue { signal: *signal, value: sale.comparable(*signal)? });
    rule.identifying.iter().filter_map(clue).collect()
}

/// A stored sale that looks like the new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookAlike<T> {
    pub sale: T,
    pub signals: Vec<Signal>,
    /// How far apart they happened, never negative.
    pub apart: SignedDuration,
}

/// The look-alikes among stored sales, the best first: most signals, then nearest in time, then in the order given.
pub fn rank<'a, T>(
    new: &Traits,
    stored: impl IntoIterator<Item = (T, &'a Traits)>,
    rule: &Rule,
) -> Vec<LookAlike<T>> {
    let mut found: Vec<LookAlike<T>> = stored
        .into_iter()
        .filter_map(|(sale, traits)| {
            let signals = compare(new, traits, rule)?;
            Some(LookAlike { sale, signals, apart: distance(new, traits) })
        })
        .collect();
    found.sort_by_key(|found| (Reverse(found.signals.len()), found.apart));
    found
}

fn distance(a: &Traits, b: &Traits) -> SignedDuration {
    a.occurred_at.duration_since(b.occurred_at).abs()
}

#[cfg(test)]
mod tests;
