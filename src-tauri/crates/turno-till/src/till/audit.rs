//! The audit for managers: to look at, to verify, and to take away.
//!
//! Invariant: only a manager sees it, and looking changes nothing; what leaves in a file is written down first, so that
//! the file says itself who took it.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::json;
use turno_protocol::chain;

use super::Till;
use crate::clock::rfc3339;
use crate::store::audit::{self, AuditRow, Entry, Event, Verified};
use crate::store::people;
use crate::view::{
    AuditEntry, AuditExported, AuditFact, AuditPage, AuditPageRequest, AuditVerified, ExportAuditRequest,
    Problem, ProblemCode, Role,
};

impl Till {
    /// A page of the audit, newest first.
    ///
    /// # Errors
    /// `not_unlocked`, `manager_required`.
    pub async fn audit_page(&self, request: &AuditPageRequest) -> Result<AuditPage, Problem> {
        self.manager_is_here()?;
        let request = request.clone();
        Ok(self
            .inner
            .db
            .read(move |conn| {
                let mut rows = audit::page(conn, &request)?;
                let full = rows.len() > audit::PAGE as usize;
                rows.truncate(audit::PAGE as usize);
                let next = if full { rows.last().map(|row| row.number) } else { None };
                let items = rows.into_iter().map(|row| entry(conn, row)).collect::<rusqlite::Result<_>>()?;
                Ok(AuditPage { items, next })
            })
            .await?)
    }

    /// Checks the whole chain and names the first row that does not hold.
    ///
    /// # Errors
    /// `not_unlocked`, `manager_required`.
    pub async fn verify_audit(&self) -> Result<AuditVerified, Problem> {
        self.manager_is_here()?;
        let mut so_far = Verified::NOTHING;
        let broken = loop {
            match self.inner.db.read(move |conn| audit::verify_next(conn, so_far)).await? {
                Ok(Some(further)) => so_far = further,
                Ok(None) => break None,
                Err(broken) => break Some(broken),
            }
        };
        let whole = i64::try_from(so_far.head.rows).unwrap_or(i64::MAX);
        Ok(AuditVerified {
            rows: broken.as_ref().map_or(whole, |broken| broken.number - 1),
            head: chain::to_hex(&so_far.head.hash),
            broken,
        })
    }

    /// Writes the audit to a file of JSON lines that anybody can verify.
    ///
    /// # Errors
    /// A PIN's refusals, `manager_required`, `file_exists`, `file_not_written`; no file is left.
    pub async fn export_audit(&self, request: &ExportAuditRequest) -> Result<AuditExported, Problem> {
        self.unlocked()?;
        let path = PathBuf::from(request.path.trim());
        if !path.is_absolute() || path.file_name().is_none() {
            return Err(ProblemCode::FileNotWritten.into());
        }
        if path.exists() {
            return Err(Problem::with(ProblemCode::FileExists, path.display().to_string()));
        }
        let manager = self.pins().approve(&request.approval.manager_id, &request.approval.pin).await?;
        let (now, file) = (self.now(), path.display().to_string());
        self.inner
            .db
            .write(move |conn| {
                let data = json!({ "file": file });
                let entry =
                    Entry { person_id: Some(&manager.person_id), data, ..Entry::new(Event::AuditExported) };
                Ok::<_, Problem>(audit::append(conn, now, &entry)?)
            })
            .await?;
        let rows = self.write_audit(&path).await.inspect_err(|_| drop(fs::remove_file(&path)))?;
        self.changed();
        Ok(AuditExported { path: path.display().to_string(), rows })
    }

    async fn write_audit(&self, path: &Path) -> Result<i64, Problem> {
        let failed = |error: io::Error| Problem::with(ProblemCode::FileNotWritten, error.to_string());
        let mut file = BufWriter::new(new_file(path).map_err(failed)?);
        let mut last = 0;
        loop {
            let rows = self.inner.db.read(move |conn| audit::after(conn, last)).await?;
            let Some(newest) = rows.last().map(|row| row.number) else { break };
            for row in rows {
                writeln!(file, "{}", row.as_line()).map_err(failed)?;
            }
            last = newest;
        }
        file.into_inner().map_err(|error| failed(error.into_error()))?.sync_all().map_err(failed)?;
        Ok(last)
    }

    fn manager_is_here(&self) -> Result<(), Problem> {
        match self.unlocked()?.role {
            Role::Manager => Ok(()),
            Role::Cashier => Err(ProblemCode::ManagerRequired.into()),
        }
    }
}

fn entry(conn: &rusqlite::Connection, row: AuditRow) -> rusqlite::Result<AuditEntry> {
    let facts = row.facts().into_iter().map(|(name, value)| AuditFact { name, value }).collect();
    Ok(AuditEntry {
        number: row.number,
        at: rfc3339(row.at),
        event: row.event,
        person: match &row.person_id {
            Some(id) => Some(people::find(conn, id)?.map_or_else(|| id.clone(), |person| person.name)),
            None => None,
        },
        external_transaction_id: row.external_transaction_id,
        facts,
    })
}

/// Who sold what when is nobody else's business.
fn new_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
