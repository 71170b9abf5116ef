//! What an answer to a void means (contract §9 and §11, *Void*).
//!
//! Invariant: a void is confirmed only by 200, JSON, both our ids and the state `voided`; whatever else is
//! recognisably YUPY's word is read as it would be for the sale, and the rest means *wait*.

use serde::Deserialize;
use turno_protocol::body::ErrorBody;
use turno_protocol::code::ErrorCode;

use super::{Expected, detail, not_yupy, read as read_for_sale};
use crate::answer::{Verdict as SaleVerdict, WaitCause};
use crate::transport::{Failure, Response};
use crate::voiding::{Refusal, Verdict};

/// What of a confirmation decides. A newer server's `result` is no reason to doubt that the sale is voided.
#[derive(Deserialize)]
struct Echo {
    yupy_transaction_id: String,
    external_transaction_id: String,
    state: EchoedState,
}

#[derive(Deserialize)]
struct EchoedState {
    operational: String,
}

/// Reads what came back, or did not.
#[must_use]
pub fn read(outcome: &Result<Response, Failure>, expected: &Expected, yupy_transaction_id: &str) -> Verdict {
    if let Ok(answer) = outcome {
        match answer.status {
            200 | 201 => return confirmation(answer, expected, yupy_transaction_id),
            400..=499 => match code(answer) {
                Some((ErrorCode::TransactionNotFound, _)) => return Verdict::NotFound,
                Some((ErrorCode::InvalidState, said)) => {
                    return Verdict::Refused { refusal: Refusal::InvalidState, detail: detail(&said) };
                }
                Some(_) | None => {}
            },
            _ => {}
        }
    }
    let unusable = Verdict::Wait { cause: WaitCause::UnusableAnswer, retry_after_ms: None };
    match read_for_sale(outcome, expected) {
        SaleVerdict::Wait { cause, retry_after_ms } => Verdict::Wait { cause, retry_after_ms },
        SaleVerdict::Pause(cause) => Verdict::Pause(cause),
        SaleVerdict::Attention { detail, .. } => Verdict::Refused { refusal: Refusal::Refused, detail },
        SaleVerdict::Collision(collision) => {
            Verdict::Refused { refusal: Refusal::Refused, detail: collision.detail }
        }
        SaleVerdict::Hold => Verdict::Wait { cause: WaitCause::ServerBusy, retry_after_ms: None },
        // Nobody asks questions about a void.
        SaleVerdict::Accepted(_) | SaleVerdict::Review(_) | SaleVerdict::ReviewAgain => unusable,
    }
}

fn code(answer: &Response) -> Option<(ErrorCode, ErrorBody)> {
    let body = answer.json()?;
    let said = ErrorBody::deserialize(body.get("error").unwrap_or(&body)).ok()?;
    Some((said.known_code()?, said))
}

fn confirmation(answer: &Response, expected: &Expected, yupy_transaction_id: &str) -> Verdict {
    let echo: Option<Echo> = answer.json().and_then(|body| serde_json::from_value(body).ok());
    let is_ours = echo.is_some_and(|echo| {
        echo.external_transaction_id == expected.external_transaction_id
            && echo.yupy_transaction_id == yupy_transaction_id
            && echo.state.operational == "voided"
    });
    if is_ours {
        return Verdict::Voided;
    }
    match not_yupy(answer) {
        SaleVerdict::Wait { cause, retry_after_ms } => Verdict::Wait { cause, retry_after_ms },
        SaleVerdict::Accepted(_)
        | SaleVerdict::Pause(_)
        | SaleVerdict::Review(_)
        | SaleVerdict::ReviewAgain
        | SaleVerdict::Attention { .. }
        | SaleVerdict::Hold
        | SaleVerdict::Collision(_) => {
            Verdict::Wait { cause: WaitCause::UnusableAnswer, retry_after_ms: None }
        }
    }
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
        read(&Ok(response), &expected(), "ypt-1")
    }

    fn json_answer(status: u16, body: &Value) -> Verdict {
        answer(status, "application/json", &body.to_string())
    }

    fn voided(result: &str) -> Value {
        json!({
            "result": result, "idempotency_replayed": false, "yupy_transaction_id": "ypt-1",
            "external_transaction_id": "E-1", "external_operation_id": "V-1", "request_id": "r",
            "state": { "operational": "voided", "financial": "refunded" },
        })
    }

    fn error(status: u16, code: &str) -> Verdict {
        let body =
            json!({ "error": { "code": code, "message": "…", "request_id": "r-1", "retryable": false } });
        json_answer(status, &body)
    }

    fn waits(cause: WaitCause) -> Verdict {
        Verdict::Wait { cause, retry_after_ms: None }
    }

    #[test]
    fn voided_now_before_or_by_somebody_else_is_voided() {
        for result in ["applied", "existing_operation", "already_in_state", "of_tomorrow"] {
            assert_eq!(json_answer(200, &voided(result)), Verdict::Voided, "{result}");
        }
    }

    #[test]
    fn a_confirmation_about_another_sale_or_of_one_that_is_still_active_confirms_nothing() {
        for (member, value) in [
            ("yupy_transaction_id", json!("ypt-2")),
            ("external_transaction_id", json!("E-2")),
            ("state", json!({ "operational": "active", "financial": "paid" })),
            ("state", json!(null)),
        ] {
            let mut body = voided("applied");
            body[member] = value;
            assert_eq!(json_answer(200, &body), waits(WaitCause::UnusableAnswer), "{member}");
        }
        assert_eq!(json_answer(200, &json!({})), waits(WaitCause::UnusableAnswer));
        assert_eq!(answer(200, "text/html", "<html>"), waits(WaitCause::Portal));
    }

    #[test]
    fn every_code_has_its_meaning() {
        let refused = |verdict: &Verdict, wanted: Refusal| match verdict {
            Verdict::Refused { refusal, .. } => *refusal == wanted,
            Verdict::Voided | Verdict::Wait { .. } | Verdict::Pause(_) | Verdict::NotFound => false,
        };
        assert_eq!(error(404, "transaction_not_found"), Verdict::NotFound);
        assert!(refused(&error(409, "invalid_state"), Refusal::InvalidState));
        for (status, code) in [
            (409, "idempotency_conflict"),
            (409, "external_transaction_conflict"),
            (422, "validation_failed"),
            (400, "malformed_request"),
            (413, "payload_too_large"),
            (418, "of_tomorrow"),
        ] {
            assert!(refused(&error(status, code), Refusal::Refused), "{code}");
        }
        assert_eq!(error(409, "idempotency_in_progress"), waits(WaitCause::InProgress));
        assert_eq!(error(409, "reconciliation_required"), waits(WaitCause::ServerBusy));
        assert_eq!(error(503, "service_unavailable"), waits(WaitCause::ServerBusy));
        assert_eq!(error(401, "unauthenticated"), Verdict::Pause(PauseCause::CredentialRefused));
        assert_eq!(error(404, "not_found"), Verdict::Pause(PauseCause::WrongAddress));
        assert_eq!(answer(404, "text/html", "gone"), Verdict::Pause(PauseCause::WrongAddress));
        assert_eq!(answer(302, "text/html", ""), waits(WaitCause::Portal));
        assert_eq!(read(&Err(Failure::TimedOut), &expected(), "ypt-1"), waits(WaitCause::TimedOut));
    }
}
