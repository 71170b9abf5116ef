//! What became of the cases.

use std::{collections::BTreeSet, fmt};

use serde_json::{Value, json};

use crate::{case::Case, row::Row};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    /// Says why.
    Failed(String),
    /// Says what the fixture lacks.
    Skipped(String),
}

#[derive(Clone, Debug)]
pub struct Report {
    /// In the order of the suite.
    pub cases: Vec<(Case, Verdict)>,
}

impl Report {
    pub fn failed(&self) -> impl Iterator<Item = (&Case, &str)> {
        self.cases.iter().filter_map(|(case, verdict)| match verdict {
            Verdict::Failed(why) => Some((case, why.as_str())),
            Verdict::Passed | Verdict::Skipped(_) => None,
        })
    }

    fn count(&self, is_counted: impl Fn(&Verdict) -> bool) -> usize {
        self.cases.iter().filter(|(_, verdict)| is_counted(verdict)).count()
    }

    /// Rows with a case that passed.
    pub fn covered(&self) -> BTreeSet<Row> {
        let passed = self.cases.iter().filter(|(_, verdict)| *verdict == Verdict::Passed);
        passed.flat_map(|(case, _)| case.rows.iter().copied()).collect()
    }

    /// One line for programs.
    pub fn to_json(&self) -> Value {
        json!({
            "passed": self.count(|verdict| *verdict == Verdict::Passed),
            "failed": self.failed().count(),
            "skipped": self.count(|verdict| matches!(verdict, Verdict::Skipped(_))),
            "rows_covered": self.covered().iter().map(|row| row.as_str()).collect::<Vec<_>>(),
        })
    }
}

/// What did not pass, for people.
impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (case, verdict) in &self.cases {
            match verdict {
                Verdict::Passed => {}
                Verdict::Failed(why) => writeln!(formatter, "FAILED  {}\n        {why}", case.title())?,
                Verdict::Skipped(why) => writeln!(formatter, "skipped {}\n        {why}", case.title())?,
            }
        }
        Ok(())
    }
}
