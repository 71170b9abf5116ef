//! A handful of worlds in every test run; `cargo xtask sim` runs thousands.

use turno_simulation::sabotage::Sabotage;
use turno_simulation::world;

/// Seeds that failed once. They stay.
const REGRESSIONS: &[u64] = &[];

/// Enough to meet every kind of fault; unoptimised they take some seconds.
const WORLDS: u64 = 60;

#[test]
fn every_world_converges_and_nothing_is_lost_doubled_or_decided_by_a_program() {
    for seed in REGRESSIONS.iter().copied().chain(0..WORLDS) {
        let outcome = world::run(seed);
        assert!(
            outcome.violation.is_none(),
            "seed {seed}: {}\n{}",
            outcome.violation.unwrap_or_default(),
            outcome.story
        );
    }
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
