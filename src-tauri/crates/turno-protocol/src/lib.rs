//! What travels between a till and YUPY: bodies, error codes, keys, the canonical form.
//!
//! The contract's vocabulary, written once for both sides. No socket and no clock: whoever sends or stores is elsewhere.

pub mod audit;
pub mod body;
pub mod canonical;
pub mod catalog;
pub mod chain;
pub mod code;
pub mod enrol;
pub mod keys;
mod lenient;
pub mod operation;
pub mod secret;
pub mod strict_json;
