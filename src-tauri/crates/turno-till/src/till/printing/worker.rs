//! Feeds the printer: takes a job in a short transaction, prints it, and writes down in another what came of it.
//!
//! Invariant: whatever ends the till in between leaves the job *printing*, which the next start asks about.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use turno_print::device::{Failure, Limits, Outcome, Trouble};
use turno_sqlite::WriteError;

use crate::printing::{self, Errand};
use crate::store::print_jobs;
use crate::till::{Inner, Till};
use crate::view::Problem;

/// After the disk refused: it may have room again.
const DISK_RETRY: Duration = Duration::from_secs(5);

/// Prints what waits for as long as the till is open.
pub(in crate::till) async fn keep_printing(inner: Weak<Inner>, wanted: Arc<Notify>) {
    loop {
        wanted.notified().await;
        loop {
            let Some(till) = inner.upgrade().map(|inner| Till { inner }) else { return };
            let errand = till.take_errand().await;
            let limits = till.inner.options.printer;
            // It holds no part of the till while it prints: a till that is closed meanwhile is gone.
            drop(till);
            match errand {
                Ok(Some(errand)) => print(&inner, errand, limits).await,
                Ok(None) => break,
                Err(problem) => {
                    tracing::error!(code = ?problem.code, "the print queue cannot be read");
                    tokio::time::sleep(DISK_RETRY).await;
                }
            }
        }
    }
}

impl Till {
    async fn take_errand(&self) -> Result<Option<Errand>, Problem> {
        let (enrolment, now) = (self.enrolled()?.enrolment.clone(), self.now());
        // Looked for first: most sales of a till without a printer leave nothing to write.
        if self.inner.db.read(print_jobs::next).await?.is_none() {
            return Ok(None);
        }
        let taken =
            self.inner.db.write(move |conn| Ok::<_, Problem>(printing::take(conn, &enrolment, now)?)).await?;
        self.changed();
        Ok(taken)
    }
}

async fn print(inner: &Weak<Inner>, Errand { job, device, bytes }: Errand, limits: Limits) {
    let printed = tokio::task::spawn_blocking(move || device.print(&bytes, &limits)).await;
    // A printer's side that panicked may have printed some of it.
    let outcome = printed.unwrap_or_else(|error| {
        tracing::error!(%error, "printing ended in a bug");
        Outcome::Unclear(Trouble { failure: Failure::NoAnswer, detail: error.to_string() })
    });
    loop {
        let Some(till) = inner.upgrade().map(|inner| Till { inner }) else { return };
        let (job, outcome, now) = (job.clone(), outcome.clone(), till.now());
        let settled = till
            .inner
            .db
            .write(move |conn| Ok::<_, Problem>(printing::settle(conn, &job, &outcome, now)?))
            .await;
        till.changed();
        match settled {
            Ok(()) => return,
            Err(WriteError::Closed) => return,
            Err(error) => {
                drop(till);
                let problem = Problem::from(error);
                tracing::error!(code = ?problem.code, "what was printed cannot be written down");
                tokio::time::sleep(DISK_RETRY).await;
            }
        }
    }
}
