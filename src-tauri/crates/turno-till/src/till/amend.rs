//! One sale, looked at and put right.

use super::Till;
use crate::random::uuid;
use crate::view::{CorrectSaleRequest, Problem, ProblemCode, SaleDetail, VoidSaleRequest};
use crate::void::{self, Voiding};
use crate::{correct, detail, review};

impl Till {
    /// A sale with everything that is known of it.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn sale_detail(&self, external_transaction_id: &str) -> Result<SaleDetail, Problem> {
        let id = external_transaction_id.to_owned();
        Ok(self.inner.db.read(move |conn| detail::of(conn, &id)).await?.ok_or(ProblemCode::NotFound)?)
    }

    /// A manager's correction of a sale that YUPY refused; the same content again has it sent as it is.
    ///
    /// # Errors
    /// `reason_required`, `text_invalid`, `pin_wrong`, `pin_locked`, `manager_required`, `not_found`,
    /// `not_correctable`, `sale_changed`; nothing was changed.
    pub async fn correct_sale(&self, request: &CorrectSaleRequest) -> Result<(), Problem> {
        self.unlocked()?;
        let enrolled = self.enrolled()?;
        let reason = review::reason(&request.reason)?;
        let content = correct::normalised(&request.content)?;
        let manager = self.pins().approve(&request.manager_id, &request.pin).await?;
        let (context, request, now) = (enrolled.context.clone(), request.clone(), self.now());
        self.inner
            .db
            .write(move |conn| correct::correct(conn, &context, &request, &content, &manager, &reason, now))
            .await?;
        enrolled.relay.wake();
        self.changed();
        Ok(())
    }

    /// Gives the money of a sale back, approved by a manager. A void that YUPY refused is tried again.
    ///
    /// # Errors
    /// `reason_required`, `pin_wrong`, `pin_locked`, `manager_required`, `shift_required`, `not_found`,
    /// `already_voided`, `void_awaits_decision`, `void_not_possible`, `void_limit`, `sale_changed`; nothing was
    /// given back.
    pub async fn void_sale(&self, request: &VoidSaleRequest) -> Result<(), Problem> {
        let (asked_by, enrolled) = (self.unlocked()?, self.enrolled()?);
        let reason = review::reason(&request.reason)?;
        let manager = self.pins().approve(&request.manager_id, &request.pin).await?;
        let operation_id = uuid(&*self.inner.options.entropy).to_string();
        let (context, request, now) = (enrolled.context.clone(), request.clone(), self.now());
        self.inner
            .db
            .write(move |conn| {
                let voiding = Voiding {
                    request: &request,
                    asked_by: &asked_by,
                    manager: &manager,
                    reason: &reason,
                    operation_id,
                    now,
                };
                void::void(conn, &context, &voiding)
            })
            .await?;
        enrolled.journal_wanted.notify_one();
        enrolled.relay.wake();
        self.changed();
        Ok(())
    }
}
