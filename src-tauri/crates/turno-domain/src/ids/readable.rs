//! The rules that all permanent ids share (contract §3), and the macro that makes a newtype of one.
//!
//! Invariant: an id is 1 to its limit in bytes, composed (NFC), without control characters and without white space at
//! its ends, so that what is printed, read aloud and typed again is what was sent.

use crate::text;

/// Why a text is not an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    #[error("must not be empty")]
    Empty,
    #[error("longer than {limit} bytes")]
    TooLong { limit: usize },
    #[error("contains a control character")]
    ControlCharacter,
    #[error("starts or ends with white space")]
    Padded,
    #[error("not in unicode normal form c")]
    NotComposed,
}

impl IdError {
    /// The code for programs, as in `fields[].code` of a refused request.
    pub fn code(self) -> &'static str {
        match self {
            IdError::Empty => "empty",
            IdError::TooLong { .. } => "too_long",
            IdError::ControlCharacter => "control_character",
            IdError::Padded => "padded",
            IdError::NotComposed => "not_nfc",
        }
    }
}

pub(super) fn check(id: &str, limit: usize) -> Result<(), IdError> {
    if id.is_empty() {
        return Err(IdError::Empty);
    }
    if id.len() > limit {
        return Err(IdError::TooLong { limit });
    }
    if text::has_control(id) {
        return Err(IdError::ControlCharacter);
    }
    if id.trim() != id {
        return Err(IdError::Padded);
    }
    if !text::is_nfc(id) {
        return Err(IdError::NotComposed);
    }
    Ok(())
}

macro_rules! readable_id {
    ($(#[$doc:meta])* $name:ident, $limit:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name(String);

        impl $name {
            pub fn parse(text: impl Into<String>) -> Result<$name, $crate::ids::IdError> {
                let text = text.into();
                $crate::ids::readable::check(&text, $limit)?;
                Ok($name(text))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }

            pub fn into_string(self) -> String {
                self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::ids::IdError;

            fn try_from(text: String) -> Result<$name, $crate::ids::IdError> {
                $name::parse(text)
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::ids::IdError;

            fn from_str(text: &str) -> Result<$name, $crate::ids::IdError> {
                $name::parse(text)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

pub(super) use readable_id;
