//! What is sent. Invariant (triggers): bytes, path and key are frozen when they are written.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};
use sha2::{Digest, Sha256};

use crate::clock::Millis;
use crate::store::words;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    Create,
    Confirm,
}

words!(RequestKind {
    RequestKind::Create => "create" = RequestKind::Create,
    RequestKind::Confirm => "confirm" = RequestKind::Confirm,
});

#[derive(Clone, Debug)]
pub struct RequestRow {
    pub request_id: i64,
    pub kind: RequestKind,
    /// Which correction of the content it carries; 0 is what was recorded at the sale.
    pub revision: u32,
    pub idempotency_key: String,
    pub path: String,
    pub body: Vec<u8>,
    pub created_at: Millis,
    body_sha256: Vec<u8>,
}

impl RequestRow {
    /// False when the stored body is not the one that was frozen: it must not be sent.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        Sha256::digest(&self.body).as_slice() == self.body_sha256
    }
}

/// The request that was frozen under this key. A key stands for one content, for ever.
pub fn by_key(conn: &Connection, idempotency_key: &str) -> Result<Option<i64>> {
    conn.prepare_cached("SELECT request_id FROM requests WHERE idempotency_key = ?1")?
        .query_row([idempotency_key], |row| row.get(0))
        .optional()
}

/// A request that is about to be frozen.
pub struct NewRequest<'a> {
    pub kind: RequestKind,
    pub revision: u32,
    pub idempotency_key: &'a str,
    pub path: &'a str,
    pub body: &'a [u8],
}

/// Freezes a request and gives its id. A key that is taken is an error.
pub fn freeze(conn: &Connection, sequence: i64, request: &NewRequest<'_>, at: Millis) -> Result<i64> {
    conn.prepare_cached(
        "INSERT INTO requests (sequence, operation, revision, idempotency_key, path, body, body_sha256,
                               created_at_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        sequence,
        request.kind.as_word(),
        request.revision,
        request.idempotency_key,
        request.path,
        request.body,
        Sha256::digest(request.body).as_slice(),
        at
    ])?;
    Ok(conn.last_insert_rowid())
}

const COLUMNS: &str =
    "request_id, operation, revision, idempotency_key, path, body, body_sha256, created_at_ms";

fn read(row: &Row<'_>) -> Result<RequestRow> {
    Ok(RequestRow {
        request_id: row.get(0)?,
        kind: RequestKind::from_word(&row.get::<_, String>(1)?)?,
        revision: row.get(2)?,
        idempotency_key: row.get(3)?,
        path: row.get(4)?,
        body: row.get(5)?,
        body_sha256: row.get(6)?,
        created_at: row.get(7)?,
    })
}

pub fn get(conn: &Connection, request_id: i64) -> Result<RequestRow> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM requests WHERE request_id = ?1"))?
        .query_one([request_id], read)
}

/// Everything that was ever frozen of a sale, the oldest first.
pub fn of_sale(conn: &Connection, sequence: i64) -> Result<Vec<RequestRow>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM requests WHERE sequence = ?1 ORDER BY request_id"))?
        .query_map([sequence], read)?
        .collect()
}

/// What was frozen when the sale was made.
pub fn first_request(conn: &Connection, sequence: i64) -> Result<RequestRow> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM requests WHERE sequence = ?1 AND operation = 'create' ORDER BY request_id LIMIT 1"
    ))?
    .query_row([sequence], read)
}

/// The newest request that creates the sale: its first body, or the last repair of it.
pub fn create_request(conn: &Connection, sequence: i64) -> Result<RequestRow> {
    conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM requests WHERE sequence = ?1 AND operation = 'create'
         ORDER BY request_id DESC LIMIT 1"
    ))?
    .query_row([sequence], read)
}
