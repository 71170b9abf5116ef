//! Reading a body so that both sides are sure to have read the same thing.
//!
//! Invariant: whatever parses has exactly one meaning. A member written twice, a number that a double cannot hold
//! exactly, half a surrogate pair or a text after the end are refused here, because two readers may take them
//! differently and a fingerprint over them would vouch for either reading.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value, error::Category};

/// Levels of nesting, the outermost value being the first. Real bodies have two; the limit keeps a parser's stack
/// out of a stranger's hands.
pub const DEPTH_LIMIT: usize = 32;

/// The largest whole number that every JSON reader holds exactly: 2^53 − 1.
pub const INTEGER_LIMIT: i64 = (1 << 53) - 1;

/// Why a body cannot be read. It carries positions and no content: bodies must not reach a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not acceptable JSON at line {line}, column {column}")]
pub struct Malformed {
    pub line: usize,
    pub column: usize,
    /// The text ended before the value did.
    pub cut_off: bool,
}

/// Parse `bytes` as one JSON value and nothing else.
pub fn parse(bytes: &[u8]) -> Result<Value, Malformed> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Strict { levels_left: DEPTH_LIMIT }.deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

impl From<serde_json::Error> for Malformed {
    fn from(error: serde_json::Error) -> Self {
        let cut_off = error.classify() == Category::Eof;
        Self { line: error.line(), column: error.column(), cut_off }
    }
}

#[derive(Clone, Copy)]
struct Strict {
    levels_left: usize,
}

impl Strict {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        let levels_left = self.levels_left.checked_sub(1).ok_or_else(|| E::custom("nested too deeply"))?;
        Ok(Self { levels_left })
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        if (-INTEGER_LIMIT..=INTEGER_LIMIT).contains(&value) {
            Ok(Value::Number(value.into()))
        } else {
            Err(E::custom("a whole number out of range"))
        }
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.visit_i64(i64::try_from(value).map_err(|_| E::custom("a whole number out of range"))?)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        // Integers of twenty digits and more arrive here, already rounded.
        if value.fract() == 0.0 && value.abs() >= 9_007_199_254_740_992.0 {
            return Err(E::custom("a whole number out of range"));
        }
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not a number"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = members.next_value_seed(inner)?;
            if object.insert(name, value).is_some() {
                return Err(A::Error::custom("a member written twice"));
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_well_is_read() {
        check(
            r#" {"a": [1, -2.5, "x\u00e9", null, true], "b": {}} "#,
            json!({"a": [1, -2.5, "xé", null, true], "b": {}}),
        );
        check("0", json!(0));
        check("9007199254740991", json!(9_007_199_254_740_991_i64));
        check("-9007199254740991", json!(-9_007_199_254_740_991_i64));
        check(r#""\ud83c\udfab""#, json!("🎫"));
        check(r#""\u0000""#, json!("\0"));
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in [
            "",
            "   ",
            "{",
            "[",
            "nul",
            "{'a': 1}",
            "{\"a\": 1,}",
            "[1 2]",
            "NaN",
            "Infinity",
            "-",
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "\"\\x\"",
            "\"a\nb\"",
            "{\"a\": 1} x",
            "{}{}",
            "{/* */}",
            "\u{feff}{}",
            "1e400",
        ] {
            refuse(text.as_bytes());
        }
    }

    #[test]
    fn bytes_that_are_not_utf8_are_refused() {
        refuse(b"{\"name\": \"Mar\xeda\"}");
        refuse(b"\xff\xfe{\0}\0");
        refuse(b"\"\xc0\xaf\"");
        refuse(b"\"\xed\xa0\x80\"");
    }

    #[test]
    fn half_a_surrogate_pair_is_refused() {
        for text in [r#""\ud83c""#, r#""\udfab""#, r#""\ud83cx""#, r#""\ud83c\ud83c""#, r#"{"\ud83c": 1}"#] {
            refuse(text.as_bytes());
        }
    }

    #[test]
    fn a_member_written_twice_is_refused_at_any_depth_and_however_it_is_escaped() {
        for text in [
            r#"{"a": 1, "a": 1}"#,
            r#"{"a": null, "a": null}"#,
            r#"{"amount": "1.00", "\u0061mount": "2.00"}"#,
            r#"{"context": {"seat": "12A", "seat": "12B"}}"#,
            r#"[[{"a": [{"b": 1, "b": 1}]}]]"#,
        ] {
            refuse(text.as_bytes());
        }
        check(r#"{"a": {"a": 1}, "A": 2}"#, json!({"a": {"a": 1}, "A": 2}));
    }

    #[test]
    fn whole_numbers_beyond_what_a_double_holds_are_refused() {
        for text in [
            "9007199254740992",
            "-9007199254740992",
            "18446744073709551616",
            "100000000000000000001",
            "-100000000000000000001",
            "[{\"n\": 9223372036854775808}]",
            "1e16",
        ] {
            refuse(text.as_bytes());
        }
    }

    #[test]
    fn thirty_two_levels_are_read_and_thirty_three_are_not() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        parse(nested(32).as_bytes()).unwrap();
        refuse(nested(33).as_bytes());
        refuse(nested(100_000).as_bytes());
        parse(format!("{{\"a\": {}}}", nested(31)).as_bytes()).unwrap();
        refuse(format!("{{\"a\": {}}}", nested(32)).as_bytes());
        parse(format!("[\"{}\"]", "[{".repeat(100)).as_bytes()).unwrap();
    }

    #[test]
    fn a_refusal_says_where_and_quotes_nothing() {
        let refusal = parse(b"{\"buyer_name\": \"Rosa\"").unwrap_err();
        assert!(refusal.cut_off);
        assert_eq!(refusal.to_string(), "not acceptable JSON at line 1, column 21");
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&bytes);
        }

        #[test]
        fn whatever_is_read_is_read_the_same_by_everybody(text in r#"[\[\]{}":,0-9a-b\\u. -]{0,40}"#) {
            if let Ok(value) = parse(text.as_bytes()) {
                prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
            }
        }
    }

    fn check(text: &str, value: Value) {
        assert_eq!(parse(text.as_bytes()), Ok(value), "{text}");
    }

    fn refuse(bytes: &[u8]) {
        assert!(parse(bytes).is_err(), "{}", String::from_utf8_lossy(bytes));
    }
}
