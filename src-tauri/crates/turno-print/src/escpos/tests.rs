use proptest::prelude::*;

use super::*;
use crate::code_page::CodePage;
use crate::document::{Align, Block, Style};
use crate::paper::{Printed, Reader};
use crate::profile::Columns;
use crate::text::{cells, clean};

fn profiles() -> Vec<Profile> {
    let mut all = Vec::new();
    for columns in Columns::ALL {
        for code_page in CodePage::ALL {
            for (qr, cuts) in [(QrBy::Printer, true), (QrBy::Picture, false)] {
                all.push(Profile { columns, code_page, qr, cuts });
            }
        }
    }
    all
}

fn paper(document: &Document, profile: &Profile) -> Vec<Printed> {
    Reader::default().read(&bytes(document, profile))
}

fn one_line(text: &str, style: Style) -> Document {
    let mut document = Document::default();
    document.text(style, text);
    document
}

#[test]
fn spanish_comes_out_as_written_on_every_profile_that_has_a_code_page() {
    let text = "Peñafiel, Ángel, Ñaña, S/ 12.50 ¿¡üÜ";
    for profile in profiles().iter().filter(|profile| profile.columns == Columns::C48) {
        match paper(&one_line(text, Style::PLAIN), profile).as_slice() {
            [Printed::Line { text: printed, .. }] => assert_eq!(printed, text, "{profile:?}"),
            [Printed::Picture { width: 576, height: 24 }] => {
                assert_eq!(profile.code_page, CodePage::Drawn, "{profile:?}");
            }
            printed => panic!("{profile:?}: {printed:?}"),
        }
    }
}

#[test]
fn a_line_that_the_code_page_lacks_is_drawn_and_its_neighbours_are_not() {
    let profile =
        Profile { columns: Columns::C32, code_page: CodePage::Pc850, qr: QrBy::Printer, cuts: true };
    let mut document = one_line("Ana", Style::PLAIN);
    document
        .text(Style::PLAIN, "Лима 漢字 🎫")
        .text(Style::PLAIN.double(), "שלום")
        .text(Style::PLAIN, "Ñato");
    let printed = paper(&document, &profile);
    assert_eq!(
        printed,
        [
            Printed::Line { text: "Ana".to_owned(), bold: false, double: false },
            Printed::Picture { width: 384, height: 24 },
            Printed::Picture { width: 384, height: 48 },
            Printed::Line { text: "Ñato".to_owned(), bold: false, double: false },
        ]
    );
}

#[test]
fn money_stands_at_the_right_edge_however_long_the_name_is() {
    for profile in profiles().iter().filter(|profile| profile.code_page == CodePage::Wpc1252) {
        for name in ["Pasaje", "Lima – Arequipa 20:30 · asiento 12A · María del Carmen Quispe Huamán"] {
            let mut document = Document::default();
            document.columns(Style::PLAIN.bold(), name, "S/ 85.50");
            let printed = paper(&document, profile);
            let lines: Vec<_> = printed.iter().filter_map(Printed::text).collect();
            assert!(lines[0].ends_with(" S/ 85.50"), "{lines:?}");
            assert_eq!(cells(lines[0]), profile.columns.count(), "{lines:?}");
            let words = lines.join(" ").replace("S/ 85.50", "");
            assert_eq!(words.split_whitespace().collect::<Vec<_>>(), name.split(' ').collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_figure_too_wide_to_stand_beside_a_name_stands_below_it() {
    let profile =
        Profile { columns: Columns::C32, code_page: CodePage::Pc858, qr: QrBy::Picture, cuts: true };
    let mut document = Document::default();
    document.columns(Style::PLAIN.double(), "TOTAL", "S/ 9999999.99");
    let printed = paper(&document, &profile);
    assert_eq!(printed.iter().filter_map(Printed::text).collect::<Vec<_>>(), ["TOTAL", "   S/ 9999999.99"]);
}

#[test]
fn a_code_is_the_printers_or_ours_and_never_cut_off() {
    for profile in profiles() {
        let mut document = Document::default();
        document.add(Block::Qr { text: "D03-K7M-S44-0127".to_owned() }).add(Block::Cut);
        let printed = paper(&document, &profile);
        match profile.qr {
            QrBy::Printer => assert_eq!(printed[0], Printed::Qr("D03-K7M-S44-0127".to_owned())),
            QrBy::Picture => assert!(
                matches!(printed[0], Printed::Picture { width, .. } if width == profile.dots().next_multiple_of(8)),
                "{printed:?}"
            ),
        }
        assert_eq!(printed.contains(&Printed::Cut), profile.cuts);
        let too_long = Document { blocks: vec![Block::Qr { text: "x".repeat(70_000) }] };
        assert_eq!(paper(&too_long, &profile), []);
    }
}

#[test]
fn a_scanner_or_a_name_cannot_open_the_drawer() {
    for profile in profiles() {
        for text in ["\u{1b}p\0\u{19}\u{fa}", "\u{10}\u{14}\u{1}\0\u{1}", "\u{1d}V\0", "\u{9b}\u{1b}@"] {
            let mut document = one_line(text, Style::PLAIN);
            document.columns(Style::PLAIN, text, text);
            for printed in paper(&document, &profile) {
                assert!(
                    matches!(printed, Printed::Line { .. } | Printed::Picture { .. }),
                    "{text:?} {printed:?}"
                );
            }
        }
    }
}

#[test]
fn a_command_that_comes_in_pieces_is_the_same_command() {
    let profile =
        Profile { columns: Columns::C42, code_page: CodePage::Iso8859_15, qr: QrBy::Printer, cuts: true };
    let mut document = one_line("Ñandú €", Style::CENTRED.double().bold());
    document.text(Style::PLAIN, "漢").add(Block::Qr { text: "D03".to_owned() }).add(Block::Cut);
    document.add(Block::OpenDrawer);
    let mut reader = Reader::default();
    let in_pieces: Vec<_> =
        bytes(&document, &profile).iter().flat_map(|byte| reader.read(&[*byte])).collect();
    assert_eq!(in_pieces, paper(&document, &profile));
}

fn some_style() -> impl Strategy<Value = Style> {
    let align = prop_oneof![Just(Align::Left), Just(Align::Centre), Just(Align::Right)];
    let size = prop_oneof![Just(Size::Normal), Just(Size::Double)];
    (align, size, any::<bool>()).prop_map(|(align, size, bold)| Style { align, size, bold })
}

fn some_text() -> impl Strategy<Value = String> {
    prop_oneof!["[ -~ñÑáéíóúü¿¡]{0,60}", any::<String>(), "[\\u{5d0}-\\u{5ea}0-9 a-z]{0,40}", "\\PC{0,200}"]
}

fn some_block() -> impl Strategy<Value = Block> {
    prop_oneof![
        (some_text(), some_style()).prop_map(|(text, style)| Block::Text { text, style }),
        (some_text(), "S/ [0-9]{1,7}\\.[0-9]{2}", some_style())
            .prop_map(|(left, right, style)| Block::Columns { left, right, style }),
        Just(Block::Rule),
        Just(Block::Blank),
        Just(Block::Cut),
        Just(Block::OpenDrawer),
    ]
}

proptest! {
    #[test]
    fn what_is_laid_out_is_what_is_printed(
        blocks in prop::collection::vec(some_block(), 0..12),
        profile in prop::sample::select(profiles()),
    ) {
        let document = Document { blocks };
        let mut printed = paper(&document, &profile).into_iter().filter(|printed| *printed != Printed::Cut);
        let mut torn = 0;
        for row in rows(&document, &profile) {
            match row {
                Row::Line(line) => {
                    let width = match line.size { Size::Normal => 1, Size::Double => 2 };
                    prop_assert!(cells(&line.text) * width <= profile.columns.count(), "{:?}", line);
                    match printed.next() {
                        Some(Printed::Line { text, .. }) => prop_assert_eq!(&text, line.text.trim_end()),
                        Some(Printed::Picture { width, .. }) => {
                            prop_assert!(line.text.chars().any(|c| profile.code_page.encode(c).is_none()));
                            prop_assert_eq!(width, profile.dots().next_multiple_of(8));
                        }
                        other => prop_assert!(false, "{:?} is {:?}", line, other),
                    }
                }
                Row::OpenDrawer => prop_assert_eq!(printed.next(), Some(Printed::DrawerOpened)),
                Row::Cut if !profile.cuts => torn += 1,
                Row::Cut | Row::Picture(_) | Row::Qr { .. } => {}
            }
            while torn > 0 {
                for _ in 0..TEAR_LINES {
                    let fed = printed.next();
                    prop_assert_eq!(fed.as_ref().and_then(Printed::text), Some(""));
                }
                torn -= 1;
            }
        }
        prop_assert_eq!(printed.next(), None);
    }

    #[test]
    fn every_word_of_a_text_that_fits_is_printed(text in "[a-zA-ZñÑáéíóúü ]{0,90}") {
        let profile =
            Profile { columns: Columns::C32, code_page: CodePage::Pc850, qr: QrBy::Printer, cuts: true };
        let printed = paper(&one_line(&text, Style::PLAIN), &profile);
        let letters = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
        let lines: String = printed.iter().filter_map(Printed::text).collect();
        prop_assert_eq!(letters(&lines), letters(&clean(&text, CodePage::Pc850)));
    }
}
