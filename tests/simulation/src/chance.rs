//! Chance that repeats: everything random in a world comes from its seed.

use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

/// SplitMix64, shared by whoever holds a clone. One stream per actor keeps their choices apart.
#[derive(Clone, Debug)]
pub struct Chance(Arc<Mutex<u64>>);

impl Chance {
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(seed)))
    }

    /// An independent stream for an actor.
    #[must_use]
    pub fn branch(&self) -> Self {
        Self::new(self.next())
    }

    #[must_use]
    pub fn next(&self) -> u64 {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    #[must_use]
    pub fn between(&self, range: RangeInclusive<u64>) -> u64 {
        let span = range.end() - range.start() + 1;
        range.start() + self.next() % span
    }

    /// True in so many of a thousand cases.
    #[must_use]
    pub fn per_mille(&self, share: u64) -> bool {
        self.next() % 1_000 < share
    }

    pub fn pick<'a, T>(&self, from: &'a [T]) -> &'a T {
        let count = u64::try_from(from.len()).expect("a slice's length fits");
        &from[usize::try_from(self.next() % count).expect("below the length")]
    }
}

impl turno_till::random::Entropy for Chance {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]);
        }
    }
}

impl turno_server::Entropy for Chance {
    fn fill(&self, bytes: &mut [u8]) {
        turno_till::random::Entropy::fill(self, bytes);
    }
}
