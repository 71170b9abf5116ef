//! Chance that repeats: everything random comes from a seed.

use std::sync::{Arc, Mutex, PoisonError};

/// SplitMix64, shared by whoever holds a clone.
#[derive(Clone, Debug)]
pub struct Chance(Arc<Mutex<u64>>);

impl Chance {
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(seed)))
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

    /// A number below `end`.
    #[must_use]
    pub fn below(&self, end: usize) -> usize {
        let end = u64::try_from(end).expect("a count fits").max(1);
        usize::try_from(self.next() % end).expect("below a count")
    }

    /// True in so many of a hundred cases.
    #[must_use]
    pub fn percent(&self, share: u64) -> bool {
        self.next() % 100 < share
    }

    pub fn pick<'a, T>(&self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

impl turno_till::random::Entropy for Chance {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]);
        }
    }
}
