//! The figures of all days together, and by kind of day.
#![expect(clippy::float_arithmetic, reason = "shares of counts, for people; no money is in them")]
#![expect(clippy::cast_precision_loss, reason = "counts of sales are far below what a float keeps exactly")]

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use crate::verdict::{Judged, Verdict};

/// Of the repeated sales that carry an identifying field, how many must be asked about.
pub const WANTED_RECALL: f64 = 0.98;
/// How many people may be asked for nothing, in a thousand sales.
pub const MOST_NEEDLESS: f64 = 1.0;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub sales: u64,
    pub duplicates: u64,
    pub identifiable: u64,
    pub identifiable_asked: u64,
    pub asked_rightly: u64,
    pub right_candidate: u64,
    pub asked_in_vain: u64,
    pub why_missed: BTreeMap<String, u64>,
    pub why_in_vain: BTreeMap<String, u64>,
}

impl Tally {
    pub fn count(&mut self, judged: &Judged) {
        self.sales += 1;
        let repeated = match &judged.verdict {
            Verdict::Recorded => false,
            Verdict::AskedInVain { signals } => {
                self.asked_in_vain += 1;
                *self.why_in_vain.entry(signals.clone()).or_default() += 1;
                false
            }
            Verdict::AskedRightly { right_candidate } => {
                self.asked_rightly += 1;
                self.right_candidate += u64::from(*right_candidate);
                self.identifiable_asked += u64::from(judged.identifiable);
                true
            }
            Verdict::Missed { why } => {
                *self.why_missed.entry(why.clone()).or_default() += 1;
                true
            }
        };
        self.duplicates += u64::from(repeated);
        self.identifiable += u64::from(repeated && judged.identifiable);
    }

    /// Of the questions, those about a repeated sale. `None`: nothing was asked.
    pub fn precision(&self) -> Option<f64> {
        share(self.asked_rightly, self.asked_rightly + self.asked_in_vain)
    }

    /// Of the repeated sales that carry an identifying field, those asked about.
    pub fn recall(&self) -> Option<f64> {
        share(self.identifiable_asked, self.identifiable)
    }

    pub fn recall_of_all(&self) -> Option<f64> {
        share(self.asked_rightly, self.duplicates)
    }

    pub fn needless_per_1000(&self) -> Option<f64> {
        share(self.asked_in_vain * 1_000, self.sales)
    }

    fn to_json(&self) -> Value {
        json!({
            "sales": self.sales,
            "duplicates": self.duplicates,
            "duplicates_identifiable": self.identifiable,
            "questions": self.asked_rightly + self.asked_in_vain,
            "precision": rounded(self.precision()),
            "recall": rounded(self.recall()),
            "recall_of_all": rounded(self.recall_of_all()),
            "right_candidate": rounded(share(self.right_candidate, self.asked_rightly)),
            "needless_per_1000": rounded(self.needless_per_1000()),
        })
    }
}

/// Every kind of day, and all of them together.
#[derive(Default)]
pub struct Report {
    all: Tally,
    kinds: BTreeMap<String, Tally>,
    /// Kinds that are shown and not in the sums.
    beyond: &'static [&'static str],
}

impl Report {
    pub fn new(beyond: &'static [&'static str]) -> Self {
        Self { beyond, ..Self::default() }
    }

    /// Adds a day; its kind is what stands before the first `-` of its name.
    pub fn add(&mut self, day: &str, judged: &[Judged]) {
        let kind = day.split('-').next().unwrap_or(day);
        let beyond = self.beyond.contains(&kind);
        let tally = self.kinds.entry(kind.to_owned()).or_default();
        for one in judged {
            tally.count(one);
            if !beyond {
                self.all.count(one);
            }
        }
    }

    /// A table and the reasons, for people.
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "{:<20} {:>7} {:>9} {:>9} {:>9} {:>7} {:>11} {:>9}\n",
            "days", "sales", "repeated", "asked", "precision", "recall", "of all", "needless"
        );
        let (beyond, within): (Vec<_>, Vec<_>) = self
            .kinds
            .iter()
            .map(|(name, tally)| (name.as_str(), tally))
            .partition(|(name, _)| self.beyond.contains(name));
        for (name, tally) in within.into_iter().chain([("all", &self.all)]).chain(beyond) {
            writeln!(
                text,
                "{name:<20} {:>7} {:>9} {:>9} {:>9} {:>7} {:>11} {:>9}",
                tally.sales,
                tally.duplicates,
                tally.asked_rightly + tally.asked_in_vain,
                said(tally.precision()),
                said(tally.recall()),
                said(tally.recall_of_all()),
                said(tally.needless_per_1000()),
            )
            .expect("a string takes every write");
        }
        for (title, reasons) in [
            ("Not asked, because of", &self.all.why_missed),
            ("Asked for nothing; equal were", &self.all.why_in_vain),
        ] {
            writeln!(text, "\n{title}:").expect("a string takes every write");
            for (reason, count) in reasons {
                writeln!(text, "{count:>7}  {reason}").expect("a string takes every write");
            }
        }
        text
    }

    /// One line, each figure by name.
    pub fn to_json(&self) -> Value {
        let mut line = self.all.to_json();
        line["missed"] = json!(self.all.why_missed);
        line["kinds"] = self.kinds.iter().map(|(name, tally)| (name.clone(), tally.to_json())).collect();
        line["not_in_the_sums"] = json!(self.beyond);
        line["recall_reached"] = json!(self.all.recall().is_none_or(|recall| recall >= WANTED_RECALL));
        line["needless_reached"] =
            json!(self.all.needless_per_1000().is_none_or(|count| count <= MOST_NEEDLESS));
        line
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn rounded(value: Option<f64>) -> Option<f64> {
    value.map(|value| (value * 10_000.0).round() / 10_000.0)
}

fn said(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(identifiable: bool, verdict: Verdict) -> Judged {
        Judged { identifiable, verdict }
    }

    #[test]
    fn each_figure_counts_what_its_name_says() {
        let mut report = Report::new(&["strange"]);
        report.add(
            "urban-1",
            &[
                judged(false, Verdict::Recorded),
                judged(true, Verdict::AskedInVain { signals: "amount seat".into() }),
                judged(true, Verdict::AskedRightly { right_candidate: true }),
                judged(true, Verdict::AskedRightly { right_candidate: false }),
                judged(true, Verdict::Missed { why: "another amount".into() }),
                judged(false, Verdict::Missed { why: "nothing".into() }),
            ],
        );
        report.add("offline-1", &[judged(true, Verdict::Recorded), judged(true, Verdict::Recorded)]);
        report.add("strange-1", &[judged(true, Verdict::AskedInVain { signals: "amount".into() })]);
        let line = report.to_json();
        for (name, expected) in [
            ("sales", json!(8)),
            ("duplicates", json!(4)),
            ("duplicates_identifiable", json!(3)),
            ("questions", json!(3)),
            ("precision", json!(0.6667)),
            ("recall", json!(0.6667)),
            ("recall_of_all", json!(0.5)),
            ("right_candidate", json!(0.5)),
            ("needless_per_1000", json!(125.0)),
            ("recall_reached", json!(false)),
            ("needless_reached", json!(false)),
        ] {
            assert_eq!(line[name], expected, "{name}");
        }
        assert_eq!(line["kinds"]["offline"]["sales"], 2);
        assert_eq!(line["kinds"]["strange"]["needless_per_1000"], 1_000.0);
        assert_eq!(line["kinds"]["offline"]["precision"], Value::Null, "nothing asked is no precision");
    }
}
