//! Where PostgreSQL's programs are, and as whom they run.

use std::{
    env,
    fs::read_dir,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

/// Where Debian keeps one folder a version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// Whom root becomes.
const UNPRIVILEGED: [&str; 2] = ["postgres", "nobody"];

pub struct Programs {
    folder: PathBuf,
    /// Set for root.
    user: Option<User>,
}

/// By their numbers: a user's group need not have the user's name.
struct User {
    id: String,
    group: String,
}

impl Programs {
    /// The newest; `None` where there are none.
    pub fn find() -> Result<Option<Self>> {
        let Some(folder) = folder() else { return Ok(None) };
        let user = if is_root()? { Some(unprivileged()?) } else { None };
        Ok(Some(Self { folder, user }))
    }

    pub fn command(&self, name: &str) -> Command {
        let program = self.folder.join(name);
        match &self.user {
            None => Command::new(program),
            Some(User { id, group }) => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid", id, "--regid", group, "--clear-groups", "--"]).arg(program);
                // Root's own folder is closed to it.
                command.current_dir("/");
                command
            }
        }
    }

    /// Let whoever the programs run as write in `folder`.
    pub fn hand_over(&self, folder: &Path) -> Result<()> {
        let Some(User { id, .. }) = &self.user else { return Ok(()) };
        let done = Command::new("chown").arg(id).arg(folder).status().context("cannot run chown")?;
        ensure!(done.success(), "chown to {id} failed");
        Ok(())
    }
}

fn folder() -> Option<PathBuf> {
    let has_all = |folder: &PathBuf| {
        ["initdb", "pg_ctl", "createdb", "psql"].iter().all(|name| folder.join(name).exists())
    };
    let version = |folder: &PathBuf| folder.file_name()?.to_str()?.parse::<u32>().ok();
    let mut versions: Vec<_> =
        read_dir(DEBIAN).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    versions.sort_by_key(version);
    let debian = versions.into_iter().rev().map(|folder| folder.join("bin"));
    let path = env::var_os("PATH").unwrap_or_default();
    debian.chain(env::split_paths(&path)).find(has_all)
}

fn is_root() -> Result<bool> {
    Ok(id(&["-u"])?.as_deref() == Some("0"))
}

fn unprivileged() -> Result<User> {
    for name in UNPRIVILEGED {
        if let (Some(id), Some(group)) = (id(&["-u", name])?, id(&["-g", name])?) {
            return Ok(User { id, group });
        }
    }
    anyhow::bail!("there is no user whom root could become: none of {UNPRIVILEGED:?}")
}

/// What `id` prints; `None` if it knows no such user.
fn id(arguments: &[&str]) -> Result<Option<String>> {
    let output = Command::new("id").args(arguments).output().context("cannot run id")?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok(output.status.success().then_some(text))
}
