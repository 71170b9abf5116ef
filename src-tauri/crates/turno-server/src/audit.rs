//! What the audit records: events with the ids, fields, people and reasons that they are about.
//!
//! Invariant: an entry never holds a token, a key or an amount, and it is written in the same commit as what it
//! records.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use turno_domain::ids::{
    Company, Environment, ExternalPaymentId, ExternalTransactionId, Integration, Scope, YupyTransactionId,
};
use turno_protocol::{
    body::Decision,
    chain::{BrokenAt, Head, verify_after},
};

use crate::{
    ledger::{Ledger, LedgerError, PageRequest},
    sale::StoredSale,
};

/// Rows in memory at a time while a chain is verified.
const VERIFIED_AT_ONCE: u16 = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditEvent {
    Created,
    DuplicateSuspected,
    DuplicateConfirmed,
    DuplicateResolved,
    Voided,
    /// D1: a key came again with other content.
    IdempotencyConflict,
    /// F1
    ExternalTransactionConflict,
    /// F2 with differences, or after the key had expired.
    ExistingReturned,
    /// G1: a token that was forged, foreign, spent or made for other content.
    ConfirmationRefused,
    DeviceEnrolled,
    /// A till took new letters for its numbers.
    EpochRegistered,
    /// D4: an owner that had died was followed by another.
    TakenOver,
    PaymentApproved,
    PaymentDeclined,
    /// The acquirer approved another amount than was asked for.
    ReconciliationRequired,
}

/// One entry. What it does not say is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditEntry {
    pub event: AuditEvent,
    pub at: Timestamp,
    pub integration: Integration,
    pub environment: Environment,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_transaction_id: Option<ExternalTransactionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yupy_transaction_id: Option<YupyTransactionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_payment_id: Option<ExternalPaymentId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub challenge_id: Option<String>,
    /// The look-alikes that were asked about or confirmed against.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<YupyTransactionId>,
    /// Names of fields that were alike, conflicted or were ignored; no values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<&'static str>,
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
    /// How far the till's own audit had come when it sent this. Kept here, where the till cannot change it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub till_audit_head: Option<String>,
}

impl AuditEntry {
    pub fn new(event: AuditEvent, scope: &Scope, at: Timestamp) -> Self {
        Self {
            event,
            at,
            integration: scope.integration.clone(),
            environment: scope.environment.clone(),
            external_transaction_id: None,
            yupy_transaction_id: None,
            external_payment_id: None,
            device_id: None,
            challenge_id: None,
            candidates: Vec::new(),
            fields: Vec::new(),
            decision: None,
            decided_by: None,
            confirmed_by: None,
            confirmation_reason: None,
            reason: None,
            till_audit_head: None,
        }
    }

    pub fn about(event: AuditEvent, scope: &Scope, at: Timestamp, sale: &StoredSale) -> Self {
        Self {
            external_transaction_id: Some(sale.external_transaction_id.clone()),
            yupy_transaction_id: Some(sale.yupy_transaction_id.clone()),
            ..Self::new(event, scope, at)
        }
    }

    /// The members of the row. `number` counts from 1 within the company, so that a gap shows.
    pub fn numbered(&self, number: i64) -> Map<String, Value> {
        let Ok(Value::Object(mut members)) = serde_json::to_value(self) else {
            unreachable!("a struct of texts under fixed names is written as an object")
        };
        members.insert("number".to_owned(), number.into());
        members
    }
}

/// Why an audit does not hold.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    #[error(transparent)]
    Broken(#[from] BrokenAt),
    /// The row after this many holds no hashes.
    #[error("row {0} of the chain has no hash")]
    Unreadable(u64),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// Check the whole chain of `company`, page by page. The head is for whoever keeps it elsewhere: a tail that was cut
/// off shows only against an older head.
pub async fn verify_audit<L: Ledger>(ledger: &L, company: &Company) -> Result<Head, AuditError> {
    let mut head = Head::EMPTY;
    let mut page = PageRequest { after: None, limit: VERIFIED_AT_ONCE };
    loop {
        let rows = ledger.audit(company.clone(), page).await?;
        for row in rows.items {
            let link = row.link().ok_or(AuditError::Unreadable(head.rows + 1))?;
            head = verify_after(head, [link])?;
        }
        match rows.next {
            Some(next) => page.after = Some(next),
            None => return Ok(head),
        }
    }
}
