//! Columns read back into the types that they were written from.
//!
//! Invariant: a row that this program did not write is an error with the column's place, never a default.

use jiff::Timestamp;
use rusqlite::{Row, types::Type};
use serde::de::DeserializeOwned;
use turno_domain::{Currency, Money};

pub(super) use crate::names::{from_name, name, to_json};

#[derive(Debug, thiserror::Error)]
#[error("column {0} holds what this program does not write")]
struct Unreadable(&'static str);

/// A text column through its type's own parser.
pub(super) fn parsed<T, E>(
    row: &Row<'_>,
    column: &'static str,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    parse(text).map_err(|_| unreadable(row, column))
}

/// A text column through its id's own rules.
pub(super) fn id<T, E>(
    row: &Row<'_>,
    column: &'static str,
    parse: impl FnOnce(String) -> Result<T, E>,
) -> rusqlite::Result<T> {
    parse(row.get(column)?).map_err(|_| unreadable(row, column))
}

/// An optional text column through its id's own rules.
pub(super) fn id_if_any<T, E>(
    row: &Row<'_>,
    column: &'static str,
    parse: impl FnOnce(String) -> Result<T, E>,
) -> rusqlite::Result<Option<T>> {
    let text: Option<String> = row.get(column)?;
    text.map(parse).transpose().map_err(|_| unreadable(row, column))
}

/// An optional text column through its type's own parser.
pub(super) fn parsed_if_any<T, E>(
    row: &Row<'_>,
    column: &'static str,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> rusqlite::Result<Option<T>> {
    match row.get_ref(column)?.as_str_or_null()? {
        Some(text) => parse(text).map(Some).map_err(|_| unreadable(row, column)),
        None => Ok(None),
    }
}

/// A column that holds JSON.
pub(super) fn json<T: DeserializeOwned>(row: &Row<'_>, column: &'static str) -> rusqlite::Result<T> {
    parsed(row, column, |text| serde_json::from_str(text))
}

/// A column that holds a unit variant by its name.
pub(super) fn named<T: DeserializeOwned>(row: &Row<'_>, column: &'static str) -> rusqlite::Result<T> {
    parsed(row, column, from_name)
}

pub(super) fn instant(row: &Row<'_>, column: &'static str) -> rusqlite::Result<Timestamp> {
    Timestamp::from_millisecond(row.get(column)?).map_err(|_| unreadable(row, column))
}

pub(super) fn instant_if_any(row: &Row<'_>, column: &'static str) -> rusqlite::Result<Option<Timestamp>> {
    let millis: Option<i64> = row.get(column)?;
    millis.map(Timestamp::from_millisecond).transpose().map_err(|_| unreadable(row, column))
}

pub(super) fn money(row: &Row<'_>) -> rusqlite::Result<Money> {
    let currency = parsed(row, "currency", Currency::parse)?;
    Ok(Money::from_minor(row.get("amount_minor")?, currency))
}

pub(super) fn unreadable(row: &Row<'_>, column: &'static str) -> rusqlite::Error {
    let place = row.as_ref().column_index(column).unwrap_or(usize::MAX);
    rusqlite::Error::FromSqlConversionFailure(place, Type::Text, Box::new(Unreadable(column)))
}
