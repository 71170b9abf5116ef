//! `cargo xtask judge`: is the question about a possible duplicate worth asking? On days of which the truth is known.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// Labelled days as JSON lines: `{"day", "sale": <create body>, "is": "new" | "duplicate_of:<external id>"}`.
    #[arg(long)]
    days: Option<PathBuf>,
    /// Everything behind `--` goes to the judge, e.g. `--per-kind 4`, `--seed 7`, `--write FILE`.
    #[arg(last = true)]
    rest: Vec<String>,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let words = ["run", "--quiet", "--profile", "sim", "--package", "turno-judge", "--"];
    let mut command = process::cargo(&words);
    if let Some(days) = &args.days {
        // The judge runs at the top of the project, the person may be elsewhere.
        command.arg("--days").arg(std::path::absolute(days)?);
    }
    command.args(&args.rest);
    process::run(&mut command)?;
    Ok(ExitCode::SUCCESS)
}
