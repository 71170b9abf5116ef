//! The program does to one store what it does to the other.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use crate::client::database;

#[test]
fn an_operator_works_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    operate(&format!("sqlite:{}", folder.path().join("ledger.db").display()));
}

#[test]
fn an_operator_works_on_postgresql() {
    let Some(database) = database() else { return };
    operate(&database.url());
}

#[track_caller]
fn operate(database: &str) {
    let scope = ["--company", "A", "--integration", "pos"];
    refused(database, &[&["enrolment-code", "--device-id", "D01"], &scope[..]].concat());
    admin(database, &["company", "A", "--name", "Transportes Demo"], "");
    admin(database, &[&["integration"], &scope[..]].concat(), "");
    let token = admin(database, &[&["credential"], &scope[..]].concat(), "");
    assert!(token.starts_with("ytc_"), "{token}");
    let code = admin(database, &[&["enrolment-code", "--device-id", "D01"], &scope[..]].concat(), "");
    assert_eq!(code.trim().split('-').count(), 3, "{code}");
    admin(database, &["rotate-secret"], "");
    admin(database, &["revoke"], &token);
    let head = admin(database, &["verify-audit", "A"], "");
    assert!(head.starts_with("0 rows hold"), "{head}");
}

fn admin(database: &str, task: &[&str], input: &str) -> String {
    let output = run(database, task, input);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{task:?}: {complaint}");
    String::from_utf8(output.stdout).unwrap()
}

fn refused(database: &str, task: &[&str]) {
    assert!(!run(database, task, "").status.success(), "{task:?}");
}

fn run(database: &str, task: &[&str], input: &str) -> std::process::Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_turno-server"))
        .args(["admin", "--database", database])
        .args(task)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Whoever does not read it may have ended.
    program.stdin.take().unwrap().write_all(input.as_bytes()).ok();
    program.wait_with_output().unwrap()
}
