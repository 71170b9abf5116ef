//! A screen for one test: an X server without a monitor.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::process::Owned;

/// Ends with the value.
pub struct Screen {
    _server: Owned,
    display: String,
}

impl Screen {
    /// Takes a free display number by itself, so that tests do not meet.
    pub fn start(width: u32, height: u32) -> Result<Self> {
        let geometry = format!("{width}x{height}x24");
        let mut command = Command::new("Xvfb");
        command.args(["-displayfd", "1", "-screen", "0", &geometry, "-nolisten", "tcp", "-noreset"]);
        let mut server = Owned::start(command.stdout(Stdio::piped()).stderr(Stdio::null()))?;
        let output = server.child().stdout.take().expect("the output is piped");
        // The number is written when the server is ready for windows.
        let mut number = String::new();
        BufReader::new(output).read_line(&mut number).context("Xvfb does not say its display")?;
        anyhow::ensure!(!number.trim().is_empty(), "Xvfb ended at once");
        Ok(Self { _server: server, display: format!(":{}", number.trim()) })
    }

    pub fn display(&self) -> &str {
        &self.display
    }
}
