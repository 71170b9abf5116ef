//! The conversation with a printer: is there paper, here is the ticket, is it done. A printer that does not answer is
//! printed on all the same; one that does is believed.
//!
//! Invariant: from the ticket's first byte on, a failure is *unclear* and never *not printed*.

use std::io;
use std::time::{Duration, Instant};

use super::{Failure, Limits, Outcome, Trouble};

/// `DLE EOT 4`, the paper's sensor, answered at once.
const ASK_PAPER: &[u8] = &[0x10, 4, 4];
/// `DLE EOT 2`, why it does not print.
const ASK_OFFLINE: &[u8] = &[0x10, 4, 2];
/// `GS r 1`, answered when everything before it was printed.
const ASK_DONE: &[u8] = &[0x1d, b'r', 1];

/// Something that takes bytes and may answer.
pub(super) trait Wire {
    fn can_answer(&self) -> bool;
    /// Some of the bytes, within the time.
    fn send(&mut self, bytes: &[u8], within: Duration) -> io::Result<usize>;
    /// One byte, within the time.
    fn receive(&mut self, within: Duration) -> io::Result<u8>;
}

pub(super) fn print(printer: &mut impl Wire, bytes: &[u8], limits: &Limits) -> Outcome {
    let can_answer = match ready(printer, limits) {
        Ok(can_answer) => can_answer,
        Err(trouble) => return Outcome::NotPrinted(trouble),
    };
    if let Err((sent, error)) = send_all(printer, bytes, limits) {
        let trouble = Trouble::of(&error);
        return if sent == 0 { Outcome::NotPrinted(trouble) } else { Outcome::Unclear(trouble) };
    }
    if !can_answer {
        return Outcome::Printed;
    }
    match done(printer, limits) {
        Ok(()) => Outcome::Printed,
        Err(trouble) => Outcome::Unclear(trouble),
    }
}

/// Whether the printer answers, and has paper if it does.
fn ready(printer: &mut impl Wire, limits: &Limits) -> Result<bool, Trouble> {
    if !printer.can_answer() {
        return Ok(false);
    }
    let Some(paper) = ask(printer, ASK_PAPER, limits)? else { return Ok(false) };
    if is_out_of_paper(paper) {
        return Err(Trouble::new(Failure::NoPaper, "the paper's sensor"));
    }
    match ask(printer, ASK_OFFLINE, limits)? {
        Some(cause) if is_open(cause) => Err(Trouble::new(Failure::NoPaper, "the lid is open")),
        Some(_) | None => Ok(true),
    }
}

/// Waits for the answer that comes behind the ticket. Some printers know the questions of before and not this one: if
/// they have paper and are closed when the time is over, nothing speaks against the ticket.
fn done(printer: &mut impl Wire, limits: &Limits) -> Result<(), Trouble> {
    if let Err((_, error)) = send_all(printer, ASK_DONE, limits) {
        return Err(Trouble::of(&error));
    }
    let deadline = Instant::now() + limits.finish;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        match printer.receive(left) {
            // Bits 4 and 7 are never set in this answer; they tell it from the others.
            Ok(byte) if byte & 0x90 == 0 => return Ok(()),
            Ok(_) => {}
            Err(error) if is_late(&error) => break,
            Err(error) => return Err(Trouble::of(&error)),
        }
    }
    match ready(printer, limits)? {
        true => Ok(()),
        false => Err(Trouble::new(Failure::NoAnswer, "no word that it is done")),
    }
}

/// An answer about the printer's state, if it gives one in time.
fn ask(printer: &mut impl Wire, question: &[u8], limits: &Limits) -> Result<Option<u8>, Trouble> {
    send_all(printer, question, limits).map_err(|(_, error)| Trouble::of(&error))?;
    match printer.receive(limits.status) {
        // Bits 1 and 4 are always set, 0 and 7 never: anything else is not a state.
        Ok(byte) => Ok(Some(byte).filter(|byte| byte & 0x93 == 0x12)),
        Err(error) if is_late(&error) => Ok(None),
        Err(error) => Err(Trouble::of(&error)),
    }
}

fn is_out_of_paper(state: u8) -> bool {
    state & 0x60 != 0
}

/// The lid is open, or it stopped at the paper's end.
fn is_open(state: u8) -> bool {
    state & 0x24 != 0
}

fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// How many bytes had left when it failed.
fn send_all(printer: &mut impl Wire, bytes: &[u8], limits: &Limits) -> Result<(), (usize, io::Error)> {
    let mut sent = 0;
    while sent < bytes.len() {
        match printer.send(&bytes[sent..], limits.write) {
            Ok(0) => return Err((sent, io::ErrorKind::WriteZero.into())),
            Ok(more) => sent += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err((sent, error)),
        }
    }
    Ok(())
}
