//! Values as stores write them: unit variants by the names under which they travel, lists as JSON.

use serde::{Serialize, de::DeserializeOwned};

/// The name of a unit variant, as it travels.
pub(crate) fn name(variant: impl Serialize) -> String {
    match serde_json::to_value(variant) {
        Ok(serde_json::Value::String(name)) => name,
        Ok(_) | Err(_) => unreachable!("unit variants are written as their names"),
    }
}

pub(crate) fn from_name<T: DeserializeOwned>(name: &str) -> serde_json::Result<T> {
    serde_json::from_value(serde_json::Value::String(name.to_owned()))
}

pub(crate) fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("texts and lists are always json")
}
