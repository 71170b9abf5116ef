//! Room on the disk: how much there is, and a piece of it that is kept for the day that it runs out.
//!
//! A till without room must still send, settle and ask what it sold before. So a file of real blocks lies in the data
//! folder; it is given up when room runs out, and made again when there is plenty. Invariant: no ticket is begun on a
//! disk that could not take its answer: selling needs the reserve whole and [`LOW_BYTES`] beside it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const FILE_NAME: &str = "room.reserve";
/// The log may grow to 32 MiB before it is written back to the database, and a sale that is claimed, settled and
/// audited adds less than 1 KiB to that: the second half is for some 30 000 of them.
pub const RESERVE_BYTES: u64 = 64 * 1024 * 1024;
/// What selling itself may write before anybody looks again: once the log's 32 MiB.
pub const LOW_BYTES: u64 = 32 * 1024 * 1024;
/// The reserve is made again when as much is free beside it as twice what would take it away: selling that comes back
/// and goes with every other ticket is worse than selling that stays away.
pub const AGAIN_BYTES: u64 = RESERVE_BYTES + 2 * LOW_BYTES;
/// What is written at once where a file system cannot simply be asked for blocks.
const PIECE_BYTES: usize = 1024 * 1024;

/// The medium of a folder.
pub trait Disk: Send + Sync + 'static {
    /// Bytes that this program may still write there.
    ///
    /// # Errors
    /// Nobody can say.
    fn free(&self, folder: &Path) -> io::Result<u64>;

    /// How large the file is; 0 without one.
    fn size(&self, file: &Path) -> u64;

    /// Makes a file of so many bytes whose blocks are really taken.
    ///
    /// # Errors
    /// There is no such file afterwards.
    fn allocate(&self, file: &Path, bytes: u64) -> io::Result<()>;

    /// Gives the blocks of a file back.
    ///
    /// # Errors
    /// They are still taken.
    fn release(&self, file: &Path) -> io::Result<()>;
}

pub type SharedDisk = Arc<dyn Disk>;

/// The machine's own disks.
#[derive(Debug, Default)]
pub struct SystemDisk;

impl Disk for SystemDisk {
    #[cfg(unix)]
    fn free(&self, folder: &Path) -> io::Result<u64> {
        let found = rustix::fs::statvfs(folder)?;
        Ok(found.f_bavail.saturating_mul(found.f_frsize))
    }

    #[cfg(not(unix))]
    fn free(&self, _folder: &Path) -> io::Result<u64> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn size(&self, file: &Path) -> u64 {
        fs::metadata(file).map_or(0, |found| found.len())
    }

    fn allocate(&self, file: &Path, bytes: u64) -> io::Result<()> {
        let made = File::create(file).and_then(|open| {
            take_blocks(&open, bytes)?;
            open.sync_all()
        });
        // A part of it would only make the room smaller still.
        made.inspect_err(|_| drop(fs::remove_file(file)))
    }

    fn release(&self, file: &Path) -> io::Result<()> {
        match fs::remove_file(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}

fn take_blocks(file: &File, bytes: u64) -> io::Result<()> {
    #[cfg(unix)]
    match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, bytes).map_err(io::Error::from)
    {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
        taken => return taken,
    }
    fill(file, bytes)
}

/// Zeros that are written are blocks as well; a length that is merely set would be a hole.
fn fill(mut file: &File, bytes: u64) -> io::Result<()> {
    let piece = vec![0; PIECE_BYTES];
    let mut left = bytes;
    while left > 0 {
        let length = usize::try_from(left).map_or(PIECE_BYTES, |left| left.min(PIECE_BYTES));
        file.write_all(&piece[..length])?;
        left -= u64::try_from(length).expect("a piece is small");
    }
    Ok(())
}

/// A disk that nobody fills and that costs nothing: for tests and simulations.
#[derive(Debug, Default)]
pub struct Ample;

impl Disk for Ample {
    fn free(&self, _folder: &Path) -> io::Result<u64> {
        Ok(u64::MAX)
    }

    fn size(&self, _file: &Path) -> u64 {
        u64::MAX
    }

    fn allocate(&self, _file: &Path, _bytes: u64) -> io::Result<()> {
        Ok(())
    }

    fn release(&self, _file: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// Whether a ticket may be begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    Enough,
    Low,
}

/// The piece of one folder's disk that is kept.
pub struct Reserve {
    disk: SharedDisk,
    folder: PathBuf,
    file: PathBuf,
    /// The file system cannot hold one for another reason than room; then what is free must do.
    impossible: AtomicBool,
}

impl Reserve {
    #[must_use]
    pub fn new(disk: SharedDisk, folder: PathBuf) -> Self {
        let file = folder.join(FILE_NAME);
        Self { disk, folder, file, impossible: AtomicBool::new(false) }
    }

    /// How things stand. Changes nothing and costs two questions to the file system.
    #[must_use]
    pub fn room(&self) -> Room {
        let whole = self.is_whole() || self.impossible.load(Ordering::Relaxed);
        if whole && self.free() >= LOW_BYTES { Room::Enough } else { Room::Low }
    }

    /// Gives the reserve up where room has run out, and makes it again where there is plenty.
    pub fn tend(&self) -> Room {
        let free = self.free();
        if self.is_whole() {
            if free < LOW_BYTES {
                tracing::error!(free, "the disk is nearly full: selling stops, what was sold goes on");
                self.give_up();
            }
        } else if free >= AGAIN_BYTES {
            self.make();
        }
        self.room()
    }

    /// SQLite found no room, or soon would.
    pub fn give_up(&self) {
        if let Err(error) = self.disk.release(&self.file) {
            tracing::error!(%error, "the reserve cannot be given up");
        }
    }

    fn make(&self) {
        let made = self.disk.allocate(&self.file, RESERVE_BYTES);
        let no_room = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
        let impossible = made.as_ref().is_err_and(|error| !no_room.contains(&error.kind()));
        self.impossible.store(impossible, Ordering::Relaxed);
        if let Err(error) = made {
            tracing::error!(%error, "no room can be kept in reserve");
        }
    }

    fn is_whole(&self) -> bool {
        self.disk.size(&self.file) >= RESERVE_BYTES
    }

    /// A file system that cannot say is one that SQLite will speak for.
    fn free(&self) -> u64 {
        self.disk.free(&self.folder).unwrap_or_else(|error| {
            tracing::debug!(%error, "nobody can say how much room there is");
            u64::MAX
        })
    }
}

#[cfg(test)]
mod tests;
