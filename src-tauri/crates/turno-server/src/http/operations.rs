//! Every operation once: where it is, what handles it, and what is said about it.
//!
//! Invariant: the router and the description of the API are made from this one table, so neither has an operation
//! that the other has not.

use std::sync::Arc;

use axum::{
    Router,
    routing::{MethodRouter, get, post},
};
use turno_protocol::{chain::AUDIT_HEAD_HEADER, code::ErrorCode};

use super::{App, audit, catalog, challenges, devices, health, payments, transactions, voids, webhook};
use crate::{caller::Right, config::MetricsPlace, ledger::Ledger};

pub(super) struct Operation<L> {
    pub path: &'static str,
    pub method: &'static str,
    pub handler: MethodRouter<Arc<App<L>>>,
    pub about: About,
}

/// What a reader of the description is told.
pub(super) struct About {
    pub id: &'static str,
    pub summary: &'static str,
    pub proof: Proof,
    pub key: Key,
    /// Names of query members; see [`super::openapi`] for what each of them is.
    pub query: &'static [&'static str],
    /// Names of request headers beside the credential's and the key's, none of them needed.
    pub headers: &'static [&'static str],
    /// The name of the request body's schema.
    pub body: Option<&'static str>,
    /// Status and schema of the answers that are no errors.
    pub answers: &'static [(u16, Option<&'static str>)],
    /// Errors beside those that the proof, the key and the body bring with them.
    pub errors: &'static [ErrorCode],
    /// What can be done with what was answered.
    pub links: &'static [Link],
}

/// An operation on the thing whose id an answer holds.
pub(super) struct Link {
    /// Of the answer.
    pub status: u16,
    pub operation: &'static str,
    /// Where the id stands in the answer's body, as a JSON pointer.
    pub id: &'static str,
}

/// How the caller shows that it may.
#[derive(Clone, Copy)]
pub(super) enum Proof {
    Nothing,
    /// A bearer token with one of these rights.
    Credential(&'static [Right]),
    /// The acquirer's signature over the body.
    Signature,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    None,
    Accepted,
    Required,
}

const QUIET: About = About {
    id: "",
    summary: "",
    proof: Proof::Nothing,
    key: Key::None,
    query: &[],
    headers: &[],
    body: None,
    answers: &[],
    errors: &[],
    links: &[],
};

fn all<L: Ledger>() -> Vec<Operation<L>> {
    let post_to = |path, handler, about| Operation { path, method: "post", handler, about };
    let get_from = |path, handler, about| Operation { path, method: "get", handler, about };
    vec![
        post_to("/v1/transactions", post(transactions::create::<L>), CREATE),
        get_from("/v1/transactions", get(transactions::list::<L>), LIST),
        get_from("/v1/transactions/{id}", get(transactions::read::<L>), READ),
        post_to("/v1/transactions/{id}/void", post(voids::void::<L>), VOID),
        post_to("/v1/transactions/{id}/payments", post(payments::pay::<L>), PAY),
        post_to("/v1/acquirer/webhook", post(webhook::receive::<L>), WEBHOOK),
        get_from("/v1/duplicate-challenges", get(challenges::list::<L>), CHALLENGES),
        get_from("/v1/duplicate-challenges/{id}", get(challenges::read::<L>), CHALLENGE),
        post_to("/v1/duplicate-resolutions", post(challenges::resolve::<L>), RESOLVE),
        post_to("/v1/devices/enroll", post(devices::enrol::<L>), ENROL),
        post_to("/v1/devices/epochs", post(devices::register_epoch::<L>), EPOCH),
        get_from("/v1/catalog", get(catalog::read::<L>), CATALOG),
        get_from("/v1/audit", get(audit::list::<L>), AUDIT),
        get_from("/health", get(health::health), HEALTH),
        get_from("/ready", get(health::ready::<L>), READY),
        get_from("/openapi.json", get(health::openapi::<L>), OPENAPI),
    ]
}

pub(super) fn metrics<L: Ledger>() -> Operation<L> {
    Operation { path: "/metrics", method: "get", handler: get(health::metrics::<L>), about: METRICS }
}

/// What a server offers on its main address.
pub(super) fn at<L: Ledger>(place: MetricsPlace) -> Vec<Operation<L>> {
    let mut operations = all();
    match place {
        MetricsPlace::Here => operations.push(metrics()),
        MetricsPlace::Apart => {}
    }
    operations
}

pub(super) fn router<L: Ledger>(operations: Vec<Operation<L>>) -> Router<Arc<App<L>>> {
    // Handlers of one path in different methods are merged by the router.
    operations
        .into_iter()
        .fold(Router::new(), |router, operation| router.route(operation.path, operation.handler))
}

const SALE_ID: &str = "/yupy_transaction_id";

const CREATE: About = About {
    id: "createTransaction",
    summary: "Create a sale, or hear that it exists, or be asked whether it does",
    proof: Proof::Credential(&[Right::Create]),
    key: Key::Required,
    headers: &[AUDIT_HEAD_HEADER],
    body: Some("NewTransaction"),
    answers: &[(201, Some("Created")), (200, Some("Existing"))],
    errors: &[
        ErrorCode::ExternalTransactionConflict,
        ErrorCode::PossibleDuplicateTransaction,
        ErrorCode::DuplicateConfirmationInvalid,
    ],
    links: &[
        Link { status: 201, operation: "readTransaction", id: SALE_ID },
        Link { status: 201, operation: "voidTransaction", id: SALE_ID },
        Link { status: 201, operation: "createPayment", id: SALE_ID },
        Link { status: 200, operation: "readTransaction", id: SALE_ID },
    ],
    ..QUIET
};

const LIST: About = About {
    id: "listTransactions",
    summary: "One sale by its external id, or a till's sales in order of arrival",
    proof: Proof::Credential(&[Right::Read]),
    query: &["external_transaction_id", "device_id", "after", "limit"],
    answers: &[(200, Some("TransactionPage"))],
    errors: &[ErrorCode::ValidationFailed],
    ..QUIET
};

const READ: About = About {
    id: "readTransaction",
    summary: "A sale as it is now",
    proof: Proof::Credential(&[Right::Read]),
    answers: &[(200, Some("Transaction"))],
    errors: &[ErrorCode::TransactionNotFound],
    ..QUIET
};

const VOID: About = About {
    id: "voidTransaction",
    summary: "Void a sale; to void it again is no failure",
    proof: Proof::Credential(&[Right::Create]),
    key: Key::Required,
    body: Some("NewVoid"),
    answers: &[(200, Some("Void"))],
    errors: &[
        ErrorCode::TransactionNotFound,
        ErrorCode::ExternalTransactionConflict,
        ErrorCode::InvalidState,
    ],
    ..QUIET
};

const PAY: About = About {
    id: "createPayment",
    summary: "Ask the acquirer for the money of a sale",
    proof: Proof::Credential(&[Right::Create]),
    key: Key::Required,
    body: Some("NewPayment"),
    answers: &[(201, Some("Payment")), (200, Some("Payment")), (202, Some("Payment"))],
    errors: &[
        ErrorCode::PaymentDeclined,
        ErrorCode::TransactionNotFound,
        ErrorCode::ExternalTransactionConflict,
        ErrorCode::ReconciliationRequired,
        ErrorCode::InvalidState,
        ErrorCode::OutcomeUnknown,
    ],
    ..QUIET
};

const WEBHOOK: About = About {
    id: "receiveAcquirerEvent",
    summary: "The acquirer tells the outcome of a payment",
    proof: Proof::Signature,
    body: Some("AcquirerEvent"),
    answers: &[(200, Some("AcquirerEventResult"))],
    errors: &[ErrorCode::NotFound],
    ..QUIET
};

const CHALLENGES: About = About {
    id: "listDuplicateChallenges",
    summary: "The company's questions that wait for a decision",
    proof: Proof::Credential(&[Right::Audit]),
    query: &["state", "after", "limit"],
    answers: &[(200, Some("ChallengePage"))],
    errors: &[ErrorCode::ValidationFailed],
    ..QUIET
};

const CHALLENGE: About = About {
    id: "readDuplicateChallenge",
    summary: "A question with both sales side by side",
    proof: Proof::Credential(&[Right::Create, Right::Read, Right::Audit]),
    answers: &[(200, Some("Challenge"))],
    errors: &[ErrorCode::NotFound],
    ..QUIET
};

const RESOLVE: About = About {
    id: "resolveDuplicate",
    summary: "Decide a question; the first decision stands",
    proof: Proof::Credential(&[Right::Create, Right::Audit]),
    key: Key::Accepted,
    body: Some("NewResolution"),
    answers: &[(200, Some("Challenge"))],
    errors: &[
        ErrorCode::NotFound,
        ErrorCode::AlreadyResolved,
        ErrorCode::InvalidState,
        ErrorCode::DuplicateConfirmationInvalid,
    ],
    ..QUIET
};

const ENROL: About = About {
    id: "enrolDevice",
    summary: "Turn an enrolment code into a till's credential",
    body: Some("NewEnrolment"),
    answers: &[(200, Some("Enrolment"))],
    errors: &[ErrorCode::EnrolmentRefused, ErrorCode::EpochTaken],
    ..QUIET
};

const EPOCH: About = About {
    id: "registerEpoch",
    summary: "Tell of an epoch that a till has taken; the same again is no harm",
    proof: Proof::Credential(&[Right::Create]),
    body: Some("NewEpoch"),
    answers: &[(200, Some("Epoch"))],
    errors: &[ErrorCode::EpochTaken],
    ..QUIET
};

const CATALOG: About = About {
    id: "readCatalog",
    summary: "What the integration sells; 304 if the version is known",
    proof: Proof::Credential(&[Right::Read]),
    answers: &[(200, Some("Catalog")), (304, None)],
    ..QUIET
};

const AUDIT: About = About {
    id: "listAudit",
    summary: "The company's audit, each row chained to the one before",
    proof: Proof::Credential(&[Right::Audit]),
    query: &["after", "limit"],
    answers: &[(200, Some("AuditPage"))],
    errors: &[ErrorCode::ValidationFailed],
    ..QUIET
};

const HEALTH: About =
    About { id: "health", summary: "The process answers", answers: &[(200, Some("Status"))], ..QUIET };

const READY: About = About {
    id: "ready",
    summary: "Requests can be served",
    answers: &[(200, Some("Status"))],
    errors: &[ErrorCode::ServiceUnavailable],
    ..QUIET
};

const METRICS: About =
    About { id: "metrics", summary: "Counters for Prometheus, as text", answers: &[(200, None)], ..QUIET };

const OPENAPI: About =
    About { id: "describe", summary: "This description", answers: &[(200, None)], ..QUIET };
