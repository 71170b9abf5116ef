//! What waits: the queue, its sending, and the questions for a manager.

use std::sync::atomic::Ordering;

use super::{Till, connection};
use crate::store::audit::{self, Entry, Event};
use crate::store::{installation, outbox, summaries};
use crate::view::{Decide, DiscardRequest, PauseSendingRequest, Problem, Review, SalePage, SendReport};
use crate::{resolve, review};

impl Till {
    /// # Errors
    /// The database could not be read.
    pub async fn pending(&self, after: Option<i64>) -> Result<SalePage, Problem> {
        Ok(self.inner.db.read(move |conn| summaries::pending(conn, after)).await?)
    }

    /// # Errors
    /// The database could not be read.
    pub async fn recent_sales(&self, after: Option<i64>) -> Result<SalePage, Problem> {
        Ok(self.inner.db.read(move |conn| summaries::recent(conn, after)).await?)
    }

    /// Tries everything that waits now, and says what came of it. Whoever asks wants to be up to date: the catalog
    /// is asked for as well, and nobody waits for it.
    ///
    /// # Errors
    /// `not_allowed_now` before the till is set up.
    pub async fn send_now(&self) -> Result<SendReport, Problem> {
        let enrolled = self.enrolled()?;
        enrolled.catalog_wanted.notify_one();
        let sent = enrolled.relay.send_now().await;
        enrolled.look_wanted.store(true, Ordering::SeqCst);
        enrolled.delivery_wanted.notify_one();
        let counts = self.inner.db.read(outbox::counts).await?;
        Ok(SendReport {
            attempted: sent.attempted,
            accepted: sent.accepted,
            still_pending: counts.pending,
            connection: connection(&enrolled.relay),
        })
    }

    /// Switches sending off, or on again. It stays so until somebody changes it, also over a restart.
    ///
    /// # Errors
    /// `not_unlocked`, `not_allowed_now` before the till is set up.
    pub async fn pause_sending(&self, request: &PauseSendingRequest) -> Result<(), Problem> {
        let (person, enrolled) = (self.unlocked()?, self.enrolled()?);
        let (paused, now) = (request.paused, self.now());
        let since = self
            .inner
            .db
            .write(move |conn| {
                let before = installation::sending_paused_at(conn)?;
                if before.is_some() == paused {
                    return Ok(before);
                }
                let since = paused.then_some(now);
                installation::set_sending_paused_at(conn, since)?;
                let event = if paused { Event::SendingPaused } else { Event::SendingResumed };
                let entry = Entry { person_id: Some(&person.person_id), ..Entry::new(event) };
                audit::append(conn, now, &entry)?;
                Ok::<_, Problem>(since)
            })
            .await?;
        enrolled.relay.pause(since);
        enrolled.catalog_wanted.notify_one();
        self.changed();
        Ok(())
    }

    /// # Errors
    /// `not_allowed_now` before the till is set up.
    pub async fn reviews(&self) -> Result<Vec<Review>, Problem> {
        let device_id = self.enrolled()?.enrolment.device_id.as_str().to_owned();
        Ok(self.inner.db.read(move |conn| review::open(conn, &device_id)).await?)
    }

    /// A manager's answer to a question.
    ///
    /// # Errors
    /// `reason_required`, `money_handling_required`, `pin_wrong`, `pin_locked`, `manager_required`,
    /// `question_changed`, `decided_elsewhere`, `not_in_review`; nothing was decided.
    pub async fn decide(&self, request: &Decide) -> Result<(), Problem> {
        self.unlocked()?;
        let enrolled = self.enrolled()?;
        let reason = review::check(request)?;
        let manager = self.pins().approve(&request.manager_id, &request.pin).await?;
        let (context, request, now) = (enrolled.context.clone(), request.clone(), self.now());
        self.inner
            .db
            .write(move |conn| review::decide(conn, &context, &request, &manager, reason, now))
            .await?;
        enrolled.relay.wake();
        enrolled.delivery_wanted.notify_one();
        self.changed();
        Ok(())
    }

    /// A manager takes a discard back, as long as YUPY does not know of it.
    ///
    /// # Errors
    /// `reason_required`, a PIN's refusals, `manager_required`, `not_found`, `take_back_too_late`; nothing was changed.
    pub async fn take_back_discard(&self, request: &DiscardRequest) -> Result<(), Problem> {
        self.unlocked()?;
        let enrolled = self.enrolled()?;
        let reason = review::reason(&request.reason)?;
        let manager = self.pins().approve(&request.manager_id, &request.pin).await?;
        let (context, id, now) =
            (enrolled.context.clone(), request.external_transaction_id.clone(), self.now());
        self.inner
            .db
            .write(move |conn| resolve::take_back(conn, &context, &id, &manager, &reason, now))
            .await?;
        enrolled.relay.wake();
        enrolled.delivery_wanted.notify_one();
        self.changed();
        Ok(())
    }

    /// A manager saw that YUPY says otherwise of a discarded sale, and leaves it discarded.
    ///
    /// # Errors
    /// As [`Self::take_back_discard`], and `not_allowed_now` when nothing waits to be seen.
    pub async fn leave_discard(&self, request: &DiscardRequest) -> Result<(), Problem> {
        self.unlocked()?;
        let enrolled = self.enrolled()?;
        let reason = review::reason(&request.reason)?;
        let manager = self.pins().approve(&request.manager_id, &request.pin).await?;
        let (context, id, now) =
            (enrolled.context.clone(), request.external_transaction_id.clone(), self.now());
        self.inner.db.write(move |conn| resolve::leave(conn, &context, &id, &manager, &reason, now)).await?;
        self.changed();
        Ok(())
    }
}
