//! `cargo xtask bench`: what is measured, beside what it is compared to.

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use crate::{process, system, ui};

#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// The till on this machine's disk, and a fleet in simulated time; takes some minutes.
    Till {
        /// Sales that the large till holds, fewer for a quick look.
        #[arg(long, default_value_t = 1_000_000)]
        sales: u64,
        /// Passed on to the bench; `-- --help` lists what it takes.
        #[arg(last = true)]
        rest: Vec<String>,
    },
    /// The server on both of its stores. Needs PostgreSQL, pgbench included; takes some minutes.
    Server {
        /// Transactions in the large history, fewer for a quick look.
        #[arg(long, default_value_t = 5_000_000)]
        history: u64,
        /// Passed on to the bench; `-- --help` lists what it takes.
        #[arg(last = true)]
        rest: Vec<String>,
    },
    /// The real window beside an empty one. Needs what the tests in the real window need.
    Ui {
        /// Passed on to the bench; `-- --help` lists what it takes.
        #[arg(last = true)]
        rest: Vec<String>,
    },
}

/// Optimised as a release is.
const BUILD: [&str; 7] = ["run", "--quiet", "--profile", "measured", "--package", "turno-bench", "--"];

pub fn run(args: &Args) -> Result<ExitCode> {
    let (words, rest) = match &args.what {
        What::Till { sales, rest } => {
            (vec!["till".to_owned(), "--sales".to_owned(), sales.to_string()], rest)
        }
        What::Server { history, rest } => {
            (vec!["server".to_owned(), "--history".to_owned(), history.to_string()], rest)
        }
        What::Ui { rest } => {
            build_windows()?;
            (vec!["ui".to_owned()], rest)
        }
    };
    let words: Vec<_> = BUILD.into_iter().chain(words.iter().chain(rest).map(String::as_str)).collect();
    process::run(&mut process::cargo(&words))?;
    Ok(ExitCode::SUCCESS)
}

/// The till with its page, and the empty window that it is compared to.
fn build_windows() -> Result<()> {
    system::prepare_for_test()?;
    ui::install()?;
    ui::build()?;
    let windows = ["--package", "turno", "--bin", "turno", "--example", "empty_window"];
    process::run(&mut process::cargo(&[["build", "--profile", "measured"].as_slice(), &windows].concat()))
}
