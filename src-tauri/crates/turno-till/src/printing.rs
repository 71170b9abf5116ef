//! What is printed, and what becomes of it.
//!
//! A job is made in the transaction of its sale and is printed when that is committed; whatever the printer does
//! changes nothing about the sale. Invariant: *printing* is committed before the first byte leaves, so a ticket that was
//! under way when the program ended is asked about and never printed again by itself.

use rusqlite::{Connection, Result};
use turno_print::device::{Device, Failure, Outcome};
use turno_print::{Block, CodePage, Columns, Document, Profile, QrBy};

use crate::clock::Millis;
use crate::store::installation::Enrolment;
use crate::store::print_jobs::{self, JobRow, NewJob};
use crate::store::{is_about_the_row, printer, sales};
use crate::view::{
    PrintFailure, PrintKind, PrintState, PrinterCodePage, PrinterDevice, PrinterSettings, TenderMethod,
};

mod pages;
mod ticket;

pub use pages::test_page;
pub use ticket::{facts, ticket};

/// A sale of a checkout, and when what it is for departs.
pub struct Sold {
    pub sequence: i64,
    pub departs_at: Option<Millis>,
}

/// Asks for what is printed with a checkout. Cash goes into a drawer; nothing else does. Part of the checkout's transaction.
pub fn with_checkout(
    conn: &Connection,
    sold: &[Sold],
    methods: &[TenderMethod],
    person_id: &str,
    now: Millis,
) -> Result<()> {
    let settings = printer::get(conn)?;
    if settings.device.is_none() {
        return Ok(());
    }
    let mut opens_drawer = settings.opens_drawer && methods.contains(&TenderMethod::Cash);
    for Sold { sequence, departs_at } in sold.iter().filter(|_| settings.prints_tickets) {
        let job = NewJob { departs_at: *departs_at, opens_drawer, ..original(PrintKind::Ticket, person_id) };
        print_jobs::insert(conn, &NewJob { sequence: Some(*sequence), ..job }, now)?;
        // One pulse for one payment.
        opens_drawer = false;
    }
    if opens_drawer {
        print_jobs::insert(conn, &NewJob { opens_drawer, ..original(PrintKind::Drawer, person_id) }, now)?;
    }
    Ok(())
}

/// A job about no sale.
#[must_use]
pub fn original(kind: PrintKind, person_id: &str) -> NewJob {
    NewJob {
        kind,
        sequence: None,
        copy_number: 0,
        departs_at: None,
        document: None,
        opens_drawer: false,
        person_id: person_id.to_owned(),
    }
}

/// Asks for a sale's ticket once more. Says which copy it is; 0 where nothing of it can be on paper yet.
pub fn again(
    conn: &Connection,
    sequence: i64,
    departs_at: Option<Millis>,
    person_id: &str,
    now: Millis,
) -> Result<u32> {
    let earlier = print_jobs::rows_of(conn, sequence)?;
    let departs_at = earlier.iter().find_map(|job| job.departs_at).or(departs_at);
    let never_left = |job: &&JobRow| matches!(job.state, PrintState::Failed | PrintState::Dismissed);
    // A copy says that there is an original: as long as there is none, this is the original.
    if earlier.iter().filter(never_left).count() == earlier.len() {
        for job in earlier.iter().filter(|job| job.state == PrintState::Failed) {
            print_jobs::pass(conn, job.job_id, PrintState::Failed, PrintState::Dismissed, None, now)?;
        }
        let job = NewJob { sequence: Some(sequence), departs_at, ..original(PrintKind::Ticket, person_id) };
        print_jobs::insert(conn, &job, now)?;
        return Ok(0);
    }
    let copy_number = earlier.iter().map(|job| job.copy_number).max().unwrap_or(0) + 1;
    let job =
        NewJob { sequence: Some(sequence), copy_number, departs_at, ..original(PrintKind::Copy, person_id) };
    print_jobs::insert(conn, &job, now)?;
    Ok(copy_number)
}

/// A job on its way: what goes where.
pub struct Errand {
    pub job: JobRow,
    pub device: Device,
    pub bytes: Vec<u8>,
}

/// Takes the next job that can be printed and marks it. A job that cannot be made is failed, and the next one is taken.
pub fn take(conn: &Connection, enrolment: &Enrolment, now: Millis) -> Result<Option<Errand>> {
    let settings = printer::get(conn)?;
    while let Some(job) = print_jobs::next(conn)? {
        let Some(device) = settings.device.as_ref().map(device) else {
            let cause = Some((PrintFailure::WrongName, "no printer is set"));
            print_jobs::pass(conn, job.job_id, PrintState::Queued, PrintState::Failed, cause, now)?;
            continue;
        };
        let mut document = match document(conn, &job, enrolment, &settings, now) {
            Ok(document) => document,
            Err(error) if is_about_the_row(&error) => {
                tracing::error!(%error, job_id = job.job_id, "what a print job is about cannot be understood");
                let cause = Some((PrintFailure::NotMade, "its rows cannot be understood"));
                print_jobs::pass(conn, job.job_id, PrintState::Queued, PrintState::Failed, cause, now)?;
                continue;
            }
            Err(error) => return Err(error),
        };
        if job.opens_drawer {
            // First: the cashier reaches for the change while the ticket comes out.
            document.blocks.insert(0, Block::OpenDrawer);
        }
        print_jobs::pass(conn, job.job_id, PrintState::Queued, PrintState::Printing, None, now)?;
        let bytes = turno_print::bytes(&document, &profile(&settings));
        return Ok(Some(Errand { job, device, bytes }));
    }
    Ok(None)
}

fn document(
    conn: &Connection,
    job: &JobRow,
    enrolment: &Enrolment,
    settings: &PrinterSettings,
    now: Millis,
) -> Result<Document> {
    let sale = job.sequence.map(|sequence| sales::by_sequence(conn, sequence)).transpose()?.flatten();
    match (job.kind, sale) {
        (PrintKind::Ticket | PrintKind::Copy, Some(sale)) => {
            let facts = ticket::facts(conn, &sale, enrolment, job.departs_at, now)?;
            Ok(ticket(&facts, settings, job.copy_number))
        }
        (PrintKind::Test, _) => Ok(test_page(&enrolment.company_name, settings, now)),
        (PrintKind::Report, _) => {
            let text = job.document.as_deref().unwrap_or_default();
            serde_json::from_str(text).map_err(|_| crate::store::unreadable("print_jobs.document", "?"))
        }
        (PrintKind::Ticket | PrintKind::Copy, None) => {
            Err(crate::store::unreadable("print_jobs.sequence", "a sale that is not there"))
        }
        (PrintKind::Drawer, _) => Ok(Document::default()),
    }
}

/// Writes down what came of a job. One that was only to open the drawer is not asked about: whoever stands there saw it.
pub fn settle(conn: &Connection, job: &JobRow, outcome: &Outcome, now: Millis) -> Result<()> {
    let (to, trouble) = match outcome {
        Outcome::Printed => (PrintState::Printed, None),
        Outcome::NotPrinted(trouble) => (PrintState::Failed, Some(trouble)),
        Outcome::Unclear(trouble) => (PrintState::Unknown, Some(trouble)),
    };
    let to = match (job.kind, to) {
        (PrintKind::Drawer, PrintState::Failed | PrintState::Unknown) => PrintState::Dismissed,
        (
            PrintKind::Drawer | PrintKind::Ticket | PrintKind::Copy | PrintKind::Test | PrintKind::Report,
            to,
        ) => to,
    };
    let cause = trouble.map(|trouble| (failure(trouble.failure), trouble.detail.as_str()));
    print_jobs::pass(conn, job.job_id, PrintState::Printing, to, cause, now)?;
    Ok(())
}

fn failure(failure: Failure) -> PrintFailure {
    match failure {
        Failure::NoPrinter => PrintFailure::NoPrinter,
        Failure::NoPaper => PrintFailure::NoPaper,
        Failure::NoAnswer => PrintFailure::NoAnswer,
        Failure::WrongName => PrintFailure::WrongName,
    }
}

fn device(device: &PrinterDevice) -> Device {
    match device.clone() {
        PrinterDevice::Network { address } => Device::Network { address },
        PrinterDevice::DeviceFile { path } => Device::DeviceFile { path },
        PrinterDevice::File { path } => Device::File { path },
    }
}

#[must_use]
pub fn profile(settings: &PrinterSettings) -> Profile {
    let columns = match settings.columns {
        ..=32 => Columns::C32,
        33..=42 => Columns::C42,
        43.. => Columns::C48,
    };
    let code_page = match settings.code_page {
        PrinterCodePage::Pc850 => CodePage::Pc850,
        PrinterCodePage::Pc858 => CodePage::Pc858,
        PrinterCodePage::Wpc1252 => CodePage::Wpc1252,
        PrinterCodePage::Iso885915 => CodePage::Iso8859_15,
        PrinterCodePage::Drawn => CodePage::Drawn,
    };
    let qr = if settings.qr_by_printer { QrBy::Printer } else { QrBy::Picture };
    Profile { columns, code_page, qr, cuts: settings.cuts }
}
