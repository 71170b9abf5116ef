//! Device files and plain files. Invariant: a device file is never waited for without a deadline, a serial line changes
//! no byte on its way, and a plain file's old content stays.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::termios::{OptionalActions, isatty, tcgetattr, tcsetattr};

use super::talk::Wire;
use super::{Failure, Limits, Outcome, Trouble};

pub(super) struct DeviceFile {
    file: File,
    can_answer: bool,
}

pub(super) fn open_device(path: &str, _limits: &Limits) -> Result<DeviceFile, Trouble> {
    let trouble = |error: io::Error| Trouble::of(&error);
    let kind = std::fs::metadata(path).map_err(trouble)?.file_type();
    if kind.is_file() || kind.is_dir() {
        return Err(Trouble::new(Failure::WrongName, "this is not a device"));
    }
    // What is no device but a pipe would give back what was written into it.
    let can_answer = kind.is_char_device();
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut options = OpenOptions::new();
    options.write(true).read(can_answer).custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    let file = options.open(path).map_err(trouble)?;
    if isatty(&file) {
        // Otherwise the system would put a return before every line feed, also within a picture.
        let mut line = tcgetattr(&file).map_err(|error| Trouble::of(&error.into()))?;
        line.make_raw();
        tcsetattr(&file, OptionalActions::Now, &line).map_err(|error| Trouble::of(&error.into()))?;
    }
    Ok(DeviceFile { file, can_answer })
}

impl DeviceFile {
    fn wait(&self, wanted: PollFlags, within: Duration) -> io::Result<()> {
        let within = Timespec::try_from(within).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        let mut waiting = [PollFd::new(&self.file, wanted)];
        match poll(&mut waiting, Some(&within)) {
            Ok(0) => Err(io::ErrorKind::TimedOut.into()),
            Ok(_) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Wire for DeviceFile {
    fn can_answer(&self) -> bool {
        self.can_answer
    }

    fn send(&mut self, bytes: &[u8], within: Duration) -> io::Result<usize> {
        self.wait(PollFlags::OUT, within)?;
        self.file.write(bytes)
    }

    fn receive(&mut self, within: Duration) -> io::Result<u8> {
        self.wait(PollFlags::IN, within)?;
        let mut byte = [0];
        match self.file.read(&mut byte)? {
            // A device that has nothing to say ends at once.
            0 => Err(io::ErrorKind::TimedOut.into()),
            _ => Ok(byte[0]),
        }
    }
}

pub(super) fn append(path: &str, bytes: &[u8]) -> Result<Outcome, Trouble> {
    let mut file =
        OpenOptions::new().append(true).create(true).open(path).map_err(|error| Trouble::of(&error))?;
    Ok(match file.write_all(bytes).and_then(|()| file.sync_all()) {
        Ok(()) => Outcome::Printed,
        Err(error) => Outcome::Unclear(Trouble::of(&error)),
    })
}
