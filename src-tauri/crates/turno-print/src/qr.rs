//! QR codes as pictures. Invariant: four white modules on every side, as the standard asks; whatever does not fit into a
//! row is not drawn at all, because half a code is none.

use qrcodegen::{QrCode, QrCodeEcc};

use crate::bitmap::Bitmap;

const QUIET_MODULES: usize = 4;
/// Dots of a module: 0.75 mm, which a telephone reads from a faded ticket.
pub const MODULE_DOTS: usize = 6;
/// A ticket is folded and gets wet: a quarter of the code may be gone.
const CORRECTION: QrCodeEcc = QrCodeEcc::Medium;

/// The code, as large as fits into so many dots.
#[must_use]
pub fn draw(text: &str, dots: usize) -> Option<Bitmap> {
    let code = QrCode::encode_text(text, CORRECTION).ok()?;
    let modules = usize::try_from(code.size()).ok()? + 2 * QUIET_MODULES;
    let scale = (dots / modules).min(MODULE_DOTS);
    if scale == 0 {
        return None;
    }
    let side = modules * scale;
    let mut picture = Bitmap::white(side, side);
    let module = |dot: usize| Some(i32::try_from(dot / scale).ok()? - i32::try_from(QUIET_MODULES).ok()?);
    for y in 0..side {
        for x in 0..side {
            // Outside of the code every module is white.
            if let (Some(column), Some(line)) = (module(x), module(y))
                && code.get_module(column, line)
            {
                picture.blacken(x, y);
            }
        }
    }
    Some(picture)
}

#[cfg(test)]
mod tests {
    use super::draw;

    #[test]
    fn a_code_has_its_corner_marks_and_its_quiet_border() {
        let code = draw("D03-K7M-S44-0127", 384).unwrap();
        assert_eq!(code.width(), code.height());
        assert!(code.width() <= 384);
        let modules = code.width() / 6;
        let row = |line: usize| -> String {
            (0..modules).map(|m| if code.is_black(m * 6, line * 6) { '#' } else { '.' }).collect()
        };
        assert!((0..4).all(|line| !row(line).contains('#')), "quiet above");
        assert!(row(4).starts_with("....#######."), "{}", row(4));
        assert!(row(5).starts_with("....#.....#."), "{}", row(5));
    }

    #[test]
    fn what_does_not_fit_is_not_drawn() {
        assert_eq!(draw("D03-K7M-S44-0127", 20), None);
        assert_eq!(draw(&"x".repeat(10_000), 576), None);
    }
}
