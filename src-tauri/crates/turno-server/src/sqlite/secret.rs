//! Table `secret`.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use crate::secrets::{Generation, Secrets, SigningKey};

/// How many token secrets are accepted: the newest and the one before it.
const ACTIVE_TOKEN_SECRETS: i64 = 2;

/// Read the secrets; a new file gets `fresh` ones.
pub(super) fn load_or_make(
    connection: &Connection,
    now: Timestamp,
    fresh: [[u8; 32]; 2],
) -> rusqlite::Result<Secrets> {
    if let Some(secrets) = load(connection)? {
        return Ok(secrets);
    }
    for (purpose, value) in ["fingerprint", "token"].into_iter().zip(fresh) {
        connection.execute(
            "INSERT INTO secret (purpose, generation, value, created_at_ms) VALUES (?1, 1, ?2, ?3)
             ON CONFLICT DO NOTHING",
            params![purpose, value, now.as_millisecond()],
        )?;
    }
    load(connection)?.ok_or(rusqlite::Error::QueryReturnedNoRows)
}

pub(super) fn load(connection: &Connection) -> rusqlite::Result<Option<Secrets>> {
    let fingerprint = connection
        .query_row(
            "SELECT value FROM secret WHERE purpose = 'fingerprint' ORDER BY generation LIMIT 1",
            [],
            |row| row.get(0).map(SigningKey),
        )
        .optional()?;
    let tokens = connection
        .prepare(
            "SELECT generation, value FROM secret WHERE purpose = 'token' ORDER BY generation DESC LIMIT ?1",
        )?
        .query_map([ACTIVE_TOKEN_SECRETS], |row| Ok((Generation(row.get(0)?), SigningKey(row.get(1)?))))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(fingerprint.filter(|_| !tokens.is_empty()).map(|fingerprint| Secrets { fingerprint, tokens }))
}

/// Add the next token secret. Older ones than the one before it are forgotten: nothing accepts them any more.
pub(super) fn rotate(connection: &Connection, now: Timestamp, fresh: [u8; 32]) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO secret (purpose, generation, value, created_at_ms)
         SELECT 'token', max(generation) + 1, ?1, ?2 FROM secret WHERE purpose = 'token'",
        params![fresh, now.as_millisecond()],
    )?;
    connection.execute(
        "DELETE FROM secret
         WHERE purpose = 'token' AND generation <= (
            SELECT max(generation) FROM secret WHERE purpose = 'token') - ?1",
        [ACTIVE_TOKEN_SECRETS],
    )?;
    Ok(())
}
