//! The part of the WebDriver protocol that the tests speak: a session, scripts, clicks, keys, pictures.
//!
//! A library for it would switch on features of shared dependencies, and the till under test would no longer be the
//! till that is run.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

/// Longer than any answer takes; a driver that hangs must fail the test.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// The name under which an element travels, by the protocol.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Keys without a character, as the protocol writes them.
pub mod key {
    pub const BACKSPACE: &str = "\u{E003}";
    pub const ESCAPE: &str = "\u{E00C}";
    pub const ENTER: &str = "\u{E007}";
    pub const TAB: &str = "\u{E004}";
    pub const F2: &str = "\u{E032}";
    pub const F3: &str = "\u{E033}";
    pub const F4: &str = "\u{E034}";
    pub const F6: &str = "\u{E036}";
    pub const F7: &str = "\u{E037}";
    pub const F8: &str = "\u{E038}";
    pub const F9: &str = "\u{E039}";
    pub const F10: &str = "\u{E03A}";
    pub const F12: &str = "\u{E03C}";
}

pub struct Session {
    http: reqwest::Client,
    url: String,
}

/// A part of the page, for as long as the page keeps it.
pub struct Element(String);

/// What the driver refused, e.g. because an element is gone.
#[derive(Debug)]
struct Refusal {
    error: String,
    message: String,
}

impl Session {
    /// Has the driver on this port start a program and waits for its page.
    pub async fn start(port: u16, capabilities: &Value) -> Result<Self> {
        let http = reqwest::Client::builder().timeout(ANSWER_WITHIN).no_proxy().build()?;
        let driver = Self { http, url: format!("http://127.0.0.1:{port}") };
        let body = json!({ "capabilities": { "alwaysMatch": capabilities } });
        let session = driver.post("/session", &body).await?;
        let id = session["sessionId"].as_str().context("a session has an id")?;
        Ok(Self { url: format!("{}/session/{id}", driver.url), http: driver.http })
    }

    /// Runs the body of a function in the page. A promise that it returns is waited for.
    pub async fn execute(&self, script: &str, arguments: &[Value]) -> Result<Value> {
        self.post("/execute/sync", &json!({ "script": script, "args": arguments })).await
    }

    /// Nothing if there is no such element now.
    pub async fn find(&self, css: &str) -> Result<Option<Element>> {
        let found = self.ask("/element", &json!({ "using": "css selector", "value": css })).await?;
        match found {
            Ok(value) => Ok(value[ELEMENT].as_str().map(|id| Element(id.to_owned()))),
            Err(refusal) if refusal.error == "no such element" => Ok(None),
            Err(Refusal { error, message }) => bail!("{error}: {message}"),
        }
    }

    /// False if the element cannot be clicked now: hidden, covered or replaced meanwhile.
    pub async fn click(&self, element: &Element) -> Result<bool> {
        Ok(self.ask(&format!("/element/{}/click", element.0), &json!({})).await?.is_ok())
    }

    /// Both clicks are one movement of the hand: nothing comes between them.
    pub async fn double_click(&self, element: &Element) -> Result<()> {
        let at_element = json!({ "type": "pointerMove", "x": 0, "y": 0, "origin": { ELEMENT: element.0 } });
        let (down, up) =
            (json!({ "type": "pointerDown", "button": 0 }), json!({ "type": "pointerUp", "button": 0 }));
        let mouse = json!({
            "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" },
            "actions": [at_element, down, up, down, up],
        });
        self.post("/actions", &json!({ "actions": [mouse] })).await?;
        Ok(())
    }

    /// Types into whatever has the focus.
    pub async fn keys(&self, keys: &str) -> Result<()> {
        let strokes = keys
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key })));
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": strokes.collect::<Vec<_>>() });
        self.post("/actions", &json!({ "actions": [keyboard] })).await?;
        Ok(())
    }

    /// The window as a PNG.
    pub async fn screenshot(&self) -> Result<Vec<u8>> {
        let answer = self.http.get(format!("{}/screenshot", self.url)).send().await?;
        ensure!(answer.status().is_success(), "no picture: {}", answer.status());
        let answer: Value = serde_json::from_slice(&answer.bytes().await?)?;
        Ok(BASE64.decode(answer["value"].as_str().context("a picture is a text")?)?)
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        match self.ask(path, body).await? {
            Ok(value) => Ok(value),
            Err(Refusal { error, message }) => bail!("{path}: {error}: {message}"),
        }
    }

    async fn ask(&self, path: &str, body: &Value) -> Result<Result<Value, Refusal>> {
        let request = self.http.post(format!("{}{path}", self.url)).body(serde_json::to_vec(body)?);
        let answer = request.send().await.with_context(|| format!("the driver does not answer {path}"))?;
        let done = answer.status().is_success();
        let mut answer: Value = serde_json::from_slice(&answer.bytes().await?)?;
        let value = answer["value"].take();
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        Ok(if done { Ok(value) } else { Err(Refusal { error: text("error"), message: text("message") }) })
    }
}
