//! Queries of lists: where a page starts and how long it may be.

use std::{borrow::Cow, collections::BTreeMap};

use axum::{extract::Request, response::Response};
use percent_encoding::percent_decode_str;
use serde::Serialize;
use turno_protocol::body::{FieldFault, ListAnswer};

use super::{answer, refusal::Refusal};
use crate::ledger::{Page, PageRequest, Position};

/// Longest page, by the contract.
const LARGEST_PAGE: u16 = 500;

/// Length of a page that nobody asked a length for.
const DEFAULT_PAGE: u16 = 100;

/// What marks a cursor as one of ours.
const CURSOR_PREFIX: &str = "c";

pub(super) struct Query(BTreeMap<String, String>);

impl Query {
    /// What two readers could take differently is refused: a name given twice, a text that is no UTF-8.
    pub(super) fn of(request: &Request) -> Result<Self, Refusal> {
        Self::read(request.uri().query().unwrap_or_default()).map_err(Refusal::invalid)
    }

    fn read(query: &str) -> Result<Self, Vec<FieldFault>> {
        let (mut members, mut faults) = (BTreeMap::new(), Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (raw_name, raw_value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decode(raw_name);
            let fault = match (&name, decode(raw_value)) {
                (Some(name), Some(value)) => {
                    members.insert(name.clone(), value).is_some().then_some("repeated")
                }
                (Some(_) | None, _) => Some("not_a_text"),
            };
            if let Some(code) = fault {
                let path = name.unwrap_or_else(|| raw_name.to_owned());
                faults.push(FieldFault { path, code: code.to_owned() });
            }
        }
        if faults.is_empty() { Ok(Self(members)) } else { Err(faults) }
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub(super) fn page(&self) -> Result<PageRequest, Refusal> {
        let mut faults = Vec::new();
        let mut fault =
            |path: &str, code: &str| faults.push(FieldFault { path: path.to_owned(), code: code.to_owned() });
        let limit = self.get("limit").map_or(Some(DEFAULT_PAGE), |text| text.parse().ok());
        let limit = limit.filter(|limit| (1..=LARGEST_PAGE).contains(limit));
        if limit.is_none() {
            fault("limit", "out_of_range");
        }
        let after = match self.get("after").map(read_cursor) {
            None => None,
            Some(Some(position)) => Some(position),
            Some(None) => {
                fault("after", "not_a_cursor");
                None
            }
        };
        match limit {
            Some(limit) if faults.is_empty() => Ok(PageRequest { after, limit }),
            Some(_) | None => Err(Refusal::invalid(faults)),
        }
    }
}

/// As forms are encoded.
fn decode(text: &str) -> Option<String> {
    let text = text.replace('+', " ");
    percent_decode_str(&text).decode_utf8().ok().map(Cow::into_owned)
}

/// Only what [`write_cursor`] writes: one position has one spelling.
fn read_cursor(text: &str) -> Option<Position> {
    let position = Position(text.strip_prefix(CURSOR_PREFIX)?.parse().ok()?);
    (position.0 > 0 && write_cursor(position) == text).then_some(position)
}

fn write_cursor(position: Position) -> String {
    format!("{CURSOR_PREFIX}{}", position.0)
}

pub(super) fn answer<T, V: Serialize>(page: Page<T>, view: impl FnMut(T) -> V) -> Response {
    let items: Vec<V> = page.items.into_iter().map(view).collect();
    answer::json(axum::http::StatusCode::OK, &ListAnswer { items, next: page.next.map(write_cursor) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_that_can_be_read_in_two_ways_is_not_read() {
        let read = |query| Query::read(query).map(|query| query.0.into_iter().collect::<Vec<_>>());
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(read("a=1&b=%C3%B1+2&&c").unwrap(), [pair("a", "1"), pair("b", "ñ 2"), pair("c", "")]);
        for (query, path, code) in [
            ("a=1&a=1", "a", "repeated"),
            ("a=1&%61=2", "a", "repeated"),
            ("a=%ff", "a", "not_a_text"),
            ("%ff=1", "%ff", "not_a_text"),
            ("a=1&a=%ff", "a", "not_a_text"),
        ] {
            let faults = read(query).unwrap_err();
            let found: Vec<_> =
                faults.iter().map(|fault| (fault.path.as_str(), fault.code.as_str())).collect();
            assert_eq!(found, [(path, code)], "{query}");
        }
    }

    #[test]
    fn only_a_cursor_that_was_given_out_is_read() {
        assert_eq!(read_cursor(&write_cursor(Position(42))), Some(Position(42)));
        for text in
            ["", "42", "c", "c0", "c-1", "c042", "c+42", "c 42", "not-a-cursor", "c99999999999999999999"]
        {
            assert_eq!(read_cursor(text), None, "{text}");
        }
    }
}
