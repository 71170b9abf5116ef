//! The contract's rules over the real router and a real file, with a clock that the test moves.

#![expect(clippy::unwrap_used, reason = "helpers of a test fail the test")]

mod acquirer;
mod creation;
mod distant;
mod enrolment;
mod gate;
mod harness;
mod invariants;
mod limits;
mod listening;
mod metrics;
mod notices;
mod payments;
mod questions;
mod schema;
mod tls;
mod voids;
