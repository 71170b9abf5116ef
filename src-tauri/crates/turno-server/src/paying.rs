//! The part of a payment that no transaction can hold: to ask the acquirer, and to say what came of it.
//!
//! Runs in a task that the server owns, so a till that hangs up stops nothing. Invariant: nothing is sent before the
//! mark that it may have been is committed, and no answer is taken for a decline but a decline.

use std::sync::Arc;

use jiff::SignedDuration;
use turno_protocol::body::State;

use crate::{
    acquirer::{Acquirer, Answer, Charge, Found, LookUp, NoAnswer},
    kill_points::{self, KillPoint},
    ledger::{Ledger, LedgerError},
    matrix::Finished,
    metrics::{Counter, Metrics},
    payment::{LONGEST_LEASE, Payment, PaymentResult, PaymentState, RENEWALS_A_LEASE},
};

/// What became of a payment, as far as it is known.
#[derive(Clone, Debug)]
pub(crate) enum End {
    Finished {
        payment: Box<Payment>,
        state: State,
        how: How,
    },
    /// Asked again before the acquirer could be sure to know of it.
    TooSoon,
    /// Somebody else is at work on it now.
    InProgress,
    Unknown,
}

/// By whom it was finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// The acquirer answered the charge.
    Charged,
    /// A look-up after an owner that is gone.
    Recovered,
}

/// What is needed to pay.
#[derive(Clone)]
pub(crate) struct Cashier<L> {
    pub(crate) ledger: L,
    pub(crate) acquirer: Arc<dyn Acquirer>,
    /// How long a charge may be on its way before a look-up that finds nothing can be believed.
    pub(crate) visibility_delay: SignedDuration,
    pub(crate) metrics: Metrics,
}

impl<L: Ledger> Cashier<L> {
    /// A new reservation: ask for the money.
    pub(crate) async fn charge(&self, payment: Payment) -> Result<End, LedgerError> {
        kill_points::reach(KillPoint::AfterReserve);
        let Some(payment) = self.ledger.mark_payment(payment).await? else {
            self.metrics.count(Counter::LeasesLost);
            return Ok(End::InProgress);
        };
        kill_points::reach(KillPoint::AfterAcquirerStarted);
        let charge = Charge {
            acquirer_payment_id: payment.acquirer_payment_id.clone(),
            reference: payment.yupy_transaction_id.to_string(),
            amount: payment.amount,
        };
        match self.while_alive(&payment, self.acquirer.charge(charge)).await? {
            Ok(result) => {
                kill_points::reach(KillPoint::AfterApproval);
                self.finish(payment, result, How::Charged).await
            }
            Err(NoAnswer) => self.give_up(payment, End::Unknown).await,
        }
    }

    /// A payment whose owner is gone: find out, and charge again only when it is certain that nothing was.
    pub(crate) async fn follow(&self, payment: Payment) -> Result<End, LedgerError> {
        if payment.state == PaymentState::Reserved {
            return self.charge(payment).await;
        }
        match self.find(&payment).await? {
            Ok(Found::Payment(result)) => self.finish(payment, result, How::Recovered).await,
            Ok(Found::Nothing) if self.is_too_soon(&payment) => self.give_up(payment, End::TooSoon).await,
            Ok(Found::Nothing) => self.charge(payment).await,
            Err(NoAnswer) => self.give_up(payment, End::Unknown).await,
        }
    }

    /// As [`Self::follow`], without ever charging: for payments that nobody asks about.
    pub(crate) async fn look_after(&self, payment: Payment) -> Result<End, LedgerError> {
        match self.find(&payment).await? {
            Ok(Found::Payment(result)) => self.finish(payment, result, How::Recovered).await,
            Ok(Found::Nothing) | Err(NoAnswer) => self.give_up(payment, End::Unknown).await,
        }
    }

    async fn find(&self, payment: &Payment) -> Result<Result<Found, NoAnswer>, LedgerError> {
        let lookup = LookUp { acquirer_payment_id: &payment.acquirer_payment_id, amount: payment.amount };
        let found = self.while_alive(payment, self.acquirer.find(lookup)).await?;
        self.metrics.count(match found {
            Ok(Found::Payment(result)) => match result.state_for(payment.amount) {
                PaymentState::Approved => Counter::TakeOversApproved,
                PaymentState::Declined => Counter::TakeOversDeclined,
                PaymentState::Reconciliation => Counter::TakeOversMismatched,
                PaymentState::Pending | PaymentState::Reserved | PaymentState::AcquirerStarted => {
                    Counter::TakeOversPending
                }
            },
            Ok(Found::Nothing) => Counter::TakeOversNotFound,
            Err(NoAnswer) => Counter::TakeOversUnreachable,
        });
        Ok(found)
    }

    /// By the store's clock, which is the same for every server: when it was taken over tells what that said.
    fn is_too_soon(&self, payment: &Payment) -> bool {
        let visible = payment.charged_at.and_then(|charged| charged.checked_add(self.visibility_delay).ok());
        let taken_over = payment.lease_until.and_then(|until| until.checked_sub(self.ledger.lease()).ok());
        visible > taken_over
    }

    async fn finish(&self, payment: Payment, result: PaymentResult, how: How) -> Result<End, LedgerError> {
        kill_points::reach(KillPoint::BeforeFinalise);
        let held = payment.fence.clone();
        let finished = self.ledger.finish_payment(payment, result).await?;
        if finished.as_ref().is_none_or(|finished| finished.payment.fence != held) {
            self.metrics.count(Counter::LeasesLost);
        }
        Ok(match finished {
            Some(Finished { payment, state })
                if payment.is_over() || payment.state == PaymentState::Pending =>
            {
                if payment.state == PaymentState::Reconciliation {
                    tracing::error!(
                        acquirer_payment_id = payment.acquirer_payment_id,
                        "approved for another amount: somebody has to settle this payment"
                    );
                }
                End::Finished { payment: Box::new(payment), state, how }
            }
            Some(_) | None => End::InProgress,
        })
    }

    async fn give_up(&self, payment: Payment, end: End) -> Result<End, LedgerError> {
        self.ledger.give_up_payment(payment).await?;
        Ok(end)
    }

    /// Wait for the acquirer and renew the lease meanwhile. An acquirer that takes longer than a lease may ever last
    /// has not answered, and neither has one whose answer is no longer ours to write.
    async fn while_alive<T>(
        &self,
        payment: &Payment,
        mut answer: Answer<'_, T>,
    ) -> Result<Result<T, NoAnswer>, LedgerError> {
        let renewal = self.ledger.lease().unsigned_abs() / RENEWALS_A_LEASE;
        for _ in 0..LONGEST_LEASE {
            if let Ok(answer) = tokio::time::timeout(renewal, &mut answer).await {
                return Ok(answer);
            }
            if self.ledger.renew_payment(payment.clone()).await?.is_none() {
                self.metrics.count(Counter::LeasesLost);
                return Ok(Err(NoAnswer));
            }
        }
        Ok(Err(NoAnswer))
    }
}
