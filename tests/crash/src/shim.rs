//! A file system for SQLite that does what the default one does and tells the folder's [`Disk`] about it.
//!
//! It is registered as the process's default, so whoever opens a database goes through it without knowing. Files in
//! folders that nobody watches are passed on untouched. Invariant: a call that the disk refuses does not reach the
//! file (or half of it, when that is the fault), and a call that succeeded is noted before it returns.
#![expect(unsafe_code, reason = "SQLite's file systems are tables of C functions")]

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use rusqlite::ffi::{self, sqlite3_file, sqlite3_int64, sqlite3_vfs};

use crate::disk::{Call, Disk, Op, Refusal, Weakness};

/// Of an open file, what SQLite allocates for us. The default file system's own part begins right behind it.
#[repr(C)]
struct File {
    base: sqlite3_file,
    /// A box, or null in a folder that nobody watches.
    watched: *mut Watched,
}

struct Watched {
    disk: Arc<Disk>,
    number: usize,
    /// A log or journal that was made just now: its first sync is one of the folder too.
    names_the_folder: AtomicBool,
}

/// The kinds of file after whose creation SQLite syncs the folder.
const LOGS: c_int = ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_WAL;

/// Calls a function of the default file system's part of a file.
macro_rules! pass {
    ($file:ident.$method:ident($($argument:expr),*)) => {{
        let below = below($file);
        // SAFETY: `open` succeeded, so the part below is an open file with all methods of its version.
        unsafe {
            let methods = &*(*below).pMethods;
            methods.$method.expect("the default file system has every method")(below $(, $argument)*)
        }
    }};
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    // Without memory-mapped reads and writes, which would go past us.
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// Makes it the process's default file system, once.
pub fn install() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        // SAFETY: SQLite's own tables live for ever and so does the leaked copy. What is not replaced in it are
        // functions that look at no part of the table which the copy changes.
        unsafe {
            assert_eq!(ffi::sqlite3_initialize(), ffi::SQLITE_OK);
            let default = ffi::sqlite3_vfs_find(ptr::null());
            let mut own = *default;
            let part = c_int::try_from(size_of::<File>()).expect("a few bytes");
            own.szOsFile += part;
            own.pNext = ptr::null_mut();
            own.zName = c"turno-watched".as_ptr();
            own.pAppData = default.cast();
            own.xOpen = Some(open);
            own.xDelete = Some(delete);
            assert_eq!(ffi::sqlite3_vfs_register(Box::leak(Box::new(own)), 1), ffi::SQLITE_OK);
        }
    });
}

fn below(file: *mut sqlite3_file) -> *mut sqlite3_file {
    file.cast::<u8>().wrapping_add(size_of::<File>()).cast()
}

fn default_of(vfs: *mut sqlite3_vfs) -> *mut sqlite3_vfs {
    // SAFETY: SQLite hands our functions the table that `install` registered.
    unsafe { (*vfs).pAppData.cast() }
}

fn watched<'a>(file: *mut sqlite3_file) -> Option<&'a Watched> {
    // SAFETY: SQLite hands our functions files that `open` made and `close` has not ended.
    unsafe { (*file.cast::<File>()).watched.as_ref() }
}

/// The watched disk that a path is on. Temporary files have no name.
fn disk_of<'a>(name: *const c_char) -> Option<(Arc<Disk>, &'a Path)> {
    if name.is_null() {
        return None;
    }
    // SAFETY: SQLite's names end with a zero and outlive the call.
    let path = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(name) }.to_bytes()));
    Some((Disk::of(path)?, path))
}

unsafe extern "C" fn open(
    vfs: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    let own = file.cast::<File>();
    // SAFETY: SQLite allocated `szOsFile` bytes. Without methods it will not close what was not opened.
    unsafe { own.write(File { base: sqlite3_file { pMethods: ptr::null() }, watched: ptr::null_mut() }) };
    let disk = disk_of(name);
    let is_new = disk.as_ref().is_some_and(|(_, path)| !path.exists());
    if let Some(Err(Refusal { code, .. })) = disk.as_ref().map(|(disk, _)| disk.admit(Call::Open)) {
        return code;
    }
    let default = default_of(vfs);
    // SAFETY: the default file system's function with its own table and its own part of the file.
    let opened =
        unsafe { (*default).xOpen.expect("every file system opens")(default, name, below(file), flags, out) };
    if opened != ffi::SQLITE_OK {
        return opened;
    }
    let watched = disk.map_or(ptr::null_mut(), |(disk, path)| {
        let number = disk.number(path);
        if is_new {
            disk.note(Op::Create { file: number });
        }
        let names_the_folder = AtomicBool::new(is_new && flags & LOGS != 0);
        Box::into_raw(Box::new(Watched { disk, number, names_the_folder }))
    });
    // SAFETY: as above; from here on SQLite calls our methods.
    unsafe { own.write(File { base: sqlite3_file { pMethods: &raw const METHODS }, watched }) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn delete(vfs: *mut sqlite3_vfs, name: *const c_char, sync_folder: c_int) -> c_int {
    let disk = disk_of(name);
    if let Some(Err(Refusal { code, .. })) = disk.as_ref().map(|(disk, _)| disk.admit(Call::Delete)) {
        return code;
    }
    let default = default_of(vfs);
    // SAFETY: the default file system's function with its own table.
    let code = unsafe { (*default).xDelete.expect("every file system deletes")(default, name, sync_folder) };
    if let (ffi::SQLITE_OK, Some((disk, path))) = (code, disk) {
        let file = disk.number(path);
        disk.note(Op::Delete { file });
        if sync_folder != 0 {
            disk.note(Op::SyncFolder);
        }
    }
    code
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    let code = pass!(file.xClose());
    // SAFETY: the box was made by `open`, and SQLite closes a file once.
    unsafe {
        let own = file.cast::<File>();
        if !(*own).watched.is_null() {
            drop(Box::from_raw((*own).watched));
            (*own).watched = ptr::null_mut();
        }
    }
    code
}

unsafe extern "C" fn read(
    file: *mut sqlite3_file,
    to: *mut c_void,
    length: c_int,
    at: sqlite3_int64,
) -> c_int {
    if let Some(Err(refusal)) = watched(file).map(|watched| watched.disk.admit(Call::Read)) {
        return refusal.code;
    }
    pass!(file.xRead(to, length, at))
}

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    from: *const c_void,
    length: c_int,
    at: sqlite3_int64,
) -> c_int {
    let Some(watched) = watched(file) else { return pass!(file.xWrite(from, length, at)) };
    let (length, answer) = match watched.disk.admit(Call::Write) {
        Ok(()) => (length, ffi::SQLITE_OK),
        Err(Refusal { code, half_done: true }) => (length / 2, code),
        Err(Refusal { code, half_done: false }) => return code,
    };
    let code = pass!(file.xWrite(from, length, at));
    if code != ffi::SQLITE_OK {
        return code;
    }
    // SAFETY: SQLite hands over so many bytes.
    let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), offset(length.into())) };
    watched.disk.note(Op::Write { file: watched.number, at: offset(at), bytes: bytes.to_vec() });
    answer
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, size: sqlite3_int64) -> c_int {
    let Some(watched) = watched(file) else { return pass!(file.xTruncate(size)) };
    if let Err(refusal) = watched.disk.admit(Call::Truncate) {
        return refusal.code;
    }
    let code = pass!(file.xTruncate(size));
    if code == ffi::SQLITE_OK {
        watched.disk.note(Op::Truncate { file: watched.number, size: offset(size) });
    }
    code
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, flags: c_int) -> c_int {
    let Some(watched) = watched(file) else { return pass!(file.xSync(flags)) };
    if let Err(refusal) = watched.disk.admit(Call::Sync) {
        watched.disk.note(Op::FailedSync { file: watched.number });
        return refusal.code;
    }
    let code = pass!(file.xSync(flags));
    if code == ffi::SQLITE_OK {
        watched.disk.note(Op::Sync { file: watched.number });
        if watched.names_the_folder.swap(false, Ordering::Relaxed) {
            watched.disk.note(Op::SyncFolder);
        }
    }
    code
}

/// SQLite tells the file system of every pragma before it acts on it, and takes its answer if there is one.
unsafe extern "C" fn file_control(file: *mut sqlite3_file, op: c_int, argument: *mut c_void) -> c_int {
    if op == ffi::SQLITE_FCNTL_PRAGMA
        && let Some(weakness) = watched(file).and_then(|watched| watched.disk.weakness())
    {
        let words = argument.cast::<*mut c_char>();
        // SAFETY: the argument is an array of an answer, the pragma's name and its value, which is null when the
        // pragma is read. The value is SQLite's own copy of at least four letters (FULL) when it is set.
        unsafe {
            let (name, value) = (*words.add(1), *words.add(2));
            if CStr::from_ptr(name).to_bytes().eq_ignore_ascii_case(b"synchronous") {
                if value.is_null() {
                    *words = ffi::sqlite3_mprintf(c"2".as_ptr());
                    return ffi::SQLITE_OK;
                }
                if CStr::from_ptr(value).to_bytes() == b"FULL" {
                    let level = match weakness {
                        Weakness::Normal => b'1',
                        Weakness::Off => b'0',
                    };
                    value.cast::<u8>().write(level);
                    value.add(1).write(0);
                }
            }
        }
    }
    pass!(file.xFileControl(op, argument))
}

unsafe extern "C" fn shm_map(
    file: *mut sqlite3_file,
    page: c_int,
    size: c_int,
    extend: c_int,
    to: *mut *mut c_void,
) -> c_int {
    if let Some(Err(refusal)) = watched(file).map(|watched| watched.disk.admit(Call::Map)) {
        return refusal.code;
    }
    pass!(file.xShmMap(page, size, extend, to))
}

unsafe extern "C" fn file_size(file: *mut sqlite3_file, to: *mut sqlite3_int64) -> c_int {
    pass!(file.xFileSize(to))
}

unsafe extern "C" fn lock(file: *mut sqlite3_file, level: c_int) -> c_int {
    pass!(file.xLock(level))
}

unsafe extern "C" fn unlock(file: *mut sqlite3_file, level: c_int) -> c_int {
    pass!(file.xUnlock(level))
}

unsafe extern "C" fn check_reserved_lock(file: *mut sqlite3_file, to: *mut c_int) -> c_int {
    pass!(file.xCheckReservedLock(to))
}

unsafe extern "C" fn sector_size(file: *mut sqlite3_file) -> c_int {
    pass!(file.xSectorSize())
}

unsafe extern "C" fn device_characteristics(file: *mut sqlite3_file) -> c_int {
    pass!(file.xDeviceCharacteristics())
}

unsafe extern "C" fn shm_lock(file: *mut sqlite3_file, from: c_int, count: c_int, flags: c_int) -> c_int {
    pass!(file.xShmLock(from, count, flags))
}

unsafe extern "C" fn shm_barrier(file: *mut sqlite3_file) {
    pass!(file.xShmBarrier());
}

unsafe extern "C" fn shm_unmap(file: *mut sqlite3_file, delete: c_int) -> c_int {
    pass!(file.xShmUnmap(delete))
}

fn offset(value: i64) -> usize {
    usize::try_from(value).expect("SQLite's offsets and sizes are not negative")
}
