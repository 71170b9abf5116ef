//! The real window, under a screen of its own, handled as a person handles it.
//!
//! What the server did is read from its own database after the till is closed, so that the till's word about itself is
//! never the only witness.

mod access;
mod amend;
mod card;
mod connect;
mod elsewhere;
mod ledger;
mod offline;
mod people;
mod printing;
mod refusals;
mod restored;
mod review;
mod sales;
mod screens;
mod sell;
mod shift;
mod steps;
