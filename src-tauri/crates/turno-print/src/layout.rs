//! A document as rows of a given width. Invariant: no row is wider than the profile's columns, and a figure at the right
//! of a row is never wrapped or cut off from its line.

use crate::bitmap::Bitmap;
use crate::document::{Align, Block, Document, Size, Style};
use crate::profile::Profile;
use crate::qr;
use crate::text::{as_drawn, cells, clean, wrap};

/// White between a name and the figure at its right.
const GAP: usize = 1;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    Line(Line),
    /// As wide as the row.
    Picture(Bitmap),
    Qr {
        text: String,
        /// None if it does not fit on this paper.
        picture: Option<Bitmap>,
    },
    Cut,
    OpenDrawer,
}

/// A line of text, its alignment done with spaces, in the order in which it is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub text: String,
    pub size: Size,
    pub bold: bool,
}

#[must_use]
pub fn rows(document: &Document, profile: &Profile) -> Vec<Row> {
    let mut rows = Vec::new();
    for block in &document.blocks {
        match block {
            Block::Text { text, style } => {
                let lines = wrap(&clean(text, profile.code_page), width(*style, profile));
                rows.extend(lines.into_iter().map(|line| aligned(&as_drawn(&line), *style, profile)));
            }
            Block::Columns { left, right, style } => rows.extend(columns(left, right, *style, profile)),
            Block::Rule => rows.push(line("-".repeat(profile.columns.count()), Style::PLAIN)),
            Block::Blank => rows.push(line(String::new(), Style::PLAIN)),
            Block::Qr { text } => {
                let picture = qr::draw(text, profile.dots()).map(|code| code.centred_in(profile.dots()));
                rows.push(Row::Qr { text: text.clone(), picture });
            }
            Block::Picture { picture } => rows.push(Row::Picture(picture.centred_in(profile.dots()))),
            Block::Cut => rows.push(Row::Cut),
            Block::OpenDrawer => rows.push(Row::OpenDrawer),
        }
    }
    rows
}

fn width(style: Style, profile: &Profile) -> usize {
    match style.size {
        Size::Normal => profile.columns.count(),
        Size::Double => profile.columns.count() / 2,
    }
}

fn line(text: String, style: Style) -> Row {
    Row::Line(Line { text, size: style.size, bold: style.bold })
}

fn aligned(text: &str, style: Style, profile: &Profile) -> Row {
    let free = width(style, profile).saturating_sub(cells(text));
    let before = match style.align {
        Align::Left => 0,
        Align::Centre => free / 2,
        Align::Right => free,
    };
    line(format!("{}{text}", " ".repeat(before)), style)
}

/// The figure stands on the first line of its name. If both are too wide for one row it gets a row of its own.
fn columns(left: &str, right: &str, style: Style, profile: &Profile) -> Vec<Row> {
    let (left, right) = (clean(left, profile.code_page), clean(right, profile.code_page));
    let all = width(style, profile);
    let rest = all.saturating_sub(cells(&right) + GAP);
    // A name needs some room to be readable.
    if rest < all / 3 {
        let below = Style { align: Align::Right, ..style };
        let names = wrap(&left, all).into_iter().map(|name| aligned(&as_drawn(&name), style, profile));
        let figures = wrap(&right, all).into_iter().map(|figure| aligned(&as_drawn(&figure), below, profile));
        return names.chain(figures).collect();
    }
    let mut rows = Vec::new();
    for (index, name) in wrap(&left, rest).into_iter().enumerate() {
        let name = as_drawn(&name);
        if index > 0 || right.is_empty() {
            rows.push(line(name.into_owned(), style));
            continue;
        }
        let white = all.saturating_sub(cells(&name) + cells(&right));
        rows.push(line(format!("{name}{}{}", " ".repeat(white), as_drawn(&right)), style));
    }
    rows
}
