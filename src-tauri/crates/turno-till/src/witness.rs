//! What is kept of a till outside of its data folder: which run of the program had the folder last, how far its
//! numbers had gone, and on which machine.
//!
//! One file per installation in the user's state folder, held by the running program. Invariant: what it says is never
//! ahead of the database, so a till that merely crashed never contradicts it. Losing it costs an epoch and no sale.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::machine::Machine;

/// Everything below fits twice. The file keeps its length, so that writing it again needs no room on a full disk.
const RECORD_BYTES: usize = 2_048;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub start_id: Uuid,
    pub last_sequence: i64,
    pub last_shift: u32,
    /// Closed shifts; none in what an older program kept.
    #[serde(default)]
    pub last_z: i64,
    pub machine: Machine,
}

/// The file of one installation, held until this value goes.
#[derive(Debug)]
pub struct Witness {
    file: File,
    record: Option<Record>,
}

/// What became of asking for the file.
#[derive(Debug)]
pub enum Claim {
    /// Another running program has this installation: two folders say that they are the same.
    Held,
    /// Ours now. It may be new, or hold nothing that can be read.
    Taken(Witness),
}

impl Witness {
    /// Takes the file of an installation for this process, making it if need be.
    ///
    /// # Errors
    /// The file can be neither opened nor made.
    pub fn claim(folder: &Path, installation_id: Uuid) -> io::Result<Claim> {
        fs::create_dir_all(folder)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path(folder, installation_id))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(Claim::Held),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let mut text = String::new();
        let record = match file.read_to_string(&mut text) {
            Ok(_) => serde_json::from_str(text.trim_end()).ok(),
            Err(error) => {
                tracing::error!(%error, "what was kept about this till cannot be read");
                None
            }
        };
        Ok(Claim::Taken(Self { file, record }))
    }

    /// What was kept last.
    #[must_use]
    pub fn record(&self) -> Option<&Record> {
        self.record.as_ref()
    }

    /// Keeps this, on the disk before it returns.
    ///
    /// # Errors
    /// It is not certain that it was kept.
    pub fn keep(&mut self, record: Record) -> io::Result<()> {
        self.write(&record)?;
        self.record = Some(record);
        self.file.sync_all()
    }

    /// Notes how far the numbers have gone. Not forced to the disk: it follows a commit that is, and a machine that
    /// dies before it is written loses a hint and no sale.
    pub fn note(&mut self, last_sequence: i64, last_shift: u32) {
        self.raise(|record| {
            record.last_sequence = last_sequence.max(record.last_sequence);
            record.last_shift = last_shift.max(record.last_shift);
        });
    }

    /// Notes how many shifts were closed, as [`Self::note`] does.
    pub fn note_closing(&mut self, last_z: i64) {
        self.raise(|record| record.last_z = last_z.max(record.last_z));
    }

    fn raise(&mut self, raise: impl FnOnce(&mut Record)) {
        let Some(mut record) = self.record.clone() else { return };
        raise(&mut record);
        if let Err(error) = self.write(&record) {
            tracing::warn!(%error, "how far the numbers went cannot be kept outside of the data folder");
        }
        self.record = Some(record);
    }

    fn write(&mut self, record: &Record) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(record)?;
        bytes.resize(bytes.len().max(RECORD_BYTES - 1), b' ');
        bytes.push(b'\n');
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&bytes)
    }
}

fn path(folder: &Path, installation_id: Uuid) -> PathBuf {
    folder.join(format!("{installation_id}.witness"))
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn taken(folder: &TempDir, installation_id: Uuid) -> Witness {
        match Witness::claim(folder.path(), installation_id).unwrap() {
            Claim::Taken(witness) => witness,
            Claim::Held => panic!("held"),
        }
    }

    fn record(last_sequence: i64) -> Record {
        Record {
            start_id: Uuid::nil(),
            last_sequence,
            last_shift: 1,
            last_z: 0,
            machine: Machine::named("m"),
        }
    }

    #[test]
    fn what_was_kept_is_there_for_the_next_run_and_for_no_other_installation() {
        let folder = TempDir::new().unwrap();
        let (ours, theirs) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let mut witness = taken(&folder, ours);
        assert_eq!(witness.record(), None);
        witness.keep(record(1_000_000)).unwrap();
        witness.note(1_000_001, 1);
        witness.note(7, 2);
        witness.note_closing(3);
        witness.note_closing(1);
        drop(witness);
        let last = Record { last_shift: 2, last_z: 3, ..record(1_000_001) };
        assert_eq!(taken(&folder, ours).record(), Some(&last), "numbers only grow");
        assert_eq!(taken(&folder, theirs).record(), None);
    }

    #[test]
    fn one_program_holds_an_installation_and_gives_it_back_when_it_ends() {
        let folder = TempDir::new().unwrap();
        let first = taken(&folder, Uuid::nil());
        assert!(matches!(Witness::claim(folder.path(), Uuid::nil()).unwrap(), Claim::Held));
        drop(first);
        taken(&folder, Uuid::nil());
    }

    #[test]
    fn a_shorter_record_leaves_nothing_of_a_longer_one_and_a_torn_one_is_none() {
        let folder = TempDir::new().unwrap();
        let mut witness = taken(&folder, Uuid::nil());
        witness.keep(record(i64::MAX)).unwrap();
        witness.keep(record(1)).unwrap();
        drop(witness);
        assert_eq!(taken(&folder, Uuid::nil()).record(), Some(&record(1)));
        let file = path(folder.path(), Uuid::nil());
        for torn in [&b""[..], b"{\"start_id\":", b"\xff\xfe"] {
            fs::write(&file, torn).unwrap();
            assert_eq!(taken(&folder, Uuid::nil()).record(), None);
        }
    }
}
