//! A handful of worlds in every test run; `cargo xtask sim` runs thousands.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::Mutex;

use turno_simulation::crowd;
use turno_simulation::sabotage::Sabotage;
use turno_simulation::world;

/// Unoptimised, on two idle processors, about a minute.
const WORLDS: u64 = 400;

#[test]
fn every_world_converges_and_nothing_is_lost_doubled_or_decided_by_a_program() {
    let failed = Mutex::new(Vec::new());
    let seeds = crowd::regressions().unwrap().into_iter().chain(0..WORLDS);
    crowd::live(seeds, world::run, |outcome| {
        if let Some(violation) = outcome.violation {
            failed.lock().unwrap().push(format!("seed {}: {violation}\n{}", outcome.seed, outcome.story));
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} failed, first {}", failed.len(), failed[0]);
}

#[test]
fn one_seed_is_one_story() {
    for seed in 0..5 {
        assert_eq!(world::run(seed).digest, world::run(seed).digest, "seed {seed}");
    }
}

/// How many worlds a bug may survive.
const CAUGHT_WITHIN: u64 = 200;

#[test]
fn every_deliberate_bug_is_caught() {
    for sabotage in Sabotage::ALL {
        let caught =
            (0..CAUGHT_WITHIN).find(|seed| world::run_with(*seed, Some(sabotage)).violation.is_some());
        assert!(caught.is_some(), "{sabotage:?} went unnoticed in {CAUGHT_WITHIN} worlds");
    }
}
