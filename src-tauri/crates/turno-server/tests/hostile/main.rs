//! The real program on a real socket, against senders who mean harm: nothing is answered 5xx, nothing panics, memory
//! stays where it was, and everybody else goes on selling.

#![expect(clippy::unwrap_used, reason = "helpers of a test fail the test")]

mod bytes;
mod idle;
mod program;
mod slow;
mod wire;
