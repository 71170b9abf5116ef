//! Many worlds on all processors, and the seeds that failed once.
//!
//! A world lives on one thread from its beginning to its end, so that how many live at a time changes no story. A seed
//! that fails is written down, and every later run plays it first. What a seed leads to changes with what its world
//! can do; whatever it showed then deserves a test of its own as well.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;

use anyhow::{Context, Result};

use crate::world::Outcome;

/// Lives the world of each seed. What comes of it is told as soon as it is known, in no certain order.
pub fn live(
    seeds: impl Iterator<Item = u64> + Send,
    world: impl Fn(u64) -> Outcome + Sync,
    tell: impl Fn(Outcome) + Sync,
) {
    let seeds = Mutex::new(seeds);
    let next = || seeds.lock().unwrap_or_else(PoisonError::into_inner).next();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(seed) = next() {
                    tell(world(seed));
                }
            });
        }
    });
}

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("regressions.txt")
}

/// Seeds that failed once, in the order in which they were found.
pub fn regressions() -> Result<Vec<u64>> {
    let text = fs::read_to_string(file()).context("the file of seeds that failed")?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.parse().with_context(|| format!("{line} is no seed"))).collect()
}

/// Writes down a seed that failed, once.
pub fn remember(seeds: &[u64]) -> Result<()> {
    let known: BTreeSet<u64> = regressions()?.into_iter().collect();
    let mut file = OpenOptions::new().append(true).open(file())?;
    for seed in seeds.iter().filter(|seed| !known.contains(*seed)) {
        writeln!(file, "{seed}")?;
    }
    Ok(())
}
