//! The one way to write a JSON value (RFC 8785), so that equal content has equal bytes.
//!
//! Invariant: the bytes depend on the value alone, never on how it was laid out, ordered or escaped.

use serde::Serialize;
use serde_json::{Map, Number, Value};

/// Most bodies are shorter, so that what is written is rarely moved.
const TYPICAL: usize = 1024;

/// Larger whole numbers are written as the doubles that they stand for.
const LARGEST_EXACT: u64 = 1 << 53;

/// The canonical bytes of `value`: members sorted by UTF-16 code units, no white space, numbers as ECMAScript
/// writes them.
pub fn to_bytes<T: Serialize>(value: &T) -> Vec<u8> {
    buffered(|out| {
        let value = serde_json::to_value(value);
        write(&value.expect("what is written has texts for names and finite numbers"), out);
    })
}

/// The canonical bytes of a list of these.
pub fn list_to_bytes(items: &[&Value]) -> Vec<u8> {
    buffered(|out| write_list(items.iter().copied(), out))
}

/// The canonical bytes of an object with these members.
pub fn object_to_bytes(members: &Map<String, Value>) -> Vec<u8> {
    buffered(|out| write_object(members, out))
}

fn buffered(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(TYPICAL);
    write(&mut out);
    out
}

fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_text(text, out),
        Value::Array(items) => write_list(items.iter(), out),
        Value::Object(members) => write_object(members, out),
    }
}

fn write_list<'a>(items: impl Iterator<Item = &'a Value>, out: &mut Vec<u8>) {
    out.push(b'[');
    for (n, item) in items.enumerate() {
        if n > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(b']');
}

fn write_object(members: &Map<String, Value>, out: &mut Vec<u8>) {
    let mut members: Vec<_> = members.iter().collect();
    // By code units and not by bytes: the two differ beyond the first 65 536 characters.
    members.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
    out.push(b'{');
    for (n, (name, value)) in members.into_iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        write_text(name, out);
        out.push(b':');
        write(value, out);
    }
    out.push(b'}');
}

/// The library escapes exactly what RFC 8785 wants escaped, in the same way.
fn write_text(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("a buffer takes every write");
}

/// Whole numbers as they are; how ECMAScript writes the others is a library's work.
fn write_number(number: &Number, out: &mut Vec<u8>) {
    match number.as_i64() {
        Some(whole) if whole.unsigned_abs() <= LARGEST_EXACT => {
            out.extend_from_slice(whole.to_string().as_bytes());
        }
        Some(_) | None => {
            serde_json_canonicalizer::to_writer(number, out).expect("json's numbers are finite");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::strict_json;

    #[test]
    fn layout_order_and_escapes_do_not_matter() {
        let plain = strict_json::parse(br#"{"a":1,"b":["x","\u00e9"],"c":{"d":null}}"#).unwrap();
        let other = strict_json::parse(
            "{ \"c\" : {\"\\u0064\":null},\n\"b\":[\"\\u0078\",\"é\"], \"a\":1.0 }".as_bytes(),
        )
        .unwrap();
        assert_eq!(to_bytes(&plain), to_bytes(&other));
    }

    #[test]
    fn the_example_of_rfc_8785_is_written_as_the_rfc_writes_it() {
        let value = strict_json::parse(
            br#"{
              "numbers": [333333333.33333329, 4.50, 2e-3, 0.000000000000000000000000001],
              "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
              "literals": [null, true, false]
            }"#,
        )
        .unwrap();
        check(
            &value,
            r#"{"literals":[null,true,false],"numbers":[333333333.3333333,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#,
        );
    }

    #[test]
    fn members_are_sorted_by_utf16_code_units() {
        let value = json!({
            "\u{20ac}": "Euro Sign", "\r": "Carriage Return", "\u{fb33}": "Hebrew Letter Dalet With Dagesh",
            "1": "One", "\u{1f600}": "Emoji: Grinning Face", "\u{80}": "Control", "\u{f6}": "Latin Small Letter O With Diaeresis",
        });
        let text = String::from_utf8(to_bytes(&value)).unwrap();
        let order: Vec<_> = ["Carriage", "One", "Control", "Latin", "Euro", "Emoji", "Hebrew"]
            .map(|name| text.find(name).unwrap())
            .into();
        assert!(order.is_sorted(), "{text}");
    }

    #[test]
    fn numbers_are_written_as_ecmascript_writes_them() {
        for (number, text) in [
            (json!(0), "0"),
            (json!(-0.0), "0"),
            (json!(9_007_199_254_740_991_i64), "9007199254740991"),
            (json!(-9_007_199_254_740_991_i64), "-9007199254740991"),
            (json!(1.5), "1.5"),
            (json!(1e-7), "1e-7"),
            (json!(0.000_001), "0.000001"),
            (json!(5e-324), "5e-324"),
        ] {
            check(&number, text);
        }
    }

    #[test]
    fn control_characters_are_escaped_in_the_shortest_way_and_nothing_else_is() {
        check(&json!("\u{8}\t\n\u{c}\r\u{1}\u{1f}\u{7f}/ñ🎫"), "\"\\b\\t\\n\\f\\r\\u0001\\u001f\u{7f}/ñ🎫\"");
    }

    proptest! {
        /// Another implementation, slower than this one.
        #[test]
        fn the_bytes_are_those_that_others_write(value in values()) {
            let others = serde_json_canonicalizer::to_vec(&value).unwrap();
            prop_assert_eq!(&to_bytes(&value), &others);
            prop_assert_eq!(list_to_bytes(&[&value, &value]), to_bytes(&[&value, &value]));
        }

        #[test]
        fn what_was_written_reads_back_as_the_same_value_and_is_written_the_same_again(value in values()) {
            let bytes = to_bytes(&value);
            let read = strict_json::parse(&bytes).unwrap();
            prop_assert_eq!(to_bytes(&read), bytes);
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-9_007_199_254_740_991_i64..=9_007_199_254_740_991).prop_map(Value::from),
            (-1e9..1e9).prop_map(|number: f64| json!(number)),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    fn check(value: &Value, text: &str) {
        assert_eq!(String::from_utf8(to_bytes(value)).unwrap(), text);
    }
}
