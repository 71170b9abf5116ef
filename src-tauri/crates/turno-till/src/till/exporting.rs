//! Sales out of this till into a table that a bookkeeper opens.
//!
//! Invariant: a batch is read in a short read of its own and no write waits for it; under the file's name there is the
//! whole table or nothing. What leaves is written down first, with who let it.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use serde_json::json;

use super::Till;
use super::handover::{absolute, partial, private};
use crate::backup::sync_folder;
use crate::sales_csv::{self, BATCH, Format, Sold, Table};
use crate::store::audit::{self, Entry, Event};
use crate::store::found::{self, Wanted};
use crate::view::{ExportSalesRequest, Problem, ProblemCode, SalesExported};

impl Till {
    /// Writes all sales that a search finds, newest first, to a CSV file (see [`crate::sales_csv`]).
    ///
    /// # Errors
    /// A PIN's refusals, `manager_required`, `file_exists`, `folder_missing`, `file_no_room`, `file_not_written`; there
    /// is no file then.
    pub async fn export_sales(&self, request: &ExportSalesRequest) -> Result<SalesExported, Problem> {
        self.unlocked()?;
        let path = absolute(&request.path, ProblemCode::FileNotWritten)?;
        if path.exists() {
            return Err(Problem::with(ProblemCode::FileExists, path.display().to_string()));
        }
        let folder = path.parent().unwrap_or(Path::new("/"));
        if !folder.is_dir() {
            return Err(Problem::with(ProblemCode::FolderMissing, folder.display().to_string()));
        }
        let manager = self.pins().approve(&request.approval.manager_id, &request.approval.pin).await?;
        let (now, file) = (self.now(), path.display().to_string());
        self.inner
            .db
            .write(move |conn| {
                // Not what was looked for: it may be a buyer's name.
                let data = json!({ "file": file });
                let entry = Entry {
                    person_id: Some(&manager.person_id),
                    data,
                    ..Entry::new(Event::SalesTableExported)
                };
                Ok::<_, Problem>(audit::append(conn, now, &entry)?)
            })
            .await?;
        let partial = partial(&path);
        let written = self.write_table(&partial, &path, request).await;
        let sales_count = written.inspect_err(|_| drop(fs::remove_file(&partial)))?;
        self.changed();
        Ok(SalesExported { path: path.display().to_string(), sales_count })
    }

    async fn write_table(
        &self,
        partial: &Path,
        path: &Path,
        request: &ExportSalesRequest,
    ) -> Result<u32, Problem> {
        let device_id = self.enrolled()?.enrolment.device_id.as_str().to_owned();
        let format = Format { decimal: request.decimal, mark: request.mark };
        let to = partial.to_owned();
        let mut table = self.on_table(path, move || Table::begin(private(&to)?, format)).await?;
        let (mut sales_count, mut after) = (0, request.search.after);
        if let Some(wanted) = self.wanted(&request.search).await? {
            loop {
                let (wanted, device_id) = (wanted.clone(), device_id.clone());
                let (batch, last) =
                    self.inner.db.read(move |conn| read(conn, &wanted, after, &device_id)).await?;
                if last.is_none() {
                    break;
                }
                after = last;
                sales_count += u32::try_from(batch.len()).expect("a batch is small");
                let append = move || {
                    batch.iter().try_for_each(|sale| table.write(sale))?;
                    Ok(table)
                };
                table = self.on_table(path, append).await?;
            }
        }
        let (from, to) = (partial.to_owned(), path.to_owned());
        let finish = move || {
            let file = table.finish()?;
            file.sync_all()?;
            fs::rename(&from, &to)?;
            sync_folder(to.parent().unwrap_or(Path::new("/")))
        };
        self.on_table(path, finish).await?;
        Ok(sales_count)
    }

    /// A USB stick may take its time.
    async fn on_table<T: Send + 'static>(
        &self,
        path: &Path,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> Result<T, Problem> {
        self.blocking(work).await?.map_err(|error| {
            tracing::warn!(%error, "a table of sales");
            not_written(&error, path)
        })
    }
}

fn not_written(error: &io::Error, path: &Path) -> Problem {
    let folder = path.parent().unwrap_or(Path::new("/")).display().to_string();
    if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
        return Problem::with(ProblemCode::FolderMissing, folder);
    }
    if matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) {
        return Problem::with(ProblemCode::FileNoRoom, folder);
    }
    Problem::with(ProblemCode::FileNotWritten, error.to_string())
}

/// The next sales that match, and the last number of them; none behind the last.
fn read(
    conn: &rusqlite::Connection,
    wanted: &Wanted,
    after: Option<i64>,
    device_id: &str,
) -> rusqlite::Result<(Vec<Sold>, Option<i64>)> {
    let sequences = found::sequences(conn, wanted, after, BATCH)?;
    let read = |sequence: &i64| sales_csv::read(conn, *sequence, device_id).transpose();
    Ok((sequences.iter().filter_map(read).collect::<rusqlite::Result<_>>()?, sequences.last().copied()))
}
