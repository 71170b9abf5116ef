//! What an answer must be, and how it differs.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::server::Answer;

#[derive(Clone, Debug)]
pub struct Expected {
    pub status: u16,
    /// The header `Idempotency-Replayed`, if it must be there.
    pub replayed: Option<bool>,
    /// Objects may have more; `null` is null or absent.
    pub body: Value,
    /// If there are any, one of them must fit as well.
    pub any_of: Vec<Value>,
    /// `occurred_at` as milliseconds.
    pub happened_ms: Option<i64>,
    pub learn: Learn,
}

/// What the answer gives out for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learn {
    Nothing,
    Sale(usize),
    Question(usize),
}

impl Expected {
    pub fn ok(status: u16, body: Value) -> Self {
        Self { status, replayed: None, body, any_of: Vec::new(), happened_ms: None, learn: Learn::Nothing }
    }

    pub fn refused(status: u16, code: &str) -> Self {
        Self::ok(status, json!({"error": {"code": code}}))
    }

    pub fn invalid(paths: &BTreeSet<&str>) -> Self {
        let mut expected = Self::refused(422, "validation_failed");
        let fields: Vec<_> = paths.iter().map(|path| json!({"path": path})).collect();
        expected.body["error"]["fields"] = json!(fields);
        expected
    }

    pub fn confirmation_refused(reasons: &[&str]) -> Self {
        let mut expected = Self::refused(422, "duplicate_confirmation_invalid");
        expected.body["error"]["candidate"] = Value::Null;
        expected.any_of = reasons.iter().map(|reason| json!({"error": {"reason": reason}})).collect();
        expected
    }

    pub fn replayed(self, replayed: bool) -> Self {
        Self { replayed: Some(replayed), ..self }
    }

    pub fn happened(self, ms: i64) -> Self {
        Self { happened_ms: Some(ms), ..self }
    }

    pub fn learns(self, learn: Learn) -> Self {
        Self { learn, ..self }
    }

    /// How `answer`, in a sequence that began at `start_ms`, is something else.
    pub fn differences(&self, answer: &Answer, start_ms: i64) -> Vec<String> {
        let mut found = Vec::new();
        if answer.status != self.status {
            found.push(format!("status {} instead of {}", answer.status, self.status));
        }
        if answer.replayed.unwrap_or(false) != self.replayed.unwrap_or(false)
            || (self.replayed.is_some() && answer.replayed.is_none())
        {
            found.push(format!("Idempotency-Replayed {:?} instead of {:?}", answer.replayed, self.replayed));
        }
        compare(&self.body, &answer.body, "", &mut found);
        if !self.any_of.is_empty() && !self.any_of.iter().any(|wanted| fits(wanted, &answer.body)) {
            found.push(format!("none of {:?}", self.any_of));
        }
        if let Some(ms) = self.happened_ms {
            let happened = answer.text("/occurred_at").parse::<jiff::Timestamp>();
            if happened.as_ref().map(|at| at.as_millisecond() - start_ms).ok() != Some(ms) {
                found.push(format!("occurred_at {happened:?} instead of {ms} ms from the beginning"));
            }
        }
        found
    }
}

fn fits(wanted: &Value, got: &Value) -> bool {
    let mut found = Vec::new();
    compare(wanted, got, "", &mut found);
    found.is_empty()
}

/// Lists whose order the contract leaves open.
const SETS: [&str; 3] = ["/ignored_differences", "/confirmed_duplicate_of", "/error/fields"];

fn compare(wanted: &Value, got: &Value, at: &str, found: &mut Vec<String>) {
    match (wanted, got) {
        (Value::Object(wanted), Value::Object(got)) => {
            for (name, wanted) in wanted {
                compare(wanted, got.get(name).unwrap_or(&Value::Null), &format!("{at}/{name}"), found);
            }
        }
        (Value::Array(wanted), Value::Array(got)) if wanted.len() == got.len() => {
            let sorted = |list: &[Value]| {
                let mut list = list.to_vec();
                if SETS.contains(&at) {
                    list.sort_by_key(Value::to_string);
                }
                list
            };
            for (wanted, got) in sorted(wanted).iter().zip(&sorted(got)) {
                compare(wanted, got, &format!("{at}/-"), found);
            }
        }
        (wanted, got) if wanted == got => {}
        (wanted, got) => found.push(format!("{at} is {got} instead of {wanted}")),
    }
}
