//! Tables `enrolment_code` and `device_epoch`.

use deadpool_postgres::Client;
use jiff::Timestamp;
use tokio_postgres::Row;
use turno_domain::ids::{DeviceId, Epoch};
use uuid::Uuid;

use super::{
    row::{self, Result, execute},
    scope,
};
use crate::{
    admin::NewEnrolmentCode,
    books::EnrolmentCode,
    caller::{Rights, ScopeNumber, TokenHash},
};

pub(super) async fn put_code(client: &Client, code: &NewEnrolmentCode, now: Timestamp) -> Result<()> {
    let scope = scope::number_of(client, &code.scope).await?;
    execute(
        client,
        "INSERT INTO enrolment_code (code_hash, scope_id, device_id, rights, created_at_ms)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (code_hash) DO UPDATE SET
            scope_id = excluded.scope_id, device_id = excluded.device_id, rights = excluded.rights",
        &[
            &code.code.0.as_slice(),
            &scope.0,
            &code.device_id.as_str(),
            &code.rights.to_string(),
            &now.as_millisecond(),
        ],
    )
    .await?;
    Ok(())
}

/// The code, locked: two installations that come with it at once are served one after the other.
pub(super) async fn lock_code(client: &Client, hash: &TokenHash) -> Result<Option<EnrolmentCode>> {
    let found = row::row(
        client,
        "SELECT scope_id, device_id, rights, installation_id, company, integration, environment
         FROM enrolment_code JOIN scope USING (scope_id)
         WHERE code_hash = $1
         FOR UPDATE OF enrolment_code",
        &[&hash.0.as_slice()],
    )
    .await?;
    found.map(|row| from_row(&row, hash)).transpose()
}

fn from_row(row: &Row, hash: &TokenHash) -> Result<EnrolmentCode> {
    Ok(EnrolmentCode {
        hash: *hash,
        scope: scope::from_row(row)?,
        scope_number: ScopeNumber(row::get(row, "scope_id")?),
        device_id: row::id(row, "device_id", DeviceId::parse)?,
        rights: row::parsed(row, "rights", |text| Rights::parse(text).ok_or(()))?,
        installation_id: row::parsed_if_any(row, "installation_id", Uuid::parse_str)?,
    })
}

pub(super) async fn bind_code(client: &Client, hash: &TokenHash, installation: Uuid) -> Result<()> {
    execute(
        client,
        "UPDATE enrolment_code SET installation_id = $2 WHERE code_hash = $1",
        &[&hash.0.as_slice(), &installation.to_string()],
    )
    .await?;
    Ok(())
}

pub(super) async fn epoch_owner(
    client: &Client,
    scope: ScopeNumber,
    device: &DeviceId,
    epoch: &Epoch,
) -> Result<Option<Uuid>> {
    let found = row::row(
        client,
        "SELECT installation_id FROM device_epoch WHERE scope_id = $1 AND device_id = $2 AND epoch = $3",
        &[&scope.0, &device.as_str(), &epoch.as_str()],
    )
    .await?;
    found.map(|row| row::parsed(&row, "installation_id", Uuid::parse_str)).transpose()
}

pub(super) async fn insert_epoch(
    client: &Client,
    scope: ScopeNumber,
    device: &DeviceId,
    epoch: &Epoch,
    installation: Uuid,
    now: Timestamp,
) -> Result<()> {
    execute(
        client,
        "INSERT INTO device_epoch (scope_id, device_id, epoch, installation_id, registered_at_ms)
         VALUES ($1, $2, $3, $4, $5)",
        &[&scope.0, &device.as_str(), &epoch.as_str(), &installation.to_string(), &now.as_millisecond()],
    )
    .await?;
    Ok(())
}
