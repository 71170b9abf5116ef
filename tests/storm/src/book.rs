//! What travelled: which bodies under which keys, and what was done to the exchanges.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::message::Message;

#[derive(Clone, Debug, Default)]
pub struct Book(Arc<Mutex<Pages>>);

#[derive(Clone, Debug, Default)]
pub struct Pages {
    pub requests: u64,
    pub faults: BTreeMap<String, u64>,
    pub bodies_of_keys: BTreeMap<String, BTreeSet<Vec<u8>>>,
    pub keys_of_bodies: BTreeMap<Vec<u8>, BTreeSet<String>>,
    /// Application bytes that were read from a connection whose certificate nobody vouches for.
    pub told_to_strangers: u64,
}

impl Book {
    #[must_use]
    pub fn read(&self) -> Pages {
        self.pages().clone()
    }

    pub(crate) fn note(&self, request: &Message) {
        let mut pages = self.pages();
        pages.requests += 1;
        if let Some(key) = request.header("idempotency-key") {
            let body = request.body().to_vec();
            pages.bodies_of_keys.entry(key.clone()).or_default().insert(body.clone());
            pages.keys_of_bodies.entry(body).or_default().insert(key);
        }
    }

    pub fn count(&self, fault: &str) {
        *self.pages().faults.entry(fault.to_owned()).or_default() += 1;
    }

    pub(crate) fn told_a_stranger(&self) {
        self.pages().told_to_strangers += 1;
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
