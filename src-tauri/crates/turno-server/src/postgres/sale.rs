//! Table `sale`.

use std::collections::{BTreeSet, HashMap};

use deadpool_postgres::Client;
use tokio_postgres::Row;
use turno_domain::ids::{ExternalTransactionId, YupyTransactionId};
use turno_protocol::body::{Context, State};

use super::{
    gathered::Scoped,
    row::{self, Result, columns, execute},
};
use crate::{
    caller::ScopeNumber,
    instant::parse_rfc3339,
    ledger::{Page, PageRequest, Position},
    names,
    sale::{Details, StoredSale},
};

macro_rules! select {
    ($rest:expr) => {
        select_with_scope!(concat!("FROM sale ", $rest))
    };
}

/// What is read from, too, is for the caller to say.
macro_rules! select_with_scope {
    ($from:expr) => {
        concat!(
            "SELECT scope_id, arrival, yupy_transaction_id, external_transaction_id, amount_minor, currency, \
             occurred_at, buyer_name, integration_experience, shift_id, device_id, payment_method, \
             custom_reference_1, custom_reference_2, route, seat, \"order\", product, service, operational, \
             financial, created_at_ms ",
            $from
        )
    };
}
pub(super) use {select, select_with_scope};

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
    let name = id_lock(scope, id.as_str());
    let sql = select!("WHERE scope_id = $1 AND external_transaction_id = $2");
    let found = row::row_under_lock(client, &name, sql, &[&scope.0, &id.as_str()]).await?;
    found.map(|row| from_row(&row)).transpose()
}

/// Whoever settles what an external id stands for holds it until the commit.
pub(super) fn id_lock(scope: ScopeNumber, id: &str) -> String {
    format!("sale {} {id}", scope.0)
}

pub(super) async fn by_external_ids(
    client: &Client,
    ids: &BTreeSet<Scoped>,
) -> Result<HashMap<Scoped, StoredSale>> {
    let (scopes, names) = columns(ids);
    let sql = select_with_scope!(
        "FROM unnest($1::bigint[], $2::text[]) AS wanted (scope, name) \
         CROSS JOIN LATERAL (SELECT sale.* FROM sale \
            WHERE sale.scope_id = scope AND sale.external_transaction_id = name OFFSET 0) AS found"
    );
    let rows = row::rows(client, sql, &[&scopes, &names]).await?;
    rows.iter().map(|row| Ok((row::scoped(row, "external_transaction_id")?, from_row(row)?))).collect()
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
    // The index holds no longer ones; such a device, if there ever is one, is searched without it.
    let sql = if device_id.len() <= 512 {
        select!(
            "WHERE scope_id = $1 AND device_id = $2 AND octet_length(device_id) <= 512 AND arrival > $3 \
             ORDER BY arrival LIMIT $4"
        )
    } else {
        select!("WHERE scope_id = $1 AND device_id = $2 AND arrival > $3 ORDER BY arrival LIMIT $4")
    };
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
            &sale.folded_buyer_name(),
        ],
    )
    .await?;
    Ok(())
}

/// Each with its place in lists.
pub(super) async fn insert_all(client: &Client, new: &[(ScopeNumber, i64, &StoredSale)]) -> Result<()> {
    if new.is_empty() {
        return Ok(());
    }
    let text = |of: fn(&Details) -> &Option<String>| -> Vec<Option<&str>> {
        row::column(new, |(.., sale)| of(&sale.details).as_deref())
    };
    execute(
        client,
        "INSERT INTO sale (scope_id, arrival, yupy_transaction_id, external_transaction_id, amount_minor, currency,
            occurred_at, occurred_at_ms, buyer_name, integration_experience, shift_id, device_id, payment_method,
            custom_reference_1, custom_reference_2, route, seat, \"order\", product, service, operational, financial,
            created_at_ms, buyer_name_folded)
         SELECT new.* FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[],
            $7::text[], $8::bigint[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[],
            $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[],
            $23::bigint[], $24::text[]) AS new",
        &[
            &row::column(new, |(scope, ..)| scope.0),
            &row::column(new, |(_, arrival, _)| *arrival),
            &row::column(new, |(.., sale)| sale.yupy_transaction_id.as_str()),
            &row::column(new, |(.., sale)| sale.external_transaction_id.as_str()),
            &row::column(new, |(.., sale)| sale.amount.minor()),
            &row::column(new, |(.., sale)| sale.amount.currency().code()),
            &row::column(new, |(.., sale)| sale.occurred_at.to_string()),
            &row::column(new, |(.., sale)| sale.occurred_at.as_millisecond()),
            &text(|details| &details.buyer_name),
            &text(|details| &details.integration_experience),
            &text(|details| &details.shift_id),
            &text(|details| &details.device_id),
            &text(|details| &details.payment_method),
            &text(|details| &details.context.custom_reference_1),
            &text(|details| &details.context.custom_reference_2),
            &text(|details| &details.context.route),
            &text(|details| &details.context.seat),
            &text(|details| &details.context.order),
            &text(|details| &details.context.product),
            &text(|details| &details.context.service),
            &row::column(new, |(.., sale)| names::name(sale.state.operational)),
            &row::column(new, |(.., sale)| names::name(sale.state.financial)),
            &row::column(new, |(.., sale)| sale.created_at.as_millisecond()),
            &row::column(new, |(.., sale)| sale.folded_buyer_name()),
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
