//! What a printer makes of the bytes that it gets: for tests, and for a printer that is only a program.
//!
//! Invariant: it knows the commands that [`crate::escpos`] writes and a printer's questions, and nothing else: any other
//! byte is reported, so no text can slip a command through.

use crate::code_page::CodePage;

/// What came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Printed {
    Line {
        text: String,
        bold: bool,
        double: bool,
    },
    /// Dots wide and high.
    Picture {
        width: usize,
        height: usize,
    },
    Qr(String),
    Cut,
    DrawerOpened,
    /// `DLE EOT n`: asked at once, also in the middle of a job.
    StatusAsked(u8),
    /// `GS r 1`: asked when everything before it is on the paper.
    PaperAsked,
    /// A byte that no command begins with and no code page shows.
    Unknown(u8),
}

impl Printed {
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Line { text, .. } => Some(text),
            Self::Picture { .. }
            | Self::Qr(_)
            | Self::Cut
            | Self::DrawerOpened
            | Self::StatusAsked(_)
            | Self::PaperAsked
            | Self::Unknown(_) => None,
        }
    }
}

/// Reads bytes as they come; a command that is not complete waits for the rest.
#[derive(Debug)]
pub struct Reader {
    pending: Vec<u8>,
    page: CodePage,
    line: String,
    bold: bool,
    double: bool,
    qr: String,
}

impl Default for Reader {
    fn default() -> Self {
        let (pending, line, qr) = (Vec::new(), String::new(), String::new());
        Self { pending, page: CodePage::Pc850, line, bold: false, double: false, qr }
    }
}

/// How many bytes were used, and what they did.
type Step = Option<(usize, Option<Printed>)>;

impl Reader {
    /// What these bytes print, together with those that waited.
    pub fn read(&mut self, bytes: &[u8]) -> Vec<Printed> {
        self.pending.extend_from_slice(bytes);
        let pending = std::mem::take(&mut self.pending);
        let (mut printed, mut rest) = (Vec::new(), pending.as_slice());
        while let Some((used, done)) = self.step(rest) {
            printed.extend(done);
            rest = &rest[used..];
        }
        self.pending = rest.to_vec();
        printed
    }

    fn step(&mut self, bytes: &[u8]) -> Step {
        match *bytes {
            [] | [0x1b | 0x1c | 0x1d | 0x10] => None,
            [b'\n', ..] => {
                let text = std::mem::take(&mut self.line);
                Some((1, Some(Printed::Line { text, bold: self.bold, double: self.double })))
            }
            [0x1b, b'@', ..] => {
                let pending = std::mem::take(&mut self.pending);
                *self = Self { pending, ..Self::default() };
                Some((2, None))
            }
            [0x1c, b'.', ..] => Some((2, None)),
            [0x10, 4, ref rest @ ..] => rest.first().map(|asked| (3, Some(Printed::StatusAsked(*asked)))),
            [0x1b, command @ (b'R' | b't' | b'E' | b'a'), ref rest @ ..] => {
                self.set(command, *rest.first()?);
                Some((3, None))
            }
            [0x1b, b'p', ref rest @ ..] => (rest.len() >= 3).then_some((5, Some(Printed::DrawerOpened))),
            [0x1d, b'!', ref rest @ ..] => {
                self.double = *rest.first()? != 0;
                Some((3, None))
            }
            [0x1d, b'r', ref rest @ ..] => rest.first().map(|_| (3, Some(Printed::PaperAsked))),
            [0x1d, b'V', ref rest @ ..] => (rest.len() >= 2).then_some((4, Some(Printed::Cut))),
            [0x1d, b'v', ref rest @ ..] => picture(rest),
            [0x1d, b'(', ref rest @ ..] => self.qr_function(rest),
            [byte, ..] => Some((1, self.character(byte))),
        }
    }

    fn set(&mut self, command: u8, value: u8) {
        match command {
            b't' => self.page = CodePage::numbered(value).unwrap_or(self.page),
            b'E' => self.bold = value != 0,
            _ => {}
        }
    }

    fn character(&mut self, byte: u8) -> Option<Printed> {
        match self.page.decode(byte) {
            Some(shown) => {
                self.line.push(shown);
                None
            }
            None => Some(Printed::Unknown(byte)),
        }
    }

    /// `GS ( k`: a length, then the function.
    fn qr_function(&mut self, rest: &[u8]) -> Step {
        let [_, low, high, data @ ..] = rest else { return None };
        let length = usize::from(u16::from_le_bytes([*low, *high]));
        let function = data.get(..length)?;
        let done = match function {
            [_, 0x50, _, text @ ..] => {
                self.qr = String::from_utf8_lossy(text).into_owned();
                None
            }
            [_, 0x51, ..] => Some(Printed::Qr(std::mem::take(&mut self.qr))),
            _ => None,
        };
        Some((5 + length, done))
    }
}

/// `GS v 0`: the mode, bytes in a row, rows, and the dots.
fn picture(rest: &[u8]) -> Step {
    let [_, _, width_low, width_high, height_low, height_high, dots @ ..] = rest else { return None };
    let stride = usize::from(u16::from_le_bytes([*width_low, *width_high]));
    let height = usize::from(u16::from_le_bytes([*height_low, *height_high]));
    (dots.len() >= stride * height)
        .then_some((8 + stride * height, Some(Printed::Picture { width: stride * 8, height })))
}
