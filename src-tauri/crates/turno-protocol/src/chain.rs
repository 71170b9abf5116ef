//! The hash chain under both audits: each row's hash covers the row and the hash before it.
//!
//! Invariant: a row that was changed, removed, added or moved breaks the chain at the first place that differs. A tail
//! that was cut off does not: to see that, somebody else keeps the [`Head`].

use sha2::{Digest, Sha256};

pub type Hash = [u8; 32];

/// What the first row is chained to.
pub const GENESIS: Hash = [0; 32];

/// A stored row: what it says, in the canonical form in which it was hashed, and the two hashes stored with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub prev_hash: Hash,
    pub hash: Hash,
    pub canonical: Vec<u8>,
}

/// The end of a chain that holds so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub rows: u64,
    pub hash: Hash,
}

/// The first row at which a chain does not hold, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("row {row} of the chain {fault}")]
pub struct BrokenAt {
    pub row: u64,
    pub fault: ChainFault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainFault {
    /// A row before it is missing, or was added or moved.
    #[error("does not follow the row before it")]
    OutOfPlace,
    #[error("does not have its own hash")]
    Altered,
}

/// The header in which a till says with each sale how far its own audit has come, as [`Head::to_text`] writes it. Nothing
/// is answered to it.
pub const AUDIT_HEAD_HEADER: &str = "turno-audit-head";

impl Head {
    /// Before the first row.
    pub const EMPTY: Head = Head { rows: 0, hash: GENESIS };

    /// `<rows>:<hash>`, for whoever keeps it elsewhere.
    pub fn to_text(&self) -> String {
        format!("{}:{}", self.rows, to_hex(&self.hash))
    }

    /// The head that [`Head::to_text`] wrote; `None` for any other text.
    pub fn parse(text: &str) -> Option<Head> {
        let (rows, hash) = text.split_once(':')?;
        let head = Head { rows: rows.parse().ok()?, hash: from_hex(hash)? };
        (head.to_text() == text).then_some(head)
    }
}

/// The hash of a row: SHA-256 of the 32 bytes of the hash before it, then the row's canonical bytes.
pub fn row_hash(prev: &Hash, canonical_row: &[u8]) -> Hash {
    Sha256::new().chain_update(prev).chain_update(canonical_row).finalize().into()
}

/// Checks a whole chain, row by row, holding one at a time.
pub fn verify(rows: impl IntoIterator<Item = Link>) -> Result<Head, BrokenAt> {
    verify_after(Head::EMPTY, rows)
}

/// Checks the rows that follow a head, e.g. the next page, or what was added since somebody kept the head.
pub fn verify_after(head: Head, rows: impl IntoIterator<Item = Link>) -> Result<Head, BrokenAt> {
    rows.into_iter().try_fold(head, |head, link| {
        let row = head.rows + 1;
        if link.prev_hash != head.hash {
            return Err(BrokenAt { row, fault: ChainFault::OutOfPlace });
        }
        if link.hash != row_hash(&link.prev_hash, &link.canonical) {
            return Err(BrokenAt { row, fault: ChainFault::Altered });
        }
        Ok(Head { rows: row, hash: link.hash })
    })
}

/// A hash as it is written in rows that travel: 64 lower-case hexadecimal digits.
pub fn to_hex(hash: &Hash) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    hash.iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|half| char::from(DIGITS[usize::from(half)]))
        .collect()
}

/// The hash that [`to_hex`] wrote; `None` for any other text.
pub fn from_hex(text: &str) -> Option<Hash> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != GENESIS.len() || !rest.is_empty() {
        return None;
    }
    let mut hash = GENESIS;
    for (byte, [high, low]) in hash.iter_mut().zip(pairs) {
        *byte = (half(*high)? << 4) | half(*low)?;
    }
    Some(hash)
}

fn half(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn chain(rows: &[&str]) -> Vec<Link> {
        let mut prev_hash = GENESIS;
        let link = |row: &&str| {
            let hash = row_hash(&prev_hash, row.as_bytes());
            let link = Link { prev_hash, hash, canonical: row.as_bytes().to_vec() };
            prev_hash = hash;
            link
        };
        rows.iter().map(link).collect()
    }

    fn check(damage: impl FnOnce(&mut Vec<Link>), row: u64, fault: ChainFault) {
        let mut links = chain(&["one", "two", "three", "four"]);
        damage(&mut links);
        assert_eq!(verify(links), Err(BrokenAt { row, fault }));
    }

    #[test]
    fn an_untouched_chain_ends_in_its_head_whole_or_page_by_page() {
        let links = chain(&["one", "two", "three"]);
        let head = verify(links.clone()).unwrap();
        assert_eq!(head, Head { rows: 3, hash: links[2].hash });
        let first = verify(links[..1].to_vec()).unwrap();
        assert_eq!(verify_after(first, links[1..].to_vec()), Ok(head));
        assert_eq!(verify([]), Ok(Head::EMPTY));
    }

    #[test]
    fn the_hash_is_plain_sha256_of_the_hash_before_and_the_row() {
        // printf of 32 zero bytes and "one", through sha256sum.
        assert_eq!(
            to_hex(&row_hash(&GENESIS, b"one")),
            "4e233ba6ac7032d3894ecea5974fd96176e564b024af45747eb46357af8d2401"
        );
    }

    #[test]
    fn every_kind_of_damage_is_found_at_its_first_row() {
        check(|links| links[2].canonical = b"THREE".to_vec(), 3, ChainFault::Altered);
        check(|links| links[2].hash[31] ^= 1, 3, ChainFault::Altered);
        check(|links| links[1].prev_hash[0] ^= 1, 2, ChainFault::OutOfPlace);
        check(|links| links.swap(1, 2), 2, ChainFault::OutOfPlace);
        check(|links| _ = links.remove(0), 1, ChainFault::OutOfPlace);
        check(|links| _ = links.remove(2), 3, ChainFault::OutOfPlace);
        check(|links| links.insert(1, links[0].clone()), 2, ChainFault::OutOfPlace);
        // A forger who hashes the changed row anew breaks the row after it.
        let forge = |links: &mut Vec<Link>| {
            links[1].canonical = b"TWO".to_vec();
            links[1].hash = row_hash(&links[1].prev_hash, b"TWO");
        };
        check(forge, 3, ChainFault::OutOfPlace);
    }

    #[test]
    fn a_cut_tail_holds_and_only_a_kept_head_tells() {
        let links = chain(&["one", "two", "three"]);
        let kept = verify(links.clone()).unwrap();
        let cut = verify(links[..2].to_vec()).unwrap();
        assert_ne!(cut, kept);
    }

    #[test]
    fn what_is_broken_is_said_in_words() {
        let broken = BrokenAt { row: 7, fault: ChainFault::Altered };
        assert_eq!(broken.to_string(), "row 7 of the chain does not have its own hash");
    }

    #[test]
    fn only_64_lower_case_digits_are_a_hash() {
        let hex = to_hex(&row_hash(&GENESIS, b"one"));
        for refused in [
            "",
            "00",
            &hex[1..],
            &format!("{hex}0"),
            &format!("{hex}00"),
            &hex.to_uppercase(),
            &hex.replace('e', "g"),
        ] {
            assert_eq!(from_hex(refused), None, "{refused}");
        }
    }

    #[test]
    fn a_head_survives_being_written_and_nothing_else_is_one() {
        let head = verify(chain(&["one", "two"])).unwrap();
        assert_eq!(Head::parse(&head.to_text()), Some(head));
        let hex = to_hex(&head.hash);
        for refused in ["", ":", "2", &hex, &format!("+2:{hex}"), &format!("02:{hex}"), &format!("2:{hex}0")]
        {
            assert_eq!(Head::parse(refused), None, "{refused}");
        }
    }

    proptest! {
        #[test]
        fn hashes_survive_being_written_and_read(hash in any::<Hash>()) {
            prop_assert_eq!(from_hex(&to_hex(&hash)), Some(hash));
        }

        #[test]
        fn changing_any_bit_of_any_row_is_found_there(row in 0_usize..4, bit in 0_usize..24) {
            let mut links = chain(&["aaa", "bbb", "ccc", "ddd"]);
            links[row].canonical[bit / 8] ^= 1 << (bit % 8);
            let expected = BrokenAt { row: row as u64 + 1, fault: ChainFault::Altered };
            prop_assert_eq!(verify(links), Err(expected));
        }
    }
}
