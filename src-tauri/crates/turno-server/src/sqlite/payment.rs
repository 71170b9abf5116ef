//! Tables `payment` and `acquirer_event`.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};
use turno_domain::ids::{ExternalPaymentId, ExternalTransactionId, YupyTransactionId};

use super::{row, scope};
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
             FROM payment JOIN scope USING (scope_id) JOIN sale USING (yupy_transaction_id) ",
            $rest
        )
    };
}

pub(super) fn find(
    connection: &Connection,
    scope: ScopeNumber,
    id: &ExternalPaymentId,
) -> rusqlite::Result<Option<Payment>> {
    connection
        .prepare_cached(select!("WHERE payment.scope_id = ?1 AND external_payment_id = ?2"))?
        .query_row(params![scope.0, id.as_str()], from_row)
        .optional()
}

pub(super) fn find_by_acquirer_id(connection: &Connection, id: &str) -> rusqlite::Result<Option<Payment>> {
    connection.prepare_cached(select!("WHERE acquirer_payment_id = ?1"))?.query_row([id], from_row).optional()
}

/// Those whose outcome is not known, the least tried first.
pub(super) fn unfinished(connection: &Connection, limit: u16) -> rusqlite::Result<Vec<Payment>> {
    connection
        .prepare_cached(select!(
            "WHERE state IN ('reserved', 'acquirer_started', 'pending') ORDER BY attempt, payment.created_at_ms LIMIT ?1"
        ))?
        .query_map([limit], from_row)?
        .collect()
}

pub(super) fn insert(connection: &Connection, payment: &Payment, now: Timestamp) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO payment (scope_id, external_payment_id, yupy_transaction_id, acquirer_payment_id,
                amount_minor, currency, method, state, owner, attempt, lease_until_ms, charged_at_ms, created_at_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?
        .execute(params![
            payment.scope_number.0,
            payment.external_payment_id.as_str(),
            payment.yupy_transaction_id.as_str(),
            payment.acquirer_payment_id,
            payment.amount.minor(),
            payment.amount.currency().code(),
            payment.method,
            payment.state.as_str(),
            payment.fence.owner,
            payment.fence.attempt,
            payment.lease_until.map(Timestamp::as_millisecond),
            payment.charged_at.map(Timestamp::as_millisecond),
            now.as_millisecond(),
        ])?;
    Ok(())
}

/// Whether the row was still under `held`, and is now as `payment` says.
pub(super) fn replace(connection: &Connection, held: &Fence, payment: &Payment) -> rusqlite::Result<bool> {
    let changed = connection
        .prepare_cached(
            "UPDATE payment SET state = ?5, owner = ?6, attempt = ?7, lease_until_ms = ?8, charged_at_ms = ?9
             WHERE scope_id = ?1 AND external_payment_id = ?2 AND owner = ?3 AND attempt = ?4",
        )?
        .execute(params![
            payment.scope_number.0,
            payment.external_payment_id.as_str(),
            held.owner,
            held.attempt,
            payment.state.as_str(),
            payment.fence.owner,
            payment.fence.attempt,
            payment.lease_until.map(Timestamp::as_millisecond),
            payment.charged_at.map(Timestamp::as_millisecond),
        ])?;
    Ok(changed == 1)
}

/// Whether the event is seen for the first time.
pub(super) fn record_event(
    connection: &Connection,
    event_id: &str,
    now: Timestamp,
) -> rusqlite::Result<bool> {
    let inserted = connection.execute(
        "INSERT INTO acquirer_event (event_id, received_at_ms) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        params![event_id, now.as_millisecond()],
    )?;
    Ok(inserted == 1)
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Payment> {
    Ok(Payment {
        scope: scope::from_row(row)?,
        scope_number: ScopeNumber(row.get("scope_id")?),
        external_payment_id: row::id(row, "external_payment_id", ExternalPaymentId::parse)?,
        external_transaction_id: row::id(row, "external_transaction_id", ExternalTransactionId::parse)?,
        yupy_transaction_id: row::id(row, "yupy_transaction_id", YupyTransactionId::parse)?,
        acquirer_payment_id: row.get("acquirer_payment_id")?,
        amount: row::money(row)?,
        method: row.get("method")?,
        state: row::parsed(row, "state", |name| PaymentState::parse(name).ok_or(()))?,
        fence: Fence { owner: row.get("owner")?, attempt: row.get("attempt")? },
        lease_until: row::instant_if_any(row, "lease_until_ms")?,
        charged_at: row::instant_if_any(row, "charged_at_ms")?,
    })
}
