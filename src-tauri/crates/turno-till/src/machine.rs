//! Which machine this is, so that a till that was carried to another one, or cloned with its disk, notices.
//!
//! Invariant: a machine is taken for another one only on evidence; whatever cannot be read says nothing. What is kept
//! of it are digests, since the identifiers themselves are nobody else's business.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The operating system's own name for this installation of itself; new on every well-made image.
const MACHINE_ID: &str = "/etc/machine-id";
/// Network cards, for images on which nobody made a new machine id.
const NETWORK_CARDS: &str = "/sys/class/net";
/// A till has a few; a machine full of virtual ones must not fill the record.
const ADDRESSES_LIMIT: usize = 8;

/// What tells this machine from another one, as far as it says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    machine_id: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    addresses: BTreeSet<String>,
}

impl Machine {
    /// The machine that this program runs on.
    #[must_use]
    pub fn here() -> Self {
        Self::of(Path::new(MACHINE_ID), Path::new(NETWORK_CARDS))
    }

    /// A machine for tests and simulations.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self { machine_id: Some(digest(name)), addresses: BTreeSet::new() }
    }

    fn of(machine_id: &Path, network_cards: &Path) -> Self {
        let machine_id = fs::read_to_string(machine_id).ok();
        let machine_id = machine_id.as_deref().map(str::trim).filter(|id| !id.is_empty()).map(digest);
        let cards = fs::read_dir(network_cards).into_iter().flatten().flatten();
        let addresses = cards
            .filter_map(|card| fs::read_to_string(card.path().join("address")).ok())
            .filter(|address| is_burnt_in(address.trim()))
            .map(|address| digest(address.trim()))
            .collect::<BTreeSet<_>>();
        Self { machine_id, addresses: addresses.into_iter().take(ADDRESSES_LIMIT).collect() }
    }

    /// Whether `then`, which was here before, is certainly another machine. A network card may come, go or not be
    /// awake yet, so cards speak only when both sides have some and not one is the same.
    #[must_use]
    pub fn is_other_than(&self, then: &Self) -> bool {
        let other_id =
            self.machine_id.is_some() && then.machine_id.is_some() && self.machine_id != then.machine_id;
        let other_cards = !self.addresses.is_empty()
            && !then.addresses.is_empty()
            && self.addresses.is_disjoint(&then.addresses);
        other_id || other_cards
    }
}

/// An address from the factory. One that software made up (its second-lowest bit says so) may change every day.
fn is_burnt_in(address: &str) -> bool {
    let first = address.split(':').next().and_then(|first| u8::from_str_radix(first, 16).ok());
    first.is_some_and(|first| first & 0b11 == 0) && address.bytes().any(|byte| !matches!(byte, b'0' | b':'))
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// A machine with this id and these network cards.
    fn machine(machine_id: &str, addresses: &[&str]) -> Machine {
        let folder = TempDir::new().unwrap();
        let (id, cards) = (folder.path().join("machine-id"), folder.path().join("net"));
        if !machine_id.is_empty() {
            fs::write(&id, format!("{machine_id}\n")).unwrap();
        }
        for (index, address) in addresses.iter().enumerate() {
            let card = cards.join(format!("eth{index}"));
            fs::create_dir_all(&card).unwrap();
            fs::write(card.join("address"), format!("{address}\n")).unwrap();
        }
        Machine::of(&id, &cards)
    }

    #[test]
    fn another_id_or_none_of_the_cards_is_another_machine_and_silence_is_none() {
        const A: &str = "00:1b:21:00:00:0a";
        const B: &str = "00:1b:21:00:00:0b";
        for (here, then, other) in [
            (("m1", &[A][..]), ("m1", &[A][..]), false),
            (("m2", &[A]), ("m1", &[A]), true),
            (("m1", &[B]), ("m1", &[A]), true),
            (("m1", &[A, B]), ("m1", &[B]), false),
            (("m1", &[]), ("m1", &[A]), false),
            (("m1", &[A]), ("m1", &[]), false),
            (("", &[A]), ("m1", &[A]), false),
            (("", &[]), ("", &[]), false),
            (("", &[B]), ("m1", &[A]), true),
        ] {
            let (here, then) = (machine(here.0, here.1), machine(then.0, then.1));
            assert_eq!(here.is_other_than(&then), other, "{here:?} {then:?}");
        }
    }

    #[test]
    fn addresses_that_software_made_up_say_nothing() {
        let made_up = machine("m", &["02:42:ac:11:00:02", "52:54:00:12:34:56", "00:00:00:00:00:00", "?", ""]);
        assert_eq!(made_up, machine("m", &[]));
    }

    #[test]
    fn what_is_kept_does_not_tell_the_identifiers() {
        let kept = serde_json::to_string(&machine("4cd1", &["00:1b:21:00:00:0a"])).unwrap();
        assert!(!kept.contains("4cd1") && !kept.contains("1b:21"), "{kept}");
        assert_eq!(serde_json::from_str::<Machine>(&kept).unwrap(), machine("4cd1", &["00:1b:21:00:00:0a"]));
    }
}
