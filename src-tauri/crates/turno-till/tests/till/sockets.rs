//! The production transport against real sockets: each way in which a line fails has its own name, and whatever
//! happens, a request leaves this machine once.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use turno_domain::{Currency, Money};
use turno_till::answer::{self, Expected, Verdict, WaitCause};
use turno_till::transport::{
    ANSWER_LIMIT, AddressError, Failure, HttpTransport, Request, Response, Timeouts, Transport,
};

const OURS: &str = r#"{"external_transaction_id":"E-1","yupy_transaction_id":"ypt-1"}"#;
const BODY: &[u8] = br#"{"external_transaction_id":"E-1","amount":"85.50"}"#;

/// An answer whose second half never comes.
const HALF: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{\"external";

/// Long enough that only what is meant to run out does.
const PATIENT: Timeouts = Timeouts {
    connect: Duration::from_secs(60),
    read: Duration::from_secs(60),
    total: Duration::from_secs(60),
};

/// A host that does with each connection what a test says, and keeps what it was sent.
struct Host {
    address: String,
    heard: Arc<Mutex<Vec<Vec<u8>>>>,
}

/// One connection to the host, before its request was read.
struct Caller {
    stream: TcpStream,
    heard: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Host {
    async fn start<Serve, Served>(serve: Serve) -> Self
    where
        Serve: Fn(Caller) -> Served + Send + 'static,
        Served: Future<Output = ()> + Send,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&heard);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                serve(Caller { stream, heard: Arc::clone(&shared) }).await;
            }
        });
        Self { address, heard }
    }

    /// Always the same bytes for an answer, then the end of the connection.
    async fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::start(move |mut caller| {
            let answer = answer.clone();
            async move {
                caller.listen().await;
                // Whoever has heard enough may hang up before the end.
                let _ = caller.stream.write_all(&answer).await;
            }
        })
        .await
    }

    fn requests(&self) -> Vec<String> {
        self.heard.lock().unwrap().iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect()
    }

    fn transport(&self, timeouts: Timeouts) -> HttpTransport {
        HttpTransport::with_timeouts(&self.address, Some("secret"), timeouts).unwrap()
    }

    async fn ask(&self) -> Result<Response, Failure> {
        self.ask_within(PATIENT).await
    }

    /// What comes of it, long before a patient transport gives up.
    async fn ask_within(&self, timeouts: Timeouts) -> Result<Response, Failure> {
        let transport = self.transport(timeouts);
        let outcome = tokio::time::timeout(PATIENT.total / 3, transport.send(sale()));
        outcome.await.expect("the exchange ends by itself")
    }
}

impl Caller {
    async fn listen(&mut self) {
        let request = read_request(&mut self.stream).await;
        self.heard.lock().unwrap().push(request);
    }

    async fn say(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }
}

/// One request to its last byte, or what came until the connection ended.
async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Vec<u8> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(BODY) {
        match stream.read_u8().await {
            Ok(byte) => bytes.push(byte),
            Err(_) => break,
        }
    }
    bytes
}

fn sale() -> Request {
    Request { idempotency_key: Some("key-1".to_owned()), ..Request::post("/v1/transactions", BODY.to_vec()) }
}

fn answer_with(head: &str, body: &str) -> String {
    format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

fn json(body: &str) -> String {
    answer_with("200 OK\r\ncontent-type: application/json", body)
}

fn verdict(outcome: &Result<Response, Failure>) -> Verdict {
    let expected = Expected {
        external_transaction_id: "E-1".to_owned(),
        occurred_at: jiff::Timestamp::UNIX_EPOCH,
        amount: Money::from_minor(200, Currency::PEN),
        first_attempt: true,
        confirms: false,
        corrected: None,
    };
    answer::read(outcome, &expected)
}

fn waits_for(outcome: &Result<Response, Failure>, cause: WaitCause) {
    assert_eq!(verdict(outcome), Verdict::Wait { cause, retry_after_ms: None }, "{outcome:?}");
}

#[tokio::test]
async fn what_was_frozen_is_what_travels_and_what_matters_comes_back() {
    let head = "200 OK\r\ncontent-type: application/json\r\nretry-after: 7\r\ndate: Mon, 30 Nov 2026 15:00:00 GMT\
                \r\netag: \"1\"\r\nx-request-id: r-1";
    let host = Host::answering(answer_with(head, OURS)).await;
    let answer = host.ask().await.unwrap();
    assert_eq!(
        answer,
        Response {
            status: 200,
            media_type: Some("application/json".to_owned()),
            retry_after: Some("7".to_owned()),
            date: Some("Mon, 30 Nov 2026 15:00:00 GMT".to_owned()),
            etag: Some("\"1\"".to_owned()),
            request_id: Some("r-1".to_owned()),
            body: OURS.as_bytes().to_vec(),
        }
    );
    assert!(matches!(verdict(&Ok(answer)), Verdict::Accepted(_)));
    let requests = host.requests();
    assert_eq!(requests.len(), 1);
    let (head, body) = requests[0].split_once("\r\n\r\n").unwrap();
    assert_eq!(body.as_bytes(), BODY);
    let lines: Vec<&str> = head.lines().collect();
    assert_eq!(lines[0], "POST /v1/transactions HTTP/1.1");
    for line in ["authorization: Bearer secret", "idempotency-key: key-1", "content-type: application/json"] {
        assert_eq!(lines.iter().filter(|sent| **sent == line).count(), 1, "{line} in {head}");
    }
    assert!(!head.contains("accept-encoding"), "nothing that would have to be decoded is asked for");
}

/// Runs a test of this file again where the environment names a proxy on which nobody listens.
#[test]
fn a_proxy_for_the_internet_is_not_asked_for_this_machine() {
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sockets::a_portals_page_is_no_answer"])
        .env("http_proxy", "http://127.0.0.1:9")
        .env_remove("no_proxy")
        .env_remove("NO_PROXY")
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
}

#[tokio::test]
async fn a_refused_port_is_an_unreachable_host() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let transport = HttpTransport::new(&format!("http://{address}"), None).unwrap();
    assert_eq!(transport.send(sale()).await, Err(Failure::Unreachable));
}

#[tokio::test]
async fn a_connection_that_ends_before_the_answer_is_lost_and_the_request_is_not_repeated() {
    let unread = Host::start(|caller| async move {
        caller.heard.lock().unwrap().push(Vec::new());
        drop(caller);
    })
    .await;
    assert_eq!(unread.ask().await, Err(Failure::ConnectionLost));
    assert_eq!(unread.requests().len(), 1, "connections");

    let read = Host::answering("").await;
    assert_eq!(read.ask().await, Err(Failure::ConnectionLost));
    assert_eq!(read.requests().len(), 1);
}

#[tokio::test]
async fn an_answer_that_is_cut_or_reset_in_the_middle_is_a_lost_connection() {
    for reset in [false, true] {
        for part in ["HTTP/1.1 200 OK\r\ncontent-ty", HALF] {
            let host = Host::start(move |mut caller| async move {
                caller.listen().await;
                caller.say(part).await;
                if reset {
                    caller.stream.set_zero_linger().unwrap();
                }
            })
            .await;
            let outcome = host.ask().await;
            assert_eq!(outcome, Err(Failure::ConnectionLost), "reset: {reset}, after {part:?}");
            assert_eq!(host.requests().len(), 1);
        }
    }
}

#[tokio::test]
async fn a_request_on_a_kept_connection_that_dies_under_it_is_not_repeated_by_itself() {
    let host = Host::start(|mut caller| async move {
        caller.listen().await;
        caller.say(&json(OURS)).await;
        caller.listen().await;
    })
    .await;
    let transport = host.transport(PATIENT);
    assert!(transport.send(sale()).await.is_ok());
    assert_eq!(transport.send(sale()).await, Err(Failure::ConnectionLost));
    assert_eq!(host.requests().len(), 2, "one for each call");
}

#[tokio::test]
async fn a_byte_now_and_then_ends_at_the_total_time_out() {
    let host = Host::start(|mut caller| async move {
        caller.listen().await;
        let mut pace = tokio::time::interval(Duration::from_millis(20));
        for byte in json(&" ".repeat(100_000)).bytes() {
            pace.tick().await;
            if caller.stream.write_u8(byte).await.is_err() {
                break;
            }
        }
    })
    .await;
    let started = Instant::now();
    let total = Duration::from_millis(400);
    let outcome = host.ask_within(Timeouts { total, ..PATIENT }).await;
    assert_eq!(outcome, Err(Failure::TimedOut));
    assert!(started.elapsed() >= total, "{:?}", started.elapsed());
    assert_eq!(host.requests().len(), 1);
}

#[tokio::test]
async fn silence_ends_at_the_read_time_out_before_and_within_an_answer() {
    for part in ["", "HTTP/1.1 200 OK\r\n", HALF] {
        let host = Host::start(move |mut caller| async move {
            caller.listen().await;
            caller.say(part).await;
            // Until the other side hangs up.
            let _ = caller.stream.read_u8().await;
        })
        .await;
        let read = Duration::from_millis(150);
        let outcome = host.ask_within(Timeouts { read, ..PATIENT }).await;
        assert_eq!(outcome, Err(Failure::TimedOut), "after {part:?}");
        assert_eq!(host.requests().len(), 1);
    }
}

#[tokio::test]
async fn production_waits_for_seconds_and_not_for_a_shift() {
    let timeouts = Timeouts::default();
    assert!(timeouts.total > Duration::from_secs(2), "YUPY makes a twin wait for two seconds");
    assert!(timeouts.connect <= timeouts.read && timeouts.read <= timeouts.total);
    assert!(timeouts.total <= Duration::from_secs(20));
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    for status in [301, 302, 303, 307, 308] {
        let elsewhere = Host::answering(json(OURS)).await;
        let head = format!("{status} Moved\r\nlocation: {}/v1/transactions", elsewhere.address);
        let host = Host::answering(answer_with(&head, "")).await;
        let outcome = host.ask().await;
        assert_eq!(outcome.as_ref().map(|answer| answer.status), Ok(status));
        waits_for(&outcome, WaitCause::Portal);
        assert_eq!((host.requests().len(), elsewhere.requests().len()), (1, 0));
    }
}

#[tokio::test]
async fn a_portals_page_is_no_answer() {
    let host = Host::answering(answer_with("200 OK\r\ncontent-type: text/html", "<html>")).await;
    waits_for(&host.ask().await, WaitCause::Portal);
}

#[tokio::test]
async fn an_answer_without_end_is_cut_whether_it_says_its_length_or_not() {
    let endless = " ".repeat(ANSWER_LIMIT + 1);
    let announced = json(&endless);
    let unannounced = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{endless}");
    for answer in [announced, unannounced] {
        let host = Host::answering(answer).await;
        let outcome = host.ask().await;
        assert_eq!(outcome, Err(Failure::UnusableAnswer));
        assert_eq!(host.requests().len(), 1);
    }
    let host = Host::answering(json(&endless[1..])).await;
    assert_eq!(host.ask().await.unwrap().body.len(), ANSWER_LIMIT, "up to the limit it is read");
}

#[tokio::test]
async fn a_compressed_body_is_not_decoded() {
    // gzip of `{}`: whoever compresses unasked could send a few bytes that become many.
    let gzip = [31, 139, 8, 0, 0, 0, 0, 0, 2, 255, 171, 174, 5, 0, 67, 191, 166, 163, 2, 0, 0, 0];
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\n";
    let mut answer = format!("{head}content-length: {}\r\n\r\n", gzip.len()).into_bytes();
    answer.extend(gzip);
    let outcome = Host::answering(answer).await.ask().await;
    assert_eq!(outcome.as_ref().unwrap().body, gzip);
    waits_for(&outcome, WaitCause::UnusableAnswer);
}

#[tokio::test]
async fn plain_http_where_tls_was_expected_is_trouble_of_certificate_or_clock() {
    let host = Host::start(|mut caller| async move {
        caller
            .say("HTTP/1.1 302 Found\r\nlocation: http://portal.example/\r\ncontent-length: 0\r\n\r\n")
            .await;
        caller.listen().await;
    })
    .await;
    let address = host.address.replace("http:", "https:");
    let transport = HttpTransport::with_timeouts(&address, Some("secret"), PATIENT).unwrap();
    assert_eq!(transport.send(sale()).await, Err(Failure::CertificateOrClock));
    assert!(host.requests().iter().all(|heard| !heard.contains("secret")));
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_is_refused_before_anything_is_sent() {
    let issued = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(issued.signing_key.serialize_der()));
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![issued.cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let host = Host::start(move |caller| {
        let acceptor = acceptor.clone();
        async move {
            // The handshake fails on our side, so that nothing can be read from it.
            if let Ok(mut stream) = acceptor.accept(caller.stream).await {
                let request = read_request(&mut stream).await;
                caller.heard.lock().unwrap().push(request);
            }
        }
    })
    .await;
    let address = host.address.replace("http:", "https:");
    let transport = HttpTransport::with_timeouts(&address, Some("secret"), PATIENT).unwrap();
    assert_eq!(transport.send(sale()).await, Err(Failure::CertificateOrClock));
    assert!(host.requests().iter().all(String::is_empty), "neither credential nor sale left");
}

#[tokio::test]
async fn a_name_that_does_not_exist_has_no_resolution_with_and_without_a_network() {
    let transport = HttpTransport::with_timeouts("http://nonexistent.invalid", None, PATIENT).unwrap();
    assert_eq!(transport.send(sale()).await, Err(Failure::NoNameResolution));
}

#[tokio::test]
async fn an_address_is_a_plain_http_base_and_keeps_its_prefix() {
    let refused = |address: &str| HttpTransport::new(address, None).err();
    for no_address in ["", "  ", "ftp://yupy.example", "http://", "file:///etc/passwd", "no host"] {
        assert!(matches!(refused(no_address), Some(AddressError::NotHttp)), "{no_address:?}");
    }
    for more in [
        "https://user@yupy.example",
        "https://u:p@yupy.example",
        "https://yupy.example/?a=b",
        "https://yupy.example/#x",
    ] {
        assert!(matches!(refused(more), Some(AddressError::NotPlain)), "{more:?}");
    }
    assert!(matches!(
        HttpTransport::new("https://yupy.example", Some("a\nb")).err(),
        Some(AddressError::Credential)
    ));
    for prefix in ["", "/", "/yupy", "/yupy/"] {
        let host = Host::answering(json(OURS)).await;
        let transport = HttpTransport::new(&format!(" {}{prefix} ", host.address), None).unwrap();
        transport.send(sale()).await.unwrap();
        let path = format!("POST {}/v1/transactions HTTP/1.1", prefix.trim_end_matches('/'));
        assert!(host.requests()[0].starts_with(&path), "{:?}", host.requests());
    }
}
