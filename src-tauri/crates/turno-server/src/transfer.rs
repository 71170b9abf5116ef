//! A whole ledger as one file, to take it from one store to another: `admin export` and `admin import`.
//!
//! JSON lines: a head, one line a row (`["sale", {…}]`, bytes in hexadecimal, absent for null), and an end with the
//! number of rows of each table and the SHA-256 of everything before it. Invariant: an import is all or nothing. A file
//! that is cut off, changed, of another version, or whose audit does not hold, leaves the target as empty as it was.
//! The file holds the server's secrets and the hashes of credentials: whoever has it can sign confirmation tokens.

mod tables;

use std::{
    collections::BTreeMap,
    io::{self, BufRead, Write},
};

use serde_json::{Map, Value as Json, json};
use sha2::{Digest, Sha256};
use turno_protocol::{
    audit::AuditRow,
    chain::{BrokenAt, Head, verify_after},
};

use crate::{
    ledger::LedgerError,
    token::{hex, unhex},
};
pub(crate) use tables::{Kind, TABLES, Table};

/// Changes when a file of before cannot be read any more.
const VERSION: u64 = 1;

/// No line is longer: the largest catalog and then some.
const LONGEST_LINE: u64 = 64 * 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    #[error("the file cannot be read or written")]
    File(#[from] io::Error),
    #[error("this is no export of a ledger that this program can read")]
    NotAnExport,
    /// It holds something that no export holds.
    #[error("line {0} of the export is damaged")]
    Damaged(u64),
    #[error("the export is not whole: it was cut off or changed")]
    NotWhole,
    #[error("the audit of {company} in the export does not hold")]
    Audit { company: String, source: BrokenAt },
    /// What is there would be mixed with what comes.
    #[error("the target is not empty: `{0}` has rows")]
    NotEmpty(&'static str),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// What was taken over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// By table.
    pub rows: BTreeMap<String, u64>,
}

impl Summary {
    pub fn total(&self) -> u64 {
        self.rows.values().sum()
    }

    fn count(&mut self, table: &Table) {
        *self.rows.entry(table.name.to_owned()).or_default() += 1;
    }
}

/// A column of a row, as any store has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Integer(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Value {
    fn to_json(&self) -> Option<Json> {
        match self {
            Self::Null => None,
            Self::Integer(number) => Some(json!(number)),
            Self::Text(text) => Some(json!(text)),
            Self::Bytes(bytes) => Some(json!(hex(bytes))),
        }
    }

    fn from_json(kind: Kind, json: Option<&Json>) -> Option<Self> {
        let Some(json) = json else { return Some(Self::Null) };
        Some(match kind {
            Kind::Integer => Self::Integer(json.as_i64()?),
            Kind::Text => Self::Text(json.as_str()?.to_owned()),
            Kind::Bytes => Self::Bytes(unhex(json.as_str()?)?),
        })
    }
}

/// Writes an export.
pub(crate) struct Exporting {
    file: Box<dyn Write + Send>,
    hash: Sha256,
    summary: Summary,
}

impl Exporting {
    pub(crate) fn to(file: Box<dyn Write + Send>) -> Result<Self, TransferError> {
        let mut exporting = Self { file, hash: Sha256::new(), summary: Summary::default() };
        exporting.line(&json!({ "turno_export": VERSION }))?;
        Ok(exporting)
    }

    pub(crate) fn row(&mut self, table: &Table, values: &[Value]) -> Result<(), TransferError> {
        let columns = table.columns.iter().zip(values);
        let members: Map<String, Json> =
            columns.filter_map(|((name, _), value)| Some(((*name).to_owned(), value.to_json()?))).collect();
        self.summary.count(table);
        self.line(&json!([table.name, members]))
    }

    pub(crate) fn finish(mut self) -> Result<Summary, TransferError> {
        let sum = hex(&self.hash.clone().finalize());
        self.line(&json!({ "rows": self.summary.rows, "sha256": sum }))?;
        self.file.flush()?;
        Ok(self.summary)
    }

    fn line(&mut self, json: &Json) -> Result<(), TransferError> {
        let mut line = json.to_string();
        line.push('\n');
        self.hash.update(line.as_bytes());
        Ok(self.file.write_all(line.as_bytes())?)
    }
}

/// Reads an export. Whatever it gave out counts only once it has ended with `None`.
pub(crate) struct Importing {
    file: Box<dyn BufRead + Send>,
    hash: Sha256,
    line: u64,
    /// Where in [`TABLES`] the file is: tables come in their order, so that references find what they refer to.
    place: usize,
    summary: Summary,
    chains: BTreeMap<String, Head>,
}

impl Importing {
    pub(crate) fn from(file: Box<dyn BufRead + Send>) -> Result<Self, TransferError> {
        let (hash, summary, chains) = (Sha256::new(), Summary::default(), BTreeMap::new());
        let mut importing = Self { file, hash, line: 0, place: 0, summary, chains };
        let head = importing.line()?.and_then(|line| serde_json::from_str::<Json>(&line).ok());
        match head {
            Some(head) if head["turno_export"] == VERSION => Ok(importing),
            Some(_) | None => Err(TransferError::NotAnExport),
        }
    }

    /// The next row; `None` at the end, when everything was there and nothing was changed.
    pub(crate) fn row(&mut self) -> Result<Option<(&'static Table, Vec<Value>)>, TransferError> {
        let so_far = hex(&self.hash.clone().finalize());
        let line = self.line()?.ok_or(TransferError::NotWhole)?;
        let damaged = TransferError::Damaged(self.line);
        match serde_json::from_str::<Json>(&line) {
            Ok(Json::Array(row)) => match self.read_row(&row) {
                Some((table, values)) => {
                    self.summary.count(table);
                    self.check_chain(table, &values)?;
                    Ok(Some((table, values)))
                }
                None => Err(damaged),
            },
            Ok(end @ Json::Object(_)) => {
                let is_whole = end["sha256"] == so_far.as_str() && end["rows"] == json!(self.summary.rows);
                if is_whole && self.line()?.is_none() { Ok(None) } else { Err(TransferError::NotWhole) }
            }
            Ok(Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_)) => Err(damaged),
            // Cut off in the middle of a line.
            Err(_) => Err(TransferError::NotWhole),
        }
    }

    pub(crate) fn into_summary(self) -> Summary {
        self.summary
    }

    fn read_row(&mut self, row: &[Json]) -> Option<(&'static Table, Vec<Value>)> {
        let [name, Json::Object(members)] = row else { return None };
        let ahead = TABLES[self.place..].iter().position(|table| *name == table.name)?;
        self.place += ahead;
        let table = &TABLES[self.place];
        let is_known = |name: &String| table.columns.iter().any(|(column, _)| column == name);
        if !members.keys().all(is_known) {
            return None;
        }
        let values = table.columns.iter().map(|(name, kind)| Value::from_json(*kind, members.get(*name)));
        Some((table, values.collect::<Option<_>>()?))
    }

    fn check_chain(&mut self, table: &Table, values: &[Value]) -> Result<(), TransferError> {
        if table.name != "audit" {
            return Ok(());
        }
        let damaged = || TransferError::Damaged(self.line);
        let [Value::Text(company), _, Value::Text(entry), Value::Bytes(prev_hash), Value::Bytes(hash)] =
            values
        else {
            return Err(damaged());
        };
        let row = AuditRow {
            entry: serde_json::from_str(entry).map_err(|_| damaged())?,
            prev_hash: hex(prev_hash),
            hash: hex(hash),
        };
        let link = row.link().ok_or_else(damaged)?;
        let head = self.chains.entry(company.clone()).or_insert(Head::EMPTY);
        *head = verify_after(*head, [link])
            .map_err(|source| TransferError::Audit { company: company.clone(), source })?;
        Ok(())
    }

    fn line(&mut self) -> Result<Option<String>, TransferError> {
        let mut line = String::new();
        let read = io::Read::take(&mut self.file, LONGEST_LINE).read_line(&mut line)?;
        self.line += 1;
        self.hash.update(line.as_bytes());
        Ok((read > 0).then_some(line))
    }
}
