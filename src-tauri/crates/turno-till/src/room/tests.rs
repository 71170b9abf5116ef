use std::sync::Mutex;

use tempfile::TempDir;

use super::*;

const MIB: u64 = 1024 * 1024;

/// So much room without the reserve, and a way in which making it fails.
struct Small {
    room: Mutex<u64>,
    taken: Mutex<u64>,
    fails: Option<io::ErrorKind>,
}

impl Small {
    fn of(room: u64, fails: Option<io::ErrorKind>) -> Arc<Self> {
        Arc::new(Self { room: Mutex::new(room), taken: Mutex::new(0), fails })
    }

    fn becomes(&self, room: u64) {
        *self.room.lock().unwrap() = room;
    }

    fn holds_it(&self) -> bool {
        *self.taken.lock().unwrap() == RESERVE_BYTES
    }
}

impl Disk for Small {
    fn free(&self, _folder: &Path) -> io::Result<u64> {
        Ok(self.room.lock().unwrap().saturating_sub(*self.taken.lock().unwrap()))
    }

    fn size(&self, _file: &Path) -> u64 {
        *self.taken.lock().unwrap()
    }

    fn allocate(&self, _file: &Path, bytes: u64) -> io::Result<()> {
        match self.fails {
            Some(kind) => Err(kind.into()),
            None => {
                *self.taken.lock().unwrap() = bytes;
                Ok(())
            }
        }
    }

    fn release(&self, _file: &Path) -> io::Result<()> {
        *self.taken.lock().unwrap() = 0;
        Ok(())
    }
}

fn reserve(disk: &Arc<Small>) -> Reserve {
    Reserve::new(Arc::clone(disk) as SharedDisk, PathBuf::from("/till"))
}

#[test]
fn the_reserve_is_made_with_plenty_given_up_when_room_runs_out_and_made_again() {
    let disk = Small::of(10_000 * MIB, None);
    let reserve = reserve(&disk);
    assert_eq!(reserve.room(), Room::Low, "nothing is kept yet");
    assert_eq!((reserve.tend(), disk.holds_it()), (Room::Enough, true));
    for (room, expected, holds) in [
        (RESERVE_BYTES + LOW_BYTES, Room::Enough, true),
        (RESERVE_BYTES + LOW_BYTES - 1, Room::Low, false),
        // What was given up is not room to sell with.
        (RESERVE_BYTES + LOW_BYTES, Room::Low, false),
        (AGAIN_BYTES - 1, Room::Low, false),
        (AGAIN_BYTES, Room::Enough, true),
        (AGAIN_BYTES - 1, Room::Enough, true),
    ] {
        disk.becomes(room);
        assert_eq!((reserve.tend(), disk.holds_it()), (expected, holds), "{room} bytes");
        assert_eq!(reserve.room(), expected, "{room} bytes: nothing was left to be done");
    }
}

#[test]
fn a_look_alone_changes_nothing() {
    let disk = Small::of(10_000 * MIB, None);
    let reserve = reserve(&disk);
    reserve.tend();
    disk.becomes(0);
    assert_eq!((reserve.room(), disk.holds_it()), (Room::Low, true));
    disk.becomes(10_000 * MIB);
    assert_eq!((reserve.room(), disk.holds_it()), (Room::Enough, true));
}

#[test]
fn selling_stays_away_from_a_disk_whose_free_bytes_cannot_be_had() {
    for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
        let disk = Small::of(10_000 * MIB, Some(kind));
        assert_eq!(reserve(&disk).tend(), Room::Low, "{kind:?}");
    }
}

#[test]
fn a_file_system_that_cannot_keep_a_reserve_sells_while_there_is_room() {
    let disk = Small::of(10_000 * MIB, Some(io::ErrorKind::PermissionDenied));
    let reserve = reserve(&disk);
    assert_eq!(reserve.tend(), Room::Enough);
    disk.becomes(LOW_BYTES - 1);
    assert_eq!(reserve.tend(), Room::Low);
}

#[test]
fn a_real_reserve_is_real_blocks_and_gives_them_back() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join(FILE_NAME);
    for make in [
        |file: &Path| SystemDisk.allocate(file, 3 * MIB + 1),
        |file: &Path| {
            let open = File::create(file)?;
            fill(&open, 3 * MIB + 1)?;
            open.sync_all()
        },
    ] {
        make(&file).unwrap();
        assert_eq!(SystemDisk.size(&file), 3 * MIB + 1);
        #[cfg(unix)]
        {
            let blocks = std::os::unix::fs::MetadataExt::blocks(&fs::metadata(&file).unwrap());
            assert!(blocks * 512 > 3 * MIB, "a hole is no reserve: {blocks} blocks");
        }
        SystemDisk.release(&file).unwrap();
        SystemDisk.release(&file).unwrap();
        assert_eq!(SystemDisk.size(&file), 0);
    }
    assert!(SystemDisk.free(folder.path()).unwrap() > 0);
}

#[test]
fn a_reserve_that_does_not_fit_leaves_no_part_of_itself() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join(FILE_NAME);
    SystemDisk.allocate(&file, u64::MAX / 4).unwrap_err();
    assert!(!file.exists());
}
