//! How fast the server and the till are: every figure beside what it is compared to, in one run on one machine.
//!
//! `cargo xtask bench server` and `cargo xtask bench till` build this program as released and run it. Servers are processes of their own (this
//! program again, see [`side`]) on real sockets, real files and a throw-away PostgreSQL cluster that syncs to the
//! disk. Times of one machine swing by the minute, so the sides take turns (A B A B …), each figure is the median of
//! its turns, and what counts are ratios within a run. The last line on the standard output is one line of JSON.
//!
//! What is missed, from one short run on two nearly idle cores with a disk that syncs in a third of a millisecond:
//!
//! - SQLite, 2.6 times one commit a sale where 10 is wanted: with a sync that short there is little to share. While the
//!   same machine was busy and the disk slow it was 10.7 times.
//! - SQLite, 0.17 of a bare insert where 0.5 is wanted. A creation takes several times the processor time: key, sale
//!   with eight indexes, audit, search, canonical form and its HMAC. It also falls from turn to turn (10 200, 7 700,
//!   7 100 a second), which nobody has looked into.
//! - PostgreSQL, 0.22 of pgbench where 0.6 is wanted. The statements of a batch of four take the database about one
//!   millisecond; what the rest of the time goes to on an idle machine has not been looked into either.
//! - A till beside a returning fleet is never refused and waits behind the fleet's half of the line: 55 ms instead of 1.
//!
//! Invariant: every answer is looked at. A load that is refused measures nothing, so an unexpected status ends the
//! run.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "talking to the person at the terminal is its work"
)]
#![expect(clippy::float_arithmetic, reason = "rates and ratios of what was measured, never money")]

mod figures;
mod history;
mod load;
mod on_postgres;
mod on_sqlite;
mod pgbench;
mod sale;
mod side;
mod till;

use std::{process::ExitCode, sync::Arc, time::Duration};

use anyhow::Result;
use clap::{Args, Parser, Subcommand};

use figures::Figures;

#[derive(Parser)]
#[command(name = "bench", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure the server; ends with one line of JSON.
    Server(Plan),
    /// Measure the till; ends with one line of JSON.
    Till(till::Plan),
    /// One side of a comparison: serves until it is killed.
    Side(side::Side),
    /// New tickets for a side that runs, e.g. to look at it with a profiler.
    Load {
        address: std::net::SocketAddr,
        #[arg(long, default_value_t = on_sqlite::CONNECTIONS)]
        connections: usize,
        #[arg(long, default_value_t = 10_000)]
        turn_ms: u64,
    },
}

/// How long and how much.
#[derive(Args, Clone, Copy, Debug)]
pub struct Plan {
    /// Transactions in the large history. Fewer for a quick look.
    #[arg(long, default_value_t = 5_000_000)]
    history: u64,
    /// Turns of each side.
    #[arg(long, default_value_t = 5)]
    turns: usize,
    /// Length of one turn.
    #[arg(long, default_value_t = 2_000)]
    turn_ms: u64,
    /// Leave PostgreSQL out.
    #[arg(long)]
    without_postgres: bool,
    /// Leave SQLite out.
    #[arg(long)]
    without_sqlite: bool,
}

impl Plan {
    fn turn(&self) -> Duration {
        Duration::from_millis(self.turn_ms)
    }
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Server(plan) => runtime(1).and_then(|runtime| runtime.block_on(measure(plan))),
        Command::Till(plan) => runtime(2).and_then(|runtime| runtime.block_on(measure_till(plan))),
        Command::Load { address, connections, turn_ms } => {
            let length = Duration::from_millis(turn_ms);
            runtime(1).and_then(|runtime| runtime.block_on(burden(address, connections, length)))
        }
        Command::Side(side) => runtime(2).and_then(|runtime| runtime.block_on(side.serve())),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn runtime(threads: usize) -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?)
}

async fn measure(plan: Plan) -> Result<()> {
    let mut figures = Figures::default();
    if !plan.without_sqlite {
        on_sqlite::measure(plan, &mut figures).await?;
    }
    if !plan.without_postgres {
        on_postgres::measure(plan, &mut figures).await?;
    }
    println!("{}", figures.to_json());
    Ok(())
}

async fn measure_till(plan: till::Plan) -> Result<()> {
    let mut figures = Figures::default();
    till::measure(plan, &mut figures).await?;
    println!("{}", figures.to_json());
    Ok(())
}

async fn burden(address: std::net::SocketAddr, connections: usize, length: Duration) -> Result<()> {
    let requests = on_sqlite::first_ones(sale::Kind::Ticket, &Arc::default());
    let turn = load::run(address, connections, length, 201, requests).await?;
    println!("{:.0} a second, p50 {:.0} µs", turn.per_second, turn.p50_micros());
    Ok(())
}
