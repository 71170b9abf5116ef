//! The only place that reads time. Everything else is told what time it is, so the whole till runs in a simulator.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::Offset;

/// Wall time in milliseconds since 1970, UTC: what the database stores.
pub type Millis = i64;

pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Timestamp;
}

pub type SharedClock = Arc<dyn Clock>;

/// The machine's clock.
#[derive(Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// Peru keeps UTC-05:00 all year, with no daylight saving time.
const TILL_OFFSET: Offset = Offset::constant(-5);

/// An instant as people and YUPY read it: RFC 3339 with the till's offset, to the millisecond.
///
/// An instant outside the calendar (a damaged row) shows as the calendar's end rather than as nothing.
#[must_use]
pub fn rfc3339(at: Millis) -> String {
    let at = Timestamp::from_millisecond(at).unwrap_or(Timestamp::MAX);
    at.display_with_offset(TILL_OFFSET).to_string()
}
