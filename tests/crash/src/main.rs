//! `crash --points N`: cuts the power N times and ends with one line of JSON.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks to its terminal")]

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use clap::Parser;
use serde_json::{Value, json};
use turno_crash::cuts::{self, Tally};
use turno_crash::disk::Weakness;
use turno_crash::story;

#[derive(Parser)]
struct Flags {
    #[arg(long, default_value_t = 50_000)]
    points: u64,
    /// The first story's number.
    #[arg(long, default_value_t = 0)]
    from: u64,
}

/// Presses of *Cobrar* in a story.
const SALES: usize = 8;
/// Cuts in a story: about every position with about every kind of loss.
const POINTS_OF_A_STORY: u64 = 2_000;
/// The weak settings fail often enough to be seen in a part of the points.
const WEAK_PART: u64 = 10;

fn main() -> Result<ExitCode> {
    let flags = Flags::parse();
    let full = run(flags.from, flags.points, None)?;
    let weak = (flags.points / WEAK_PART).max(POINTS_OF_A_STORY);
    let normal = run(flags.from, weak, Some(Weakness::Normal))?;
    let off = run(flags.from, weak, Some(Weakness::Off))?;
    for example in &full.examples {
        eprintln!("{example}");
    }
    let mut line = figures(&full);
    line["normal"] = figures(&normal);
    line["off"] = figures(&off);
    println!("{line}");
    // What cannot fail proves nothing: the weak settings must be caught.
    let holds = full.acked_lost == 0 && full.corrupt == 0 && normal.acked_lost > 0 && off.corrupt > 0;
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn figures(tally: &Tally) -> Value {
    json!({
        "points": tally.points,
        "acked_lost": tally.acked_lost,
        "corrupt": tally.corrupt,
        "states": tally.states,
    })
}

/// Story after story on all processors, until there are enough points.
fn run(from: u64, points: u64, weakness: Option<Weakness>) -> Result<Tally> {
    let stories = points.div_ceil(POINTS_OF_A_STORY);
    let next = AtomicU64::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || -> Result<Tally> {
        let mut tally = Tally::default();
        loop {
            let story = next.fetch_add(1, Ordering::Relaxed);
            if story >= stories {
                return Ok(tally);
            }
            let share = POINTS_OF_A_STORY.min(points - story * POINTS_OF_A_STORY);
            let lived = story::live(from + story, SALES, weakness)?;
            tally.add(cuts::cut(&lived, from + story, usize::try_from(share)?)?);
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let mut all = Tally::default();
        for thread in threads {
            all.add(thread.join().expect("a worker does not panic")?);
        }
        Ok(all)
    })
}
