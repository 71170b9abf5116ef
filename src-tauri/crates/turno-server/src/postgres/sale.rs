//! Table `sale`.

use deadpool_postgres::Client;
use tokio_postgres::Row;
use turno_domain::{
    ids::{ExternalTransactionId, YupyTransactionId},
    lookalike::Signal,
};
use turno_protocol::body::{Context, State};

use super::row::{self, Result, execute};
use crate::{
    caller::ScopeNumber,
    instant::parse_rfc3339,
    ledger::{Page, PageRequest, Position},
    names,
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

pub(super) async fn by_id(client: &Client, scope: ScopeNumber, id: &str) -> Result<Option<StoredSale>> {
    find(client, select!("WHERE scope_id = $1 AND yupy_transaction_id = $2"), scope, id).await
}

/// The sale, held until the commit: what is decided by its state is written in that state.
pub(super) async fn lock(client: &Client, scope: ScopeNumber, id: &str) -> Result<Option<StoredSale>> {
    find(client, select!("WHERE scope_id = $1 AND yupy_transaction_id = $2 FOR UPDATE"), scope, id).await
}

pub(super) async fn by_external_id(
    client: &Client,
    scope: ScopeNumber,
    id: &str,
) -> Result<Option<StoredSale>> {
    find(client, select!("WHERE scope_id = $1 AND external_transaction_id = $2"), scope, id).await
}

/// As [`by_external_id`], alone with the id until the commit: a twin waits here and then finds the sale.
pub(super) async fn by_external_id_alone(
    client: &Client,
    scope: ScopeNumber,
    id: &ExternalTransactionId,
) -> Result<Option<StoredSale>> {
    let name = format!("sale {} {}", scope.0, id.as_str());
    let sql = select!("WHERE scope_id = $1 AND external_transaction_id = $2");
    let found = row::row_under_lock(client, &name, sql, &[&scope.0, &id.as_str()]).await?;
    found.map(|row| from_row(&row)).transpose()
}

async fn find(client: &Client, sql: &str, scope: ScopeNumber, id: &str) -> Result<Option<StoredSale>> {
    if !row::can_be_stored(id) {
        return Ok(None);
    }
    row::row(client, sql, &[&scope.0, &id]).await?.map(|row| from_row(&row)).transpose()
}

/// In order of arrival.
pub(super) async fn of_device(
    client: &Client,
    scope: ScopeNumber,
    device_id: &str,
    page: PageRequest,
) -> Result<Page<StoredSale>> {
    if !row::can_be_stored(device_id) {
        return Ok(Page { items: Vec::new(), next: None });
    }
    let sql = select!("WHERE scope_id = $1 AND device_id = $2 AND arrival > $3 ORDER BY arrival LIMIT $4");
    let after = page.after.map_or(0, |position| position.0);
    let rows = row::rows(client, sql, &[&scope.0, &device_id, &after, &page.one_more()]).await?;
    page.collect(rows.iter().map(|row| Ok((Position(row::get(row, "arrival")?), from_row(row)?))))
}

pub(super) async fn insert(
    client: &Client,
    scope: ScopeNumber,
    sale: &StoredSale,
    arrival: i64,
) -> Result<()> {
    let details = &sale.details;
    execute(
        client,
        "INSERT INTO sale (yupy_transaction_id, scope_id, external_transaction_id, amount_minor, currency,
            occurred_at, occurred_at_ms, buyer_name, integration_experience, shift_id, device_id, payment_method,
            custom_reference_1, custom_reference_2, route, seat, \"order\", product, service, operational,
            financial, created_at_ms, arrival, buyer_name_folded)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
            $22, $23, $24)",
        &[
            &sale.yupy_transaction_id.as_str(),
            &scope.0,
            &sale.external_transaction_id.as_str(),
            &sale.amount.minor(),
            &sale.amount.currency().code(),
            &sale.occurred_at.to_string(),
            &sale.occurred_at.as_millisecond(),
            &details.buyer_name,
            &details.integration_experience,
            &details.shift_id,
            &details.device_id,
            &details.payment_method,
            &details.context.custom_reference_1,
            &details.context.custom_reference_2,
            &details.context.route,
            &details.context.seat,
            &details.context.order,
            &details.context.product,
            &details.context.service,
            &names::name(sale.state.operational),
            &names::name(sale.state.financial),
            &sale.created_at.as_millisecond(),
            &arrival,
            &sale.traits().comparable(Signal::BuyerName),
        ],
    )
    .await?;
    Ok(())
}

pub(super) async fn set_state(client: &Client, id: &YupyTransactionId, state: State) -> Result<()> {
    execute(
        client,
        "UPDATE sale SET operational = $2, financial = $3 WHERE yupy_transaction_id = $1",
        &[&id.as_str(), &names::name(state.operational), &names::name(state.financial)],
    )
    .await?;
    Ok(())
}

pub(super) fn from_row(row: &Row) -> Result<StoredSale> {
    Ok(StoredSale {
        yupy_transaction_id: row::id(row, "yupy_transaction_id", YupyTransactionId::parse)?,
        external_transaction_id: row::id(row, "external_transaction_id", ExternalTransactionId::parse)?,
        amount: row::money(row)?,
        occurred_at: row::parsed(row, "occurred_at", parse_rfc3339)?,
        details: Details {
            buyer_name: row::get(row, "buyer_name")?,
            integration_experience: row::get(row, "integration_experience")?,
            shift_id: row::get(row, "shift_id")?,
            device_id: row::get(row, "device_id")?,
            payment_method: row::get(row, "payment_method")?,
            context: Context {
                custom_reference_1: row::get(row, "custom_reference_1")?,
                custom_reference_2: row::get(row, "custom_reference_2")?,
                route: row::get(row, "route")?,
                seat: row::get(row, "seat")?,
                order: row::get(row, "order")?,
                product: row::get(row, "product")?,
                service: row::get(row, "service")?,
            },
        },
        state: State {
            operational: row::named(row, "operational")?,
            financial: row::named(row, "financial")?,
        },
        created_at: row::instant(row, "created_at_ms")?,
    })
}
