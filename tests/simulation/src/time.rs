//! Clocks that follow the runtime's paused time, each with an error of its own.

use std::time::Duration;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use tokio::time::Instant;

/// When every world begins: 2026-11-30 10:00 in Lima.
const BEGINNING_MS: i64 = 1_796_050_800_000;

/// A wall clock. Its error changes when somebody sets it.
#[derive(Clone, Debug)]
pub struct SimClock {
    born: Instant,
    error_ms: Arc<AtomicI64>,
}

impl SimClock {
    #[must_use]
    pub fn right() -> Self {
        Self { born: Instant::now(), error_ms: Arc::default() }
    }

    pub fn set_by(&self, ms: i64) {
        self.error_ms.fetch_add(ms, Ordering::SeqCst);
    }

    pub fn set_right(&self) {
        self.error_ms.store(0, Ordering::SeqCst);
    }

    fn read(&self) -> Timestamp {
        let elapsed = i64::try_from(self.born.elapsed().as_millis()).expect("a world lasts hours, not ages");
        let ms = BEGINNING_MS + elapsed + self.error_ms.load(Ordering::SeqCst);
        Timestamp::from_millisecond(ms).expect("within the calendar")
    }
}

impl turno_till::clock::Clock for SimClock {
    fn now(&self) -> Timestamp {
        self.read()
    }
}

impl turno_server::Clock for SimClock {
    fn now(&self) -> Timestamp {
        self.read()
    }
}

/// So much simulated time passes, in which everything else happens.
pub async fn pass(span: Duration) {
    tokio::time::sleep(span).await;
}
