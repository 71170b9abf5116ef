//! Rows F: an external id that is known already (contract §4).
//!
//! Invariant: a known sale is never changed by what is sent again under its id.

use turno_domain::ids::ExternalTransactionId;

use crate::sale::{NewSale, StoredSale, context_fields};

/// How a sale that was sent again compares with the stored one.
pub(super) enum Comparison {
    /// F1: sorted names of the critical fields that differ.
    Conflict(Vec<&'static str>),
    /// F2: names of what was sent, differs, and is ignored.
    Same { ignored_differences: Vec<&'static str> },
}

pub(super) fn compare(stored: &StoredSale, sent: &NewSale) -> Comparison {
    debug_assert!(same_id(&stored.external_transaction_id, &sent.external_transaction_id), "found by its id");
    let conflicting = conflicting_fields(stored, sent);
    if conflicting.is_empty() {
        Comparison::Same { ignored_differences: ignored_differences(stored, sent) }
    } else {
        Comparison::Conflict(conflicting)
    }
}

fn same_id(one: &ExternalTransactionId, other: &ExternalTransactionId) -> bool {
    one == other
}

fn conflicting_fields(stored: &StoredSale, sent: &NewSale) -> Vec<&'static str> {
    let mut fields = Vec::new();
    if stored.amount.minor() != sent.amount.minor() {
        fields.push("amount");
    }
    if stored.amount.currency() != sent.amount.currency() {
        fields.push("currency");
    }
    let kept = context_fields(&stored.details.context);
    let said = context_fields(&sent.details.context);
    for ((name, kept), (_, said)) in kept.into_iter().zip(said) {
        // A value on one side only says nothing against the other.
        if kept.is_some() && said.is_some() && kept != said {
            fields.push(name);
        }
    }
    fields.sort_unstable();
    fields
}

/// Only what was sent can be ignored: silence is no difference.
fn ignored_differences(stored: &StoredSale, sent: &NewSale) -> Vec<&'static str> {
    let (kept, said) = (&stored.details, &sent.details);
    let texts = [
        ("buyer_name", &kept.buyer_name, &said.buyer_name),
        ("shift_id", &kept.shift_id, &said.shift_id),
        ("device_id", &kept.device_id, &said.device_id),
        ("integration_experience", &kept.integration_experience, &said.integration_experience),
        ("payment_method", &kept.payment_method, &said.payment_method),
    ];
    let time = sent.occurred_at.is_some_and(|time| time != stored.occurred_at).then_some("occurred_at");
    let texts =
        texts.into_iter().filter(|(_, kept, said)| said.is_some() && kept != said).map(|(name, ..)| name);
    time.into_iter().chain(texts).collect()
}
