//! `cargo xtask run`: from a fresh clone to an open till.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::{process, system, tree, ui};

#[derive(clap::Args)]
pub struct Args {
    /// Keep sales in this folder instead of the user's data folder. Secrets stay in the user's state folder.
    #[arg(long, value_name = "FOLDER")]
    data_dir: Option<PathBuf>,
    /// The language of the screen.
    #[arg(long, value_parser = ["es", "en"])]
    lang: Option<String>,
    /// Go straight to practice: an embedded server and a demo catalog, nothing leaves this machine.
    #[arg(long)]
    practice: bool,
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
    if let Some(folder) = &args.data_dir {
        till.arg("--data-dir").arg(std::path::absolute(folder)?);
    }
    if let Some(language) = &args.lang {
        till.arg("--lang").arg(language);
    }
    if args.practice {
        till.arg("--practice");
    }
    let status = till.status().context("cannot start the till")?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}
