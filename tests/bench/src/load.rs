//! A lean load: connections that are kept open, each sending its next request when the last one is answered.
//!
//! Requests are written and answers read by hand, because whatever the load costs is taken from the server on the
//! same two cores. Invariant: an answer with another status than the expected one ends the turn with an error.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::Instant,
};

/// At the start of each turn: caches fill, connections open, nothing is counted.
const WARM_UP: Duration = Duration::from_millis(300);

/// No answer is longer.
const LONGEST_ANSWER: usize = 16 * 1024;

/// What one turn found.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    pub per_second: f64,
    /// Of all counted answers, in ascending order.
    micros: Vec<u32>,
}

impl Turn {
    pub fn p50_micros(&self) -> f64 {
        self.micros.get(self.micros.len() / 2).copied().map_or(f64::NAN, f64::from)
    }
}

/// Whatever writes the next request into an empty text.
pub type Requests = Arc<dyn Fn(&mut String) + Send + Sync>;

/// Keep `connections` busy for `length`. Every answer must have the status `expected`.
pub async fn run(
    address: SocketAddr,
    connections: usize,
    length: Duration,
    expected: u16,
    requests: Requests,
) -> Result<Turn> {
    run_with(address, connections, length, vec![expected], requests).await
}

/// As [`run`], with answers of any of the statuses `expected`.
pub async fn run_with(
    address: SocketAddr,
    connections: usize,
    length: Duration,
    expected: Vec<u16>,
    requests: Requests,
) -> Result<Turn> {
    let counted_from = Instant::now() + WARM_UP;
    let until = counted_from + length;
    let mut tasks = JoinSet::new();
    for _ in 0..connections {
        let (requests, expected) = (Arc::clone(&requests), expected.clone());
        tasks.spawn(async move {
            let mut connection = Connection::open(address).await?;
            let mut micros = Vec::new();
            loop {
                let sent = Instant::now();
                if sent >= until {
                    return anyhow::Ok(micros);
                }
                let status = connection.ask(|text| requests(text)).await?;
                if !expected.contains(&status) {
                    bail!("{status} instead of {expected:?}: {}", connection.answer());
                }
                if sent >= counted_from {
                    micros.push(u32::try_from(sent.elapsed().as_micros())?);
                }
            }
        });
    }
    let mut micros = Vec::new();
    while let Some(done) = tasks.join_next().await {
        micros.extend(done??);
    }
    micros.sort_unstable();
    let per_second = f64::from(u32::try_from(micros.len())?) / length.as_secs_f64();
    Ok(Turn { per_second, micros })
}

/// Send each request once, as fast as the server takes them.
pub async fn send_all(
    address: SocketAddr,
    connections: usize,
    expected: u16,
    count: u64,
    requests: Requests,
) -> Result<()> {
    let left = Arc::new(std::sync::atomic::AtomicU64::new(count));
    let mut tasks = JoinSet::new();
    for _ in 0..connections {
        let (requests, left) = (Arc::clone(&requests), Arc::clone(&left));
        tasks.spawn(async move {
            use std::sync::atomic::Ordering::Relaxed;
            let mut connection = Connection::open(address).await?;
            while left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok() {
                let status = connection.ask(|text| requests(text)).await?;
                ensure!(status == expected, "{status}: {}", connection.answer());
            }
            anyhow::Ok(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(())
}

struct Connection {
    stream: TcpStream,
    request: String,
    answer: Vec<u8>,
    length: usize,
}

impl Connection {
    async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await.context("the server does not take a connection")?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, request: String::new(), answer: vec![0; LONGEST_ANSWER], length: 0 })
    }

    /// One exchange; the answer's status.
    async fn ask(&mut self, write: impl FnOnce(&mut String)) -> Result<u16> {
        self.request.clear();
        write(&mut self.request);
        self.stream.write_all(self.request.as_bytes()).await?;
        self.length = 0;
        loop {
            let read = self.stream.read(&mut self.answer[self.length..]).await?;
            ensure!(read > 0, "the server closed the connection");
            self.length += read;
            if let Some(whole) = whole_length(&self.answer[..self.length])?
                && self.length >= whole
            {
                let status = self.answer.get(9..12).context("no status line")?;
                return Ok(std::str::from_utf8(status)?.parse()?);
            }
        }
    }

    fn answer(&self) -> String {
        String::from_utf8_lossy(&self.answer[..self.length]).into_owned()
    }
}

/// Head and body together, once the head is there.
fn whole_length(answer: &[u8]) -> Result<Option<usize>> {
    let Some(head) = answer.windows(4).position(|window| window == b"\r\n\r\n") else { return Ok(None) };
    let text = std::str::from_utf8(&answer[..head])?;
    let is_length =
        |line: &&str| line.get(..15).is_some_and(|name| name.eq_ignore_ascii_case("content-length:"));
    let line = text.lines().find(is_length).context("an answer without a length")?;
    let length: usize = line[15..].trim().parse()?;
    Ok(Some(head + 4 + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_whole_when_its_body_is() {
        let answer = b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\nx: y\r\n\r\n{}";
        assert_eq!(whole_length(answer).unwrap(), Some(answer.len()));
        assert_eq!(whole_length(&answer[..40]).unwrap(), None);
        assert!(whole_length(b"HTTP/1.1 201 Created\r\n\r\n").is_err());
    }
}
