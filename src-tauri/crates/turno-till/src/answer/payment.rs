//! What an answer to a card payment means (contract §7 and §11, *Payments*).
//!
//! Invariant: a payment is approved only by 200/201, JSON, all our ids, our amount and the word `approved`, and declined
//! only by 402 with the code that says so; whatever else is recognisably YUPY's word is read as it would be for the
//! sale, and the rest means *wait*.

use serde::Deserialize;
use turno_domain::Money;
use turno_protocol::body::{ErrorBody, PaymentAnswer, PaymentResult};
use turno_protocol::code::ErrorCode;

use super::{Expected, detail, not_yupy, read as read_for_sale};
use crate::answer::{Verdict as SaleVerdict, WaitCause};
use crate::paying::{Trouble, Verdict};
use crate::transport::{Failure, Response};

/// What names the payment that was asked for.
pub struct Asked {
    pub external_payment_id: String,
    pub yupy_transaction_id: String,
    pub amount: Money,
}

/// Reads what came back, or did not.
#[must_use]
pub fn read(outcome: &Result<Response, Failure>, expected: &Expected, asked: &Asked) -> Verdict {
    if let Ok(answer) = outcome {
        let waits = Verdict::Wait { cause: WaitCause::InProgress, retry_after_ms: answer.retry_after_ms() };
        let refused = |trouble, said: &ErrorBody| Verdict::Refused { trouble, detail: detail(said) };
        match (answer.status, code(answer)) {
            (200 | 201, _) => return settled(answer, expected, asked),
            (402, Some((ErrorCode::PaymentDeclined, _))) => return Verdict::Declined,
            (404, Some((ErrorCode::TransactionNotFound, _))) => return Verdict::NotFound,
            (409, Some((ErrorCode::InvalidState, said))) => return refused(Trouble::InvalidState, &said),
            (409, Some((ErrorCode::ReconciliationRequired, said))) => {
                return refused(Trouble::ReconciliationRequired, &said);
            }
            // The acquirer's silence says nothing about the line to YUPY.
            (503, Some((ErrorCode::OutcomeUnknown, _))) => return waits,
            _ => {}
        }
    }
    match read_for_sale(outcome, expected) {
        SaleVerdict::Wait { cause, retry_after_ms } => Verdict::Wait { cause, retry_after_ms },
        SaleVerdict::Pause(cause) => Verdict::Pause(cause),
        SaleVerdict::Attention { detail, .. } => Verdict::Refused { trouble: Trouble::Refused, detail },
        SaleVerdict::Collision(collision) => {
            Verdict::Refused { trouble: Trouble::Refused, detail: collision.detail }
        }
        // Nobody asks questions about a payment.
        SaleVerdict::Accepted(_) | SaleVerdict::Review(_) | SaleVerdict::ReviewAgain | SaleVerdict::Hold => {
            UNUSABLE
        }
    }
}

const UNUSABLE: Verdict = Verdict::Wait { cause: WaitCause::UnusableAnswer, retry_after_ms: None };

fn code(answer: &Response) -> Option<(ErrorCode, ErrorBody)> {
    let body = answer.json()?;
    let said = ErrorBody::deserialize(body.get("error").unwrap_or(&body)).ok()?;
    Some((said.known_code()?, said))
}

fn settled(answer: &Response, expected: &Expected, asked: &Asked) -> Verdict {
    let echo: Option<PaymentAnswer> = answer.json().and_then(|body| serde_json::from_value(body).ok());
    let is_ours = |echo: &PaymentAnswer| {
        echo.external_payment_id.as_str() == asked.external_payment_id
            && echo.external_transaction_id.as_str() == expected.external_transaction_id
            && echo.yupy_transaction_id.as_str() == asked.yupy_transaction_id
            && Money::parse_amount(&echo.amount, echo.currency) == Ok(asked.amount)
            && !echo.acquirer_payment_id.is_empty()
    };
    match echo.filter(is_ours) {
        Some(PaymentAnswer { result: PaymentResult::Approved, acquirer_payment_id, .. }) => {
            Verdict::Approved { acquirer_payment_id }
        }
        Some(PaymentAnswer { result: PaymentResult::Processing, .. }) => {
            Verdict::Wait { cause: WaitCause::InProgress, retry_after_ms: answer.retry_after_ms() }
        }
        None => match not_yupy(answer) {
            SaleVerdict::Wait { cause, retry_after_ms } => Verdict::Wait { cause, retry_after_ms },
            SaleVerdict::Accepted(_)
            | SaleVerdict::Pause(_)
            | SaleVerdict::Review(_)
            | SaleVerdict::ReviewAgain
            | SaleVerdict::Attention { .. }
            | SaleVerdict::Hold
            | SaleVerdict::Collision(_) => UNUSABLE,
        },
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::{Value, json};
    use turno_domain::Currency;

    use super::*;
    use crate::answer::PauseCause;

    fn answer(status: u16, media_type: &str, body: &str) -> Verdict {
        let response = Response {
            status,
            media_type: Some(media_type.to_owned()),
            body: body.as_bytes().to_vec(),
            ..Response::default()
        };
        read_it(&Ok(response))
    }

    fn read_it(outcome: &Result<Response, Failure>) -> Verdict {
        let amount = Money::from_minor(8_550, Currency::PEN);
        let expected = Expected {
            external_transaction_id: "E-1".to_owned(),
            occurred_at: Timestamp::UNIX_EPOCH,
            amount,
            first_attempt: false,
            confirms: false,
            corrected: None,
        };
        let asked = Asked {
            external_payment_id: "E-1-P1".to_owned(),
            yupy_transaction_id: "ypt-1".to_owned(),
            amount,
        };
        read(outcome, &expected, &asked)
    }

    fn json_answer(status: u16, body: &Value) -> Verdict {
        answer(status, "application/json", &body.to_string())
    }

    fn paid(result: &str) -> Value {
        json!({
            "result": result, "idempotency_replayed": false, "yupy_transaction_id": "ypt-1",
            "external_transaction_id": "E-1", "external_payment_id": "E-1-P1", "acquirer_payment_id": "acq-1",
            "amount": "85.50", "currency": "PEN", "request_id": "r",
            "state": { "operational": "active", "financial": "paid" },
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
    fn approved_now_or_before_is_approved_and_processing_waits() {
        let approved = Verdict::Approved { acquirer_payment_id: "acq-1".to_owned() };
        assert_eq!(json_answer(201, &paid("approved")), approved);
        assert_eq!(json_answer(200, &paid("approved")), approved);
        assert_eq!(json_answer(202, &paid("processing")), waits(WaitCause::InProgress));
        assert_eq!(json_answer(200, &paid("processing")), waits(WaitCause::InProgress));
        // A word that only a newer server knows approves nothing.
        assert_eq!(json_answer(200, &paid("of_tomorrow")), waits(WaitCause::UnusableAnswer));
    }

    #[test]
    fn an_approval_of_another_payment_or_amount_approves_nothing() {
        for (member, value) in [
            ("yupy_transaction_id", json!("ypt-2")),
            ("external_transaction_id", json!("E-2")),
            ("external_payment_id", json!("E-1-P2")),
            ("acquirer_payment_id", json!("")),
            ("amount", json!("85.49")),
            ("currency", json!("USD")),
            ("result", json!(null)),
        ] {
            let mut body = paid("approved");
            body[member] = value;
            assert_eq!(json_answer(200, &body), waits(WaitCause::UnusableAnswer), "{member}");
        }
        assert_eq!(json_answer(201, &json!({})), waits(WaitCause::UnusableAnswer));
        assert_eq!(answer(200, "text/html", "<html>"), waits(WaitCause::Portal));
    }

    #[test]
    fn only_yupys_own_402_declines() {
        assert_eq!(error(402, "payment_declined"), Verdict::Declined);
        assert_eq!(answer(402, "text/html", "pay for the Wi-Fi"), waits(WaitCause::Portal));
        assert!(matches!(error(402, "of_tomorrow"), Verdict::Refused { trouble: Trouble::Refused, .. }));
        assert!(!matches!(error(409, "payment_declined"), Verdict::Declined));
    }

    #[test]
    fn every_code_has_its_meaning() {
        let refused = |verdict: Verdict, wanted: Trouble| match verdict {
            Verdict::Refused { trouble, .. } => trouble == wanted,
            Verdict::Approved { .. }
            | Verdict::Declined
            | Verdict::Wait { .. }
            | Verdict::Pause(_)
            | Verdict::NotFound => false,
        };
        assert_eq!(error(404, "transaction_not_found"), Verdict::NotFound);
        assert!(refused(error(409, "invalid_state"), Trouble::InvalidState));
        assert!(refused(error(409, "reconciliation_required"), Trouble::ReconciliationRequired));
        for (status, code) in [
            (409, "idempotency_conflict"),
            (409, "external_transaction_conflict"),
            (422, "validation_failed"),
            (400, "malformed_request"),
            (413, "payload_too_large"),
            (418, "of_tomorrow"),
        ] {
            assert!(refused(error(status, code), Trouble::Refused), "{code}");
        }
        assert_eq!(error(409, "idempotency_in_progress"), waits(WaitCause::InProgress));
        assert_eq!(error(503, "outcome_unknown"), waits(WaitCause::InProgress));
        assert_eq!(error(503, "service_unavailable"), waits(WaitCause::ServerBusy));
        assert_eq!(error(401, "unauthenticated"), Verdict::Pause(PauseCause::CredentialRefused));
        assert_eq!(error(404, "not_found"), Verdict::Pause(PauseCause::WrongAddress));
        assert_eq!(answer(302, "text/html", ""), waits(WaitCause::Portal));
        assert_eq!(read_it(&Err(Failure::TimedOut)), waits(WaitCause::TimedOut));
    }
}
