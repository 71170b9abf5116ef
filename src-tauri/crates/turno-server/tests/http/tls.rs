//! A listener with a certificate.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf, time::Duration};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use reqwest::{Certificate, Client};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::Instant,
};
use turno_server::{Door, Tls, TlsError};

use crate::{harness::Server, listening::Listening};

/// A certificate for this machine with its key, in files as an operator has them.
struct Files {
    folder: TempDir,
    pem: String,
}

impl Files {
    fn new() -> Self {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
        let files = Self { folder: tempfile::tempdir().unwrap(), pem: cert.pem() };
        fs::write(files.certificate(), cert.pem()).unwrap();
        fs::write(files.key(), signing_key.serialize_pem()).unwrap();
        files.set_rights(0o600);
        files
    }

    fn certificate(&self) -> PathBuf {
        self.folder.path().join("certificate.pem")
    }

    fn key(&self) -> PathBuf {
        self.folder.path().join("key.pem")
    }

    fn set_rights(&self, mode: u32) {
        fs::set_permissions(self.key(), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn tls(&self) -> Result<Tls, TlsError> {
        Tls::from_files(&self.certificate(), &self.key())
    }

    fn client(&self) -> Client {
        let trusted = Certificate::from_pem(self.pem.as_bytes()).unwrap();
        Client::builder().no_proxy().tls_certs_only([trusted]).build().unwrap()
    }
}

async fn listen(server: &Server, files: &Files, connections: usize) -> Listening {
    let door = Door { tls: Some(files.tls().unwrap()), connections };
    Listening::behind(server, server.site.config(), door).await
}

#[tokio::test]
async fn whoever_trusts_the_certificate_is_served() {
    let (server, files) = (Server::new().await, Files::new());
    let listening = listen(&server, &files, 10).await;
    let url = format!("https://{}/health", listening.address);
    let answer = files.client().get(&url).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.text().await.unwrap(), r#"{"status":"ok"}"#);
    Files::new().client().get(&url).send().await.unwrap_err();
}

#[tokio::test]
async fn a_port_with_a_certificate_speaks_to_nobody_in_the_open() {
    let (server, files) = (Server::new().await, Files::new());
    let listening = listen(&server, &files, 10).await;
    let mut plain = listening.connect().await;
    plain.write_all(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut said = Vec::new();
    // An alert, and the end.
    plain.read_to_end(&mut said).await.ok();
    assert!(!said.windows(4).any(|part| part == b"HTTP"), "{}", String::from_utf8_lossy(&said));
}

/// There is one connection, and three that stall before they have it.
#[tokio::test]
async fn a_handshake_that_stalls_takes_nobody_s_place() {
    let (server, files) = (Server::new().await, Files::new());
    let listening = listen(&server, &files, 1).await;
    let stalled = futures_util::future::join_all((0..3).map(|_| listening.connect())).await;
    let url = format!("https://{}/health", listening.address);
    assert_eq!(files.client().get(&url).send().await.unwrap().status(), 200);
    drop(stalled);
}

/// In paused time: the server waits five seconds, the test does not.
#[tokio::test(start_paused = true)]
async fn a_handshake_that_stalls_ends() {
    let (server, files) = (Server::inline().await, Files::new());
    let listening = listen(&server, &files, 10).await;
    let mut stalled: TcpStream = listening.connect().await;
    stalled.write_all(&[22, 3, 1]).await.unwrap();
    let started = Instant::now();
    stalled.read_to_end(&mut Vec::new()).await.ok();
    let took = started.elapsed();
    assert!(took >= Duration::from_secs(5) && took < Duration::from_secs(8), "{took:?}");
}

#[test]
fn files_that_cannot_serve_say_what_is_wrong_with_them() {
    let says = |files: &Files| files.tls().err().map(|error| error.to_string()).unwrap_or_default();
    assert_eq!(says(&Files::new()), "");

    let files = Files::new();
    fs::write(files.key(), fs::read(Files::new().key()).unwrap()).unwrap();
    assert_eq!(says(&files), "the key is not the certificate's");

    let files = Files::new();
    fs::write(files.key(), &files.pem).unwrap();
    assert_eq!(says(&files), "there is no private key in the key's file");

    let files = Files::new();
    fs::write(files.certificate(), "nothing").unwrap();
    assert_eq!(says(&files), "there is no certificate in the certificate's file");

    let files = Files::new();
    fs::write(files.certificate(), files.pem.replace("-----END", "-----")).unwrap();
    assert_eq!(says(&files), "the certificate's file is damaged");

    let files = Files::new();
    fs::remove_file(files.certificate()).unwrap();
    assert_eq!(says(&files), "the certificate cannot be read");

    let files = Files::new();
    fs::remove_file(files.key()).unwrap();
    assert_eq!(says(&files), "the key cannot be read");
}

#[test]
fn a_key_that_everybody_may_read_is_refused() {
    let files = Files::new();
    for mode in [0o644, 0o604, 0o602] {
        files.set_rights(mode);
        assert!(matches!(files.tls(), Err(TlsError::KeyOpenToAll)), "{mode:o}");
    }
    files.set_rights(0o640);
    files.tls().unwrap();
}
