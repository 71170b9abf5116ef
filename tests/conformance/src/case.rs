//! A case: a rule as an async function, and the rows that it covers.

use std::{future::Future, pin::Pin};

use anyhow::Result;

use crate::{row::Row, sections, stage::Stage};

/// Played where it is called, beside the others: it need not move between threads.
pub type Done = Pin<Box<dyn Future<Output = Result<()>>>>;

#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The rule.
    pub name: &'static str,
    /// The module that it stands in.
    pub section: &'static str,
    pub rows: &'static [Row],
    pub play: fn(Stage) -> Done,
}

/// The server cannot be asked this; says why.
#[derive(Clone, Debug, thiserror::Error)]
#[error("skipped: {0}")]
pub struct Skipped(pub String);

/// All cases, section by section.
pub fn cases() -> Vec<Case> {
    sections::ALL.iter().flat_map(|section| section.iter().copied()).collect()
}

impl Case {
    pub fn title(&self) -> String {
        format!("{}/{}", self.section, self.name)
    }

    /// Whether `word` is a section, a row, or part of the name.
    pub fn is_called(&self, word: &str) -> bool {
        self.section == word
            || self.rows.iter().any(|row| row.as_str() == word)
            || self.title().contains(word)
    }
}

/// The cases of a section: each function with its rows.
macro_rules! section {
    ($section:literal: $($name:ident covers $($row:ident)+;)*) => {
        pub(super) const CASES: &[$crate::case::Case] = &[$($crate::case::Case {
            name: stringify!($name),
            section: $section,
            rows: &[$($crate::row::Row::$row),+],
            play: |stage| Box::pin($name(stage)),
        }),*];
    };
}

pub(crate) use section;
