//! The people of a till: added, given a new PIN and retired by a manager, each with a PIN for the one act.
//!
//! Invariant: nobody is ever deleted, since sales name them, and a till always has a manager.

use std::sync::PoisonError;

use uuid::Uuid;

use super::Till;
use crate::pins::By;
use crate::store::audit::{self, Entry, Event};
use crate::store::people;
use crate::view::{
    AddPersonRequest, ChangePinRequest, Person, Problem, ProblemCode, ResetPinRequest, RetirePersonRequest,
    Role,
};

impl Till {
    /// # Errors
    /// `name_invalid`, `pin_weak`, a PIN's refusals, `manager_required`.
    pub async fn admit_person(&self, request: &AddPersonRequest) -> Result<(), Problem> {
        let here = self.unlocked()?;
        let person_id = Uuid::parse_str(&request.person_id).map_err(|_| ProblemCode::NotFound)?.to_string();
        // What is wrong with the new person is said before anybody's PIN is used up.
        let (name, pin) = (person_name(&request.name)?, request.pin.as_str());
        crate::pins::check_strength(pin)?;
        let manager = self.pins().approve(&request.approval.manager_id, &request.approval.pin).await?;
        let by = By { here: &here, approved_by: Some(&manager) };
        self.enter(&person_id, name, request.role, pin, Some(by)).await
    }

    /// Writes a new person, unless the id is known.
    pub(super) async fn enter(
        &self,
        person_id: &str,
        name: String,
        role: Role,
        pin: &str,
        by: Option<By<'_>>,
    ) -> Result<(), Problem> {
        let id = person_id.to_owned();
        if self.inner.db.read(move |conn| people::is_known(conn, &id)).await? {
            return Ok(());
        }
        self.pins().add(Person { person_id: person_id.to_owned(), name, role }, pin, by).await?;
        self.changed();
        Ok(())
    }

    /// The ids of those whose PIN was changed since they came: what somebody was told of it then holds no more.
    ///
    /// # Errors
    /// The database could not be read.
    pub async fn people_with_another_pin(&self) -> Result<Vec<String>, Problem> {
        Ok(self.inner.db.read(people::with_another_pin).await?)
    }

    /// A new PIN for somebody, who can try again at once.
    ///
    /// # Errors
    /// `pin_weak`, a PIN's refusals, `manager_required`, `not_found`.
    pub async fn reset_pin(&self, request: &ResetPinRequest) -> Result<(), Problem> {
        let here = self.unlocked()?;
        crate::pins::check_strength(&request.pin)?;
        let manager = self.pins().approve(&request.approval.manager_id, &request.approval.pin).await?;
        let by = By { here: &here, approved_by: Some(&manager) };
        self.pins().replace(&request.person_id, &request.pin, Event::PinReset, &by).await?;
        self.changed();
        Ok(())
    }

    /// Whoever is at the till gets another PIN, with the old one.
    ///
    /// # Errors
    /// `not_unlocked`, `pin_weak`, a PIN's refusals.
    pub async fn change_pin(&self, request: &ChangePinRequest) -> Result<(), Problem> {
        let person = self.unlocked()?;
        crate::pins::check_strength(&request.new_pin)?;
        self.pins().verify(&person.person_id, &request.pin).await?;
        let by = By { here: &person, approved_by: None };
        self.pins().replace(&person.person_id, &request.new_pin, Event::PinChanged, &by).await?;
        self.changed();
        Ok(())
    }

    /// Somebody works here no more. What they sold keeps their name; were they at the till, it locks.
    ///
    /// # Errors
    /// A PIN's refusals, `manager_required`, `not_found`, `last_manager`.
    pub async fn retire_person(&self, request: &RetirePersonRequest) -> Result<(), Problem> {
        let here = self.unlocked()?;
        let manager = self.pins().approve(&request.approval.manager_id, &request.approval.pin).await?;
        let (id, now) = (request.person_id.clone(), self.now());
        self.inner
            .db
            .write(move |conn| {
                let all = people::all(conn)?;
                let person = all.iter().find(|person| person.person_id == id).ok_or(ProblemCode::NotFound)?;
                let managers = all.iter().filter(|person| person.role == Role::Manager).count();
                if person.role == Role::Manager && managers == 1 {
                    return Err(ProblemCode::LastManager.into());
                }
                people::retire(conn, &id, now)?;
                let data = serde_json::json!({ "of": id, "approved_by": manager.person_id });
                let entry =
                    Entry { person_id: Some(&here.person_id), data, ..Entry::new(Event::PersonRetired) };
                Ok::<_, Problem>(audit::append(conn, now, &entry)?)
            })
            .await?;
        // Another may have come to the till meanwhile.
        let is_here = self.unlocked().is_ok_and(|person| person.person_id == request.person_id);
        if is_here {
            self.inner.unlocked.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
        self.changed();
        Ok(())
    }
}

/// A name tag's length.
const NAME_LIMIT: usize = 60;

/// # Errors
/// `name_invalid`.
pub(super) fn person_name(typed: &str) -> Result<String, Problem> {
    let name = turno_domain::text::normalise_free_text(typed);
    let fits =
        !name.is_empty() && name.chars().count() <= NAME_LIMIT && !turno_domain::text::has_control(&name);
    if fits { Ok(name) } else { Err(ProblemCode::NameInvalid.into()) }
}
