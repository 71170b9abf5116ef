//! The `Idempotency-Key` of one request.
//!
//! Invariant: visible ASCII of 1 to 255 bytes, compared byte by byte with its case; so it fits a header as it stands.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Longest key that the contract takes (row B2).
const MAX_KEY_BYTES: usize = 255;

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct IdempotencyKey(String);

/// Why a text is not a key. `Empty` is row B1 of the contract, the others are B2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdempotencyKeyError {
    #[error("the idempotency key is empty")]
    Empty,
    #[error("the idempotency key is longer than {MAX_KEY_BYTES} bytes")]
    TooLong,
    #[error("the idempotency key is not visible ascii")]
    NotVisibleAscii,
}

impl IdempotencyKey {
    pub fn parse(text: impl Into<String>) -> Result<IdempotencyKey, IdempotencyKeyError> {
        let text = text.into();
        if text.is_empty() {
            return Err(IdempotencyKeyError::Empty);
        }
        if !text.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(IdempotencyKeyError::NotVisibleAscii);
        }
        if text.len() > MAX_KEY_BYTES {
            return Err(IdempotencyKeyError::TooLong);
        }
        Ok(IdempotencyKey(text))
    }

    /// Reads a header's value: white space around it is the header's, and one pair of double quotes is not part of
    /// the key, for the IETF draft writes keys as quoted strings.
    pub fn from_header(value: &[u8]) -> Result<IdempotencyKey, IdempotencyKeyError> {
        let value = value.trim_ascii();
        let bare = value.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(value);
        let text = std::str::from_utf8(bare).map_err(|_| IdempotencyKeyError::NotVisibleAscii)?;
        IdempotencyKey::parse(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Uuid> for IdempotencyKey {
    fn from(uuid: Uuid) -> IdempotencyKey {
        IdempotencyKey(uuid.hyphenated().to_string())
    }
}

impl TryFrom<String> for IdempotencyKey {
    type Error = IdempotencyKeyError;

    fn try_from(text: String) -> Result<IdempotencyKey, IdempotencyKeyError> {
        IdempotencyKey::parse(text)
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(header: &str) -> Result<String, IdempotencyKeyError> {
        IdempotencyKey::from_header(header.as_bytes()).map(|key| key.as_str().to_owned())
    }

    #[test]
    fn keys_of_up_to_255_visible_bytes_are_taken_as_they_are() {
        let longest = "x".repeat(255);
        assert_eq!(read(&longest), Ok(longest.clone()));
        assert_eq!(read("Abc-!~"), Ok("Abc-!~".to_owned()));
        assert_ne!(read("abc"), read("ABC"));
    }

    #[test]
    fn one_pair_of_quotes_is_neither_part_of_the_key_nor_of_its_length() {
        let longest = "x".repeat(255);
        assert_eq!(read(&format!("\"{longest}\"")), Ok(longest));
        assert_eq!(read("\"\"k\"\""), Ok("\"k\"".to_owned()));
        assert_eq!(read("\"k"), Ok("\"k".to_owned()));
        assert_eq!(read("\""), Ok("\"".to_owned()));
    }

    #[test]
    fn an_empty_key_is_told_from_an_unusable_one() {
        for empty in ["", "   ", "\"\""] {
            assert_eq!(read(empty), Err(IdempotencyKeyError::Empty), "{empty:?}");
        }
        for unusable in ["two words", "tab\there", "señal", "\"inner space\"", "\" \""] {
            assert_eq!(read(unusable), Err(IdempotencyKeyError::NotVisibleAscii), "{unusable:?}");
        }
        assert_eq!(IdempotencyKey::from_header(b"\xff"), Err(IdempotencyKeyError::NotVisibleAscii));
        assert_eq!(read(&"x".repeat(256)), Err(IdempotencyKeyError::TooLong));
    }

    #[test]
    fn a_uuid_is_a_key_in_lower_case_with_hyphens() {
        let uuid = Uuid::from_u128(0x0123_4567_89ab_8def_8123_4567_89ab_cdef);
        assert_eq!(IdempotencyKey::from(uuid).as_str(), "01234567-89ab-8def-8123-456789abcdef");
    }
}
