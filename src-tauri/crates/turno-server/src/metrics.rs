//! What is counted, in the text format of Prometheus.
//!
//! Invariant: labels are codes and fixed words, never an id, a name or a path that somebody chose, so there are always
//! the same few series.

use std::{
    fmt::Write,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use jiff::Timestamp;
use turno_protocol::code::ErrorCode;

/// Things that happen, beside the answers themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    Replays,
    /// Came when their key was forgotten, and found their sale by its id.
    LateRetries,
    ChallengesIssued,
    ChallengesConfirmed,
    ChallengesExpired,
    TakeOversApproved,
    TakeOversDeclined,
    TakeOversPending,
    TakeOversNotFound,
    TakeOversMismatched,
    TakeOversUnreachable,
    /// Owners that found somebody else with their payment, or its webhook, when they wanted to write.
    LeasesLost,
    KeysPurged,
    /// Closed at the door, for want of places.
    ConnectionsRefused,
}

impl Counter {
    const ALL: [Self; 14] = [
        Self::Replays,
        Self::LateRetries,
        Self::ChallengesIssued,
        Self::ChallengesConfirmed,
        Self::ChallengesExpired,
        Self::TakeOversApproved,
        Self::TakeOversDeclined,
        Self::TakeOversPending,
        Self::TakeOversNotFound,
        Self::TakeOversMismatched,
        Self::TakeOversUnreachable,
        Self::LeasesLost,
        Self::KeysPurged,
        Self::ConnectionsRefused,
    ];

    fn series(self) -> &'static str {
        match self {
            Self::Replays => "turno_replays_total",
            Self::LateRetries => "turno_late_retries_total",
            Self::ChallengesIssued => "turno_challenges_issued_total",
            Self::ChallengesConfirmed => "turno_challenges_confirmed_total",
            Self::ChallengesExpired => "turno_challenges_expired_total",
            Self::TakeOversApproved => r#"turno_take_overs_total{result="approved"}"#,
            Self::TakeOversDeclined => r#"turno_take_overs_total{result="declined"}"#,
            Self::TakeOversPending => r#"turno_take_overs_total{result="pending"}"#,
            Self::TakeOversNotFound => r#"turno_take_overs_total{result="not_found"}"#,
            Self::TakeOversMismatched => r#"turno_take_overs_total{result="mismatched"}"#,
            Self::TakeOversUnreachable => r#"turno_take_overs_total{result="unreachable"}"#,
            Self::LeasesLost => "turno_leases_lost_total",
            Self::KeysPurged => "turno_keys_purged_total",
            Self::ConnectionsRefused => "turno_connections_refused_total",
        }
    }
}

/// Upper bounds of answer times in milliseconds: from a replay out of memory to the longest answer there is.
const BUCKETS_MS: [u64; 10] = [1, 2, 5, 10, 25, 50, 100, 500, 2_000, 12_000];

/// Clones count together.
#[derive(Clone, Debug, Default)]
pub struct Metrics(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    happened: [AtomicU64; Counter::ALL.len()],
    refused: [AtomicU64; ErrorCode::ALL.len()],
    answered: AtomicU64,
    /// By the first bound that is not exceeded; the last is for all that took longer.
    durations: [AtomicU64; BUCKETS_MS.len() + 1],
    total_us: AtomicU64,
    /// When nothing was left to purge, in milliseconds since 1970.
    purged_at_ms: AtomicI64,
}

/// What is as it is now, and counted elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gauges {
    /// Requests that wait for the store.
    pub store_queue: usize,
    /// Payments whose acquirer is being asked by this process.
    pub payments_in_flight: usize,
}

impl Metrics {
    pub fn count(&self, counter: Counter) {
        self.add(counter, 1);
    }

    pub fn add(&self, counter: Counter, times: u64) {
        self.0.happened[counter as usize].fetch_add(times, Ordering::Relaxed);
    }

    /// An answer that went out, with its code if it was an error.
    pub(crate) fn answered(&self, refused: Option<ErrorCode>, took: Duration) {
        match refused {
            Some(code) => &self.0.refused[code as usize],
            None => &self.0.answered,
        }
        .fetch_add(1, Ordering::Relaxed);
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let bucket = BUCKETS_MS.partition_point(|bound| *bound < millis);
        self.0.durations[bucket].fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.0.total_us.fetch_add(micros, Ordering::Relaxed);
    }

    /// Nothing is left to purge.
    pub(crate) fn purged(&self, now: Timestamp) {
        self.0.purged_at_ms.store(now.as_millisecond(), Ordering::Relaxed);
    }

    /// Before the first purge, how long it has been due counts from the start.
    pub(crate) fn started(&self, now: Timestamp) {
        let never = (0, now.as_millisecond());
        self.0.purged_at_ms.compare_exchange(never.0, never.1, Ordering::Relaxed, Ordering::Relaxed).ok();
    }

    /// Everything there is.
    pub(crate) fn to_text(&self, gauges: Gauges, now: Timestamp) -> String {
        let mut text = String::new();
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let mut line = |series: &str, value: u64| {
            writeln!(text, "{series} {value}").expect("a string takes every write");
        };
        line("turno_answers_total{code=\"ok\"}", get(&self.0.answered));
        for code in ErrorCode::ALL {
            let series = format!("turno_answers_total{{code=\"{}\"}}", code.as_str());
            line(&series, get(&self.0.refused[code as usize]));
        }
        for counter in Counter::ALL {
            line(counter.series(), get(&self.0.happened[counter as usize]));
        }
        let mut so_far = 0;
        for (bound, count) in BUCKETS_MS.iter().zip(&self.0.durations) {
            so_far += get(count);
            line(&format!("turno_answer_milliseconds_bucket{{le=\"{bound}\"}}"), so_far);
        }
        so_far += get(&self.0.durations[BUCKETS_MS.len()]);
        line("turno_answer_milliseconds_bucket{le=\"+Inf\"}", so_far);
        line("turno_answer_milliseconds_sum", get(&self.0.total_us) / 1000);
        line("turno_answer_milliseconds_count", so_far);
        let mut gauge = |series: &str, value: usize| line(series, u64::try_from(value).unwrap_or(u64::MAX));
        gauge("turno_store_queue_depth", gauges.store_queue);
        gauge("turno_payments_in_flight", gauges.payments_in_flight);
        let lag_ms = now.as_millisecond().saturating_sub(self.0.purged_at_ms.load(Ordering::Relaxed));
        line("turno_purge_lag_seconds", u64::try_from(lag_ms / 1000).unwrap_or(0));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_and_code_has_a_series_of_its_own() {
        let metrics = Metrics::default();
        for counter in Counter::ALL {
            assert_eq!(Counter::ALL[counter as usize], counter);
        }
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::ALL[code as usize], code);
        }
        let text = metrics.to_text(Gauges::default(), Timestamp::UNIX_EPOCH);
        let mut series: Vec<_> = text.lines().map(|line| line.rsplit_once(' ').unwrap().0).collect();
        let all = series.len();
        series.sort_unstable();
        series.dedup();
        assert_eq!(series.len(), all);
    }

    #[test]
    fn times_are_counted_up_to_their_bound() {
        let metrics = Metrics::default();
        for millis in [0, 1, 2, 100, 60_000] {
            metrics.answered(None, Duration::from_millis(millis));
        }
        metrics.answered(Some(ErrorCode::IdempotencyConflict), Duration::from_micros(1500));
        let gauges = Gauges { store_queue: 7, payments_in_flight: 2 };
        metrics.started(Timestamp::from_second(100).unwrap());
        metrics.started(Timestamp::from_second(150).unwrap());
        let text = metrics.to_text(gauges, Timestamp::from_second(190).unwrap());
        for line in [
            "turno_answers_total{code=\"ok\"} 5",
            "turno_answers_total{code=\"idempotency_conflict\"} 1",
            "turno_answer_milliseconds_bucket{le=\"1\"} 3",
            "turno_answer_milliseconds_bucket{le=\"2\"} 4",
            "turno_answer_milliseconds_bucket{le=\"12000\"} 5",
            "turno_answer_milliseconds_bucket{le=\"+Inf\"} 6",
            "turno_store_queue_depth 7",
            "turno_payments_in_flight 2",
            "turno_purge_lag_seconds 90",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
        }
    }
}
