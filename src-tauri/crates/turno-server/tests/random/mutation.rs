//! Good bytes made bad: cut, spliced, doubled, and with pieces in them that readers stumble over.

use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
};
use serde_json::{Value, json};

#[derive(Clone, Debug)]
pub enum Edit {
    Set(Index, u8),
    Insert(Index, &'static [u8]),
    Remove(Index, usize),
    Double(Index, usize),
    Cut(Index),
}

/// What JSON readers have been known to stumble over.
const PIECES: [&[u8]; 28] = [
    b"\0",
    b"\\u0000",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\\ud800",
    b"\\udc00\\ud800",
    b"\xef\xbb\xbf",
    "e\u{301}".as_bytes(),
    "\u{202e}".as_bytes(),
    "\u{10ffff}".as_bytes(),
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    b"]",
    b"{",
    b"}",
    b"{}",
    b",",
    b":",
    b"\"",
    b"null",
    b"1e999",
    b"-0",
    b"9007199254740993",
    b"99999999999999999999999999999999999999999999",
    b"0.1e-400",
    b"\"amount\":\"1\",",
    b"\"context\":null,",
    b"2026-11-30T23:59:60Z",
];

const LONGEST_EDIT: usize = 40;

pub fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let place = any::<Index>;
    let length = 1..LONGEST_EDIT;
    vec(
        prop_oneof![
            (place(), any::<u8>()).prop_map(|(at, byte)| Edit::Set(at, byte)),
            (place(), select(&PIECES[..])).prop_map(|(at, piece)| Edit::Insert(at, piece)),
            (place(), length.clone()).prop_map(|(at, length)| Edit::Remove(at, length)),
            (place(), length).prop_map(|(at, length)| Edit::Double(at, length)),
            place().prop_map(Edit::Cut),
        ],
        1..5,
    )
}

pub fn edited(good: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for edit in edits {
        // One place more than there are bytes: behind the last is a place too.
        let place = |at: &Index| at.index(bytes.len() + 1);
        let span = |at: &Index, length: &usize| place(at)..(place(at) + length).min(bytes.len());
        match edit {
            Edit::Set(at, byte) => {
                let at = place(at);
                bytes.splice(at..(at + 1).min(bytes.len()), [*byte]);
            }
            Edit::Insert(at, piece) => {
                let at = place(at);
                bytes.splice(at..at, piece.iter().copied());
            }
            Edit::Remove(at, length) => {
                let span = span(at, length);
                bytes.drain(span);
            }
            Edit::Double(at, length) => {
                let span = span(at, length);
                let (end, copy) = (span.end, bytes[span].to_vec());
                bytes.splice(end..end, copy);
            }
            Edit::Cut(at) => bytes.truncate(place(at)),
        }
    }
    bytes
}

/// Values that fit nowhere, for one member of a body.
#[derive(Clone, Copy, Debug)]
pub enum Odd {
    Null,
    True,
    Empty,
    Blank,
    Nul,
    Long,
    Combining,
    Decomposed,
    Separators,
    Huge,
    Fraction,
    MinusZero,
    NoList,
    List,
    Object,
    Nested,
}

impl Odd {
    const ALL: [Self; 16] = [
        Self::Null,
        Self::True,
        Self::Empty,
        Self::Blank,
        Self::Nul,
        Self::Long,
        Self::Combining,
        Self::Decomposed,
        Self::Separators,
        Self::Huge,
        Self::Fraction,
        Self::MinusZero,
        Self::NoList,
        Self::List,
        Self::Object,
        Self::Nested,
    ];

    fn value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::True => json!(true),
            Self::Empty => json!(""),
            Self::Blank => json!(" \u{a0}\u{3000}\t"),
            Self::Nul => json!("a\0b"),
            Self::Long => json!("x".repeat(20_000)),
            Self::Combining => json!("\u{301}".repeat(5_000)),
            Self::Decomposed => json!("Jose\u{301} \u{212b}\u{1e9e}\u{130}"),
            Self::Separators => json!("\u{2028}\u{85}\u{feff}\u{200d}\u{10ffff}"),
            Self::Huge => json!(9_007_199_254_740_991_i64),
            Self::Fraction => json!(1.797e308),
            Self::MinusZero => json!(-0.0),
            Self::NoList => json!([]),
            Self::List => json!([null, 1, "x", {}]),
            Self::Object => json!({"": {"a": null}, "seat": "12A"}),
            Self::Nested => (0..30).fold(json!(1), |inner, _| json!([inner])),
        }
    }
}

/// A member, by its place, and what stands in its stead.
pub fn odd() -> impl Strategy<Value = Vec<(Index, Odd)>> {
    vec((any::<Index>(), select(&Odd::ALL[..])), 1..4)
}

/// The good body with members replaced, those of `context` included.
pub fn replaced(good: &str, odd: &[(Index, Odd)]) -> Vec<u8> {
    let mut body: Value = serde_json::from_str(good).unwrap();
    for (place, odd) in odd {
        let mut paths: Vec<String> = Vec::new();
        for (name, value) in body.as_object().unwrap() {
            paths.push(format!("/{name}"));
            paths
                .extend(value.as_object().into_iter().flatten().map(|(inner, _)| format!("/{name}/{inner}")));
        }
        let path: &String = place.get(&paths);
        *body.pointer_mut(path).unwrap() = odd.value();
    }
    body.to_string().into_bytes()
}
