//! The confirmation token: what a till shows to prove that it was asked, and about what.
//!
//! Invariant: a token is computed from its question and never stored, so that asking the same question again gives
//! the same token. Knowing the question's id is not enough to make one; it takes the server's signing key, which is
//! kept in the same store: whoever has a copy of the whole store can make tokens.

use subtle::ConstantTimeEq;

use crate::secrets::SigningKey;

const PREFIX: &str = "yct1_";
const EXPIRY_BYTES: usize = 8;
const MAC_BYTES: usize = 32;

/// No question has a longer id; a longer token is not worth decoding.
const LONGEST: usize = 512;

/// Everything that a token vouches for.
pub(crate) struct Claims<'a> {
    pub challenge_id: &'a str,
    pub expires_at_ms: i64,
    pub scope: [&'a str; 3],
    pub external_transaction_id: &'a str,
    pub core_fingerprint: &'a [u8; 32],
    /// In the order in which they are stored.
    pub candidates: Vec<&'a str>,
}

impl Claims<'_> {
    pub(crate) fn token(&self, secret: &SigningKey) -> String {
        let mut bytes = self.challenge_id.as_bytes().to_vec();
        bytes.extend(self.expires_at_ms.to_be_bytes());
        bytes.extend(self.mac(secret));
        format!("{PREFIX}{}", hex(&bytes))
    }

    /// Whether `shown` is the token of exactly this question.
    pub(crate) fn vouches_for(&self, shown: &Shown, secret: &SigningKey) -> bool {
        let same_mac: bool = self.mac(secret).ct_eq(&shown.mac).into();
        same_mac && shown.expires_at_ms == self.expires_at_ms
    }

    fn mac(&self, secret: &SigningKey) -> [u8; MAC_BYTES] {
        let mut bytes = Vec::new();
        let mut add = |part: &[u8]| {
            // Lengths in front, so that no two lists of parts have the same bytes.
            bytes.extend((part.len() as u64).to_be_bytes());
            bytes.extend(part);
        };
        add(b"turno-confirmation-v1");
        add(self.challenge_id.as_bytes());
        add(&self.expires_at_ms.to_be_bytes());
        for part in self.scope {
            add(part.as_bytes());
        }
        add(self.external_transaction_id.as_bytes());
        add(self.core_fingerprint);
        for candidate in &self.candidates {
            add(candidate.as_bytes());
        }
        secret.sign(&bytes)
    }
}

/// A token as it came in, taken apart and not yet believed.
pub(crate) struct Shown {
    pub challenge_id: String,
    expires_at_ms: i64,
    mac: [u8; MAC_BYTES],
}

impl Shown {
    /// `None` when it was never a token.
    pub(crate) fn parse(token: &str) -> Option<Self> {
        let digits = token.strip_prefix(PREFIX).filter(|digits| digits.len() <= LONGEST)?;
        let bytes = unhex(digits)?;
        let id_bytes = bytes.len().checked_sub(EXPIRY_BYTES + MAC_BYTES)?;
        let (id, rest) = bytes.split_at(id_bytes);
        let (expiry, mac) = rest.split_at(EXPIRY_BYTES);
        Some(Self {
            challenge_id: String::from_utf8(id.to_vec()).ok()?,
            expires_at_ms: i64::from_be_bytes(expiry.try_into().ok()?),
            mac: mac.try_into().ok()?,
        })
    }
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Lower-case digits only: one sequence of bytes has one spelling.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(value(*high)? << 4 | value(*low)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: SigningKey = SigningKey([3; 32]);

    fn claims() -> Claims<'static> {
        Claims {
            challenge_id: "ych_1",
            expires_at_ms: 1_800_000_000_000,
            scope: ["A", "pos", "production"],
            external_transaction_id: "B-1",
            core_fingerprint: &[9; 32],
            candidates: vec!["ytx_1", "ytx_2"],
        }
    }

    #[test]
    fn a_token_vouches_for_its_own_question_and_no_other() {
        let shown = Shown::parse(&claims().token(&SECRET)).unwrap();
        assert_eq!(shown.challenge_id, "ych_1");
        assert!(claims().vouches_for(&shown, &SECRET));
        let others = [
            Claims { expires_at_ms: 1_800_000_000_001, ..claims() },
            Claims { scope: ["A", "pos", "test"], ..claims() },
            Claims { scope: ["Apos", "", "production"], ..claims() },
            Claims { external_transaction_id: "B-2", ..claims() },
            Claims { core_fingerprint: &[8; 32], ..claims() },
            Claims { candidates: vec!["ytx_1"], ..claims() },
            Claims { candidates: vec!["ytx_1ytx_2"], ..claims() },
        ];
        for (n, other) in others.iter().enumerate() {
            assert!(!other.vouches_for(&shown, &SECRET), "{n}");
        }
        assert!(!claims().vouches_for(&shown, &SigningKey([4; 32])));
    }

    #[test]
    fn a_token_with_any_character_changed_is_worth_nothing() {
        let token = claims().token(&SECRET);
        for at in 0..token.len() {
            for with in ["0", "f", "F", "g", "~"] {
                let changed = format!("{}{with}{}", &token[..at], &token[at + 1..]);
                if changed == token {
                    continue;
                }
                if let Some(shown) = Shown::parse(&changed) {
                    let good = shown.challenge_id == "ych_1" && claims().vouches_for(&shown, &SECRET);
                    assert!(!good, "{at} {with}");
                }
            }
        }
    }

    #[test]
    fn what_was_never_a_token_is_told_apart_without_panic() {
        for text in ["", "yct1_", "not-a-token", "a.b.c", "ñandú", "yct1_ñandú", "yct1_abc", "yct1_ab"] {
            assert!(Shown::parse(text).is_none(), "{text}");
        }
        assert!(Shown::parse(&format!("yct1_{}", "00".repeat(10_000))).is_none());
    }
}
