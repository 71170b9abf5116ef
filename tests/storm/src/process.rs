//! Children that speak in lines, and are killed.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// A child that is killed when the value goes, with what it said so far.
pub struct Process {
    child: Child,
    lines: Receiver<String>,
}

impl Process {
    /// Starts this program again with other words.
    pub fn start(program: &Path, words: &[String]) -> Result<Self> {
        let mut child = Command::new(program)
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let out = child.stdout.take().context("its output is a pipe")?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            // A line that the killed child did not finish was seen by nobody.
            for line in BufReader::new(out).split(b'\n').map_while(Result::ok) {
                if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, lines })
    }

    /// The next line, within a time.
    pub fn line(&self, within: Duration) -> Result<String> {
        match self.lines.recv_timeout(within) {
            Ok(line) => Ok(line),
            Err(RecvTimeoutError::Timeout) => bail!("it says nothing for {within:?}"),
            Err(RecvTimeoutError::Disconnected) => bail!("it ended"),
        }
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// `kill -9`, and everything that it had said until then.
    pub fn kill(mut self) -> Result<Vec<String>> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(self.lines.iter().collect())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself; either way there is nothing more to do about it.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
