//! The error codes of the contract: what programs branch on, never the status or the message alone.
//!
//! Invariant: every property of a code stands here once, so the server cannot answer and the till cannot read the
//! same code in two ways.

/// Every code that an error body of the contract can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorCode {
    MalformedRequest,
    IdempotencyKeyRequired,
    IdempotencyKeyInvalid,
    Unauthenticated,
    PaymentDeclined,
    Forbidden,
    EnrolmentRefused,
    NotFound,
    TransactionNotFound,
    MethodNotAllowed,
    IdempotencyConflict,
    IdempotencyInProgress,
    ExternalTransactionConflict,
    PossibleDuplicateTransaction,
    ReconciliationRequired,
    AlreadyResolved,
    InvalidState,
    EpochTaken,
    PayloadTooLarge,
    UnsupportedMediaType,
    ValidationFailed,
    DuplicateConfirmationInvalid,
    RateLimited,
    InternalError,
    ServiceUnavailable,
    OutcomeUnknown,
}

/// How an integration wants `idempotency_conflict` answered; everything else is the same in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorProfile {
    #[default]
    Default,
    /// The IETF draft's status for a key that was used with other content.
    Ietf,
}

impl ErrorProfile {
    pub fn parse(name: &str) -> Option<ErrorProfile> {
        match name {
            "default" => Some(ErrorProfile::Default),
            "ietf" => Some(ErrorProfile::Ietf),
            _ => None,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            ErrorProfile::Default => "default",
            ErrorProfile::Ietf => "ietf",
        }
    }
}

impl ErrorCode {
    pub const ALL: [ErrorCode; 26] = [
        ErrorCode::MalformedRequest,
        ErrorCode::IdempotencyKeyRequired,
        ErrorCode::IdempotencyKeyInvalid,
        ErrorCode::Unauthenticated,
        ErrorCode::PaymentDeclined,
        ErrorCode::Forbidden,
        ErrorCode::EnrolmentRefused,
        ErrorCode::NotFound,
        ErrorCode::TransactionNotFound,
        ErrorCode::MethodNotAllowed,
        ErrorCode::IdempotencyConflict,
        ErrorCode::IdempotencyInProgress,
        ErrorCode::ExternalTransactionConflict,
        ErrorCode::PossibleDuplicateTransaction,
        ErrorCode::ReconciliationRequired,
        ErrorCode::AlreadyResolved,
        ErrorCode::InvalidState,
        ErrorCode::EpochTaken,
        ErrorCode::PayloadTooLarge,
        ErrorCode::UnsupportedMediaType,
        ErrorCode::ValidationFailed,
        ErrorCode::DuplicateConfirmationInvalid,
        ErrorCode::RateLimited,
        ErrorCode::InternalError,
        ErrorCode::ServiceUnavailable,
        ErrorCode::OutcomeUnknown,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            ErrorCode::MalformedRequest => "malformed_request",
            ErrorCode::IdempotencyKeyRequired => "idempotency_key_required",
            ErrorCode::IdempotencyKeyInvalid => "idempotency_key_invalid",
            ErrorCode::Unauthenticated => "unauthenticated",
            ErrorCode::PaymentDeclined => "payment_declined",
            ErrorCode::Forbidden => "forbidden",
            ErrorCode::EnrolmentRefused => "enrolment_refused",
            ErrorCode::NotFound => "not_found",
            ErrorCode::TransactionNotFound => "transaction_not_found",
            ErrorCode::MethodNotAllowed => "method_not_allowed",
            ErrorCode::IdempotencyConflict => "idempotency_conflict",
            ErrorCode::IdempotencyInProgress => "idempotency_in_progress",
            ErrorCode::ExternalTransactionConflict => "external_transaction_conflict",
            ErrorCode::PossibleDuplicateTransaction => "possible_duplicate_transaction",
            ErrorCode::ReconciliationRequired => "reconciliation_required",
            ErrorCode::AlreadyResolved => "already_resolved",
            ErrorCode::InvalidState => "invalid_state",
            ErrorCode::EpochTaken => "epoch_taken",
            ErrorCode::PayloadTooLarge => "payload_too_large",
            ErrorCode::UnsupportedMediaType => "unsupported_media_type",
            ErrorCode::ValidationFailed => "validation_failed",
            ErrorCode::DuplicateConfirmationInvalid => "duplicate_confirmation_invalid",
            ErrorCode::RateLimited => "rate_limited",
            ErrorCode::InternalError => "internal_error",
            ErrorCode::ServiceUnavailable => "service_unavailable",
            ErrorCode::OutcomeUnknown => "outcome_unknown",
        }
    }

    /// The code of this name; `None` for one that a newer server may know.
    pub fn parse(name: &str) -> Option<ErrorCode> {
        ErrorCode::ALL.into_iter().find(|code| code.as_str() == name)
    }

    /// The status in the default profile.
    pub fn status(self) -> u16 {
        match self {
            ErrorCode::MalformedRequest
            | ErrorCode::IdempotencyKeyRequired
            | ErrorCode::IdempotencyKeyInvalid => 400,
            ErrorCode::Unauthenticated => 401,
            ErrorCode::PaymentDeclined => 402,
            ErrorCode::Forbidden | ErrorCode::EnrolmentRefused => 403,
            ErrorCode::NotFound | ErrorCode::TransactionNotFound => 404,
            ErrorCode::MethodNotAllowed => 405,
            ErrorCode::IdempotencyConflict
            | ErrorCode::IdempotencyInProgress
            | ErrorCode::ExternalTransactionConflict
            | ErrorCode::PossibleDuplicateTransaction
            | ErrorCode::ReconciliationRequired
            | ErrorCode::AlreadyResolved
            | ErrorCode::InvalidState
            | ErrorCode::EpochTaken => 409,
            ErrorCode::PayloadTooLarge => 413,
            ErrorCode::UnsupportedMediaType => 415,
            ErrorCode::ValidationFailed | ErrorCode::DuplicateConfirmationInvalid => 422,
            ErrorCode::RateLimited => 429,
            ErrorCode::InternalError => 500,
            ErrorCode::ServiceUnavailable | ErrorCode::OutcomeUnknown => 503,
        }
    }

    pub fn status_in(self, profile: ErrorProfile) -> u16 {
        match (profile, self == ErrorCode::IdempotencyConflict) {
            (ErrorProfile::Ietf, true) => 422,
            (ErrorProfile::Ietf, false) | (ErrorProfile::Default, _) => self.status(),
        }
    }

    /// Whether a program may send the same request with the same key again.
    pub fn is_retryable(self) -> bool {
        match self {
            ErrorCode::IdempotencyInProgress
            | ErrorCode::RateLimited
            | ErrorCode::ServiceUnavailable
            | ErrorCode::InternalError
            | ErrorCode::OutcomeUnknown => true,
            ErrorCode::MalformedRequest
            | ErrorCode::IdempotencyKeyRequired
            | ErrorCode::IdempotencyKeyInvalid
            | ErrorCode::Unauthenticated
            | ErrorCode::PaymentDeclined
            | ErrorCode::Forbidden
            | ErrorCode::EnrolmentRefused
            | ErrorCode::NotFound
            | ErrorCode::TransactionNotFound
            | ErrorCode::MethodNotAllowed
            | ErrorCode::IdempotencyConflict
            | ErrorCode::ExternalTransactionConflict
            | ErrorCode::PossibleDuplicateTransaction
            | ErrorCode::ReconciliationRequired
            | ErrorCode::AlreadyResolved
            | ErrorCode::InvalidState
            | ErrorCode::EpochTaken
            | ErrorCode::PayloadTooLarge
            | ErrorCode::UnsupportedMediaType
            | ErrorCode::ValidationFailed
            | ErrorCode::DuplicateConfirmationInvalid => false,
        }
    }

    /// Whether an answer with this code must say when to come back. A retry without a date is left to the sender.
    pub fn needs_retry_after(self) -> bool {
        // `internal_error` and `outcome_unknown` are retryable, but nobody knows when.
        let date_is_unknown = matches!(self, ErrorCode::InternalError | ErrorCode::OutcomeUnknown);
        self.is_retryable() && !date_is_unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_listed_once_and_found_by_its_name() {
        assert!(ErrorCode::ALL.is_sorted_by(|a, b| a < b), "all codes, in the order of the enum, none twice");
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::parse(code.as_str()), Some(code));
        }
        assert_eq!(ErrorCode::OutcomeUnknown as usize + 1, ErrorCode::ALL.len());
        assert_eq!(ErrorCode::parse("Forbidden"), None);
        assert_eq!(ErrorCode::parse("a_code_of_tomorrow"), None);
    }

    #[test]
    fn exactly_these_codes_may_be_retried_and_these_say_when() {
        let names = |rule: fn(ErrorCode) -> bool| {
            ErrorCode::ALL.into_iter().filter(|code| rule(*code)).map(ErrorCode::as_str).collect::<Vec<_>>()
        };
        assert_eq!(
            names(ErrorCode::is_retryable),
            [
                "idempotency_in_progress",
                "rate_limited",
                "internal_error",
                "service_unavailable",
                "outcome_unknown"
            ]
        );
        assert_eq!(
            names(ErrorCode::needs_retry_after),
            ["idempotency_in_progress", "rate_limited", "service_unavailable"]
        );
    }

    #[test]
    fn the_profiles_differ_in_one_status_only() {
        let differing: Vec<ErrorCode> = ErrorCode::ALL
            .into_iter()
            .filter(|code| code.status_in(ErrorProfile::Ietf) != code.status_in(ErrorProfile::Default))
            .collect();
        assert_eq!(differing, [ErrorCode::IdempotencyConflict]);
        assert_eq!(ErrorCode::IdempotencyConflict.status_in(ErrorProfile::Ietf), 422);
        for profile in [ErrorProfile::Default, ErrorProfile::Ietf] {
            assert_eq!(ErrorProfile::parse(profile.as_str()), Some(profile));
        }
        assert_eq!(ErrorProfile::parse("IETF"), None);
    }

    #[test]
    fn a_retryable_code_is_a_conflict_a_throttle_or_a_server_error() {
        for code in ErrorCode::ALL {
            assert!(!code.is_retryable() || matches!(code.status(), 409 | 429 | 500..), "{}", code.as_str());
            assert!((400..600).contains(&code.status()), "{}", code.as_str());
        }
    }
}
