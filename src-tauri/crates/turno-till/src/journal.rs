//! Every sale once more, and every void, in plain files that may lie on another medium: how they outlive a database.
//!
//! A line is a ticket or a void with its checksum. It is written after its commit and never before, so whatever the
//! journal says was sold, or was given back. Invariant: a line that is torn or altered is passed over and costs nothing
//! but itself; playing a journal back twice changes nothing the second time.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::backup::{stamp, sync_folder};
use crate::clock::Millis;

mod ticket;
mod voided;
pub use ticket::{Ticket, since};
pub use voided::{Mark, Voided, voids_since};

pub const FOLDER: &str = "journal";
/// A new file begins with each backup, and older ones are of use while older backups are kept.
const KEPT: usize = 20;
/// A ticket of forty lines has some 60 KB; what is longer is not one.
const LINE_LIMIT: u64 = 1024 * 1024;
const CHECK_CHARS: usize = 16;

/// A line without its checksum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Line {
    Ticket(Box<Ticket>),
    Void {
        void: Box<Voided>,
    },
    /// The first line of a file.
    Begun {
        begun: Mark,
    },
}

/// How a line begins that is a void. There are few, and they are looked for at each start.
const VOID: &[u8] = br#"{"void":"#;

/// The newest file, open for the next line.
#[derive(Debug)]
pub struct Journal {
    folder: PathBuf,
    file: File,
    /// Sales up to this one are in it or in an older file, or needed none.
    pub last_sequence: i64,
    /// Voids up to here are in it or in an older file; nothing when no line says how far they go.
    pub mark: Option<Mark>,
}

impl Journal {
    /// Goes on with the newest file. The first one of all begins behind the sales that the backups hold.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub fn open(folder: &Path, backed_up: impl FnOnce() -> i64, now: Millis) -> io::Result<Self> {
        let files = files(folder);
        let Some(newest) = files.last() else { return Self::begin(folder, backed_up(), None, now) };
        let mut file = OpenOptions::new().read(true).append(true).open(newest)?;
        // What follows a torn line must not be torn with it.
        let mut last = [b'\n'];
        if file.seek(SeekFrom::End(-1)).is_ok() {
            file.read_exact(&mut last)?;
        }
        if last != [b'\n'] {
            file.write_all(b"\n")?;
        }
        let last_sequence = last_sequence_of(&files).unwrap_or_default();
        let mark = files.iter().rev().find_map(|file| lines(file).filter_map(|line| line.mark()).last());
        Ok(Self { folder: folder.to_owned(), file, last_sequence, mark })
    }

    /// Begins a new file behind what was written so far.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn begin(folder: &Path, last_sequence: i64, mark: Option<Mark>, now: Millis) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        // Sorted by the numbers and not by a clock that may be wrong: of two files with one number only the clock would
        // say which is the newer, so there is one.
        let name = match files(folder).pop().filter(|newest| starts_behind(newest) == last_sequence) {
            Some(newest) => newest.file_name().map(ToOwned::to_owned).unwrap_or_default(),
            None => format!("{last_sequence:012}-{}.journal", stamp(now)).into(),
        };
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(folder.join(name))?;
        sync_folder(folder)?;
        let files = files(folder);
        for old in &files[..files.len().saturating_sub(KEPT)] {
            fs::remove_file(old)?;
        }
        let mut journal = Self { folder: folder.to_owned(), file, last_sequence, mark: None };
        if let Some(mark) = mark {
            journal.append(&[Line::Begun { begun: mark }])?;
        }
        Ok(journal)
    }

    /// A new file from here on: a backup was made.
    ///
    /// # Errors
    /// It cannot be made; the old one goes on.
    pub fn turn(&mut self, now: Millis) -> io::Result<()> {
        *self = Self::begin(&self.folder.clone(), self.last_sequence, self.mark.clone(), now)?;
        Ok(())
    }

    /// Writes lines, on the medium before it returns.
    ///
    /// # Errors
    /// It is not known how much of them was written; open the journal again to find out.
    pub fn append(&mut self, lines: &[Line]) -> io::Result<()> {
        let mut bytes = Vec::new();
        for line in lines {
            let json = serde_json::to_string(line)?;
            bytes.extend_from_slice(format!("{} {json}\n", check(json.as_bytes())).as_bytes());
        }
        self.file.write_all(&bytes)?;
        self.file.sync_data()?;
        let newest = lines.iter().filter_map(Line::last_sequence).max();
        self.last_sequence = newest.unwrap_or_default().max(self.last_sequence);
        self.mark = lines.iter().filter_map(Line::mark).next_back().or(self.mark.take());
        Ok(())
    }
}

impl Line {
    fn ticket(self) -> Option<Ticket> {
        match self {
            Self::Ticket(ticket) => Some(*ticket),
            Self::Void { .. } | Self::Begun { .. } => None,
        }
    }

    fn voided(self) -> Option<Voided> {
        match self {
            Self::Void { void } => Some(*void),
            Self::Ticket(_) | Self::Begun { .. } => None,
        }
    }

    fn last_sequence(&self) -> Option<i64> {
        match self {
            Self::Ticket(ticket) => Some(ticket.last_sequence()),
            Self::Void { .. } | Self::Begun { .. } => None,
        }
    }

    fn mark(&self) -> Option<Mark> {
        match self {
            Self::Ticket(_) => None,
            Self::Void { void } => Some(void.mark.clone()),
            Self::Begun { begun } => Some(begun.clone()),
        }
    }
}

/// The tickets that can hold sales behind `sequence`, in the order in which they were sold. A file that cannot be read
/// is passed over.
pub fn tickets_behind(folder: &Path, sequence: i64) -> impl Iterator<Item = Ticket> {
    let files = files(folder);
    let starts: Vec<i64> = files.iter().map(|file| starts_behind(file)).collect();
    // Of files with one number nobody knows which is the newer.
    let ends: Vec<Option<i64>> =
        starts.iter().map(|own| starts.iter().copied().find(|start| start > own)).collect();
    let later = files.into_iter().zip(ends).filter(move |(_, end)| end.is_none_or(|end| end > sequence));
    let tickets = later.flat_map(|(file, _)| lines(&file)).filter_map(Line::ticket);
    tickets.filter(move |ticket| ticket.last_sequence() > sequence)
}

/// All voids that the journal has, in the order in which they were made.
pub fn voids(folder: &Path) -> impl Iterator<Item = Voided> {
    files(folder).into_iter().flat_map(|file| lines_like(&file, VOID)).filter_map(Line::voided)
}

/// How far the journal goes, if there is one.
#[must_use]
pub fn last_sequence(folder: &Path) -> Option<i64> {
    last_sequence_of(&files(folder))
}

fn last_sequence_of(files: &[PathBuf]) -> Option<i64> {
    let groups = files.chunk_by(|one, other| starts_behind(one) == starts_behind(other));
    let newest = groups.rev().find_map(|files| {
        files.iter().flat_map(|file| lines(file)).filter_map(|it| it.last_sequence()).max()
    });
    newest.max(files.last().map(|file| starts_behind(file)))
}

/// The files of a journal, the oldest first.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "journal"))
        .collect();
    files.sort();
    files
}

fn starts_behind(file: &Path) -> i64 {
    let name = file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.split('-').next().and_then(|sequence| sequence.parse().ok()).unwrap_or_default()
}

/// The whole lines of a file.
fn lines(file: &Path) -> impl Iterator<Item = Line> + use<> {
    lines_like(file, b"")
}

/// The whole lines of a file that begin so, behind their checksum.
fn lines_like(file: &Path, beginning: &'static [u8]) -> impl Iterator<Item = Line> + use<> {
    let mut reader = File::open(file).ok().map(BufReader::new);
    std::iter::from_fn(move || {
        let reader = reader.as_mut()?;
        loop {
            let mut line = Vec::new();
            match reader.by_ref().take(LINE_LIMIT).read_until(b'\n', &mut line) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => {
                    tracing::error!(%error, "a journal cannot be read to its end");
                    return None;
                }
            }
            if !line.get(CHECK_CHARS + 1..).is_some_and(|json| json.starts_with(beginning)) {
                continue;
            }
            match read_line(&line) {
                Some(line) => return Some(line),
                None if line == b"\n" => {}
                None => tracing::warn!("a line of the journal is torn or was altered; it is passed over"),
            }
        }
    })
}

fn read_line(line: &[u8]) -> Option<Line> {
    let line = line.strip_suffix(b"\n")?;
    let (checked, rest) = line.split_at_checked(CHECK_CHARS)?;
    let json = rest.strip_prefix(b" ")?;
    (check(json).as_bytes() == checked).then(|| serde_json::from_slice(json).ok())?
}

/// Against a torn or rotten medium, not against people.
fn check(json: &[u8]) -> String {
    Sha256::digest(json).iter().take(CHECK_CHARS / 2).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
