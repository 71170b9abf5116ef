//! `POST /v1/transactions/{id}/void`: idempotent by its key, by its permanent id and by the state it leads to.

use serde::{Deserialize, Serialize};
use turno_domain::ids::{ExternalOperationId, ExternalTransactionId, YupyTransactionId};

use super::State;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoidRequest {
    pub external_operation_id: ExternalOperationId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoidAnswer {
    pub result: VoidResult,
    pub idempotency_replayed: bool,
    pub yupy_transaction_id: YupyTransactionId,
    pub external_transaction_id: ExternalTransactionId,
    pub external_operation_id: ExternalOperationId,
    pub state: State,
    /// Only in a replay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_status: Option<u16>,
    pub request_id: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VoidResult {
    Applied,
    /// This operation id has voided the sale before.
    ExistingOperation,
    /// Another operation has voided the sale before.
    AlreadyInState,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_void_is_asked_for_and_answered_as_the_contract_says() {
        let request = VoidRequest {
            external_operation_id: ExternalOperationId::parse("V-1").unwrap(),
            reason: Some("viaje cancelado".to_owned()),
        };
        assert_eq!(
            serde_json::to_string(&request).unwrap(),
            r#"{"external_operation_id":"V-1","reason":"viaje cancelado"}"#
        );
        let json = concat!(
            r#"{"result":"already_in_state","idempotency_replayed":false,"yupy_transaction_id":"ypt_1","#,
            r#""external_transaction_id":"E-1","external_operation_id":"V-1","#,
            r#""state":{"operational":"voided","financial":"paid"},"request_id":"r"}"#
        );
        let answer: VoidAnswer = serde_json::from_str(json).unwrap();
        assert_eq!(answer.result, VoidResult::AlreadyInState);
        assert_eq!(serde_json::to_string(&answer).unwrap(), json);
    }
}
