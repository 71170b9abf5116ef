//! The connection to the server: sends what it is told, follows nothing, and holds every answer against its duties.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result, bail};
use reqwest::{Method, redirect::Policy};
use serde_json::Value;

use crate::{answer::Answer, duties::Duties};

/// Longer than the slowest payment, shorter than anybody's patience.
const TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct Client {
    http: reqwest::Client,
    base_url: String,
    duties: Duties,
}

/// A request as it goes out.
#[derive(Debug)]
pub struct Request {
    pub method: Method,
    pub path: String,
    pub headers: Vec<(&'static str, Vec<u8>)>,
    pub body: Option<reqwest::Body>,
}

impl Client {
    pub fn new(base_url: &str) -> Result<Self> {
        let http = reqwest::Client::builder()
            .redirect(Policy::none())
            .no_proxy()
            .timeout(TIMEOUT)
            .build()
            .context("cannot make an HTTP client")?;
        let base_url = base_url.trim_end_matches('/').to_owned();
        Ok(Self { http, base_url, duties: Duties::default() })
    }

    pub async fn send(&self, request: Request) -> Result<Answer> {
        let answer = self.exchange(request).await?;
        let faults = self.duties.faults(&answer);
        if !faults.is_empty() {
            bail!("every answer owes: {}; got {}", faults.join("; "), answer.summary());
        }
        Ok(answer)
    }

    /// For what is not under the contract's `/v1`, and owes less.
    pub async fn exchange(&self, request: Request) -> Result<Answer> {
        let Request { method, path, headers, body } = request;
        let asked = format!("{method} {path}");
        let mut out = self.http.request(method, format!("{}{path}", self.base_url));
        for (name, value) in headers {
            out = out.header(name, value);
        }
        if let Some(body) = body {
            out = out.body(body);
        }
        let response = out.send().await.with_context(|| format!("no answer to {asked}"))?;
        let status = response.status().as_u16();
        let headers: BTreeMap<_, _> = response
            .headers()
            .iter()
            .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
            .collect();
        let text = response.text().await.with_context(|| format!("half an answer to {asked}"))?;
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        Ok(Answer { asked, status, headers, body, text })
    }
}
