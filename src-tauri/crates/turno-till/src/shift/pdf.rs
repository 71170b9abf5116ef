//! Lines of text as a PDF: A4, one of the typefaces that every reader has, nothing else.
//!
//! So little of the format is needed that writing it is less than a library to do it. Invariant: the offsets in the
//! cross-reference table are those of the objects, and every character is one that the page's encoding has.

use std::fmt::Write as _;

/// Points. Courier's letters are 0.6 of their size wide: a till roll's 48 at 10 points are 288, and A4 is 595.
const PAGE_WIDTH: u32 = 595;
const PAGE_HEIGHT: u32 = 842;
const MARGIN: u32 = 56;
const SIZE: u32 = 10;
const LEADING: u32 = 12;
const LINES_A_PAGE: usize = ((PAGE_HEIGHT - 2 * MARGIN) / LEADING) as usize;

/// Catalog, page tree and font come first, then each page with its content.
const PAGES_FROM: usize = 4;

#[must_use]
pub fn document(lines: &[String]) -> Vec<u8> {
    let pages: Vec<&[String]> =
        if lines.is_empty() { vec![&[]] } else { lines.chunks(LINES_A_PAGE).collect() };
    let page_number = |index: usize| PAGES_FROM + 2 * index;
    let kids: Vec<String> = (0..pages.len()).map(|index| format!("{} 0 R", page_number(index))).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    for (index, lines) in pages.iter().enumerate() {
        let content = page_number(index) + 1;
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {PAGE_WIDTH} {PAGE_HEIGHT}] \
             /Resources << /Font << /F1 3 0 R >> >> /Contents {content} 0 R >>"
        ));
        let stream = text_of(lines);
        objects.push(format!("<< /Length {} >>\nstream\n{stream}endstream", stream.len()));
    }
    assemble(&objects)
}

fn text_of(lines: &[String]) -> String {
    let top = PAGE_HEIGHT - MARGIN - SIZE;
    let mut stream = format!("BT\n/F1 {SIZE} Tf\n{LEADING} TL\n{MARGIN} {top} Td\n");
    for line in lines {
        stream.push('(');
        line.chars().for_each(|letter| push_letter(&mut stream, letter));
        stream.push_str(") Tj T*\n");
    }
    stream.push_str("ET\n");
    stream
}

/// A character as the page's encoding has it; what it has not is a question mark.
fn push_letter(stream: &mut String, letter: char) {
    let code = match letter {
        '(' | ')' | '\\' => {
            stream.push('\\');
            u32::from(letter)
        }
        ' '..='~' | '\u{a0}'..='\u{ff}' => u32::from(letter),
        '–' => 0x96,
        '—' => 0x97,
        '…' => 0x85,
        '‘' => 0x91,
        '’' => 0x92,
        '“' => 0x93,
        '”' => 0x94,
        '€' => 0x80,
        '−' => u32::from('-'),
        _ => u32::from('?'),
    };
    match u8::try_from(code) {
        Ok(byte) if byte.is_ascii() => stream.push(char::from(byte)),
        // In octal, so that the whole file is ASCII.
        Ok(_) | Err(_) => write!(stream, "\\{code:03o}").expect("a string takes whatever is written"),
    }
}

fn assemble(objects: &[String]) -> Vec<u8> {
    let mut file = String::from("%PDF-1.4\n");
    let mut offsets = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        write!(file, "{} 0 obj\n{object}\nendobj\n", index + 1).expect("a string takes whatever is written");
    }
    let table = file.len();
    let count = objects.len() + 1;
    write!(file, "xref\n0 {count}\n0000000000 65535 f \n").expect("a string takes whatever is written");
    for offset in offsets {
        writeln!(file, "{offset:010} 00000 n ").expect("a string takes whatever is written");
    }
    write!(file, "trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n")
        .expect("a string takes whatever is written");
    file.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text at an object's offset in the cross-reference table.
    fn object_at(file: &str, number: usize) -> &str {
        let table = file.find("xref\n").unwrap();
        let entry = file[table..].lines().nth(2 + number).unwrap();
        &file[entry[..10].parse::<usize>().unwrap()..]
    }

    #[test]
    fn every_object_is_where_the_table_says_and_every_stream_as_long_as_it_says() {
        let lines: Vec<String> = (0..150).map(|line| format!("línea {line}")).collect();
        let file = String::from_utf8(document(&lines)).unwrap();
        assert!(file.is_ascii());
        let pages = 150_usize.div_ceil(LINES_A_PAGE);
        for number in 1..=3 + 2 * pages {
            assert!(object_at(&file, number).starts_with(&format!("{number} 0 obj\n")), "{number}");
        }
        let stream = object_at(&file, 5);
        let length: usize =
            stream.split("/Length ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        let (_, body) = stream.split_once("stream\n").unwrap();
        assert_eq!(&body[length..length + 9], "endstream");
        assert!(file.contains(&format!("/Count {pages}")));
        let start: usize = file.lines().rev().nth(1).unwrap().parse().unwrap();
        assert!(file[start..].starts_with("xref"));
    }

    #[test]
    fn letters_keep_their_accents_and_nothing_breaks_out_of_its_line() {
        let file = String::from_utf8(document(&["Ñandú (a\\b) – S/ 1 漢\u{7}".to_owned()])).unwrap();
        assert!(file.contains(r"(\321and\372 \(a\\b\) \226 S/ 1 ??) Tj"), "{file}");
    }

    #[test]
    fn nothing_to_say_is_one_empty_page() {
        assert!(String::from_utf8(document(&[])).unwrap().contains("/Count 1"));
    }
}
