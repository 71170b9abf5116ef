//! A sale as it is asked for and as it is kept.
//!
//! Invariant: free texts here are normalised and never empty, so that two sales can be compared field by field.

use jiff::Timestamp;
use turno_domain::{
    Money,
    ids::{ExternalTransactionId, YupyTransactionId},
    lookalike::{Rule, Traits},
    text::fold_for_comparison,
};
use turno_protocol::body::{Confirmation, Context, Financial, State, Transaction};

/// What may be known of a sale beside its amount and its time. All of it is optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    pub buyer_name: Option<String>,
    pub integration_experience: Option<String>,
    pub shift_id: Option<String>,
    pub device_id: Option<String>,
    pub payment_method: Option<String>,
    pub context: Context,
}

/// The context fields with their names, sorted by name.
pub fn context_fields(context: &Context) -> [(&'static str, Option<&str>); 7] {
    [
        ("custom_reference_1", context.custom_reference_1.as_deref()),
        ("custom_reference_2", context.custom_reference_2.as_deref()),
        ("order", context.order.as_deref()),
        ("product", context.product.as_deref()),
        ("route", context.route.as_deref()),
        ("seat", context.seat.as_deref()),
        ("service", context.service.as_deref()),
    ]
}

/// A sale that passed validation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSale {
    pub external_transaction_id: ExternalTransactionId,
    pub amount: Money,
    /// `None`: it happened when it arrived.
    pub occurred_at: Option<Timestamp>,
    pub details: Details,
    pub confirmation: Option<Confirmation>,
}

/// A sale that was accepted. Only its state ever changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSale {
    pub yupy_transaction_id: YupyTransactionId,
    pub external_transaction_id: ExternalTransactionId,
    pub amount: Money,
    pub occurred_at: Timestamp,
    pub details: Details,
    pub state: State,
    pub created_at: Timestamp,
}

impl StoredSale {
    pub fn traits(&self) -> Traits {
        traits(self.amount, self.occurred_at, &self.details)
    }

    /// The buyer's name as names are compared; what a look-alike is searched by.
    pub(crate) fn folded_buyer_name(&self) -> Option<String> {
        let folded = self.details.buyer_name.as_deref().map(fold_for_comparison);
        folded.filter(|name| !name.is_empty())
    }

    /// As answers show it.
    pub fn view(&self) -> Transaction {
        self.clone().into_view()
    }

    /// As [`Self::view`].
    pub fn into_view(self) -> Transaction {
        let details = self.details;
        Transaction {
            yupy_transaction_id: self.yupy_transaction_id,
            external_transaction_id: self.external_transaction_id,
            amount: self.amount.to_amount_text(),
            currency: self.amount.currency(),
            occurred_at: self.occurred_at,
            state: self.state,
            created_at: self.created_at,
            buyer_name: details.buyer_name,
            integration_experience: details.integration_experience,
            shift_id: details.shift_id,
            device_id: details.device_id,
            payment_method: details.payment_method,
            context: details.context,
        }
    }
}

/// What a sale looks like to the rule of look-alikes.
pub fn traits(amount: Money, occurred_at: Timestamp, details: &Details) -> Traits {
    Traits {
        buyer_name: details.buyer_name.clone(),
        shift_id: details.shift_id.clone(),
        device_id: details.device_id.clone(),
        ..details.context.traits(amount, occurred_at)
    }
}

/// The milliseconds within which a look-alike may have happened, both included. Instants are finer than the
/// milliseconds that stores search by, so the window is a little wider and the rule looks again.
pub(crate) fn window_ms(asked: &Traits, rule: &Rule) -> (i64, i64) {
    let window = i64::try_from(rule.window().as_millis()).unwrap_or(i64::MAX).saturating_add(1);
    let at = asked.occurred_at.as_millisecond();
    (at.saturating_sub(window), at.saturating_add(window))
}

/// Cash is in the drawer before the sale is sent; anything else has to be asked for.
pub fn financial_at_creation(payment_method: Option<&str>) -> Financial {
    if payment_method == Some("cash") { Financial::Paid } else { Financial::AwaitingPayment }
}

#[cfg(test)]
pub(crate) mod cases;
