//! The network between the tills and the server: it may do to a request whatever a network can.
//!
//! It also keeps the book that the checks need: which bodies travelled under which key.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use serde_json::{Value, json};
use turno_protocol::chain::AUDIT_HEAD_HEADER;
use turno_till::transport::{ANSWER_LIMIT, Failure, Method, Request, Response, Sending, Transport};

use crate::chance::Chance;
use crate::faults::{Fate, Weather};
use crate::sabotage::Sabotage;
use crate::server::Server;
use crate::trace::Trace;

/// The till's own limit for one request.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(15);

#[derive(Clone)]
pub struct Net {
    state: Arc<Mutex<State>>,
    server: Server,
    sabotage: Option<Sabotage>,
    trace: Trace,
}

/// What is wrong with a till's line for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Nothing leaves.
    NoNetwork,
    /// What leaves arrives, and nothing comes back.
    OneWay,
    /// The credential is not accepted.
    CredentialRefused,
}

struct State {
    weather: Weather,
    bodies: BTreeMap<String, BTreeSet<Vec<u8>>>,
    /// Every sale that travelled, with the keys of its bodies.
    keys: BTreeMap<Vec<u8>, BTreeSet<String>>,
    faults: BTreeMap<String, u64>,
    copies_are_expected: bool,
    /// Tills that are cut off, in one of the ways.
    cuts: BTreeMap<usize, Cut>,
    /// Tills whose queue a bug has stopped.
    blocked: BTreeSet<usize>,
}

impl Net {
    #[must_use]
    pub fn new(server: Server, weather: Weather, sabotage: Option<Sabotage>, trace: Trace) -> Self {
        let state = State {
            weather,
            bodies: BTreeMap::new(),
            keys: BTreeMap::new(),
            faults: BTreeMap::new(),
            copies_are_expected: false,
            cuts: BTreeMap::new(),
            blocked: BTreeSet::new(),
        };
        Self { state: Arc::new(Mutex::new(state)), server, sabotage, trace }
    }

    pub fn heal(&self) {
        let mut state = self.state();
        state.weather = Weather::fair();
        state.cuts.clear();
    }

    pub fn cut(&self, till: usize, cut: Cut) {
        self.state().cuts.insert(till, cut);
    }

    pub fn join(&self, till: usize) {
        self.state().cuts.remove(&till);
    }

    pub fn count(&self, fault: &str) {
        *self.state().faults.entry(fault.to_owned()).or_default() += 1;
    }

    /// In this world a till's folder will be copied.
    pub fn expect_copies(&self) {
        self.state().copies_are_expected = true;
    }

    #[must_use]
    pub fn copies_are_expected(&self) -> bool {
        self.state().copies_are_expected
    }

    #[must_use]
    pub fn faults(&self) -> BTreeMap<String, u64> {
        self.state().faults.clone()
    }

    /// Keys under which more than one body travelled. There must never be any.
    #[must_use]
    pub fn keys_with_two_bodies(&self) -> Vec<String> {
        let state = self.state();
        state.bodies.iter().filter(|(_, bodies)| bodies.len() > 1).map(|(key, _)| key.clone()).collect()
    }

    /// Bodies that travelled under more than one key. There must never be any.
    #[must_use]
    pub fn bodies_with_two_keys(&self) -> Vec<String> {
        let state = self.state();
        let twice = state.keys.iter().filter(|(_, keys)| keys.len() > 1);
        twice.map(|(body, _)| String::from_utf8_lossy(body).into_owned()).collect()
    }

    /// A till's end of the line.
    #[must_use]
    pub fn plug(&self, till: usize, credential: Option<String>, chance: Chance) -> Arc<dyn Transport> {
        Arc::new(Plug { net: self.clone(), till, credential, chance })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Plug {
    net: Net,
    till: usize,
    credential: Option<String>,
    chance: Chance,
}

impl Transport for Plug {
    fn send(&self, request: Request) -> Sending<'_> {
        Box::pin(async move {
            let carried = |request| async {
                tokio::time::timeout(TOTAL_TIMEOUT, self.carry(request))
                    .await
                    .unwrap_or(Err(Failure::TimedOut))
            };
            match self.net.sabotage.filter(|_| request.idempotency_key.is_some()) {
                None => carried(request).await,
                Some(sabotage) => self.misbehave(sabotage, request, carried).await,
            }
        })
    }
}

impl Plug {
    /// Does to a sale what a till with this bug would do.
    async fn misbehave<F>(
        &self,
        sabotage: Sabotage,
        mut request: Request,
        carried: impl Fn(Request) -> F,
    ) -> Result<Response, Failure>
    where
        F: Future<Output = Result<Response, Failure>>,
    {
        let mut body: Value =
            serde_json::from_slice(request.body.as_deref().unwrap_or_default()).unwrap_or_default();
        let yes = || {
            let id = body["external_transaction_id"].as_str().unwrap_or_default().to_owned();
            let body = json!({ "external_transaction_id": id, "yupy_transaction_id": "ypt_forged" });
            Ok(Response {
                status: 200,
                media_type: Some("application/json".to_owned()),
                body: body.to_string().into_bytes(),
                ..Response::default()
            })
        };
        match sabotage {
            Sabotage::KeyPerAttempt => {
                request.idempotency_key = Some(format!("attempt-{}", self.chance.next()));
                carried(request).await
            }
            Sabotage::ExternalIdPerAttempt => {
                let other = format!(
                    "{}-{}",
                    body["external_transaction_id"].as_str().unwrap_or("?"),
                    self.chance.next()
                );
                body["external_transaction_id"] = other.into();
                request.body = Some(body.to_string().into_bytes());
                request.idempotency_key = Some(format!("attempt-{}", self.chance.next()));
                carried(request).await
            }
            Sabotage::RestampedBody => {
                body["buyer_name"] = format!("intento {}", self.chance.next()).into();
                request.body = Some(body.to_string().into_bytes());
                carried(request).await
            }
            Sabotage::AcceptedOnTimeout => match carried(request).await {
                Err(Failure::TimedOut | Failure::ConnectionLost) => yes(),
                heard => heard,
            },
            Sabotage::AcceptedOnPortal => match carried(request).await {
                Ok(answer) if answer.status == 200 && !answer.is_json() => yes(),
                heard => heard,
            },
            Sabotage::AcceptedOnQuestion => match carried(request).await {
                Ok(answer) if answer.status == 409 => yes(),
                heard => heard,
            },
            Sabotage::ProgramConfirms => {
                let first = carried(request.clone()).await?;
                let asked = first.json().unwrap_or_default();
                let Some(token) = asked["error"]["duplicate_confirmation_token"].as_str() else {
                    return Ok(first);
                };
                body["duplicate_confirmation_token"] = token.into();
                request.body = Some(body.to_string().into_bytes());
                request.idempotency_key = request.idempotency_key.map(|key| format!("{key}-confirmed"));
                carried(request).await
            }
            Sabotage::SentAsTwo => {
                let mut twin = request.clone();
                body["external_transaction_id"] =
                    format!("{}-twin", body["external_transaction_id"].as_str().unwrap_or("?")).into();
                twin.body = Some(body.to_string().into_bytes());
                twin.idempotency_key = twin.idempotency_key.map(|key| format!("{key}-twin"));
                let _ = carried(twin).await;
                carried(request).await
            }
            Sabotage::PoisonBlocks => {
                if self.chance.per_mille(300) {
                    self.net.state().blocked.insert(self.till);
                }
                if self.net.state().blocked.contains(&self.till) {
                    return Err(Failure::TimedOut);
                }
                carried(request).await
            }
            Sabotage::CommitsLost
            | Sabotage::QueueForgotten
            | Sabotage::ServerNeverAsks
            | Sabotage::NobodyCompares
            | Sabotage::AuditEdited
            | Sabotage::WitnessPutBack => carried(request).await,
        }
    }

    async fn carry(&self, request: Request) -> Result<Response, Failure> {
        let (fate, cut) = self.note(&request);
        let (there, back) = (self.delay(), self.delay());
        tokio::time::sleep(there).await;
        match cut {
            Some(Cut::NoNetwork) => return Err(Failure::NoNetwork),
            Some(Cut::OneWay) => {
                let _ = self.deliver(&request).await;
                return Err(*self.chance.pick(&[Failure::TimedOut, Failure::ConnectionLost]));
            }
            Some(Cut::CredentialRefused) => return Ok(plain(401)),
            None => {}
        }
        let answer = match fate {
            Fate::Clean => self.deliver(&request).await?,
            Fate::LostRequest => {
                return Err(*self.chance.pick(&[
                    Failure::Unreachable,
                    Failure::ConnectionLost,
                    Failure::NoNameResolution,
                ]));
            }
            Fate::LostReply => {
                let _ = self.deliver(&request).await;
                return Err(*self.chance.pick(&[
                    Failure::ConnectionLost,
                    Failure::TimedOut,
                    Failure::UnusableAnswer,
                ]));
            }
            Fate::Duplicate => {
                self.deliver_later(&request, Duration::from_millis(self.chance.between(0..=90_000)));
                self.deliver(&request).await?
            }
            Fate::Late => {
                self.deliver_later(&request, Duration::from_millis(self.chance.between(10_000..=120_000)));
                return Err(Failure::TimedOut);
            }
            Fate::Refused => plain(*self.chance.pick(&[408, 425, 429, 502, 503, 504])),
            Fate::FailedAfter => {
                let _ = self.deliver(&request).await;
                plain(*self.chance.pick(&[500, 502, 504]))
            }
            Fate::Html => Response {
                status: 200,
                media_type: Some("text/html".to_owned()),
                body: b"<html>Bienvenido</html>".to_vec(),
                ..Response::default()
            },
            Fate::Redirect => plain(302),
            Fate::Truncated => {
                let mut answer = self.deliver(&request).await?;
                answer.body.truncate(answer.body.len() / 2);
                answer
            }
            Fate::WrongId => {
                let mut answer = self.deliver(&request).await?;
                let body = String::from_utf8_lossy(&answer.body);
                let other =
                    body.replace("\"external_transaction_id\":\"D0", "\"external_transaction_id\":\"X0");
                answer.body = other.into_bytes();
                answer
            }
            Fate::Unauthenticated => plain(401),
        };
        tokio::time::sleep(back).await;
        Ok(answer)
    }

    /// Writes the request into the book and draws its fate, which counts unless the till is cut off.
    fn note(&self, request: &Request) -> (Fate, Option<Cut>) {
        let mut state = self.net.state();
        let fate = state.weather.fate(&self.chance);
        let cut = state.cuts.get(&self.till).copied();
        if let (Some(key), Some(body)) = (&request.idempotency_key, &request.body) {
            state.bodies.entry(key.clone()).or_default().insert(body.clone());
            state.keys.entry(body.clone()).or_default().insert(key.clone());
        }
        let name = cut.map_or_else(|| format!("{fate:?}"), |cut| format!("{cut:?}"));
        if name != "Clean" {
            *state.faults.entry(name.clone()).or_default() += 1;
        }
        drop(state);
        let key = request.idempotency_key.as_deref().unwrap_or("-");
        self.net.trace.say(format!("till {} asks {} {key}: {name}", self.till, request.path));
        (fate, cut)
    }

    fn delay(&self) -> Duration {
        Duration::from_millis(self.chance.between(5..=900))
    }

    async fn deliver(&self, request: &Request) -> Result<Response, Failure> {
        let answer = self.net.server.handle(self.translate(request)).await.ok_or(Failure::ConnectionLost)?;
        let (head, body) = answer.into_parts();
        let body = to_bytes(body, ANSWER_LIMIT).await.map_err(|_| Failure::UnusableAnswer)?;
        let text =
            |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        self.net.trace.say(format!("till {} hears {}", self.till, head.status.as_u16()));
        Ok(Response {
            status: head.status.as_u16(),
            media_type: text("content-type"),
            retry_after: text("retry-after"),
            date: text("date"),
            etag: text("etag"),
            request_id: text("x-request-id"),
            body: body.to_vec(),
        })
    }

    fn deliver_later(&self, request: &Request, delay: Duration) {
        let (server, request) = (self.net.server.clone(), self.translate(request));
        tokio::spawn(async move {
            tokio::time::sleep(delay).await;
            server.handle(request).await;
        });
    }

    fn translate(&self, request: &Request) -> http::Request<Body> {
        let method = match request.method {
            Method::Get => http::Method::GET,
            Method::Post => http::Method::POST,
        };
        let mut builder = http::Request::builder().method(method).uri(&request.path);
        if let Some(credential) = &self.credential {
            builder = builder.header("authorization", format!("Bearer {credential}"));
        }
        if let Some(key) = &request.idempotency_key {
            builder = builder.header("idempotency-key", key);
        }
        if let Some(head) = &request.audit_head {
            builder = builder.header(AUDIT_HEAD_HEADER, head);
        }
        if let Some(etag) = &request.if_none_match {
            builder = builder.header("if-none-match", etag);
        }
        if request.body.is_some() {
            builder = builder.header("content-type", "application/json");
        }
        builder
            .body(Body::from(request.body.clone().unwrap_or_default()))
            .expect("a request of ours is well formed")
    }
}

fn plain(status: u16) -> Response {
    Response { status, ..Response::default() }
}
