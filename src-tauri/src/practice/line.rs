//! The line between the till and the practice server, with faults to order.
//!
//! The faults happen on real sockets, where they happen in life: a door that is shut refuses connections, an answer
//! that is lost was written by a server that had committed. A change acts at once, on open connections too.
//! Invariant: nothing is lost *towards* the server while the line is anything but offline, so that what the till
//! sees and what the server did differ only by the answer.

use std::future::pending;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex, split};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::time::sleep;
use turno_till::view::PracticeLine;

/// What a bad 3G line adds to each way: with both ways still far inside the till's own time-out.
pub const SLOW_EACH_WAY: Duration = Duration::from_secs(2);
/// How long to wait after the system refused us a connection, e.g. for want of file descriptors.
const AFTER_REFUSAL: Duration = Duration::from_millis(200);
/// As many as the standard library's listeners keep waiting.
const BACKLOG: u32 = 128;
/// A body is at most 64 KiB; smaller pieces only mean more turns.
const PIECE_BYTES: usize = 16 * 1024;

/// Accepts connections as the line allows, and carries them piece by piece.
pub struct LineListener {
    address: SocketAddr,
    door: Door,
    line: watch::Receiver<PracticeLine>,
}

/// A shut door keeps the address: a socket that is bound but does not listen refuses connections.
enum Door {
    Open(TcpListener),
    Shut(TcpSocket),
    /// Between the two, and for as long as the system refuses the address.
    Ajar,
}

impl LineListener {
    /// Takes a free port of this machine, unreachable from any other.
    pub fn bind(line: watch::Receiver<PracticeLine>) -> io::Result<Self> {
        let socket = bound_socket(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        Ok(Self { address: socket.local_addr()?, door: Door::Shut(socket), line })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Opens or shuts the door as the line says.
    fn follow(&mut self) -> io::Result<()> {
        let open = *self.line.borrow_and_update() != PracticeLine::Offline;
        self.door = match (std::mem::replace(&mut self.door, Door::Ajar), open) {
            (Door::Shut(socket), true) => Door::Open(socket.listen(BACKLOG)?),
            (Door::Ajar, true) => Door::Open(bound_socket(self.address)?.listen(BACKLOG)?),
            (Door::Open(listener), false) => {
                drop(listener);
                Door::Shut(bound_socket(self.address)?)
            }
            (Door::Ajar, false) => Door::Shut(bound_socket(self.address)?),
            (as_it_should_be, _) => as_it_should_be,
        };
        Ok(())
    }

    /// The next connection, or nothing when the line changed meanwhile.
    async fn next(&mut self) -> io::Result<Option<(TcpStream, SocketAddr)>> {
        self.follow()?;
        let Door::Open(listener) = &self.door else {
            changed(&mut self.line).await;
            return Ok(None);
        };
        tokio::select! {
            accepted = listener.accept() => accepted.map(Some),
            () = changed(&mut self.line) => Ok(None),
        }
    }
}

impl Listener for LineListener {
    type Io = DuplexStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            match self.next().await {
                Ok(Some((socket, peer))) => {
                    let (near, far) = duplex(PIECE_BYTES);
                    tokio::spawn(carry(socket, near, self.line.clone()));
                    return (far, peer);
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%error, "the practice server cannot take a connection");
                    sleep(AFTER_REFUSAL).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}

fn bound_socket(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    // Connections that were just closed would otherwise hold the address for a minute.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

/// Waits for the line to change; for ever once nobody can change it any more.
async fn changed(line: &mut watch::Receiver<PracticeLine>) {
    if line.changed().await.is_err() {
        pending().await
    }
}

/// Waits until the line is as asked; for ever once nobody can change it any more.
async fn until(mut line: watch::Receiver<PracticeLine>, wanted: impl Fn(PracticeLine) -> bool) {
    if line.wait_for(|line| wanted(*line)).await.is_err() {
        pending().await
    }
}

/// Carries one connection until either side ends it or the line cuts it.
async fn carry(socket: TcpStream, server: DuplexStream, line: watch::Receiver<PracticeLine>) {
    let (mut from_till, mut to_till) = socket.into_split();
    let (mut from_server, mut to_server) = split(server);

    let requests = async {
        let mut piece = vec![0; PIECE_BYTES];
        while let Ok(length @ 1..) = from_till.read(&mut piece).await {
            delay(&line).await;
            if to_server.write_all(&piece[..length]).await.is_err() {
                break;
            }
        }
        // The till is gone: the server learns it by the end of its input, and ends the answers below.
        drop(to_server.shutdown().await);
        pending().await
    };
    let answers = async {
        let mut piece = vec![0; PIECE_BYTES];
        while let Ok(length @ 1..) = from_server.read(&mut piece).await {
            // The server answers only after it has committed: what is dropped here is nothing but the answer.
            if *line.borrow() == PracticeLine::LostReply {
                return;
            }
            delay(&line).await;
            if to_till.write_all(&piece[..length]).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = requests => {}
        () = answers => {}
        () = until(line.clone(), |line| line == PracticeLine::Offline) => {}
    }
}

/// What a slow line takes for one piece, cut short when the line gets better.
async fn delay(line: &watch::Receiver<PracticeLine>) {
    if *line.borrow() == PracticeLine::Slow {
        tokio::select! {
            () = sleep(SLOW_EACH_WAY) => {}
            () = until(line.clone(), |line| line != PracticeLine::Slow) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use axum::Router;
    use axum::routing::get;
    use tokio::time::timeout;

    use super::*;
    use crate::practice::portal::behind_portal;

    const REQUEST: &[u8] = b"GET /sell HTTP/1.1\r\nHost: yupy\r\n\r\n";
    /// Far longer than anything here takes, apart from a slow line.
    const PATIENCE: Duration = Duration::from_secs(20);

    struct Shop {
        address: SocketAddr,
        line: watch::Sender<PracticeLine>,
        sold: Arc<AtomicU32>,
    }

    impl Shop {
        fn open() -> Self {
            let line = watch::Sender::new(PracticeLine::Online);
            let sold = Arc::new(AtomicU32::new(0));
            let count = Arc::clone(&sold);
            let sell = get(async move || format!("sold {}", count.fetch_add(1, Ordering::SeqCst) + 1));
            let router = behind_portal(Router::new().route("/sell", sell), line.subscribe());
            let listener = LineListener::bind(line.subscribe()).unwrap();
            let address = listener.address();
            tokio::spawn(async move { axum::serve(listener, router).await });
            Self { address, line, sold }
        }

        fn sold(&self) -> u32 {
            self.sold.load(Ordering::SeqCst)
        }

        /// A connection, once the door is open.
        async fn connect(&self) -> TcpStream {
            let connect = async {
                loop {
                    match TcpStream::connect(self.address).await {
                        Ok(stream) => return stream,
                        Err(_) => tokio::task::yield_now().await,
                    }
                }
            };
            timeout(PATIENCE, connect).await.expect("the door opens")
        }

        /// Waits until nobody gets in any more.
        async fn see_shut(&self) {
            let knock = async { while TcpStream::connect(self.address).await.is_ok() {} };
            timeout(PATIENCE, knock).await.expect("the door shuts");
        }
    }

    /// What comes back until the other side has said everything it will say; nothing if the line was cut first.
    async fn answer(stream: &mut TcpStream) -> String {
        let mut piece = vec![0; 4096];
        let length =
            timeout(PATIENCE, stream.read(&mut piece)).await.expect("an answer or an end").unwrap_or(0);
        String::from_utf8_lossy(&piece[..length]).into_owned()
    }

    #[tokio::test]
    async fn an_online_line_carries_requests_and_answers() {
        let shop = Shop::open();
        let mut till = shop.connect().await;
        for number in 1..=3 {
            till.write_all(REQUEST).await.unwrap();
            assert!(answer(&mut till).await.ends_with(&format!("sold {number}")));
        }
    }

    #[tokio::test]
    async fn an_offline_line_refuses_connections_and_cuts_open_ones_and_comes_back() {
        let shop = Shop::open();
        let mut till = shop.connect().await;
        shop.line.send_replace(PracticeLine::Offline);
        assert_eq!(answer(&mut till).await, "", "the open connection is cut without being used");
        shop.see_shut().await;
        assert_eq!(shop.sold(), 0);
        shop.line.send_replace(PracticeLine::Online);
        let mut till = shop.connect().await;
        till.write_all(REQUEST).await.unwrap();
        assert!(answer(&mut till).await.ends_with("sold 1"), "on the same address");
    }

    #[tokio::test]
    async fn a_lost_reply_is_lost_after_the_server_did_its_work() {
        let shop = Shop::open();
        shop.line.send_replace(PracticeLine::LostReply);
        let mut till = shop.connect().await;
        till.write_all(REQUEST).await.unwrap();
        assert_eq!(answer(&mut till).await, "", "not a byte of the answer arrives");
        assert_eq!(shop.sold(), 1, "and the sale was made");
    }

    #[tokio::test]
    async fn a_slow_line_keeps_everything_waiting_until_it_gets_better() {
        let shop = Shop::open();
        shop.line.send_replace(PracticeLine::Slow);
        let mut till = shop.connect().await;
        till.write_all(REQUEST).await.unwrap();
        let early = timeout(SLOW_EACH_WAY / 4, till.readable()).await;
        assert!(early.is_err(), "nothing comes back soon");
        assert_eq!(shop.sold(), 0, "nothing has even arrived");
        shop.line.send_replace(PracticeLine::Online);
        assert!(answer(&mut till).await.ends_with("sold 1"), "a line that gets better delivers at once");
    }

    #[tokio::test]
    async fn a_portal_answers_everything_with_its_page() {
        let shop = Shop::open();
        shop.line.send_replace(PracticeLine::Portal);
        let mut till = shop.connect().await;
        till.write_all(REQUEST).await.unwrap();
        let answer = answer(&mut till).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.contains("content-type: text/html"), "{answer}");
        assert_eq!(shop.sold(), 0, "nothing reached the server");
    }
}
