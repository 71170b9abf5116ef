//! What answers of every kind have in common: pages, and the id of the request.
//!
//! Invariant: `next` is written even when it is null, so that the end of a list is said and not guessed.

use serde::{Deserialize, Serialize};

/// One page of a list, oldest first. `next` goes into `after`; null at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListAnswer<T> {
    pub items: Vec<T>,
    pub next: Option<String>,
}

/// A body with the id of the request that it answers, as in `X-Request-Id`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identified<T> {
    #[serde(flatten)]
    pub body: T,
    pub request_id: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_says_where_the_next_one_begins_or_that_there_is_none() {
        let page = |next: Option<&str>| Identified {
            body: ListAnswer { items: vec![1], next: next.map(str::to_owned) },
            request_id: "r".to_owned(),
        };
        let json = serde_json::to_string(&page(None)).unwrap();
        assert_eq!(json, r#"{"items":[1],"next":null,"request_id":"r"}"#);
        let json = serde_json::to_string(&page(Some("c"))).unwrap();
        assert_eq!(json, r#"{"items":[1],"next":"c","request_id":"r"}"#);
        assert_eq!(serde_json::from_str::<Identified<ListAnswer<u8>>>(&json).unwrap(), page(Some("c")));
    }
}
