//! Who this data folder is, and the numbers that it gives out.
//!
//! Invariant: a number is taken in the transaction that uses it and never given twice.

use rusqlite::{Connection, OptionalExtension, Result, params};
use turno_domain::Currency;
use turno_domain::ids::{Company, DeviceId, Environment, Epoch, Integration, Scope};

use crate::clock::Millis;
use crate::store::unreadable;

#[derive(Clone, Debug)]
pub struct Enrolment {
    pub address: String,
    pub scope: Scope,
    pub company_name: String,
    pub device_id: DeviceId,
    pub epoch: Epoch,
    pub currency: Currency,
}

/// The installation's id; made from `candidate` on the first call.
pub fn ensure(conn: &Connection, candidate: &str) -> Result<String> {
    conn.execute(
        "INSERT INTO installation (id, installation_id) VALUES (1, ?1) ON CONFLICT DO NOTHING",
        [candidate],
    )?;
    conn.query_one("SELECT installation_id FROM installation", [], |row| row.get(0))
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

pub fn enrolment(conn: &Connection) -> Result<Option<Enrolment>> {
    conn.query_row(
        "SELECT address, company, integration, environment, company_name, device_id, epoch, currency
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
                epoch: Epoch::parse(&id(6)?).map_err(|_| unreadable("epoch", "?"))?,
                currency: Currency::parse(&id(7)?).map_err(|_| unreadable("currency", "?"))?,
            })
        },
    )
    .optional()
}

/// Written once; enrolling again for the same device is a later program's act and replaces the row.
pub fn set_enrolment(conn: &Connection, enrolment: &Enrolment, at: Millis) -> Result<()> {
    conn.execute(
        "INSERT OR REPLACE INTO enrolment
         (id, address, company, integration, environment, company_name, device_id, epoch, currency, enrolled_at_ms)
         VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            enrolment.address,
            enrolment.scope.company.as_str(),
            enrolment.scope.integration.as_str(),
            enrolment.scope.environment.as_str(),
            enrolment.company_name,
            enrolment.device_id.as_str(),
            enrolment.epoch.as_str(),
            enrolment.currency.code(),
            at,
        ],
    )?;
    Ok(())
}
