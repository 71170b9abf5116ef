//! What an answer means for the sale that asked: contract §9 as one table.
//!
//! `read` looks at the status, the media type, the code and the echo, in that order of distrust, and says one
//! [`Verdict`]. Invariant: a sale is accepted only by 200/201, JSON, our external id and a transaction id;
//! whatever is not recognisably YUPY's word means *wait*.

use jiff::Timestamp;
use serde_json::Value;
use turno_protocol::code::ErrorCode;
use turno_protocol::secret::Secret;

use crate::transport::{Failure, Response};

/// What the answer must echo.
#[derive(Clone, Debug)]
pub struct Expected {
    pub external_transaction_id: String,
    pub occurred_at: Timestamp,
    /// No earlier attempt with this key can have reached YUPY.
    pub first_attempt: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Accepted(Acceptance),
    Wait {
        cause: WaitCause,
        retry_after_ms: Option<i64>,
    },
    Pause(PauseCause),
    Review(Box<Question>),
    /// The confirmation is not good (any more): ask YUPY again, which asks the manager again.
    ReviewAgain,
    Attention {
        reason: AttentionReason,
        detail: String,
    },
    Hold,
    Collision(Collision),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptance {
    pub yupy_transaction_id: String,
}

/// Why a sale waits. Each is a sentence on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaitCause {
    NoNetwork,
    NoNameResolution,
    CertificateOrClock,
    Unreachable,
    Portal,
    ConnectionLost,
    TimedOut,
    ServerBusy,
    InProgress,
    UnusableAnswer,
}

impl WaitCause {
    /// Whether YUPY may have the sale although no usable answer came.
    #[must_use]
    pub fn may_have_arrived(self) -> bool {
        match self {
            Self::NoNetwork | Self::NoNameResolution | Self::CertificateOrClock | Self::Unreachable => false,
            Self::Portal
            | Self::ConnectionLost
            | Self::TimedOut
            | Self::ServerBusy
            | Self::InProgress
            | Self::UnusableAnswer => true,
        }
    }

    /// What the failure says about the line, as opposed to this one sale.
    #[must_use]
    pub fn blames(self) -> Blame {
        match self {
            Self::NoNetwork
            | Self::NoNameResolution
            | Self::CertificateOrClock
            | Self::Unreachable
            | Self::Portal => Blame::Line,
            Self::ConnectionLost | Self::TimedOut | Self::ServerBusy | Self::UnusableAnswer => Blame::Unclear,
            Self::InProgress => Blame::Sale,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// Every sale would meet the same: the line waits.
    Line,
    /// One sale or all of them: a few in a row make it the line's.
    Unclear,
    Sale,
}

/// Trouble of the credential or the address: the queue waits, no sale is to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PauseCause {
    CredentialRefused,
    WrongAddress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttentionReason {
    ExternalTransactionConflict,
    IdempotencyConflict,
    ValidationFailed,
    Refused,
    IdentityCollision,
    StoredBodyChanged,
}

/// Another till uses our identity, or this one was cloned or restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    pub yupy_transaction_id: Option<String>,
    pub detail: String,
}

/// YUPY's question whether this sale was sold before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub challenge_id: String,
    /// Whoever has it can confirm.
    pub token: Secret,
    pub expires_at: String,
    /// The candidate's own values, as YUPY sent them.
    pub candidate: Value,
    pub candidate_transaction_id: String,
    pub candidates_count: u32,
    pub matching_signals: Vec<String>,
    pub previous_confirmation: Option<String>,
}

/// Reads what came back, or did not.
#[must_use]
pub fn read(outcome: &Result<Response, Failure>, expected: &Expected) -> Verdict {
    let answer = match outcome {
        Ok(answer) => answer,
        Err(failure) => return wait(failure.cause()),
    };
    let retry_after_ms = answer.retry_after_ms();
    match answer.status {
        200 | 201 => acceptance(answer, expected),
        202 | 408 | 425 => Verdict::Wait { cause: WaitCause::InProgress, retry_after_ms },
        300..=399 | 511 => wait(WaitCause::Portal),
        401 | 403 => Verdict::Pause(PauseCause::CredentialRefused),
        404 | 405 | 415 => Verdict::Pause(PauseCause::WrongAddress),
        429 | 500..=599 => Verdict::Wait { cause: WaitCause::ServerBusy, retry_after_ms },
        400..=499 => refusal(answer, expected, retry_after_ms),
        _ => wait(WaitCause::Portal),
    }
}

fn wait(cause: WaitCause) -> Verdict {
    Verdict::Wait { cause, retry_after_ms: None }
}

/// Another media type is a portal's page; JSON that is not about our sale is nobody we know.
fn not_yupy(answer: &Response) -> Verdict {
    wait(if answer.is_json() { WaitCause::UnusableAnswer } else { WaitCause::Portal })
}

fn acceptance(answer: &Response, expected: &Expected) -> Verdict {
    let Some(body) = answer.json() else { return not_yupy(answer) };
    let text = |name: &str| body.get(name).and_then(Value::as_str);
    if text("external_transaction_id") != Some(&expected.external_transaction_id) {
        return not_yupy(answer);
    }
    let Some(id) = text("yupy_transaction_id").filter(|id| !id.is_empty()) else { return not_yupy(answer) };
    let happened = match body.get("occurred_at").filter(|at| !at.is_null()) {
        None => expected.occurred_at,
        Some(at) => match at.as_str().and_then(|at| at.parse::<Timestamp>().ok()) {
            Some(at) => at,
            None => return not_yupy(answer),
        },
    };
    // Somebody else sold under our id: acknowledging it would hide one of two sales.
    if answer.status == 200 && happened != expected.occurred_at {
        return Verdict::Collision(Collision {
            yupy_transaction_id: Some(id.to_owned()),
            detail: "the transaction at YUPY happened at another time than this sale".to_owned(),
        });
    }
    Verdict::Accepted(Acceptance { yupy_transaction_id: id.to_owned() })
}

fn refusal(answer: &Response, expected: &Expected, retry_after_ms: Option<i64>) -> Verdict {
    let Some(body) = answer.json() else { return not_yupy(answer) };
    // The problem+json profile carries the same members without the envelope.
    let error = body.get("error").unwrap_or(&body);
    let Some(code) = error.get("code").and_then(Value::as_str) else { return not_yupy(answer) };
    let attention = |reason| Verdict::Attention { reason, detail: detail(error, code) };
    let Some(known) = ErrorCode::parse(code) else { return attention(AttentionReason::Refused) };
    match known {
        ErrorCode::IdempotencyInProgress => Verdict::Wait { cause: WaitCause::InProgress, retry_after_ms },
        ErrorCode::RateLimited
        | ErrorCode::ServiceUnavailable
        | ErrorCode::InternalError
        | ErrorCode::OutcomeUnknown => Verdict::Wait { cause: WaitCause::ServerBusy, retry_after_ms },
        ErrorCode::PossibleDuplicateTransaction => {
            question(error).map_or_else(|| not_yupy(answer), |question| Verdict::Review(Box::new(question)))
        }
        ErrorCode::DuplicateConfirmationInvalid => Verdict::ReviewAgain,
        ErrorCode::ExternalTransactionConflict => attention(AttentionReason::ExternalTransactionConflict),
        ErrorCode::IdempotencyConflict if expected.first_attempt => Verdict::Collision(Collision {
            yupy_transaction_id: None,
            detail: "the first attempt of this sale met its own key with other content".to_owned(),
        }),
        ErrorCode::IdempotencyConflict => attention(AttentionReason::IdempotencyConflict),
        ErrorCode::ReconciliationRequired => Verdict::Hold,
        ErrorCode::ValidationFailed
        | ErrorCode::MalformedRequest
        | ErrorCode::PayloadTooLarge
        | ErrorCode::IdempotencyKeyRequired
        | ErrorCode::IdempotencyKeyInvalid => attention(AttentionReason::ValidationFailed),
        ErrorCode::Unauthenticated | ErrorCode::Forbidden | ErrorCode::EnrolmentRefused => {
            Verdict::Pause(PauseCause::CredentialRefused)
        }
        ErrorCode::NotFound
        | ErrorCode::MethodNotAllowed
        | ErrorCode::UnsupportedMediaType
        | ErrorCode::TransactionNotFound => Verdict::Pause(PauseCause::WrongAddress),
        ErrorCode::PaymentDeclined
        | ErrorCode::AlreadyResolved
        | ErrorCode::InvalidState
        | ErrorCode::EpochTaken => attention(AttentionReason::Refused),
    }
}

/// For support: the code and which fields, never a value, since names are personal data.
fn detail(error: &Value, code: &str) -> String {
    let named = |list: &str, member: Option<&str>| {
        let names: Vec<&str> = error
            .get(list)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|item| member.map_or(Some(item), |name| item.get(name)).and_then(Value::as_str))
            .collect();
        if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) }
    };
    let request_id = error.get("request_id").and_then(Value::as_str).unwrap_or("?");
    let fields = named("fields", Some("path")) + &named("conflicting_fields", None);
    // A portal's idea of an error may be long.
    format!("{code}{fields} ({request_id})").chars().take(300).collect()
}

fn question(error: &Value) -> Option<Question> {
    let text = |name: &str| error.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let candidate = error.get("candidate")?;
    Some(Question {
        challenge_id: text("challenge_id")?.to_owned(),
        token: Secret::new(text("duplicate_confirmation_token")?),
        expires_at: text("expires_at")?.to_owned(),
        candidate_transaction_id: candidate.get("yupy_transaction_id")?.as_str()?.to_owned(),
        candidates_count: error
            .get("candidates_count")
            .and_then(Value::as_u64)
            .and_then(|count| u32::try_from(count).ok())
            .unwrap_or(1),
        matching_signals: error
            .get("matching_signals")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|signal| signal.as_str().map(str::to_owned))
            .collect(),
        previous_confirmation: text("previous_confirmation").map(str::to_owned),
        candidate: candidate.clone(),
    })
}
