//! The epoch: which life of a till's data folder an id was made in.
//!
//! Invariant: three characters that cannot be mistaken for one another on a faded ticket. A restored or cloned folder
//! gets a new epoch, so that its next sale cannot take an id that the old one has used already.

use std::fmt;

use serde::{Deserialize, Serialize};

const LENGTH: usize = 3;

/// One of 9 261 short codes, e.g. `K7M`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Epoch([u8; LENGTH]);

/// A text that is not three characters of the alphabet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not three characters of {}", Epoch::ALPHABET)]
pub struct EpochError;

impl Epoch {
    /// Digits and capitals without the pairs that are read for each other: `0`/`O`/`Q`, `1`/`I`/`L`, `2`/`Z`, `5`/`S`,
    /// `8`/`B`, `6`/`G` (only the digit is in) and `U`/`V`.
    pub const ALPHABET: &'static str = "34679ACDEFHJKMNPRTWXY";

    /// How many there are: 21³.
    pub const COUNT: u64 = 9_261;

    pub fn parse(text: &str) -> Result<Epoch, EpochError> {
        let characters: [u8; LENGTH] = text.as_bytes().try_into().map_err(|_| EpochError)?;
        if characters.iter().all(|c| Epoch::ALPHABET.as_bytes().contains(c)) {
            Ok(Epoch(characters))
        } else {
            Err(EpochError)
        }
    }

    /// Picks an epoch with eight random bytes. The remainder of so large a number favours no epoch by more than one
    /// part in 10^15, and unlike drawing again until a byte fits this always ends.
    pub fn from_random(bytes: [u8; 8]) -> Epoch {
        let mut rest = u64::from_le_bytes(bytes);
        let alphabet = Epoch::ALPHABET.as_bytes();
        let base = alphabet.len() as u64;
        Epoch([(); LENGTH].map(|()| {
            let digit = usize::try_from(rest % base).expect("a remainder below 21 fits");
            rest /= base;
            alphabet[digit]
        }))
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("only ascii characters of the alphabet get in")
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl TryFrom<String> for Epoch {
    type Error = EpochError;

    fn try_from(text: String) -> Result<Epoch, EpochError> {
        Epoch::parse(&text)
    }
}

impl From<Epoch> for String {
    fn from(epoch: Epoch) -> String {
        epoch.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_characters_of_the_alphabet_look_alike() {
        for group in ["0OQ", "1IL", "2Z", "5S", "8B", "6G", "UV"] {
            let present = group.chars().filter(|c| Epoch::ALPHABET.contains(*c)).count();
            assert!(present <= 1, "{group}");
        }
        let distinct: BTreeSet<char> = Epoch::ALPHABET.chars().collect();
        assert_eq!(distinct.len(), Epoch::ALPHABET.len());
    }

    #[test]
    fn only_three_characters_of_the_alphabet_are_an_epoch() {
        assert_eq!(Epoch::parse("K7M").unwrap().as_str(), "K7M");
        for refused in ["", "K7", "K7MM", "k7m", "K0M", "K1M", "KOM", "K-M", " K7", "ñM"] {
            assert_eq!(Epoch::parse(refused), Err(EpochError), "{refused:?}");
        }
    }

    #[test]
    fn counting_through_the_random_number_meets_every_epoch_once() {
        let count = Epoch::COUNT;
        let met: BTreeSet<Epoch> = (0..count).map(|n| Epoch::from_random(n.to_le_bytes())).collect();
        assert_eq!(met.len() as u64, count);
        assert_eq!(count, 21_u64.pow(3));
        assert_eq!(Epoch::from_random(count.to_le_bytes()), Epoch::from_random([0; 8]));
        assert!(met.iter().all(|epoch| Epoch::parse(epoch.as_str()) == Ok(*epoch)));
    }

    #[test]
    fn an_epoch_in_json_passes_the_same_rules() {
        let epoch: Epoch = serde_json::from_str(r#""K7M""#).unwrap();
        assert_eq!(serde_json::to_string(&epoch).unwrap(), r#""K7M""#);
        assert!(serde_json::from_str::<Epoch>(r#""K0M""#).is_err());
    }
}
