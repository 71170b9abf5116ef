//! What can happen to one request on its way, and how often in this world.

use std::collections::BTreeMap;

use crate::chance::Chance;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// Delivered and answered after a moment.
    Clean,
    /// Never arrives.
    LostRequest,
    /// Arrives, is handled, and its answer is lost.
    LostReply,
    /// Arrives twice, the second time later.
    Duplicate,
    /// Arrives after the till has given up.
    Late,
    /// Answered by something in between with a status, never delivered.
    Refused,
    /// Handled, and answered with a 5xx all the same.
    FailedAfter,
    Html,
    Redirect,
    /// Handled; the answer breaks off.
    Truncated,
    /// Handled; the answer is about another sale.
    WrongId,
    /// The credential is not accepted for once.
    Unauthenticated,
}

const TROUBLES: [Fate; 11] = [
    Fate::LostRequest,
    Fate::LostReply,
    Fate::Duplicate,
    Fate::Late,
    Fate::Refused,
    Fate::FailedAfter,
    Fate::Html,
    Fate::Redirect,
    Fate::Truncated,
    Fate::WrongId,
    Fate::Unauthenticated,
];

/// How often each trouble happens, in a thousand requests.
#[derive(Clone, Debug)]
pub struct Weather(BTreeMap<Fate, u64>);

impl Weather {
    /// Most worlds have a few kinds of trouble, some have all of them.
    #[must_use]
    pub fn draw(chance: &Chance) -> Self {
        let all = chance.per_mille(200);
        let strength = chance.between(20..=250);
        Self(
            TROUBLES
                .iter()
                .filter(|_| all || chance.per_mille(350))
                .map(|trouble| (*trouble, strength))
                .collect(),
        )
    }

    #[must_use]
    pub fn fair() -> Self {
        Self(BTreeMap::new())
    }

    #[must_use]
    pub fn fate(&self, chance: &Chance) -> Fate {
        // One draw per trouble whatever came before it, so that the stream does not depend on the outcome.
        let met: Vec<Fate> =
            self.0.iter().filter(|(_, share)| chance.per_mille(**share)).map(|(fate, _)| *fate).collect();
        if met.is_empty() { Fate::Clean } else { *chance.pick(&met) }
    }
}
