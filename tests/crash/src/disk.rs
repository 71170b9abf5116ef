//! What a folder's disk was asked to do: every write, truncation, sync, creation and deletion in its order, and the
//! faults that it answers with.
//!
//! Invariant: the log holds what the medium was given and nothing that was refused; a position is the number of
//! operations before it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::SystemTime;

use rusqlite::ffi;

use crate::shim;

/// Something that SQLite wants from a file of the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Open,
    Read,
    Write,
    Truncate,
    Sync,
    Delete,
    /// A piece of the log's index in shared memory.
    Map,
}

/// Something that the medium did. Files are numbered by [`Disk::names`].
#[derive(Clone, Debug)]
pub enum Op {
    Create {
        file: usize,
    },
    Write {
        file: usize,
        at: usize,
        bytes: Vec<u8>,
    },
    Truncate {
        file: usize,
        size: usize,
    },
    Sync {
        file: usize,
    },
    /// Which names there are is certain from here on.
    SyncFolder,
    /// The medium said no, and what was written since the last sync may be dropped though reads still see it.
    FailedSync {
        file: usize,
    },
    Delete {
        file: usize,
    },
}

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Any call, with the I/O error that belongs to it.
    Io,
    /// A write finds no room.
    Full,
    /// A write does half of its work and fails.
    Short,
    /// A sync fails.
    Sync,
}

/// The `nth` call of its kind from now fails, counted from 1.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    pub kind: FaultKind,
    pub nth: u64,
    pub lasts: Lasts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasts {
    Once,
    UntilHealed,
}

/// What `synchronous=FULL` is turned into behind the program's back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weakness {
    Normal,
    Off,
}

/// Why a call is not carried out.
#[derive(Clone, Copy, Debug)]
pub struct Refusal {
    pub code: c_int,
    pub half_done: bool,
}

#[derive(Debug)]
pub struct Disk {
    folder: PathBuf,
    weakness: Option<Weakness>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    names: Vec<String>,
    log: Vec<Op>,
    fault: Option<Fault>,
    calls: u64,
    struck: u64,
    /// Files of which a sync failed. They are dated back, so that a write past SQLite shows.
    distrusted: BTreeSet<usize>,
}

/// The folders that are watched in this process.
static WATCHED: RwLock<BTreeMap<PathBuf, Arc<Disk>>> = RwLock::new(BTreeMap::new());

/// Watches a folder for as long as it lives.
#[derive(Debug)]
pub struct Watch {
    pub disk: Arc<Disk>,
}

impl Watch {
    /// From now on, what SQLite does in this folder is noted.
    #[must_use]
    pub fn over(folder: &Path, weakness: Option<Weakness>) -> Self {
        shim::install();
        let folder = folder.canonicalize().expect("a folder that exists has one path");
        let disk = Arc::new(Disk { folder: folder.clone(), weakness, state: Mutex::default() });
        WATCHED.write().unwrap_or_else(PoisonError::into_inner).insert(folder, Arc::clone(&disk));
        Self { disk }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        WATCHED.write().unwrap_or_else(PoisonError::into_inner).remove(&self.disk.folder);
    }
}

impl Disk {
    /// The disk of the folder that a file is in, if somebody watches it.
    #[must_use]
    pub fn of(file: &Path) -> Option<Arc<Self>> {
        WATCHED.read().unwrap_or_else(PoisonError::into_inner).get(file.parent()?).cloned()
    }

    #[must_use]
    pub fn weakness(&self) -> Option<Weakness> {
        self.weakness
    }

    /// How much has happened.
    #[must_use]
    pub fn position(&self) -> usize {
        self.state().log.len()
    }

    #[must_use]
    pub fn log(&self) -> Vec<Op> {
        self.state().log.clone()
    }

    /// The files' names; an [`Op`] has the index.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.state().names.clone()
    }

    /// Syncs that succeeded since a position.
    #[must_use]
    pub fn syncs_since(&self, position: usize) -> usize {
        self.state().log[position..].iter().filter(|op| matches!(op, Op::Sync { .. })).count()
    }

    pub fn fail(&self, fault: Fault) {
        let mut state = self.state();
        (state.fault, state.calls, state.struck) = (Some(fault), 0, 0);
    }

    /// The disk works again. Says how many calls had failed.
    pub fn heal(&self) -> u64 {
        let mut state = self.state();
        state.fault = None;
        state.struck
    }

    pub(crate) fn number(&self, file: &Path) -> usize {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let mut state = self.state();
        if let Some(known) = state.names.iter().position(|known| known == name) {
            return known;
        }
        state.names.push(name.to_owned());
        state.names.len() - 1
    }

    /// Whether a call is carried out.
    pub(crate) fn admit(&self, call: Call) -> Result<(), Refusal> {
        let mut state = self.state();
        self.note_writes_of_others(&mut state);
        let Some(fault) = state.fault else { return Ok(()) };
        let Some(code) = fault.kind.code(call) else { return Ok(()) };
        state.calls += 1;
        let strikes = match fault.lasts {
            Lasts::Once => state.calls == fault.nth,
            Lasts::UntilHealed => state.calls >= fault.nth,
        };
        if !strikes {
            return Ok(());
        }
        state.struck += 1;
        Err(Refusal { code, half_done: fault.kind == FaultKind::Short })
    }

    pub(crate) fn note(&self, op: Op) {
        let mut state = self.state();
        match op {
            Op::FailedSync { file } => {
                state.distrusted.insert(file);
                self.date_back(&state, file);
            }
            Op::Write { file, .. } | Op::Truncate { file, .. } if state.distrusted.contains(&file) => {
                self.date_back(&state, file);
            }
            Op::Delete { file } => {
                state.distrusted.remove(&file);
            }
            Op::Create { .. } | Op::Write { .. } | Op::Truncate { .. } | Op::Sync { .. } | Op::SyncFolder => {
            }
        }
        state.log.push(op);
    }

    /// The program writes a log again of which a sync failed, and syncs it, without SQLite.
    fn note_writes_of_others(&self, state: &mut State) {
        for file in std::mem::take(&mut state.distrusted) {
            let path = self.folder.join(&state.names[file]);
            let written = fs::metadata(&path).and_then(|found| found.modified());
            if written.is_ok_and(|at| at != SystemTime::UNIX_EPOCH)
                && let Ok(bytes) = fs::read(&path)
            {
                state.log.push(Op::Write { file, at: 0, bytes });
                state.log.push(Op::Sync { file });
            } else {
                state.distrusted.insert(file);
            }
        }
    }

    fn date_back(&self, state: &State, file: usize) {
        let opened = File::options().write(true).open(self.folder.join(&state.names[file]));
        let dated = opened.and_then(|file| file.set_modified(SystemTime::UNIX_EPOCH));
        dated.expect("a file that was written just now can be dated");
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FaultKind {
    /// What the call answers, if this kind concerns it.
    fn code(self, call: Call) -> Option<c_int> {
        match (self, call) {
            (Self::Io, Call::Open) => Some(ffi::SQLITE_CANTOPEN),
            (Self::Io, Call::Read) => Some(ffi::SQLITE_IOERR_READ),
            (Self::Io | Self::Short, Call::Write) => Some(ffi::SQLITE_IOERR_WRITE),
            (Self::Io, Call::Truncate) => Some(ffi::SQLITE_IOERR_TRUNCATE),
            (Self::Io | Self::Sync, Call::Sync) => Some(ffi::SQLITE_IOERR_FSYNC),
            (Self::Io, Call::Delete) => Some(ffi::SQLITE_IOERR_DELETE),
            (Self::Io, Call::Map) => Some(ffi::SQLITE_IOERR_SHMMAP),
            (Self::Full, Call::Write) => Some(ffi::SQLITE_FULL),
            (
                Self::Full | Self::Short,
                Call::Open | Call::Read | Call::Truncate | Call::Sync | Call::Delete | Call::Map,
            )
            | (
                Self::Sync,
                Call::Open | Call::Read | Call::Write | Call::Truncate | Call::Delete | Call::Map,
            ) => None,
        }
    }
}
