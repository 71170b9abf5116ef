//! A YUPY that remembers its keys, asks now and then whether a sale is another one's duplicate, and whose answers get
//! lost.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use turno_till::transport::{Failure, Method, Request, Response, Sending, Transport};

use crate::chance::Chance;

type Reply = Result<Response, Failure>;

/// Told of every request that has left the till: its key and how many there were with it.
type Listener = Box<dyn Fn(&str, u32) + Send + Sync>;

pub struct Yupy {
    chance: Chance,
    trouble: Trouble,
    heard: Listener,
    memory: Mutex<Memory>,
}

/// Whether the line and the server are good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Everything is accepted at once.
    None,
    /// It asks about every sale, once.
    Questions,
    /// Lost requests and replies, a busy server, refusals, questions.
    Some,
}

#[derive(Default)]
struct Memory {
    /// How often a key was heard, and the answer that stands for it.
    keys: BTreeMap<String, (u32, Vec<u8>, Option<Reply>)>,
    questions: u32,
    /// Keys that carried two bodies.
    broken: Vec<String>,
}

impl Yupy {
    #[must_use]
    pub fn new(chance: Chance, trouble: Trouble, heard: Listener) -> Arc<Self> {
        Arc::new(Self { chance, trouble, heard, memory: Mutex::default() })
    }

    /// Keys that carried two bodies.
    #[must_use]
    pub fn broken(&self) -> Vec<String> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).broken.clone()
    }

    /// Transactions that exist: keys that were accepted.
    #[must_use]
    pub fn accepted(&self) -> usize {
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let is_accepted = |reply: &Option<Reply>| matches!(reply, Some(Ok(answer)) if answer.status < 300);
        memory.keys.values().filter(|(_, _, reply)| is_accepted(reply)).count()
    }

    fn answer(&self, request: &Request) -> Reply {
        let bytes = request.body.clone().unwrap_or_default();
        let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        match (request.method, request.path.as_str()) {
            (Method::Post, "/v1/devices/enroll") => return answer(200, &enrolment(&body)),
            (Method::Post, "/v1/devices/epochs") => {
                let (device_id, epoch) = (&body["device_id"], &body["epoch"]);
                return answer(200, &json!({ "device_id": device_id, "epoch": epoch, "request_id": "r" }));
            }
            (Method::Get, "/v1/catalog") if request.if_none_match.is_some() => {
                return answer(304, &json!({}));
            }
            (Method::Get, "/v1/catalog") => return answer(200, &catalog()),
            (Method::Get, _) => return answer(200, &json!({ "items": [], "next": null })),
            (Method::Post, _) => {}
        }
        let key = request.idempotency_key.clone().unwrap_or_default();
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let known = memory.keys.entry(key.clone()).or_insert((0, bytes.clone(), None));
        known.0 += 1;
        let (nth, same, stands) = (known.0, known.1 == bytes, known.2.clone());
        if !same {
            memory.broken.push(key.clone());
        }
        (self.heard)(&key, nth);
        if self.trouble == Trouble::Some {
            match self.chance.below(100) {
                0..10 => return Err(Failure::Unreachable),
                10..15 => return refusal(503, "service_unavailable"),
                _ => {}
            }
        }
        let reply = stands.unwrap_or_else(|| self.decide(&mut memory, &body));
        if let Some(known) = memory.keys.get_mut(&key) {
            known.2 = Some(reply.clone());
        }
        if self.trouble == Trouble::Some && self.chance.percent(15) {
            return Err(Failure::ConnectionLost);
        }
        reply
    }

    fn decide(&self, memory: &mut Memory, body: &Value) -> Reply {
        let confirms = body.get("duplicate_confirmation_token").is_some();
        if self.trouble == Trouble::Questions && !confirms {
            memory.questions += 1;
            return answer(409, &question(body, memory.questions));
        }
        if self.trouble == Trouble::Some && !confirms {
            match self.chance.below(100) {
                0..25 => {
                    memory.questions += 1;
                    return answer(409, &question(body, memory.questions));
                }
                25..30 => return refusal(422, "validation_failed"),
                _ => {}
            }
        }
        let id = &body["external_transaction_id"];
        let created = json!({
            "result": "created", "yupy_transaction_id": format!("ypt-{}", id.as_str().unwrap_or_default()),
            "external_transaction_id": id, "occurred_at": body["occurred_at"],
        });
        answer(201, &created)
    }
}

impl Transport for Yupy {
    fn send(&self, request: Request) -> Sending<'_> {
        Box::pin(async move { self.answer(&request) })
    }
}

fn answer(status: u16, body: &Value) -> Reply {
    Ok(Response {
        status,
        media_type: Some("application/json".to_owned()),
        etag: Some("\"1\"".to_owned()),
        body: body.to_string().into_bytes(),
        ..Response::default()
    })
}

fn refusal(status: u16, code: &str) -> Reply {
    let error = json!({ "code": code, "message": "…", "request_id": "r", "retryable": status >= 500 });
    answer(status, &json!({ "error": error }))
}

fn enrolment(body: &Value) -> Value {
    json!({
        "credential": "secret", "company": "sur", "integration": "cajas", "environment": "production",
        "device_id": "D01", "epoch": body["epoch"], "currency": "PEN", "company_name": "Transportes del Sur",
        "catalog_url": "/v1/catalog", "request_id": "r",
    })
}

fn question(body: &Value, number: u32) -> Value {
    json!({ "error": {
        "code": "possible_duplicate_transaction", "message": "…", "request_id": "r", "retryable": false,
        "candidate": {
            "yupy_transaction_id": format!("ypt-other-{number}"), "external_transaction_id": format!("E-{number}"),
            "amount": body["amount"], "currency": "PEN", "occurred_at": body["occurred_at"],
            "device_id": "D02", "shift_id": "S1", "state": { "operational": "active", "financial": "paid" },
        },
        "candidates_count": 1, "matching_signals": ["amount", "currency", "route", "seat"],
        "challenge_id": format!("ch-{number}"), "duplicate_confirmation_token": format!("token-{number}"),
        "expires_at": "2027-01-01T00:00:00Z", "resolution": "review_before_creating",
    } })
}

/// One departure with two decks, a city fare and luggage.
fn catalog() -> Value {
    let seats = |deck: u32| -> Vec<Vec<String>> {
        (1..=12)
            .map(|row| ["A", "B", "C", "D"].iter().map(|side| format!("{}{side}", deck * 12 + row)).collect())
            .collect()
    };
    json!({
        "revision": "1", "currency": "PEN",
        "routes": [
            { "route": "184", "name": "Lima – Arequipa", "kind": "intercity", "stops": ["Lima", "Arequipa"] },
            { "route": "U7", "name": "Línea 7", "kind": "urban", "stops": [] },
        ],
        "services": [{
            "service": "184-2030", "route": "184", "departs_at": "2026-12-01T01:30:00Z", "name": "Lima – Arequipa",
            "detail": "Cama 160°", "layout": "L", "fare": "85.50",
        }],
        "layouts": [{ "layout": "L", "decks": [
            { "number": 1, "rows": seats(0) }, { "number": 2, "rows": seats(1) },
        ] }],
        "fares": [{ "fare": "U7-adulto", "route": "U7", "name": "Pasaje urbano", "detail": "", "price": "2.00" }],
        "products": [{ "product": "equipaje", "name": "Equipaje extra", "detail": "", "price": "9.96" }],
    })
}
