//! What the settings show.

use std::path::Path;

use super::Till;
use crate::backup;
use crate::clock::rfc3339;
use crate::store::{epochs, outbox};
use crate::view::{About, Problem, Settings};

impl Till {
    /// Where things are kept, and who this till is. `place` is where a file could be put.
    ///
    /// # Errors
    /// `not_allowed_now` before the till is set up.
    pub async fn settings(&self, place: &Path) -> Result<Settings, Problem> {
        let enrolled = self.enrolled()?;
        let (counts, epoch) =
            self.inner.db.read(|conn| Ok((outbox::counts(conn)?, epochs::current(conn)?))).await?;
        let (options, enrolment) = (&self.inner.options, &enrolled.enrolment);
        let device_id = enrolment.device_id.as_str().to_owned();
        let name = format!("turno-{device_id}-{}", backup::stamp(self.now()));
        Ok(Settings {
            unsent_count: counts.pending,
            suggested_file: place.join(format!("{name}.ventas")).display().to_string(),
            suggested_table: place.join(format!("{name}.csv")).display().to_string(),
            backup_folder: options.backup_folder.display().to_string(),
            last_backup_at: backup::newest_at(&options.backup_folder).map(rfc3339),
            journal_folder: options.journal_folder.display().to_string(),
            about: About {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                device_id,
                epoch: epoch.map(|row| row.epoch.as_str().to_owned()),
                company_name: enrolment.company_name.clone(),
                address: options.address.clone().unwrap_or_else(|| enrolment.address.clone()),
                data_folder: options.folder.display().to_string(),
            },
        })
    }
}
