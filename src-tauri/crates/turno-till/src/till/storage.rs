//! What keeps the till's data safe while it works: copies of the database, the journal of its sales, and what to tell
//! people about the disk. Invariant: none of it makes a sale wait.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use turno_sqlite::WriterMode;

use super::{Inner, Till};
use crate::backup;
use crate::journal::{self, Journal, Line};
use crate::room::Room;
use crate::view::{Problem, ProblemCode, StorageWarning};

/// How often it is looked whether a copy is due.
const LOOK_EVERY: Duration = Duration::from_secs(15 * 60);
/// The medium of the journal may come back.
const JOURNAL_RETRY: Duration = Duration::from_secs(30);
/// How often the disk's room is looked at: the cashier who made some sells again within this time.
const ROOM_EVERY: Duration = Duration::from_secs(10);
/// Tickets that are written to the journal at once.
const TICKETS: u32 = 200;

impl Till {
    /// Makes a copy of the database now, as at the end of a shift. Whether it worked is shown.
    ///
    /// # Errors
    /// `disk_full`, or `folder_not_writable` with what went wrong.
    pub async fn back_up(&self) -> Result<(), Problem> {
        let options = &self.inner.options;
        let made = backup::make(&self.inner.db, &options.backup_folder, self.now()).await;
        self.warn(StorageWarning::BackupFailed, made.is_err());
        if made.is_ok() {
            self.inner.journal_turns.store(true, Ordering::SeqCst);
        }
        made.map(drop).map_err(|error| {
            tracing::error!(%error, "no copy of the database could be made");
            Problem::with(ProblemCode::FolderNotWritable, error.to_string())
        })
    }

    /// Writes to the journal what is not in it yet.
    async fn write_journal(&self, journal: &SharedJournal) -> Result<(), Problem> {
        let (inner, now) = (Arc::clone(&self.inner), self.now());
        let turns = inner.journal_turns.swap(false, Ordering::SeqCst);
        let (folder, backups) = (inner.options.journal_folder.clone(), inner.options.backup_folder.clone());
        let (mut behind, mut mark) = self
            .on_the_medium(journal, move |journal| {
                let open = match journal.take() {
                    Some(open) => open,
                    None => Journal::open(&folder, || backup::last_sequence(&backups), now)?,
                };
                let open = journal.insert(open);
                if turns {
                    open.turn(now)?;
                }
                Ok((open.last_sequence, open.mark.clone()))
            })
            .await?;
        loop {
            let (tickets, (voids, reached)) = inner
                .db
                .read(move |conn| {
                    let tickets = journal::since(conn, behind, TICKETS)?;
                    Ok((tickets, journal::voids_since(conn, mark.as_ref(), TICKETS)?))
                })
                .await?;
            mark = reached;
            if tickets.is_empty() && voids.is_empty() {
                // The next file begins with it; a line of its own would cost a write for each sale.
                return self
                    .on_the_medium(journal, move |journal| {
                        if let Some(open) = journal {
                            open.mark = mark;
                        }
                        Ok(())
                    })
                    .await;
            }
            let tickets = tickets.into_iter().map(|ticket| Line::Ticket(Box::new(ticket)));
            let voids = voids.into_iter().map(|void| Line::Void { void: Box::new(void) });
            let lines: Vec<Line> = tickets.chain(voids).collect();
            behind = self
                .on_the_medium(journal, move |journal| {
                    let Some(mut open) = journal.take() else { return Ok(behind) };
                    // Put back only if all went well: what was half written is found out by opening it again.
                    open.append(&lines)?;
                    Ok(journal.insert(open).last_sequence)
                })
                .await?;
        }
    }

    /// A medium may take its time; the threads that serve the screen stay free.
    async fn on_the_medium<T: Send + 'static>(
        &self,
        journal: &SharedJournal,
        work: impl FnOnce(&mut Option<Journal>) -> io::Result<T> + Send + 'static,
    ) -> Result<T, Problem> {
        let journal = Arc::clone(journal);
        let work = move || work(&mut journal.lock().unwrap_or_else(PoisonError::into_inner));
        self.blocking(work).await?.map_err(|error| {
            tracing::error!(%error, "the journal cannot be written");
            Problem::with(ProblemCode::FolderNotWritable, error.to_string())
        })
    }

    /// Work on files that may take its time, on a thread that serves no screen.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        match self.inner.options.writer {
            WriterMode::Inline => Ok(work()),
            WriterMode::Thread => {
                tokio::task::spawn_blocking(work).await.map_err(|_| ProblemCode::Internal.into())
            }
        }
    }

    /// Refuses what would begin a ticket that the disk could not keep to its end.
    pub(super) fn check_room(&self) -> Result<(), Problem> {
        match self.inner.reserve.room() {
            Room::Enough => Ok(()),
            Room::Low => Err(ProblemCode::DiskFull.into()),
        }
    }

    /// Gives up, or makes again, the room that is kept, on a thread that may wait for the medium.
    async fn tend_room(&self) -> Room {
        let inner = Arc::clone(&self.inner);
        let room = self.blocking(move || inner.reserve.tend()).await.unwrap_or(Room::Low);
        self.warn(StorageWarning::DiskLow, room == Room::Low);
        room
    }

    pub(super) fn storage_warnings(&self) -> Vec<StorageWarning> {
        let warnings = self.inner.storage_warnings.lock().unwrap_or_else(PoisonError::into_inner);
        warnings.iter().copied().collect()
    }

    fn warn(&self, warning: StorageWarning, holds: bool) {
        let mut warnings = self.inner.storage_warnings.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = if holds { warnings.insert(warning) } else { warnings.remove(&warning) };
        drop(warnings);
        if changed {
            self.changed();
        }
    }
}

type SharedJournal = Arc<Mutex<Option<Journal>>>;

/// Keeps the journal for as long as the till is open.
pub(super) async fn keep_journal(inner: Weak<Inner>, wanted: Arc<Notify>) {
    let journal = SharedJournal::default();
    loop {
        let Some(till) = inner.upgrade().map(|inner| Till { inner }) else { return };
        let written = till.write_journal(&journal).await.is_ok();
        till.warn(StorageWarning::JournalFailed, !written);
        drop(till);
        tokio::select! {
            () = wanted.notified() => {}
            () = tokio::time::sleep(if written { LOOK_EVERY } else { JOURNAL_RETRY }) => {}
        }
    }
}

/// Watches the disk's room for as long as the till is open.
pub(super) async fn keep_room(inner: Weak<Inner>) {
    loop {
        let Some(till) = inner.upgrade().map(|inner| Till { inner }) else { return };
        till.tend_room().await;
        let db = till.inner.db.clone();
        drop(till);
        tokio::select! {
            // Free bytes may say nothing (a quota): SQLite's word counts, and the next write finds the reserve's room.
            () = db.until_full() => {
                let Some(inner) = inner.upgrade() else { return };
                inner.reserve.give_up();
            }
            () = tokio::time::sleep(ROOM_EVERY) => {}
        }
    }
}

/// Makes a copy a day for as long as the till is open.
pub(super) async fn keep_backups(inner: Weak<Inner>) {
    loop {
        let Some(till) = inner.upgrade().map(|inner| Till { inner }) else { return };
        // The room that is left is for what was sold; the copy is made when there is more.
        let has_room = till.check_room().is_ok();
        if has_room && backup::is_due(&till.inner.options.backup_folder, till.now()) {
            // What went wrong is shown, and tried again.
            let _ = till.back_up().await;
        }
        drop(till);
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
