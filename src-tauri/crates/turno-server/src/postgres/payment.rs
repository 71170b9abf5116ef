//! Tables `payment` and `acquirer_event`.
//!
//! Most are read without a lock: whoever works on one holds its sale's row, and writes under its fence.

use deadpool_postgres::Client;
use jiff::Timestamp;
use tokio_postgres::Row;
use turno_domain::ids::{ExternalPaymentId, ExternalTransactionId, YupyTransactionId};

use super::{
    row::{self, Result, execute},
    scope,
};
use crate::{
    caller::ScopeNumber,
    payment::{Fence, Payment, PaymentState},
};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT payment.scope_id, company, integration, environment, external_payment_id, \
             external_transaction_id, payment.yupy_transaction_id, acquirer_payment_id, payment.amount_minor, \
             payment.currency, method, state, owner, attempt, lease_until_ms, charged_at_ms \
             FROM payment JOIN scope ON scope.scope_id = payment.scope_id JOIN sale USING (yupy_transaction_id) ",
            $rest
        )
    };
}

pub(super) async fn find(
    client: &Client,
    scope: ScopeNumber,
    id: &ExternalPaymentId,
) -> Result<Option<Payment>> {
    let sql = select!("WHERE payment.scope_id = $1 AND external_payment_id = $2");
    row::row(client, sql, &[&scope.0, &id.as_str()]).await?.map(|row| from_row(&row)).transpose()
}

/// The payment, held until the commit: an event is recorded once, so its word must not lose a race against a take-over.
pub(super) async fn lock_by_acquirer_id(client: &Client, id: &str) -> Result<Option<Payment>> {
    if !row::can_be_stored(id) {
        return Ok(None);
    }
    let sql = select!("WHERE acquirer_payment_id = $1 FOR UPDATE OF payment");
    row::row(client, sql, &[&id]).await?.map(|row| from_row(&row)).transpose()
}

/// Those whose outcome is not known, the least tried first.
pub(super) async fn unfinished(client: &Client, limit: u16) -> Result<Vec<Payment>> {
    let sql = select!(
        "WHERE state IN ('reserved', 'acquirer_started', 'pending') ORDER BY attempt, payment.created_at_ms LIMIT $1"
    );
    row::rows(client, sql, &[&i64::from(limit)]).await?.iter().map(from_row).collect()
}

pub(super) async fn insert(client: &Client, payment: &Payment, now: Timestamp) -> Result<()> {
    execute(
        client,
        "INSERT INTO payment (scope_id, external_payment_id, yupy_transaction_id, acquirer_payment_id,
            amount_minor, currency, method, state, owner, attempt, lease_until_ms, charged_at_ms, created_at_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        &[
            &payment.scope_number.0,
            &payment.external_payment_id.as_str(),
            &payment.yupy_transaction_id.as_str(),
            &payment.acquirer_payment_id,
            &payment.amount.minor(),
            &payment.amount.currency().code(),
            &payment.method,
            &payment.state.as_str(),
            &payment.fence.owner,
            &payment.fence.attempt,
            &payment.lease_until.map(Timestamp::as_millisecond),
            &payment.charged_at.map(Timestamp::as_millisecond),
            &now.as_millisecond(),
        ],
    )
    .await?;
    Ok(())
}

/// Whether the row was still under `held`, and is now as `payment` says.
pub(super) async fn replace(client: &Client, held: &Fence, payment: &Payment) -> Result<bool> {
    let changed = execute(
        client,
        "UPDATE payment SET state = $5, owner = $6, attempt = $7, lease_until_ms = $8, charged_at_ms = $9
         WHERE scope_id = $1 AND external_payment_id = $2 AND owner = $3 AND attempt = $4",
        &[
            &payment.scope_number.0,
            &payment.external_payment_id.as_str(),
            &held.owner,
            &held.attempt,
            &payment.state.as_str(),
            &payment.fence.owner,
            &payment.fence.attempt,
            &payment.lease_until.map(Timestamp::as_millisecond),
            &payment.charged_at.map(Timestamp::as_millisecond),
        ],
    )
    .await?;
    Ok(changed == 1)
}

/// Whether the event is seen for the first time.
pub(super) async fn record_event(client: &Client, event_id: &str, now: Timestamp) -> Result<bool> {
    let inserted = execute(
        client,
        "INSERT INTO acquirer_event (event_id, received_at_ms) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        &[&event_id, &now.as_millisecond()],
    )
    .await?;
    Ok(inserted == 1)
}

fn from_row(row: &Row) -> Result<Payment> {
    Ok(Payment {
        scope: scope::from_row(row)?,
        scope_number: ScopeNumber(row::get(row, "scope_id")?),
        external_payment_id: row::id(row, "external_payment_id", ExternalPaymentId::parse)?,
        external_transaction_id: row::id(row, "external_transaction_id", ExternalTransactionId::parse)?,
        yupy_transaction_id: row::id(row, "yupy_transaction_id", YupyTransactionId::parse)?,
        acquirer_payment_id: row::get(row, "acquirer_payment_id")?,
        amount: row::money(row)?,
        method: row::get(row, "method")?,
        state: row::parsed(row, "state", |name| PaymentState::parse(name).ok_or(()))?,
        fence: Fence { owner: row::get(row, "owner")?, attempt: row::get(row, "attempt")? },
        lease_until: row::instant_if_any(row, "lease_until_ms")?,
        charged_at: row::instant_if_any(row, "charged_at_ms")?,
    })
}
