//! Lines that the printer's code page cannot write, drawn in dots. Unifont has every character of the basic plane;
//! whatever is beyond, such as an emoji, is a box of its own width. Invariant: the picture is as wide as the row.

use unifont::{Glyph, get_glyph};

use crate::bitmap::Bitmap;
use crate::document::Size;
use crate::layout::Line;
use crate::profile::{CELL_HEIGHT, CELL_WIDTH, Profile};
use crate::text::cells_of;

/// Unifont's rows.
const GLYPH_HEIGHT: usize = 16;
/// White around the box that stands for a character without a shape.
const BOX_MARGIN: usize = 3;

#[must_use]
pub fn draw(line: &Line, profile: &Profile) -> Bitmap {
    // The last figure: by how many dots strokes are thickened. A stroke of one dot fades first on thermal paper.
    let (scale, thickness) = match (line.size, line.bold) {
        (Size::Normal, false) => (1, 1),
        (Size::Normal, true) => (1, 2),
        (Size::Double, false) => (2, 0),
        (Size::Double, true) => (2, 2),
    };
    let (cell, height) = (CELL_WIDTH * scale, CELL_HEIGHT * scale);
    let mut picture = Bitmap::white(profile.dots(), height);
    let (mut left, mut last_width) = (0, 0);
    for shown in line.text.chars() {
        let width = cells_of(shown) * cell;
        // A mark without a width of its own stands on the character before.
        let (at, room) = if width == 0 { (left - last_width, last_width) } else { (left, width) };
        if room > 0 {
            stamp(&mut picture, shown, at, room, height, thickness);
        }
        if width > 0 {
            (left, last_width) = (left + width, width);
        }
    }
    picture
}

fn stamp(picture: &mut Bitmap, shown: char, left: usize, width: usize, height: usize, thickness: usize) {
    let glyph = get_glyph(shown);
    for y in 0..height {
        for x in 0..width {
            let is_black = match glyph {
                Some(glyph) => is_ink(glyph, x, y, width, height),
                None => shown != ' ' && is_box(x, y, width, height),
            };
            if is_black {
                for more in 0..=thickness {
                    picture.blacken(left + x + more, y);
                }
            }
        }
    }
}

/// The nearest dot of the glyph, which is stretched over the cell.
fn is_ink(glyph: &Glyph, x: usize, y: usize, width: usize, height: usize) -> bool {
    glyph.get_pixel(x * glyph.get_width() / width, y * GLYPH_HEIGHT / height)
}

fn is_box(x: usize, y: usize, width: usize, height: usize) -> bool {
    let (right, bottom) = (width - 1 - BOX_MARGIN, height - 1 - BOX_MARGIN);
    let is_inside = (BOX_MARGIN..=right).contains(&x) && (BOX_MARGIN..=bottom).contains(&y);
    is_inside && (x == BOX_MARGIN || x == right || y == BOX_MARGIN || y == bottom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code_page::CodePage;
    use crate::profile::{Columns, QrBy};

    fn drawn(text: &str, size: Size, bold: bool) -> Bitmap {
        let profile =
            Profile { columns: Columns::C32, code_page: CodePage::Drawn, qr: QrBy::Picture, cuts: true };
        draw(&Line { text: text.to_owned(), size, bold }, &profile)
    }

    fn ink(picture: &Bitmap, from: usize, to: usize) -> usize {
        (0..picture.height())
            .flat_map(|y| (from..to).map(move |x| (x, y)))
            .fold(0, |ink, (x, y)| ink + usize::from(picture.is_black(x, y)))
    }

    #[test]
    fn each_character_has_ink_in_its_own_cell_and_in_no_other() {
        let picture = drawn("ñ 漢.", Size::Normal, false);
        assert_eq!((picture.width(), picture.height()), (384, 24));
        assert!(ink(&picture, 0, 12) > 0 && ink(&picture, 12, 24) == 0, "a letter and a space");
        assert!(ink(&picture, 24, 48) > 0 && ink(&picture, 48, 60) > 0, "a wide one and a point");
        assert_eq!(ink(&picture, 60, 384), 0);
    }

    #[test]
    fn a_character_without_a_shape_is_a_box_and_an_accent_stands_on_its_letter() {
        assert!(ink(&drawn("🎫", Size::Normal, false), 0, 24) > 20);
        let plain = drawn("x", Size::Normal, false);
        let marked = drawn("x\u{302}", Size::Normal, false);
        assert!(ink(&marked, 0, 12) > ink(&plain, 0, 12));
        assert_eq!(ink(&marked, 12, 384), 0);
        assert_eq!(ink(&drawn("\u{302}", Size::Normal, false), 0, 384), 0, "an accent on nothing is nothing");
    }

    #[test]
    fn double_is_twice_as_large_and_bold_is_blacker() {
        let (small, large) = (drawn("Ž", Size::Normal, false), drawn("Ž", Size::Double, false));
        assert_eq!(large.height(), 2 * small.height());
        assert!(ink(&large, 0, 24) > 2 * ink(&small, 0, 12));
        assert!(ink(&drawn("Ž", Size::Normal, true), 0, 13) > ink(&small, 0, 13));
    }
}
