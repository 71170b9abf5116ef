//! `cargo xtask contract`: the conformance suite against a server that is running somewhere.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// Only these cases: a section, a row (`G5`, `"§6 other seat"`), or part of a name.
    words: Vec<String>,
    /// Where the server listens.
    #[arg(long, default_value = "http://127.0.0.1:8080")]
    base_url: String,
    /// The file that the server was started with (`turno-server serve --fixture FILE`). The suite's own is
    /// `tests/conformance/fixture.json`.
    #[arg(long, value_name = "FILE", default_value = OWN_FIXTURE)]
    fixture: PathBuf,
    /// Print the cases with the rows that they cover, and stop.
    #[arg(long)]
    list: bool,
}

/// From the root of the checkout, where the suite runs.
const OWN_FIXTURE: &str = "tests/conformance/fixture.json";

pub fn run(args: &Args) -> Result<ExitCode> {
    let fixture = whole(&args.fixture)?;
    let mut words = vec!["run", "--quiet", "--package", "turno-conformance", "--"];
    words.extend(["--base-url", &args.base_url, "--fixture", &fixture]);
    if args.list {
        words.push("--list");
    }
    words.extend(args.words.iter().map(String::as_str));
    // The suite has said what failed; its last line stays the last.
    let status = process::cargo(&words).status().context("cannot start the suite")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The suite runs at the root of the checkout, and the path was typed somewhere else.
fn whole(path: &Path) -> Result<String> {
    let path = if path == Path::new(OWN_FIXTURE) { path.to_owned() } else { std::path::absolute(path)? };
    path.into_os_string().into_string().ok().context("the path of the fixture is not Unicode")
}
