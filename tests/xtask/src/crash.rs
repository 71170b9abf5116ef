//! `cargo xtask crash`: cuts the power under the till's real database, at as many points as one likes.

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// How many power cuts; the weak settings, which must be caught, get a tenth.
    #[arg(long, default_value_t = 50_000)]
    points: u64,
    /// The first story's number.
    #[arg(long, default_value_t = 0)]
    from: u64,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let (points, from) = (args.points.to_string(), args.from.to_string());
    let mut words = vec!["run", "--quiet", "--package", "turno-crash", "--"];
    words.extend(["--points", &points, "--from", &from]);
    // It has said what was lost; its last line stays the last.
    let status = process::cargo(&words).status().context("cannot start the cuts")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
