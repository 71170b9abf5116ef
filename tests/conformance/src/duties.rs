//! What the contract demands of every answer, whatever was asked (§2, §11).
//!
//! Invariant: an answer goes to a case only after it has passed here, so no case has to think of it.

use std::{collections::HashSet, sync::Mutex};

use jiff::fmt::rfc2822::DateTimeParser;
use serde_json::Value;

use crate::{
    answer::Answer,
    codes::{self, Code, Retry},
};

/// The ids of all answers so far: each must be new.
#[derive(Debug, Default)]
pub struct Duties {
    seen: Mutex<HashSet<String>>,
}

impl Duties {
    /// Everything that `answer` owes and does not have.
    pub fn faults(&self, answer: &Answer) -> Vec<String> {
        let mut faults = Vec::new();
        self.request_id(answer, &mut faults);
        date(answer, &mut faults);
        if answer.header("cache-control") != Some("no-store") {
            faults.push("Cache-Control is not no-store".to_owned());
        }
        replay_flags(answer, &mut faults);
        match answer.body.get("error") {
            Some(error) => an_error(answer, error, &mut faults),
            None if answer.status >= 400 => faults.push("an error status without an error body".to_owned()),
            None => {}
        }
        faults
    }

    fn request_id(&self, answer: &Answer, faults: &mut Vec<String>) {
        let Some(id) = answer.header("x-request-id").filter(|id| !id.is_empty()) else {
            return faults.push("X-Request-Id is missing".to_owned());
        };
        let is_new = self.seen.lock().expect("nothing panics while it is held").insert(id.to_owned());
        if !is_new {
            faults.push(format!("X-Request-Id {id} was given before"));
        }
        let in_body = answer.body.get("request_id").or_else(|| answer.body.pointer("/error/request_id"));
        if in_body.is_some_and(|said| said != id) {
            faults.push(format!("request_id in the body is {in_body:?}, in the header {id}"));
        }
    }
}

fn date(answer: &Answer, faults: &mut Vec<String>) {
    let date = answer.header("date").unwrap_or_default();
    if DateTimeParser::new().parse_timestamp(date).is_err() {
        faults.push(format!("Date is `{date}`, which is no date"));
    }
}

fn replay_flags(answer: &Answer, faults: &mut Vec<String>) {
    let Some(said) = answer.body.get("idempotency_replayed").and_then(Value::as_bool) else { return };
    if answer.header("idempotency-replayed") != Some(if said { "true" } else { "false" }) {
        faults.push(format!("Idempotency-Replayed does not agree with idempotency_replayed: {said}"));
    }
}

fn an_error(answer: &Answer, error: &Value, faults: &mut Vec<String>) {
    let media_type = answer.header("content-type").unwrap_or_default();
    if !["application/json", "application/problem+json"].iter().any(|known| media_type.starts_with(known)) {
        faults.push(format!("an error as `{media_type}`"));
    }
    for name in ["code", "message", "request_id"] {
        if error[name].as_str().is_none_or(str::is_empty) {
            faults.push(format!("error.{name} is missing"));
        }
    }
    match codes::find(answer.code()) {
        None if error["retryable"] == false => {}
        None => faults.push(format!("`{}` is none of the codes that are retryable", answer.code())),
        Some(Code { name: "internal_error", .. }) => faults.push("the server failed".to_owned()),
        Some(code) => as_its_code_demands(answer, error, code, faults),
    }
}

fn as_its_code_demands(answer: &Answer, error: &Value, code: &Code, faults: &mut Vec<String>) {
    if !code.statuses.contains(&answer.status) {
        faults.push(format!("{} with status {}", code.name, answer.status));
    }
    if error["retryable"] != (code.retry != Retry::Never) {
        faults.push(format!("retryable is {} for {}", error["retryable"], code.name));
    }
    let wait = answer.header("retry-after");
    let is_there = wait.is_some_and(|wait| wait.parse::<u32>().is_ok() || is_date(wait));
    if code.retry == Retry::After && !is_there {
        faults.push(format!("{} without a Retry-After", code.name));
    }
}

fn is_date(text: &str) -> bool {
    DateTimeParser::new().parse_timestamp(text).is_ok()
}
