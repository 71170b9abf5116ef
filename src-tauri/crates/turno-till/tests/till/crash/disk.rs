//! What is left when the machine dies: the files as they were, the log cut where the power went.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

/// What a machine that died would have left.
pub struct Disk {
    database: Vec<u8>,
    pub log: Vec<u8>,
}

impl Disk {
    pub fn of(folder: &Path) -> Self {
        Self {
            database: fs::read(folder.join("till.db")).unwrap(),
            log: fs::read(folder.join("till.db-wal")).unwrap(),
        }
    }

    pub fn cut(&self, log: usize, secrets: &[(OsString, Vec<u8>)]) -> TempDir {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("till.db"), &self.database).unwrap();
        fs::write(folder.path().join("till.db-wal"), &self.log[..log]).unwrap();
        fs::create_dir(folder.path().join("secrets")).unwrap();
        for (name, bytes) in secrets {
            fs::write(folder.path().join("secrets").join(name), bytes).unwrap();
        }
        folder
    }

    /// Where each commit ends in the log: behind a frame that names the size of the database (SQLite's file format, 4.1).
    pub fn commits(&self) -> Vec<usize> {
        const HEADER: usize = 32;
        const FRAME_HEADER: usize = 24;
        let word = |at: usize| u32::from_be_bytes(self.log[at..at + 4].try_into().unwrap());
        let frame = FRAME_HEADER + usize::try_from(word(8)).unwrap();
        let frames = (HEADER..).step_by(frame).take_while(|at| at + frame <= self.log.len());
        let frames: Vec<usize> = frames.collect();
        assert!(frames.iter().all(|at| word(at + 8) == word(16)), "the log began only once");
        frames.into_iter().filter(|at| word(at + 4) > 0).map(|at| at + frame).collect()
    }
}

/// The files of a folder, as they are now.
pub fn files_of(folder: &Path) -> Vec<(OsString, Vec<u8>)> {
    let files = fs::read_dir(folder).into_iter().flatten().map(|file| {
        let file = file.unwrap();
        (file.file_name(), fs::read(file.path()).unwrap())
    });
    files.collect()
}

/// What is on a disk, read past the till.
#[derive(Debug, PartialEq, Eq)]
pub struct Facts {
    pub sales: u32,
    pub sending: u32,
    pub attempts: u32,
    pub decisions: u32,
}

pub fn facts(folder: &Path) -> Facts {
    let file = rusqlite::Connection::open(folder.join("till.db")).unwrap();
    let count = |sql: &str| file.query_row(sql, [], |row| row.get(0)).unwrap();
    Facts {
        sales: count("SELECT count(*) FROM sales"),
        sending: count("SELECT count(*) FROM outbox WHERE state = 'sending'"),
        attempts: count("SELECT count(*) FROM attempts"),
        decisions: count("SELECT count(*) FROM questions WHERE state = 'decided'"),
    }
}

/// How often each word is in the audit, whose chain must hold.
pub fn audited(folder: &Path) -> BTreeMap<String, u32> {
    let file = rusqlite::Connection::open(folder.join("till.db")).unwrap();
    assert_eq!(turno_till::store::audit::first_broken(&file).unwrap(), None);
    let mut words = file.prepare("SELECT event, count(*) FROM audit GROUP BY event").unwrap();
    words.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().collect::<Result<_, _>>().unwrap()
}
