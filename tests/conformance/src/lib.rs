//! The YUPY contract as cases that anybody can run against a server: HTTP only, nothing of any server inside.
//!
//! A case is an async function whose name is the rule. It says which rows of the contract it covers, and works with
//! ids, amounts and keys of its own, so cases run side by side and again and again on one database. Every answer,
//! whatever a case asks for, is held against what the contract demands of all of them ([`duties`]).
//!
//! Invariant: the suite knows the contract and no implementation; its only dependency on a server is an address and
//! the fixture with which it was started.

mod answer;
mod ask;
mod case;
mod client;
mod codes;
mod duties;
mod fixture;
mod report;
mod row;
mod run;
mod sections;
mod shape;
mod stage;
mod wait;

pub use case::{Case, cases};
pub use fixture::Fixture;
pub use report::{Report, Verdict};
pub use row::{Row, unprovokable};
pub use run::{Target, run};
