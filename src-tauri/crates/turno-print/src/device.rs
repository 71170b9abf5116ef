//! Where the bytes go: a printer in the network, a device file, or a plain file.
//!
//! Every call ends within its limits and says what is known about the paper: all of it is printed, none of it is, or
//! nobody can tell. Invariant: *not printed* is only said when no byte of the ticket has left.

use std::io;
use std::time::Duration;

mod address;
#[cfg(unix)]
mod file;
mod network;
mod talk;

pub use address::{AddressError, PORT};

#[cfg(not(unix))]
#[path = "device/plain.rs"]
mod file;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Device {
    /// `192.168.1.50`, `cocina.local:9101`: ESC/POS over TCP, port 9100 unless it says another.
    Network { address: String },
    /// `/dev/usb/lp0`, `/dev/ttyUSB0`.
    DeviceFile { path: String },
    /// Each ticket is written behind the last one.
    File { path: String },
}

/// What a person can do something about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Off, unplugged, or out of reach.
    NoPrinter,
    /// No paper, or the lid is open.
    NoPaper,
    /// It is there and takes nothing.
    NoAnswer,
    /// There is nothing of this name or address.
    WrongName,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{failure:?}: {detail}")]
pub struct Trouble {
    pub failure: Failure,
    /// For support: what the system or the printer said.
    pub detail: String,
}

impl Trouble {
    fn new(failure: Failure, detail: impl Into<String>) -> Self {
        Self { failure, detail: detail.into() }
    }

    /// What a system's error means for somebody who stands in front of a printer.
    fn of(error: &io::Error) -> Self {
        use io::ErrorKind::{
            InvalidFilename, InvalidInput, IsADirectory, NotADirectory, NotFound, TimedOut, WouldBlock,
        };
        let kind = error.kind();
        let failure = if matches!(kind, TimedOut | WouldBlock) {
            Failure::NoAnswer
        } else if matches!(kind, NotFound | InvalidInput | InvalidFilename | IsADirectory | NotADirectory) {
            Failure::WrongName
        } else {
            Failure::NoPrinter
        };
        Self::new(failure, error.to_string())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Printed,
    /// The paper has nothing of it.
    NotPrinted(Trouble),
    /// Some of it left; how much is on the paper only a person can see.
    Unclear(Trouble),
}

/// How long a printer is waited for.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub connect: Duration,
    /// Without taking a single byte.
    pub write: Duration,
    /// For an answer about its state; many printers never give one.
    pub status: Duration,
    /// From the last byte until all of it is on the paper, if the printer can tell.
    pub finish: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(3),
            // A full buffer empties at the speed of the paper; a longer silence is a fault.
            write: Duration::from_secs(10),
            status: Duration::from_millis(700),
            finish: Duration::from_secs(15),
        }
    }
}

impl Device {
    /// Sends a job and waits until what can be known about it is known. Blocks the thread.
    #[must_use]
    pub fn print(&self, bytes: &[u8], limits: &Limits) -> Outcome {
        let printed = match self {
            Self::Network { address } => network::open(address, limits).map(|mut printer| {
                let outcome = talk::print(&mut printer, bytes, limits);
                network::close(&printer, limits, outcome)
            }),
            Self::DeviceFile { path } => {
                file::open_device(path, limits).map(|mut printer| talk::print(&mut printer, bytes, limits))
            }
            Self::File { path } => file::append(path, bytes),
        };
        printed.unwrap_or_else(Outcome::NotPrinted)
    }
}

#[cfg(test)]
mod tests;
