//! Pages that are about the printer itself. Invariant: the test page shows everything that a wrong setting would spoil:
//! letters with accents, the width, the code and the knife.

use turno_print::{Block, Document, Style};

use super::ticket::{NO_RECEIPT, local};
use crate::clock::Millis;
use crate::view::PrinterSettings;

/// Letters and signs that a wrong code page turns into others.
const LETTERS: &str = "Peñafiel, Ángel, Ñaña, S/ 12.50";
const MORE_LETTERS: &str = "áéíóú ÁÉÍÓÚ üÜ ñÑ ¿? ¡! ° · €";
/// No code page has these: they come out drawn.
const DRAWN_LETTERS: &str = "Dibujado: Лима 利馬";
const CODE: &str = "TURNO-PRUEBA";

#[must_use]
pub fn test_page(company: &str, settings: &PrinterSettings, now: Millis) -> Document {
    let columns = usize::try_from(settings.columns).unwrap_or_default();
    let ruler: String = "1234567890".chars().cycle().take(columns).collect();
    let mut page = Document::default();
    page.text(Style::CENTRED.bold(), company);
    page.text(Style::CENTRED.double(), "PRUEBA");
    page.text(Style::CENTRED, local(now)).add(Block::Rule);
    page.text(Style::PLAIN, LETTERS).text(Style::PLAIN.bold(), LETTERS).text(Style::PLAIN, MORE_LETTERS);
    page.text(Style::PLAIN, DRAWN_LETTERS).add(Block::Rule);
    page.text(Style::PLAIN, format!("{columns} letras en una sola línea:"));
    page.text(Style::PLAIN, ruler);
    page.columns(Style::PLAIN, "A la derecha", "S/ 12.50").add(Block::Blank);
    page.add(Block::Qr { text: CODE.to_owned() });
    if settings.says_no_receipt {
        page.text(Style::CENTRED, NO_RECEIPT);
    }
    for line in [&settings.footer_1, &settings.footer_2].into_iter().filter(|line| !line.is_empty()) {
        page.text(Style::CENTRED, line);
    }
    page.add(Block::Cut);
    page
}
