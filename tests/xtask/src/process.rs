//! Child processes that write straight to the terminal and whose failure is an error with the command in it.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::tree;

/// A command that runs at the root of the checkout.
pub fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(tree::root());
    command
}

/// Cargo itself, the one that runs us.
pub fn cargo(args: &[&str]) -> Command {
    command(&std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()), args)
}

pub fn npm(args: &[&str]) -> Command {
    let mut npm = command("npm", args);
    npm.current_dir(tree::ui());
    npm
}

/// Runs to the end; anything but success is an error.
pub fn run(command: &mut Command) -> Result<()> {
    let shown = show(command);
    println!("$ {shown}");
    let status = command.status().with_context(|| format!("cannot start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` ended with {status}");
    }
    Ok(())
}

/// True if the program can be found and run and says that it is well.
pub fn succeeds(program: &str, args: &[&str]) -> bool {
    Command::new(program).args(args).output().is_ok_and(|output| output.status.success())
}

/// Looks a program up without running it: asking an X server for its version, say, would start it.
pub fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// As a person would type it: the program by its name, not by where it happens to be.
fn show(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let words = std::iter::once(program.file_name().unwrap_or(program.as_os_str())).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}
