//! Texts as people and other programs write them, made fit for a row of paper: no control characters, how many columns
//! each character takes, where lines break, and right-to-left writing in the order in which it is drawn.
//!
//! Invariant: no line that comes from here is wider than it was asked to be.

use std::borrow::Cow;

use unicode_bidi::{BidiClass, BidiInfo, Level, bidi_class};
use unicode_normalization::UnicodeNormalization;
use unicode_width::UnicodeWidthChar;

use crate::code_page::CodePage;

/// More lines of one text than any ticket needs: a name of ten thousand characters is cut here.
const LINES_LIMIT: usize = 6;
/// What says that a text was cut; three dots that every printer has.
const CUT_MARK: &str = "...";

/// One line without anything that a printer or a layout could act upon.
#[must_use]
pub fn clean(text: &str, page: CodePage) -> String {
    let mut clean = String::new();
    // NFC: what was typed as a letter and an accent is one character on the paper.
    for wanted in text.nfc() {
        if page.encode(wanted).is_some() && !is_invisible(wanted) && wanted != '\u{a0}' {
            clean.push(wanted);
            continue;
        }
        match wanted {
            wanted if wanted.is_whitespace() => clean.push(' '),
            wanted if wanted.is_control() || is_invisible(wanted) => {}
            wanted => match plainer(wanted) {
                Some(plain) => clean.push_str(plain),
                None => clean.push(wanted),
            },
        }
    }
    clean
}

/// Marks that steer how a text is laid out and show nothing themselves.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}' | '\u{fff0}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Punctuation that says the same in ASCII. A dash is no reason to draw a line.
fn plainer(c: char) -> Option<&'static str> {
    match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => Some("-"),
        '\u{2018}'..='\u{201b}' | '\u{2bc}' | '\u{2032}' => Some("'"),
        '\u{201c}'..='\u{201f}' | '\u{2033}' => Some("\""),
        '\u{2026}' => Some(CUT_MARK),
        '\u{2022}' => Some("*"),
        _ => None,
    }
}

/// Columns that a character takes: none for an accent on the one before, two for a wide one.
#[must_use]
pub fn cells_of(c: char) -> usize {
    c.width().unwrap_or(0)
}

#[must_use]
pub fn cells(text: &str) -> usize {
    text.chars().map(cells_of).sum()
}

/// Breaks a clean text between words, or within a word that is wider than a line.
#[must_use]
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let line = lines.last_mut().expect("there is a first line");
        if line.is_empty() || cells(line) + 1 + cells(word) <= width {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
        break_last(&mut lines, width);
        if lines.len() > LINES_LIMIT {
            return cut(lines, width);
        }
    }
    lines
}

/// A word that is wider than a line goes on in the next one.
fn break_last(lines: &mut Vec<String>, width: usize) {
    while let Some(rest) = lines.last_mut().and_then(|line| split_off(line, width)) {
        lines.push(rest);
        if lines.len() > LINES_LIMIT {
            return;
        }
    }
}

/// What of a line is beyond the width.
fn split_off(line: &mut String, width: usize) -> Option<String> {
    let mut used = 0;
    let (at, first) = line.char_indices().find(|(_, c)| {
        used += cells_of(*c);
        used > width
    })?;
    // A wide character in a line of one column fits nowhere.
    if at == 0 {
        *line = line.split_off(first.len_utf8());
        return Some(std::mem::take(line));
    }
    Some(line.split_off(at))
}

fn cut(mut lines: Vec<String>, width: usize) -> Vec<String> {
    lines.truncate(LINES_LIMIT);
    if let Some(last) = lines.last_mut() {
        split_off(last, width.saturating_sub(cells(CUT_MARK)));
        last.push_str(&CUT_MARK[..CUT_MARK.len().min(width)]);
    }
    lines
}

/// A line in the order in which it is drawn from the left. Arabic letters take the form that their neighbours ask for.
#[must_use]
pub fn as_drawn(line: &str) -> Cow<'_, str> {
    let goes_left =
        |c: char| matches!(bidi_class(c), BidiClass::R | BidiClass::AL | BidiClass::AN | BidiClass::RLE);
    if line.is_ascii() || !line.chars().any(goes_left) {
        return Cow::Borrowed(line);
    }
    let shaped = unifont::i18n::preprocess_text(line);
    let bidi = BidiInfo::new(&shaped, Some(Level::ltr()));
    let Some(paragraph) = bidi.paragraphs.first() else { return Cow::Borrowed(line) };
    Cow::Owned(bidi.reorder_line(paragraph, paragraph.range.clone()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_long_words_within() {
        assert_eq!(wrap("María del Carmen Quispe", 10), ["María del", "Carmen", "Quispe"]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(wrap("  a   b  ", 4), ["a b"]);
        assert_eq!(wrap("漢字漢字", 3), ["漢", "字", "漢", "字"]);
    }

    #[test]
    fn a_name_of_ten_thousand_characters_is_cut_and_says_so() {
        for text in ["x".repeat(10_000), "Ñandú ".repeat(2_000)] {
            let lines = wrap(&text, 32);
            assert_eq!(lines.len(), LINES_LIMIT);
            assert!(lines.last().unwrap().ends_with("..."), "{lines:?}");
            assert!(lines.iter().all(|line| cells(line) <= 32), "{lines:?}");
        }
    }

    #[test]
    fn nothing_that_a_printer_acts_upon_is_left() {
        let text = "a\u{1b}@b\nc\td\u{7f}\u{9b}e\u{10}\u{4}\u{1}\u{202e}f\u{200b}g\u{2066}h";
        assert_eq!(clean(text, CodePage::Pc850), "a@b c defgh");
        assert_eq!(clean("N\u{303}an\u{303}a\u{a0}S/", CodePage::Pc850), "Ñaña S/");
    }

    #[test]
    fn punctuation_is_made_plain_only_where_the_page_lacks_it() {
        assert_eq!(clean("Lima – “Ica”…", CodePage::Pc850), "Lima - \"Ica\"...");
        assert_eq!(clean("Lima – “Ica”…", CodePage::Wpc1252), "Lima – “Ica”…");
    }

    #[test]
    fn right_to_left_words_are_turned_and_the_rest_stays() {
        assert_eq!(as_drawn("Lima"), "Lima");
        assert_eq!(as_drawn("de \u{5d0}\u{5d1}\u{5d2} 12"), "de 12 \u{5d2}\u{5d1}\u{5d0}");
    }
}
