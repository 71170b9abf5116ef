//! Holds every answer against the description of the API.

use serde_json::{Map, Value};

use crate::harness::Answer;

/// Panics with what does not fit. A path that the description does not know has no shape to fit.
pub fn check(description: &Value, method: &str, path: &str, answer: &Answer) {
    let path = path.split('?').next().unwrap();
    let Some(operation) = operation(description, &method.to_lowercase(), path) else { return };
    let status = answer.status.as_str();
    let described = operation["responses"].get(status);
    let response =
        described.unwrap_or_else(|| panic!("{method} {path} never answers {status}: {}", answer.body));
    let media_type = answer.header("content-type").unwrap_or_default();
    let Some(content) = response.get("content") else { return };
    let schema =
        &content.get(media_type).unwrap_or_else(|| panic!("{method} {path} is never {media_type}"))["schema"];
    let mut faults = Vec::new();
    compare(description, schema, &answer.body, "body", &mut faults);
    assert!(faults.is_empty(), "{method} {path} {status}: {faults:#?} in {}", answer.body);
}

fn operation<'a>(description: &'a Value, method: &str, path: &str) -> Option<&'a Value> {
    let paths = description["paths"].as_object().unwrap();
    let fits = |template: &str| {
        let (mut wanted, mut found) = (template.split('/'), path.split('/'));
        loop {
            match (wanted.next(), found.next()) {
                (None, None) => return true,
                (Some("{id}"), Some(_)) => {}
                (Some(one), Some(other)) if one == other => {}
                (None | Some(_), None | Some(_)) => return false,
            }
        }
    };
    paths.iter().find(|(template, _)| fits(template))?.1.get(method)
}

fn compare(description: &Value, schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
    let schema = match schema["$ref"].as_str() {
        Some(reference) => description.pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    };
    if let Some(choices) = schema["enum"].as_array()
        && !choices.contains(value)
    {
        faults.push(format!("{at}: {value} is none of {choices:?}"));
    }
    if let Some(constant) = schema.get("const")
        && constant != value
    {
        faults.push(format!("{at}: {value} is not {constant}"));
    }
    if let Some(kinds) = schema.get("type")
        && !kinds.as_array().unwrap_or(&vec![kinds.clone()]).contains(&Value::from(kind(value)))
    {
        faults.push(format!("{at}: {value} is no {kinds}"));
    }
    if let (Some(properties), Value::Object(members)) = (schema["properties"].as_object(), value) {
        members_fit(description, schema, properties, members, at, faults);
    }
    if let (Some(items), Value::Array(list)) = (schema.get("items"), value) {
        for (n, item) in list.iter().enumerate() {
            compare(description, items, item, &format!("{at}.{n}"), faults);
        }
    }
}

fn members_fit(
    description: &Value,
    schema: &Value,
    properties: &Map<String, Value>,
    members: &Map<String, Value>,
    at: &str,
    faults: &mut Vec<String>,
) {
    for required in schema["required"].as_array().into_iter().flatten() {
        if !members.contains_key(required.as_str().unwrap()) {
            faults.push(format!("{at}: {required} is missing"));
        }
    }
    for (name, value) in members {
        match properties.get(name) {
            Some(schema) => compare(description, schema, value, &format!("{at}.{name}"), faults),
            None if schema["additionalProperties"] == false => {
                faults.push(format!("{at}: {name} is not described"))
            }
            None => {}
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
