//! Table `secret`.

use deadpool_postgres::Client;
use jiff::Timestamp;

use super::{
    error::StoreError,
    row::{self, Result, execute},
};
use crate::secrets::{Generation, Secrets, SigningKey};

/// How many token secrets are accepted: the newest and the one before it.
const ACTIVE_TOKEN_SECRETS: i64 = 2;

/// Read the secrets; a new database gets `fresh` ones, and of replicas that start together all get the first's.
pub(super) async fn load_or_make(client: &Client, now: Timestamp, fresh: [[u8; 32]; 2]) -> Result<Secrets> {
    if let Some(secrets) = load(client).await? {
        return Ok(secrets);
    }
    for (purpose, value) in ["fingerprint", "token"].into_iter().zip(fresh) {
        execute(
            client,
            "INSERT INTO secret (purpose, generation, value, created_at_ms) VALUES ($1, 1, $2, $3)
             ON CONFLICT DO NOTHING",
            &[&purpose, &value.as_slice(), &now.as_millisecond()],
        )
        .await?;
    }
    load(client).await?.ok_or(StoreError::Missing("secret"))
}

pub(super) async fn load(client: &Client) -> Result<Option<Secrets>> {
    let fingerprint = row::row(
        client,
        "SELECT value FROM secret WHERE purpose = 'fingerprint' ORDER BY generation LIMIT 1",
        &[],
    )
    .await?;
    let Some(fingerprint) = fingerprint else { return Ok(None) };
    let tokens = row::rows(
        client,
        "SELECT generation, value FROM secret WHERE purpose = 'token' ORDER BY generation DESC LIMIT $1",
        &[&ACTIVE_TOKEN_SECRETS],
    )
    .await?;
    let tokens = tokens
        .iter()
        .map(|row| Ok((Generation(row::get(row, "generation")?), SigningKey(row::bytes(row, "value")?))))
        .collect::<Result<Vec<_>>>()?;
    let fingerprint = SigningKey(row::bytes(&fingerprint, "value")?);
    Ok((!tokens.is_empty()).then_some(Secrets { fingerprint, tokens }))
}

/// Add the next token secret. Older ones than the one before it are forgotten: nothing accepts them any more.
pub(super) async fn rotate(client: &Client, now: Timestamp, fresh: [u8; 32]) -> Result<()> {
    execute(
        client,
        "INSERT INTO secret (purpose, generation, value, created_at_ms)
         SELECT 'token', max(generation) + 1, $1, $2 FROM secret WHERE purpose = 'token'",
        &[&fresh.as_slice(), &now.as_millisecond()],
    )
    .await?;
    execute(
        client,
        "DELETE FROM secret
         WHERE purpose = 'token' AND generation <= (
            SELECT max(generation) FROM secret WHERE purpose = 'token') - $1",
        &[&ACTIVE_TOKEN_SECRETS],
    )
    .await?;
    Ok(())
}
