//! The bad line: a TCP proxy that reads whole requests of the till and does to each what a line can do.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use turno_simulation::chance::Chance;

use crate::book::Book;
use crate::faults::{self, Fate};
use crate::message::{self, Message};

/// First byte of a TLS handshake.
const HANDSHAKE: u8 = 0x16;
const DRIP_EVERY: Duration = Duration::from_millis(30);
/// Longer than the till waits for anything.
const SILENCE: Duration = Duration::from_secs(3);
/// More than any answer may have.
const ENDLESS: usize = 5 * 1024 * 1024;
/// The beginning of a gzip stream; what would follow does not matter, since nobody may decode it.
const GZIP: [u8; 10] = [31, 139, 8, 0, 0, 0, 0, 0, 2, 255];

#[derive(Clone)]
pub struct Proxy {
    pub address: SocketAddr,
    pub book: Book,
    server: Arc<Mutex<Option<SocketAddr>>>,
    is_healed: Arc<AtomicBool>,
    chance: Chance,
    tls: TlsAcceptor,
}

impl Proxy {
    /// Begins to listen; it goes on for as long as the runtime does.
    pub async fn start(chance: Chance) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let proxy = Self {
            address: listener.local_addr()?,
            book: Book::default(),
            server: Arc::default(),
            is_healed: Arc::default(),
            chance,
            tls: TlsAcceptor::from(Arc::new(stranger()?)),
        };
        let accepting = proxy.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let proxy = accepting.clone();
                // How an exchange ended is the till's to find out.
                tokio::spawn(async move { proxy.serve(stream).await.ok() });
            }
        });
        Ok(proxy)
    }

    /// Where the server is now; nothing while it is dead.
    pub fn leads_to(&self, server: Option<SocketAddr>) {
        *self.server.lock().unwrap_or_else(PoisonError::into_inner) = server;
    }

    pub fn heal(&self) {
        self.is_healed.store(true, Ordering::SeqCst);
    }

    async fn serve(&self, mut till: TcpStream) -> Result<()> {
        let mut first = [0];
        if till.peek(&mut first).await? == 1 && first[0] == HANDSHAKE {
            return self.be_a_stranger(till).await;
        }
        loop {
            let fate =
                if self.is_healed.load(Ordering::SeqCst) { Fate::Clean } else { faults::draw(&self.chance) };
            if fate == Fate::CutBefore {
                self.book.count("CutBefore");
                return Ok(());
            }
            let Some(request) = message::read(&mut till).await? else { return Ok(()) };
            self.book.note(&request);
            if fate != Fate::Clean {
                self.book.count(&format!("{fate:?}"));
            }
            self.befall(fate, &request, &mut till).await?;
        }
    }

    /// What comes of a request. An error ends the connection.
    async fn befall(&self, fate: Fate, request: &Message, till: &mut TcpStream) -> Result<()> {
        match fate {
            Fate::Clean => till.write_all(&self.deliver(request).await?.bytes).await?,
            Fate::CutBefore => anyhow::bail!("cut"),
            Fate::CutWithin => {
                let mut server = self.connect().await?;
                server.write_all(&request.bytes[..request.bytes.len() / 2]).await?;
                anyhow::bail!("cut");
            }
            Fate::CutAfter => {
                self.deliver(request).await?;
                anyhow::bail!("cut");
            }
            Fate::CutAnswer | Fate::ResetAnswer => {
                let answer = self.deliver(request).await?;
                till.write_all(&answer.bytes[..answer.bytes.len() / 2]).await?;
                if fate == Fate::ResetAnswer {
                    till.set_zero_linger()?;
                }
                anyhow::bail!("cut");
            }
            Fate::Reset => {
                self.deliver(request).await?;
                till.set_zero_linger()?;
                anyhow::bail!("reset");
            }
            Fate::Drip => {
                for byte in self.deliver(request).await?.bytes {
                    till.write_u8(byte).await?;
                    sleep(DRIP_EVERY).await;
                }
            }
            Fate::Silence => {
                self.deliver(request).await?;
                sleep(SILENCE).await;
                anyhow::bail!("silent for too long");
            }
            Fate::Duplicate => {
                let (later, again) = (self.clone(), request.clone());
                tokio::spawn(async move {
                    sleep(Duration::from_millis(later.chance.between(0..=1_500))).await;
                    later.deliver(&again).await.ok();
                });
                till.write_all(&self.deliver(request).await?.bytes).await?;
            }
            Fate::Html => say(till, "200 OK\r\ncontent-type: text/html", b"<html>Bienvenido</html>").await?,
            Fate::Redirect => {
                let head = format!("302 Found\r\nlocation: http://{}/portal", self.address);
                say(till, &head, b"").await?;
            }
            Fate::GzipBomb => {
                say(till, "200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip", &GZIP)
                    .await?;
            }
            Fate::Endless => {
                say(till, "200 OK\r\ncontent-type: application/json", &vec![b' '; ENDLESS]).await?;
            }
            Fate::Busy => {
                let code = self.chance.pick(&[
                    "429 Too Many Requests",
                    "502 Bad Gateway",
                    "503 Service Unavailable",
                    "504 Gateway Timeout",
                ]);
                say(till, code, b"").await?;
            }
        }
        Ok(())
    }

    /// One exchange with the server, on a connection of its own.
    async fn deliver(&self, request: &Message) -> Result<Message> {
        let mut server = self.connect().await?;
        server.write_all(&request.bytes).await?;
        message::read(&mut server).await?.context("the server hung up")
    }

    async fn connect(&self) -> Result<TcpStream> {
        let server = *self.server.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(TcpStream::connect(server.context("the server is dead")?).await?)
    }

    /// Somebody with a certificate that nobody vouches for. Whatever the till says to it, it says too much.
    async fn be_a_stranger(&self, till: TcpStream) -> Result<()> {
        self.book.count("WrongCertificate");
        let mut stream = self.tls.accept(till).await?;
        if stream.read(&mut [0; 1]).await? > 0 {
            self.book.told_a_stranger();
        }
        Ok(())
    }
}

async fn say(till: &mut TcpStream, head: &str, body: &[u8]) -> Result<()> {
    let head = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n", body.len());
    till.write_all(head.as_bytes()).await?;
    Ok(till.write_all(body).await?)
}

fn stranger() -> Result<ServerConfig> {
    let issued = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(issued.signing_key.serialize_der()));
    Ok(ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![issued.cert.der().clone()], key)?)
}
