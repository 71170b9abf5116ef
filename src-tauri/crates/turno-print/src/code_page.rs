//! The characters that a printer can write, one byte each. Invariant: a character has a byte only if the printer shows
//! just that character for it; control characters have none.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodePage {
    Pc850,
    /// As 850, with the euro sign.
    Pc858,
    Wpc1252,
    Iso8859_15,
    /// None is known of this printer: every line is drawn.
    Drawn,
}

/// Bytes 0x80 to 0xFF.
const PC850: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐\
    └┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}";
/// Bytes 0x80 to 0x9F; the rest is Latin-1. A zero is a byte without a character.
const WPC1252: &str = "€\0‚ƒ„…†‡ˆ‰Š‹Œ\0Ž\0\0‘’“”•–—˜™š›œ\0žŸ";
/// Where ISO 8859-15 is not Latin-1.
const LATIN_9: [(u8, char); 8] =
    [(0xa4, '€'), (0xa6, 'Š'), (0xa8, 'š'), (0xb4, 'Ž'), (0xb8, 'ž'), (0xbc, 'Œ'), (0xbd, 'œ'), (0xbe, 'Ÿ')];
/// The dotless i of 850, which 858 gave to the euro sign.
const EURO_IN_858: u8 = 0xd5;

impl CodePage {
    pub const ALL: [Self; 5] = [Self::Pc850, Self::Pc858, Self::Wpc1252, Self::Iso8859_15, Self::Drawn];

    /// The page's number in `ESC t`.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Pc850 => 2,
            Self::Pc858 => 19,
            Self::Wpc1252 => 16,
            Self::Iso8859_15 => 40,
            // Whatever the printer has: nothing is written in it.
            Self::Drawn => 0,
        }
    }

    #[must_use]
    pub fn numbered(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|page| page.number() == number)
    }

    /// The character that the printer shows for a byte.
    #[must_use]
    pub fn decode(self, byte: u8) -> Option<char> {
        if self == Self::Drawn {
            return None;
        }
        let shown = match byte {
            0x20..=0x7e => char::from(byte),
            0x80..=0xff => self.upper_half(byte),
            0x00..=0x1f | 0x7f => '\0',
        };
        (shown != '\0').then_some(shown)
    }

    fn upper_half(self, byte: u8) -> char {
        let index = usize::from(byte - 0x80);
        match self {
            Self::Pc858 if byte == EURO_IN_858 => '€',
            Self::Pc850 | Self::Pc858 => PC850.chars().nth(index).unwrap_or('\0'),
            Self::Wpc1252 if byte < 0xa0 => WPC1252.chars().nth(index).unwrap_or('\0'),
            Self::Iso8859_15 if byte < 0xa0 => '\0',
            Self::Iso8859_15 => {
                let own = LATIN_9.iter().find(|(own, _)| *own == byte);
                own.map_or(char::from(byte), |(_, shown)| *shown)
            }
            Self::Wpc1252 => char::from(byte),
            Self::Drawn => '\0',
        }
    }

    /// The byte for a character, if the printer has it.
    #[must_use]
    pub fn encode(self, wanted: char) -> Option<u8> {
        if wanted.is_ascii() {
            return u8::try_from(wanted).ok().filter(|byte| self.decode(*byte).is_some());
        }
        (0x80..=0xff).find(|byte| self.decode(*byte) == Some(wanted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spanish_has_the_bytes_that_the_standards_give_it() {
        for (page, expected) in [
            (CodePage::Pc850, [0xa4, 0xa5, 0xa0, 0xb5, 0x82, 0x90, 0x81, 0x9a, 0xa8, 0xad, 0xfa]),
            (CodePage::Pc858, [0xa4, 0xa5, 0xa0, 0xb5, 0x82, 0x90, 0x81, 0x9a, 0xa8, 0xad, 0xfa]),
            (CodePage::Wpc1252, [0xf1, 0xd1, 0xe1, 0xc1, 0xe9, 0xc9, 0xfc, 0xdc, 0xbf, 0xa1, 0xb7]),
            (CodePage::Iso8859_15, [0xf1, 0xd1, 0xe1, 0xc1, 0xe9, 0xc9, 0xfc, 0xdc, 0xbf, 0xa1, 0xb7]),
        ] {
            let bytes: Vec<_> = "ñÑáÁéÉüÜ¿¡·".chars().map(|c| page.encode(c).unwrap()).collect();
            assert_eq!(bytes, expected, "{page:?}");
        }
    }

    #[test]
    fn the_euro_is_where_each_page_has_it() {
        let euro = |page: CodePage| page.encode('€');
        assert_eq!(CodePage::ALL.map(euro), [None, Some(0xd5), Some(0x80), Some(0xa4), None]);
        assert_eq!(CodePage::Iso8859_15.encode('¤'), None);
    }

    #[test]
    fn every_byte_that_shows_a_character_is_the_byte_of_that_character() {
        assert_eq!(PC850.chars().count(), 128);
        assert_eq!(WPC1252.chars().count(), 32);
        for page in CodePage::ALL {
            for byte in 0..=u8::MAX {
                if let Some(shown) = page.decode(byte) {
                    assert_eq!(page.encode(shown), Some(byte), "{page:?} {shown:?}");
                }
            }
        }
    }

    #[test]
    fn control_characters_have_no_byte() {
        for page in CodePage::ALL {
            for control in (0..=0x1f).chain(0x7f..=0x9f).map(char::from) {
                assert_eq!(page.encode(control), None, "{page:?} {control:?}");
            }
            assert_eq!(CodePage::numbered(page.number()), Some(page));
        }
    }
}
