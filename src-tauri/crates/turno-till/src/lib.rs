//! A till without a screen: it sells, queues and sends.
//!
//! Invariant: a sale is committed here first and talks to the network afterwards.

pub mod view;
