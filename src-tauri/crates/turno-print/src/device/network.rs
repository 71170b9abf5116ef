//! A printer that listens in the network. Invariant: every address of a name is tried, and no step waits for ever.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::time::Duration;

use super::address;
use super::talk::Wire;
use super::{Failure, Limits, Outcome, Trouble};

/// Addresses of one name that are tried.
const ADDRESSES: usize = 4;

pub(super) fn open(typed: &str, limits: &Limits) -> Result<TcpStream, Trouble> {
    let unknown = |detail: String| Trouble::new(Failure::WrongName, detail);
    let (host, port) = address::parse(typed).map_err(|error| unknown(error.to_string()))?;
    let found = (host.as_str(), port).to_socket_addrs().map_err(|error| unknown(error.to_string()))?;
    let mut last = unknown(format!("{host} has no address"));
    for address in found.take(ADDRESSES) {
        match TcpStream::connect_timeout(&address, limits.connect) {
            Ok(stream) => {
                // A ticket is small: its last bytes must not wait for company.
                stream.set_nodelay(true).map_err(|error| Trouble::of(&error))?;
                return Ok(stream);
            }
            Err(error) => last = Trouble::of(&error),
        }
    }
    Err(last)
}

impl Wire for TcpStream {
    fn can_answer(&self) -> bool {
        true
    }

    fn send(&mut self, bytes: &[u8], within: Duration) -> io::Result<usize> {
        self.set_write_timeout(Some(within))?;
        self.write(bytes)
    }

    fn receive(&mut self, within: Duration) -> io::Result<u8> {
        self.set_read_timeout(Some(within))?;
        let mut byte = [0];
        match self.read(&mut byte)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(byte[0]),
        }
    }
}

/// Says goodbye and looks whether the other side had gone before it took everything: a write that succeeds only
/// reached our own system.
pub(super) fn close(printer: &TcpStream, limits: &Limits, outcome: Outcome) -> Outcome {
    if outcome != Outcome::Printed {
        return outcome;
    }
    let gone = printer.shutdown(Shutdown::Write).err().or_else(|| {
        printer.set_read_timeout(Some(limits.status)).ok()?;
        let rest = printer;
        // Answers that nobody asked for end here; a printer that keeps the line open is not waited for.
        io::copy(&mut rest.take(1024), &mut io::sink()).err().filter(|error| !is_patience_over(error))
    });
    match gone {
        None => Outcome::Printed,
        Some(error) => Outcome::Unclear(Trouble::of(&error)),
    }
}

fn is_patience_over(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
