//! Requests that no client means well with: each is refused or its connection closed, and the next is served.

use crate::{
    program::Program,
    wire::{creation, exchange, head, quote, sale, sell, statuses},
};

/// Growth that the allocator and SQLite's caches explain.
const GROWTH_KIB: u64 = 48 * 1024;

const ROUNDS: usize = 10;

#[tokio::test]
async fn bad_bytes_are_refused_or_cut_off_and_leave_nothing_behind() {
    let mut program = Program::start().await;
    sell(program.address, "before", 20).await;
    let attacks = [heads(), bodies(), contents()].concat();
    for attack in &attacks {
        refused(&program, attack).await;
    }
    let settled = program.resident_kib();
    for _ in 0..ROUNDS {
        for attack in &attacks {
            refused(&program, attack).await;
        }
    }
    let grown = program.resident_kib().saturating_sub(settled);
    assert!(grown < GROWTH_KIB, "{grown} KiB more after {ROUNDS} rounds of {} attacks", attacks.len());
    sell(program.address, "after", 20).await;
    program.assert_unharmed();
}

async fn refused(program: &Program, attack: &[u8]) {
    let answer = exchange(program.address, attack).await;
    for status in statuses(&answer) {
        assert!((400..500).contains(&status), "{status} for {}:\n{answer}", quote(attack));
    }
}

/// Heads that are too large, too many, or none.
fn heads() -> Vec<Vec<u8>> {
    let get = |rest: &str| format!("GET /v1/catalog HTTP/1.1\r\n{rest}\r\n").into_bytes();
    vec![
        get(&format!("host: x\r\nx: {}\r\n", "y".repeat(1_000_000))),
        get(&format!("host: x\r\n{}", "x: y\r\n".repeat(10_000))),
        get(&format!("host: x\r\n{}: y\r\n", "x".repeat(100_000))),
        format!("GET /{} HTTP/1.1\r\nhost: x\r\n\r\n", "x".repeat(100_000)).into_bytes(),
        format!("{} / HTTP/1.1\r\n\r\n", "G".repeat(100_000)).into_bytes(),
        get("host: x\r\nx: a\0b\r\n"),
        get("host: x\r\nx y: z\r\n"),
        get("host: x\r\n folded: y\r\n"),
        get("host: x\r\nauthorization: Bearer \u{ff}\r\nconnection: close\r\n"),
        get(&format!("host: x\r\nauthorization: Bearer {}\r\nconnection: close\r\n", "t".repeat(8_000))),
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        b"GET /\r\n\r\n".to_vec(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        // A TLS hello.
        [&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..], &[7; 500]].concat(),
        vec![0; 20_000],
        (0..=255).cycle().take(50_000).collect(),
        b"\r\n".repeat(50_000),
    ]
}

/// Bodies whose length is a lie, or that never come to an end.
fn bodies() -> Vec<Vec<u8>> {
    let post = |headers: &str, body: &str| {
        let head = "POST /v1/transactions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer till\r\n\
                    content-type: application/json\r\nidempotency-key: hostile\r\nconnection: close\r\n";
        format!("{head}{headers}\r\n{body}").into_bytes()
    };
    let chunked = "transfer-encoding: chunked\r\n";
    let megabyte = format!("{:x}\r\n{}\r\n", 1 << 20, " ".repeat(1 << 20));
    vec![
        creation("hostile", &vec![b' '; 65_537]),
        creation("hostile", &vec![b'['; 2 << 20]),
        post("content-length: 99999999999999999999999\r\n", "{}"),
        post("content-length: -1\r\n", "{}"),
        post("content-length: 2\r\ncontent-length: 3\r\n", "{}"),
        post("content-length: two\r\n", "{}"),
        post("transfer-encoding: gzip\r\n", "{}"),
        post(chunked, "zz\r\n{}\r\n0\r\n\r\n"),
        post(chunked, "ffffffffffffffffff\r\n{}\r\n0\r\n\r\n"),
        post(chunked, "-1\r\n{}\r\n0\r\n\r\n"),
        post(chunked, &format!("2;{}\r\n{{}}\r\n0\r\n\r\n", "x".repeat(100_000))),
        post(chunked, &megabyte.repeat(4)),
        post(chunked, &format!("{}0\r\n\r\n", "1\r\n \r\n".repeat(70_000))),
        post(chunked, &format!("0\r\n{}\r\n", "x: y\r\n".repeat(10_000))),
    ]
}

/// Bodies that arrive whole and are no sale.
fn contents() -> Vec<Vec<u8>> {
    let filled = |text: &str| format!(r#"{{"external_transaction_id": "E", "amount": {text}}}"#).into_bytes();
    let nested = |levels: usize| [b"[".repeat(levels), b"]".repeat(levels)].concat();
    let bodies = [
        Vec::new(),
        nested(33),
        nested(30_000),
        b"[".repeat(65_000),
        b"{\"a\":".repeat(13_000),
        b"\"".repeat(65_000),
        filled(&"9".repeat(60_000)),
        filled("1e999999999"),
        filled("-0"),
        filled("18446744073709551616"),
        filled("\"\u{0}\""),
        filled(r#""\u0000""#),
        filled(&format!("\"{}\"", "9".repeat(60_000))),
        filled(&format!("\"{}\"", "\u{301}".repeat(30_000))),
        [&b"{\"external_transaction_id\": \""[..], &[0xff; 100], b"\"}"].concat(),
        format!(r#"{{"external_transaction_id": "{}", "amount": "1"}}"#, "é".repeat(30_000)).into_bytes(),
        format!(r#"{{"amount": "1", "external_transaction_id": "E\u0000"{}}}"#, r#","a":1"#.repeat(9_000))
            .into_bytes(),
        format!("{{{}}}", (0..5_000).map(|n| format!(r#""{n}":{n},"#)).collect::<String>()).into_bytes(),
    ];
    bodies.iter().map(|body| creation("hostile", body)).collect()
}

/// Cut anywhere, a request is either answered or dropped, never run half.
#[tokio::test]
async fn a_request_that_is_cut_off_sells_nothing() {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpStream,
    };
    let mut program = Program::start().await;
    let body = sale("CUT").to_string();
    let whole = format!("{}\r\n{body}", head("cut", body.len()));
    for at in 1..whole.len() {
        let mut stream = TcpStream::connect(program.address).await.unwrap();
        stream.write_all(&whole.as_bytes()[..at]).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.ok();
        assert!(statuses(&answer).iter().all(|status| (400..500).contains(status)), "cut at {at}: {answer}");
    }
    // Nothing was sold and the key is free.
    sell(program.address, "CUT", 1).await;
    let answer = exchange(program.address, &creation("cut", body.as_bytes())).await;
    assert_eq!(statuses(&answer), [201], "{answer}");
    program.assert_unharmed();
}

#[tokio::test]
async fn many_requests_in_one_breath_are_answered_one_by_one() {
    let mut program = Program::start().await;
    let body = sale("PIPELINED").to_string();
    let one = format!("{}\r\n{body}", head("pipelined", body.len())).repeat(500);
    let last = creation("pipelined", body.as_bytes());
    let answer = exchange(program.address, &[one.as_bytes(), &last].concat()).await;
    let statuses = statuses(&answer);
    assert_eq!(statuses.len(), 501);
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1);
    assert!(statuses[1..].iter().all(|status| *status == 200));
    program.assert_unharmed();
}
