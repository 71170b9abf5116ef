//! Device files and plain files where the system has no deadlines for them. Invariant: as on other systems, but a device
//! is not asked for its state.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::time::Duration;

use super::talk::Wire;
use super::{Limits, Outcome, Trouble};

pub(super) struct DeviceFile(std::fs::File);

pub(super) fn open_device(path: &str, _limits: &Limits) -> Result<DeviceFile, Trouble> {
    OpenOptions::new().write(true).open(path).map(DeviceFile).map_err(|error| Trouble::of(&error))
}

impl Wire for DeviceFile {
    fn can_answer(&self) -> bool {
        false
    }

    fn send(&mut self, bytes: &[u8], _within: Duration) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn receive(&mut self, _within: Duration) -> io::Result<u8> {
        Err(io::ErrorKind::Unsupported.into())
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
