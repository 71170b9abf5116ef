//! Which package may depend on which. Cargo keeps cycles away; this keeps the directions.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use serde_json::Value;
use turno_tests::tree::root;

/// Everything that a package of ours may know of the others, in whatever kind of dependency. The tests may know all.
const ALLOWED: &[(&str, &[&str])] = &[
    ("turno-domain", &[]),
    ("turno-protocol", &["turno-domain"]),
    ("turno-sqlite", &[]),
    ("turno-print", &[]),
    ("turno-till", &["turno-domain", "turno-print", "turno-protocol", "turno-sqlite"]),
    ("turno-postgres", &[]),
    ("turno-conformance", &["turno-server", "turno-postgres"]),
    ("turno-server", &["turno-domain", "turno-protocol", "turno-sqlite", "turno-postgres"]),
    ("turno", &["turno-domain", "turno-protocol", "turno-server", "turno-till"]),
    (
        "turno-tests",
        &[
            "turno-domain",
            "turno-print",
            "turno-protocol",
            "turno-sqlite",
            "turno-till",
            "turno-server",
            "turno-postgres",
        ],
    ),
    (
        "turno-bench",
        &[
            "turno-crash",
            "turno-domain",
            "turno-postgres",
            "turno-protocol",
            "turno-server",
            "turno-simulation",
            "turno-sqlite",
            "turno-tests",
            "turno-till",
        ],
    ),
    ("turno-crash", &["turno-sqlite", "turno-till"]),
    ("turno-judge", &["turno-domain", "turno-protocol", "turno-server"]),
    ("turno-simulation", &["turno-crash", "turno-domain", "turno-protocol", "turno-till", "turno-server"]),
    ("turno-storm", &["turno-domain", "turno-protocol", "turno-server", "turno-simulation", "turno-till"]),
    ("xtask", &[]),
];

#[test]
fn packages_know_only_what_they_may() {
    let allowed: BTreeMap<_, BTreeSet<_>> =
        ALLOWED.iter().map(|(name, known)| (*name, known.iter().copied().collect())).collect();
    let packages = dependencies();
    let ours: BTreeSet<_> = packages.keys().map(String::as_str).collect();
    assert_eq!(
        ours,
        allowed.keys().copied().collect(),
        "the packages of the workspace and the rules about them"
    );
    for (name, known) in &packages {
        let of_ours = known.iter().map(String::as_str).filter(|known| ours.contains(known));
        let forbidden: Vec<_> = of_ours.filter(|known| !allowed[name.as_str()].contains(known)).collect();
        assert!(forbidden.is_empty(), "{name} must not know {forbidden:?}");
    }
}

#[test]
fn only_the_shell_knows_the_window_toolkit() {
    for (name, known) in dependencies() {
        let toolkit: Vec<_> = known.iter().filter(|known| known.starts_with("tauri")).collect();
        assert!(name == "turno" || toolkit.is_empty(), "{name} must not know {toolkit:?}");
    }
}

#[test]
fn the_domain_reads_no_clock_does_no_io_and_speaks_no_sql() {
    let heavy = ["rusqlite", "tokio", "reqwest", "axum", "getrandom"];
    let known = &dependencies()["turno-domain"];
    let found: Vec<_> = heavy.iter().filter(|heavy| known.contains(**heavy)).collect();
    assert!(found.is_empty(), "turno-domain must not know {found:?}");
}

/// A test kills the server at points that no build for use may have. (An optimised build with them does not compile.)
#[test]
fn nothing_turns_the_kill_points_on_but_the_command_that_tests() {
    let turns_on = |features: &[Value]| features.iter().any(|feature| text(feature).contains("kill-points"));
    for package in packages() {
        let edges = list(&package, "dependencies");
        let by_an_edge = edges.iter().any(|edge| turns_on(&list(edge, "features")));
        let features = package["features"].as_object().expect("features by name");
        let by_a_feature = features.values().any(|others| turns_on(others.as_array().expect("a list")));
        assert!(!by_an_edge && !by_a_feature, "{} turns them on", name(&package));
    }
}

/// Two copies of SQLite in one process drop each other's file locks.
#[test]
fn there_is_one_sqlite_in_the_whole_tree() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).expect("the lock file is committed");
    assert_eq!(lock.lines().filter(|line| *line == "name = \"libsqlite3-sys\"").count(), 1);
}

/// Package name to the names of its direct dependencies: normal, build and dev.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let names = |package: &Value| list(package, "dependencies").iter().map(name).collect();
    packages().iter().map(|package| (name(package), names(package))).collect()
}

/// What Cargo knows of ours.
fn packages() -> Vec<Value> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--no-deps", "--format-version", "1", "--offline"]).current_dir(root());
    let output = command.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata is JSON");
    list(&metadata, "packages")
}

fn name(value: &Value) -> String {
    text(&value["name"]).to_owned()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn list(value: &Value, member: &str) -> Vec<Value> {
    value[member].as_array().expect("a list").clone()
}
