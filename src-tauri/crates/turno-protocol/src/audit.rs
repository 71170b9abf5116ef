//! The server's audit as it is read through `GET /v1/audit`.
//!
//! Invariant: an entry is hashed in its canonical form together with its number, so a row can be checked from what
//! was answered, without asking the server how it stores it. Confirmation tokens are never part of an entry.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use turno_domain::ids::{Environment, ExternalTransactionId, Integration, YupyTransactionId};

use crate::body::Decision;
use crate::canonical;
use crate::chain::{self, Hash, Link};

/// What an entry records. The contract names the first five; the others are the rows that its matrix asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditEvent {
    Created,
    DuplicateSuspected,
    DuplicateConfirmed,
    DuplicateResolved,
    Voided,
    /// D1: a key came again with other content.
    IdempotencyConflict,
    /// D4: an owner that had died was followed by another.
    TakenOver,
    /// F1.
    ExternalTransactionConflict,
    /// F2 with differences, or after the key had expired.
    ExistingReturned,
    /// G1: a token that was forged, foreign, spent or made for other content.
    ConfirmationRefused,
    PaymentApproved,
    PaymentDeclined,
    DeviceEnrolled,
}

/// What an audit row says. What it does not say is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Counts from 1 within the company, without gaps.
    pub number: u64,
    pub event: AuditEvent,
    pub at: Timestamp,
    pub integration: Integration,
    pub environment: Environment,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_transaction_id: Option<ExternalTransactionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yupy_transaction_id: Option<YupyTransactionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub challenge_id: Option<String>,
    /// The look-alikes that were asked about or confirmed against.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<YupyTransactionId>,
    /// Names of fields that conflicted or were ignored; no values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmed_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmation_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// An entry in its place in the company's chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRow {
    #[serde(flatten)]
    pub entry: AuditEntry,
    pub prev_hash: String,
    pub hash: String,
}

impl AuditEntry {
    pub fn new(
        number: u64,
        event: AuditEvent,
        at: Timestamp,
        integration: Integration,
        environment: Environment,
    ) -> AuditEntry {
        AuditEntry {
            number,
            event,
            at,
            integration,
            environment,
            external_transaction_id: None,
            yupy_transaction_id: None,
            challenge_id: None,
            candidates: Vec::new(),
            fields: Vec::new(),
            decision: None,
            decided_by: None,
            confirmed_by: None,
            confirmation_reason: None,
            reason: None,
        }
    }

    /// The bytes that are hashed: everything above as canonical JSON.
    pub fn canonical(&self) -> Vec<u8> {
        let value = serde_json::to_value(self).expect("texts and numbers under fixed names are always json");
        canonical::to_bytes(&value)
    }

    /// Puts the entry behind the row with this hash.
    pub fn chained_to(self, prev: &Hash) -> AuditRow {
        let hash = chain::row_hash(prev, &self.canonical());
        AuditRow { entry: self, prev_hash: chain::to_hex(prev), hash: chain::to_hex(&hash) }
    }
}

impl AuditRow {
    /// The row for [`chain::verify`]; `None` if its hashes are no hashes.
    pub fn link(&self) -> Option<Link> {
        Some(Link {
            prev_hash: chain::from_hex(&self.prev_hash)?,
            hash: chain::from_hex(&self.hash)?,
            canonical: self.entry.canonical(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: u64) -> AuditEntry {
        let at = "2026-11-30T15:00:00Z".parse().unwrap();
        let (integration, environment) =
            (Integration::parse("pos").unwrap(), Environment::parse("test").unwrap());
        AuditEntry::new(number, AuditEvent::DuplicateResolved, at, integration, environment)
    }

    #[test]
    fn an_entry_is_hashed_in_canonical_form_without_what_it_does_not_say() {
        let mut entry = entry(7);
        entry.decision = Some(Decision::SameSale);
        assert_eq!(
            String::from_utf8(entry.canonical()).unwrap(),
            r#"{"at":"2026-11-30T15:00:00Z","decision":"same_sale","environment":"test","event":"duplicate_resolved","integration":"pos","number":7}"#
        );
    }

    #[test]
    fn rows_that_were_answered_can_be_verified_by_whoever_reads_them() {
        let first = entry(1).chained_to(&chain::GENESIS);
        let second = entry(2).chained_to(&first.link().unwrap().hash);
        let answered = serde_json::to_string(&[first, second]).unwrap();
        let read = |json: &str| {
            let rows: Vec<AuditRow> = serde_json::from_str(json).unwrap();
            chain::verify(rows.iter().map(|row| row.link().unwrap()))
        };
        assert_eq!(read(&answered).unwrap().rows, 2);
        let broken = read(&answered.replace(r#""number":2"#, r#""number":3"#)).unwrap_err();
        assert_eq!(broken.row, 2);
    }
}
