//! `cargo xtask sim`: thousands of worlds in which everything goes wrong, in simulated time.

use std::process::ExitCode;

use anyhow::Result;

use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// How many worlds.
    #[arg(long, default_value_t = 10_000)]
    seeds: u64,
    /// The first world's number.
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Print what happened in each world.
    #[arg(long)]
    story: bool,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let (seeds, from) = (args.seeds.to_string(), args.from.to_string());
    let mut words = vec!["run", "--quiet", "--profile", "sim", "--package", "turno-simulation", "--"];
    words.extend(["--seeds", &seeds, "--from", &from]);
    if args.story {
        words.push("--story");
    }
    process::run(&mut process::cargo(&words))?;
    Ok(ExitCode::SUCCESS)
}
