//! Takes members out of a body and collects what is wrong with them.
//!
//! Invariant: `null` is absent, a wrong kind is a fault and never absent, and a NUL anywhere is a fault: stores and
//! printers disagree about what comes after it.

use serde_json::{Map, Value};
use turno_domain::{Currency, Money, text::normalise_free_text};
use turno_protocol::body::FieldFault;

/// All that is wrong with a body. Never empty.
pub type Faults = Vec<FieldFault>;

/// Shown path of a body that is no object at all.
const WHOLE_BODY: &str = "";

pub(super) struct Fields<'a> {
    members: &'a Map<String, Value>,
    prefix: &'static str,
    faults: Vec<FieldFault>,
}

impl<'a> Fields<'a> {
    /// The members of `body`, with a fault for every NUL in it.
    pub(super) fn of(body: &'a Value) -> Result<Self, Faults> {
        let Value::Object(members) = body else { return Err(vec![fault(WHOLE_BODY, "not_an_object")]) };
        let mut faults = Vec::new();
        find_nul(body, "", &mut faults);
        Ok(Self { members, prefix: "", faults })
    }

    /// The members of an object in this one; none if it is absent.
    pub(super) fn nested(&mut self, name: &'static str, prefix: &'static str) -> Option<Fields<'a>> {
        match self.member(name)? {
            Value::Object(members) => Some(Fields { members, prefix, faults: Vec::new() }),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Null => {
                self.fault(name, "not_an_object");
                None
            }
        }
    }

    /// What a nested object's fields found wrong counts for the whole.
    pub(super) fn absorb(&mut self, nested: Fields<'_>) {
        self.faults.extend(nested.faults);
    }

    pub(super) fn fault(&mut self, name: &str, code: &str) {
        self.faults.push(fault(&format!("{}{name}", self.prefix), code));
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.member(name).is_some()
    }

    /// The text as it was sent; an empty one too.
    pub(super) fn text(&mut self, name: &str) -> Option<&'a str> {
        match self.member(name)? {
            Value::String(text) => Some(text),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) | Value::Null => {
                self.fault(name, "not_a_text");
                None
            }
        }
    }

    pub(super) fn required_text(&mut self, name: &str) -> Option<&'a str> {
        if !self.has(name) {
            self.fault(name, "required");
        }
        self.text(name)
    }

    /// The text as it was sent, absent if it is empty.
    pub(super) fn optional_text(&mut self, name: &str) -> Option<String> {
        self.text(name).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// The text as people mean it, absent if nothing is left of it.
    pub(super) fn free_text(&mut self, name: &str) -> Option<String> {
        self.text(name).map(normalise_free_text).filter(|text| !text.is_empty())
    }

    /// A required text that `parse` takes; its refusal names the fault.
    pub(super) fn required<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, &'static str>,
    ) -> Option<T> {
        match parse(self.required_text(name)?) {
            Ok(value) => Some(value),
            Err(code) => {
                self.fault(name, code);
                None
            }
        }
    }

    /// `amount` in `currency`, or in the company's when none is named.
    pub(super) fn money(&mut self, default_currency: Currency) -> Option<Money> {
        let currency = match self.text("currency").map(Currency::parse) {
            Some(Ok(currency)) => Some(currency),
            Some(Err(_)) => {
                self.fault("currency", "unknown_currency");
                None
            }
            None if self.has("currency") => None,
            None => Some(default_currency),
        };
        let text = self.required_text("amount")?;
        // With no currency to read it in, only what no currency allows can be told.
        let lenient = currency.is_none();
        match Money::parse_amount(text, currency.unwrap_or(default_currency)) {
            Ok(money) => currency.map(|_| money),
            Err(turno_domain::money::AmountError::TooManyDecimals) if lenient => None,
            Err(error) => {
                self.fault("amount", error.code());
                None
            }
        }
    }

    /// `value`, if nothing was wrong. Every missing part of it has left a fault.
    pub(super) fn finish<T>(self, value: Option<T>) -> Result<T, Faults> {
        match value {
            Some(value) if self.faults.is_empty() => Ok(value),
            Some(_) | None => Err(self.faults),
        }
    }

    fn member(&self, name: &str) -> Option<&'a Value> {
        self.members.get(name).filter(|value| !value.is_null())
    }
}

fn fault(path: &str, code: &str) -> FieldFault {
    FieldFault { path: path.to_owned(), code: code.to_owned() }
}

fn find_nul(value: &Value, path: &str, faults: &mut Vec<FieldFault>) {
    let inner = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::String(text) if text.contains('\0') => faults.push(fault(path, "nul_character")),
        Value::Array(items) => {
            for (n, item) in items.iter().enumerate() {
                find_nul(item, &inner(&n.to_string()), faults);
            }
        }
        Value::Object(members) => {
            for (name, value) in members {
                if name.contains('\0') {
                    faults.push(fault(path, "nul_character"));
                }
                find_nul(value, &inner(name), faults);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
