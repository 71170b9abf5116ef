//! Whole HTTP/1.1 messages as bytes, for whoever has to cut one in the middle.

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Neither tills nor YUPY say more at once.
const LONGEST: usize = 8 * 1024 * 1024;

#[derive(Clone, Debug)]
pub struct Message {
    pub bytes: Vec<u8>,
    head: usize,
}

impl Message {
    pub fn body(&self) -> &[u8] {
        &self.bytes[self.head..]
    }

    pub fn header(&self, name: &str) -> Option<String> {
        self.head().lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    }

    fn head(&self) -> String {
        String::from_utf8_lossy(&self.bytes[..self.head]).into_owned()
    }
}

/// The next message; `None` when the other side hung up before its first byte.
pub async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Result<Option<Message>> {
    let mut bytes = Vec::new();
    let mut piece = [0; 16 * 1024];
    let mut whole = None;
    loop {
        if let Some((head, length)) = whole
            && bytes.len() >= length
        {
            return Ok(Some(Message { bytes, head }));
        }
        let read = stream.read(&mut piece).await?;
        if read == 0 {
            ensure!(bytes.is_empty(), "the connection ended within a message");
            return Ok(None);
        }
        bytes.extend_from_slice(&piece[..read]);
        ensure!(bytes.len() <= LONGEST, "a message without end");
        if whole.is_none()
            && let Some(head) = bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4)
        {
            let message = Message { bytes: bytes.clone(), head };
            let length = message.header("content-length").map_or(Ok(0), |length| length.parse::<usize>());
            whole = Some((head, head + length.context("a length in digits")?));
        }
    }
}
