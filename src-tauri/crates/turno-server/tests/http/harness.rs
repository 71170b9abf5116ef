//! A server of the test's own: router, file and clock. What it leaves behind is checked when it goes.

use std::sync::{
    Arc,
    atomic::{AtomicI64, AtomicU64, Ordering},
};

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{HeaderMap, Request, StatusCode},
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt;
use turno_domain::{
    Currency,
    ids::{Company, DeviceId, Environment, Integration, Scope},
};
use turno_protocol::{code::ErrorProfile, secret::Secret};
use turno_server::{
    Administration, Clock, CompanySettings, Config, Entropy, IntegrationSettings, NewCredential,
    NewEnrolmentCode, Rights, SqliteLedger, SqliteOptions, World, WriterMode,
    acquirer::{Acquirer, SimulatedAcquirer},
    app,
};

use crate::{invariants, schema};

pub const WEBHOOK_SECRET: &str = "a secret of the test";

/// A time that stands still until it is moved.
#[derive(Clone)]
pub struct TestClock(Arc<AtomicI64>);

impl TestClock {
    fn new() -> Self {
        Self(Arc::new(AtomicI64::new(1_790_000_000_000)))
    }

    pub fn advance(&self, by: SignedDuration) {
        let millis = i64::try_from(by.as_millis()).unwrap();
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.0.load(Ordering::SeqCst)).unwrap()
    }
}

/// Bytes that never repeat.
#[derive(Clone)]
struct Counter(Arc<AtomicU64>);

impl Entropy for Counter {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let number = self.0.fetch_add(1, Ordering::SeqCst).to_be_bytes();
            chunk.copy_from_slice(&number[8 - chunk.len()..]);
        }
    }
}

/// What outlives a server process: the file, the clock, the acquirer.
pub struct Site {
    folder: TempDir,
    pub clock: TestClock,
    world: World,
    acquirer: Arc<dyn Acquirer>,
}

pub struct Server {
    pub site: Arc<Site>,
    pub ledger: SqliteLedger,
    router: Router,
    /// Every answer is held against it.
    pub description: Value,
}

pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Value,
}

impl Answer {
    pub fn code(&self) -> &str {
        self.body["error"]["code"].as_str().unwrap_or_default()
    }

    pub fn text(&self, path: &str) -> String {
        let value = path.split('.').fold(&self.body, |value, name| &value[name]);
        value.as_str().unwrap_or_else(|| panic!("{path} in {}", self.body)).to_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub fn is_replay(&self) -> bool {
        self.header("idempotency-replayed") == Some("true")
    }

    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.body);
        self
    }

    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Self {
        let answer = self.expect(status);
        assert_eq!(answer.code(), code, "{}", answer.body);
        answer
    }
}

impl Site {
    pub fn new(acquirer: Arc<dyn Acquirer>) -> Arc<Self> {
        let clock = TestClock::new();
        let world = World::new(clock.clone(), Counter(Arc::new(AtomicU64::new(1))));
        Arc::new(Self { folder: tempfile::tempdir().unwrap(), clock, world, acquirer })
    }

    pub fn config(&self) -> Config {
        Config {
            world: self.world.clone(),
            acquirer: Some(Arc::clone(&self.acquirer)),
            acquirer_visibility_delay: SignedDuration::from_secs(10),
            acquirer_webhook_secret: Some(Secret::new(WEBHOOK_SECRET)),
            ..Config::default()
        }
    }

    pub fn file(&self) -> std::path::PathBuf {
        self.folder.path().join("ledger.db")
    }

    /// Start a server on this site's file, as a new process would.
    pub async fn start(self: Arc<Self>) -> Server {
        self.start_with(WriterMode::Thread).await
    }

    async fn start_with(self: Arc<Self>, writer: WriterMode) -> Server {
        let options = SqliteOptions { world: self.world.clone(), writer, ..SqliteOptions::default() };
        let ledger = SqliteLedger::open(&self.file(), options).await.unwrap();
        let router = app(ledger.clone(), self.config());
        let description = Value::Null;
        let mut server = Server { site: self, ledger, router, description };
        server.description = serde_json::from_str(&server.text("/openapi.json").await).unwrap();
        server.furnish().await;
        server
    }
}

impl Server {
    pub async fn new() -> Self {
        Site::new(Arc::new(SimulatedAcquirer::default())).start().await
    }

    /// For tests in paused time, which runs on while another thread is waited for.
    pub async fn inline() -> Self {
        Site::new(Arc::new(SimulatedAcquirer::default())).start_with(WriterMode::Inline).await
    }

    /// The same ledger behind a router that was told something else.
    pub fn with_config(mut self, change: impl FnOnce(&mut Config)) -> Self {
        let mut config = self.site.config();
        change(&mut config);
        self.router = app(self.ledger.clone(), config);
        self
    }

    /// Two companies; the first has tills, an agency on the IETF profile, a manager and somebody who only reads.
    async fn furnish(&self) {
        for company in ["A", "B"] {
            let settings = CompanySettings {
                company: Company::parse(company).unwrap(),
                name: format!("Company {company}"),
                currency: Currency::PEN,
            };
            self.ledger.put_company(settings).await.unwrap();
        }
        let agency = IntegrationSettings { error_profile: ErrorProfile::Ietf, ..integration("A", "agency") };
        for settings in [integration("A", "pos"), integration("B", "pos"), agency] {
            self.ledger.put_integration(settings).await.unwrap();
        }
        for (token, scope, rights) in [
            ("pos", scope("A", "pos"), "create,read"),
            ("agency", scope("A", "agency"), "create,read"),
            ("manager", scope("A", "pos"), "read,audit"),
            ("reader", scope("A", "pos"), "read"),
            ("other-company", scope("B", "pos"), "create,read,audit"),
        ] {
            let credential =
                NewCredential::with_token(&Secret::new(token), scope, Rights::parse(rights).unwrap());
            self.ledger.put_credential(credential).await.unwrap();
        }
    }

    pub async fn enrolment_code(&self, device: &str) -> String {
        let device = DeviceId::parse(device).unwrap();
        let (code, text) = NewEnrolmentCode::generate(&self.site.world, scope("A", "pos"), device);
        self.ledger.put_enrolment_code(code).await.unwrap();
        text.expose().to_owned()
    }

    /// End this process in good order and start the next one on the same file.
    pub async fn restart(self) -> Self {
        self.ledger.close().await;
        let site = Arc::clone(&self.site);
        drop(self);
        site.start().await
    }

    pub async fn create(&self, key: &str, body: Value) -> Answer {
        self.post_as("pos", "/v1/transactions", Some(key), body).await
    }

    pub async fn post(&self, path: &str, key: &str, body: Value) -> Answer {
        self.post_as("pos", path, Some(key), body).await
    }

    pub async fn post_as(&self, token: &str, path: &str, key: Option<&str>, body: Value) -> Answer {
        let mut request = Request::post(path)
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/json");
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        self.send(request.body(Body::from(body.to_string())).unwrap()).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.get_as("pos", path).await
    }

    pub async fn get_as(&self, token: &str, path: &str) -> Answer {
        let request = Request::get(path).header("authorization", format!("Bearer {token}"));
        self.send(request.body(Body::empty()).unwrap()).await
    }

    /// A body that is no JSON.
    pub async fn text(&self, path: &str) -> String {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    /// Send a request and look at what every answer owes.
    pub async fn send(&self, request: Request<Body>) -> Answer {
        let (method, path) = (request.method().clone(), request.uri().to_string());
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap();
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        let answer = Answer { status: parts.status, headers: parts.headers, body };
        invariants::check_answer(&answer);
        schema::check(&self.description, method.as_str(), &path, &answer);
        answer
    }

    /// The rows of the company's audit about `event`.
    pub async fn audited(&self, event: &str) -> Vec<Value> {
        let audit = self.get_as("manager", "/v1/audit?limit=500").await.expect(200);
        let rows = audit.body["items"].as_array().unwrap().clone();
        rows.into_iter().filter(|row| row["event"] == event).collect()
    }

    pub async fn sales_of(&self, device: &str) -> usize {
        let list = self.get(&format!("/v1/transactions?device_id={device}&limit=500")).await.expect(200);
        list.body["items"].as_array().unwrap().len()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            invariants::check_file(&self.site.file());
        }
    }
}

fn integration(company: &str, name: &str) -> IntegrationSettings {
    IntegrationSettings::new(Company::parse(company).unwrap(), Integration::parse(name).unwrap())
}

fn scope(company: &str, integration: &str) -> Scope {
    Scope {
        company: Company::parse(company).unwrap(),
        integration: Integration::parse(integration).unwrap(),
        environment: Environment::parse("production").unwrap(),
    }
}

/// A sale of seat 12A of one service; `more` is laid over it.
pub fn sale(external_id: &str, more: Value) -> Value {
    let mut body = json!({
        "external_transaction_id": external_id, "amount": "85.50", "currency": "PEN", "device_id": "D03",
        "shift_id": "S44", "occurred_at": "2026-09-21T10:00:00-05:00",
        "context": {"route": "184", "service": "184-0800", "seat": "12A"},
    });
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}
