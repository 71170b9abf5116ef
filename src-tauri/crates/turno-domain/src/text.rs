//! Free text as people write it (names, reasons, references), brought into the one form in which it is compared.
//!
//! Invariant: both functions are idempotent, so it never matters whether a text was normalised before. White space and
//! control characters are Unicode's (`White_Space` and general category `Cc`), not ASCII's.

use std::borrow::Cow;

use caseless::Caseless;
use unicode_normalization::{UnicodeNormalization, is_nfc as is_nfc_text};

/// NFC, without white space at the ends, and every run of white space within as one space.
pub fn normalise_free_text(text: &str) -> String {
    // Nearly every text comes composed, and looking is a tenth of composing it.
    let composed = if is_nfc_text(text) { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) };
    let mut words = composed.split_whitespace();
    let mut normal = String::with_capacity(composed.len());
    normal.extend(words.next());
    for word in words {
        normal.push(' ');
        normal.push_str(word);
    }
    normal
}

/// The normalised text with full case folding, so that `STRASSE` equals `Straße` and `JOSÉ` equals `josé`.
///
/// Accents are kept: `Peña` and `Pena` are two names.
pub fn fold_for_comparison(text: &str) -> String {
    if text.is_ascii() {
        return normalise_free_text(&text.to_ascii_lowercase());
    }
    // Decomposed first: folding a character that also carries a mark would otherwise depend on how it was written.
    let folded: String = text.nfd().default_case_fold().collect();
    normalise_free_text(&folded)
}

/// Whether a control character is in the text (general category `Cc`: C0, DEL and C1).
pub fn has_control(text: &str) -> bool {
    text.chars().any(char::is_control)
}

/// Whether the text is in Unicode's composed normal form already.
pub fn is_nfc(text: &str) -> bool {
    is_nfc_text(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn white_space_of_every_kind_is_trimmed_and_collapsed() {
        for text in [
            "María Ramos",
            "  María   Ramos\t",
            "María\nRamos",
            "\u{3000}María\u{a0}\u{2003}Ramos\u{85}\u{2028}",
        ] {
            assert_eq!(normalise_free_text(text), "María Ramos", "{text:?}");
        }
        assert_eq!(normalise_free_text(" \t\u{2009} "), "");
        assert_eq!(normalise_free_text(""), "");
    }

    #[test]
    fn unicode_forms_become_one() {
        assert_eq!(normalise_free_text("Mari\u{301}a N\u{303}ahui"), "María Ñahui");
    }

    #[test]
    fn normalising_keeps_case_and_what_is_not_white_space() {
        assert_eq!(normalise_free_text("12a"), "12a");
        assert_ne!(normalise_free_text("12a"), normalise_free_text("12A"));
        // A zero-width space is no white space to Unicode.
        assert_eq!(normalise_free_text("a\u{200b}b"), "a\u{200b}b");
    }

    #[test]
    fn names_that_differ_in_case_form_or_spacing_fold_alike() {
        for (one, other) in [
            ("José Ñahui", "JOSÉ ÑAHUI"),
            ("José Ñahui", "Jose\u{301} N\u{303}ahui"),
            ("José Ñahui", "  josé   ñahui"),
            ("Straße", "STRASSE"),
            ("Straße", "STRA\u{1e9e}E"),
            ("\u{fb01}n", "FIN"),
            ("ΟΔΥΣΣΕΥΣ", "οδυσσευς"),
            ("\u{1fb3}", "\u{391}\u{345}"),
        ] {
            assert_eq!(fold_for_comparison(one), fold_for_comparison(other), "{one:?} {other:?}");
        }
    }

    #[test]
    fn accents_and_letters_keep_names_apart() {
        for (one, other) in [("Peña", "Pena"), ("José", "Jose"), ("Ramos", "Rarnos"), ("Ana Luz", "Analuz")]
        {
            assert_ne!(fold_for_comparison(one), fold_for_comparison(other), "{one:?} {other:?}");
        }
    }

    #[test]
    fn control_characters_are_unicodes_not_only_asciis() {
        for text in ["a\0", "a\u{7}b", "\u{7f}", "\n", "\t", "a\u{85}", "a\u{91}b"] {
            assert!(has_control(text), "{text:?}");
        }
        for text in ["", "dos palabras", "ñ", "\u{a0}", "\u{3000}", "🎫"] {
            assert!(!has_control(text), "{text:?}");
        }
    }

    #[test]
    fn only_the_composed_form_is_nfc() {
        assert!(is_nfc("José") && is_nfc("") && is_nfc("D03-K7M"));
        assert!(!is_nfc("Jose\u{301}"));
    }

    proptest! {
        #[test]
        fn normalising_twice_is_normalising_once(text in any::<String>()) {
            let once = normalise_free_text(&text);
            prop_assert_eq!(normalise_free_text(&once), once.clone());
            prop_assert!(is_nfc(&once));
            prop_assert!(!once.starts_with(char::is_whitespace) && !once.ends_with(char::is_whitespace));
            prop_assert!(!once.contains("  "));
        }

        #[test]
        fn folding_twice_is_folding_once_and_does_not_see_normalisation(text in any::<String>()) {
            let once = fold_for_comparison(&text);
            prop_assert_eq!(fold_for_comparison(&once), once.clone());
            prop_assert_eq!(fold_for_comparison(&normalise_free_text(&text)), once);
        }

        #[test]
        fn ascii_folds_as_all_of_unicode_does(text in "[ -~]{0,20}") {
            let folded: String = text.nfd().default_case_fold().collect();
            prop_assert_eq!(fold_for_comparison(&text), normalise_free_text(&folded));
        }

        #[test]
        fn folding_does_not_see_the_form(text in any::<String>()) {
            let decomposed: String = text.nfd().collect();
            prop_assert_eq!(fold_for_comparison(&decomposed), fold_for_comparison(&text));
        }
    }

    #[test]
    fn folding_any_single_character_twice_is_folding_it_once() {
        for c in '\0'..=char::MAX {
            let once = fold_for_comparison(c.encode_utf8(&mut [0; 4]));
            assert_eq!(fold_for_comparison(&once), once, "{c:?}");
        }
    }
}
