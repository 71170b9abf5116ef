//! Rules of the till, told through its façade. The transport is scripted here so that an answer can be anything;
//! the real server and real sockets are in the workspace's `tests`.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod enrolment;
mod people;
mod queue;
mod review;
mod selling;
mod support;
