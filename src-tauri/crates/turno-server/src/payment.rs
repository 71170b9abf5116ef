//! A payment as it is kept: one attempt to be paid through the acquirer (contract §7).
//!
//! Invariant: the acquirer's id follows from scope and permanent ids alone, so it can be asked about without anything
//! having been saved, and the same attempt never has two. Whoever works on a payment holds its [`Fence`]; a write
//! under an older fence changes nothing.

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};
use turno_domain::{
    Money,
    ids::{ExternalPaymentId, ExternalTransactionId, Scope, YupyTransactionId},
};

use crate::{caller::ScopeNumber, token::hex};

/// How long an owner is believed to be alive without a sign of it, unless a ledger is opened with another time.
pub const DEFAULT_LEASE: SignedDuration = SignedDuration::from_secs(60);

/// Signs of life within a lease: two may be lost before anybody else believes that the owner is gone.
pub(crate) const RENEWALS_A_LEASE: u32 = 3;

/// How long one owner may work in all, however often it renews: two leases.
pub(crate) const LONGEST_LEASE: u32 = 2 * RENEWALS_A_LEASE;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    pub scope: Scope,
    pub scope_number: ScopeNumber,
    pub external_payment_id: ExternalPaymentId,
    pub external_transaction_id: ExternalTransactionId,
    pub yupy_transaction_id: YupyTransactionId,
    pub acquirer_payment_id: String,
    pub amount: Money,
    pub method: Option<String>,
    pub state: PaymentState,
    pub fence: Fence,
    /// Until when the owner is believed to be at work. `None`: nobody is.
    pub lease_until: Option<Timestamp>,
    /// When the acquirer was last asked for the money.
    pub charged_at: Option<Timestamp>,
}

impl Payment {
    /// Whether its outcome will never change by itself.
    pub fn is_over(&self) -> bool {
        match self.state {
            PaymentState::Approved | PaymentState::Declined | PaymentState::Reconciliation => true,
            PaymentState::Reserved | PaymentState::AcquirerStarted | PaymentState::Pending => false,
        }
    }
}

/// Who may write: one owner, one attempt. The attempt only grows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    pub owner: String,
    pub attempt: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaymentState {
    /// Nothing was sent yet.
    Reserved,
    /// Something may have been sent.
    AcquirerStarted,
    /// The acquirer has it and will tell later.
    Pending,
    Approved,
    Declined,
    /// Approved for another amount: for people to settle.
    Reconciliation,
}

impl PaymentState {
    const ALL: [Self; 6] = [
        Self::Reserved,
        Self::AcquirerStarted,
        Self::Pending,
        Self::Approved,
        Self::Declined,
        Self::Reconciliation,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reserved => "reserved",
            Self::AcquirerStarted => "acquirer_started",
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Declined => "declined",
            Self::Reconciliation => "reconciliation",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// What the acquirer said about a payment, whoever asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaymentResult {
    Approved { amount: Money },
    Declined,
    Pending,
}

impl PaymentResult {
    /// The state that it puts a payment of `asked` into.
    pub fn state_for(self, asked: Money) -> PaymentState {
        match self {
            Self::Approved { amount } if amount == asked => PaymentState::Approved,
            Self::Approved { .. } => PaymentState::Reconciliation,
            Self::Declined => PaymentState::Declined,
            Self::Pending => PaymentState::Pending,
        }
    }
}

/// The acquirer's name for an attempt to pay.
pub fn acquirer_payment_id(
    scope: &Scope,
    sale: &ExternalTransactionId,
    payment: &ExternalPaymentId,
) -> String {
    let mut hash = Sha256::new();
    hash.update(b"turno-acquirer-payment-v1");
    let parts = [
        scope.company.as_str(),
        scope.integration.as_str(),
        scope.environment.as_str(),
        sale.as_str(),
        payment.as_str(),
    ];
    for part in parts {
        // Lengths in front, so that no two lists of parts have the same bytes.
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    format!("ypa_{}", hex(&hash.finalize()[..20]))
}

#[cfg(test)]
mod tests {
    use turno_domain::{
        Currency,
        ids::{Company, Environment, Integration},
    };

    use super::*;

    #[test]
    fn the_acquirer_s_id_depends_on_every_part_of_the_identity_and_on_nothing_else() {
        let id = |company: &str, environment: &str, sale: &str, payment: &str| {
            let scope = Scope {
                company: Company::parse(company).unwrap(),
                integration: Integration::parse("pos").unwrap(),
                environment: Environment::parse(environment).unwrap(),
            };
            let sale = ExternalTransactionId::parse(sale).unwrap();
            acquirer_payment_id(&scope, &sale, &ExternalPaymentId::parse(payment).unwrap())
        };
        let one = id("A", "production", "E-1", "P-1");
        assert_eq!(one, id("A", "production", "E-1", "P-1"));
        for other in [
            id("B", "production", "E-1", "P-1"),
            id("A", "test", "E-1", "P-1"),
            id("A", "production", "E-2", "P-1"),
            id("A", "production", "E-1", "P-2"),
            id("A", "production", "E-1P", "-1"),
        ] {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn an_approval_counts_only_for_the_amount_that_was_asked() {
        let money = |minor| Money::from_minor(minor, Currency::PEN);
        let approved = |minor| PaymentResult::Approved { amount: money(minor) }.state_for(money(8550));
        assert_eq!(approved(8550), PaymentState::Approved);
        assert_eq!(approved(8450), PaymentState::Reconciliation);
        let dollars = Money::from_minor(8550, Currency::parse("USD").unwrap());
        let state = PaymentResult::Approved { amount: dollars }.state_for(money(8550));
        assert_eq!(state, PaymentState::Reconciliation);
    }
}
