//! What is counted, in the text format of Prometheus.
//!
//! Invariant: labels are codes and fixed words, never an id, a name or a path that somebody chose, so there are always
//! the same few series.

use std::{
    fmt::Write,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use turno_protocol::code::ErrorCode;

/// Things that happen, beside the answers themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    Replays,
    ChallengesConfirmed,
    TakeOversApproved,
    TakeOversDeclined,
    TakeOversPending,
    TakeOversNotFound,
    TakeOversMismatched,
    TakeOversUnreachable,
    LeasesLost,
    KeysPurged,
}

impl Counter {
    const ALL: [Self; 10] = [
        Self::Replays,
        Self::ChallengesConfirmed,
        Self::TakeOversApproved,
        Self::TakeOversDeclined,
        Self::TakeOversPending,
        Self::TakeOversNotFound,
        Self::TakeOversMismatched,
        Self::TakeOversUnreachable,
        Self::LeasesLost,
        Self::KeysPurged,
    ];

    fn series(self) -> &'static str {
        match self {
            Self::Replays => "turno_replays_total",
            Self::ChallengesConfirmed => "turno_challenges_confirmed_total",
            Self::TakeOversApproved => r#"turno_take_overs_total{result="approved"}"#,
            Self::TakeOversDeclined => r#"turno_take_overs_total{result="declined"}"#,
            Self::TakeOversPending => r#"turno_take_overs_total{result="pending"}"#,
            Self::TakeOversNotFound => r#"turno_take_overs_total{result="not_found"}"#,
            Self::TakeOversMismatched => r#"turno_take_overs_total{result="mismatched"}"#,
            Self::TakeOversUnreachable => r#"turno_take_overs_total{result="unreachable"}"#,
            Self::LeasesLost => "turno_leases_lost_total",
            Self::KeysPurged => "turno_keys_purged_total",
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

    /// Everything, with the gauges that the ledger knows.
    pub(crate) fn to_text(&self, queue_depth: usize) -> String {
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
        line("turno_store_queue_depth", u64::try_from(queue_depth).unwrap_or(u64::MAX));
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
        let text = metrics.to_text(0);
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
        let text = metrics.to_text(7);
        for line in [
            "turno_answers_total{code=\"ok\"} 5",
            "turno_answers_total{code=\"idempotency_conflict\"} 1",
            "turno_answer_milliseconds_bucket{le=\"1\"} 3",
            "turno_answer_milliseconds_bucket{le=\"2\"} 4",
            "turno_answer_milliseconds_bucket{le=\"12000\"} 5",
            "turno_answer_milliseconds_bucket{le=\"+Inf\"} 6",
            "turno_store_queue_depth 7",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
        }
    }
}
