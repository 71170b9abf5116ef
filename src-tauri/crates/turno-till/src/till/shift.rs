//! The shift from its opening to the next one: figures, cash in and out, the closing.

use turno_domain::Money;
use turno_sqlite::WriterMode;
use uuid::Uuid;

use super::Till;
use crate::shift::{self, Mover};
use crate::view::{
    Approval, CloseShiftRequest, MoveCashRequest, PastShiftPage, PastShiftsRequest, Person, Problem,
    ProblemCode, ShiftReport, ShiftReportRequest,
};

impl Till {
    /// The figures of the open shift at this moment, or the report of a closed one.
    ///
    /// # Errors
    /// `not_unlocked`, `shift_required`, `not_found`.
    pub async fn shift_report(&self, request: &ShiftReportRequest) -> Result<ShiftReport, Problem> {
        self.unlocked()?;
        let (catalog, currency) = (self.catalog()?, self.enrolled()?.enrolment.currency);
        let number = request.shift_id.as_deref().map(shift_number).transpose()?;
        self.inner.db.read(move |conn| Ok(shift::report(conn, number, currency, &catalog))).await?
    }

    /// # Errors
    /// `not_unlocked`.
    pub async fn past_shifts(&self, request: &PastShiftsRequest) -> Result<PastShiftPage, Problem> {
        self.unlocked()?;
        let (before, currency) = (request.before, self.enrolled()?.enrolment.currency);
        self.inner.db.read(move |conn| Ok(shift::past(conn, before, currency))).await?
    }

    /// Puts cash into the drawer or takes it out. The answer is the X report with it.
    ///
    /// # Errors
    /// `amount_invalid`, `reason_required`, `not_enough_cash`, `manager_required` beyond the limit, a PIN's refusals.
    pub async fn move_cash(&self, request: &MoveCashRequest) -> Result<ShiftReport, Problem> {
        let (person, currency) = (self.unlocked()?, self.enrolled()?.enrolment.currency);
        let draft_id = Uuid::parse_str(&request.draft_id).map_err(|_| ProblemCode::NotFound)?;
        let amount = Money::parse_typed(&request.amount, currency).map_err(|_| ProblemCode::AmountInvalid)?;
        if amount.minor() == 0 {
            return Err(ProblemCode::AmountInvalid.into());
        }
        let approver = self.approver(request.approval.as_ref()).await?;
        let (mover, request) = (Mover { person, approver, currency, now: self.now() }, request.clone());
        self.inner
            .db
            .write(move |conn| {
                let draft_id = draft_id.to_string();
                shift::move_cash(conn, &mover, &draft_id, request.direction, amount, &request.reason)
            })
            .await?;
        self.changed();
        self.shift_report(&ShiftReportRequest { shift_id: None }).await
    }

    /// Ends the shift with the count of its drawer, online or not. Then a copy of the database is made.
    ///
    /// # Errors
    /// `not_found`, `amount_invalid`, `figures_changed`, `manager_required`, `reason_required`, a PIN's refusals;
    /// the shift is open as before.
    pub async fn close_shift(&self, request: &CloseShiftRequest) -> Result<(), Problem> {
        let (person, currency, catalog) =
            (self.unlocked()?, self.enrolled()?.enrolment.currency, self.catalog()?);
        let number = shift_number(&request.shift_id)?;
        // Before anybody's PIN: closing again needs no approval, as nothing is done.
        if self.inner.db.read(move |conn| Ok(shift::is_closed(conn, number))).await?? {
            return Ok(());
        }
        let approver = self.approver(request.approval.as_ref()).await?;
        let (by, request) = (Mover { person, approver, currency, now: self.now() }, request.clone());
        self.inner
            .db
            .write(move |conn| match shift::is_closed(conn, number)? {
                true => Ok(()),
                false => shift::close(conn, &by, &catalog, number, &request),
            })
            .await?;
        self.changed();
        self.back_up_by_the_way().await;
        Ok(())
    }

    /// The manager whose PIN came with a request, if one did.
    pub(super) async fn approver(&self, approval: Option<&Approval>) -> Result<Option<Person>, Problem> {
        match approval {
            Some(approval) => Ok(Some(self.pins().approve(&approval.manager_id, &approval.pin).await?)),
            None => Ok(None),
        }
    }

    /// A copy takes seconds on a till with years of sales; nobody waits for it. What goes wrong is shown.
    async fn back_up_by_the_way(&self) {
        let till = self.clone();
        let copying = async move {
            let _ = till.back_up().await;
        };
        match self.inner.options.writer {
            WriterMode::Inline => copying.await,
            WriterMode::Thread => drop(tokio::spawn(copying)),
        }
    }
}

fn shift_number(shift_id: &str) -> Result<u32, Problem> {
    let number = shift_id.strip_prefix('S').and_then(|number| number.parse().ok());
    number.ok_or_else(|| ProblemCode::NotFound.into())
}
