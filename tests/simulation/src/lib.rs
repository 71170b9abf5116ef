//! Whole days of tills and a server in simulated time, with everything going wrong.
//!
//! The real till on real SQLite files, the real server's router, paused time and seeded chance: a world is one
//! number, and the same number is the same world. First it is unsafe (lost, doubled, late, cut, killed, wrong clocks),
//! then it heals, and then everything that was promised must be there exactly once.

#![allow(clippy::missing_errors_doc, reason = "errors here are violations or broken machinery, told in full")]

pub mod actor;
pub mod chance;
pub mod checks;
pub mod crowd;
pub mod faults;
pub mod fleet;
pub mod net;
pub mod sabotage;
pub mod server;
pub mod time;
pub mod trace;
pub mod world;
