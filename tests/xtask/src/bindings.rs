//! The TypeScript that is generated from the till's view: what is committed must be what the Rust types say.
//!
//! It is generated into a folder of its own and compared, so that a check never edits the tree and a file that no
//! type makes any more is found too.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::{process, tree};

/// `cargo_args` choose the same packages and features as the other test steps, so that nothing is built twice.
pub fn check(cargo_args: &[&str]) -> Result<()> {
    let fresh = tree::target().join("bindings");
    if fresh.exists() {
        fs::remove_dir_all(&fresh).context("cannot empty the folder for fresh bindings")?;
    }
    let mut export = process::cargo(&[&["test", "--quiet"], cargo_args, &["export_bindings"]].concat());
    process::run(export.env("TS_RS_EXPORT_DIR", &fresh))?;

    let differences = differences(&read(&tree::bindings())?, &read(&fresh)?);
    if differences.is_empty() {
        println!("the committed bindings are current");
        return Ok(());
    }
    bail!(
        "the bindings are not those of the Rust types; run `cargo test -p turno-till export_bindings`, remove what is \
         left over and commit:\n{}",
        differences.join("\n")
    )
}

type Files = BTreeMap<String, Vec<u8>>;

fn read(folder: &Path) -> Result<Files> {
    let mut files = Files::new();
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            files.insert(entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?);
        }
    }
    Ok(files)
}

fn differences(committed: &Files, fresh: &Files) -> Vec<String> {
    let gone = committed.keys().filter(|name| !fresh.contains_key(*name));
    let left_over = gone.map(|name| format!("  {name}: no type makes it any more"));
    let changed = fresh.iter().filter_map(|(name, content)| match committed.get(name) {
        None => Some(format!("  {name}: missing")),
        Some(old) if old != content => Some(format!("  {name}: differs")),
        Some(_) => None,
    });
    left_over.chain(changed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(pairs: &[(&str, &str)]) -> Files {
        pairs.iter().map(|(name, content)| ((*name).into(), (*content).into())).collect()
    }

    #[test]
    fn changed_missing_and_left_over_files_are_all_named() {
        let committed = files(&[("Same.ts", "1"), ("Changed.ts", "1"), ("Old.ts", "1")]);
        let fresh = files(&[("Same.ts", "1"), ("Changed.ts", "2"), ("New.ts", "1")]);
        assert_eq!(
            differences(&committed, &fresh),
            ["  Old.ts: no type makes it any more", "  Changed.ts: differs", "  New.ts: missing"]
        );
        assert!(differences(&fresh, &fresh).is_empty());
    }
}
