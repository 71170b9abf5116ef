//! The printer: its settings, what waits for it, and what people say about it. Invariant: nothing here waits for the
//! printer; what is asked of it is a row that the worker takes.

use std::path::Path;

use serde_json::json;
use turno_domain::text::{has_control, normalise_free_text};
use turno_print::{Document, Size};

use super::Till;
use crate::store::audit::{self, Event};
use crate::store::print_jobs::NewJob;
use crate::store::{print_jobs, printer, sales};
use crate::view::{
    AnswerPrintRequest, Person, PreviewRow, PrintJob, PrintKind, PrintState, PrinterDevice, PrinterSettings,
    Printing, Problem, ProblemCode, Role, ShiftReportRequest, TicketPreview,
};
use crate::{printing, shift};

mod worker;
pub(super) use worker::keep_printing;

/// Jobs of one kind that a screen lists; the rest is counted.
const SHOWN: u32 = 20;
const FOOTER_LIMIT: usize = 200;
const ADDRESS_LIMIT: usize = 255;

impl Till {
    /// # Errors
    /// The database could not be read.
    pub async fn printer_settings(&self) -> Result<PrinterSettings, Problem> {
        Ok(self.inner.db.read(printer::get).await?)
    }

    /// Sets the printer, for the jobs that wait as well.
    ///
    /// # Errors
    /// `manager_required`, `printer_settings_invalid`.
    pub async fn set_printer_settings(&self, settings: &PrinterSettings) -> Result<PrinterSettings, Problem> {
        let person = self.manager()?;
        let (settings, now) = (self.checked(settings)?, self.now());
        let kept = settings.clone();
        self.inner
            .db
            .write(move |conn| {
                printer::set(conn, &settings)?;
                let data = json!({
                    "device": settings.device, "columns": settings.columns, "code_page": settings.code_page,
                    "prints_tickets": settings.prints_tickets, "opens_drawer": settings.opens_drawer,
                    "says_no_receipt": settings.says_no_receipt,
                });
                let entry = audit::Entry {
                    person_id: Some(&person.person_id),
                    data,
                    ..audit::Entry::new(Event::PrinterSet)
                };
                Ok::<_, Problem>(audit::append(conn, now, &entry)?)
            })
            .await?;
        self.changed();
        Ok(kept)
    }

    /// # Errors
    /// The database could not be read.
    pub async fn printing(&self) -> Result<Printing, Problem> {
        Ok(self
            .inner
            .db
            .read(|conn| {
                let (waiting_count, failed_count) = print_jobs::counts(conn)?;
                Ok(Printing {
                    has_printer: printer::get(conn)?.device.is_some(),
                    waiting_count,
                    failed_count,
                    failed: print_jobs::shown(conn, PrintState::Failed, SHOWN)?,
                    questions: print_jobs::shown(conn, PrintState::Unknown, SHOWN)?,
                })
            })
            .await?)
    }

    /// What was printed of some sales and what is to be: sale by sale as asked for, the oldest of each first.
    ///
    /// # Errors
    /// `not_found` if one of them is not there.
    pub async fn sale_prints(&self, external_transaction_ids: &[String]) -> Result<Vec<PrintJob>, Problem> {
        let ids = external_transaction_ids.to_vec();
        let read = move |conn: &rusqlite::Connection| {
            let mut prints = Vec::new();
            for id in &ids {
                let Some(sale) = sales::by_external_id(conn, id)? else { return Ok(None) };
                prints.extend(print_jobs::shown_of(conn, sale.sequence)?);
            }
            Ok(Some(prints))
        };
        self.inner.db.read(read).await?.ok_or_else(|| ProblemCode::NotFound.into())
    }

    /// Prints a shift's report as it is now.
    ///
    /// # Errors
    /// `not_unlocked`, `printer_missing`, and those of [`Till::shift_report`].
    pub async fn print_shift_report(&self, request: &ShiftReportRequest) -> Result<Printing, Problem> {
        let (person, now) = (self.unlocked()?, self.now());
        let document = shift::printed(&self.shift_report(request).await?);
        let document = Some(serde_json::to_string(&document).expect("plain data is JSON"));
        self.ask_printer(move |conn| {
            let job = printing::original(PrintKind::Report, &person.person_id);
            print_jobs::insert(conn, &NewJob { document, ..job }, now)?;
            Ok(())
        })
        .await
    }

    /// # Errors
    /// `not_unlocked`, `printer_missing`.
    pub async fn print_test_page(&self) -> Result<Printing, Problem> {
        let person = self.unlocked()?;
        let now = self.now();
        self.ask_printer(move |conn| {
            print_jobs::insert(conn, &printing::original(PrintKind::Test, &person.person_id), now)?;
            Ok(())
        })
        .await
    }

    /// Prints the ticket of a sale once more; it says that it is a copy if there may be an original.
    ///
    /// # Errors
    /// `not_unlocked`, `not_found`, `printer_missing`.
    pub async fn reprint(&self, external_transaction_id: &str) -> Result<Printing, Problem> {
        let (person, catalog) = (self.unlocked()?, self.catalog()?);
        let (id, now) = (external_transaction_id.to_owned(), self.now());
        self.ask_printer(move |conn| {
            let sold_here = sales::by_external_id(conn, &id)?.filter(|sale| sale.draft_id.is_some());
            let sale = sold_here.ok_or(ProblemCode::NotFound)?;
            let departs_at = catalog.offer(&sale.offer_id).and_then(|offer| offer.departs_at);
            let copy = printing::again(conn, sale.sequence, departs_at, &person.person_id, now)?;
            let entry = audit::Entry {
                person_id: Some(&person.person_id),
                external_transaction_id: Some(&id),
                data: json!({ "copy": copy }),
                ..audit::Entry::new(Event::TicketPrintedAgain)
            };
            Ok(audit::append(conn, now, &entry)?)
        })
        .await
    }

    /// Tries what failed again, in its order; `None`: all of it.
    ///
    /// # Errors
    /// `not_unlocked`, `printer_missing`.
    pub async fn retry_print(&self, job_id: Option<i64>) -> Result<Printing, Problem> {
        self.unlocked()?;
        let now = self.now();
        self.ask_printer(move |conn| Ok(print_jobs::queue_again(conn, job_id, now).map(drop)?)).await
    }

    /// Leaves a job that failed unprinted.
    ///
    /// # Errors
    /// `not_unlocked`.
    pub async fn dismiss_print(&self, job_id: i64) -> Result<Printing, Problem> {
        self.unlocked()?;
        let now = self.now();
        self.inner
            .db
            .write(move |conn| {
                print_jobs::pass(conn, job_id, PrintState::Failed, PrintState::Dismissed, None, now)?;
                Ok::<_, Problem>(())
            })
            .await?;
        self.changed();
        self.printing().await
    }

    /// What a person saw of a ticket that was interrupted. One that is not whole is printed as a copy; a page that is
    /// about no sale is only taken off the list.
    ///
    /// # Errors
    /// `not_unlocked`, `not_found` when it was answered already.
    pub async fn answer_print(&self, request: &AnswerPrintRequest) -> Result<Printing, Problem> {
        let person = self.unlocked()?;
        let (AnswerPrintRequest { job_id, is_complete }, now) = (request.clone(), self.now());
        self.inner
            .db
            .write(move |conn| {
                let to = if is_complete { PrintState::Printed } else { PrintState::Replaced };
                let job = print_jobs::find(conn, job_id)?.ok_or(ProblemCode::NotFound)?;
                if !print_jobs::pass(conn, job_id, PrintState::Unknown, to, None, now)? {
                    return Err(ProblemCode::NotFound.into());
                }
                let sale =
                    job.sequence.map(|sequence| sales::by_sequence(conn, sequence)).transpose()?.flatten();
                if let (Some(sequence), false) = (job.sequence, is_complete) {
                    printing::again(conn, sequence, None, &person.person_id, now)?;
                }
                let entry = audit::Entry {
                    person_id: Some(&person.person_id),
                    external_transaction_id: sale.as_ref().map(|sale| sale.external_transaction_id.as_str()),
                    data: json!({ "is_complete": is_complete, "copy": job.copy_number }),
                    ..audit::Entry::new(Event::PrintAnswered)
                };
                Ok::<_, Problem>(audit::append(conn, now, &entry)?)
            })
            .await?;
        self.enrolled()?.printing_wanted.notify_one();
        self.changed();
        self.printing().await
    }

    /// A sale's ticket as it would be printed now.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn preview_ticket(&self, external_transaction_id: &str) -> Result<TicketPreview, Problem> {
        let (enrolled, catalog) = (self.enrolled()?, self.catalog()?);
        let (id, now) = (external_transaction_id.to_owned(), self.now());
        let enrolment = enrolled.enrolment.clone();
        let read = move |conn: &rusqlite::Connection| {
            let Some(sale) = sales::by_external_id(conn, &id)? else { return Ok(None) };
            let settings = printer::get(conn)?;
            let jobs = print_jobs::rows_of(conn, sale.sequence)?;
            let departs_at = jobs.iter().find_map(|job| job.departs_at);
            let departs_at =
                departs_at.or_else(|| catalog.offer(&sale.offer_id).and_then(|offer| offer.departs_at));
            let facts = printing::facts(conn, &sale, &enrolment, departs_at, now)?;
            Ok(Some(preview(&printing::ticket(&facts, &settings, 0), &settings)))
        };
        self.inner.db.read(read).await?.ok_or_else(|| ProblemCode::NotFound.into())
    }

    /// The test page as these settings would print it; they need not be kept.
    ///
    /// # Errors
    /// `printer_settings_invalid`, `not_allowed_now` before the till is set up.
    pub fn preview_test_page(&self, settings: &PrinterSettings) -> Result<TicketPreview, Problem> {
        let company = self.enrolled()?.enrolment.company_name.clone();
        let settings = self.checked(settings)?;
        Ok(preview(&printing::test_page(&company, &settings, self.now()), &settings))
    }

    fn manager(&self) -> Result<Person, Problem> {
        let person = self.unlocked()?;
        if person.role == Role::Manager { Ok(person) } else { Err(ProblemCode::ManagerRequired.into()) }
    }

    /// Does something about the queue while there is a printer, wakes the worker and says how things are.
    async fn ask_printer(
        &self,
        ask: impl FnOnce(&rusqlite::Connection) -> Result<(), Problem> + Send + 'static,
    ) -> Result<Printing, Problem> {
        let enrolled = self.enrolled()?;
        self.inner
            .db
            .write(move |conn| {
                if printer::get(conn)?.device.is_none() {
                    return Err(ProblemCode::PrinterMissing.into());
                }
                ask(conn)
            })
            .await?;
        enrolled.printing_wanted.notify_one();
        self.changed();
        self.printing().await
    }

    fn checked(&self, settings: &PrinterSettings) -> Result<PrinterSettings, Problem> {
        let invalid = |what: &str| Problem::with(ProblemCode::PrinterSettingsInvalid, what);
        if ![32, 42, 48].contains(&settings.columns) {
            return Err(invalid("columns"));
        }
        let text = |typed: &str, limit: usize| {
            let text = typed.trim().to_owned();
            (!has_control(&text) && text.chars().count() <= limit).then_some(text)
        };
        let address = |typed: &str| text(typed, ADDRESS_LIMIT).filter(|text| !text.is_empty());
        let device = match &settings.device {
            None => None,
            Some(PrinterDevice::Network { address: typed }) => {
                Some(PrinterDevice::Network { address: address(typed).ok_or_else(|| invalid("address"))? })
            }
            Some(PrinterDevice::DeviceFile { path }) => {
                let path = address(path).filter(|path| Path::new(path).is_absolute());
                Some(PrinterDevice::DeviceFile { path: path.ok_or_else(|| invalid("path"))? })
            }
            Some(PrinterDevice::File { path }) => {
                let path = address(path).filter(|path| self.may_be_written(Path::new(path)));
                Some(PrinterDevice::File { path: path.ok_or_else(|| invalid("path"))? })
            }
        };
        let footer =
            |typed: &str| text(&normalise_free_text(typed), FOOTER_LIMIT).ok_or_else(|| invalid("footer"));
        Ok(PrinterSettings {
            device,
            footer_1: footer(&settings.footer_1)?,
            footer_2: footer(&settings.footer_2)?,
            ..settings.clone()
        })
    }

    /// Tickets are not written behind the till's own files.
    fn may_be_written(&self, path: &Path) -> bool {
        let options = &self.inner.options;
        let own = [&options.folder, &options.secrets_folder, &options.backup_folder, &options.journal_folder];
        let is_plain = !path.components().any(|part| part == std::path::Component::ParentDir);
        path.is_absolute() && is_plain && !own.iter().any(|folder| path.starts_with(folder))
    }
}

fn preview(document: &Document, settings: &PrinterSettings) -> TicketPreview {
    let rows =
        turno_print::preview(document, &printing::profile(settings)).into_iter().map(|row| match row {
            turno_print::PreviewRow::Line { text, size, bold } => {
                PreviewRow::Line { text, bold, double: size == Size::Double }
            }
            turno_print::PreviewRow::Picture(picture) => {
                let dots = |y| (0..picture.width()).map(move |x| (x, y));
                let line = |y| dots(y).map(|(x, y)| if picture.is_black(x, y) { '1' } else { '0' }).collect();
                PreviewRow::Picture { rows: (0..picture.height()).map(line).collect() }
            }
            turno_print::PreviewRow::Cut => PreviewRow::Cut,
        });
    TicketPreview { columns: settings.columns, rows: rows.collect() }
}
