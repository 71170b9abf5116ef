//! The one shape of every error, with what some codes add to it.
//!
//! Invariant: `retryable` follows from the code. What a code adds is one variant of [`ErrorDetails`], so no answer can
//! carry the members of two. Reading never fails over a detail: an error is understood by its code alone.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use turno_domain::Currency;
use turno_domain::ids::{ExternalTransactionId, YupyTransactionId};
use turno_domain::lookalike::Signal;

use super::{Decision, State};
use crate::code::ErrorCode;
use crate::lenient;
use crate::secret::Secret;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorEnvelope {
    pub error: ErrorBody,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorBody {
    /// The code as it travelled; [`ErrorBody::known_code`] understands it.
    pub code: String,
    /// Spanish, for people.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub message: String,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub request_id: String,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub retryable: bool,
    #[serde(flatten)]
    pub details: ErrorDetails,
}

/// What a code adds. Each variant has required members that no other has, which is how it is recognised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ErrorDetails {
    /// `possible_duplicate_transaction`
    PossibleDuplicate(Box<PossibleDuplicate>),
    /// `external_transaction_conflict`
    ExternalConflict(ExternalConflict),
    /// `validation_failed`
    Validation { fields: Vec<FieldFault> },
    /// `duplicate_confirmation_invalid`
    ConfirmationInvalid { reason: ConfirmationFault },
    /// `already_resolved`: the decision that stands.
    AlreadyResolved { decision: Decision, decided_by: String },
    /// `idempotency_conflict`, when only the confirmation differs.
    Hint { hint: ConflictHint },
    /// Every other code, and details that are not understood.
    None {},
}

/// The question of §6: is it the same sale?
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PossibleDuplicate {
    /// The most similar sale, with its own values. The server always sends it; a till can do without.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient::option")]
    pub candidate: Option<Candidate>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub candidates_count: u32,
    #[serde(default, deserialize_with = "lenient::list")]
    pub matching_signals: Vec<Signal>,
    pub challenge_id: String,
    pub duplicate_confirmation_token: Secret,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient::option")]
    pub expires_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub resolution: Resolution,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient::option")]
    pub previous_confirmation: Option<PreviousConfirmation>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    pub yupy_transaction_id: YupyTransactionId,
    pub external_transaction_id: ExternalTransactionId,
    pub amount: String,
    pub currency: Currency,
    pub occurred_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift_id: Option<String>,
    pub state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    #[default]
    ReviewBeforeCreating,
}

/// Why a confirmation that was sent along did not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreviousConfirmation {
    Superseded,
    Expired,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalConflict {
    pub external_transaction_id: ExternalTransactionId,
    pub yupy_transaction_id: YupyTransactionId,
    /// Sorted names, no values: whoever asks may not be allowed to know them.
    pub conflicting_fields: Vec<String>,
}

/// One failure of validation: where (dotted, e.g. `context.seat`) and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldFault {
    pub path: String,
    pub code: String,
}

/// Why a confirmation token is refused. Says nothing about candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfirmationFault {
    Malformed,
    NotIssuedHere,
    PayloadChanged,
    NotOpen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConflictHint {
    ConfirmationRequiresNewKey,
}

impl ErrorEnvelope {
    pub fn new(code: ErrorCode, message: impl Into<String>, request_id: impl Into<String>) -> ErrorEnvelope {
        ErrorEnvelope {
            error: ErrorBody {
                code: code.as_str().to_owned(),
                message: message.into(),
                request_id: request_id.into(),
                retryable: code.is_retryable(),
                details: ErrorDetails::None {},
            },
        }
    }

    pub fn with_details(mut self, details: ErrorDetails) -> ErrorEnvelope {
        self.error.details = details;
        self
    }
}

impl PreviousConfirmation {
    pub fn as_str(self) -> &'static str {
        match self {
            PreviousConfirmation::Superseded => "superseded",
            PreviousConfirmation::Expired => "expired",
        }
    }
}

impl ErrorBody {
    /// `None` for a code that this program does not know; then the status decides.
    pub fn known_code(&self) -> Option<ErrorCode> {
        ErrorCode::parse(&self.code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CANDIDATE: &str = concat!(
        r#"{"yupy_transaction_id":"ypt_1","external_transaction_id":"A-1","amount":"85.50","currency":"PEN","#,
        r#""occurred_at":"2026-11-30T15:00:00Z","device_id":"D03","shift_id":"S44","#,
        r#""state":{"operational":"active","financial":"paid"}}"#
    );

    fn check(details: ErrorDetails, members: &str) {
        let envelope =
            ErrorEnvelope::new(ErrorCode::IdempotencyConflict, "mensaje", "r-1").with_details(details);
        let json = serde_json::to_string(&envelope).unwrap();
        let expected = format!(
            r#"{{"error":{{"code":"idempotency_conflict","message":"mensaje","request_id":"r-1","retryable":false{members}}}}}"#
        );
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_str::<ErrorEnvelope>(&json).unwrap(), envelope, "reads back as itself");
    }

    #[test]
    fn each_code_adds_the_members_of_the_contract() {
        check(ErrorDetails::None {}, "");
        check(
            ErrorDetails::Hint { hint: ConflictHint::ConfirmationRequiresNewKey },
            r#","hint":"confirmation_requires_new_key""#,
        );
        check(
            ErrorDetails::ConfirmationInvalid { reason: ConfirmationFault::NotIssuedHere },
            r#","reason":"not_issued_here""#,
        );
        check(
            ErrorDetails::AlreadyResolved { decision: Decision::SameSale, decided_by: "Jefa".to_owned() },
            r#","decision":"same_sale","decided_by":"Jefa""#,
        );
        check(
            ErrorDetails::Validation {
                fields: vec![FieldFault { path: "context.seat".to_owned(), code: "wrong_type".to_owned() }],
            },
            r#","fields":[{"path":"context.seat","code":"wrong_type"}]"#,
        );
        check(
            ErrorDetails::ExternalConflict(ExternalConflict {
                external_transaction_id: ExternalTransactionId::parse("E-1").unwrap(),
                yupy_transaction_id: YupyTransactionId::parse("ypt_1").unwrap(),
                conflicting_fields: vec!["amount".to_owned()],
            }),
            r#","external_transaction_id":"E-1","yupy_transaction_id":"ypt_1","conflicting_fields":["amount"]"#,
        );
        check(
            ErrorDetails::PossibleDuplicate(Box::new(PossibleDuplicate {
                candidate: Some(serde_json::from_str(CANDIDATE).unwrap()),
                candidates_count: 2,
                matching_signals: vec![Signal::Amount, Signal::CustomReference2],
                challenge_id: "ch_1".to_owned(),
                duplicate_confirmation_token: Secret::new("t"),
                expires_at: Some("2026-12-01T15:00:00Z".parse().unwrap()),
                resolution: Resolution::ReviewBeforeCreating,
                previous_confirmation: Some(PreviousConfirmation::Superseded),
            })),
            &format!(
                concat!(
                    r#","candidate":{},"candidates_count":2,"matching_signals":["amount","custom_reference_2"],"#,
                    r#""challenge_id":"ch_1","duplicate_confirmation_token":"t","expires_at":"2026-12-01T15:00:00Z","#,
                    r#""resolution":"review_before_creating","previous_confirmation":"superseded""#
                ),
                CANDIDATE
            ),
        );
    }

    fn read(json: &str) -> ErrorBody {
        serde_json::from_str::<ErrorEnvelope>(json).expect(json).error
    }

    #[test]
    fn an_error_is_understood_by_its_code_alone() {
        let body = read(r#"{"error":{"code":"rate_limited"}}"#);
        assert_eq!(body.known_code(), Some(ErrorCode::RateLimited));
        assert_eq!(body.details, ErrorDetails::None {});
        let odd = read(
            r#"{"error":{"code":"of_tomorrow","message":7,"request_id":null,"retryable":"no","x":{}},"y":1}"#,
        );
        assert_eq!(odd.known_code(), None);
        assert_eq!((odd.message.as_str(), odd.retryable), ("", false));
    }

    #[test]
    fn a_question_needs_its_challenge_and_token_and_no_more() {
        let body = read(
            r#"{"error":{"code":"possible_duplicate_transaction","challenge_id":"ch_1","duplicate_confirmation_token":"t",
                "candidate":{"state":"odd"},"matching_signals":["seat","colour"],"expires_at":"soon","resolution":"other","of_tomorrow":1}}"#,
        );
        let ErrorDetails::PossibleDuplicate(question) = body.details else { panic!("{:?}", body.details) };
        assert_eq!(question.candidate, None);
        assert_eq!(question.matching_signals, [Signal::Seat]);
        assert_eq!(question.expires_at, None);
        let body = read(r#"{"error":{"code":"possible_duplicate_transaction","challenge_id":"ch_1"}}"#);
        assert_eq!(body.details, ErrorDetails::None {});
    }

    #[test]
    fn what_became_of_a_confirmation_is_one_word_everywhere() {
        for earlier in [PreviousConfirmation::Superseded, PreviousConfirmation::Expired] {
            assert_eq!(serde_json::to_value(earlier).unwrap(), earlier.as_str());
        }
    }

    #[test]
    fn what_is_no_error_of_yupy_does_not_parse() {
        for json in ["{}", r#"{"error":"busy"}"#, r#"{"error":{}}"#, r#"{"error":{"code":7}}"#, "[]"] {
            assert!(serde_json::from_str::<ErrorEnvelope>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn the_token_is_not_shown_when_an_error_is_logged() {
        let body =
            read(r#"{"error":{"code":"x","challenge_id":"ch_1","duplicate_confirmation_token":"tok-123"}}"#);
        assert!(!format!("{body:?}").contains("tok-123"));
    }
}
