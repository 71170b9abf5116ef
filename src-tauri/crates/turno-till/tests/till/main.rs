//! Rules of the till, told through its façade. The transport is scripted here so that an answer can be anything;
//! only `sockets` talks to real ones. The real server is in the workspace's `tests`.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod audit;
mod barcodes;
mod books;
mod cards;
mod cases;
mod correct;
mod crash;
mod damage;
mod detail;
mod discounts;
mod elsewhere;
mod enrolment;
mod epochs;
mod exporting;
mod handover;
mod hostile;
mod identity;
mod line;
mod people;
mod price_lists;
mod printing;
mod queue;
mod reconciling;
mod resolving;
mod review;
mod room;
mod searching;
mod selling;
mod shift;
mod sockets;
mod support;
mod tenders;
mod voiding;
mod world;
