//! The world beside the disk, moment by moment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use turno_till::transport::{Method, Request, Sending, Transport};

use super::disk::files_of;
use crate::support::{Reply, about_the_till, error, json_answer, question};

/// A YUPY that remembers: keys, sales, its question. Cloned, it is the YUPY of a moment.
#[derive(Clone, Default)]
pub struct Ledger {
    pub asks: bool,
    pub heard: u32,
    /// What each key carried, and the sale that came of it.
    pub keys: BTreeMap<String, (Vec<u8>, Option<String>)>,
    /// By external id.
    pub sales: BTreeMap<String, String>,
    /// The token of the open question.
    pub open: Option<String>,
    /// Rules that no till may break, broken.
    pub violations: Vec<String>,
}

impl Ledger {
    fn answer(&mut self, key: &str, bytes: &[u8]) -> Reply {
        self.heard += 1;
        let body: Value = serde_json::from_slice(bytes).unwrap();
        let id = body["external_transaction_id"].as_str().unwrap().to_owned();
        if let Some((carried, outcome)) = self.keys.get(key) {
            if carried != bytes {
                self.violations.push(format!("{key} carried two bodies"));
                return error(409, "idempotency_conflict")(&body);
            }
            if let Some(transaction) = outcome {
                return known(&body, transaction);
            }
        }
        self.keys.insert(key.to_owned(), (bytes.to_vec(), None));
        if let Some(transaction) = self.sales.get(&id) {
            self.keys.get_mut(key).unwrap().1 = Some(transaction.clone());
            return known(&body, transaction);
        }
        match (body.get("duplicate_confirmation_token").and_then(Value::as_str), self.open.as_deref()) {
            (Some(token), Some(open)) if token == open => self.open = None,
            (Some(_), _) => return error(422, "duplicate_confirmation_invalid")(&body),
            (None, _) if self.asks => {
                self.open = Some("token-1".to_owned());
                return question("ch-1", "token-1", "ypt-0")(&body);
            }
            (None, _) => {}
        }
        let transaction = format!("ypt-{}", self.sales.len() + 1);
        self.sales.insert(id.clone(), transaction.clone());
        self.keys.get_mut(key).unwrap().1 = Some(transaction.clone());
        let created = json!({
            "result": "created", "yupy_transaction_id": transaction, "external_transaction_id": id,
            "occurred_at": body["occurred_at"],
        });
        json_answer(201, &created)
    }
}

fn known(body: &Value, transaction: &str) -> Reply {
    let existing = json!({
        "result": "existing_transaction", "yupy_transaction_id": transaction,
        "external_transaction_id": body["external_transaction_id"], "occurred_at": body["occurred_at"],
    });
    json_answer(200, &existing)
}

/// What the world beside the disk looked like, from this moment to the next.
#[derive(Clone)]
pub struct Moment {
    /// How far the log had been written when it began.
    pub log: usize,
    /// What was kept of the till outside of its folder: it does not wait for the log, nor the log for it.
    pub witness: Vec<(OsString, Vec<u8>)>,
    pub ledger: Ledger,
    /// A request is with YUPY, which has done nothing about it yet.
    pub arriving: bool,
    /// The cashier was told that the sale is recorded.
    pub charged: bool,
    /// The manager was told that the decision stands.
    pub decided: bool,
}

pub struct Yupy {
    folder: PathBuf,
    pub moments: Mutex<Vec<Moment>>,
}

impl Yupy {
    pub fn beside(folder: &Path, ledger: Ledger) -> Arc<Self> {
        let first =
            Moment { log: 0, witness: Vec::new(), ledger, arriving: false, charged: false, decided: false };
        Arc::new(Self { folder: folder.to_owned(), moments: Mutex::new(vec![first]) })
    }

    /// Something changed outside of the till.
    pub fn note<T>(&self, change: impl FnOnce(&mut Moment) -> T) -> T {
        let mut moments = self.moments.lock().unwrap();
        let mut next = moments.last().unwrap().clone();
        next.arriving = false;
        let log = fs::metadata(self.folder.join("till.db-wal"));
        next.log = log.map_or(0, |log| usize::try_from(log.len()).unwrap());
        next.witness = files_of(&self.folder.join("secrets"));
        let result = change(&mut next);
        moments.push(next);
        result
    }

    pub fn ledger(&self) -> Ledger {
        self.moments.lock().unwrap().last().unwrap().ledger.clone()
    }
}

impl Transport for Yupy {
    fn send(&self, request: Request) -> Sending<'_> {
        Box::pin(async move {
            let bytes = request.body.clone().unwrap_or_default();
            let body = serde_json::from_slice(&bytes).unwrap_or_default();
            if let Some(reply) = about_the_till(&request, &body) {
                return reply;
            }
            if request.method == Method::Get {
                return json_answer(200, &json!({ "items": [], "next": null }));
            }
            let key = request.idempotency_key.expect("a sale travels with its key");
            self.note(|moment| moment.arriving = true);
            self.note(|moment| moment.ledger.answer(&key, &bytes))
        })
    }
}
