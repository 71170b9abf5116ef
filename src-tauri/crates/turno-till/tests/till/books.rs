//! A YUPY that several tills talk to and that remembers: what each key carried, and every sale by its external id.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use turno_till::transport::{Failure, Method, Request, Sending, Transport};

use crate::support::{Reply, about_the_till, error, json_answer, question, with_members};

/// Fewer than anybody asks for, so that there are always several pages.
pub const PAGE: usize = 2;

#[derive(Default)]
pub struct Books {
    keys: Mutex<BTreeMap<String, Vec<u8>>>,
    /// By external id, as they were sent.
    pub sales: Mutex<BTreeMap<String, Value>>,
    /// The operations that voided a sale, by its external id.
    pub voids: Mutex<BTreeMap<String, BTreeSet<String>>>,
    /// So many epochs that tills tell of are somebody else's.
    pub taken_epochs: AtomicU32,
    /// The next sale looks like another one.
    pub asks_once: AtomicBool,
}

impl Books {
    /// A backup was put back in which this sale is not.
    pub fn forget(&self, external_transaction_id: &str) {
        self.sales.lock().unwrap().remove(external_transaction_id).unwrap();
        let is_of_it = |body: &Vec<u8>| {
            let body: Value = serde_json::from_slice(body).unwrap();
            body["external_transaction_id"] == external_transaction_id
        };
        self.keys.lock().unwrap().retain(|_, body| !is_of_it(body));
    }

    fn answer(&self, request: &Request) -> Reply {
        if request.if_none_match.is_some() {
            return json_answer(304, &Value::Null);
        }
        let body =
            request.body.as_deref().map(|body| serde_json::from_slice(body).unwrap()).unwrap_or_default();
        let left = |left: u32| left.checked_sub(1);
        if request.path == "/v1/devices/epochs"
            && self.taken_epochs.fetch_update(Ordering::SeqCst, Ordering::SeqCst, left).is_ok()
        {
            return error(409, "epoch_taken")(&body);
        }
        if request.path == "/v1/devices/epochs" {
            return about_the_till(request, &body).unwrap();
        }
        if let Some(reply) = about_the_till(request, &body) {
            // One code is another company's.
            let company = if body["enrolment_code"] == "OTHER" { "B" } else { "A" };
            let device_id = match body["enrolment_code"].as_str() {
                Some("SECOND") => "D04",
                Some("THIRD") => "D05",
                Some(_) | None => "D03",
            };
            let members = json!({ "company": company, "device_id": device_id });
            return if body.is_null() { reply } else { with_members(reply, &members) };
        }
        if request.method == Method::Get {
            return self.list(&request.path);
        }
        let (key, bytes) = (request.idempotency_key.clone().unwrap(), request.body.clone().unwrap());
        if let Some(id) = request.path.strip_suffix("/void") {
            return self.void(id.strip_prefix("/v1/transactions/ypt-").unwrap(), &body);
        }
        let id = body["external_transaction_id"].as_str().unwrap().to_owned();
        if self.keys.lock().unwrap().entry(key).or_insert_with(|| bytes.clone()) != &bytes {
            return error(409, "idempotency_conflict")(&body);
        }
        if self.asks_once.swap(false, Ordering::SeqCst) {
            return question("ch-1", "token-1", "ypt-0")(&body);
        }
        let mut sales = self.sales.lock().unwrap();
        let status = if sales.contains_key(&id) { 200 } else { 201 };
        let sale = sales.entry(id).or_insert(body);
        json_answer(status, &transaction(sale))
    }

    fn void(&self, id: &str, body: &Value) -> Reply {
        assert!(self.sales.lock().unwrap().contains_key(id));
        let operation = body["external_operation_id"].as_str().unwrap().to_owned();
        self.voids.lock().unwrap().entry(id.to_owned()).or_default().insert(operation.clone());
        json_answer(
            200,
            &json!({
                "result": "applied", "idempotency_replayed": false, "yupy_transaction_id": format!("ypt-{id}"),
                "external_transaction_id": id, "external_operation_id": operation,
                "state": { "operational": "voided", "financial": "refunded" }, "request_id": "r-9",
            }),
        )
    }

    fn list(&self, path: &str) -> Reply {
        let sales = self.sales.lock().unwrap();
        if let Some(query) = path.strip_prefix("/v1/transactions?device_id=D03&limit=500") {
            let after = query.strip_prefix("&after=").unwrap_or_default();
            let mut rest = sales.iter().filter(|(id, _)| id.as_str() > after).map(|(_, sale)| sale);
            let page: Vec<Value> = rest.by_ref().take(PAGE).map(transaction).collect();
            let next = rest.next().and(page.last()).map(|last| last["external_transaction_id"].clone());
            return json_answer(200, &json!({ "items": page, "next": next }));
        }
        let id = path.strip_prefix("/v1/transactions?external_transaction_id=");
        let found = id.and_then(|id| sales.get(id)).map(transaction);
        json_answer(200, &json!({ "items": found.into_iter().collect::<Vec<_>>(), "next": null }))
    }
}

fn transaction(sale: &Value) -> Value {
    let id = sale["external_transaction_id"].as_str().unwrap();
    json!({
        "yupy_transaction_id": format!("ypt-{id}"), "external_transaction_id": id, "amount": sale["amount"],
        "currency": sale["currency"], "occurred_at": sale["occurred_at"], "created_at": "2026-11-30T15:00:00Z",
        "state": { "operational": "active", "financial": "paid" },
    })
}

/// One till's line to the books. It notes what went over it.
pub struct Wire {
    books: Arc<Books>,
    is_down: AtomicBool,
    /// The answer to the next sale is lost.
    pub loses_a_reply: AtomicBool,
    pub sent: Mutex<Vec<Request>>,
}

impl Wire {
    pub fn to(books: &Arc<Books>) -> Arc<Self> {
        Arc::new(Self {
            books: Arc::clone(books),
            is_down: AtomicBool::new(false),
            loses_a_reply: AtomicBool::new(false),
            sent: Mutex::default(),
        })
    }

    pub fn cut(&self) {
        self.is_down.store(true, Ordering::SeqCst);
    }

    pub fn join(&self) {
        self.is_down.store(false, Ordering::SeqCst);
    }

    pub fn sales(&self) -> Vec<Request> {
        let sent = self.sent.lock().unwrap();
        sent.iter().filter(|request| request.idempotency_key.is_some()).cloned().collect()
    }
}

impl Transport for Wire {
    fn send(&self, request: Request) -> Sending<'_> {
        Box::pin(async move {
            if self.is_down.load(Ordering::SeqCst) {
                return Err(Failure::NoNetwork);
            }
            self.sent.lock().unwrap().push(request.clone());
            let reply = self.books.answer(&request);
            if request.idempotency_key.is_some() && self.loses_a_reply.swap(false, Ordering::SeqCst) {
                return Err(Failure::ConnectionLost);
            }
            reply
        })
    }
}
