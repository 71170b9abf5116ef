//! The server's router on a socket, behind the limits of the real program.

use tokio::{
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinHandle,
};
use turno_server::{Config, Door, app};

use crate::harness::Server;

pub struct Listening {
    pub address: std::net::SocketAddr,
    pub stop: oneshot::Sender<()>,
    pub serving: JoinHandle<std::io::Result<()>>,
}

impl Listening {
    pub async fn start(server: &Server, config: Config) -> Self {
        Self::behind(server, config, Door::default()).await
    }

    pub async fn behind(server: &Server, config: Config, door: Door) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let router = app(server.ledger.clone(), config.clone());
        let serving = tokio::spawn(door.serve(listener, router, config, async {
            stopped.await.ok();
        }));
        Self { address, stop, serving }
    }

    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }
}
