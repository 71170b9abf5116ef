//! What an export holds: every table of both stores, and of each every column.
//!
//! Invariant: a row comes after the rows that it refers to. What only one store keeps (where a company's series end)
//! is computed again by it.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Integer,
    Text,
    Bytes,
}

#[derive(Debug)]
pub(crate) struct Table {
    pub name: &'static str,
    pub columns: &'static [(&'static str, Kind)],
    /// In which order its rows are exported: lists keep theirs, and two exports of one ledger are the same file.
    pub order: &'static str,
}

impl Table {
    /// Quoted and with commas between them.
    pub(crate) fn column_list(&self) -> String {
        self.columns.iter().map(|(name, _)| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
    }

    pub(crate) fn select(&self) -> String {
        format!("SELECT {} FROM {} ORDER BY {}", self.column_list(), self.name, self.order)
    }

    pub(crate) fn place_of(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|(name, _)| *name == column)
    }
}

use Kind::{Bytes, Integer, Text};

pub(crate) const TABLES: &[Table] = &[
    Table {
        name: "company",
        columns: &[("company", Text), ("name", Text), ("currency", Text)],
        order: "company",
    },
    Table {
        name: "integration",
        columns: &[
            ("company", Text),
            ("integration", Text),
            ("error_profile", Text),
            ("similarity_window_s", Integer),
            ("identifying_fields", Text),
            ("confirmation_token_life_s", Integer),
        ],
        order: "company, integration",
    },
    Table {
        name: "catalog",
        columns: &[("company", Text), ("integration", Text), ("etag", Text), ("body", Text)],
        order: "company, integration",
    },
    Table {
        name: "scope",
        columns: &[("scope_id", Integer), ("company", Text), ("integration", Text), ("environment", Text)],
        order: "scope_id",
    },
    Table {
        name: "enrolment_code",
        columns: &[
            ("code_hash", Bytes),
            ("scope_id", Integer),
            ("device_id", Text),
            ("rights", Text),
            ("installation_id", Text),
            ("created_at_ms", Integer),
        ],
        order: "code_hash",
    },
    Table {
        name: "credential",
        columns: &[
            ("token_hash", Bytes),
            ("scope_id", Integer),
            ("rights", Text),
            ("code_hash", Bytes),
            ("created_at_ms", Integer),
        ],
        order: "token_hash",
    },
    Table {
        name: "device_epoch",
        columns: &[
            ("scope_id", Integer),
            ("device_id", Text),
            ("epoch", Text),
            ("installation_id", Text),
            ("registered_at_ms", Integer),
        ],
        order: "scope_id, device_id, epoch",
    },
    Table {
        name: "secret",
        columns: &[("purpose", Text), ("generation", Integer), ("value", Bytes), ("created_at_ms", Integer)],
        order: "purpose, generation",
    },
    Table {
        name: "sale",
        columns: &[
            ("arrival", Integer),
            ("yupy_transaction_id", Text),
            ("scope_id", Integer),
            ("external_transaction_id", Text),
            ("amount_minor", Integer),
            ("currency", Text),
            ("occurred_at", Text),
            ("occurred_at_ms", Integer),
            ("buyer_name", Text),
            ("integration_experience", Text),
            ("shift_id", Text),
            ("device_id", Text),
            ("payment_method", Text),
            ("custom_reference_1", Text),
            ("custom_reference_2", Text),
            ("route", Text),
            ("seat", Text),
            ("order", Text),
            ("product", Text),
            ("service", Text),
            ("operational", Text),
            ("financial", Text),
            ("created_at_ms", Integer),
            ("buyer_name_folded", Text),
        ],
        order: "arrival, scope_id",
    },
    Table {
        name: "idempotency_key",
        columns: &[
            ("scope_id", Integer),
            ("idempotency_key", Text),
            ("fingerprint_version", Integer),
            ("full_fingerprint", Bytes),
            ("core_fingerprint", Bytes),
            ("state", Text),
            ("original_status", Integer),
            ("yupy_transaction_id", Text),
            ("permanent_id", Text),
            ("completed_at_ms", Integer),
        ],
        order: "scope_id, idempotency_key",
    },
    Table {
        name: "void",
        columns: &[
            ("scope_id", Integer),
            ("external_operation_id", Text),
            ("yupy_transaction_id", Text),
            ("result", Text),
            ("reason", Text),
            ("voided_at_ms", Integer),
        ],
        order: "scope_id, external_operation_id",
    },
    Table {
        name: "challenge",
        columns: &[
            ("arrival", Integer),
            ("challenge_id", Text),
            ("scope_id", Integer),
            ("external_transaction_id", Text),
            ("asked", Text),
            ("fingerprint_version", Integer),
            ("core_fingerprint", Bytes),
            ("candidates", Text),
            ("matching_signals", Text),
            ("state", Text),
            ("asked_at_ms", Integer),
            ("expires_at_ms", Integer),
            ("signed_with", Integer),
            ("decision", Text),
            ("decided_by", Text),
            ("decision_reason", Text),
            ("decided_at_ms", Integer),
        ],
        order: "arrival, scope_id",
    },
    Table {
        name: "payment",
        columns: &[
            ("scope_id", Integer),
            ("external_payment_id", Text),
            ("yupy_transaction_id", Text),
            ("acquirer_payment_id", Text),
            ("amount_minor", Integer),
            ("currency", Text),
            ("method", Text),
            ("state", Text),
            ("owner", Text),
            ("attempt", Integer),
            ("lease_until_ms", Integer),
            ("charged_at_ms", Integer),
            ("created_at_ms", Integer),
        ],
        order: "scope_id, external_payment_id",
    },
    Table {
        name: "acquirer_event",
        columns: &[("event_id", Text), ("received_at_ms", Integer)],
        order: "event_id",
    },
    Table {
        name: "audit",
        columns: &[
            ("company", Text),
            ("number", Integer),
            ("entry", Text),
            ("prev_hash", Bytes),
            ("hash", Bytes),
        ],
        order: "company, number",
    },
];
