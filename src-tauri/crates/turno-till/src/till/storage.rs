//! What keeps the till's data safe while it works: copies of the database, and what to tell people about the disk.

use std::sync::{PoisonError, Weak};
use std::time::Duration;

use super::{Inner, Till};
use crate::backup;
use crate::view::{Problem, ProblemCode, StorageWarning};

/// How often it is looked whether a copy is due.
const LOOK_EVERY: Duration = Duration::from_secs(15 * 60);

impl Till {
    /// Makes a copy of the database now, as at the end of a shift. Whether it worked is shown.
    ///
    /// # Errors
    /// `disk_full`, or `folder_not_writable` with what went wrong.
    pub async fn back_up(&self) -> Result<(), Problem> {
        let options = &self.inner.options;
        let made = backup::make(&self.inner.db, &options.backup_folder, self.now()).await;
        self.warn(StorageWarning::BackupFailed, made.is_err());
        made.map(drop).map_err(|error| {
            tracing::error!(%error, "no copy of the database could be made");
            Problem::with(ProblemCode::FolderNotWritable, error.to_string())
        })
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

/// Makes a copy a day for as long as the till is open.
pub(super) async fn keep_backups(inner: Weak<Inner>) {
    loop {
        let Some(till) = inner.upgrade().map(|inner| Till { inner }) else { return };
        if backup::is_due(&till.inner.options.backup_folder, till.now()) {
            // What went wrong is shown, and tried again.
            let _ = till.back_up().await;
        }
        drop(till);
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
