//! What the frame of the screen shows, computed from rows each time.

use rusqlite::Connection;
use turno_domain::Currency;

use super::{Till, connection};
use crate::clock::{Millis, rfc3339};
use crate::shift::{Drawer, last_closing, limits};
use crate::store::epochs::{self, EpochRow};
use crate::store::shifts::ShiftRow;
use crate::store::{outbox, people, reconciliations, shifts};
use crate::view::{EpochReason, Money, NewEpoch, Person, Phase, Problem, ProblemCode, Role, Shift, Status};

/// The open shift, who opened it, and the cash that should be in its drawer.
fn shift(conn: &Connection, currency: Currency) -> rusqlite::Result<Option<(ShiftRow, Option<Person>, i64)>> {
    let Some(row) = shifts::current(conn)? else { return Ok(None) };
    let opened_by = people::find(conn, &row.opened_by)?;
    let expected = Drawer::of(conn, row.shift_number, row.float_minor, currency)?.expected()?;
    Ok(Some((row, opened_by, expected)))
}

/// How long people are told of new letters on their tickets when nothing else is to be said about it.
const NEW_EPOCH_SHOWN_MS: Millis = 24 * 60 * 60 * 1_000;

/// The epoch to tell people of, with how many sales of before are to be looked up.
fn new_epoch(conn: &Connection, now: Millis) -> rusqlite::Result<Option<(EpochRow, u32)>> {
    let Some(row) = epochs::current(conn)? else { return Ok(None) };
    let to_look_up = outbox::unsettled_up_to(conn, row.after_sequence)?;
    let is_news = (now - row.taken_at).abs() < NEW_EPOCH_SHOWN_MS || to_look_up > 0;
    Ok((row.reason != EpochReason::Enrolled && is_news).then_some((row, to_look_up)))
}

impl Till {
    /// # Errors
    /// The database could not be read.
    pub async fn phase(&self) -> Result<Phase, Problem> {
        let Ok(enrolled) = self.enrolled() else { return Ok(Phase::Welcome) };
        let currency = enrolled.enrolment.currency;
        let (people, last_person_id, shift, last_closing) = self
            .inner
            .db
            .read(move |conn| {
                let shift = shift(conn, currency)?;
                let last = if shift.is_none() { last_closing(conn, currency)? } else { None };
                Ok((people::all(conn)?, people::last_unlocked(conn)?, shift, last))
            })
            .await?;
        if self.needs_connection() {
            return Ok(Phase::Reconnect { address: enrolled.enrolment.address.clone() });
        }
        if people.iter().all(|person| person.role == Role::Cashier) {
            return Ok(Phase::FirstManager);
        }
        let Ok(person) = self.unlocked() else { return Ok(Phase::Locked { people, last_person_id }) };
        let Some((row, opened_by, expected)) = shift else {
            return Ok(Phase::NoShift { person, last_closing });
        };
        let money = |minor| Money { minor, currency: currency.code().to_owned() };
        let shift = Shift {
            shift_id: format!("S{}", row.shift_number),
            opened_at: rfc3339(row.opened_at),
            opened_by: opened_by.ok_or(ProblemCode::Internal)?,
            float: money(row.float_minor),
            sales_count: row.sales_count,
            sold: money(row.sold_minor),
            drawer_is_full: expected > limits(currency).cash_held,
        };
        Ok(Phase::Selling { person, shift })
    }

    /// # Errors
    /// The database could not be read.
    pub async fn status(&self) -> Result<Option<Status>, Problem> {
        let Ok(enrolled) = self.enrolled() else { return Ok(None) };
        let now = self.now();
        let (counts, new_epoch, reconciliation_alarm_count) = self
            .inner
            .db
            .read(move |conn| {
                Ok((outbox::counts(conn)?, new_epoch(conn, now)?, reconciliations::alarms(conn)?))
            })
            .await?;
        Ok(Some(Status {
            connection: connection(&enrolled.relay),
            pending_count: counts.pending,
            in_review_count: counts.in_review,
            needs_attention_count: counts.needs_attention,
            identity_collision_count: counts.identity_collision,
            reconciliation_alarm_count,
            clock_ahead_s: enrolled.relay.line().wrong_clock().map(|ahead_ms| ahead_ms / 1_000),
            storage_warnings: self.storage_warnings(),
            new_epoch: new_epoch.map(|(row, to_look_up_count)| NewEpoch {
                epoch: row.epoch.as_str().to_owned(),
                reason: row.reason,
                taken_at: rfc3339(row.taken_at),
                to_look_up_count,
                recovered_count: row.recovered_count,
            }),
        }))
    }

    /// Everybody who can unlock the till.
    ///
    /// # Errors
    /// The database could not be read.
    pub async fn people(&self) -> Result<Vec<Person>, Problem> {
        Ok(self.inner.db.read(people::all).await?)
    }

    /// # Errors
    /// The database could not be read.
    pub async fn managers(&self) -> Result<Vec<Person>, Problem> {
        let people = self.inner.db.read(people::all).await?;
        Ok(people.into_iter().filter(|person| person.role == Role::Manager).collect())
    }

    /// The till's name and currency, once it has them.
    #[must_use]
    pub fn device(&self) -> Option<(String, String)> {
        let enrolled = self.enrolled().ok()?;
        Some((
            enrolled.enrolment.device_id.as_str().to_owned(),
            enrolled.enrolment.currency.code().to_owned(),
        ))
    }
}
