//! The disk as a power cut leaves it: what was synced, and of what came later some of it, in any order, sector by
//! sector.
//!
//! Invariant: what a sync that succeeded covers is there, byte for byte; nothing is there that was not written. SQLite
//! relies on a write leaving the bytes beside it alone (its `POWERSAFE_OVERWRITE`), and so does this.

use std::fs;
use std::io;
use std::path::Path;

use crate::chance::Chance;
use crate::disk::Op;

/// What a medium writes at once.
const SECTOR: usize = 512;

/// What becomes of writes that no sync covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// All are there: the program died and the machine went on.
    Nothing,
    /// None is there.
    Everything,
    /// Each is there or not, so later ones may be there without earlier ones.
    Some,
    /// Each sector of each is there or not.
    Torn,
}

impl Loss {
    pub const ALL: [Self; 4] = [Self::Nothing, Self::Everything, Self::Some, Self::Torn];
}

/// Files by number, as in the log; `None` is a file that is not there.
pub type Image = Vec<Option<Vec<u8>>>;

/// A place in a log that moves forward.
#[derive(Debug)]
pub struct Cursor<'a> {
    log: &'a [Op],
    position: usize,
    files: Vec<File>,
}

#[derive(Clone, Debug, Default)]
struct File {
    /// As of the last moment at which everything was certain.
    certain: Option<Vec<u8>>,
    later: Vec<Later>,
}

/// An operation behind the certain state: its index in the log, and what is known of it.
#[derive(Clone, Copy, Debug)]
struct Later {
    op: usize,
    fate: Fate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Open,
    Synced,
    /// A sync of it failed. The kernel calls such pages clean, so that no later sync writes them.
    Forgotten,
}

impl<'a> Cursor<'a> {
    #[must_use]
    pub fn new(log: &'a [Op], files: usize) -> Self {
        Self { log, position: 0, files: vec![File::default(); files] }
    }

    pub fn advance_to(&mut self, position: usize) {
        while self.position < position {
            let index = self.position;
            self.position += 1;
            match self.log[index] {
                Op::Create { file }
                | Op::Write { file, .. }
                | Op::Truncate { file, .. }
                | Op::Delete { file } => {
                    self.files[file].later.push(Later { op: index, fate: Fate::Open });
                }
                Op::Sync { file } => self.files[file].synced(self.log, |_| true),
                Op::SyncFolder => {
                    for file in &mut self.files {
                        file.synced(self.log, |op| matches!(op, Op::Create { .. } | Op::Delete { .. }));
                    }
                }
                Op::FailedSync { file } => {
                    self.files[file].sync_failed(self.log);
                }
            }
        }
    }

    /// What is found after the power went here.
    #[must_use]
    pub fn image(&self, loss: Loss, chance: &Chance) -> Image {
        // Sometimes nearly all survives and sometimes nearly nothing.
        let survives = chance.next() % 101;
        let image = self.files.iter().map(|file| file.left(self.log, loss, survives, chance));
        image.collect()
    }
}

impl File {
    fn synced(&mut self, log: &[Op], covers: impl Fn(&Op) -> bool) {
        let open = self.later.iter_mut().filter(|later| later.fate == Fate::Open);
        for later in open.filter(|later| covers(&log[later.op])) {
            later.fate = Fate::Synced;
        }
        if self.later.iter().all(|later| later.fate == Fate::Synced) {
            for later in std::mem::take(&mut self.later) {
                apply(&mut self.certain, &log[later.op], |_| true);
            }
        }
    }

    /// Names are the folder's and are not forgotten.
    fn sync_failed(&mut self, log: &[Op]) {
        let is_content = |later: &&mut Later| matches!(log[later.op], Op::Write { .. } | Op::Truncate { .. });
        for later in self.later.iter_mut().filter(|later| later.fate == Fate::Open).filter(is_content) {
            later.fate = Fate::Forgotten;
        }
    }

    fn left(&self, log: &[Op], loss: Loss, survives: u64, chance: &Chance) -> Option<Vec<u8>> {
        let mut content = self.certain.clone();
        for later in &self.later {
            let op = &log[later.op];
            let whole = match (later.fate, loss) {
                (Fate::Synced, _) | (_, Loss::Nothing) => true,
                (Fate::Open | Fate::Forgotten, Loss::Everything) => false,
                (Fate::Open | Fate::Forgotten, Loss::Some | Loss::Torn) => chance.percent(survives),
            };
            match op {
                // Behind a name that is still the old file's, or none yet, nothing of the new file is to be found.
                Op::Create { .. } | Op::Delete { .. } if !whole => break,
                Op::Write { .. } if loss == Loss::Torn && later.fate != Fate::Synced => {
                    apply(&mut content, op, |_| chance.percent(survives));
                }
                Op::Create { .. } | Op::Delete { .. } | Op::Write { .. } | Op::Truncate { .. } => {
                    if whole {
                        apply(&mut content, op, |_| true);
                    }
                }
                Op::Sync { .. } | Op::SyncFolder | Op::FailedSync { .. } => {}
            }
        }
        content
    }
}

/// Does to the content what the operation did, in those sectors of a write that are `kept`.
fn apply(content: &mut Option<Vec<u8>>, op: &Op, mut kept: impl FnMut(usize) -> bool) {
    match op {
        Op::Create { .. } => *content = Some(Vec::new()),
        Op::Delete { .. } => *content = None,
        Op::Truncate { size, .. } => {
            if let Some(content) = content {
                content.resize(*size, 0);
            }
        }
        Op::Write { at, bytes, .. } => {
            let Some(content) = content else { return };
            let (mut from, end) = (*at, at + bytes.len());
            while from < end {
                let to = end.min((from / SECTOR + 1) * SECTOR);
                if kept(from / SECTOR) {
                    content.resize(content.len().max(to), 0);
                    content[from..to].copy_from_slice(&bytes[from - at..to - at]);
                }
                from = to;
            }
        }
        Op::Sync { .. } | Op::SyncFolder | Op::FailedSync { .. } => {}
    }
}

/// Puts the files into a folder, which has nothing else of this database afterwards.
///
/// # Errors
/// The folder cannot be written.
pub fn lay_out(folder: &Path, names: &[String], image: &Image) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::remove_file(entry.path())?;
        }
    }
    for (name, content) in names.iter().zip(image) {
        if let Some(content) = content {
            fs::write(folder.join(name), content)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(at: usize, bytes: &[u8]) -> Op {
        Op::Write { file: 0, at, bytes: bytes.to_vec() }
    }

    fn left(log: &[Op], loss: Loss, seed: u64) -> Option<Vec<u8>> {
        let mut cursor = Cursor::new(log, 1);
        cursor.advance_to(log.len());
        cursor.image(loss, &Chance::new(seed)).remove(0)
    }

    const CREATE: Op = Op::Create { file: 0 };
    const SYNC: Op = Op::Sync { file: 0 };

    #[test]
    fn what_was_synced_is_always_there_and_the_rest_may_be() {
        let log = [CREATE, write(0, b"old"), SYNC, write(0, b"new"), write(3, b"er")];
        assert_eq!(left(&log, Loss::Nothing, 0).unwrap(), b"newer");
        assert_eq!(left(&log, Loss::Everything, 0).unwrap(), b"old");
        let mut found: Vec<_> = (0..200).map(|seed| left(&log, Loss::Some, seed).unwrap()).collect();
        found.sort();
        found.dedup();
        assert_eq!(found, [&b"new"[..], b"newer", b"old", b"older"]);
    }

    #[test]
    fn a_torn_write_keeps_whole_sectors_and_harms_none_beside_it() {
        let log = [CREATE, write(0, &[1; 2 * SECTOR]), SYNC, write(SECTOR - 2, &[2; 4])];
        let mut found: Vec<_> = (0..200)
            .map(|seed| left(&log, Loss::Torn, seed).unwrap()[SECTOR - 3..SECTOR + 3].to_vec())
            .collect();
        found.sort();
        found.dedup();
        let torn = [[1, 1, 1, 1, 1, 1], [1, 1, 1, 2, 2, 1], [1, 2, 2, 1, 1, 1], [1, 2, 2, 2, 2, 1]];
        assert_eq!(found, torn);
    }

    #[test]
    fn a_deletion_that_was_lost_takes_the_new_file_of_that_name_with_it() {
        let log = [CREATE, write(0, b"old"), SYNC, Op::Delete { file: 0 }, CREATE, write(0, b"new")];
        let mut found: Vec<_> = (0..200).map(|seed| left(&log, Loss::Some, seed)).collect();
        found.sort();
        found.dedup();
        assert_eq!(found, [None, Some(Vec::new()), Some(b"new".to_vec()), Some(b"old".to_vec())]);
    }

    #[test]
    fn a_sync_of_the_folder_makes_its_names_certain_and_no_content() {
        let log = [
            CREATE,
            write(0, b"old"),
            SYNC,
            Op::Delete { file: 0 },
            CREATE,
            write(0, b"new"),
            Op::SyncFolder,
        ];
        let mut found: Vec<_> = (0..200).map(|seed| left(&log, Loss::Some, seed)).collect();
        found.sort();
        found.dedup();
        assert_eq!(found, [Some(Vec::new()), Some(b"new".to_vec())]);
    }

    #[test]
    fn what_a_failed_sync_covered_is_not_saved_by_the_next_one() {
        let log = [CREATE, SYNC, write(0, b"one"), Op::FailedSync { file: 0 }, write(3, b"two"), SYNC];
        assert_eq!(left(&log, Loss::Everything, 0).unwrap(), b"\0\0\0two");
        let again = [&log[..4], &[write(0, b"one"), SYNC]].concat();
        assert_eq!(left(&again, Loss::Everything, 0).unwrap(), b"one", "unless it is written again");
    }
}
