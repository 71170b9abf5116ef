//! `POST /v1/transactions/{id}/payments`: one attempt to be paid, named by its permanent id.

use serde::{Deserialize, Serialize};
use turno_domain::Currency;
use turno_domain::ids::{ExternalPaymentId, ExternalTransactionId, YupyTransactionId};

use super::State;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentRequest {
    pub external_payment_id: ExternalPaymentId,
    pub amount: String,
    pub currency: Currency,
    pub method: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentAnswer {
    pub result: PaymentResult,
    pub idempotency_replayed: bool,
    pub yupy_transaction_id: YupyTransactionId,
    pub external_transaction_id: ExternalTransactionId,
    pub external_payment_id: ExternalPaymentId,
    pub acquirer_payment_id: String,
    pub amount: String,
    pub currency: Currency,
    pub state: State,
    /// The payment id was known already, under another key. Absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub duplicate: bool,
    /// The approval was found at the acquirer after its owner had died. Absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recovered: bool,
    /// Only in a replay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_status: Option<u16>,
    pub request_id: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentResult {
    Approved,
    Processing,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_that_it_was_recovered_only_when_it_was() {
        let json = concat!(
            r#"{"result":"approved","idempotency_replayed":false,"yupy_transaction_id":"ypt_1","#,
            r#""external_transaction_id":"E-1","external_payment_id":"P-1","acquirer_payment_id":"acq_1","amount":"85.50","#,
            r#""currency":"PEN","state":{"operational":"active","financial":"paid"},"request_id":"r"}"#
        );
        let mut answer: PaymentAnswer = serde_json::from_str(json).unwrap();
        assert!(!answer.recovered);
        assert_eq!(serde_json::to_string(&answer).unwrap(), json);
        answer.recovered = true;
        assert!(serde_json::to_string(&answer).unwrap().contains(r#""recovered":true"#));
    }
}
