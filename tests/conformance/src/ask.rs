//! A request in the making.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use anyhow::Result;
use hmac::{Hmac, KeyInit, Mac};
use hyper::body::{Body as HttpBody, Bytes, Frame};
use reqwest::Method;
use serde_json::Value;
use sha2::Sha256;

use crate::{answer::Answer, client::Request, fixture::Role, stage::Stage};

/// Asks as the till unless somebody else is named.
#[must_use = "a request does nothing until it is sent"]
pub struct Ask<'a> {
    stage: &'a Stage,
    method: Method,
    path: String,
    who: Who,
    keys: Vec<Vec<u8>>,
    media_type: Option<String>,
    headers: Vec<(&'static str, Vec<u8>)>,
    body: Option<Vec<u8>>,
    is_chunked: bool,
}

enum Who {
    Role(Role),
    /// This as the value of `Authorization`.
    Header(String),
    Nobody,
}

impl<'a> Ask<'a> {
    pub fn new(stage: &'a Stage, method: Method, path: impl Into<String>) -> Self {
        Self {
            stage,
            method,
            path: path.into(),
            who: Who::Role(Role::Till),
            keys: Vec::new(),
            media_type: Some("application/json".to_owned()),
            headers: Vec::new(),
            body: None,
            is_chunked: false,
        }
    }

    pub fn by(self, role: Role) -> Self {
        Self { who: Who::Role(role), ..self }
    }

    pub fn by_nobody(self) -> Self {
        Self { who: Who::Nobody, ..self }
    }

    pub fn authorization(self, value: impl Into<String>) -> Self {
        Self { who: Who::Header(value.into()), ..self }
    }

    /// A key of this case's own; the same label is the same key.
    pub fn key(self, label: &str) -> Self {
        let key = self.stage.key(label);
        self.raw_key(key)
    }

    /// May be said several times.
    pub fn raw_key(mut self, key: impl Into<Vec<u8>>) -> Self {
        self.keys.push(key.into());
        self
    }

    pub fn query(mut self, pairs: &[(&str, &str)]) -> Self {
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        self.path = format!("{}?{query}", self.path);
        self
    }

    pub fn json(self, body: &Value) -> Self {
        self.bytes(body.to_string())
    }

    pub fn bytes(self, body: impl Into<Vec<u8>>) -> Self {
        Self { body: Some(body.into()), ..self }
    }

    /// The body in pieces of unknown total length.
    pub fn chunked(self) -> Self {
        Self { is_chunked: true, ..self }
    }

    /// `None` sends no `Content-Type`.
    pub fn media_type(self, media_type: Option<&str>) -> Self {
        Self { media_type: media_type.map(str::to_owned), ..self }
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// As the acquirer signs its webhooks.
    pub fn signed(self) -> Self {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.stage.fixture().webhook_secret())
            .expect("a secret may be of any length");
        mac.update(self.body.as_deref().unwrap_or_default());
        let digest: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        self.header("x-acquirer-signature", &format!("sha256={digest}"))
    }

    pub async fn send(self) -> Result<Answer> {
        let stage = self.stage;
        let request = self.request()?;
        stage.client().send(request).await
    }

    /// For what is outside the contract's `/v1`.
    pub async fn send_outside(self) -> Result<Answer> {
        let stage = self.stage;
        let request = self.request()?;
        stage.client().exchange(request).await
    }

    fn request(self) -> Result<Request> {
        let mut headers = self.headers;
        match self.who {
            Who::Role(role) => {
                headers
                    .push(("authorization", format!("Bearer {}", self.stage.fixture().token(role)?).into()));
            }
            Who::Header(value) => headers.push(("authorization", value.into())),
            Who::Nobody => {}
        }
        headers.extend(self.keys.into_iter().map(|key| ("idempotency-key", key)));
        if let (Some(_), Some(media_type)) = (&self.body, self.media_type) {
            headers.push(("content-type", media_type.into()));
        }
        let body = self.body.map(|bytes| {
            if self.is_chunked { reqwest::Body::wrap(Pieces(bytes)) } else { reqwest::Body::from(bytes) }
        });
        Ok(Request { method: self.method, path: self.path, headers, body })
    }
}

/// A body whose length nobody knows beforehand.
struct Pieces(Vec<u8>);

const PIECE: usize = 1_000;

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Infallible>>> {
        if self.0.is_empty() {
            return Poll::Ready(None);
        }
        let end = PIECE.min(self.0.len());
        let piece: Vec<u8> = self.0.drain(..end).collect();
        Poll::Ready(Some(Ok(Frame::data(piece.into()))))
    }
}
