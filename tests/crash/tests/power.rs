//! A few thousand power cuts in every test run; `cargo xtask crash` makes as many as one likes.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use turno_crash::cuts::{self, Tally};
use turno_crash::disk::Weakness;
use turno_crash::story;

/// Unoptimised, some seconds.
const POINTS: usize = 1_500;
const WEAK_POINTS: usize = 400;
/// So many may go by without damage.
const STORIES: u64 = 20;

fn cut(seeds: std::ops::Range<u64>, points: usize, weakness: Option<Weakness>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let lived = story::live(seed, 6, weakness).unwrap();
        tally.add(cuts::cut(&lived, seed, points).unwrap());
    }
    tally
}

#[test]
fn a_power_cut_at_any_moment_loses_nothing_that_anybody_was_told() {
    let tally = cut(0..4, POINTS / 4, None);
    assert_eq!((tally.acked_lost, tally.corrupt), (0, 0), "{:#?}", tally.examples);
    assert!(tally.states > 100, "the cuts met {} states only", tally.states);
}

#[test]
fn with_fewer_syncs_the_same_cuts_lose_sales_and_damage_nothing() {
    let tally = cut(0..1, WEAK_POINTS, Some(Weakness::Normal));
    assert!(tally.acked_lost > 0, "a commit without a sync went unnoticed in {} cuts", tally.points);
    assert_eq!(tally.corrupt, 0, "{:#?}", tally.examples);
}

#[test]
fn without_syncs_the_same_cuts_damage_the_database() {
    // It takes a cut while the log is written back, which is a short moment of a story.
    let caught = (0..STORIES).any(|seed| cut(seed..seed + 1, WEAK_POINTS, Some(Weakness::Off)).corrupt > 0);
    assert!(caught, "checkpoints without a sync went unnoticed in {STORIES} stories");
}

#[test]
fn one_seed_is_one_story() {
    let [one, other] = [(); 2].map(|()| story::live(3, 6, None).unwrap());
    assert_eq!(format!("{:?}", one.told), format!("{:?}", other.told));
    assert_eq!(one.log.len(), other.log.len());
}
