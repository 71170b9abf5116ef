//! `cargo xtask test`: everything that must hold, in the order in which a mistake shows soonest.
//!
//! All cargo calls choose the same packages and features, because another choice would build the window
//! toolkit a second time. The page is built before anything that compiles the shell, which carries it inside.

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::steps::{self, Step};
use crate::{bindings, process, schemathesis, system, ui};

/// With the first, the real-window tests exist; they need the shell's binary, a page and a screen. With the second, the
/// server can be killed at chosen points, and the tests that do so exist.
const FEATURES: &str = "turno-tests/window,turno-server/kill-points";

/// For all tests but those in the window. The choice differs only in a package on which no other depends.
const FEATURES_WITHOUT_WINDOW: &str = "turno-server/kill-points";

const STEPS: &[Step] = &[
    Step { name: "system", about: "system packages", work: system::prepare_for_test },
    Step { name: "format", about: "Rust formatting", work: format },
    Step { name: "packages", about: "the page's packages", work: ui::install },
    Step { name: "ui-lint", about: "lint and formatting of the page", work: || ui::script("lint") },
    Step { name: "ui-types", about: "types of the page", work: || ui::script("check") },
    Step { name: "ui-tests", about: "unit tests of the page", work: || ui::script("test") },
    Step { name: "ui-build", about: "build of the page", work: ui::build },
    Step { name: "clippy", about: "lints of all Rust code, warnings are errors", work: clippy },
    Step { name: "build", about: "all Rust code and tests", work: build },
    Step { name: "bindings", about: "generated TypeScript is current", work: check_bindings },
    Step { name: "window", about: "tests in the real window, on a screen of their own", work: window_tests },
    Step { name: "rust", about: "all other Rust tests", work: rust_tests },
    Step { name: "schemathesis", about: "the server keeps to its description", work: run_schemathesis },
];

#[derive(clap::Args)]
pub struct Args {
    /// Run only these steps, e.g. `--only clippy,rust`. They may need what earlier steps left behind.
    #[arg(long, value_delimiter = ',', value_name = "STEP")]
    only: Vec<String>,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let known = |name: &String| STEPS.iter().any(|step| step.name == name);
    if let Some(unknown) = args.only.iter().find(|name| !known(name)) {
        let names: Vec<_> = STEPS.iter().map(|step| step.name).collect();
        bail!("there is no step `{unknown}`; the steps are {}", names.join(", "));
    }
    let chosen = |step: &&Step| args.only.is_empty() || args.only.iter().any(|name| name == step.name);
    Ok(steps::run(&STEPS.iter().filter(chosen).collect::<Vec<_>>()))
}

fn format() -> Result<()> {
    process::run(&mut process::cargo(&["fmt", "--all", "--check"]))
}

fn clippy() -> Result<()> {
    let targets = ["clippy", "--workspace", "--all-targets", "--features", FEATURES];
    process::run(&mut process::cargo(&[&targets[..], &["--", "--deny", "warnings"]].concat()))
}

fn build() -> Result<()> {
    process::run(&mut process::cargo(&["build", "--workspace", "--all-targets", "--features", FEATURES]))
}

fn check_bindings() -> Result<()> {
    bindings::check(&["--workspace", "--features", FEATURES, "--lib"])
}

fn run_schemathesis() -> Result<()> {
    schemathesis::check(&["--workspace", "--features", FEATURES_WITHOUT_WINDOW])
}

fn window_tests() -> Result<()> {
    process::run(&mut process::cargo(&["test", "--workspace", "--features", FEATURES, "--test", "window"]))
}

fn rust_tests() -> Result<()> {
    // The system step has seen to it: where it is missing all the same, its tests fail instead of being left out.
    let mut tests =
        process::cargo(&["test", "--workspace", "--no-fail-fast", "--features", FEATURES_WITHOUT_WINDOW]);
    process::run(tests.env("TURNO_REQUIRE_POSTGRES", "1"))
}
