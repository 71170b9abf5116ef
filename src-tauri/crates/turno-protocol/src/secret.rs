//! Texts that open doors: credentials, enrolment codes, confirmation tokens.
//!
//! Invariant: no derived `Debug` and no log line shows one. It leaves only through [`Secret::expose`] or in a body.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// The text itself. Every call is a place to ask where it goes.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_travels_in_bodies_but_is_not_shown() {
        let secret = Secret::new("abc");
        assert_eq!(serde_json::to_string(&secret).unwrap(), r#""abc""#);
        assert_eq!(serde_json::from_str::<Secret>(r#""abc""#).unwrap(), secret);
        assert_eq!(format!("{secret:?}"), "[secret]");
    }
}
