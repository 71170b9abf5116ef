//! The commands of the project. `cargo xtask run` opens the till, `cargo xtask test` checks everything.
//!
//! One module a command: its `Args`, and a `run` that tells what it is doing as it goes. A command that measures
//! ends with one line of JSON on standard output, so that a program can compare its figures; everything else
//! that it says comes before that line. A new command is a new module and a line in [`Command`].
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "talking to the person at the terminal is its work"
)]

mod bench;
mod bindings;
mod contract;
mod crash;
mod judge;
mod process;
mod run;
mod schemathesis;
mod sim;
mod steps;
mod storm;
mod system;
mod test;
mod tree;
mod ui;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The commands of the project", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Set everything up and open the till.
    Run(run::Args),
    /// Check everything, as CI does.
    Test(test::Args),
    /// Hold any server against the YUPY contract; ends with one line of JSON.
    Contract(contract::Args),
    /// Run worlds in which everything goes wrong; ends with one line of JSON.
    Sim(sim::Args),
    /// Kill a real till on a bad line to a real server; ends with one line of JSON.
    Storm(storm::Args),
    /// Cut the power under the till's database; ends with one line of JSON.
    Crash(crash::Args),
    /// Judge the question about possible duplicates on labelled days; ends with one line of JSON.
    Judge(judge::Args),
    /// Measure speed beside what it is compared to; ends with one line of JSON.
    Bench(bench::Args),
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Contract(args) => contract::run(&args),
        Command::Sim(args) => sim::run(&args),
        Command::Storm(args) => storm::run(&args),
        Command::Crash(args) => crash::run(&args),
        Command::Judge(args) => judge::run(&args),
        Command::Bench(args) => bench::run(&args),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}
