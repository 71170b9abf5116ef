//! Row A5 under load: who may still get in line for the store, and when the others are to come again.
//!
//! A fleet that comes back online brings hours of sales at once. Invariant: whatever it sends, sales that happen now
//! find at least [`QUEUE_LIMIT`] less [`LATE_LIMIT`] places; whatever is sold now, sales from earlier find at least
//! [`QUEUE_LIMIT`] less [`FRESH_LIMIT`]. Neither can starve the other, and whoever is refused has touched nothing.

use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::{SignedDuration, Timestamp};

/// Requests that may wait for the store: below what it can hold, so that nobody waits for a place there.
pub(crate) const QUEUE_LIMIT: usize = 768;

/// Of sales from earlier. Half of the line is at most two commits on a slow disk ahead of a sale that happens now.
pub(crate) const LATE_LIMIT: usize = QUEUE_LIMIT / 2;

/// Of sales that happen now.
pub(crate) const FRESH_LIMIT: usize = QUEUE_LIMIT - QUEUE_LIMIT / 6;

/// A sale that happened before this was not sent at once: its till was offline, or was told to come again.
const FRESH_FOR: SignedDuration = SignedDuration::from_secs(60);

/// What a slow disk commits in groups, for telling when to come back.
const WRITES_A_SECOND: usize = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Age {
    /// Somebody stands at the till.
    Fresh,
    /// It has waited, and can wait.
    Late,
}

impl Age {
    /// A sale that does not say when it happened happens now.
    pub(crate) fn of(occurred_at: Option<Timestamp>, now: Timestamp) -> Self {
        match occurred_at {
            Some(occurred_at) if now.duration_since(occurred_at) > FRESH_FOR => Self::Late,
            Some(_) | None => Self::Fresh,
        }
    }
}

/// Seconds after which the line may have gone down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ComeBackAfter(pub u32);

/// How many sales of each age are in line.
#[derive(Debug, Default)]
pub(crate) struct Admission {
    fresh: AtomicUsize,
    late: AtomicUsize,
}

/// A place in line, given back with the value.
#[derive(Debug)]
pub(crate) struct Place<'a>(&'a AtomicUsize);

impl Admission {
    pub(crate) fn enter(&self, age: Age) -> Result<Place<'_>, ComeBackAfter> {
        let (line, limit) = match age {
            Age::Fresh => (&self.fresh, FRESH_LIMIT),
            Age::Late => (&self.late, LATE_LIMIT),
        };
        // Its own share first, then the whole: both are counted before they are compared, so no two get one place.
        let place = Place(line);
        let ahead = line.fetch_add(1, Ordering::SeqCst);
        let all = self.waiting();
        if ahead < limit && all <= QUEUE_LIMIT { Ok(place) } else { Err(come_back_after(all)) }
    }

    fn waiting(&self) -> usize {
        self.fresh.load(Ordering::SeqCst) + self.late.load(Ordering::SeqCst)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// When `waiting` may have been written.
pub(crate) fn come_back_after(waiting: usize) -> ComeBackAfter {
    ComeBackAfter(u32::try_from(1 + waiting / WRITES_A_SECOND).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enter_until_refused(admission: &Admission, age: Age) -> Vec<Place<'_>> {
        std::iter::from_fn(|| admission.enter(age).ok()).collect()
    }

    #[test]
    fn a_returning_fleet_leaves_half_of_the_line_to_sales_that_happen_now() {
        let admission = Admission::default();
        let fleet = enter_until_refused(&admission, Age::Late);
        assert_eq!(fleet.len(), LATE_LIMIT);
        let now = enter_until_refused(&admission, Age::Fresh);
        assert_eq!(now.len(), QUEUE_LIMIT - LATE_LIMIT);
    }

    #[test]
    fn a_busy_hour_leaves_something_of_the_line_to_a_returning_fleet() {
        let admission = Admission::default();
        let now = enter_until_refused(&admission, Age::Fresh);
        assert_eq!(now.len(), FRESH_LIMIT);
        let fleet = enter_until_refused(&admission, Age::Late);
        assert_eq!(fleet.len(), QUEUE_LIMIT - FRESH_LIMIT);
    }

    #[test]
    fn a_place_is_given_back_and_a_refusal_takes_none() {
        let admission = Admission::default();
        for _ in 0..3 {
            drop(enter_until_refused(&admission, Age::Late));
            assert_eq!(admission.waiting(), 0);
        }
        let fleet = enter_until_refused(&admission, Age::Late);
        assert_eq!(admission.enter(Age::Late).unwrap_err(), ComeBackAfter(1));
        assert_eq!(admission.waiting(), fleet.len());
    }

    #[test]
    fn who_is_refused_comes_back_the_later_the_longer_the_line_is() {
        assert_eq!(come_back_after(0), ComeBackAfter(1));
        assert_eq!(come_back_after(WRITES_A_SECOND), ComeBackAfter(2));
        assert_eq!(come_back_after(QUEUE_LIMIT * 4), ComeBackAfter(7));
    }

    #[test]
    fn a_sale_is_late_after_a_minute_and_fresh_without_a_time_or_from_a_fast_clock() {
        let now: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
        let second = SignedDuration::from_secs(1);
        assert_eq!(Age::of(Some(now - FRESH_FOR), now), Age::Fresh);
        assert_eq!(Age::of(Some(now - FRESH_FOR - second), now), Age::Late);
        assert_eq!(Age::of(Some(now + FRESH_FOR * 9), now), Age::Fresh);
        assert_eq!(Age::of(None, now), Age::Fresh);
    }
}
