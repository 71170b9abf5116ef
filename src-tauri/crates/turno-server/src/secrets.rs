//! The server's own secrets: one under which contents are fingerprinted, and those that sign confirmation tokens.
//!
//! Invariant: they never leave this process; the store keeps them so that every start and every replica has the same.

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// A key for HMAC-SHA-256, wiped from no log because it never gets into one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SigningKey(pub [u8; 32]);

impl SigningKey {
    pub(crate) fn sign(&self, bytes: &[u8]) -> [u8; 32] {
        hmac(&self.0, bytes)
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SigningKey")
    }
}

/// HMAC-SHA-256, for keys that are not ours too (the acquirer's webhook).
pub(crate) fn hmac(key: &[u8], bytes: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(bytes);
    mac.finalize().into_bytes().into()
}

/// Which of the token secrets signed a question. Grows by one with each rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generation(pub i64);

#[derive(Clone, Debug)]
pub struct Secrets {
    pub fingerprint: SigningKey,
    /// The newest first. At most two: a rotation keeps the one before it, so that open questions stay good.
    pub tokens: Vec<(Generation, SigningKey)>,
}

/// The secrets as they were read last. Another process may rotate them or import others, so a ledger reads them again
/// whenever it reads a caller: at most [`REMEMBERED`](crate::callers::REMEMBERED) later, and before the first request of
/// a caller that came with them.
#[derive(Clone, Debug)]
pub(crate) struct LastRead(Arc<RwLock<Secrets>>);

impl LastRead {
    pub(crate) fn new(secrets: Secrets) -> Self {
        Self(Arc::new(RwLock::new(secrets)))
    }

    pub(crate) fn get(&self) -> Secrets {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, secrets: Secrets) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = secrets;
    }
}

impl Secrets {
    pub(crate) fn newest_token_secret(&self) -> (Generation, SigningKey) {
        *self.tokens.first().expect("a ledger is opened with a token secret")
    }

    pub(crate) fn token_secret(&self, generation: Generation) -> Option<SigningKey> {
        self.tokens.iter().find(|(own, _)| *own == generation).map(|(_, secret)| *secret)
    }
}
