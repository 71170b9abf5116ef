//! Who may sell and who may decide. PIN hashes and the count of wrong PINs are here; the pepper is not.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};

use crate::clock::Millis;
use crate::store::words;
use crate::view::{Person, Role};

words!(Role {
    Role::Cashier => "cashier" = Role::Cashier,
    Role::Manager => "manager" = Role::Manager,
});

#[derive(Clone, Debug)]
pub struct Lock {
    pub pin_hash: String,
    pub failures: u32,
}

/// Adds a person. Somebody whose PIN was forgotten gets the new one; anybody else who is known already stays as he is.
pub fn insert(conn: &Connection, person: &Person, pin_hash: &str) -> Result<()> {
    conn.execute(
        "INSERT INTO people (person_id, name, role, pin_hash) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (person_id) DO UPDATE SET pin_hash = excluded.pin_hash WHERE people.pin_hash = ''",
        params![person.person_id, person.name, person.role.as_word(), pin_hash],
    )?;
    Ok(())
}

fn read(row: &Row<'_>) -> Result<Person> {
    Ok(Person {
        person_id: row.get(0)?,
        name: row.get(1)?,
        role: Role::from_word(&row.get::<_, String>(2)?)?,
    })
}

/// Everybody who can unlock the till.
pub fn all(conn: &Connection) -> Result<Vec<Person>> {
    conn.prepare_cached(
        "SELECT person_id, name, role FROM people
         WHERE pin_hash <> '' AND retired_at_ms IS NULL ORDER BY role, name, person_id",
    )?
    .query_map([], read)?
    .collect()
}

/// Anybody who ever worked here.
pub fn find(conn: &Connection, person_id: &str) -> Result<Option<Person>> {
    conn.prepare_cached("SELECT person_id, name, role FROM people WHERE person_id = ?1")?
        .query_row([person_id], read)
        .optional()
}

/// Whoever unlocked last: offered first the next time.
pub fn last_unlocked(conn: &Connection) -> Result<Option<String>> {
    conn.query_row(
        "SELECT person_id FROM people WHERE unlocked_at_ms IS NOT NULL ORDER BY unlocked_at_ms DESC LIMIT 1",
        [],
        |row| row.get(0),
    )
    .optional()
}

pub fn lock(conn: &Connection, person_id: &str) -> Result<Option<Lock>> {
    conn.query_row(
        "SELECT pin_hash, pin_failures FROM people WHERE person_id = ?1 AND retired_at_ms IS NULL",
        [person_id],
        |row| Ok(Lock { pin_hash: row.get(0)?, failures: row.get(1)? }),
    )
    .optional()
}

/// Nobody can be checked any more: the pepper is gone. Who they were stays, since sales name them.
pub fn forget_pins(conn: &Connection) -> Result<()> {
    conn.execute("UPDATE people SET pin_hash = ''", [])?;
    Ok(())
}

/// Counts a try as failed before it is made, so that killing the program does not make it free.
pub fn set_failures(conn: &Connection, person_id: &str, failures: u32) -> Result<()> {
    conn.execute("UPDATE people SET pin_failures = ?2 WHERE person_id = ?1", params![person_id, failures])?;
    Ok(())
}

pub fn forgive(conn: &Connection, person_id: &str) -> Result<()> {
    conn.execute("UPDATE people SET pin_failures = 0 WHERE person_id = ?1", [person_id])?;
    Ok(())
}

/// A new PIN for somebody who works here; whether there is one.
pub fn set_pin(conn: &Connection, person_id: &str, pin_hash: &str) -> Result<bool> {
    let changed = conn.execute(
        "UPDATE people SET pin_hash = ?2, pin_failures = 0 WHERE person_id = ?1 AND retired_at_ms IS NULL",
        [person_id, pin_hash],
    )?;
    Ok(changed == 1)
}

/// Somebody works here no more; whoever they were stays, since sales name them.
pub fn retire(conn: &Connection, person_id: &str, at: Millis) -> Result<()> {
    conn.execute("UPDATE people SET retired_at_ms = ?2 WHERE person_id = ?1", params![person_id, at])?;
    Ok(())
}

/// Whether somebody ever had a PIN here under this id.
pub fn is_known(conn: &Connection, person_id: &str) -> Result<bool> {
    conn.query_row(
        "SELECT count(*) FROM people WHERE person_id = ?1 AND pin_hash <> ''",
        [person_id],
        |row| Ok(row.get::<_, u32>(0)? > 0),
    )
}

/// Whose PIN is not the one that they began with, as the audit has it. Reads all of it.
pub fn with_another_pin(conn: &Connection) -> Result<Vec<String>> {
    conn.prepare_cached(
        "SELECT DISTINCT json_extract(data, '$.of') FROM audit WHERE event IN ('pin_reset', 'pin_changed')",
    )?
    .query_map([], |row| row.get(0))?
    .collect()
}

pub fn note_unlock(conn: &Connection, person_id: &str, at: Millis) -> Result<()> {
    conn.execute("UPDATE people SET unlocked_at_ms = ?2 WHERE person_id = ?1", params![person_id, at])?;
    Ok(())
}
