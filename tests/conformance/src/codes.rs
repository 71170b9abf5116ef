//! The error codes that the contract names, with what every error under them owes.
//!
//! Invariant: retryable are those of this list and no others; a server may have more codes for what the contract
//! leaves open (an unknown address, say).

/// What an error under a code looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    pub name: &'static str,
    pub statuses: &'static [u16],
    pub retry: Retry,
}

/// Whether a program may send the same again by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    Never,
    Sometime,
    /// When `Retry-After` says, which has to be there.
    After,
}

pub fn find(name: &str) -> Option<&'static Code> {
    CODES.iter().find(|code| code.name == name)
}

const fn code(name: &'static str, statuses: &'static [u16], retry: Retry) -> Code {
    Code { name, statuses, retry }
}

use Retry::{After, Never, Sometime};

const CODES: &[Code] = &[
    code("malformed_request", &[400], Never),
    code("idempotency_key_required", &[400], Never),
    code("idempotency_key_invalid", &[400], Never),
    code("unauthenticated", &[401], Never),
    code("payment_declined", &[402], Never),
    code("forbidden", &[403], Never),
    code("transaction_not_found", &[404], Never),
    // 422 for an integration on the IETF's profile.
    code("idempotency_conflict", &[409, 422], Never),
    code("idempotency_in_progress", &[409], After),
    code("external_transaction_conflict", &[409], Never),
    code("possible_duplicate_transaction", &[409], Never),
    code("reconciliation_required", &[409], Never),
    code("already_resolved", &[409], Never),
    code("invalid_state", &[409], Never),
    code("payload_too_large", &[413], Never),
    code("unsupported_media_type", &[415], Never),
    code("validation_failed", &[422], Never),
    code("duplicate_confirmation_invalid", &[422], Never),
    code("rate_limited", &[429], After),
    code("internal_error", &[500], Sometime),
    code("service_unavailable", &[503], After),
    code("outcome_unknown", &[503], Sometime),
];
