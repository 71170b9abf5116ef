//! `judge [--days FILE] [--per-kind N] [--seed S] [--write FILE]`: judges days and ends with one line of JSON.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks to its terminal")]

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;

use anyhow::{Context, Result};
use clap::Parser;
use turno_judge::day::{self, Days};
use turno_judge::report::Report;
use turno_judge::{days, verdict};

#[derive(Parser)]
struct Flags {
    /// Labelled days as JSON lines, instead of generated ones.
    #[arg(long, conflicts_with_all = ["per_kind", "seed"])]
    days: Option<PathBuf>,
    /// How many days of each kind are generated.
    #[arg(long, default_value_t = 40)]
    per_kind: u32,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write the days that are judged to this file, as JSON lines.
    #[arg(long)]
    write: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Flags::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(flags: &Flags) -> Result<()> {
    let days = match &flags.days {
        Some(path) => {
            let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
            day::read(BufReader::new(file)).with_context(|| format!("in {}", path.display()))?
        }
        None => days::generate(flags.seed, flags.per_kind),
    };
    if let Some(path) = &flags.write {
        write(&days, path).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let beyond = if flags.days.is_some() { &[] } else { days::BEYOND };
    let report = judge(&days, beyond)?;
    println!("{}", report.to_text());
    println!("{}", report.to_json());
    Ok(())
}

fn write(days: &Days, path: &PathBuf) -> Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for line in days.values().flatten() {
        serde_json::to_writer(&mut file, line)?;
        file.write_all(b"\n")?;
    }
    Ok(file.flush()?)
}

/// Days know nothing of each other, so each processor takes the next one.
fn judge(days: &Days, beyond: &'static [&'static str]) -> Result<Report> {
    let (waiting, report) = (Mutex::new(days.iter()), Mutex::new(Report::new(beyond)));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || -> Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        loop {
            let Some((name, lines)) = waiting.lock().expect("nothing panics with it").next() else {
                return Ok(());
            };
            let judged = runtime.block_on(verdict::judge(lines))?;
            report.lock().expect("nothing panics with it").add(name, &judged);
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a worker does not panic"))
    })?;
    report.into_inner().context("nothing panics with it")
}
