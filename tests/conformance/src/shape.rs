//! Whether JSON has the shape that a case wants.

use serde_json::Value;

/// How `got` differs from `wanted`. Objects may have more members; a wanted `null` is null or absent.
pub fn differences(wanted: &Value, got: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(wanted, got, "", &mut found);
    found
}

pub fn fits(wanted: &Value, got: &Value) -> bool {
    differences(wanted, got).is_empty()
}

fn compare(wanted: &Value, got: &Value, at: &str, found: &mut Vec<String>) {
    match (wanted, got) {
        (Value::Object(wanted), Value::Object(got)) => {
            for (name, wanted) in wanted {
                compare(wanted, got.get(name).unwrap_or(&Value::Null), &format!("{at}/{name}"), found);
            }
        }
        (Value::Array(wanted), Value::Array(got)) if wanted.len() == got.len() => {
            for (n, (wanted, got)) in wanted.iter().zip(got).enumerate() {
                compare(wanted, got, &format!("{at}/{n}"), found);
            }
        }
        (wanted, got) if wanted == got => {}
        (wanted, got) => found.push(format!("{at}: expected {wanted}, got {got}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_may_have_more_and_a_list_may_not() {
        assert!(fits(&json!({"a": {"b": 1}, "c": null}), &json!({"a": {"b": 1, "d": 2}})));
        assert_eq!(
            differences(&json!({"a": [1], "c": null}), &json!({"a": [1, 2], "c": 3})),
            ["/a: expected [1], got [1,2]", "/c: expected null, got 3"]
        );
    }
}
