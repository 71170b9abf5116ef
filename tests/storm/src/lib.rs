//! A real till and a real server, each a process of its own, with a bad line between them, killed again and again.
//!
//! The till sells and tells what it recorded on its standard output; that is what a cashier has seen. It sends through a
//! [`proxy`] that cuts, drips, resets, repeats and answers with what YUPY would never say. The [`driver`] kills it with
//! `kill -9` at any moment, now and then the server as well. Then the line heals, the queue drains, and [`checks`] looks
//! whether the till, the server and what people were told are one story. Invariant: what the driver knows of the till,
//! it knows from outside of it.

#![allow(clippy::missing_errors_doc, reason = "errors here are broken machinery, told in full")]

pub mod book;
pub mod checks;
pub mod driver;
pub mod faults;
mod message;
pub mod process;
pub mod proxy;
pub mod server;
pub mod till;
