//! Labelled days as JSON lines, so that anybody can bring their own.
//!
//! One line a creation: `{"day", "sale": <body of POST /v1/transactions>, "is": "new" | "duplicate_of:<external id>"}`,
//! in the order in which the sales reach the server. `"voids": "<external id>"` may stand beside it: that earlier sale
//! of the day is voided just before. Lines of one day share a company; days know nothing of each other.

use std::collections::{BTreeMap, HashSet};
use std::io::BufRead;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// A line longer than the contract's body limit, with room for its label.
const LONGEST_LINE: usize = 80 * 1024;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Labelled {
    /// Which day; what stands before the first `-` is its kind, e.g. `urban-3`.
    pub day: String,
    /// The body of the creation.
    pub sale: Value,
    pub is: Truth,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voids: Option<String>,
}

impl Labelled {
    pub fn id(&self) -> &str {
        self.sale["external_transaction_id"].as_str().unwrap_or_default()
    }

    /// The field of the body, or of its context; empty and absent are the same.
    pub fn field(&self, name: &str) -> Option<&str> {
        let value = self.sale.get(name).or_else(|| self.sale.get("context")?.get(name))?;
        value.as_str().map(str::trim).filter(|text| !text.is_empty())
    }
}

/// What the sale is, told by somebody who was there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Truth {
    New,
    /// The same sale as this earlier one, under another id.
    DuplicateOf(String),
}

const NEW: &str = "new";
const DUPLICATE: &str = "duplicate_of:";

impl Serialize for Truth {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Truth::New => serializer.serialize_str(NEW),
            Truth::DuplicateOf(id) => serializer.serialize_str(&format!("{DUPLICATE}{id}")),
        }
    }
}

impl<'de> Deserialize<'de> for Truth {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.strip_prefix(DUPLICATE) {
            Some(id) if !id.is_empty() => Ok(Truth::DuplicateOf(id.to_owned())),
            None if text == NEW => Ok(Truth::New),
            _ => Err(serde::de::Error::custom(format!(
                "`is` must be \"new\" or \"duplicate_of:<external id>\", not {text:?}"
            ))),
        }
    }
}

/// Days by name, each in its order of arrival.
pub type Days = BTreeMap<String, Vec<Labelled>>;

/// Reads labelled days.
///
/// # Errors
/// Names the first line that is not a labelled sale, repeats an id of its day, or refers to a sale that is not before
/// it.
pub fn read(mut from: impl BufRead) -> Result<Days> {
    let mut days = Days::new();
    let mut ids: BTreeMap<String, HashSet<String>> = BTreeMap::new();
    let mut text = String::new();
    for number in 1.. {
        text.clear();
        if from.read_line(&mut text).with_context(|| format!("line {number}"))? == 0 {
            break;
        }
        ensure!(text.len() <= LONGEST_LINE, "line {number}: longer than {LONGEST_LINE} bytes");
        if text.trim().is_empty() {
            continue;
        }
        let line: Labelled = serde_json::from_str(&text).with_context(|| format!("line {number}"))?;
        check(&line, ids.entry(line.day.clone()).or_default()).with_context(|| format!("line {number}"))?;
        days.entry(line.day.clone()).or_default().push(line);
    }
    ensure!(!days.is_empty(), "there is no labelled sale in it");
    Ok(days)
}

fn check(line: &Labelled, before: &mut HashSet<String>) -> Result<()> {
    ensure!(!line.id().is_empty(), "the sale has no external_transaction_id");
    let named = [
        match &line.is {
            Truth::New => None,
            Truth::DuplicateOf(id) => Some(id),
        },
        line.voids.as_ref(),
    ];
    for id in named.into_iter().flatten() {
        ensure!(before.contains(id), "{id} is no earlier sale of {}", line.day);
    }
    if !before.insert(line.id().to_owned()) {
        bail!("{} was there before", line.id());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Days> {
        read(text.as_bytes())
    }

    const FIRST: &str = r#"{"day":"x-1","sale":{"external_transaction_id":"A","amount":"2.00"},"is":"new"}"#;

    #[test]
    fn a_line_reads_as_it_is_written() -> Result<()> {
        let days = read_text(&format!(
            "{FIRST}\n\n{}\n",
            r#"{"day":"x-1","sale":{"external_transaction_id":"B"},"is":"duplicate_of:A","voids":"A"}"#
        ))?;
        let lines = &days["x-1"];
        assert_eq!(lines[1].is, Truth::DuplicateOf("A".into()));
        let again: String = lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect();
        assert_eq!(read_text(&again)?, days);
        Ok(())
    }

    #[test]
    fn a_bad_line_is_named() {
        for (second, said) in [
            ("{", "line 2"),
            (r#"{"day":"x-1","sale":{"external_transaction_id":"B"},"is":"old"}"#, "must be \"new\""),
            (
                r#"{"day":"x-1","sale":{"external_transaction_id":"B"},"is":"duplicate_of:"}"#,
                "must be \"new\"",
            ),
            (
                r#"{"day":"x-1","sale":{"external_transaction_id":"B"},"is":"duplicate_of:C"}"#,
                "no earlier sale",
            ),
            (
                r#"{"day":"x-2","sale":{"external_transaction_id":"B"},"is":"duplicate_of:A"}"#,
                "no earlier sale",
            ),
            (r#"{"day":"x-1","sale":{"external_transaction_id":"A"},"is":"new"}"#, "was there before"),
            (r#"{"day":"x-1","sale":{"amount":"2.00"},"is":"new"}"#, "no external_transaction_id"),
            (r#"{"day":"x-1","sale":{"external_transaction_id":"B"},"is":"new","extra":1}"#, "unknown field"),
        ] {
            let error = format!("{:#}", read_text(&format!("{FIRST}\n{second}\n")).expect_err(second));
            assert!(error.contains("line 2") && error.contains(said), "{second}: {error}");
        }
        assert!(read_text("\n").is_err(), "nothing to judge is not a good result");
    }
}
