//! Random sequences of requests, each answer compared with what a small model of the contract's §5 and §6 expects; and
//! bytes that nobody would write, for the readers, the tokens and the whole router.
//!
//! The model knows the contract and none of the server's code. What fails is shrunk, printed, and kept in a file
//! beside its test (`….regressions`), from where it is played first ever after.

#![expect(clippy::unwrap_used, reason = "helpers of a test fail the test")]

mod bodies;
mod compare;
mod look_alike;
mod model;
mod mutation;
mod router;
mod sequences;
mod server;
mod step;
mod ticket;
mod tokens;

use proptest::{prelude::ProptestConfig, test_runner::FileFailurePersistence};

/// At least so many; `PROPTEST_CASES` asks for more.
fn config(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: default.cases.max(cases),
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        max_shrink_iters: 5_000,
        ..default
    }
}
