//! `cargo xtask bench`: what is measured, beside what it is compared to.

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use crate::process;

#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// The server on both of its stores. Needs PostgreSQL, pgbench included; takes some minutes.
    Server {
        /// Transactions in the large history, fewer for a quick look.
        #[arg(long, default_value_t = 5_000_000)]
        history: u64,
        /// Passed on to the bench; `-- --help` lists what it takes.
        #[arg(last = true)]
        rest: Vec<String>,
    },
}

/// Optimised as a release is.
const BUILD: [&str; 7] = ["run", "--quiet", "--profile", "measured", "--package", "turno-bench", "--"];

pub fn run(args: &Args) -> Result<ExitCode> {
    match &args.what {
        What::Server { history, rest } => {
            let history = history.to_string();
            let rest = rest.iter().map(String::as_str);
            let words: Vec<_> =
                BUILD.into_iter().chain(["server", "--history", &history]).chain(rest).collect();
            process::run(&mut process::cargo(&words))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
