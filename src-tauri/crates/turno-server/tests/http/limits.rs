//! What one caller, one connection or the end of the process may cost the others.

use std::{num::NonZeroU32, time::Duration};

use futures_util::{StreamExt, stream::FuturesUnordered};
use jiff::SignedDuration;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use turno_server::{
    Clock, Door, RateLimit,
    acquirer::{Acquirer, Answer, Charge, Found, LookUp},
    payment::PaymentResult,
};

use crate::{
    harness::{Server, Site, sale},
    listening::Listening,
};

/// Everything that comes until the server closes.
async fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    String::from_utf8(bytes).unwrap()
}

fn request(key: &str, body: &str) -> String {
    format!(
        "POST /v1/transactions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer pos\r\ncontent-type: application/json\r\n\
         idempotency-key: {key}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    )
}

#[tokio::test]
async fn a_credential_that_asks_too_often_waits_and_nobody_else_does() {
    let server = Server::new().await;
    let number = |number| NonZeroU32::new(number).unwrap();
    let limit = RateLimit { per_second: number(1), burst: number(3) };
    let server = server.with_config(|config| config.rate_limit = Some(limit));
    for n in 0..3 {
        server.get("/v1/transactions?device_id=D").await.expect(200);
        assert!(n < 3);
    }
    let throttled = server.create("k", sale("E-1", json!({}))).await.refused(429, "rate_limited");
    assert_eq!(throttled.header("retry-after"), Some("1"));
    server.get_as("manager", "/v1/audit").await.expect(200);
    server.site.clock.advance(SignedDuration::from_secs(1));
    server.create("k", sale("E-1", json!({}))).await.expect(201);
}

#[tokio::test]
async fn a_sale_over_a_socket_is_answered_and_the_end_waits_for_it() {
    let server = Server::new().await;
    let listening = Listening::start(&server, server.site.config()).await;
    let body = sale("E-1", json!({})).to_string();
    let mut stream = listening.connect().await;
    let head = request("k", &body);
    // The head is read and the body is awaited when the server is asked to end.
    stream.write_all(head.as_bytes()).await.unwrap();
    let (half, other_half) = body.split_at(body.len() / 2);
    stream.write_all(half.as_bytes()).await.unwrap();
    let mut probe = listening.connect().await;
    probe.write_all(b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
    assert!(rest(&mut probe).await.starts_with("HTTP/1.1 200"));
    listening.stop.send(()).unwrap();
    while TcpStream::connect(listening.address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    stream.write_all(other_half.as_bytes()).await.unwrap();
    let answer = rest(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    listening.serving.await.unwrap().unwrap();
    assert_eq!(server.sales_of("D03").await, 1);
}

#[tokio::test]
async fn whoever_asks_first_whether_to_send_too_much_is_not_told_to_go_on() {
    let server = Server::new().await;
    let listening = Listening::start(&server, server.site.config()).await;
    let ask = async |length: usize| {
        let mut stream = listening.connect().await;
        let head =
            request("k", &" ".repeat(length)).replacen("host: x", "host: x\r\nexpect: 100-continue", 1);
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut status = vec![0; 12];
        stream.read_exact(&mut status).await.unwrap();
        (String::from_utf8(status).unwrap(), stream)
    };
    let (status, mut stream) = ask(64 * 1024 + 1).await;
    assert_eq!(status, "HTTP/1.1 413");
    assert!(rest(&mut stream).await.contains("payload_too_large"), "and the connection is closed");
    let (status, _) = ask(64 * 1024).await;
    assert_eq!(status, "HTTP/1.1 100");
}

#[tokio::test]
async fn while_it_drains_nothing_is_run() {
    let server = Server::new().await;
    let config = server.site.config();
    let drain = config.drain.clone();
    let server = server.with_config(|own| *own = config);
    drain.begin();
    let refused = server.create("k", sale("E-1", json!({}))).await.refused(503, "service_unavailable");
    assert!(refused.header("retry-after").is_some());
    server.get("/ready").await.refused(503, "service_unavailable");
    server.get("/health").await.expect(200);
    drain.finished().await;
}

#[tokio::test]
async fn a_head_that_is_a_bomb_is_refused() {
    let server = Server::new().await;
    let listening = Listening::start(&server, server.site.config()).await;
    for bomb in [format!("x: {}\r\n", "y".repeat(20_000)), "x: y\r\n".repeat(100)] {
        let mut stream = listening.connect().await;
        stream.write_all(format!("GET /health HTTP/1.1\r\nhost: x\r\n{bomb}\r\n").as_bytes()).await.unwrap();
        let mut answer = vec![0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(String::from_utf8(answer).unwrap(), "HTTP/1.1 431");
    }
}

/// In paused time: the server waits ten seconds, the test does not.
#[tokio::test(start_paused = true)]
async fn a_body_that_drips_is_told_to_come_again_and_a_head_that_does_is_cut_off() {
    let server = Server::inline().await;
    let listening = Listening::start(&server, server.site.config()).await;
    let mut slow_body = listening.connect().await;
    slow_body.write_all(request("k", &" ".repeat(100)).as_bytes()).await.unwrap();
    let mut slow_head = listening.connect().await;
    slow_head.write_all(b"GET /health HTTP/1.1\r\nhost:").await.unwrap();
    let started = tokio::time::Instant::now();
    let mut status = vec![0; 12];
    slow_body.read_exact(&mut status).await.unwrap();
    assert_eq!(String::from_utf8(status).unwrap(), "HTTP/1.1 503");
    rest(&mut slow_head).await;
    assert!(started.elapsed() >= Duration::from_secs(10));
}

#[tokio::test]
async fn what_happens_is_counted_by_code_and_never_by_name() {
    let server = Server::new().await;
    server.create("k", sale("E-1", json!({"buyer_name": "Rosa Quispe"}))).await.expect(201);
    server.create("k", sale("E-1", json!({"buyer_name": "Rosa Quispe"}))).await.expect(200);
    server.create("k", sale("E-2", json!({}))).await.expect(409);
    let metrics = server.text("/metrics").await;
    for line in [
        "turno_answers_total{code=\"ok\"} 2",
        "turno_answers_total{code=\"idempotency_conflict\"} 1",
        "turno_replays_total 1",
        "turno_store_queue_depth 0",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line} in\n{metrics}");
    }
    assert!(!metrics.contains("Rosa") && !metrics.contains("E-1"));
}

#[tokio::test]
async fn a_bug_in_one_request_is_answered_and_the_next_is_served() {
    struct Broken;
    impl Acquirer for Broken {
        fn charge(&self, _: Charge) -> Answer<'_, PaymentResult> {
            panic!("a bug in an adapter")
        }
        fn find<'a>(&'a self, _: LookUp<'a>) -> Answer<'a, Found> {
            panic!("a bug in an adapter")
        }
    }
    let server = Site::new(std::sync::Arc::new(Broken)).start().await;
    let sale = server.create("k", sale("E-1", json!({"payment_method": "card"}))).await.expect(201);
    let path = format!("/v1/transactions/{}/payments", sale.text("yupy_transaction_id"));
    let body = json!({"external_payment_id": "P", "amount": "85.50", "currency": "PEN"});
    server.post(&path, "p", body).await.refused(503, "outcome_unknown");
    server.get("/v1/catalog").await.expect(200);
}

#[tokio::test]
async fn beyond_the_last_place_a_connection_is_closed_and_counted() {
    let server = Server::new().await;
    let config = server.site.config();
    let own = config.clone();
    let server = server.with_config(|config| *config = own);
    let door = Door { connections: 1, ..Door::default() };
    let listening = Listening::behind(&server, config, door).await;
    let probe = b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n";
    let mut first = listening.connect().await;
    first.write_all(probe).await.unwrap();
    first.read_exact(&mut [0; 12]).await.unwrap();
    let mut second = listening.connect().await;
    second.read_to_end(&mut Vec::new()).await.unwrap();
    let metrics = server.text("/metrics").await;
    assert!(metrics.lines().any(|line| line == "turno_connections_refused_total 1"), "{metrics}");
    drop(first);
}

/// In paused time. A byte a second arrives for ever, and neither head nor body is waited for that long.
#[tokio::test(start_paused = true)]
async fn whoever_sends_a_byte_a_second_is_cut_off_in_time() {
    let server = Server::inline().await;
    let listening = Listening::start(&server, server.site.config()).await;
    let head = request("k", &" ".repeat(100));
    for start in ["", &head] {
        let mut stream = listening.connect().await;
        stream.write_all(start.as_bytes()).await.unwrap();
        let started = tokio::time::Instant::now();
        let mut said = Vec::new();
        let mut ticks = tokio::time::interval(Duration::from_secs(1));
        loop {
            tokio::select! {
                _ = ticks.tick() => drop(stream.write_all(b"G").await),
                read = stream.read_buf(&mut said) => if read.is_ok_and(|count| count > 0) { continue } else { break },
            }
        }
        let took = started.elapsed();
        assert!(took >= Duration::from_secs(9) && took < Duration::from_secs(13), "{took:?}");
    }
}

/// In paused time. Somebody asks for much and reads nothing of it.
#[tokio::test(start_paused = true)]
async fn whoever_does_not_read_is_cut_off_in_time() {
    let server = Server::inline().await;
    let listening = Listening::start(&server, server.site.config()).await;
    let mut stream = listening.connect().await;
    let request = b"GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n".repeat(100);
    let started = tokio::time::Instant::now();
    // Until the server takes no more, and at last until it has closed.
    let asking = async { while stream.write_all(&request).await.is_ok() {} };
    tokio::time::timeout(Duration::from_secs(60), asking).await.expect("it is cut off");
    let took = started.elapsed();
    assert!(took >= Duration::from_secs(9) && took < Duration::from_secs(13), "{took:?}");
}

/// Another program holds the file, so that whatever is in line stays there: the order is the line's own.
#[tokio::test]
async fn while_a_fleet_comes_back_a_sale_that_happens_now_still_gets_in_line() {
    let server = Server::new().await;
    let holder = rusqlite::Connection::open(server.site.file()).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let now = server.site.clock.now();
    let hour = SignedDuration::from_hours(1);
    let server = &server;
    let sell = |number: usize, occurred_at: jiff::Timestamp| async move {
        let body = json!({"occurred_at": occurred_at.to_string(), "context": {"seat": number.to_string()}});
        server.create(&format!("k{number}"), sale(&format!("E-{number}"), body)).await
    };
    let mut line: FuturesUnordered<_> = (0..FLEET).map(|number| sell(number, now - hour)).collect();
    for _ in HALF_OF_THE_LINE..FLEET {
        let refused = line.next().await.unwrap().refused(503, "service_unavailable");
        assert_eq!(refused.header("retry-after"), Some("1"));
    }
    line.extend((FLEET..FLEET + TILLS).map(|number| sell(number, now)));
    holder.execute_batch("COMMIT").unwrap();
    let answers: Vec<_> = line.collect().await;
    assert_eq!(answers.len(), HALF_OF_THE_LINE + TILLS);
    assert!(answers.iter().all(|answer| answer.status == 201));
}

/// More sales from an hour ago than get in line.
const FLEET: usize = 400;
const HALF_OF_THE_LINE: usize = 384;

/// As many as are sold in one moment.
const TILLS: usize = 20;
