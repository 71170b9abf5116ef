//! Table `sale`.

use rusqlite::{Connection, OptionalExtension, Row, params};
use turno_domain::ids::{ExternalTransactionId, YupyTransactionId};
use turno_protocol::body::{Context, State};

use super::row;
use crate::{
    caller::ScopeNumber,
    instant::parse_rfc3339,
    ledger::{Page, PageRequest, Position},
    sale::{Details, StoredSale},
};

macro_rules! select {
    ($rest:expr) => {
        concat!(
            "SELECT arrival, yupy_transaction_id, external_transaction_id, amount_minor, currency, occurred_at, \
             buyer_name, integration_experience, shift_id, device_id, payment_method, custom_reference_1, \
             custom_reference_2, route, seat, \"order\", product, service, operational, financial, created_at_ms \
             FROM sale ",
            $rest
        )
    };
}
pub(super) use select;

pub(super) fn by_id(
    connection: &Connection,
    scope: ScopeNumber,
    id: &str,
) -> rusqlite::Result<Option<StoredSale>> {
    connection
        .prepare_cached(select!("WHERE yupy_transaction_id = ?2 AND scope_id = ?1"))?
        .query_row(params![scope.0, id], from_row)
        .optional()
}

pub(super) fn by_external_id(
    connection: &Connection,
    scope: ScopeNumber,
    id: &str,
) -> rusqlite::Result<Option<StoredSale>> {
    connection
        .prepare_cached(select!("WHERE scope_id = ?1 AND external_transaction_id = ?2"))?
        .query_row(params![scope.0, id], from_row)
        .optional()
}

/// In order of arrival.
pub(super) fn of_device(
    connection: &Connection,
    scope: ScopeNumber,
    device_id: &str,
    page: PageRequest,
) -> rusqlite::Result<Page<StoredSale>> {
    let mut statement = connection.prepare_cached(select!(
        "WHERE scope_id = ?1 AND device_id = ?2 AND arrival > ?3 ORDER BY arrival LIMIT ?4"
    ))?;
    let after = page.after.map_or(0, |position| position.0);
    let rows = statement.query_map(params![scope.0, device_id, after, page.one_more()], |row| {
        Ok((Position(row.get("arrival")?), from_row(row)?))
    })?;
    page.collect(rows)
}

pub(super) fn insert(connection: &Connection, scope: ScopeNumber, sale: &StoredSale) -> rusqlite::Result<()> {
    let details = &sale.details;
    connection
        .prepare_cached(
            "INSERT INTO sale (yupy_transaction_id, scope_id, external_transaction_id, amount_minor, currency,
                occurred_at, occurred_at_ms, buyer_name, integration_experience, shift_id, device_id, payment_method,
                custom_reference_1, custom_reference_2, route, seat, \"order\", product, service, operational,
                financial, created_at_ms, buyer_name_folded)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
                ?23)",
        )?
        .execute(params![
            sale.yupy_transaction_id.as_str(),
            scope.0,
            sale.external_transaction_id.as_str(),
            sale.amount.minor(),
            sale.amount.currency().code(),
            sale.occurred_at.to_string(),
            sale.occurred_at.as_millisecond(),
            details.buyer_name,
            details.integration_experience,
            details.shift_id,
            details.device_id,
            details.payment_method,
            details.context.custom_reference_1,
            details.context.custom_reference_2,
            details.context.route,
            details.context.seat,
            details.context.order,
            details.context.product,
            details.context.service,
            row::name(sale.state.operational),
            row::name(sale.state.financial),
            sale.created_at.as_millisecond(),
            sale.folded_buyer_name(),
        ])?;
    Ok(())
}

pub(super) fn set_state(
    connection: &Connection,
    id: &YupyTransactionId,
    state: State,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE sale SET operational = ?2, financial = ?3 WHERE yupy_transaction_id = ?1")?
        .execute(params![id.as_str(), row::name(state.operational), row::name(state.financial)])?;
    Ok(())
}

pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<StoredSale> {
    Ok(StoredSale {
        yupy_transaction_id: row::id(row, "yupy_transaction_id", YupyTransactionId::parse)?,
        external_transaction_id: row::id(row, "external_transaction_id", ExternalTransactionId::parse)?,
        amount: row::money(row)?,
        occurred_at: row::parsed(row, "occurred_at", parse_rfc3339)?,
        details: Details {
            buyer_name: row.get("buyer_name")?,
            integration_experience: row.get("integration_experience")?,
            shift_id: row.get("shift_id")?,
            device_id: row.get("device_id")?,
            payment_method: row.get("payment_method")?,
            context: Context {
                custom_reference_1: row.get("custom_reference_1")?,
                custom_reference_2: row.get("custom_reference_2")?,
                route: row.get("route")?,
                seat: row.get("seat")?,
                order: row.get("order")?,
                product: row.get("product")?,
                service: row.get("service")?,
            },
        },
        state: State {
            operational: row::named(row, "operational")?,
            financial: row::named(row, "financial")?,
        },
        created_at: row::instant(row, "created_at_ms")?,
    })
}
