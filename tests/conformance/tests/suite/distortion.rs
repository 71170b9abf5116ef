//! What can be wrong with a server, each as a change to a request on its way in or to an answer on its way out.

use axum::http::{HeaderMap, HeaderValue, Method};
use serde_json::{Value, json};
use turno_conformance::Row;

/// A request as a distortion sees it.
pub struct Asked {
    pub method: Method,
    pub path: String,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// An answer as a distortion sees it.
pub struct Answered {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Value,
}

pub type Inwards = fn(&mut Asked);
pub type Outwards = fn(&Asked, &mut Answered);

pub struct Distortion {
    /// What the server does wrong.
    pub name: &'static str,
    /// Cases of this row must notice.
    pub row: Row,
    pub inwards: Inwards,
    pub outwards: Outwards,
}

const fn wrong(name: &'static str, row: Row) -> Distortion {
    Distortion { name, row, inwards: |_| {}, outwards: |_, _| {} }
}

impl Distortion {
    const fn inwards(self, inwards: Inwards) -> Self {
        Self { inwards, ..self }
    }

    const fn outwards(self, outwards: Outwards) -> Self {
        Self { outwards, ..self }
    }
}

/// A server that does nothing wrong.
pub const NONE: Distortion = wrong("does nothing wrong", Row::Operations);

pub const ALL: &[Distortion] = &[
    // What every answer owes.
    wrong("gives no request id", Row::B1).outwards(|_, answer| {
        answer.headers.remove("x-request-id");
    }),
    wrong("gives every answer the same id", Row::D1).outwards(|_, answer| {
        let id = "always-the-same";
        answer.headers.insert("x-request-id", HeaderValue::from_static(id));
        for path in ["/request_id", "/error/request_id"] {
            replace(&mut answer.body, path, json!(id));
        }
    }),
    wrong("names another id in the body", Row::H1).outwards(|_, answer| {
        replace(&mut answer.body, "/request_id", json!("another"));
    }),
    wrong("lets answers be cached", Row::F2).outwards(|_, answer| {
        answer.headers.remove("cache-control");
    }),
    wrong("does not say when to come back", Row::D3).outwards(|_, answer| {
        answer.headers.remove("retry-after");
    }),
    wrong("calls a conflict retryable", Row::D1).outwards(|_, answer| {
        replace(&mut answer.body, "/error/retryable", json!(true));
    }),
    wrong("writes errors that say nothing", Row::E1).outwards(|_, answer| {
        if answer.status >= 400 {
            answer.body = json!({});
        }
    }),
    // Credentials and rights.
    wrong("lets strangers in", Row::A1).inwards(|asked| {
        asked.headers.entry("authorization").or_insert(HeaderValue::from_static(TILL));
    }),
    wrong("lets readers sell", Row::A2).inwards(|asked| swap_credential(asked, READER, TILL)),
    wrong("takes one company for another", Row::Scope).inwards(|asked| swap_credential(asked, SOUTH, TILL)),
    wrong("keeps training and production together", Row::Scope)
        .inwards(|asked| swap_credential(asked, TRAINING, TILL)),
    // What can be read.
    wrong("reads any media type", Row::A4).inwards(|asked| {
        asked.headers.insert("content-type", HeaderValue::from_static("application/json"));
    }),
    wrong("takes the first of several media types", Row::A4).inwards(|asked| {
        if let Some(first) = asked.headers.get("content-type").cloned() {
            asked.headers.insert("content-type", first);
        }
    }),
    wrong("cuts large bodies", Row::A4).inwards(|asked| {
        let end = asked.body.iter().rposition(|byte| *byte != b' ').map_or(0, |at| at + 1);
        asked.body.truncate(end);
        asked.headers.remove("content-length");
    }),
    wrong("makes up a missing key", Row::B1).inwards(|asked| {
        asked.headers.entry("idempotency-key").or_insert(HeaderValue::from_static("made-up"));
    }),
    wrong("takes the first of several keys", Row::B2).inwards(|asked| {
        if let Some(first) = asked.headers.get("idempotency-key").cloned() {
            asked.headers.insert("idempotency-key", first);
        }
    }),
    wrong("takes the last of two equal members", Row::C1).inwards(reread),
    // Keys.
    wrong("forgets keys", Row::D2).inwards(|asked| {
        let key = asked.headers.get("idempotency-key").map(|key| [key.as_bytes(), &next()].concat());
        if let Some(Ok(key)) = key.map(|key| HeaderValue::from_bytes(&key)) {
            asked.headers.insert("idempotency-key", key);
        }
    }),
    wrong("ignores the case of keys", Row::Keys).inwards(|asked| {
        let key = asked.headers.get("idempotency-key").map(|key| key.as_bytes().to_ascii_lowercase());
        if let Some(Ok(key)) = key.map(|key| HeaderValue::from_bytes(&key)) {
            asked.headers.insert("idempotency-key", key);
        }
    }),
    wrong("creates twice", Row::D2).inwards(|asked| {
        edit(asked, |body| {
            let id = format!("{}{}", text(body, "external_transaction_id"), String::from_utf8_lossy(&next()));
            body["external_transaction_id"] = json!(id);
        });
    }),
    wrong("answers 200 to conflicts of a key", Row::D1).outwards(|_, answer| {
        if answer.body.pointer("/error/code") == Some(&json!("idempotency_conflict")) {
            answer.status = 200;
        }
    }),
    wrong("calls a conflict by another code", Row::D1).outwards(|_, answer| {
        if answer.body.pointer("/error/code") == Some(&json!("idempotency_conflict")) {
            replace(&mut answer.body, "/error/code", json!("external_transaction_conflict"));
        }
    }),
    wrong("does not say that an answer is a replay", Row::D2).outwards(|_, answer| {
        answer.headers.insert("idempotency-replayed", HeaderValue::from_static("false"));
        replace(&mut answer.body, "/idempotency_replayed", json!(false));
    }),
    // Validation.
    wrong("reads numbers as amounts", Row::E1).inwards(|asked| {
        edit(asked, |body| {
            if let Value::Number(amount) = &body["amount"] {
                body["amount"] = json!(amount.to_string());
            }
        });
    }),
    wrong("trims external ids", Row::E1).inwards(|asked| {
        edit(asked, |body| {
            body["external_transaction_id"] = json!(text(body, "external_transaction_id").trim());
        });
    }),
    wrong("reads currencies in lower case", Row::E1).inwards(|asked| {
        edit(asked, |body| {
            if let Value::String(currency) = &body["currency"] {
                body["currency"] = json!(currency.to_uppercase());
            }
        });
    }),
    wrong("names only the first fault", Row::Validation).outwards(|_, answer| {
        if let Some(fields) = answer.body.pointer_mut("/error/fields").and_then(Value::as_array_mut) {
            fields.truncate(1);
        }
    }),
    wrong("answers amounts as it got them", Row::Body).outwards(|asked, answer| {
        let sent: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
        if answer.status == 201 {
            answer.body["amount"] = sent["amount"].clone();
        }
    }),
    // External ids.
    wrong("tells the values of conflicting fields", Row::F1).outwards(|asked, answer| {
        if answer.body.pointer("/error/conflicting_fields").is_some() {
            let sent: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
            replace(&mut answer.body, "/error/conflicting_fields", json!([sent["amount"]]));
        }
    }),
    wrong("hides what it ignored", Row::F2).outwards(|_, answer| {
        replace(&mut answer.body, "/ignored_differences", json!([]));
    }),
    // Look-alikes.
    wrong("never finds look-alikes", Row::SameSeat).inwards(|asked| {
        edit(asked, |body| body["context"] = json!(null));
    }),
    wrong("goes by the time of arrival", Row::HoursApart).inwards(|asked| {
        edit(asked, |body| body["occurred_at"] = json!(null));
    }),
    wrong("asks about equal fares", Row::EqualFares).inwards(|asked| {
        edit(asked, |body| {
            if body["context"]["seat"].is_null() {
                body["context"] = json!({"seat": "none"});
            }
        });
    }),
    wrong("does not see seats apart", Row::OtherSeat).inwards(|asked| {
        edit(asked, |body| {
            if body["context"]["seat"].is_string() {
                body["context"]["seat"] = json!("any");
            }
        });
    }),
    wrong("sorts the signals by name", Row::Rule).outwards(|_, answer| {
        if let Some(signals) =
            answer.body.pointer_mut("/error/matching_signals").and_then(Value::as_array_mut)
        {
            signals.sort_by_key(Value::to_string);
        }
    }),
    wrong("shows the asker's id as the candidate's", Row::Rule).outwards(|asked, answer| {
        let sent: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
        let id = sent["external_transaction_id"].clone();
        replace(&mut answer.body, "/error/candidate/external_transaction_id", id);
    }),
    // Questions.
    wrong("does not see tokens", Row::G4).inwards(|asked| {
        edit(asked, |body| {
            if let Some(body) = body.as_object_mut() {
                body.remove("duplicate_confirmation_token");
                body.remove("confirmed_by");
                body.remove("confirmation_reason");
            }
        });
    }),
    wrong("tells tokens in questions", Row::Questions).outwards(|asked, answer| {
        if asked.path.starts_with("/v1/duplicate-challenges/") && answer.status == 200 {
            answer.body["duplicate_confirmation_token"] = json!("a token");
        }
    }),
    wrong("does not say why a token counts no more", Row::G5).outwards(|_, answer| {
        replace(&mut answer.body, "/error/previous_confirmation", Value::Null);
    }),
    wrong("lets the last decision win", Row::DecidedElsewhere).outwards(|_, answer| {
        if answer.body.pointer("/error/code") == Some(&json!("already_resolved")) {
            answer.status = 200;
            answer.body = json!({});
        }
    }),
    // Voids, payments, webhooks.
    wrong("says that it voided and does not", Row::Void).inwards(|asked| {
        if asked.path.ends_with("/void") {
            asked.method = Method::GET;
            asked.path = asked.path.trim_end_matches("/void").to_owned();
        }
    }),
    wrong("charges under a new id each time", Row::D4).inwards(|asked| {
        edit(asked, |body| {
            if body.get("external_payment_id").is_some() {
                body["external_payment_id"] = json!(String::from_utf8_lossy(&next()));
            }
        });
    }),
    wrong("takes silence for a decline", Row::Unreachable).outwards(|_, answer| {
        if answer.body.pointer("/error/code") == Some(&json!("outcome_unknown")) {
            answer.status = 402;
            replace(&mut answer.body, "/error/code", json!("payment_declined"));
            replace(&mut answer.body, "/error/retryable", json!(false));
        }
    }),
    wrong("does not look at signatures", Row::Webhook).inwards(|asked| {
        if asked.path == "/v1/acquirer/webhook" {
            let signature = crate::distortions::signature(&asked.body);
            asked.headers.insert("x-acquirer-signature", signature);
        }
    }),
    // Lists and audit.
    wrong("lists the newest first", Row::Operations).outwards(|_, answer| {
        if let Some(items) = answer.body["items"].as_array_mut() {
            items.reverse();
        }
    }),
    wrong("ends each list after a page", Row::Operations).outwards(|_, answer| {
        replace(&mut answer.body, "/next", Value::Null);
    }),
    wrong("breaks the chain of the audit", Row::Audit).outwards(|asked, answer| {
        if asked.path.starts_with("/v1/audit") {
            for row in answer.body["items"].as_array_mut().into_iter().flatten() {
                row["prev_hash"] = json!("0");
            }
        }
    }),
    wrong("leaves confirmations out of the audit", Row::G4).outwards(|asked, answer| {
        if asked.path.starts_with("/v1/audit")
            && let Some(rows) = answer.body["items"].as_array_mut()
        {
            rows.retain(|row| row["event"] != "duplicate_confirmed");
        }
    }),
    wrong("takes the last of several query members", Row::Everywhere).inwards(|asked| {
        let Some((path, query)) = asked.path.split_once('?') else { return };
        let name = |pair: &str| pair.split('=').next().unwrap_or_default().to_owned();
        let members: std::collections::BTreeMap<_, _> =
            query.split('&').map(|pair| (name(pair), pair)).collect();
        let pairs: Vec<_> = members.into_values().collect();
        asked.path = format!("{path}?{}", pairs.join("&"));
    }),
    wrong("accepts any page length", Row::Everywhere).inwards(|asked| {
        if let Some(at) = asked.path.find("limit=0") {
            asked.path.replace_range(at.., "limit=1");
        }
    }),
];

const TILL: &str = "Bearer conformance-north-till";
const READER: &str = "Bearer conformance-north-reader";
const TRAINING: &str = "Bearer conformance-north-training";
const SOUTH: &str = "Bearer conformance-south-till";

fn swap_credential(asked: &mut Asked, from: &str, to: &'static str) {
    if asked.headers.get("authorization").is_some_and(|value| value == from) {
        asked.headers.insert("authorization", HeaderValue::from_static(to));
    }
}

/// Something that was never there before, in visible ASCII.
fn next() -> Vec<u8> {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("-{}", NEXT.fetch_add(1, Ordering::Relaxed)).into_bytes()
}

fn text(body: &Value, name: &str) -> String {
    body[name].as_str().unwrap_or_default().to_owned()
}

/// Change the body of a creation or a payment; other requests stay.
fn edit(asked: &mut Asked, change: impl FnOnce(&mut Value)) {
    let is_chosen = asked.path == "/v1/transactions" || asked.path.ends_with("/payments");
    if let (true, Ok(mut body @ Value::Object(_))) = (is_chosen, serde_json::from_slice(&asked.body)) {
        change(&mut body);
        asked.body = body.to_string().into_bytes();
    }
}

/// As a library reads that does not mind.
fn reread(asked: &mut Asked) {
    if let Ok(body) = serde_json::from_slice::<Value>(&asked.body) {
        asked.body = body.to_string().into_bytes();
    }
}

fn replace(body: &mut Value, pointer: &str, value: Value) {
    if let Some(place) = body.pointer_mut(pointer) {
        *place = value;
    }
}
