//! Senders of one byte a second: they are cut off, and nobody waits for them.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, interval},
};

use crate::{
    program::Program,
    wire::{head, hundredths, sell, statuses, tell_ratio},
};

const SENDERS: usize = 400;

/// A head of one byte a second would take minutes, a body of one too.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_drips_is_cut_off_and_nobody_waits_for_it() {
    let mut program = Program::start().await;
    let address = program.address;
    let other = program.beside();
    sell(address, "before", 20).await;
    let before = program.resident_kib();
    let drips: Vec<_> = (0..SENDERS)
        .map(|n| {
            let head = head(&format!("slow-{n}"), 1_000);
            let (at_once, slowly) =
                if n % 2 == 0 { (String::new(), head) } else { (format!("{head}\r\n"), " ".repeat(1_000)) };
            tokio::spawn(async move { drip(address, &at_once, &slowly).await })
        })
        .collect();
    let ratio = hundredths(address, other.address, "with", 100).await;
    for drip in drips {
        let (took, answer) = drip.await.unwrap();
        assert!(took < Duration::from_secs(45), "held for {took:?}");
        // A till that is only slow is told to come again; a head that never ends gets no answer, or 408.
        assert!(statuses(&answer).iter().all(|status| [408, 503].contains(status)), "{answer}");
    }
    let grown = program.resident_kib().saturating_sub(before);
    assert!(grown < 64 * 1024, "{grown} KiB for {SENDERS} slow senders");
    tell_ratio(&format!("{SENDERS} senders of one byte a second"), ratio);
    program.assert_unharmed();
}

/// One byte a second until the server has enough; how long that took, and what it said.
async fn drip(address: std::net::SocketAddr, at_once: &str, slowly: &str) -> (Duration, String) {
    let began = Instant::now();
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut from, mut to) = stream.into_split();
    to.write_all(at_once.as_bytes()).await.unwrap();
    let mut second = interval(Duration::from_secs(1));
    let write = async {
        for byte in slowly.as_bytes() {
            second.tick().await;
            if to.write_all(&[*byte]).await.is_err() {
                break;
            }
        }
    };
    let mut answer = Vec::new();
    let read = async {
        from.read_to_end(&mut answer).await.ok();
    };
    tokio::select! { () = write => {} () = read => {} }
    (began.elapsed(), String::from_utf8_lossy(&answer).into_owned())
}
