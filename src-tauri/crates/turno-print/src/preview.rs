//! The same rows for a screen. Invariant: what is seen here is what the paper will show, line by line; only the
//! characters' shapes are the screen's.

use crate::bitmap::Bitmap;
use crate::document::{Document, Size};
use crate::layout::{Row, rows};
use crate::profile::Profile;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreviewRow {
    /// In the order in which it is drawn from the left.
    Line {
        text: String,
        size: Size,
        bold: bool,
    },
    /// A picture or a QR code.
    Picture(Bitmap),
    Cut,
}

#[must_use]
pub fn preview(document: &Document, profile: &Profile) -> Vec<PreviewRow> {
    let seen = |row| match row {
        Row::Line(line) => Some(PreviewRow::Line { text: line.text, size: line.size, bold: line.bold }),
        Row::Picture(picture) => Some(PreviewRow::Picture(picture)),
        Row::Qr { picture, .. } => picture.map(PreviewRow::Picture),
        Row::Cut => Some(PreviewRow::Cut),
        Row::OpenDrawer => None,
    };
    rows(document, profile).into_iter().filter_map(seen).collect()
}
