//! Secrets that the program is told.
//!
//! Invariant: they come from a file or from the environment, never from the command line, which everybody on the
//! machine can read.

use std::path::Path;

use anyhow::{Context, bail, ensure};
use turno_protocol::secret::Secret;
use turno_server::tls::is_open_to_all;

/// A shorter one can be guessed.
const SHORTEST: usize = 16;

/// The secret in `file` or, without one, in the environment's `variable`. `None`: in neither.
pub(super) fn read(file: Option<&Path>, variable: &str) -> anyhow::Result<Option<Secret>> {
    let from_environment = std::env::var(variable).ok().filter(|text| !text.is_empty());
    let (text, place) = match (file, from_environment) {
        (Some(_), Some(_)) => bail!("a secret is both in a file and in {variable}: which one counts?"),
        (Some(file), None) => (read_private(file)?, file.display().to_string()),
        (None, Some(text)) => (text, variable.to_owned()),
        (None, None) => return Ok(None),
    };
    let secret = text.trim();
    ensure!(secret.len() >= SHORTEST, "the secret in {place} has fewer than {SHORTEST} characters");
    Ok(Some(Secret::new(secret)))
}

/// The text of a file that is not everybody's.
pub(super) fn read_private(file: &Path) -> anyhow::Result<String> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {shown}"))?;
    ensure!(!is_open_to_all(file), "{shown} is open to everybody on this machine: take their rights away");
    Ok(text)
}
