//! Unsent sales out of this till into a file, and out of another till's file into this one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::json;
use turno_domain::Currency;
use turno_domain::ids::Scope;

use super::Till;
use crate::backup::sync_folder;
use crate::clock::rfc3339;
use crate::handover::sealed::{Opened, SealError, Sealer};
use crate::handover::{BATCH, Carried, Line, Manifest, PASSPHRASE_MIN, SALES_LIMIT, take_out};
use crate::store::audit::{self, Entry, Event};
use crate::store::{installation, outbox};
use crate::view::{
    ExportUnsentRequest, ImportUnsentRequest, Problem, ProblemCode, UnsentExported, UnsentImported,
};

impl Till {
    /// Writes every sale that YUPY has not settled to a file. They stay in this till's queue as well.
    ///
    /// # Errors
    /// `not_unlocked`, `passphrase_short`, `nothing_to_export`, `too_many_sales`, `file_exists`, `file_not_written`;
    /// there is no file then.
    pub async fn export_unsent(&self, request: &ExportUnsentRequest) -> Result<UnsentExported, Problem> {
        let (person, enrolled) = (self.unlocked()?, self.enrolled()?);
        let path = absolute(&request.path, ProblemCode::FileNotWritten)?;
        if request.passphrase.trim().chars().count() < PASSPHRASE_MIN {
            return Err(Problem::with(ProblemCode::PassphraseShort, PASSPHRASE_MIN.to_string()));
        }
        let (pending, up_to) = self
            .inner
            .db
            .read(|conn| Ok((outbox::counts(conn)?.pending, installation::last_sequence(conn)?)))
            .await?;
        match pending {
            0 => return Err(ProblemCode::NothingToExport.into()),
            count if count > SALES_LIMIT => {
                return Err(Problem::with(ProblemCode::TooManySales, SALES_LIMIT.to_string()));
            }
            _ => {}
        }
        if path.exists() {
            return Err(Problem::with(ProblemCode::FileExists, path.display().to_string()));
        }
        let device_id = enrolled.enrolment.device_id.as_str().to_owned();
        let manifest = Manifest {
            scope: enrolled.enrolment.scope.clone(),
            currency: enrolled.enrolment.currency.code().to_owned(),
            device_id: device_id.clone(),
            made_at: self.now(),
            made_by: person.name.clone(),
        };
        let partial = partial(&path);
        let written = self.write_unsent(&partial, &path, request.passphrase.clone(), manifest, up_to).await;
        let sales_count = written.inspect_err(|_| drop(fs::remove_file(&partial)))?;
        let (now, name) = (self.now(), path.display().to_string());
        let data = json!({ "file": name, "sales_count": sales_count });
        self.inner
            .db
            .write(move |conn| {
                let person_id = Some(person.person_id.as_str());
                let entry = Entry { person_id, data, ..Entry::new(Event::SalesExported) };
                Ok::<_, Problem>(audit::append(conn, now, &entry)?)
            })
            .await?;
        self.changed();
        Ok(UnsentExported { path: path.display().to_string(), sales_count })
    }

    async fn write_unsent(
        &self,
        partial: &Path,
        path: &Path,
        passphrase: String,
        manifest: Manifest,
        up_to: i64,
    ) -> Result<u32, Problem> {
        let (entropy, device_id) = (self.inner.options.entropy.clone(), manifest.device_id.clone());
        let to = partial.to_owned();
        let begin = move || {
            let mut sealer = Sealer::begin(BufWriter::new(private(&to)?), &passphrase, &*entropy)?;
            write_line(&mut sealer, &Line::Manifest(manifest))?;
            Ok(sealer)
        };
        let mut sealer = self.on_files(begin).await.map_err(not_written)?;
        let (mut sales_count, mut behind) = (0, 0);
        while behind < up_to {
            let (device_id, now) = (device_id.clone(), self.now());
            let (carried, last) = self
                .inner
                .db
                .write(move |conn| Ok::<_, Problem>(take_out(conn, &device_id, behind, up_to, now)?))
                .await?;
            if last == behind {
                break;
            }
            behind = last;
            sales_count += u32::try_from(carried.len()).expect("a batch is small");
            let append = move || {
                for sale in carried {
                    write_line(&mut sealer, &Line::Sale(Box::new(sale)))?;
                }
                Ok(sealer)
            };
            sealer = self.on_files(append).await.map_err(not_written)?;
        }
        let (from, to) = (partial.to_owned(), path.to_owned());
        let finish = move || {
            write_line(&mut sealer, &Line::End { sales_count })?;
            let mut file = sealer.finish()?;
            file.flush()?;
            file.get_ref().sync_all()?;
            fs::rename(&from, &to)?;
            Ok(sync_folder(to.parent().unwrap_or(Path::new("/")))?)
        };
        self.on_files(finish).await.map_err(not_written)?;
        Ok(sales_count)
    }

    /// Takes the sales of another till's file into this one's queue. What is here already stays as it is, so a file may
    /// be imported any number of times.
    ///
    /// # Errors
    /// `not_unlocked`, `disk_full`, `file_not_read`, `file_foreign`, `file_newer`, `passphrase_wrong`, `file_damaged`,
    /// `other_company`, `too_many_sales`; nothing was imported then.
    pub async fn import_unsent(&self, request: &ImportUnsentRequest) -> Result<UnsentImported, Problem> {
        let (person, enrolled) = (self.unlocked()?, self.enrolled()?);
        self.check_room()?;
        let path = absolute(&request.path, ProblemCode::FileNotRead)?;
        let (passphrase, scope) = (request.passphrase.clone(), enrolled.enrolment.scope.clone());
        let currency = enrolled.enrolment.currency;
        let open = move || {
            let mut opened = Opened::open(File::open(&path)?, &passphrase)?;
            let manifest = read_through(&mut opened, &scope, currency)?;
            opened.rewind()?;
            opened.line()?;
            Ok((opened, manifest))
        };
        let (mut opened, manifest) = self.on_files(open).await?;
        let (mut imported_count, mut already_here_count) = (0, 0);
        loop {
            let read = move || {
                let batch = read_batch(&mut opened)?;
                Ok((opened, batch))
            };
            let batch;
            (opened, batch) = self.on_files(read).await?;
            let here = u32::try_from(batch.len()).expect("a batch is small");
            if here == 0 {
                break;
            }
            let (person_id, now) = (person.person_id.clone(), self.now());
            let imported: u32 = self
                .inner
                .db
                .write(move |conn| {
                    let new = batch.iter().map(|sale| sale.put_in(conn, &person_id, now).map(u32::from));
                    Ok::<_, Problem>(new.sum::<Result<u32, rusqlite::Error>>()?)
                })
                .await?;
            imported_count += imported;
            already_here_count += here - imported;
        }
        let now = self.now();
        let data = json!({
            "device_id": manifest.device_id, "made_at_ms": manifest.made_at,
            "imported_count": imported_count, "already_here_count": already_here_count,
        });
        self.inner
            .db
            .write(move |conn| {
                let person_id = Some(person.person_id.as_str());
                let entry = Entry { person_id, data, ..Entry::new(Event::SalesImported) };
                Ok::<_, Problem>(audit::append(conn, now, &entry)?)
            })
            .await?;
        enrolled.relay.wake();
        enrolled.index_wanted.notify_one();
        self.changed();
        if imported_count > 0 {
            // The journal has only what was sold here. That the copy failed is shown; the sales are in the queue.
            let _ = self.back_up().await;
        }
        Ok(UnsentImported {
            device_id: manifest.device_id,
            made_at: rfc3339(manifest.made_at),
            imported_count,
            already_here_count,
        })
    }

    /// A USB stick may take its time, and so does a passphrase.
    async fn on_files<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, FileError> + Send + 'static,
    ) -> Result<T, Problem> {
        let done = self.blocking(work).await?;
        done.map_err(|error| {
            tracing::warn!(%error, "a file of unsent sales");
            error.into()
        })
    }
}

#[derive(Debug, thiserror::Error)]
enum FileError {
    #[error(transparent)]
    Seal(#[from] SealError),
    #[error("the file is of another company, integration or environment")]
    OtherCompany,
    #[error("the file has more sales than a till takes")]
    TooMany,
}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> Self {
        Self::Seal(error.into())
    }
}

impl From<FileError> for Problem {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Seal(SealError::Io(error)) => Self::with(ProblemCode::FileNotRead, error.to_string()),
            FileError::Seal(SealError::Foreign) => ProblemCode::FileForeign.into(),
            FileError::Seal(SealError::Newer { .. }) => ProblemCode::FileNewer.into(),
            FileError::Seal(SealError::Passphrase) => ProblemCode::PassphraseWrong.into(),
            FileError::Seal(SealError::Damaged) => ProblemCode::FileDamaged.into(),
            FileError::Seal(SealError::NoMemory) => ProblemCode::Internal.into(),
            FileError::OtherCompany => ProblemCode::OtherCompany.into(),
            FileError::TooMany => Self::with(ProblemCode::TooManySales, SALES_LIMIT.to_string()),
        }
    }
}

fn not_written(problem: Problem) -> Problem {
    if problem.code == ProblemCode::FileNotRead {
        return Problem { detail: problem.detail, ..ProblemCode::FileNotWritten.into() };
    }
    problem
}

/// From the first line to the last, with nothing kept: a file that is not whole, or not ours, changes nothing.
fn read_through(opened: &mut Opened, scope: &Scope, currency: Currency) -> Result<Manifest, FileError> {
    let damaged = || FileError::Seal(SealError::Damaged);
    let Some(Line::Manifest(manifest)) = read_line(opened)? else { return Err(damaged()) };
    if manifest.scope != *scope || manifest.currency != currency.code() {
        return Err(FileError::OtherCompany);
    }
    let mut found = 0;
    loop {
        match read_line(opened)? {
            Some(Line::Sale(sale)) if sale.is_sound() => found += 1,
            Some(Line::End { sales_count }) if sales_count == found && read_line(opened)?.is_none() => {
                return Ok(manifest);
            }
            Some(Line::Sale(_) | Line::End { .. } | Line::Manifest(_)) | None => return Err(damaged()),
        }
        if found > SALES_LIMIT {
            return Err(FileError::TooMany);
        }
    }
}

/// The next sales; none behind the last.
fn read_batch(opened: &mut Opened) -> Result<Vec<Carried>, FileError> {
    let mut batch = Vec::new();
    while batch.len() < BATCH as usize {
        match read_line(opened)? {
            Some(Line::Sale(sale)) => batch.push(*sale),
            Some(Line::Manifest(_) | Line::End { .. }) | None => break,
        }
    }
    Ok(batch)
}

fn read_line(opened: &mut Opened) -> Result<Option<Line>, FileError> {
    let Some(line) = opened.line()? else { return Ok(None) };
    serde_json::from_slice(&line).map(Some).map_err(|_| SealError::Damaged.into())
}

fn write_line(sealer: &mut Sealer<BufWriter<File>>, line: &Line) -> Result<(), FileError> {
    let json = serde_json::to_vec(line).expect("plain data is JSON");
    Ok(sealer.line(&json)?)
}

/// What a person typed as the file's place. A relative one would be somewhere in the program's own folder.
pub(super) fn absolute(typed: &str, code: ProblemCode) -> Result<PathBuf, Problem> {
    let path = PathBuf::from(typed.trim());
    if path.is_absolute() && path.file_name().is_some() {
        Ok(path)
    } else {
        Err(Problem::with(code, typed.trim().to_owned()))
    }
}

pub(super) fn partial(path: &Path) -> PathBuf {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    PathBuf::from(partial)
}

/// Buyers' names are in it, if sometimes only for who knows the passphrase.
pub(super) fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
