//! The whole file as an export, and an export as a whole file.

use std::io::{BufRead, Write};

use rusqlite::{Connection, ToSql, types::ValueRef};
use turno_sqlite::WriteError;

use super::{SqliteLedger, sqlite_error, write_error};
use crate::{
    ledger::LedgerError,
    transfer::{Exporting, Importing, Summary, TABLES, Table, TransferError, Value},
};

impl SqliteLedger {
    /// In one snapshot. What is sold meanwhile is not in it, so nobody should be selling.
    pub(super) async fn write_export(&self, to: Box<dyn Write + Send>) -> Result<Summary, TransferError> {
        self.read(move |connection| Ok(export(connection, to))).await?
    }

    /// In one transaction.
    pub(super) async fn read_export(&self, from: Box<dyn BufRead + Send>) -> Result<Summary, TransferError> {
        let done = self.database.write(move |connection| import(connection, from)).await;
        self.callers.forget_all();
        done.map_err(|error| match error {
            WriteError::Rejected(error) => error,
            WriteError::Full => store(write_error(WriteError::Full)),
            WriteError::Closed => store(write_error(WriteError::Closed)),
            WriteError::OutcomeUnknown(error) => store(write_error(WriteError::OutcomeUnknown(error))),
            WriteError::NotCommitted(error) => store(write_error(WriteError::NotCommitted(error))),
        })
    }
}

fn store(error: LedgerError) -> TransferError {
    TransferError::Ledger(error)
}

fn of_sqlite(error: rusqlite::Error) -> TransferError {
    store(sqlite_error(error))
}

fn export(connection: &Connection, to: Box<dyn Write + Send>) -> Result<Summary, TransferError> {
    let mut exporting = Exporting::to(to)?;
    for table in TABLES {
        let mut statement = connection.prepare(&table.select()).map_err(of_sqlite)?;
        let mut rows = statement.query([]).map_err(of_sqlite)?;
        while let Some(row) = rows.next().map_err(of_sqlite)? {
            let values: Result<Vec<_>, _> = (0..table.columns.len()).map(|place| read(row, place)).collect();
            exporting.row(table, &values.map_err(of_sqlite)?)?;
        }
    }
    exporting.finish()
}

fn read(row: &rusqlite::Row<'_>, place: usize) -> rusqlite::Result<Value> {
    Ok(match row.get_ref(place)? {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Text(_) => Value::Text(row.get(place)?),
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
        // No table has any; a strict one refuses it.
        ValueRef::Real(_) => return Err(rusqlite::Error::InvalidQuery),
    })
}

fn import(connection: &Connection, from: Box<dyn BufRead + Send>) -> Result<Summary, TransferError> {
    for table in TABLES.iter().filter(|table| table.name != "secret") {
        let any = connection.prepare(&format!("SELECT 1 FROM {} LIMIT 1", table.name));
        if any.and_then(|mut any| any.exists([])).map_err(of_sqlite)? {
            return Err(TransferError::NotEmpty(table.name));
        }
    }
    // Its own were made when it was opened, and nothing is signed with them yet.
    connection.execute("DELETE FROM secret", []).map_err(of_sqlite)?;
    let mut importing = Importing::from(from)?;
    let mut numbering = Numbering::default();
    while let Some((table, mut values)) = importing.row()? {
        numbering.number(table, &mut values);
        insert(connection, table, &values).map_err(of_sqlite)?;
    }
    Ok(importing.into_summary())
}

fn insert(connection: &Connection, table: &Table, values: &[Value]) -> rusqlite::Result<()> {
    let places: Vec<_> = (1..=values.len()).map(|place| format!("?{place}")).collect();
    let sql = format!("INSERT INTO {} ({}) VALUES ({})", table.name, table.column_list(), places.join(", "));
    connection.prepare_cached(&sql)?.execute(rusqlite::params_from_iter(values))?;
    Ok(())
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        match self {
            Self::Null => Ok(rusqlite::types::Null.into()),
            Self::Integer(number) => number.to_sql(),
            Self::Text(text) => text.to_sql(),
            Self::Bytes(bytes) => bytes.to_sql(),
        }
    }
}

/// Order of arrival is one series of the whole file here, and one of each company elsewhere. Rows come in their order,
/// so a number that is taken becomes the next free one, and each company's order stays.
#[derive(Default)]
struct Numbering {
    last: std::collections::BTreeMap<&'static str, i64>,
}

impl Numbering {
    fn number(&mut self, table: &Table, values: &mut [Value]) {
        let arrival = table.place_of("arrival").and_then(|place| values.get_mut(place));
        if let Some(Value::Integer(arrival)) = arrival {
            let last = self.last.entry(table.name).or_default();
            *arrival = (*arrival).max(*last + 1);
            *last = *arrival;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::MIGRATIONS;

    /// A column that a migration adds and an export leaves out would be lost without a word.
    #[test]
    fn an_export_has_every_column_of_every_table() {
        let connection = Connection::open_in_memory().unwrap();
        for migration in MIGRATIONS {
            connection.execute_batch(migration.sql).unwrap();
        }
        let sql = "SELECT t.name, c.name FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c
                   WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' ORDER BY 1, 2";
        let mut statement = connection.prepare(sql).unwrap();
        let columns = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let columns: Vec<(String, String)> = columns.map(Result::unwrap).collect();
        let exported = TABLES.iter().flat_map(|table| {
            table.columns.iter().map(|(column, _)| (table.name.to_owned(), (*column).to_owned()))
        });
        let mut exported: Vec<_> = exported.collect();
        exported.sort_unstable();
        assert_eq!(exported, columns);
    }

    #[test]
    fn numbers_that_two_companies_share_become_one_series_in_the_same_order() {
        let sale = TABLES.iter().find(|table| table.name == "sale").unwrap();
        let mut numbering = Numbering::default();
        let mut numbered = |arrival| {
            let mut values = vec![Value::Integer(arrival)];
            numbering.number(sale, &mut values);
            values.remove(0)
        };
        let found = [1, 1, 2, 2, 9].map(&mut numbered);
        assert_eq!(found, [1, 2, 3, 4, 9].map(Value::Integer));
    }
}
