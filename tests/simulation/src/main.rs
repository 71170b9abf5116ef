//! `sim --seeds N [--from S]`: runs worlds and ends with one line of JSON.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks to its terminal")]

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use clap::Parser;
use serde_json::json;
use turno_simulation::crowd;
use turno_simulation::world::{self, Outcome};

/// Every so many seeds run twice, and both runs must tell the same story.
const TWICE_EVERY: u64 = 20;

#[derive(Parser)]
struct Flags {
    #[arg(long, default_value_t = 1_000)]
    seeds: u64,
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Print the story of each world.
    #[arg(long)]
    story: bool,
}

fn main() -> Result<ExitCode> {
    let flags = Flags::parse();
    // What failed once is played first, also when only other seeds are asked for.
    let (range, first) = (flags.from..flags.from + flags.seeds, crowd::regressions()?);
    let later = range.filter(|seed| !first.contains(seed));
    let outcomes = Mutex::new(Vec::new());
    crowd::live(
        first.iter().copied().chain(later),
        |seed| one(seed, flags.story),
        |outcome| outcomes.lock().unwrap_or_else(PoisonError::into_inner).push(outcome),
    );
    report(&flags, &outcomes.into_inner().unwrap_or_else(PoisonError::into_inner))
}

fn one(seed: u64, story: bool) -> Outcome {
    let mut outcome = world::run(seed);
    if seed.is_multiple_of(TWICE_EVERY) && outcome.violation.is_none() {
        let again = world::run(seed);
        if again.digest != outcome.digest {
            outcome.violation = Some(format!("two runs differ: {} and {}", outcome.digest, again.digest));
        }
    }
    if story {
        println!("{}", outcome.story);
    }
    if let Some(violation) = &outcome.violation {
        eprintln!("seed {seed}: {violation}");
    }
    outcome.story.clear();
    outcome
}

fn report(flags: &Flags, outcomes: &[Outcome]) -> Result<ExitCode> {
    let failing: Vec<u64> =
        outcomes.iter().filter(|outcome| outcome.violation.is_some()).map(|outcome| outcome.seed).collect();
    let mut faults: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, count) in outcomes.iter().flat_map(|outcome| &outcome.faults) {
        *faults.entry(name).or_default() += count;
    }
    let sum = |of: fn(&Outcome) -> u64| outcomes.iter().map(of).sum::<u64>();
    let line = json!({
        "seeds": outcomes.len(),
        "from": flags.from,
        "violations": failing.len(),
        "failing_seeds": failing,
        "sales": sum(|outcome| outcome.totals.sales),
        "transactions": sum(|outcome| outcome.totals.transactions),
        "questions": sum(|outcome| outcome.totals.questions),
        "faults": faults,
    });
    println!("{line}");
    crowd::remember(&failing)?;
    Ok(if failing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
