//! One void as the journal keeps it: the money that was given back, and what YUPY is told of it.
//!
//! Without it a database from before the void would have the sale sold at YUPY, its money in the drawer, and ready to
//! be given back a second time.

use rusqlite::{Connection, Result};
use serde::{Deserialize, Serialize};
use serde_json::json;
use turno_domain::ids::Scope;
use turno_domain::{Currency, Money};

use crate::clock::Millis;
use crate::outbox;
use crate::settle::{self, Context};
use crate::shift;
use crate::store::audit::{self, Event};
use crate::store::outbox as entries;
use crate::store::sales::{self, SaleRow};
use crate::store::shifts::OpenedShift;
use crate::store::voids::{self, NewVoid};
use crate::store::{epochs, installation, people, shifts, unreadable};
use crate::view::{Person, Problem, ProblemCode, TenderMethod};
use crate::voiding::State;
use crate::{payment, void};

/// How far a journal goes in the voids: up to this row of the audit, as it was in this epoch. Another state of the
/// folder gives its rows numbers of its own, and takes a new epoch before it writes one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    pub epoch: String,
    pub audit_id: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Voided {
    scope: Scope,
    external_transaction_id: String,
    operation_id: String,
    idempotency_key: String,
    /// JSON, byte for byte as it is sent.
    body: String,
    /// Whose drawer the money came from.
    shift: OpenedShift,
    /// Who opened the shift, who asked, and who approved.
    people: Vec<Person>,
    asked_by: String,
    approved_by: String,
    reason: String,
    returned_minor: i64,
    tender: String,
    voided_at: Millis,
    pub mark: Mark,
}

/// Voids behind a mark, the oldest first, and how far that is.
///
/// # Errors
/// The database refused.
pub fn voids_since(
    conn: &Connection,
    mark: Option<&Mark>,
    limit: u32,
) -> Result<(Vec<Voided>, Option<Mark>)> {
    let (Some(enrolment), Some(epoch)) = (installation::enrolment(conn)?, epochs::current(conn)?) else {
        return Ok((Vec::new(), mark.cloned()));
    };
    let epoch = epoch.epoch.as_str().to_owned();
    let behind = mark.filter(|mark| mark.epoch == epoch).map_or(0, |mark| mark.audit_id);
    // Looked at first: what is written meanwhile is found, or stays behind the mark.
    let newest = audit::last_id(conn)?;
    let found = audit::of_event_behind(conn, Event::SaleVoided, behind, limit)?;
    let last = found.last().map_or(behind, |(audit_id, _)| *audit_id);
    let is_all = found.len() < usize::try_from(limit).unwrap_or(usize::MAX);
    let mark = Mark { epoch: epoch.clone(), audit_id: if is_all { newest.max(last) } else { last } };
    let mut voided = Vec::new();
    for (audit_id, external_transaction_id) in found {
        let mark = Mark { epoch: epoch.clone(), audit_id };
        // A row that cannot be understood is for people, and was in the journal when it could be.
        match Voided::read(conn, &enrolment.scope, &external_transaction_id, mark) {
            Ok(void) => voided.extend(void),
            Err(error) if crate::store::is_about_the_row(&error) => {
                tracing::error!(%error, external_transaction_id, "a void cannot be written to the journal");
            }
            Err(error) => return Err(error),
        }
    }
    Ok((voided, Some(mark)))
}

impl Voided {
    fn read(conn: &Connection, scope: &Scope, id: &str, mark: Mark) -> Result<Option<Self>> {
        let Some(sale) = sales::by_external_id(conn, id)? else { return Ok(None) };
        let Some(void) = voids::get(conn, sale.sequence)? else { return Ok(None) };
        let shift = shifts::opened(conn, void.shift_number)?;
        let mut people = Vec::new();
        for id in [&shift.opened_by, &void.asked_by, &void.approved_by] {
            if people.iter().all(|known: &Person| known.person_id != *id) {
                people.push(people::find(conn, id)?.ok_or_else(|| unreadable("person_id", id))?);
            }
        }
        Ok(Some(Self {
            scope: scope.clone(),
            external_transaction_id: sale.external_transaction_id,
            operation_id: void.operation_id,
            idempotency_key: void.idempotency_key,
            body: String::from_utf8(void.body).map_err(|_| unreadable("voids.body", "?"))?,
            shift,
            people,
            asked_by: void.asked_by,
            approved_by: void.approved_by,
            reason: void.reason,
            returned_minor: void.returned_minor,
            tender: void.tender,
            voided_at: void.voided_at,
            mark,
        }))
    }

    /// Whether a database lacks it that has its sale.
    ///
    /// # Errors
    /// The database refused.
    pub fn is_missing(&self, conn: &Connection) -> Result<bool> {
        Ok(self.sale_without_it(conn)?.is_some())
    }

    fn sale_without_it(&self, conn: &Connection) -> Result<Option<SaleRow>> {
        let own = installation::enrolment(conn)?.is_some_and(|enrolment| enrolment.scope == self.scope);
        let sale = if own { sales::by_external_id(conn, &self.external_transaction_id)? } else { None };
        match sale {
            Some(sale) if !voids::exists(conn, sale.sequence)? => Ok(Some(sale)),
            Some(_) | None => Ok(None),
        }
    }

    /// Puts the void into a database that has its sale and not the void, to be sent with its key and bytes. Says
    /// whether it did.
    ///
    /// # Errors
    /// The database refused.
    pub fn put_back(&self, conn: &Connection, context: &Context, now: Millis) -> Result<bool, Problem> {
        let Some(sale) = self.sale_without_it(conn)? else { return Ok(false) };
        let entry = entries::get(conn, sale.sequence)?.ok_or(ProblemCode::Internal)?;
        // Here the money of a discarded sale was settled with the decision, and taking that back is not in the journal.
        if matches!(entry.state, outbox::State::Discarded { .. }) {
            tracing::error!(
                sale = self.external_transaction_id,
                "a void of a discarded sale is not put back"
            );
            return Ok(false);
        }
        for person in &self.people {
            if people::find(conn, &person.person_id)?.is_none() {
                people::insert(conn, person, "")?;
            }
        }
        shifts::put_back(conn, &self.shift)?;
        installation::numbers_were_given(conn, 0, self.shift.shift_number)?;
        // Where it could not begin, YUPY had accepted the sale since: it waits until that is known here again.
        let mut state = void::begins(&entry.state, now).unwrap_or(State::Waiting { attempts: 0 });
        // Then a card may have been charged, and YUPY must say so before it is taken back.
        if !payment::withdraw(conn, context, sale.sequence, now)? {
            state = State::Waiting { attempts: 0 };
        }
        let new = NewVoid {
            sequence: sale.sequence,
            operation_id: self.operation_id.clone(),
            idempotency_key: self.idempotency_key.clone(),
            body: self.body.clone().into_bytes(),
            shift_number: self.shift.shift_number,
            asked_by: self.asked_by.clone(),
            approved_by: self.approved_by.clone(),
            reason: self.reason.clone(),
            returned_minor: self.returned_minor,
            tender: self.tender.clone(),
            voided_at: self.voided_at,
        };
        voids::insert(conn, &new, state)?;
        let currency = Currency::parse(&sale.currency).map_err(|_| ProblemCode::Internal)?;
        let manager = people::find(conn, &self.approved_by)?.ok_or(ProblemCode::Internal)?;
        let parts = void::parts_of(conn, &sale, self.returned_minor)?;
        for part in parts.iter().filter(|part| part.method == TenderMethod::Cash) {
            let amount = Money::from_minor(part.amount_minor, currency);
            let (shift, at) = (self.shift.shift_number, self.voided_at);
            shift::give_back(conn, shift, &manager, &sale, amount, &self.reason, at)?;
        }
        let entry = audit::Entry {
            event: Event::VoidRecovered,
            person_id: Some(&self.approved_by),
            external_transaction_id: Some(&self.external_transaction_id),
            data: json!({
                "operation_id": self.operation_id, "returned_minor": self.returned_minor,
                "shift": self.shift.shift_number, "asked_by": self.asked_by, "reason": self.reason,
            }),
        };
        audit::append(conn, now, &entry)?;
        settle::apply(conn, context, sale.sequence, &outbox::Event::Withdrawn, None, now)?;
        Ok(true)
    }
}
