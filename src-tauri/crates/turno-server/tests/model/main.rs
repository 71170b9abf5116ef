//! Random sequences of requests, each answer compared with what a small model of the contract's §5 and §6 expects.
//!
//! The model knows the contract and none of the server's code. A sequence that finds a difference is shrunk, printed,
//! and kept in `sequences.regressions` beside the test, from where it is played first ever after.

#![expect(clippy::unwrap_used, reason = "helpers of a test fail the test")]

mod compare;
mod look_alike;
mod model;
mod sequences;
mod server;
mod step;
mod ticket;
