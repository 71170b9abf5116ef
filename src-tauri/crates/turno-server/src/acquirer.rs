//! Whoever moves the money: a card network's or a wallet's interface.
//!
//! Invariant: an acquirer that is asked twice under one id charges once. What it did is known only from what it says;
//! silence is an error here and never a decline.

mod http;
mod notice;
mod sandbox;
mod simulated;
pub mod wire;

use std::{fmt, future::Future, pin::Pin};

use turno_domain::Money;

use crate::payment::PaymentResult;

pub use http::{AcquirerAddressError, AcquirerTimeouts, HttpAcquirer};
pub use notice::Webhook;
pub use sandbox::{StatementLine, sandbox_acquirer, sandbox_acquirer_with};
pub use simulated::SimulatedAcquirer;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    pub acquirer_payment_id: String,
    /// The sale that it pays for, in the acquirer's records.
    pub reference: String,
    pub amount: Money,
}

/// What is looked up. The amount goes along because some acquirers want it.
#[derive(Clone, Copy, Debug)]
pub struct LookUp<'a> {
    pub acquirer_payment_id: &'a str,
    pub amount: Money,
}

/// What a look-up found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Payment(PaymentResult),
    /// It has no record, which may still change while a charge is on its way.
    Nothing,
}

/// The acquirer gave no answer that can be used. It may have charged all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the acquirer gave no answer")]
pub struct NoAnswer;

pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, NoAnswer>> + Send + 'a>>;

/// An implementation sees to its own deadlines; they stay below [`crate::payment::DEFAULT_LEASE`].
pub trait Acquirer: Send + Sync {
    fn charge(&self, charge: Charge) -> Answer<'_, PaymentResult>;
    fn find<'a>(&'a self, lookup: LookUp<'a>) -> Answer<'a, Found>;
}

impl fmt::Debug for dyn Acquirer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Acquirer")
    }
}
