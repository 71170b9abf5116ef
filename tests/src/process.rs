//! Processes that end with the test.

use std::fs;
use std::process::{Child, Command};

use anyhow::{Context, Result};

use crate::wait::until;

/// A child that is killed, and waited for, when the value goes.
pub struct Owned(Child);

impl Owned {
    pub fn start(command: &mut Command) -> Result<Self> {
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command.spawn().with_context(|| format!("cannot start {program}"))?;
        Ok(Self(child))
    }

    pub fn child(&mut self) -> &mut Child {
        &mut self.0
    }

    pub fn id(&self) -> u32 {
        self.0.id()
    }

    pub fn has_ended(&mut self) -> Result<bool> {
        Ok(self.0.try_wait()?.is_some())
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // It may have ended by itself; either way there is nothing more to do about it.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// The process that `parent` started under this name.
pub fn child_named(parent: u32, name: &str) -> Result<Option<u32>> {
    for entry in fs::read_dir("/proc")? {
        let Ok(id) = entry?.file_name().to_string_lossy().parse() else { continue };
        if let Some(status) = Status::of(id)
            && status.parent == parent
            && status.name == name
        {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// A process, its children, and theirs.
pub fn family(oldest: u32) -> Vec<u32> {
    let all: Vec<(u32, u32)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_string_lossy().parse().ok())
        .filter_map(|id| Some((id, Status::of(id)?.parent)))
        .collect();
    let mut family = vec![oldest];
    let mut seen = 0;
    while let Some(&parent) = family.get(seen) {
        family.extend(all.iter().filter(|(_, of)| *of == parent).map(|(id, _)| *id));
        seen += 1;
    }
    family
}

/// `kill -9`, and waits until nothing of the process is left but its exit code.
pub async fn kill(id: u32) -> Result<()> {
    let status = Command::new("kill").args(["-9", &id.to_string()]).status()?;
    anyhow::ensure!(status.success(), "kill -9 {id} ended with {status}");
    until("the killed process is gone", async || {
        Ok(Status::of(id).is_none_or(|status| status.is_zombie).then_some(()))
    })
    .await
}

struct Status {
    name: String,
    parent: u32,
    is_zombie: bool,
}

impl Status {
    /// Nothing if there is no such process (any more).
    fn of(id: u32) -> Option<Self> {
        // `1234 (name) S 1 …`; the name may contain anything, a closing bracket included.
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let (before, after) = stat.rsplit_once(')')?;
        let mut rest = after.split_ascii_whitespace();
        let state = rest.next()?;
        let parent = rest.next()?.parse().ok()?;
        Some(Self { name: before.split_once('(')?.1.to_owned(), parent, is_zombie: state == "Z" })
    }
}
