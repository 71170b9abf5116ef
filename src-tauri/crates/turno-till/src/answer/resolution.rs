//! What an answer to a decision means (contract §6, *Deciding elsewhere*, and §11, *Questions*).
//!
//! Invariant: a decision is told only by 200, JSON, the same question and the same decision; a decision that stands
//! against it is only YUPY's own `already_resolved`; and what is not recognisably YUPY's word means *wait*.

use serde::Deserialize;
use turno_protocol::body::{Decision, ErrorBody, ErrorDetails};
use turno_protocol::code::ErrorCode;

use super::{Expected, not_yupy, read as read_for_sale};
use crate::answer::{Verdict as SaleVerdict, WaitCause};
use crate::resolving::Verdict;
use crate::transport::{Failure, Response};

/// What a name may have that is shown and kept.
const NAME_CHARS: usize = 120;

/// What of an answer decides.
#[derive(Deserialize)]
struct Echo {
    challenge_id: String,
    decision: Decision,
}

/// Reads what came back, or did not. `NotOpen` says nothing yet of the sale: that is looked up.
#[must_use]
pub fn read(
    outcome: &Result<Response, Failure>,
    expected: &Expected,
    challenge_id: &str,
    decision: Decision,
) -> Verdict {
    let unusable = || Verdict::Wait { cause: WaitCause::UnusableAnswer, retry_after_ms: None };
    if let Ok(answer) = outcome {
        if matches!(answer.status, 200 | 201) {
            let echo: Option<Echo> = answer.json().and_then(|body| serde_json::from_value(body).ok());
            return match echo {
                Some(echo) if echo.challenge_id == challenge_id && echo.decision == decision => Verdict::Told,
                Some(_) => unusable(),
                None => match not_yupy(answer) {
                    SaleVerdict::Wait { cause, retry_after_ms } => Verdict::Wait { cause, retry_after_ms },
                    SaleVerdict::Accepted(_)
                    | SaleVerdict::Pause(_)
                    | SaleVerdict::Review(_)
                    | SaleVerdict::ReviewAgain
                    | SaleVerdict::Attention { .. }
                    | SaleVerdict::Hold
                    | SaleVerdict::Collision(_) => unusable(),
                },
            };
        }
        if let (400..=499, Some((code, said))) = (answer.status, code(answer)) {
            match (code, &said.details) {
                // The same decision before ours is the end that we wanted.
                (ErrorCode::AlreadyResolved, ErrorDetails::AlreadyResolved { decision: first, .. })
                    if *first == decision =>
                {
                    return Verdict::Told;
                }
                (ErrorCode::AlreadyResolved, ErrorDetails::AlreadyResolved { decided_by, .. }) => {
                    let decided_by = decided_by.chars().take(NAME_CHARS).collect();
                    return Verdict::DecidedOtherwise { decided_by };
                }
                // A question is YUPY's alone: one that it does not know, or that has ended, is no longer asked.
                (ErrorCode::InvalidState, _) => return Verdict::NotOpen,
                (ErrorCode::NotFound | ErrorCode::TransactionNotFound, _) => return Verdict::NotOpen,
                _ => {}
            }
        }
    }
    match read_for_sale(outcome, expected) {
        SaleVerdict::Wait { cause, retry_after_ms } => Verdict::Wait { cause, retry_after_ms },
        SaleVerdict::Pause(cause) => Verdict::Pause(cause),
        SaleVerdict::Attention { detail, .. } => Verdict::Refused { detail },
        SaleVerdict::Collision(collision) => Verdict::Refused { detail: collision.detail },
        SaleVerdict::Hold => Verdict::Wait { cause: WaitCause::ServerBusy, retry_after_ms: None },
        // Nobody asks questions about an answer.
        SaleVerdict::Accepted(_) | SaleVerdict::Review(_) | SaleVerdict::ReviewAgain => unusable(),
    }
}

fn code(answer: &Response) -> Option<(ErrorCode, ErrorBody)> {
    let body = answer.json()?;
    let said = ErrorBody::deserialize(body.get("error").unwrap_or(&body)).ok()?;
    Some((said.known_code()?, said))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::{Value, json};
    use turno_domain::{Currency, Money};

    use super::*;
    use crate::answer::PauseCause;

    fn expected() -> Expected {
        Expected {
            external_transaction_id: "E-1".to_owned(),
            occurred_at: Timestamp::UNIX_EPOCH,
            amount: Money::from_minor(200, Currency::PEN),
            first_attempt: false,
            confirms: false,
            corrected: None,
        }
    }

    fn answer(status: u16, media_type: &str, body: &str) -> Verdict {
        let response = Response {
            status,
            media_type: Some(media_type.to_owned()),
            body: body.as_bytes().to_vec(),
            ..Response::default()
        };
        read(&Ok(response), &expected(), "ch-1", Decision::SameSale)
    }

    fn json_answer(status: u16, body: &Value) -> Verdict {
        answer(status, "application/json", &body.to_string())
    }

    fn error(status: u16, code: &str, more: Value) -> Verdict {
        let mut said = json!({ "code": code, "message": "…", "request_id": "r-1", "retryable": false });
        said.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json_answer(status, &json!({ "error": said }))
    }

    fn waits(cause: WaitCause) -> Verdict {
        Verdict::Wait { cause, retry_after_ms: None }
    }

    #[test]
    fn only_the_same_decision_about_the_same_question_is_told() {
        let told = json!({ "challenge_id": "ch-1", "decision": "same_sale", "state": "closed" });
        assert_eq!(json_answer(200, &told), Verdict::Told);
        let first = json!({ "decision": "same_sale", "decided_by": "Rosa" });
        assert_eq!(error(409, "already_resolved", first), Verdict::Told, "somebody was earlier, and agrees");
        for (member, value) in [
            ("challenge_id", json!("ch-2")),
            ("decision", json!("different_sale")),
            ("decision", json!(null)),
        ] {
            let mut body = told.clone();
            body[member] = value;
            assert_eq!(json_answer(200, &body), waits(WaitCause::UnusableAnswer), "{member}");
        }
        assert_eq!(answer(200, "text/html", "<html>"), waits(WaitCause::Portal));
    }

    #[test]
    fn the_decision_that_stands_against_ours_comes_with_its_author() {
        let first = json!({ "decision": "different_sale", "decided_by": "Rosa" });
        let otherwise = Verdict::DecidedOtherwise { decided_by: "Rosa".to_owned() };
        assert_eq!(error(409, "already_resolved", first), otherwise);
        let unsaid = error(409, "already_resolved", json!({}));
        assert!(matches!(unsaid, Verdict::Refused { .. }), "{unsaid:?}: nobody is made up");
    }

    #[test]
    fn a_question_that_ended_or_that_nobody_knows_is_not_open() {
        assert_eq!(error(409, "invalid_state", json!({})), Verdict::NotOpen);
        assert_eq!(error(404, "not_found", json!({})), Verdict::NotOpen);
        assert_eq!(error(404, "transaction_not_found", json!({})), Verdict::NotOpen);
        assert_eq!(answer(404, "text/html", "gone"), Verdict::Pause(PauseCause::WrongAddress));
    }

    #[test]
    fn whatever_else_is_said_means_what_it_means_for_a_sale() {
        let none = || json!({});
        assert_eq!(error(503, "service_unavailable", none()), waits(WaitCause::ServerBusy));
        assert_eq!(error(429, "rate_limited", none()), waits(WaitCause::ServerBusy));
        assert_eq!(error(401, "unauthenticated", none()), Verdict::Pause(PauseCause::CredentialRefused));
        assert_eq!(error(403, "forbidden", none()), Verdict::Pause(PauseCause::CredentialRefused));
        assert!(matches!(error(422, "validation_failed", none()), Verdict::Refused { .. }));
        assert!(matches!(error(418, "of_tomorrow", none()), Verdict::Refused { .. }));
        assert_eq!(answer(302, "text/html", ""), waits(WaitCause::Portal));
        let lost = read(&Err(Failure::TimedOut), &expected(), "ch-1", Decision::SameSale);
        assert_eq!(lost, waits(WaitCause::TimedOut));
    }
}
