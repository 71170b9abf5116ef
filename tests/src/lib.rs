//! The harness of the tests that need more than one crate.
//!
//! Invariant: whatever a test starts is its own (screen, driver, window, data folder) and ends with it, so tests run
//! in parallel and in any order.

mod driver;
mod machine;
mod process;
mod screen;
pub mod tree;
mod wait;
mod webdriver;
mod window;
mod yupy;

pub use machine::Machine;
pub use wait::{rest, until};
pub use webdriver::key;
pub use window::Window;
pub use yupy::Yupy;
