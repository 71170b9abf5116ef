//! Schemathesis, a program that reads the description of the API and sends whatever it allows and forbids, against a
//! server that is started for it. Nothing may be answered 5xx or other than described.
//!
//! It is installed from the Python package index into a folder of its own under `target`, in the version named here,
//! and plays the same requests each time.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::{process, tree};

/// A newer version may find more; it is changed here, and what it finds is looked at.
const VERSION: &str = "4.32.5";

/// For each operation, beside those that follow from the description alone. More is a matter of minutes.
const EXAMPLES: &str = "25";

const SEED: &str = "20261130";

/// What the description cannot say (a text's normal form, the decimals of a currency, numbers that are too large) is
/// refused although it fits.
const LEFT_OUT: &str = "positive_data_acceptance";

/// Somebody who may do everything, so that the answers are not all 403.
const TOKEN: &str = "everything";

const FIXTURE: &str = r#"{
    "settings": {
        "currency": "PEN", "body_limit_bytes": 65536, "key_retention_days": 30, "similarity_window_s": 600,
        "identifying_fields": ["seat"], "confirmation_token_life_s": 86400, "error_profile": "default",
        "acquirer_visibility_delay_s": 1, "acquirer_webhook_secret": "secret"
    },
    "integrations": [{"company": "A", "integration": "pos"}],
    "credentials": [{
        "token": "everything", "company": "A", "integration": "pos", "environment": "production",
        "rights": ["create", "read", "audit"]
    }]
}"#;

/// `cargo_args` choose the same packages and features as the other test steps, so that nothing is built twice.
pub fn check(cargo_args: &[&str]) -> Result<()> {
    let program = install()?;
    process::run(&mut process::cargo(&[&["build"], cargo_args, &["--bin", "turno-server"]].concat()))?;
    let folder = tree::target().join("schemathesis-run");
    if folder.exists() {
        fs::remove_dir_all(&folder).context("cannot empty the folder of the last run")?;
    }
    fs::create_dir_all(&folder)?;
    let server = Server::start(&folder)?;
    let credential = format!("Authorization: Bearer {TOKEN}");
    let description = format!("{}/openapi.json", server.address);
    let mut run = Command::new(program);
    run.current_dir(&folder).args(["run", &description, "--header", &credential, "--no-color"]);
    run.args(["--seed", SEED, "--max-examples", EXAMPLES, "--generation-database", "none"]);
    run.args(["--exclude-checks", LEFT_OUT, "--warnings", "off"]);
    process::run(&mut run)?;
    server.end()
}

/// The program, installed once for a version.
fn install() -> Result<PathBuf> {
    let folder = tree::target().join(format!("schemathesis-{VERSION}"));
    let program = folder.join("bin/schemathesis");
    // Half an installation has no such file or one that does not start.
    let is_there = program.to_str().is_some_and(|program| process::succeeds(program, &["--version"]));
    if !is_there {
        process::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
        let package = format!("schemathesis=={VERSION}");
        let mut pip = Command::new(folder.join("bin/python"));
        process::run(pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", &package]))?;
    }
    Ok(program)
}

struct Server {
    child: Child,
    address: String,
    log: PathBuf,
}

impl Server {
    fn start(folder: &Path) -> Result<Self> {
        let fixture = folder.join("fixture.json");
        fs::write(&fixture, FIXTURE)?;
        let log = folder.join("server.log");
        let program = tree::target().join("debug/turno-server");
        let mut child = Command::new(&program)
            .args(["serve", "--listen", "127.0.0.1:0", "--database"])
            .arg(format!("sqlite:{}", folder.join("ledger.db").display()))
            .arg("--fixture")
            .arg(&fixture)
            .stdout(Stdio::piped())
            .stderr(fs::File::create(&log)?)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let mut said = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut said)?;
        }
        let address = said.trim().strip_prefix("listening on ").map(str::to_owned).unwrap_or_default();
        let server = Self { child, address, log };
        ensure!(!server.address.is_empty(), "the server did not start: {}", server.said());
        Ok(server)
    }

    /// It must still be there, and no request may have hit a bug that was caught.
    fn end(mut self) -> Result<()> {
        if let Some(status) = self.child.try_wait()? {
            bail!("the server ended with {status}: {}", self.said());
        }
        ensure!(!self.said().contains("panicked"), "a handler panicked: {}", self.said());
        Ok(())
    }

    fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; either way there is nothing more to do about it.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
