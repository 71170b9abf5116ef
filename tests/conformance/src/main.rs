//! The suite as a program: point it at a server and give it the fixture that the server was started with.
#![expect(clippy::print_stdout, reason = "talking to the person at the terminal is its work")]

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, Result, bail};
use clap::Parser;
use turno_conformance::{Case, Fixture, Report, Row, Target, cases, run, unprovokable};

#[derive(Debug, Parser)]
#[command(about = "Hold a server against the YUPY contract")]
struct Args {
    /// Only these cases: a section, a row (`G5`, `"§6 other seat"`), or part of a name.
    words: Vec<String>,

    #[arg(long, default_value = "http://127.0.0.1:8080")]
    base_url: String,

    /// The file that the server was started with. It has tokens, so it is for servers under test only.
    #[arg(long)]
    fixture: Option<PathBuf>,

    /// Print the cases with the rows that they cover, and stop.
    #[arg(long)]
    list: bool,
}

#[tokio::main]
async fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let is_chosen = |case: &Case| args.words.is_empty() || args.words.iter().any(|word| case.is_called(word));
    let chosen: Vec<_> = cases().into_iter().filter(is_chosen).collect();
    if chosen.is_empty() {
        bail!("no case is called {:?}; --list names them", args.words);
    }
    if args.list {
        list(&chosen);
        return Ok(ExitCode::SUCCESS);
    }
    let path = args.fixture.context("--fixture FILE is needed: it says who may ask")?;
    let fixture = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let target = Target::new(&args.base_url, Fixture::parse(&fixture)?)?;
    let report = run(&target, chosen).await;
    Ok(tell(&report))
}

fn list(chosen: &[Case]) {
    for case in chosen {
        let rows: Vec<_> = case.rows.iter().map(|row| row.as_str()).collect();
        println!("{}\n    {}", case.title(), rows.join(", "));
    }
    for (row, why) in Row::ALL.iter().filter_map(|row| Some((row, unprovokable(*row)?))) {
        println!("{row}\n    not provokable from outside: {why}");
    }
    println!("{} cases", chosen.len());
}

fn tell(report: &Report) -> ExitCode {
    print!("{report}");
    println!("{}", report.to_json());
    if report.failed().next().is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
