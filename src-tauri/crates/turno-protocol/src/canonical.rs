//! The one way to write a JSON value (RFC 8785), so that equal content has equal bytes.
//!
//! Invariant: the bytes depend on the value alone, never on how it was laid out, ordered or escaped.

use serde::Serialize;

/// The canonical bytes of `value`: members sorted by UTF-16 code units, no white space, numbers as ECMAScript
/// writes them. Made for JSON values, and for lists and maps of them.
pub fn to_bytes<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json_canonicalizer::to_vec(value)
        .expect("a json value has texts for names and finite numbers, and a buffer takes every write")
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
