//! The only place that reads time. Everything else is told what time it is, so the whole till runs in a simulator.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use jiff::Timestamp;
use jiff::tz::Offset;

/// Wall time in milliseconds since 1970, UTC: what the database stores.
pub type Millis = i64;

pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Timestamp;

    /// Milliseconds of a time that nobody can set: it only runs on, and only while the program runs.
    fn running(&self) -> Millis {
        self.now().as_millisecond()
    }
}

pub type SharedClock = Arc<dyn Clock>;

/// The machine's clock.
#[derive(Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn running(&self) -> Millis {
        static BEGINNING: OnceLock<Instant> = OnceLock::new();
        let passed = BEGINNING.get_or_init(Instant::now).elapsed();
        Millis::try_from(passed.as_millis()).unwrap_or(Millis::MAX)
    }
}

/// Peru keeps UTC-05:00 all year, with no daylight saving time.
const TILL_OFFSET: Offset = Offset::constant(-5);

/// The same in milliseconds, for SQL.
pub const TILL_OFFSET_MS: Millis = -5 * 60 * 60 * 1_000;

/// The hour of the day at the till, 0 to 23.
#[must_use]
pub fn hour_of_day(at: Millis) -> u32 {
    let hour = at.saturating_add(TILL_OFFSET_MS).div_euclid(60 * 60 * 1_000).rem_euclid(24);
    u32::try_from(hour).unwrap_or_default()
}

/// An instant as people and YUPY read it: RFC 3339 with the till's offset, to the millisecond.
///
/// An instant outside the calendar (a damaged row) shows as the calendar's end rather than as nothing.
#[must_use]
pub fn rfc3339(at: Millis) -> String {
    let at = Timestamp::from_millisecond(at).unwrap_or(Timestamp::MAX);
    at.display_with_offset(TILL_OFFSET).to_string()
}
