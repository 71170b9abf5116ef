//! What must hold on every store, and what only several servers on one database can get wrong.

#![expect(clippy::unwrap_used, reason = "helpers of a test fail the test")]

mod client;
mod clocks;
mod command_line;
mod outage;
mod replicas;
mod story;
mod transfer;
mod waiting;
