//! The later transactions of a payment: to mark it before the first byte leaves, and to finish it.
//!
//! Retry, webhook and reaper all finish through [`finish`]. Invariant: it writes only under the fence that the caller
//! holds; whoever comes too late changes nothing and reads what the other one wrote.

use turno_protocol::body::{Financial, State};

use super::payment::{claim, final_status};
use crate::{
    audit::{AuditEntry, AuditEvent},
    books::Books,
    kill_points::{self, KillPoint},
    payment::{Payment, PaymentResult, PaymentState},
    request::{WebhookEvent, WebhookStatus},
    world::World,
};

/// A payment and its sale as they stand after an attempt to write.
#[derive(Clone, Debug)]
pub struct Finished {
    pub payment: Payment,
    pub state: State,
}

/// Committed before the acquirer is asked for the money. `None`: the fence is no longer ours, and nothing may leave.
pub async fn mark_payment<B: Books>(books: &mut B, payment: &Payment) -> Result<Option<Payment>, B::Error> {
    let now = books.now();
    let marked = Payment {
        state: PaymentState::AcquirerStarted,
        charged_at: Some(now),
        lease_until: now.checked_add(books.lease()).ok(),
        ..payment.clone()
    };
    Ok(books.replace_payment(&payment.fence, &marked).await?.then_some(marked))
}

/// A sign of life.
pub async fn renew_payment<B: Books>(books: &mut B, payment: &Payment) -> Result<Option<Payment>, B::Error> {
    let renewed = Payment { lease_until: books.now().checked_add(books.lease()).ok(), ..payment.clone() };
    Ok(books.replace_payment(&payment.fence, &renewed).await?.then_some(renewed))
}

/// Without an outcome: the next one who asks may follow at once.
pub async fn give_up_payment<B: Books>(books: &mut B, payment: &Payment) -> Result<(), B::Error> {
    let free = Payment { lease_until: None, ..payment.clone() };
    books.replace_payment(&payment.fence, &free).await.map(drop)
}

/// Write what the acquirer said.
pub async fn finish_payment<B: Books>(
    books: &mut B,
    payment: &Payment,
    result: PaymentResult,
) -> Result<Option<Finished>, B::Error> {
    let finished = Payment { state: result.state_for(payment.amount), lease_until: None, ..payment.clone() };
    let mine = books.replace_payment(&payment.fence, &finished).await?;
    let Some(sale) = books.sale_by_id(payment.scope_number, payment.yupy_transaction_id.as_str()).await?
    else {
        return Ok(None);
    };
    if !mine {
        let theirs = books.payment(payment.scope_number, &payment.external_payment_id).await?;
        return Ok(theirs.map(|payment| Finished { payment, state: sale.state }));
    }
    let (financial, event) = match finished.state {
        PaymentState::Approved => (Financial::Paid, Some(AuditEvent::PaymentApproved)),
        PaymentState::Declined => (Financial::Declined, Some(AuditEvent::PaymentDeclined)),
        PaymentState::Reconciliation => (Financial::Processing, Some(AuditEvent::ReconciliationRequired)),
        PaymentState::Pending | PaymentState::Reserved | PaymentState::AcquirerStarted => {
            (Financial::Processing, None)
        }
    };
    let state = State { financial, ..sale.state };
    if state != sale.state {
        books.set_state(&payment.yupy_transaction_id, state).await?;
    }
    if let Some(status) = final_status(finished.state) {
        books.finish_keys(payment.scope_number, payment.external_payment_id.as_str(), status).await?;
    }
    if let Some(event) = event {
        let entry = AuditEntry {
            external_payment_id: Some(payment.external_payment_id.clone()),
            ..AuditEntry::about(event, &payment.scope, books.now(), &sale)
        };
        books.append_audit(&payment.scope.company, entry).await?;
    }
    kill_points::reach(KillPoint::WithinFinalise);
    Ok(Some(Finished { payment: finished, state }))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookOutcome {
    Closed,
    /// A repeat, or too late: nothing was changed.
    NoEffect,
    UnknownPayment,
}

/// The acquirer tells by itself. It outranks whoever is at work: the attempt grows, so their late word is ignored.
pub async fn apply_webhook<B: Books>(
    books: &mut B,
    event: &WebhookEvent,
) -> Result<WebhookOutcome, B::Error> {
    let Some(payment) = books.payment_by_acquirer_id(&event.acquirer_payment_id).await? else {
        return Ok(WebhookOutcome::UnknownPayment);
    };
    let is_new = books.record_acquirer_event(&event.event_id).await?;
    if !is_new || payment.is_over() {
        return Ok(WebhookOutcome::NoEffect);
    }
    let result = match event.status {
        WebhookStatus::Approved => PaymentResult::Approved { amount: event.amount },
        WebhookStatus::Declined => PaymentResult::Declined,
    };
    let mut ours = payment.clone();
    ours.fence.attempt += 1;
    // It was charged, whether or not the owner came to say so.
    ours.charged_at = payment.charged_at.or(Some(books.now()));
    if !books.replace_payment(&payment.fence, &ours).await? {
        return Ok(WebhookOutcome::NoEffect);
    }
    finish_payment(books, &ours, result).await?;
    Ok(WebhookOutcome::Closed)
}

/// Payments without a living owner whose outcome the acquirer may know by now, taken over to be looked up.
pub async fn claim_abandoned<B: Books>(
    books: &mut B,
    world: &World,
    limit: u16,
) -> Result<Vec<Payment>, B::Error> {
    let mut claimed = Vec::new();
    for payment in books.unfinished_payments(limit).await? {
        // What was never sent has no outcome to look up.
        if payment.state != PaymentState::Reserved
            && let Some(mine) = claim(books, world, &payment).await?
        {
            claimed.push(mine);
        }
    }
    Ok(claimed)
}
