//! `cargo xtask run`: from a fresh clone to an open till.

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::{process, system, tree, ui};

#[derive(clap::Args)]
pub struct Args {
    /// The till's own options, e.g. `--practice`, `--kiosk`, `--data-dir FOLDER`, `--lang en`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<String>,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    println!("== system packages");
    system::prepare_for_run()?;
    println!("\n== the page");
    ui::install()?;
    ui::build()?;
    println!("\n== the till (the first build takes some minutes)");
    process::run(&mut process::cargo(&["build", "--package", "turno"]))?;
    println!("\n== open");
    open(args)
}

/// The till's own exit code is ours.
fn open(args: &Args) -> Result<ExitCode> {
    let mut till = process::command(&tree::target().join("debug/turno").to_string_lossy(), &[]);
    // A folder that was typed is meant from where the person stands.
    till.args(&args.options).current_dir(std::env::current_dir()?);
    let status = till.status().context("cannot start the till")?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}
