//! Queries of lists: where a page starts and how long it may be.

use std::collections::BTreeMap;

use axum::{extract::Request, response::Response};
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
    /// A name given twice counts once, as its last value.
    pub(super) fn of(request: &Request) -> Self {
        let query = request.uri().query().unwrap_or_default();
        Self(form_urlencoded::parse(query.as_bytes()).into_owned().collect())
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
    fn only_a_cursor_that_was_given_out_is_read() {
        assert_eq!(read_cursor(&write_cursor(Position(42))), Some(Position(42)));
        for text in
            ["", "42", "c", "c0", "c-1", "c042", "c+42", "c 42", "not-a-cursor", "c99999999999999999999"]
        {
            assert_eq!(read_cursor(text), None, "{text}");
        }
    }
}
