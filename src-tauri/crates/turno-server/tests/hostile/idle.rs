//! Connections that say nothing.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpStream;

use crate::{
    program::Program,
    wire::{hundredths, sell, tell_ratio},
};

const CONNECTIONS: u64 = 10_000;

/// For the rest of the test's own process.
const SPARE: u64 = 500;

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_idle_connections_cost_little_and_others_are_served() {
    let connections = CONNECTIONS.min(allow_descriptors(CONNECTIONS + SPARE) - SPARE);
    let mut program = Program::start().await;
    let other = program.beside();
    sell(program.address, "before", 20).await;
    let before = program.resident_kib();
    let mut idle = Vec::new();
    for _ in 0..connections {
        idle.push(TcpStream::connect(program.address).await.unwrap());
    }
    let ratio = hundredths(program.address, other.address, "with", 150).await;
    let grown = program.resident_kib().saturating_sub(before);
    assert!(grown < 150 * 1024, "{grown} KiB for {connections} idle connections");
    drop(idle);
    sell(program.address, "after", 20).await;
    tell_ratio(&format!("{connections} idle connections"), ratio);
    program.assert_unharmed();
}

/// What this process then has: less than wanted where the system allows no more. The server is another process.
fn allow_descriptors(wanted: u64) -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let allowed = wanted.max(limit.current.unwrap_or(u64::MAX)).min(limit.maximum.unwrap_or(u64::MAX));
    setrlimit(Resource::Nofile, Rlimit { current: Some(allowed), ..limit }).unwrap();
    allowed
}
