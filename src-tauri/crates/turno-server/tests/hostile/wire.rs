//! HTTP by hand, so that it can be wrong.

use std::{net::SocketAddr, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

/// What takes longer is not answered at all: the server's own limits are 10 and 12 seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// The head of a creation with a body of this length.
pub fn head(key: &str, length: usize) -> String {
    format!(
        "POST /v1/transactions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer till\r\n\
         content-type: application/json\r\nidempotency-key: {key}\r\ncontent-length: {length}\r\n"
    )
}

/// A whole creation, after which the server closes.
pub fn creation(key: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("{}connection: close\r\n\r\n", head(key, body.len()));
    [head.as_bytes(), body].concat()
}

/// A sale without anything that it could look like.
pub fn sale(id: &str) -> Value {
    json!({"external_transaction_id": id, "amount": "2.00", "device_id": "D"})
}

/// Whatever comes until the server closes; nothing if it closes at once or the line breaks.
pub async fn exchange(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // It may close before it has read everything, which is its right.
    let (mut from, mut to) = stream.split();
    let write = async {
        to.write_all(bytes).await.ok();
    };
    let read = async {
        let mut got = Vec::new();
        from.read_to_end(&mut got).await.ok();
        got
    };
    let both = timeout(PATIENCE, async { tokio::join!(write, read) });
    let ((), got) = both.await.unwrap_or_else(|_| panic!("never answered nor closed: {}", quote(bytes)));
    String::from_utf8_lossy(&got).into_owned()
}

/// The status of each answer in what came.
pub fn statuses(got: &str) -> Vec<u16> {
    got.split("HTTP/1.1 ").skip(1).map(|answer| answer[..3].parse().unwrap()).collect()
}

pub fn quote(bytes: &[u8]) -> String {
    bytes[..bytes.len().min(200)].escape_ascii().to_string()
}

/// Sell this many, one after the other, each on a line of its own; how long each took.
pub async fn sell(address: SocketAddr, label: &str, count: usize) -> Vec<Duration> {
    let mut took = Vec::with_capacity(count);
    for n in 0..count {
        let id = format!("{label}-{n}");
        let began = std::time::Instant::now();
        let answer = exchange(address, &creation(&id, sale(&id).to_string().as_bytes())).await;
        took.push(began.elapsed());
        assert_eq!(statuses(&answer), [201], "{answer}");
    }
    took
}

/// Sell in turns on a server that is attacked and on one that is not, so that whatever else the machine does slows
/// both: how many hundredths of the time without the attack a sale takes with it.
pub async fn hundredths(attacked: SocketAddr, other: SocketAddr, label: &str, count: usize) -> u128 {
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for n in 0..count {
        with.extend(sell(attacked, &format!("{label}-{n}"), 1).await);
        without.extend(sell(other, &format!("{label}-{n}"), 1).await);
    }
    median(with).as_micros() * 100 / median(without).as_micros().max(1)
}

fn median(mut took: Vec<Duration>) -> Duration {
    took.sort_unstable();
    took[took.len() / 2]
}

/// For people who watch the tests, past the harness that keeps their output: how much slower others were.
pub fn tell_ratio(attack: &str, hundredths: u128) {
    use std::io::Write;
    let mut out = std::io::stderr();
    writeln!(out, "{attack}: others take {}.{:02} times as long", hundredths / 100, hundredths % 100)
        .unwrap();
}
