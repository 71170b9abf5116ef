//! `storm run --kills N`: ends with one line of JSON. The other commands are the processes that it starts and kills.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks to its terminal")]

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use turno_storm::{driver, server, till};

#[derive(Parser)]
struct Flags {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The whole story.
    Run(driver::Plan),
    /// The till; sells until it is killed.
    Till(till::Plan),
    /// The server; serves until it is killed.
    Server(server::Plan),
}

fn main() -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    match Flags::parse().command {
        Command::Run(plan) => {
            let outcome = driver::run(&plan, &std::env::current_exe()?)?;
            for violation in &outcome.violations {
                eprintln!("{violation}");
            }
            println!("{}", outcome.to_json());
            Ok(if outcome.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        Command::Till(plan) => {
            runtime.block_on(till::run(&plan))?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Server(plan) => {
            runtime.block_on(server::run(&plan))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}
