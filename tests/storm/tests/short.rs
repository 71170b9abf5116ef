//! A short storm in every test run; `cargo xtask storm` rages longer.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::path::Path;

use turno_storm::driver::{self, Plan};

const PROGRAM: &str = env!("CARGO_BIN_EXE_storm");

fn storm(kills: u32, new_ids: bool) -> driver::Outcome {
    driver::run(&Plan { kills, seed: 7, new_ids }, Path::new(PROGRAM)).unwrap()
}

#[test]
fn a_till_that_is_killed_on_a_bad_line_loses_and_doubles_nothing() {
    let outcome = storm(20, false);
    assert!(outcome.violations.is_empty(), "{:#?}\n{}", outcome.violations, outcome.to_json());
    let (found, pages) = (&outcome.found, &outcome.found.pages);
    assert!(found.acknowledged.len() > 20, "somebody sold: {}", outcome.to_json());
    assert!(found.till.len() >= found.acknowledged.len());
    assert!(pages.faults.len() >= 5, "the line was bad: {}", outcome.to_json());
}

#[test]
fn a_till_that_takes_each_attempt_for_a_new_sale_is_found_out() {
    let outcome = storm(6, true);
    assert!(outcome.violations.iter().any(|violation| violation.contains("nobody sold it")), "{outcome:?}");
}
