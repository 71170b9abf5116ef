//! A till without a screen: it sells, queues and sends.
//!
//! [`Till`] is the whole of it. A sale goes press → [`sell`] (one transaction) → [`relay`] → [`answer`] →
//! [`settle`]; what is shown is in [`view`]. Invariant: a sale is committed here first and talks to the network
//! afterwards, and only YUPY's own word settles it.

pub mod answer;
pub mod backup;
pub mod catalog;
pub mod clock;
mod correct;
mod delivery;
mod detail;
mod discount;
mod elsewhere;
pub mod enrol;
mod guard;
mod handover;
pub mod journal;
pub mod machine;
pub mod outbox;
pub mod paying;
mod payment;
pub mod pins;
mod printing;
mod problem;
pub mod random;
mod reconcile;
mod recover;
pub mod relay;
mod resolve;
pub mod resolving;
mod review;
pub mod room;
pub mod sales_csv;
pub mod search;
mod secrets;
mod sell;
pub mod settle;
pub mod shift;
pub mod store;
mod tender;
mod till;
pub mod transport;
mod tries;
pub mod view;
mod void;
pub mod voiding;
mod witness;

pub use pins::PinCost;
pub use till::{Connector, Options, Till};
pub use turno_sqlite::WriterMode;
