//! A printer for tests: it listens on a port of its own, reads ESC/POS, and has the faults that printers have.
//!
//! Invariant: what is on its paper is what the bytes say, read back by the code page that they chose.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use crate::paper::{Printed, Reader};

/// What the printer does about the next job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mood {
    /// Prints and answers questions.
    #[default]
    Works,
    /// Prints, and never says a word, as cheap printers do.
    Mute,
    NoPaper,
    LidOpen,
    /// Is there, says that all is well, and prints nothing.
    TakesNothing,
    /// Is gone after so many lines.
    VanishesAfter(usize),
    /// Takes the paper's first lines and then nothing more: the paper ended.
    PaperEndsAfter(usize),
}

#[derive(Debug, Default)]
struct State {
    mood: Mood,
    paper: Vec<Printed>,
}

pub struct Printer {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Printer {
    /// # Panics
    /// If the machine has no port on its loopback address.
    #[must_use]
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("a bound listener has an address");
        let state = Arc::new(Mutex::new(State::default()));
        let printer = Self { address, state: Arc::clone(&state) };
        // It ends with the test's process; a printer takes one job after the other.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                serve(stream, &state);
            }
        });
        printer
    }

    #[must_use]
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    pub fn set(&self, mood: Mood) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).mood = mood;
    }

    /// Everything on the paper since it was last torn off.
    #[must_use]
    pub fn paper(&self) -> Vec<Printed> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).paper.clone()
    }

    /// The lines of text on the paper.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.paper().iter().filter_map(Printed::text).map(str::to_owned).collect()
    }

    /// How many tickets were cut off.
    #[must_use]
    pub fn cuts(&self) -> usize {
        self.paper().iter().filter(|printed| **printed == Printed::Cut).count()
    }

    pub fn tear_off(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).paper.clear();
    }
}

/// One connection, until it ends or the mood ends it.
fn serve(mut stream: TcpStream, state: &Mutex<State>) {
    let (mut reader, mut lines, mut buffer) = (Reader::default(), 0, [0; 512]);
    loop {
        let Ok(count @ 1..) = stream.read(&mut buffer) else { return };
        for printed in reader.read(&buffer[..count]) {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let mood = state.mood;
            let answer = match printed {
                Printed::StatusAsked(asked) => status(mood, asked, lines),
                Printed::PaperAsked => (mood != Mood::Mute && !has_ended(mood, lines)).then_some(0),
                Printed::Line { .. } | Printed::Picture { .. } | Printed::Qr(_) | Printed::Cut
                    if has_ended(mood, lines) =>
                {
                    lines += 1;
                    None
                }
                printed @ (Printed::Line { .. }
                | Printed::Picture { .. }
                | Printed::Qr(_)
                | Printed::Cut
                | Printed::DrawerOpened
                | Printed::Unknown(_)) => {
                    lines += usize::from(printed.text().is_some());
                    state.paper.push(printed);
                    None
                }
            };
            drop(state);
            if matches!(mood, Mood::VanishesAfter(last) if lines >= last) {
                return;
            }
            if let Some(answer) = answer
                && stream.write_all(&[answer]).is_err()
            {
                return;
            }
        }
    }
}

fn has_ended(mood: Mood, lines: usize) -> bool {
    match mood {
        Mood::PaperEndsAfter(last) => lines >= last,
        Mood::NoPaper | Mood::LidOpen | Mood::TakesNothing => true,
        Mood::Works | Mood::Mute | Mood::VanishesAfter(_) => false,
    }
}

/// The answer to `DLE EOT n`.
fn status(mood: Mood, asked: u8, lines: usize) -> Option<u8> {
    const WELL: u8 = 0x12;
    match (mood, asked) {
        (Mood::Mute, _) => None,
        // It answers before the ticket, and from its first line on no more.
        (Mood::TakesNothing, _) => (lines == 0).then_some(WELL),
        (Mood::NoPaper, 4) => Some(WELL | 0x60),
        (Mood::LidOpen, 2) => Some(WELL | 0x04),
        (Mood::PaperEndsAfter(last), 4) if lines >= last => Some(WELL | 0x60),
        (
            Mood::Works | Mood::NoPaper | Mood::LidOpen | Mood::PaperEndsAfter(_) | Mood::VanishesAfter(_),
            _,
        ) => Some(WELL),
    }
}
