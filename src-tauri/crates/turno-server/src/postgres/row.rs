//! Columns read back into the types that they were written from, and statements by their text.
//!
//! Invariant: a row that this program did not write is an error with the column's name, never a default.

use std::collections::BTreeSet;

use deadpool_postgres::Client;
use futures_util::future::join;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use tokio_postgres::{
    Row,
    types::{FromSqlOwned, ToSql},
};
use turno_domain::{Currency, Money};

use super::{error::StoreError, gathered::Scoped};
use crate::caller::ScopeNumber;

pub(super) type Result<T> = std::result::Result<T, StoreError>;

/// What fills the places of a statement.
pub(super) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Each statement is prepared once a connection.
pub(super) async fn rows(client: &Client, sql: &str, values: Values<'_>) -> Result<Vec<Row>> {
    let statement = client.prepare_cached(sql).await?;
    Ok(client.query(&statement, values).await?)
}

pub(super) async fn row(client: &Client, sql: &str, values: Values<'_>) -> Result<Option<Row>> {
    let statement = client.prepare_cached(sql).await?;
    Ok(client.query_opt(&statement, values).await?)
}

/// The row that `sql` finds once the lock named `name` is ours, until the commit. They are two statements, because the
/// second has to see what the lock's last holder has committed; they are sent together, for one wait. Both are
/// prepared before, so that they are run in this order.
pub(super) async fn row_under_lock(
    client: &Client,
    name: &str,
    sql: &str,
    values: Values<'_>,
) -> Result<Option<Row>> {
    let (lock, statement) = (client.prepare_cached(LOCK).await?, client.prepare_cached(sql).await?);
    let name: Values<'_> = &[&name];
    let (locked, found) = join(client.execute(&lock, name), client.query_opt(&statement, values)).await;
    locked?;
    Ok(found?)
}

/// Wait for the lock named `name`, and hold it until the commit.
pub(super) async fn lock(client: &Client, name: &str) -> Result<()> {
    execute(client, LOCK, &[&name]).await?;
    Ok(())
}

/// Have the statements ready on this connection. From then on they are sent in the order in which they are first asked
/// for, so that several can be under way without one overtaking another.
pub(super) async fn prepare(client: &Client, statements: &[&str]) -> Result<()> {
    for sql in statements {
        client.prepare_cached(sql).await?;
    }
    Ok(())
}

/// Wait for the locks of these names in their order, and hold them until the commit.
pub(super) async fn locks(client: &Client, names: &[&str]) -> Result<()> {
    execute(client, LOCKS, &[&names]).await?;
    Ok(())
}

/// Those of the locks that nobody holds, held until the commit.
pub(super) async fn try_locks(client: &Client, names: &[String]) -> Result<Vec<String>> {
    rows(client, TRY_LOCKS, &[&names]).await?.iter().map(|row| get(row, "name")).collect()
}

/// For the rest of the transaction.
pub(super) async fn lock_timeout(client: &Client, ms: u32) -> Result<()> {
    execute(client, LOCK_TIMEOUT, &[&ms.to_string()]).await?;
    Ok(())
}

pub(super) const LOCKS: &str =
    "SELECT pg_advisory_xact_lock(hashtextextended(name, 0)) FROM unnest($1::text[]) AS wanted (name)";

pub(super) const TRY_LOCKS: &str = "SELECT name FROM unnest($1::text[]) AS wanted (name)
     WHERE pg_try_advisory_xact_lock(hashtextextended(name, 0))";

pub(super) const LOCK_TIMEOUT: &str = "SELECT set_config('lock_timeout', $1, true)";

/// By a hash: two names that share one wait for each other, which is slower and never wrong.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))";

/// How many rows were changed.
pub(super) async fn execute(client: &Client, sql: &str, values: Values<'_>) -> Result<u64> {
    let statement = client.prepare_cached(sql).await?;
    Ok(client.execute(&statement, values).await?)
}

/// One column of many rows, as an array.
pub(super) fn column<'a, R, T>(rows: &'a [R], of: impl Fn(&'a R) -> T) -> Vec<T> {
    rows.iter().map(of).collect()
}

/// The two columns of texts within scopes.
pub(super) fn columns(wanted: &BTreeSet<Scoped>) -> (Vec<i64>, Vec<&str>) {
    wanted.iter().map(|(scope, text)| (scope.0, text.as_str())).unzip()
}

/// A text with its row's scope.
pub(super) fn scoped(row: &Row, column: &'static str) -> Result<Scoped> {
    Ok((ScopeNumber(get(row, "scope_id")?), get(row, column)?))
}

/// Whether PostgreSQL can hold the text at all: a text with NUL names no row, and asking for one is an error.
pub(super) fn can_be_stored(text: &str) -> bool {
    !text.contains('\0')
}

pub(super) fn get<T: FromSqlOwned>(row: &Row, column: &'static str) -> Result<T> {
    row.try_get(column).map_err(|_| StoreError::Unreadable(column))
}

/// A text column through its type's own parser.
pub(super) fn parsed<T, E>(
    row: &Row,
    column: &'static str,
    parse: impl FnOnce(&str) -> std::result::Result<T, E>,
) -> Result<T> {
    let text: &str = row.try_get(column).map_err(|_| StoreError::Unreadable(column))?;
    parse(text).map_err(|_| StoreError::Unreadable(column))
}

/// An optional text column through its type's own parser.
pub(super) fn parsed_if_any<T, E>(
    row: &Row,
    column: &'static str,
    parse: impl FnOnce(&str) -> std::result::Result<T, E>,
) -> Result<Option<T>> {
    let text: Option<&str> = row.try_get(column).map_err(|_| StoreError::Unreadable(column))?;
    text.map(parse).transpose().map_err(|_| StoreError::Unreadable(column))
}

/// A text column through its id's own rules.
pub(super) fn id<T, E>(
    row: &Row,
    column: &'static str,
    parse: impl FnOnce(String) -> std::result::Result<T, E>,
) -> Result<T> {
    parse(get(row, column)?).map_err(|_| StoreError::Unreadable(column))
}

/// An optional text column through its id's own rules.
pub(super) fn id_if_any<T, E>(
    row: &Row,
    column: &'static str,
    parse: impl FnOnce(String) -> std::result::Result<T, E>,
) -> Result<Option<T>> {
    let text: Option<String> = get(row, column)?;
    text.map(parse).transpose().map_err(|_| StoreError::Unreadable(column))
}

/// A column that holds JSON.
pub(super) fn json<T: DeserializeOwned>(row: &Row, column: &'static str) -> Result<T> {
    parsed(row, column, |text| serde_json::from_str(text))
}

/// A column that holds a unit variant by its name.
pub(super) fn named<T: DeserializeOwned>(row: &Row, column: &'static str) -> Result<T> {
    parsed(row, column, crate::names::from_name)
}

/// A hash or a secret.
pub(super) fn bytes(row: &Row, column: &'static str) -> Result<[u8; 32]> {
    let bytes: &[u8] = row.try_get(column).map_err(|_| StoreError::Unreadable(column))?;
    bytes.try_into().map_err(|_| StoreError::Unreadable(column))
}

pub(super) fn instant(row: &Row, column: &'static str) -> Result<Timestamp> {
    Timestamp::from_millisecond(get(row, column)?).map_err(|_| StoreError::Unreadable(column))
}

pub(super) fn instant_if_any(row: &Row, column: &'static str) -> Result<Option<Timestamp>> {
    let millis: Option<i64> = get(row, column)?;
    millis.map(Timestamp::from_millisecond).transpose().map_err(|_| StoreError::Unreadable(column))
}

pub(super) fn money(row: &Row) -> Result<Money> {
    let currency = parsed(row, "currency", Currency::parse)?;
    Ok(Money::from_minor(get(row, "amount_minor")?, currency))
}
