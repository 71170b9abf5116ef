//! A listener with limits: what strangers on a network may cost.
//!
//! Invariant: every wait for a peer has an end, and every buffer a size. The router itself knows no sockets; whoever
//! embeds it on a loopback listener does not need this.

mod reader;

use std::{convert::Infallible, io, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    middleware::{self, Next},
    response::Response,
};
use futures_util::{StreamExt, stream};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulShutdown, Watcher},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout, timeout_at},
};
use turno_protocol::code::ErrorCode;

use crate::{
    config::Config,
    descriptors,
    http::{Refusal, SlowSender, refuse},
    metrics::{Counter, Metrics},
    tls::Tls,
};
use reader::Watched;

/// From the first byte of a head to its last; an idle connection is closed after as long.
const HEAD_LIMIT: Duration = Duration::from_secs(10);

/// From the head of a request to the last byte of its body: 64 KiB come in time over the slowest mobile network.
const BODY_LIMIT: Duration = Duration::from_secs(10);

/// A whole answer, below the 15 s after which a till gives up: it shall hear that it may ask again.
const ANSWER_LIMIT: Duration = Duration::from_secs(12);

/// How long connections and payments may take to end after the server was asked to.
const DRAIN_LIMIT: Duration = Duration::from_secs(25);

/// All headers of a request together. A real one has less than one kilobyte.
const HEAD_BYTES: usize = 16 * 1024;

const HEADERS: usize = 64;

/// Connections at once: a fleet of tills that each keep one open, several times over. More are closed at the door.
const CONNECTIONS: usize = 16 * 1024;

/// Handshakes at once. They are counted apart, so that whoever stalls in one takes nobody's connection.
const HANDSHAKES: usize = 1024;

/// From the first byte of TLS to the first of HTTP.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(5);

/// Files that are no connections: the store's own, the acquirer's, the log.
const OTHER_FILES: usize = 256;

/// After an error that is the machine's (no descriptors left): long enough for some connection to end.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What a listener is besides its address.
#[derive(Clone)]
pub struct Door {
    /// Without it everybody on the way can read and change what is said.
    pub tls: Option<Tls>,
    /// Connections at once; more are closed.
    pub connections: usize,
}

impl Default for Door {
    fn default() -> Self {
        Self { tls: None, connections: CONNECTIONS }
    }
}

/// Serve `router` until `stop`, then end in good order: no new connections, 503 for new requests, what has begun is
/// finished. The router and the config belong together ([`crate::app`]).
pub async fn serve(
    listener: TcpListener,
    router: Router,
    config: Config,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    Door::default().serve(listener, router, config, stop).await
}

impl Door {
    /// As [`serve`], behind this door.
    pub async fn serve(
        self,
        listener: TcpListener,
        router: Router,
        config: Config,
        stop: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let drain = config.drain.clone();
        let house = House {
            http: http(),
            connections: Arc::new(Semaphore::new(self.places())),
            handshakes: Arc::new(Semaphore::new(HANDSHAKES)),
            metrics: config.metrics.clone(),
            service: TowerToHyperService::new(router.layer(middleware::from_fn_with_state(config, limit))),
        };
        let graceful = GracefulShutdown::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = &mut stop => break,
            };
            match accepted {
                Ok((stream, _)) => house.let_in(stream, self.tls.as_ref(), graceful.watcher()),
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        drain.begin();
        drop(listener);
        tracing::info!("draining: what has begun is finished");
        let finish = async {
            graceful.shutdown().await;
            drain.finished().await;
        };
        if timeout(DRAIN_LIMIT, finish).await.is_err() {
            tracing::warn!("not everything ended in time; open payments are followed after the next start");
        }
        Ok(())
    }

    /// Connections that there are files for. Most systems start a process with fewer than are wanted here, and
    /// without a file for the next connection nobody is served.
    fn places(&self) -> usize {
        let others = OTHER_FILES + if self.tls.is_some() { HANDSHAKES } else { 0 };
        let files = descriptors::allow(self.connections.saturating_add(others));
        self.connections.min(files.saturating_sub(others).max(files / 2))
    }
}

fn http() -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEAD_LIMIT)
        .max_header_size(HEAD_BYTES)
        .max_headers(HEADERS);
    http
}

/// What the connections of a listener share.
#[derive(Clone)]
struct House {
    http: http1::Builder,
    service: TowerToHyperService<Router>,
    connections: Arc<Semaphore>,
    handshakes: Arc<Semaphore>,
    metrics: Metrics,
}

impl House {
    /// Serve a stranger, or turn it away: beyond a limit the stream is dropped, which closes it.
    fn let_in(&self, stream: TcpStream, tls: Option<&Tls>, watcher: Watcher) {
        // Answers are single small writes; waiting for more only delays them.
        stream.set_nodelay(true).ok();
        let house = self.clone();
        match tls {
            None => {
                if let Some(place) = self.take(&self.connections) {
                    tokio::spawn(house.converse(stream, watcher, place));
                }
            }
            Some(tls) => {
                let Some(handshake) = self.take(&self.handshakes) else { return };
                let shaking = timeout(HANDSHAKE_LIMIT, tls.acceptor.accept(stream));
                tokio::spawn(async move {
                    let Ok(Ok(stream)) = shaking.await else { return };
                    drop(handshake);
                    if let Some(place) = house.take(&house.connections) {
                        house.converse(stream, watcher, place).await;
                    }
                });
            }
        }
    }

    fn take(&self, places: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
        let place = Arc::clone(places).try_acquire_owned().ok();
        if place.is_none() {
            self.metrics.count(Counter::ConnectionsRefused);
        }
        place
    }

    async fn converse(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        watcher: Watcher,
        place: OwnedSemaphorePermit,
    ) {
        let connection = self.http.serve_connection(TokioIo::new(Watched::new(stream)), self.service);
        if let Err(error) = watcher.watch(connection).await {
            tracing::debug!(%error, "a connection ended early");
        }
        drop(place);
    }
}

/// An end to slow bodies and to answers that take too long.
async fn limit(State(config): State<Config>, request: Request, next: Next) -> Result<Response, Infallible> {
    let deadline = Instant::now() + BODY_LIMIT;
    let request = request.map(|body| with_deadline(body, deadline));
    Ok(match timeout(ANSWER_LIMIT, next.run(request)).await {
        Ok(response) => response,
        Err(_) => refuse(&config, Refusal::new(ErrorCode::ServiceUnavailable)),
    })
}

fn with_deadline(body: Body, deadline: Instant) -> Body {
    let frames = Some(body.into_data_stream());
    Body::from_stream(stream::unfold(frames, move |frames| async move {
        let mut frames = frames?;
        match timeout_at(deadline, frames.next()).await {
            Ok(Some(Ok(bytes))) => Some((Ok(bytes), Some(frames))),
            Ok(Some(Err(error))) => Some((Err(error), None)),
            Ok(None) => None,
            Err(_) => Some((Err(axum::Error::new(SlowSender)), None)),
        }
    }))
}
