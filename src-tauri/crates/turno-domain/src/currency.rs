//! The currencies that a sale can be in: the active codes of ISO 4217 with the number of decimals of each.
//!
//! Invariant: a [`Currency`] exists only for a code of the table, so whoever holds one knows its decimals.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A currency of ISO 4217. Equal when the code is equal.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Currency {
    code: &'static str,
    decimals: u8,
}

/// A text that is no active code of ISO 4217 as the standard writes it: three upper-case letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an active currency code of ISO 4217")]
pub struct UnknownCurrency;

impl Currency {
    /// The Peruvian sol, the currency of the tills this program was made for.
    pub const PEN: Currency = Currency { code: "PEN", decimals: 2 };

    /// The currency of exactly this code: no trimming and no change of case, for the contract refuses `"pen"`.
    pub fn parse(text: &str) -> Result<Currency, UnknownCurrency> {
        let at = ACTIVE.binary_search_by_key(&text, |(code, _)| code).map_err(|_| UnknownCurrency)?;
        let (code, decimals) = ACTIVE[at];
        Ok(Currency { code, decimals })
    }

    pub fn code(self) -> &'static str {
        self.code
    }

    /// How many decimals amounts have: 2 for most, but 0, 3 and 4 exist.
    pub fn decimals(self) -> u8 {
        self.decimals
    }

    /// Every currency there is, in the order of the codes.
    pub fn all() -> impl Iterator<Item = Currency> {
        ACTIVE.iter().map(|&(code, decimals)| Currency { code, decimals })
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code)
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code)
    }
}

impl Serialize for Currency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code)
    }
}

impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Currency, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Currency::parse(&text).map_err(de::Error::custom)
    }
}

/// List one of ISO 4217 as of January 2026, sorted by code. Left out are the codes without a minor unit (metals,
/// bond market units, special drawing rights, testing, "no currency"): nothing can be priced in them.
#[rustfmt::skip]
static ACTIVE: &[(&str, u8)] = &[
    ("AED", 2), ("AFN", 2), ("ALL", 2), ("AMD", 2), ("AOA", 2), ("ARS", 2), ("AUD", 2), ("AWG", 2),
    ("AZN", 2), ("BAM", 2), ("BBD", 2), ("BDT", 2), ("BHD", 3), ("BIF", 0), ("BMD", 2), ("BND", 2),
    ("BOB", 2), ("BOV", 2), ("BRL", 2), ("BSD", 2), ("BTN", 2), ("BWP", 2), ("BYN", 2), ("BZD", 2),
    ("CAD", 2), ("CDF", 2), ("CHE", 2), ("CHF", 2), ("CHW", 2), ("CLF", 4), ("CLP", 0), ("CNY", 2),
    ("COP", 2), ("COU", 2), ("CRC", 2), ("CUP", 2), ("CVE", 2), ("CZK", 2), ("DJF", 0), ("DKK", 2),
    ("DOP", 2), ("DZD", 2), ("EGP", 2), ("ERN", 2), ("ETB", 2), ("EUR", 2), ("FJD", 2), ("FKP", 2),
    ("GBP", 2), ("GEL", 2), ("GHS", 2), ("GIP", 2), ("GMD", 2), ("GNF", 0), ("GTQ", 2), ("GYD", 2),
    ("HKD", 2), ("HNL", 2), ("HTG", 2), ("HUF", 2), ("IDR", 2), ("ILS", 2), ("INR", 2), ("IQD", 3),
    ("IRR", 2), ("ISK", 0), ("JMD", 2), ("JOD", 3), ("JPY", 0), ("KES", 2), ("KGS", 2), ("KHR", 2),
    ("KMF", 0), ("KPW", 2), ("KRW", 0), ("KWD", 3), ("KYD", 2), ("KZT", 2), ("LAK", 2), ("LBP", 2),
    ("LKR", 2), ("LRD", 2), ("LSL", 2), ("LYD", 3), ("MAD", 2), ("MDL", 2), ("MGA", 2), ("MKD", 2),
    ("MMK", 2), ("MNT", 2), ("MOP", 2), ("MRU", 2), ("MUR", 2), ("MVR", 2), ("MWK", 2), ("MXN", 2),
    ("MXV", 2), ("MYR", 2), ("MZN", 2), ("NAD", 2), ("NGN", 2), ("NIO", 2), ("NOK", 2), ("NPR", 2),
    ("NZD", 2), ("OMR", 3), ("PAB", 2), ("PEN", 2), ("PGK", 2), ("PHP", 2), ("PKR", 2), ("PLN", 2),
    ("PYG", 0), ("QAR", 2), ("RON", 2), ("RSD", 2), ("RUB", 2), ("RWF", 0), ("SAR", 2), ("SBD", 2),
    ("SCR", 2), ("SDG", 2), ("SEK", 2), ("SGD", 2), ("SHP", 2), ("SLE", 2), ("SOS", 2), ("SRD", 2),
    ("SSP", 2), ("STN", 2), ("SVC", 2), ("SYP", 2), ("SZL", 2), ("THB", 2), ("TJS", 2), ("TMT", 2),
    ("TND", 3), ("TOP", 2), ("TRY", 2), ("TTD", 2), ("TWD", 2), ("TZS", 2), ("UAH", 2), ("UGX", 0),
    ("USD", 2), ("USN", 2), ("UYI", 0), ("UYU", 2), ("UYW", 4), ("UZS", 2), ("VED", 2), ("VES", 2),
    ("VND", 0), ("VUV", 0), ("WST", 2), ("XAD", 2), ("XAF", 0), ("XCD", 2), ("XCG", 2), ("XOF", 0),
    ("XPF", 0), ("YER", 2), ("ZAR", 2), ("ZMW", 2), ("ZWG", 2),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_without_repeats_so_that_binary_search_finds_every_code() {
        assert!(ACTIVE.is_sorted_by(|a, b| a.0 < b.0));
        for &(code, decimals) in ACTIVE {
            let found = Currency::parse(code).expect(code);
            assert_eq!((found.code(), found.decimals()), (code, decimals));
        }
    }

    #[test]
    fn codes_are_three_upper_case_letters_and_decimals_at_most_four() {
        for &(code, decimals) in ACTIVE {
            assert!(code.len() == 3 && code.bytes().all(|b| b.is_ascii_uppercase()), "{code}");
            assert!(decimals <= 4, "{code}");
        }
    }

    #[test]
    fn currencies_have_the_decimals_of_the_standard() {
        let known = [
            ("PEN", 2),
            ("USD", 2),
            ("CLP", 0),
            ("JPY", 0),
            ("PYG", 0),
            ("KWD", 3),
            ("BHD", 3),
            ("CLF", 4),
            ("UYW", 4),
        ];
        for (code, decimals) in known {
            assert_eq!(Currency::parse(code).expect(code).decimals(), decimals, "{code}");
        }
    }

    #[test]
    fn the_constant_is_the_table_row() {
        assert_eq!(Currency::parse("PEN"), Ok(Currency::PEN));
        assert_eq!(Currency::PEN.decimals(), 2);
    }

    #[test]
    fn withdrawn_codes_metals_and_other_spellings_are_unknown() {
        let refused = [
            "", "pen", "Pen", "PE", "PENS", " PEN", "PEN ", "S/", "QQQ", "604", "XAU", "XXX", "XTS", "XDR",
            "HRK", "BGN", "ANG",
        ];
        for text in refused {
            assert_eq!(Currency::parse(text), Err(UnknownCurrency), "{text:?}");
        }
    }

    #[test]
    fn a_currency_is_its_code_in_json() {
        assert_eq!(serde_json::to_string(&Currency::PEN).unwrap(), r#""PEN""#);
        assert_eq!(serde_json::from_str::<Currency>(r#""KWD""#).unwrap().decimals(), 3);
        assert!(serde_json::from_str::<Currency>(r#""pen""#).is_err());
    }
}
