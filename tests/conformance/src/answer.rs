//! An answer, and what a case can say about it.
//!
//! Invariant: whatever fails tells what was asked, what came, and the line of the case that wanted something else.

use std::{collections::BTreeMap, panic::Location};

use anyhow::{Result, bail};
use serde_json::Value;

use crate::shape;

#[derive(Clone, Debug)]
pub struct Answer {
    /// `POST /v1/transactions`, for messages.
    pub asked: String,
    pub status: u16,
    /// Names in lower case. Of a repeated header the last.
    pub headers: BTreeMap<String, String>,
    /// `Null` if it is no JSON.
    pub body: Value,
    pub text: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    pub fn code(&self) -> &str {
        self.body.pointer("/error/code").and_then(Value::as_str).unwrap_or_default()
    }

    pub fn is(&self, status: u16) -> bool {
        self.status == status && self.code().is_empty()
    }

    pub fn is_refused(&self, status: u16, code: &str) -> bool {
        self.status == status && self.code() == code
    }

    #[track_caller]
    pub fn expect(self, status: u16) -> Result<Self> {
        if self.is(status) { Ok(self) } else { self.fail(&format!("expected {status}")) }
    }

    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Result<Self> {
        if self.is_refused(status, code) { Ok(self) } else { self.fail(&format!("expected {status} {code}")) }
    }

    /// An error of this status, by whatever code: the contract names none for it.
    #[track_caller]
    pub fn failed(self, status: u16) -> Result<Self> {
        let has_failed = self.status == status && !self.code().is_empty();
        if has_failed { Ok(self) } else { self.fail(&format!("expected an error with {status}")) }
    }

    /// A validation that names exactly these paths, in any order.
    #[track_caller]
    pub fn invalid(self, paths: &[&str]) -> Result<Self> {
        let answer = self.refused(422, "validation_failed")?;
        let fields = answer.body.pointer("/error/fields").and_then(Value::as_array);
        let mut named: Vec<_> =
            fields.into_iter().flatten().filter_map(|field| field["path"].as_str()).collect();
        named.sort_unstable();
        named.dedup();
        let mut wanted = paths.to_vec();
        wanted.sort_unstable();
        if named == wanted { Ok(answer) } else { answer.fail(&format!("expected faults at {wanted:?}")) }
    }

    /// Objects may have more members than `wanted`; lists may not. In `wanted`, `null` means null or absent.
    #[track_caller]
    pub fn with(self, wanted: Value) -> Result<Self> {
        let faults = shape::differences(&wanted, &self.body);
        if faults.is_empty() { Ok(self) } else { self.fail(&faults.join("; ")) }
    }

    #[track_caller]
    pub fn with_header(self, name: &str, value: &str) -> Result<Self> {
        if self.header(name) == Some(value) {
            Ok(self)
        } else {
            self.fail(&format!("expected {name}: {value}"))
        }
    }

    /// None of `texts` is anywhere in the body.
    #[track_caller]
    pub fn without(self, texts: &[&str]) -> Result<Self> {
        match texts.iter().find(|text| self.text.contains(**text)) {
            None => Ok(self),
            Some(text) => self.fail(&format!("`{text}` must not be told")),
        }
    }

    /// A text of the body, by its dotted path.
    #[track_caller]
    pub fn text(&self, path: &str) -> Result<String> {
        match self.at(path).as_str() {
            Some(text) => Ok(text.to_owned()),
            None => self.clone().fail(&format!("expected a text at {path}")),
        }
    }

    #[track_caller]
    pub fn items(&self) -> Result<&Vec<Value>> {
        match self.body["items"].as_array() {
            Some(items) => Ok(items),
            None => bail!("{}: no items in {}", Location::caller(), self.summary()),
        }
    }

    /// `Null` where there is nothing.
    pub fn at(&self, path: &str) -> &Value {
        path.split('.').fold(&self.body, |value, name| &value[name])
    }

    #[track_caller]
    pub fn fail<T>(self, wanted: &str) -> Result<T> {
        bail!("{}: {wanted}, got {}", Location::caller(), self.summary())
    }

    pub fn summary(&self) -> String {
        let text: String = self.text.chars().take(LONGEST_QUOTE).collect();
        format!("{} on {}: {text}", self.status, self.asked)
    }
}

/// Enough for the longest error body of the contract.
const LONGEST_QUOTE: usize = 1_000;
