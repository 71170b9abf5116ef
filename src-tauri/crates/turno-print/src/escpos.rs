//! Rows as ESC/POS bytes. Invariant: every job sets up whatever it depends on and leaves the printer as it found it, and
//! texts are written byte by byte through the code page, so that none of them can be a command.

use crate::bitmap::Bitmap;
use crate::document::{Document, Size};
use crate::font;
use crate::layout::{Line, Row, rows};
use crate::profile::{Profile, QrBy};
use crate::qr::MODULE_DOTS;

/// Rows of dots in one picture command; more than a small printer's buffer is sent in pieces.
const BAND: usize = 128;
/// Lines from the print head to the edge where paper without a knife is torn.
const TEAR_LINES: usize = 4;

const INITIALISE: &[u8] = b"\x1b@";
/// Printers made for China start in a two-byte mode that eats every ñ.
const LEAVE_KANJI: &[u8] = b"\x1c.";
/// ASCII as it is, instead of a country's own `#`, `[` and `~`.
const PLAIN_ASCII: &[u8] = b"\x1bR\0";
const CHOOSE_CODE_PAGE: &[u8] = b"\x1bt";
const BOLD: &[u8] = b"\x1bE";
const SIZE: &[u8] = b"\x1d!";
const ALIGN: &[u8] = b"\x1ba";
const PICTURE: &[u8] = b"\x1dv0\0";
const QR: &[u8] = b"\x1d(k";
/// Feeds to the knife, then cuts all but a point.
const FEED_AND_CUT: &[u8] = b"\x1dVB\0";
/// Pin 2, 50 ms on and 500 ms off: what drawers are built for.
const DRAWER_PULSE: &[u8] = b"\x1bp\0\x19\xfa";

/// All that goes to the printer for a document.
#[must_use]
pub fn bytes(document: &Document, profile: &Profile) -> Vec<u8> {
    let mut out = [INITIALISE, LEAVE_KANJI, PLAIN_ASCII, CHOOSE_CODE_PAGE].concat();
    out.push(profile.code_page.number());
    for row in rows(document, profile) {
        match row {
            Row::Line(line) => write_line(&mut out, &line, profile),
            Row::Picture(picture) => write_picture(&mut out, &picture),
            Row::Qr { text, picture } => match (profile.qr, picture) {
                (QrBy::Printer, Some(_)) => write_qr(&mut out, &text),
                (QrBy::Picture, Some(picture)) => write_picture(&mut out, &picture),
                (QrBy::Printer | QrBy::Picture, None) => {}
            },
            Row::Cut if profile.cuts => out.extend_from_slice(FEED_AND_CUT),
            Row::Cut => out.extend(std::iter::repeat_n(b'\n', TEAR_LINES)),
            Row::OpenDrawer => out.extend_from_slice(DRAWER_PULSE),
        }
    }
    out
}

fn write_line(out: &mut Vec<u8>, line: &Line, profile: &Profile) {
    let text = line.text.trim_end();
    let encoded: Option<Vec<u8>> = text.chars().map(|c| profile.code_page.encode(c)).collect();
    match encoded {
        Some(encoded) => {
            let is_large = line.size == Size::Double;
            if line.bold {
                out.extend_from_slice(&[BOLD, &[1]].concat());
            }
            if is_large {
                out.extend_from_slice(&[SIZE, &[0x11]].concat());
            }
            out.extend(encoded);
            out.push(b'\n');
            if is_large {
                out.extend_from_slice(&[SIZE, &[0]].concat());
            }
            if line.bold {
                out.extend_from_slice(&[BOLD, &[0]].concat());
            }
        }
        None => write_picture(out, &font::draw(line, profile)),
    }
}

fn write_picture(out: &mut Vec<u8>, picture: &Bitmap) {
    let Ok(stride) = u16::try_from(picture.stride()) else { return };
    let lines: Vec<_> = picture.rows().collect();
    for band in lines.chunks(BAND) {
        let height = u16::try_from(band.len()).expect("a band is short");
        out.extend_from_slice(PICTURE);
        out.extend(stride.to_le_bytes());
        out.extend(height.to_le_bytes());
        out.extend(band.iter().copied().flatten());
    }
}

fn write_qr(out: &mut Vec<u8>, text: &str) {
    let module = u8::try_from(MODULE_DOTS).expect("a few dots");
    // Function 180 takes the code's text behind three bytes of its own; whatever is too long for it was not drawn.
    let Ok(length) = u16::try_from(text.len() + 3) else { return };
    out.extend_from_slice(&[ALIGN, &[1]].concat());
    out.extend_from_slice(&[QR, &[4, 0, 0x31, 0x41, 0x32, 0]].concat());
    out.extend_from_slice(&[QR, &[3, 0, 0x31, 0x43, module]].concat());
    // Error correction M.
    out.extend_from_slice(&[QR, &[3, 0, 0x31, 0x45, 0x31]].concat());
    out.extend_from_slice(QR);
    out.extend(length.to_le_bytes());
    out.extend_from_slice(&[0x31, 0x50, 0x30]);
    out.extend_from_slice(text.as_bytes());
    out.extend_from_slice(&[QR, &[3, 0, 0x31, 0x51, 0x30]].concat());
    out.extend_from_slice(&[ALIGN, &[0]].concat());
}

#[cfg(test)]
mod tests;
