//! What the server answers about a sale, and what a till reads from it.
//!
//! Invariant: the constants of each answer (`result`, `idempotency_replayed`, `duplicate`) are set by its constructor
//! only, so an answer cannot say two things. Every answer here can be read as a [`TransactionAnswer`].

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use turno_domain::Currency;
use turno_domain::ids::{ExternalTransactionId, YupyTransactionId};

use super::Context;
use crate::lenient;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct State {
    pub operational: Operational,
    pub financial: Financial,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operational {
    Active,
    Voided,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Financial {
    AwaitingPayment,
    Processing,
    Paid,
    Declined,
    Refunded,
}

/// A stored sale as it is now: an item of a list, or the answer to a look-up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transaction {
    pub yupy_transaction_id: YupyTransactionId,
    pub external_transaction_id: ExternalTransactionId,
    pub amount: String,
    pub currency: Currency,
    pub occurred_at: Timestamp,
    pub state: State,
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient::option")]
    pub buyer_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient::option")]
    pub integration_experience: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient::option")]
    pub shift_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient::option")]
    pub device_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient::option")]
    pub payment_method: Option<String>,
    #[serde(default, skip_serializing_if = "Context::is_empty", deserialize_with = "lenient::or_default")]
    pub context: Context,
}

/// 201: the sale was created by this request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Created {
    result: TransactionResult,
    idempotency_replayed: bool,
    duplicate: bool,
    pub yupy_transaction_id: YupyTransactionId,
    pub external_transaction_id: ExternalTransactionId,
    pub amount: String,
    pub currency: Currency,
    pub occurred_at: Timestamp,
    pub state: State,
    pub created_at: Timestamp,
    pub request_id: String,
    /// Present whenever a token was used, even if every look-alike was gone by then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmed_duplicate_of: Option<Vec<YupyTransactionId>>,
}

/// The sale that an answer of 200 is about, as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Existing {
    pub yupy_transaction_id: YupyTransactionId,
    pub external_transaction_id: ExternalTransactionId,
    pub occurred_at: Timestamp,
    pub state: State,
    pub created_at: Timestamp,
}

/// 200: this key has been answered before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExistingByKey {
    result: TransactionResult,
    idempotency_replayed: bool,
    pub yupy_transaction_id: YupyTransactionId,
    pub external_transaction_id: ExternalTransactionId,
    pub state: State,
    pub occurred_at: Timestamp,
    /// The status of the key's first final answer: 201, or 200 if the sale was already known then.
    pub original_status: u16,
    pub created_at: Timestamp,
    pub request_id: String,
}

/// 200: another key, but the external id is known and nothing critical differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExistingByExternalId {
    result: TransactionResult,
    idempotency_replayed: bool,
    duplicate: bool,
    duplicate_type: DuplicateType,
    pub yupy_transaction_id: YupyTransactionId,
    pub external_transaction_id: ExternalTransactionId,
    pub state: State,
    pub occurred_at: Timestamp,
    /// Names of fields that came with another value and were not applied.
    pub ignored_differences: Vec<String>,
    pub request_id: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum TransactionResult {
    Created,
    ExistingTransaction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum DuplicateType {
    SameExternalTransaction,
}

impl Created {
    pub fn new(
        sale: Transaction,
        confirmed_duplicate_of: Option<Vec<YupyTransactionId>>,
        request_id: String,
    ) -> Created {
        Created {
            result: TransactionResult::Created,
            idempotency_replayed: false,
            duplicate: false,
            yupy_transaction_id: sale.yupy_transaction_id,
            external_transaction_id: sale.external_transaction_id,
            amount: sale.amount,
            currency: sale.currency,
            occurred_at: sale.occurred_at,
            state: sale.state,
            created_at: sale.created_at,
            request_id,
            confirmed_duplicate_of,
        }
    }
}

impl From<Transaction> for Existing {
    fn from(sale: Transaction) -> Existing {
        Existing {
            yupy_transaction_id: sale.yupy_transaction_id,
            external_transaction_id: sale.external_transaction_id,
            occurred_at: sale.occurred_at,
            state: sale.state,
            created_at: sale.created_at,
        }
    }
}

impl ExistingByKey {
    pub fn new(sale: Existing, original_status: u16, request_id: String) -> ExistingByKey {
        ExistingByKey {
            result: TransactionResult::ExistingTransaction,
            idempotency_replayed: true,
            yupy_transaction_id: sale.yupy_transaction_id,
            external_transaction_id: sale.external_transaction_id,
            state: sale.state,
            occurred_at: sale.occurred_at,
            original_status,
            created_at: sale.created_at,
            request_id,
        }
    }
}

impl ExistingByExternalId {
    pub fn new(sale: Existing, ignored_differences: Vec<String>, request_id: String) -> ExistingByExternalId {
        ExistingByExternalId {
            result: TransactionResult::ExistingTransaction,
            idempotency_replayed: false,
            duplicate: true,
            duplicate_type: DuplicateType::SameExternalTransaction,
            yupy_transaction_id: sale.yupy_transaction_id,
            external_transaction_id: sale.external_transaction_id,
            state: sale.state,
            occurred_at: sale.occurred_at,
            ignored_differences,
            request_id,
        }
    }
}

/// What a till reads from 200 and 201. Without both ids it does not parse: then YUPY has not answered (§9).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct TransactionAnswer {
    pub external_transaction_id: ExternalTransactionId,
    pub yupy_transaction_id: YupyTransactionId,
    /// Another instant than ours on a 200 means that somebody else sold under our id. It decides, so one that cannot
    /// be read makes the answer unreadable.
    #[serde(default)]
    pub occurred_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "lenient::option")]
    pub state: Option<State>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub idempotency_replayed: bool,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub duplicate: bool,
    #[serde(default, deserialize_with = "lenient::list")]
    pub confirmed_duplicate_of: Vec<YupyTransactionId>,
    #[serde(default, deserialize_with = "lenient::list")]
    pub ignored_differences: Vec<String>,
    #[serde(default, deserialize_with = "lenient::option")]
    pub request_id: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sale() -> Transaction {
        serde_json::from_str(
            r#"{"yupy_transaction_id":"ypt_1","external_transaction_id":"E-1","amount":"85.50","currency":"PEN",
                "occurred_at":"2026-11-30T10:00:00-05:00","state":{"operational":"active","financial":"paid"},
                "created_at":"2026-11-30T15:00:01Z","of_tomorrow":true}"#,
        )
        .unwrap()
    }

    fn written(answer: &impl Serialize) -> String {
        serde_json::to_string(answer).unwrap()
    }

    fn read(json: &str) -> TransactionAnswer {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_created_sale_is_answered_as_the_contract_says_and_read_back() {
        let json = written(&Created::new(sale(), None, "r-1".to_owned()));
        assert_eq!(
            json,
            concat!(
                r#"{"result":"created","idempotency_replayed":false,"duplicate":false,"yupy_transaction_id":"ypt_1","#,
                r#""external_transaction_id":"E-1","amount":"85.50","currency":"PEN","occurred_at":"2026-11-30T15:00:00Z","#,
                r#""state":{"operational":"active","financial":"paid"},"created_at":"2026-11-30T15:00:01Z","request_id":"r-1"}"#
            )
        );
        let answer = read(&json);
        assert_eq!(answer.yupy_transaction_id.as_str(), "ypt_1");
        assert_eq!(answer.occurred_at, Some(sale().occurred_at));
        assert_eq!(answer.state, Some(sale().state));
        assert!(!answer.idempotency_replayed && !answer.duplicate);
    }

    #[test]
    fn a_confirmed_sale_names_what_it_was_confirmed_against_even_if_that_is_nothing() {
        let json = written(&Created::new(sale(), Some(Vec::new()), "r".to_owned()));
        assert!(json.ends_with(r#","confirmed_duplicate_of":[]}"#), "{json}");
        let other = YupyTransactionId::parse("ypt_0").unwrap();
        let json = written(&Created::new(sale(), Some(vec![other.clone()]), "r".to_owned()));
        assert_eq!(read(&json).confirmed_duplicate_of, [other]);
    }

    #[test]
    fn a_replay_is_answered_as_the_contract_says_and_read_back() {
        let json = written(&ExistingByKey::new(sale().into(), 201, "r-2".to_owned()));
        assert_eq!(
            json,
            concat!(
                r#"{"result":"existing_transaction","idempotency_replayed":true,"yupy_transaction_id":"ypt_1","#,
                r#""external_transaction_id":"E-1","state":{"operational":"active","financial":"paid"},"#,
                r#""occurred_at":"2026-11-30T15:00:00Z","original_status":201,"created_at":"2026-11-30T15:00:01Z","request_id":"r-2"}"#
            )
        );
        assert!(read(&json).idempotency_replayed);
    }

    #[test]
    fn a_known_external_id_is_answered_as_the_contract_says_and_read_back() {
        let json = written(&ExistingByExternalId::new(
            sale().into(),
            vec!["buyer_name".to_owned()],
            "r-3".to_owned(),
        ));
        assert_eq!(
            json,
            concat!(
                r#"{"result":"existing_transaction","idempotency_replayed":false,"duplicate":true,"#,
                r#""duplicate_type":"same_external_transaction","yupy_transaction_id":"ypt_1","external_transaction_id":"E-1","#,
                r#""state":{"operational":"active","financial":"paid"},"occurred_at":"2026-11-30T15:00:00Z","#,
                r#""ignored_differences":["buyer_name"],"request_id":"r-3"}"#
            )
        );
        let answer = read(&json);
        assert!(answer.duplicate && !answer.idempotency_replayed);
        assert_eq!(answer.ignored_differences, ["buyer_name"]);
    }

    #[test]
    fn both_ids_are_enough_and_whatever_else_is_odd_is_not_held_against_the_answer() {
        let least = read(r#"{"external_transaction_id":"E-1","yupy_transaction_id":"ypt_1"}"#);
        let odd = read(
            r#"{"external_transaction_id":"E-1","yupy_transaction_id":"ypt_1","state":{"operational":"frozen"},"occurred_at":null,
                "duplicate":"yes","idempotency_replayed":null,"confirmed_duplicate_of":{},"ignored_differences":null,"x":[]}"#,
        );
        assert_eq!(odd, least);
    }

    #[test]
    fn without_both_ids_or_with_a_time_that_cannot_be_compared_it_is_no_answer() {
        for json in [
            "{}",
            r#"{"external_transaction_id":"E-1"}"#,
            r#"{"yupy_transaction_id":"ypt_1"}"#,
            r#"{"external_transaction_id":"E-1","yupy_transaction_id":""}"#,
            r#"{"external_transaction_id":"E-1","yupy_transaction_id":null}"#,
            r#"{"external_transaction_id":"E-1","yupy_transaction_id":1}"#,
            r#"{"external_transaction_id":"E-1","yupy_transaction_id":"ypt_1","occurred_at":"soon"}"#,
            "[]",
            "null",
        ] {
            assert!(serde_json::from_str::<TransactionAnswer>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn what_a_stored_sale_was_for_is_read_as_far_as_it_is_understood() {
        let json = serde_json::to_string(&sale()).unwrap();
        let odd =
            json.replacen('}', r#"},"buyer_name":7,"device_id":null,"shift_id":"S44","context":"12A""#, 1);
        assert_ne!(odd, json);
        let expected = Transaction { shift_id: Some("S44".to_owned()), ..sale() };
        assert_eq!(serde_json::from_str::<Transaction>(&odd).unwrap(), expected);
    }
}
