//! Row A3: how often one credential may ask.
//!
//! Invariant: a throttled request was not looked at, so its key is untouched. A credential that keeps to its rate is
//! never throttled, whatever others do.

use std::{
    collections::HashMap,
    num::NonZeroU32,
    sync::{Mutex, PoisonError},
};

use jiff::Timestamp;

use crate::caller::TokenHash;

/// Requests that are always allowed in one go, and how many more come back each second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    pub per_second: NonZeroU32,
    pub burst: NonZeroU32,
}

/// Buckets kept. Past this the full ones are dropped: a full bucket says nothing.
const BUCKETS: usize = 10_000;

/// A token is a thousand parts, so that milliseconds can be counted without fractions.
const PARTS: i64 = 1000;

#[derive(Debug)]
pub(crate) struct Throttle {
    limit: RateLimit,
    buckets: Mutex<HashMap<TokenHash, Bucket>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    parts: i64,
    filled_at_ms: i64,
}

impl Throttle {
    pub(crate) fn new(limit: RateLimit) -> Self {
        Self { limit, buckets: Mutex::default() }
    }

    /// Take one token, or say after how many seconds there is one.
    pub(crate) fn take(&self, credential: TokenHash, now: Timestamp) -> Result<(), u32> {
        let now_ms = now.as_millisecond();
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= BUCKETS {
            buckets.retain(|_, bucket| self.fill(*bucket, now_ms).parts < self.capacity());
        }
        let bucket =
            buckets.entry(credential).or_insert(Bucket { parts: self.capacity(), filled_at_ms: now_ms });
        *bucket = self.fill(*bucket, now_ms);
        if bucket.parts >= PARTS {
            bucket.parts -= PARTS;
            return Ok(());
        }
        let missing = u64::try_from(PARTS - bucket.parts).unwrap_or(0);
        let wait_ms = missing.div_ceil(u64::from(self.limit.per_second.get()));
        Err(u32::try_from(wait_ms.div_ceil(1000)).unwrap_or(u32::MAX).max(1))
    }

    fn capacity(&self) -> i64 {
        i64::from(self.limit.burst.get()) * PARTS
    }

    /// A clock that went back gives nothing and takes nothing.
    fn fill(&self, bucket: Bucket, now_ms: i64) -> Bucket {
        let elapsed_ms = now_ms.saturating_sub(bucket.filled_at_ms).max(0);
        let gained = elapsed_ms.saturating_mul(self.limit.per_second.get().into());
        Bucket { parts: bucket.parts.saturating_add(gained).min(self.capacity()), filled_at_ms: now_ms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_allowed_and_then_the_rate() {
        let throttle = throttle();
        let at = |ms| Timestamp::from_millisecond(ms).unwrap();
        let one = TokenHash([1; 32]);
        for _ in 0..3 {
            assert_eq!(throttle.take(one, at(0)), Ok(()));
        }
        assert_eq!(throttle.take(one, at(0)), Err(1));
        assert_eq!(throttle.take(one, at(499)), Err(1));
        assert_eq!(throttle.take(one, at(500)), Ok(()));
        assert_eq!(throttle.take(one, at(500)), Err(1));
        assert_eq!(throttle.take(one, at(60_000)), Ok(()));
    }

    #[test]
    fn credentials_do_not_share_and_a_clock_that_goes_back_gives_nothing() {
        let throttle = throttle();
        let at = |ms| Timestamp::from_millisecond(ms).unwrap();
        let (one, two) = (TokenHash([1; 32]), TokenHash([2; 32]));
        for _ in 0..3 {
            assert_eq!(throttle.take(one, at(10_000)), Ok(()));
        }
        assert_eq!(throttle.take(one, at(0)), Err(1));
        assert_eq!(throttle.take(two, at(0)), Ok(()));
    }

    fn throttle() -> Throttle {
        let number = |number| NonZeroU32::new(number).unwrap();
        Throttle::new(RateLimit { per_second: number(2), burst: number(3) })
    }
}
