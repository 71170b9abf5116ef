//! Tables `enrolment_code` and `device_epoch`.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};
use turno_domain::ids::{DeviceId, Epoch};
use uuid::Uuid;

use super::{row, scope};
use crate::{
    admin::NewEnrolmentCode,
    books::EnrolmentCode,
    caller::{Rights, ScopeNumber, TokenHash},
};

pub(super) fn put_code(
    connection: &Connection,
    code: &NewEnrolmentCode,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let scope = scope::number_of(connection, &code.scope)?;
    connection.execute(
        "INSERT INTO enrolment_code (code_hash, scope_id, device_id, rights, created_at_ms) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (code_hash) DO UPDATE SET
            scope_id = excluded.scope_id, device_id = excluded.device_id, rights = excluded.rights",
        params![code.code.0, scope.0, code.device_id.as_str(), code.rights.to_string(), now.as_millisecond()],
    )?;
    Ok(())
}

pub(super) fn find_code(
    connection: &Connection,
    hash: &TokenHash,
) -> rusqlite::Result<Option<EnrolmentCode>> {
    connection
        .prepare_cached(
            "SELECT scope_id, device_id, rights, installation_id, company, integration, environment
             FROM enrolment_code JOIN scope USING (scope_id)
             WHERE code_hash = ?1",
        )?
        .query_row([hash.0], |row| {
            Ok(EnrolmentCode {
                hash: *hash,
                scope: scope::from_row(row)?,
                scope_number: ScopeNumber(row.get("scope_id")?),
                device_id: row::id(row, "device_id", DeviceId::parse)?,
                rights: row::parsed(row, "rights", |text| Rights::parse(text).ok_or(()))?,
                installation_id: row::parsed_if_any(row, "installation_id", Uuid::parse_str)?,
            })
        })
        .optional()
}

pub(super) fn bind_code(
    connection: &Connection,
    hash: &TokenHash,
    installation: Uuid,
) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE enrolment_code SET installation_id = ?2 WHERE code_hash = ?1",
        params![hash.0, installation.to_string()],
    )?;
    Ok(())
}

pub(super) fn epoch_owner(
    connection: &Connection,
    scope: ScopeNumber,
    device: &DeviceId,
    epoch: &Epoch,
) -> rusqlite::Result<Option<Uuid>> {
    connection
        .prepare_cached(
            "SELECT installation_id FROM device_epoch WHERE scope_id = ?1 AND device_id = ?2 AND epoch = ?3",
        )?
        .query_row(params![scope.0, device.as_str(), epoch.as_str()], |row| {
            row::parsed(row, "installation_id", Uuid::parse_str)
        })
        .optional()
}

pub(super) fn insert_epoch(
    connection: &Connection,
    scope: ScopeNumber,
    device: &DeviceId,
    epoch: &Epoch,
    installation: Uuid,
    now: Timestamp,
) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO device_epoch (scope_id, device_id, epoch, installation_id, registered_at_ms)
         VALUES (?1, ?2, ?3, ?4, ?5)",
        params![scope.0, device.as_str(), epoch.as_str(), installation.to_string(), now.as_millisecond()],
    )?;
    Ok(())
}
