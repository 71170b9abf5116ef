//! How fast the server and the till are: every figure beside what it is compared to, in one run on one machine.
//!
//! `cargo xtask bench server`, `… till` and `… ui` build this program as released and run it. Servers are
//! processes of their own (this program again, see [`side`]) on real sockets, real files and a throw-away PostgreSQL
//! cluster that syncs to the disk. Times of one machine swing by the minute, so the sides take turns (A B A B …), each figure is the median of
//! its turns, and what counts are ratios within a run. The last line on the standard output is one line of JSON.
//!
//! What was seen in a whole run on two idle cores, whose disk syncs in 0.37 ms, and what limits what was missed.
//! Instructions do not depend on what else runs; they are counted for a new ticket in an almost empty ledger.
//!
//! - Reached: a creation behind a history of 5 million costs what it costs behind 10 thousand (1.00 times on SQLite, 1.01
//!   on PostgreSQL; they are filled in 75 and 196 s), memory (0.37 and 0.13 of 150 MiB), a replay on SQLite (2.9 times
//!   as fast as a creation), equal fares of a busy day (1.15 and 1.01).
//! - A replay on PostgreSQL, 1.47 times as fast where 1.5 is wanted: both are one batch's exchanges and its commit.
//! - SQLite, 2.9 times one commit a sale where 10 is wanted: with a sync that short there is little to share. On a busy
//!   machine with a slow disk it was 7.8 and 10.7 times.
//! - SQLite, 0.21 of a bare insert where 0.5 is wanted. A creation takes 507 000 instructions and a bare insert 84 000.
//!   The statements of the contract alone (key, sale with eight indexes, audit, search) take 190 000 of them, more than
//!   the 168 000 that half the speed leaves for everything. A quarter of that is savepoints, without which one
//!   request's error would be everybody's.
//! - PostgreSQL, 0.20 of pgbench where 0.6 is wanted: 4 200 a second beside 21 500. In batches of 32 the statements take
//!   the database 87 µs a creation: 28 the sale, 20 the search by seat, 16 the keys, 12 the audit. The rest is the six
//!   exchanges of a batch, its commit and the server's own work. They come one after the other, because a company has
//!   one batch at a time, while pgbench keeps both cores busy.
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
mod ui;

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
    /// Measure the real window; ends with one line of JSON.
    Ui(ui::Plan),
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
        Command::Ui(plan) => runtime(1).and_then(|runtime| runtime.block_on(measure_ui(plan))),
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

async fn measure_ui(plan: ui::Plan) -> Result<()> {
    let mut figures = Figures::default();
    ui::measure(plan, &mut figures).await?;
    println!("{}", figures.to_json());
    Ok(())
}

async fn burden(address: std::net::SocketAddr, connections: usize, length: Duration) -> Result<()> {
    let requests = on_sqlite::first_ones(sale::Kind::Ticket, &Arc::default());
    let turn = load::run(address, connections, length, 201, requests).await?;
    println!("{:.0} a second, p50 {:.0} µs", turn.per_second, turn.p50_micros());
    Ok(())
}
