//! The shift from its opening to the next one: figures, cash in and out, the closing.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use turno_domain::Money;
use turno_print::Columns;
use turno_sqlite::WriterMode;
use uuid::Uuid;

use super::Till;
use crate::backup::{stamp, sync_folder};
use crate::shift::{self, Mover};
use crate::store::closings;
use crate::view::{
    Approval, CloseShiftRequest, MoveCashRequest, PastShiftPage, PastShiftsRequest, Person, Problem,
    ProblemCode, SavedReport, ShiftReport, ShiftReportRequest,
};

/// Where reports are written, below the data folder.
const REPORTS: &str = "reports";

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
        let closing = self.inner.db.read(closings::last).await?;
        self.note_closing(closing.map_or(0, |row| row.z_number));
        self.changed();
        self.back_up_by_the_way().await;
        Ok(())
    }

    /// Writes the report as a PDF into the data folder; the one of before, if there is one, is replaced as a whole.
    ///
    /// # Errors
    /// As [`Self::shift_report`], and `folder_not_writable`.
    pub async fn save_shift_report(&self, request: &ShiftReportRequest) -> Result<SavedReport, Problem> {
        let report = self.shift_report(request).await?;
        let device = self.enrolled()?.enrolment.device_id.as_str().to_owned();
        let name = match &report.closing {
            Some(closing) => format!("{device}-Z-{}-{}.pdf", closing.z_id, report.shift_id),
            None => format!("{device}-X-{}-{}.pdf", report.shift_id, stamp(self.now())),
        };
        let folder = self.inner.options.folder.join(REPORTS);
        let path = folder.join(file_name(&name));
        let pdf = shift::pdf(&shift::lines(&report, Columns::C48));
        write_whole(&folder, &path, &pdf)
            .map_err(|error| Problem::with(ProblemCode::FolderNotWritable, error.to_string()))?;
        Ok(SavedReport { path: path.display().to_string() })
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

/// A device's id is any readable text; a file's name is not.
fn file_name(text: &str) -> String {
    let fits = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
    text.chars().map(|letter| if fits(letter) { letter } else { '_' }).collect()
}

/// Beside its name first, so that whoever reads it reads a whole one.
fn write_whole(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let partial = path.with_extension("partial");
    fs::write(&partial, bytes)?;
    File::open(&partial)?.sync_all()?;
    fs::rename(&partial, path)?;
    sync_folder(folder)
}

fn shift_number(shift_id: &str) -> Result<u32, Problem> {
    let number = shift_id.strip_prefix('S').and_then(|number| number.parse().ok());
    number.ok_or_else(|| ProblemCode::NotFound.into())
}
