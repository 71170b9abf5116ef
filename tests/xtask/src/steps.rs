//! A run of named steps: says what each one does and how long it took, and counts honestly.
//!
//! The first step that fails ends the run, since the later ones build on it; those that did not run any more are
//! counted as skipped, never as passed.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;

pub struct Step {
    pub name: &'static str,
    pub about: &'static str,
    pub work: fn() -> Result<()>,
}

/// Runs the steps in order. The last line is `steps: N passed, N failed`, with `, N skipped` where it applies.
pub fn run(steps: &[&Step]) -> ExitCode {
    let mut passed: Vec<(&str, Duration)> = Vec::new();
    let mut failure = None;
    for (number, step) in (1..).zip(steps) {
        println!("\n== {number}/{} {}: {}", steps.len(), step.name, step.about);
        let start = Instant::now();
        match (step.work)() {
            Ok(()) => passed.push((step.name, start.elapsed())),
            Err(error) => {
                eprintln!("error: {error:#}");
                failure = Some((step.name, start.elapsed()));
                break;
            }
        }
    }
    println!();
    for (name, took) in &passed {
        println!("  passed {name:<12} {}", seconds(*took));
    }
    if let Some((name, took)) = failure {
        println!("  FAILED {name:<12} {}", seconds(took));
    }
    println!("{}", tally(steps.len(), passed.len(), failure.is_some()));
    if failure.is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn tally(all: usize, passed: usize, failed: bool) -> String {
    let failed = usize::from(failed);
    let skipped = all - passed - failed;
    let rest = if skipped == 0 { String::new() } else { format!(", {skipped} skipped") };
    format!("steps: {passed} passed, {failed} failed{rest}")
}

fn seconds(took: Duration) -> String {
    format!("{:>5}.{} s", took.as_secs(), took.subsec_millis() / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_did_not_run_are_not_counted_as_passed() {
        assert_eq!(tally(5, 5, false), "steps: 5 passed, 0 failed");
        assert_eq!(tally(5, 2, true), "steps: 2 passed, 1 failed, 2 skipped");
    }

    #[test]
    fn a_duration_is_shown_in_tenths_of_a_second() {
        assert_eq!(seconds(Duration::from_millis(61_250)), "   61.2 s");
    }
}
