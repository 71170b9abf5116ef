//! Who this data folder is, and the numbers that it gives out.
//!
//! Invariant: a number is taken in the transaction that uses it and never given twice.

use rusqlite::{Connection, OptionalExtension, Result, params};
use turno_domain::Currency;
use turno_domain::ids::{Company, DeviceId, Environment, Integration, Scope};
use uuid::Uuid;

use crate::clock::Millis;
use crate::store::unreadable;

#[derive(Clone, Debug)]
pub struct Enrolment {
    pub address: String,
    pub scope: Scope,
    pub company_name: String,
    pub device_id: DeviceId,
    pub currency: Currency,
}

/// What the folder says about itself; compared with what is kept outside of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallationRow {
    pub installation_id: Uuid,
    /// The run that opened the folder last, and the one before.
    pub start_id: Option<Uuid>,
    pub previous_start_id: Option<Uuid>,
    pub last_sequence: i64,
    pub last_shift: u32,
    /// The number of the newest closing.
    pub last_z: i64,
}

/// The installation; made from `candidate` on the first call.
pub fn ensure(conn: &Connection, candidate: Uuid) -> Result<InstallationRow> {
    conn.execute(
        "INSERT INTO installation (id, installation_id) VALUES (1, ?1) ON CONFLICT DO NOTHING",
        [candidate.to_string()],
    )?;
    conn.query_one(
        "SELECT installation_id, start_id, previous_start_id, last_sequence, last_shift,
                (SELECT coalesce(max(z_number), 0) FROM closings)
         FROM installation",
        [],
        |row| {
            let id = |column: usize| {
                let text: Option<String> = row.get(column)?;
                let parsed = text.map(|text| {
                    Uuid::parse_str(&text).map_err(|_| unreadable("installation.installation_id", &text))
                });
                parsed.transpose()
            };
            Ok(InstallationRow {
                installation_id: id(0)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?,
                start_id: id(1)?,
                previous_start_id: id(2)?,
                last_sequence: row.get(3)?,
                last_shift: row.get(4)?,
                last_z: row.get(5)?,
            })
        },
    )
}

/// A run of the program begins in the folder that it left last.
pub fn begin_start(conn: &Connection, start_id: Uuid) -> Result<()> {
    conn.execute(
        "UPDATE installation SET previous_start_id = start_id, start_id = ?1",
        [start_id.to_string()],
    )?;
    Ok(())
}

/// The folder is another one from here on: nothing that is kept about the old one is about it.
pub fn become_another(conn: &Connection, installation_id: Uuid, start_id: Uuid) -> Result<()> {
    conn.execute(
        "UPDATE installation SET installation_id = ?1, start_id = ?2, previous_start_id = NULL",
        params![installation_id.to_string(), start_id.to_string()],
    )?;
    Ok(())
}

/// Numbers that were given out by an earlier state of this folder are not given again.
pub fn numbers_were_given(conn: &Connection, sequence: i64, shift_number: u32) -> Result<()> {
    conn.execute(
        "UPDATE installation SET last_sequence = max(last_sequence, ?1), last_shift = max(last_shift, ?2)",
        params![sequence, shift_number],
    )?;
    Ok(())
}

/// The last number that a sale got; 0 in a database that is new.
pub fn last_sequence(conn: &Connection) -> Result<i64> {
    conn.query_one("SELECT coalesce(max(last_sequence), 0) FROM installation", [], |row| row.get(0))
}

pub fn take_sequence(conn: &Connection) -> Result<i64> {
    conn.query_one(
        "UPDATE installation SET last_sequence = last_sequence + 1 RETURNING last_sequence",
        [],
        |row| row.get(0),
    )
}

pub fn take_shift_number(conn: &Connection) -> Result<u32> {
    conn.query_one("UPDATE installation SET last_shift = last_shift + 1 RETURNING last_shift", [], |row| {
        row.get(0)
    })
}

/// Since when sending is switched off; `None` when it is on.
pub fn sending_paused_at(conn: &Connection) -> Result<Option<Millis>> {
    conn.query_row("SELECT sending_paused_at_ms FROM installation", [], |row| row.get(0))
        .optional()
        .map(Option::flatten)
}

pub fn set_sending_paused_at(conn: &Connection, at: Option<Millis>) -> Result<()> {
    conn.execute("UPDATE installation SET sending_paused_at_ms = ?1", [at])?;
    Ok(())
}

pub fn enrolment(conn: &Connection) -> Result<Option<Enrolment>> {
    conn.query_row(
        "SELECT address, company, integration, environment, company_name, device_id, currency
         FROM enrolment",
        [],
        |row| {
            let id = |column: usize| row.get::<_, String>(column);
            Ok(Enrolment {
                address: row.get(0)?,
                scope: Scope {
                    company: Company::parse(id(1)?).map_err(|_| unreadable("company", "?"))?,
                    integration: Integration::parse(id(2)?).map_err(|_| unreadable("integration", "?"))?,
                    environment: Environment::parse(id(3)?).map_err(|_| unreadable("environment", "?"))?,
                },
                company_name: row.get(4)?,
                device_id: DeviceId::parse(id(5)?).map_err(|_| unreadable("device_id", "?"))?,
                currency: Currency::parse(&id(6)?).map_err(|_| unreadable("currency", "?"))?,
            })
        },
    )
    .optional()
}

/// Written once; enrolling again for the same device is a later program's act and replaces the row.
pub fn set_enrolment(conn: &Connection, enrolment: &Enrolment, at: Millis) -> Result<()> {
    conn.execute(
        "INSERT OR REPLACE INTO enrolment
         (id, address, company, integration, environment, company_name, device_id, currency, enrolled_at_ms)
         VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![
            enrolment.address,
            enrolment.scope.company.as_str(),
            enrolment.scope.integration.as_str(),
            enrolment.scope.environment.as_str(),
            enrolment.company_name,
            enrolment.device_id.as_str(),
            enrolment.currency.code(),
            at,
        ],
    )?;
    Ok(())
}
