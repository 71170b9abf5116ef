//! Habits of the code that the lints do not know.

use crate::files::{Text, texts};

/// Every line of the chosen files that holds one of the words, as `path:line: text`.
fn lines_with(chosen: impl Fn(&Text) -> bool, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for text in texts().iter().filter(|text| chosen(text)) {
        for (number, line) in (1..).zip(text.content.lines()) {
            if words.iter().any(|word| line.contains(word)) {
                found.push(format!("{}:{number}: {}", text.path, line.trim()));
            }
        }
    }
    found
}

fn is_rust(text: &Text) -> bool {
    // This file has to name what it looks for.
    text.has_extension(&["rs"]) && text.path != "tests/tidy/habits.rs"
}

fn is_page(text: &Text) -> bool {
    text.path.starts_with("ui/src/") && text.has_extension(&["ts", "svelte"])
}

#[track_caller]
fn assert_none(found: &[String], why: &str) {
    assert!(found.is_empty(), "{why}:\n{}", found.join("\n"));
}

#[test]
fn nothing_sleeps_instead_of_waiting_for_a_condition() {
    assert_none(&lines_with(is_rust, &["thread::sleep"]), "a sleeping thread hides a race");
    // In a simulation time is an event like any other: nobody waits for it. A bad line is made of delays.
    let waits =
        ["tests/src/wait.rs", "tests/conformance/src/wait.rs", "tests/simulation/src/", "tests/storm/src/"];
    let in_tests = |text: &Text| {
        is_rust(text)
            && text.path.starts_with("tests/")
            && !waits.iter().any(|path| text.path.starts_with(path))
    };
    assert_none(&lines_with(in_tests, &["time::sleep", "sleep("]), "tests wait by `until`");
}

#[test]
fn no_test_is_switched_off() {
    assert_none(&lines_with(is_rust, &["#[ignore"]), "an ignored test protects nobody");
    assert_none(
        &lines_with(is_page, &["it.skip", "test.skip", "describe.skip", ".only("]),
        "so does a skipped one",
    );
}

/// So that the whole till runs in a simulator.
#[test]
fn only_the_clock_reads_time_in_the_till() {
    let in_till = |text: &Text| {
        is_rust(text)
            && text.path.starts_with("src-tauri/crates/turno-till/src/")
            && !text.path.ends_with("/clock.rs")
    };
    let clocks = ["SystemTime::now", "Timestamp::now", "Zoned::now", "std::time::Instant"];
    assert_none(&lines_with(in_till, &clocks), "time comes from the clock that the till was given");
}

#[test]
fn no_float_touches_money() {
    let is_rule = |text: &Text| is_rust(text) && text.path.starts_with("src-tauri/crates/turno-domain/src/");
    assert_none(&lines_with(is_rule, &["f64", "f32"]), "money is whole minor units");
    assert_none(&lines_with(is_page, &["parseFloat", ".toFixed("]), "the page computes no money");
}

#[test]
fn one_file_of_the_page_knows_the_window_toolkit() {
    let knows = |text: &&Text| is_page(text) && text.content.contains("@tauri-apps/");
    let files: Vec<_> = texts().iter().filter(knows).map(|text| text.path.clone()).collect();
    assert!(files.len() <= 1, "the toolkit is imported in {files:?}");
}

#[test]
fn statements_name_their_columns() {
    let has_sql = |text: &Text| is_rust(text) || text.has_extension(&["sql"]);
    assert_none(
        &lines_with(has_sql, &["SELECT *", "select *"]),
        "a new column must not change an old answer",
    );
}

#[test]
fn every_module_says_what_it_is_for() {
    // A crate's tests say what they are for by their names.
    let is_test = |text: &&Text| text.path.ends_with("/tests.rs") || text.path.contains("/tests/");
    let is_module = |text: &&Text| is_rust(text) && !is_test(text);
    let is_silent = |text: &&Text| is_module(text) && !text.content.starts_with("//!");
    let silent: Vec<_> = texts().iter().filter(is_silent).map(|text| text.path.clone()).collect();
    assert!(silent.is_empty(), "these open without a paragraph: {silent:?}");
}
