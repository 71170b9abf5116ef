//! `cargo xtask storm`: a real till and a real server with a bad line between them, killed again and again.

use std::process::ExitCode;

use anyhow::Result;

use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// How often the till is killed.
    #[arg(long, default_value_t = 100)]
    kills: u32,
    /// What the chances are drawn from. The same seed is the same plan, not the same story: processes and sockets have
    /// chances of their own.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let (kills, seed) = (args.kills.to_string(), args.seed.to_string());
    let words = ["run", "--quiet", "--profile", "sim", "--package", "turno-storm", "--", "run"];
    process::run(&mut process::cargo(&[&words[..], &["--kills", &kills, "--seed", &seed]].concat()))?;
    Ok(ExitCode::SUCCESS)
}
