//! The committed files: where they are, how long they are, and what must not stand in any of them.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use turno_tests::tree::root;

/// A committed file that can be read as text.
pub struct Text {
    /// From the root, with `/`.
    pub path: String,
    pub content: String,
}

impl Text {
    pub fn has_extension(&self, extensions: &[&str]) -> bool {
        self.path.rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(&extension))
    }

    pub fn is_generated(&self) -> bool {
        self.path.starts_with("ui/src/bindings/")
            || self.path.ends_with("package-lock.json")
            || self.path == "Cargo.lock"
    }
}

pub fn committed_paths() -> Vec<String> {
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output().expect("git runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let names = String::from_utf8(output.stdout).expect("paths are UTF-8");
    names.split_terminator('\0').map(str::to_owned).collect()
}

/// Every committed text; pictures are left out, and so is what was removed and not committed yet.
pub fn texts() -> Vec<Text> {
    let read = |path: String| Some(Text { content: fs::read_to_string(root().join(&path)).ok()?, path });
    committed_paths().into_iter().filter_map(read).collect()
}

#[test]
fn the_top_level_is_fixed() {
    let known = ["Cargo.toml", "Cargo.lock", "LICENSE", "README.md", "src-tauri", "ui", "tests"];
    let first = |path: &String| path.split('/').next().unwrap_or_default().to_owned();
    let top: BTreeSet<_> = committed_paths().iter().map(first).collect();
    let extra: Vec<_> =
        top.iter().filter(|name| !name.starts_with('.') && !known.contains(&name.as_str())).collect();
    assert!(extra.is_empty(), "these do not belong at the top level: {extra:?}");
}

/// The habit is 100 to 150 lines; past this limit a file is surely more than one idea.
const LONGEST_LINES: usize = 700;

#[test]
fn no_file_is_more_than_one_idea_long() {
    let is_code = |text: &Text| text.has_extension(&["rs", "ts", "svelte", "sql"]) && !text.is_generated();
    let long: Vec<_> = texts()
        .iter()
        .filter(|text| is_code(text) && text.content.lines().count() > LONGEST_LINES)
        .map(|text| format!("{} ({} lines)", text.path, text.content.lines().count()))
        .collect();
    assert!(long.is_empty(), "past {LONGEST_LINES} lines: {long:?}");
}

/// Nothing that only makes sense on the machine where it was written. In two parts, so as not to find itself.
#[test]
fn nothing_names_a_machine_or_a_registry_host() {
    let words = [
        ["/wor", "k/"],
        ["/roo", "t/"],
        ["crates", ".io"],
        ["npmjs", ".org"],
        ["npmjs", ".com"],
        ["pypi", ".org"],
        ["deb.deb", "ian.org"],
        ["security.deb", "ian.org"],
    ];
    for text in texts().iter().filter(|text| text.path != "Cargo.lock") {
        for word in words.map(|parts| parts.concat()) {
            assert!(!text.content.contains(&word), "{} names {word}", text.path);
        }
    }
}
