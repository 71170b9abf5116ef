//! One sale, looked at and put right.

use super::Till;
use crate::random::uuid;
use crate::view::{
    CancelUnpaidRequest, ChargeCardRequest, CorrectSaleRequest, Problem, ProblemCode, SaleDetail, Tender,
    VoidSaleRequest,
};
use crate::void::{self, Voiding};
use crate::{correct, detail, payment, review};

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

    /// Has a card charged for a sale: the next one after one that was declined, or the same payment again.
    ///
    /// # Errors
    /// `not_found`, `card_not_chargeable`, `card_needs_line`; nothing more was asked for.
    pub async fn charge_card(&self, request: &ChargeCardRequest) -> Result<(), Problem> {
        let (person, enrolled) = (self.unlocked()?, self.enrolled()?);
        if let Some(problem) = self.check_card(&enrolled.relay, &[Tender::Card]) {
            return Err(problem);
        }
        let (context, now) = (enrolled.context.clone(), self.now());
        let id = request.external_transaction_id.clone();
        self.inner.db.write(move |conn| payment::charge(conn, &context, &id, &person, now)).await?;
        enrolled.relay.wake();
        self.changed();
        Ok(())
    }

    /// Takes back a sale for which no card was charged. No money moves, so whoever sold it may.
    ///
    /// # Errors
    /// `reason_required`, `shift_required`, `not_found`, `card_was_charged`, `already_voided`,
    /// `void_awaits_decision`, `void_awaits_payment`, `void_not_possible`; nothing was changed.
    pub async fn cancel_unpaid(&self, request: &CancelUnpaidRequest) -> Result<(), Problem> {
        let (person, enrolled) = (self.unlocked()?, self.enrolled()?);
        let reason = review::reason(&request.reason)?;
        let operation_id = uuid(&*self.inner.options.entropy).to_string();
        let (context, now) = (enrolled.context.clone(), self.now());
        let id = request.external_transaction_id.clone();
        self.inner
            .db
            .write(move |conn| {
                payment::check_unpaid(conn, &id)?;
                let voiding = Voiding {
                    external_transaction_id: &id,
                    shown_returned_minor: 0,
                    asked_by: &person,
                    approved_by: &person,
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

    /// Gives the money of a sale back, approved by a manager. A void that YUPY refused is tried again.
    ///
    /// # Errors
    /// `reason_required`, `pin_wrong`, `pin_locked`, `manager_required`, `shift_required`, `not_found`,
    /// `already_voided`, `void_awaits_decision`, `void_awaits_payment`, `void_not_possible`, `void_limit`,
    /// `sale_changed`; nothing was given back.
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
                    external_transaction_id: &request.external_transaction_id,
                    shown_returned_minor: request.shown_returned_minor,
                    asked_by: &asked_by,
                    approved_by: &manager,
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
