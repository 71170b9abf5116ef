//! The real program, killed and stopped at the worst moments. Its acquirer is another process, whose memory survives.

#![expect(clippy::unwrap_used, reason = "helpers of a test fail the test")]

mod death;
mod options;
mod pause;
mod program;
mod silence;
mod town;
