//! How many wrong PINs each person typed since the last right one, kept beside the pepper.
//!
//! The database counts them as well, and a database can be put back as it was. Whoever checks a PIN needs the pepper, and
//! every data folder that has it (a copy, a restored one) counts in this one file: an older database gives no fresh tries.
//! Invariant: a try is in the file before it is checked. Who can change the file can read the pepper as well, and
//! guesses without us; so a file that is lost or cannot be read counts as none, and locks nobody out.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

/// One block of a disk, which is written whole or not at all. Ninety people who all mistyped fit; the file keeps its
/// length, so that writing it again needs no room on a full disk.
const RECORD_BYTES: usize = 4_096;

/// Person and failures, for those who have any.
type Counts = BTreeMap<String, u32>;

#[derive(Clone, Debug)]
pub struct Tries {
    path: PathBuf,
}

impl Tries {
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// How many tries of this person failed, as far as this file knows.
    #[must_use]
    pub fn failures(&self, person_id: &str) -> u32 {
        let counts = self.open().and_then(|mut file| {
            file.lock_shared()?;
            read(&mut file)
        });
        counts.map_or_else(
            |error| {
                tracing::error!(%error, "the count of wrong PINs beside the pepper cannot be read");
                0
            },
            |counts| counts.get(person_id).copied().unwrap_or_default(),
        )
    }

    /// So many tries of this person failed. On the disk before it returns, unless the disk fails: then the database's own
    /// count is all there is, and nobody is kept from selling.
    pub fn count(&self, person_id: &str, failures: u32) {
        self.change(|counts| {
            let count = counts.entry(person_id.to_owned()).or_default();
            *count = failures.max(*count);
        });
    }

    /// A right PIN, or a new one.
    pub fn forgive(&self, person_id: &str) {
        self.change(|counts| {
            counts.remove(person_id);
        });
    }

    fn change(&self, change: impl FnOnce(&mut Counts)) {
        let changed = self.open().and_then(|mut file| {
            // Two folders that share a pepper may be open at once.
            file.lock()?;
            let mut counts = read(&mut file)?;
            let before = counts.clone();
            change(&mut counts);
            if counts == before { Ok(()) } else { write(&mut file, counts) }
        });
        if let Err(error) = changed {
            tracing::error!(%error, "wrong PINs cannot be counted beside the pepper");
        }
    }

    fn open(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&self.path)
    }
}

/// A file that is new, torn or of another program says nothing.
fn read(file: &mut File) -> io::Result<Counts> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(RECORD_BYTES as u64).read_to_end(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes).unwrap_or_default())
}

fn write(file: &mut File, mut counts: Counts) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(&counts)?;
    while bytes.len() > RECORD_BYTES
        && let Some(fewest) = counts.iter().min_by_key(|(_, failures)| **failures).map(|(id, _)| id.clone())
    {
        counts.remove(&fewest);
        bytes = serde_json::to_vec(&counts)?;
    }
    bytes.resize(RECORD_BYTES, b' ');
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    fn tries(folder: &TempDir) -> Tries {
        Tries::at(folder.path().join("x.tries"))
    }

    #[test]
    fn failures_only_grow_until_they_are_forgiven_and_each_person_has_their_own() {
        let folder = TempDir::new().unwrap();
        assert_eq!(tries(&folder).failures("c"), 0);
        tries(&folder).count("c", 3);
        tries(&folder).count("c", 1);
        tries(&folder).count("m", 2);
        assert_eq!((tries(&folder).failures("c"), tries(&folder).failures("m")), (3, 2));
        tries(&folder).forgive("c");
        assert_eq!((tries(&folder).failures("c"), tries(&folder).failures("m")), (0, 2));
        tries(&folder).count("c", 1);
        assert_eq!(tries(&folder).failures("c"), 1);
    }

    #[test]
    fn a_torn_file_counts_as_none_and_is_written_anew() {
        let folder = TempDir::new().unwrap();
        for torn in [&b""[..], b"{\"c\":", b"\xff\xfe", b"[7]"] {
            fs::write(folder.path().join("x.tries"), torn).unwrap();
            assert_eq!(tries(&folder).failures("c"), 0);
            tries(&folder).count("c", 4);
            assert_eq!(tries(&folder).failures("c"), 4);
        }
    }

    #[test]
    fn of_more_people_than_fit_those_with_the_most_failures_are_kept_in_one_block() {
        let folder = TempDir::new().unwrap();
        tries(&folder).count("the one who is guessed at", 9);
        for other in 0..200_u32 {
            tries(&folder).count(&format!("{other:036}"), 1);
        }
        assert_eq!(tries(&folder).failures("the one who is guessed at"), 9);
        assert_eq!(fs::metadata(folder.path().join("x.tries")).unwrap().len(), RECORD_BYTES as u64);
    }
}
