//! The whole database as an export, and an export as a whole database.

use std::{
    io::{BufRead, Write},
    pin::pin,
};

use deadpool_postgres::Client;
use futures_util::StreamExt;
use tokio_postgres::{Row, types::ToSql};
use turno_protocol::chain::GENESIS;

use super::{
    PostgresLedger,
    error::StoreError,
    row::{self, execute},
    transaction::Transaction,
};
use crate::{
    ledger::LedgerError,
    transfer::{Exporting, Importing, Kind, Summary, TABLES, Table, TransferError, Value},
};

type Result<T> = std::result::Result<T, TransferError>;

/// Rows in one statement of an import.
const ROWS_AT_ONCE: usize = 500;

impl PostgresLedger {
    /// In one snapshot. What is sold meanwhile is not in it, so nobody should be selling.
    pub(super) async fn write_export(&self, to: Box<dyn Write + Send>) -> Result<Summary> {
        let transaction = Transaction::begin(&self.pool).await.map_err(store)?;
        let done = export(transaction.client(), to).await;
        transaction.roll_back().await;
        done
    }

    /// In one transaction.
    pub(super) async fn read_export(&self, from: Box<dyn BufRead + Send>) -> Result<Summary> {
        let transaction = Transaction::begin(&self.pool).await.map_err(store)?;
        let done = import(transaction.client(), from).await;
        self.callers.forget_all();
        match done {
            Ok(summary) => transaction.commit().await.map(|()| summary).map_err(store),
            Err(error) => {
                transaction.roll_back().await;
                Err(error)
            }
        }
    }
}

fn store(error: StoreError) -> TransferError {
    LedgerError::from(error).into()
}

/// A whole ledger takes longer than a sale may.
const NO_HURRY: &str = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";

async fn export(client: &Client, to: Box<dyn Write + Send>) -> Result<Summary> {
    let one_snapshot = format!("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; {NO_HURRY}");
    // The clock was read already, which is a query: the transaction that was begun for it is given up.
    let begin = format!("ROLLBACK; BEGIN; {one_snapshot}");
    client.batch_execute(&begin).await.map_err(|error| store(error.into()))?;
    let mut exporting = Exporting::to(to)?;
    for table in TABLES {
        let none: [&(dyn ToSql + Sync); 0] = [];
        let rows = client.query_raw(&table.select(), none).await.map_err(|error| store(error.into()))?;
        let mut rows = pin!(rows);
        while let Some(row) = rows.next().await {
            let row = row.map_err(|error| store(error.into()))?;
            exporting.row(table, &read(table, &row).map_err(store)?)?;
        }
    }
    exporting.finish()
}

fn read(table: &Table, row: &Row) -> row::Result<Vec<Value>> {
    let value = |(name, kind): &(&'static str, Kind)| {
        let value = match kind {
            Kind::Integer => row::get::<Option<i64>>(row, name)?.map(Value::Integer),
            Kind::Text => row::get::<Option<String>>(row, name)?.map(Value::Text),
            Kind::Bytes => row::get::<Option<Vec<u8>>>(row, name)?.map(Value::Bytes),
        };
        Ok(value.unwrap_or(Value::Null))
    };
    table.columns.iter().map(value).collect()
}

async fn import(client: &Client, from: Box<dyn BufRead + Send>) -> Result<Summary> {
    client.batch_execute(NO_HURRY).await.map_err(|error| store(error.into()))?;
    for table in TABLES.iter().filter(|table| table.name != "secret") {
        let any = format!("SELECT 1 FROM {} LIMIT 1", table.name);
        if row::row(client, &any, &[]).await.map_err(store)?.is_some() {
            return Err(TransferError::NotEmpty(table.name));
        }
    }
    // Its own were made when it was opened, and nothing is signed with them yet.
    execute(client, "DELETE FROM secret", &[]).await.map_err(store)?;
    let mut importing = Importing::from(from)?;
    let mut rows: Vec<Vec<Value>> = Vec::with_capacity(ROWS_AT_ONCE);
    let mut current: Option<&'static Table> = None;
    loop {
        let next = importing.row()?;
        let table = next.as_ref().map(|(table, _)| *table);
        if let Some(last) = current
            && (rows.len() >= ROWS_AT_ONCE || table.is_none_or(|table| table.name != last.name))
        {
            insert(client, last, &rows).await.map_err(store)?;
            rows.clear();
        }
        let Some((table, values)) = next else { break };
        current = Some(table);
        rows.push(values);
    }
    continue_series(client).await.map_err(store)?;
    Ok(importing.into_summary())
}

/// A column of many rows.
enum Column {
    Integers(Vec<Option<i64>>),
    Texts(Vec<Option<String>>),
    Bytes(Vec<Option<Vec<u8>>>),
}

async fn insert(client: &Client, table: &Table, rows: &[Vec<Value>]) -> row::Result<()> {
    let columns: Vec<_> =
        table.columns.iter().enumerate().map(|(place, (_, kind))| column(*kind, place, rows)).collect();
    let values: Vec<&(dyn ToSql + Sync)> = columns
        .iter()
        .map(|column| -> &(dyn ToSql + Sync) {
            match column {
                Column::Integers(values) => values,
                Column::Texts(values) => values,
                Column::Bytes(values) => values,
            }
        })
        .collect();
    let kinds = table.columns.iter().zip(1..).map(|((_, kind), place)| match kind {
        Kind::Integer => format!("${place}::bigint[]"),
        Kind::Text => format!("${place}::text[]"),
        Kind::Bytes => format!("${place}::bytea[]"),
    });
    // Scopes keep their numbers, which sales refer to.
    let numbers = if table.name == "scope" { "OVERRIDING SYSTEM VALUE" } else { "" };
    let sql = format!(
        "INSERT INTO {} ({}) {numbers} SELECT new.* FROM unnest({}) AS new",
        table.name,
        table.column_list(),
        kinds.collect::<Vec<_>>().join(", ")
    );
    execute(client, &sql, &values).await?;
    Ok(())
}

fn column(kind: Kind, place: usize, rows: &[Vec<Value>]) -> Column {
    let at = |row: &Vec<Value>| row.get(place).cloned().unwrap_or(Value::Null);
    match kind {
        Kind::Integer => Column::Integers(rows.iter().map(|row| integer(at(row))).collect()),
        Kind::Text => Column::Texts(rows.iter().map(|row| text(at(row))).collect()),
        Kind::Bytes => Column::Bytes(rows.iter().map(|row| bytes(at(row))).collect()),
    }
}

fn integer(value: Value) -> Option<i64> {
    if let Value::Integer(number) = value { Some(number) } else { None }
}

fn text(value: Value) -> Option<String> {
    if let Value::Text(text) = value { Some(text) } else { None }
}

fn bytes(value: Value) -> Option<Vec<u8>> {
    if let Value::Bytes(bytes) = value { Some(bytes) } else { None }
}

/// New scopes, arrivals and audit rows go on after what came.
async fn continue_series(client: &Client) -> row::Result<()> {
    let scopes = "SELECT setval(pg_get_serial_sequence('scope', 'scope_id'), max(scope_id)) FROM scope
                  HAVING max(scope_id) IS NOT NULL";
    row::rows(client, scopes, &[]).await?;
    execute(
        client,
        "INSERT INTO company_head (company, audit_rows, audit_hash, arrivals)
         SELECT c.company,
            coalesce((SELECT max(number) FROM audit WHERE company = c.company), 0),
            coalesce((SELECT hash FROM audit WHERE company = c.company ORDER BY number DESC LIMIT 1), $1),
            greatest(
                coalesce((SELECT max(arrival) FROM sale JOIN scope USING (scope_id) WHERE company = c.company), 0),
                coalesce((SELECT max(arrival) FROM challenge JOIN scope USING (scope_id) WHERE company = c.company), 0))
         FROM company AS c",
        &[&GENESIS.as_slice()],
    )
    .await?;
    Ok(())
}
