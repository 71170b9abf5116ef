//! Reads members of answers that may be missing, null, or written by a server newer than this program.
//!
//! Invariant: nothing here fails. What decides over a sale is required and typed in its struct; the rest only
//! informs, and an unknown value in it must not turn an accepted sale into a broken answer.

use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde_json::Value;

/// `None` unless the value is understood.
pub fn option<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).ok())
}

/// The default unless the value is understood.
pub fn or_default<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(option(deserializer)?.unwrap_or_default())
}

/// Those entries of a list that are understood; empty if it is no list.
pub fn list<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let values: Vec<Value> = or_default(deserializer)?;
    Ok(values.into_iter().filter_map(|value| serde_json::from_value(value).ok()).collect())
}
