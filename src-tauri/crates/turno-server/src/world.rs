//! Time and chance, the two things that a server cannot compute.
//!
//! Invariant: nothing else in this crate reads a clock or draws a random number, so a simulator that supplies both
//! replays a whole server.

use std::{fmt, sync::Arc};

use jiff::Timestamp;

pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
}

pub trait Entropy: Send + Sync {
    fn fill(&self, bytes: &mut [u8]);
}

/// What the ledger and the router see of the world.
#[derive(Clone)]
pub struct World {
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl World {
    /// The operating system's clock and random numbers.
    pub fn system() -> Self {
        Self::new(SystemClock, SystemEntropy)
    }

    pub fn new(clock: impl Clock + 'static, entropy: impl Entropy + 'static) -> Self {
        Self { clock: Arc::new(clock), entropy: Arc::new(entropy) }
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.entropy.fill(&mut bytes);
        bytes
    }

    /// A new id that sorts by time, so that an index over millions of them grows at its end.
    pub fn new_id(&self, prefix: &str) -> String {
        let millis = u64::try_from(self.now().as_millisecond()).unwrap_or(0);
        let uuid = uuid::Builder::from_unix_timestamp_millis(millis, &self.random()).into_uuid();
        format!("{prefix}_{}", uuid.simple())
    }
}

impl fmt::Debug for World {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("World")
    }
}

struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system has random bytes once it runs programs");
    }
}
