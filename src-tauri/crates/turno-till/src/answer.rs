//! What an answer means for the sale that asked: contract §9 as one table.
//!
//! `read` looks at the status, the media type, the code and the echo, in that order of distrust, and says one
//! [`Verdict`]. Invariant: a sale is accepted only by 200/201, JSON, our external id and a transaction id;
//! whatever is not recognisably YUPY's word means *wait*.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use turno_domain::Money;
use turno_domain::ids::YupyTransactionId;
use turno_protocol::body::{
    ErrorBody, ErrorDetails, ListAnswer, Transaction, TransactionAnswer, TransactionBody,
};
use turno_protocol::code::ErrorCode;
use turno_protocol::secret::Secret;

use crate::transport::{Failure, Response};

pub mod payment;
pub mod resolution;
pub mod void;

/// Of what an answer says, so much is kept for support.
const DETAIL_LIMIT: usize = 300;

/// A challenge is named in paths and on screens.
const CHALLENGE_ID_BYTES: usize = 128;
/// A token travels back in a body of at most 64 KiB, with the sale (contract §3).
const TOKEN_BYTES: usize = 4 * 1024;

/// What the answer must echo.
#[derive(Clone, Debug)]
pub struct Expected {
    pub external_transaction_id: String,
    pub occurred_at: Timestamp,
    pub amount: Money,
    /// No earlier attempt with this key can have reached YUPY.
    pub first_attempt: bool,
    /// A manager's confirmation was sent, so YUPY may speak of one.
    pub confirms: bool,
    /// What a corrected sale says; an earlier version of it may be what YUPY has.
    pub corrected: Option<Box<TransactionBody>>,
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

impl Verdict {
    /// YUPY has a transaction under the sale's id that says something else.
    #[must_use]
    pub fn is_conflict_about_the_id(&self) -> bool {
        matches!(self, Self::Attention { reason: AttentionReason::ExternalTransactionConflict, .. })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptance {
    pub yupy_transaction_id: String,
    /// What YUPY has is not all as it was sent now: it took an earlier version.
    pub differs: bool,
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

impl AttentionReason {
    /// YUPY has refused what the sale says, and has nothing under its id: a manager may say it otherwise.
    #[must_use]
    pub fn is_about_the_content(self) -> bool {
        match self {
            Self::ValidationFailed | Self::Refused => true,
            Self::ExternalTransactionConflict
            | Self::IdempotencyConflict
            | Self::IdentityCollision
            | Self::StoredBodyChanged => false,
        }
    }
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
        202 | 408 | 425 if answer.is_json() => Verdict::Wait { cause: WaitCause::InProgress, retry_after_ms },
        300..=399 | 511 => wait(WaitCause::Portal),
        401 | 403 => Verdict::Pause(PauseCause::CredentialRefused),
        404 | 405 | 415 => Verdict::Pause(PauseCause::WrongAddress),
        // 408 and 425 without JSON are a proxy's own and say nothing about our sale.
        408 | 425 | 429 | 500..=599 => Verdict::Wait { cause: WaitCause::ServerBusy, retry_after_ms },
        400..=499 => refusal(answer, expected, retry_after_ms),
        _ => wait(WaitCause::Portal),
    }
}

/// Reads the answer to a look-up by external id. `None`: YUPY does not have the sale.
#[must_use]
pub fn read_look_up(outcome: &Result<Response, Failure>, expected: &Expected) -> Option<Verdict> {
    let answer = match outcome {
        Ok(answer) if answer.status == 200 => answer,
        // Whatever is no list says the same as it would to the sale itself.
        Ok(Response { status: 201, .. }) => return Some(wait(WaitCause::UnusableAnswer)),
        Ok(_) | Err(_) => return Some(read(outcome, expected)),
    };
    let list: Option<ListAnswer<Transaction>> =
        answer.json().and_then(|body| serde_json::from_value(body).ok());
    let Some(list) = list else { return Some(not_yupy(answer)) };
    let found = list.items.first()?;
    if list.items.len() > 1 || found.external_transaction_id.as_str() != expected.external_transaction_id {
        return Some(not_yupy(answer));
    }
    let yupy_transaction_id = found.yupy_transaction_id.as_str().to_owned();
    let amount = Money::parse_amount(&found.amount, found.currency);
    let collision = |detail: &str| {
        Verdict::Collision(Collision {
            yupy_transaction_id: Some(yupy_transaction_id.clone()),
            detail: detail.to_owned(),
        })
    };
    Some(if amount != Ok(expected.amount) {
        collision("the transaction at YUPY has another amount than this sale")
    } else if found.occurred_at != expected.occurred_at {
        collision(OTHER_TIME)
    } else {
        let differs = expected
            .corrected
            .as_ref()
            .is_some_and(|sent| found.buyer_name != sent.buyer_name || found.context != sent.context);
        Verdict::Accepted(Acceptance { yupy_transaction_id, differs })
    })
}

const OTHER_TIME: &str = "the transaction at YUPY happened at another time than this sale";

fn wait(cause: WaitCause) -> Verdict {
    Verdict::Wait { cause, retry_after_ms: None }
}

/// Another media type is a portal's page; JSON that is not about our sale is nobody we know.
fn not_yupy(answer: &Response) -> Verdict {
    wait(if answer.is_json() { WaitCause::UnusableAnswer } else { WaitCause::Portal })
}

fn acceptance(answer: &Response, expected: &Expected) -> Verdict {
    let echo: Option<TransactionAnswer> = answer.json().and_then(|body| serde_json::from_value(body).ok());
    let is_ours =
        |echo: &TransactionAnswer| echo.external_transaction_id.as_str() == expected.external_transaction_id;
    let Some(echo) = echo.filter(is_ours) else { return not_yupy(answer) };
    let yupy_transaction_id = echo.yupy_transaction_id.into_string();
    // Somebody else sold under our id: acknowledging it would hide one of two sales.
    if answer.status == 200 && echo.occurred_at.is_some_and(|at| at != expected.occurred_at) {
        return Verdict::Collision(Collision {
            yupy_transaction_id: Some(yupy_transaction_id),
            detail: OTHER_TIME.to_owned(),
        });
    }
    Verdict::Accepted(Acceptance { yupy_transaction_id, differs: !echo.ignored_differences.is_empty() })
}

fn refusal(answer: &Response, expected: &Expected, retry_after_ms: Option<i64>) -> Verdict {
    let Some(body) = answer.json() else { return not_yupy(answer) };
    // The problem+json profile carries the same members without the envelope.
    let error = body.get("error").unwrap_or(&body);
    let Ok(said) = ErrorBody::deserialize(error) else { return not_yupy(answer) };
    let attention = |reason| Verdict::Attention { reason, detail: detail(&said) };
    let Some(code) = said.known_code() else { return attention(AttentionReason::Refused) };
    match code {
        ErrorCode::IdempotencyInProgress => Verdict::Wait { cause: WaitCause::InProgress, retry_after_ms },
        ErrorCode::RateLimited
        | ErrorCode::ServiceUnavailable
        | ErrorCode::InternalError
        | ErrorCode::OutcomeUnknown => Verdict::Wait { cause: WaitCause::ServerBusy, retry_after_ms },
        ErrorCode::PossibleDuplicateTransaction => question(said.details, error.get("candidate"))
            .map_or_else(|| not_yupy(answer), |question| Verdict::Review(Box::new(question))),
        ErrorCode::DuplicateConfirmationInvalid if expected.confirms => Verdict::ReviewAgain,
        // Asking again at once would get the same answer, and again.
        ErrorCode::DuplicateConfirmationInvalid => not_yupy(answer),
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
fn detail(said: &ErrorBody) -> String {
    let fields: Vec<&str> = match &said.details {
        ErrorDetails::Validation { fields } => fields.iter().map(|fault| fault.path.as_str()).collect(),
        ErrorDetails::ExternalConflict(conflict) => {
            conflict.conflicting_fields.iter().map(String::as_str).collect()
        }
        ErrorDetails::PossibleDuplicate(_)
        | ErrorDetails::ConfirmationInvalid { .. }
        | ErrorDetails::AlreadyResolved { .. }
        | ErrorDetails::Hint { .. }
        | ErrorDetails::None {} => Vec::new(),
    };
    let fields = if fields.is_empty() { String::new() } else { format!(": {}", fields.join(", ")) };
    // Whoever answers under this address may be anybody, with a text of any length.
    format!("{}{fields} ({})", said.code, said.request_id).chars().take(DETAIL_LIMIT).collect()
}

/// What a manager can be shown. Without a candidate that can be named, or an end to the question, nobody could decide
/// but blindly: then the sale waits, and asking again costs nothing, since YUPY repeats a question that is open.
/// The candidate itself stays as it came: a state that only a newer server knows must not hide it.
fn question(details: ErrorDetails, candidate: Option<&Value>) -> Option<Question> {
    let ErrorDetails::PossibleDuplicate(asked) = details else { return None };
    let candidate = candidate?;
    let candidate_transaction_id =
        YupyTransactionId::deserialize(candidate.get("yupy_transaction_id")?).ok()?;
    Some(Question {
        challenge_id: Some(asked.challenge_id).filter(|id| (1..=CHALLENGE_ID_BYTES).contains(&id.len()))?,
        token: Some(asked.duplicate_confirmation_token)
            .filter(|token| (1..=TOKEN_BYTES).contains(&token.expose().len()))?,
        expires_at: asked.expires_at?.to_string(),
        candidate_transaction_id: candidate_transaction_id.into_string(),
        // 0 when it was not said: then no earlier decision is taken to be about the same candidates.
        candidates_count: asked.candidates_count,
        matching_signals: asked.matching_signals.iter().map(|signal| signal.as_str().to_owned()).collect(),
        previous_confirmation: asked.previous_confirmation.map(|earlier| earlier.as_str().to_owned()),
        candidate: candidate.clone(),
    })
}

#[cfg(test)]
mod tests;
