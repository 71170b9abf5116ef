//! A till that speaks to a router, and a company for it to belong to.

use std::io::Write;

use axum::{
    Router,
    body::{Body, to_bytes},
    http::Request,
};
use jiff::SignedDuration;
use serde_json::{Value, json};
use tower::ServiceExt;
use turno_domain::{
    Currency,
    ids::{Company, Environment, Integration, Scope},
};
use turno_postgres::Database;
use turno_protocol::secret::Secret;
use turno_server::{
    Administration, CompanySettings, Config, IntegrationSettings, NewCredential, PostgresLedger,
    PostgresOptions, Rights, app,
};

#[derive(Clone)]
pub struct Client {
    router: Router,
}

/// Status and body.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub body: Value,
    pub is_replay: bool,
}

impl Answer {
    pub fn code(&self) -> &str {
        self.body["error"]["code"].as_str().unwrap_or_default()
    }

    pub fn text(&self, pointer: &str) -> String {
        let value = self.body.pointer(pointer).and_then(Value::as_str);
        value.unwrap_or_else(|| panic!("{pointer} in {}", self.body)).to_owned()
    }

    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.body);
        self
    }

    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Self {
        let answer = self.expect(status);
        assert_eq!(answer.code(), code, "{}", answer.body);
        answer
    }
}

/// A company with a till and a manager.
pub async fn furnish(ledger: &impl Administration) {
    let company = Company::parse("A").unwrap();
    let integration = Integration::parse("pos").unwrap();
    let settings =
        CompanySettings { company: company.clone(), name: "Company A".to_owned(), currency: Currency::PEN };
    ledger.put_company(settings).await.unwrap();
    ledger.put_integration(IntegrationSettings::new(company.clone(), integration.clone())).await.unwrap();
    let scope = Scope { company, integration, environment: Environment::parse("production").unwrap() };
    for (token, rights) in [("till", "create,read"), ("manager", "read,audit")] {
        let rights = Rights::parse(rights).unwrap();
        let credential = NewCredential::with_token(&Secret::new(token), scope.clone(), rights);
        ledger.put_credential(credential).await.unwrap();
    }
}

/// An acquirer that is believed at once when it knows of nothing.
fn config() -> Config {
    Config { acquirer_visibility_delay: SignedDuration::ZERO, ..Config::default() }
}

/// A database for one test; `None`, and a word about it, where no PostgreSQL is installed.
pub fn database() -> Option<Database> {
    let database = Database::create().unwrap();
    if database.is_none() {
        // Past the test harness, which keeps the output of passing tests to itself.
        let mut out = std::io::stderr();
        writeln!(out, "SKIPPED: no PostgreSQL on this machine").unwrap();
    }
    database
}

pub async fn open(database: &Database) -> PostgresLedger {
    PostgresLedger::open(&database.url(), PostgresOptions::default()).await.unwrap()
}

impl Client {
    pub fn of<L: Administration>(ledger: L) -> Self {
        Self::with_config(ledger, config())
    }

    pub fn with_config<L: Administration>(ledger: L, config: Config) -> Self {
        Self { router: app(ledger, config) }
    }

    pub async fn post(&self, path: &str, key: &str, body: Value) -> Answer {
        let request = Request::post(path)
            .header("authorization", "Bearer till")
            .header("content-type", "application/json")
            .header("idempotency-key", key);
        self.send(request.body(Body::from(body.to_string())).unwrap()).await
    }

    pub async fn create(&self, key: &str, body: Value) -> Answer {
        self.post("/v1/transactions", key, body).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        let request = Request::get(path).header("authorization", "Bearer manager");
        self.send(request.body(Body::empty()).unwrap()).await
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let is_replay =
            response.headers().get("idempotency-replayed").is_some_and(|value| value.as_bytes() == b"true");
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        Answer { status, body: serde_json::from_slice(&bytes).unwrap_or(Value::Null), is_replay }
    }

    /// The ids of the till's sales, page by page.
    pub async fn sales(&self) -> Vec<String> {
        let (mut ids, mut after) = (Vec::new(), String::new());
        loop {
            let path = format!("/v1/transactions?device_id=D03&limit=7{after}");
            let page = self.get(&path).await.expect(200).body;
            let items = page["items"].as_array().unwrap();
            ids.extend(items.iter().map(|item| item["external_transaction_id"].as_str().unwrap().to_owned()));
            let Some(next) = page["next"].as_str() else { return ids };
            after = format!("&after={next}");
        }
    }

    /// How often the audit names each event.
    pub async fn audited(&self, event: &str) -> usize {
        let rows = self.get("/v1/audit?limit=500").await.expect(200);
        rows.body["items"].as_array().unwrap().iter().filter(|row| row["event"] == event).count()
    }
}

/// A sale of one seat of one service.
pub fn sale(external_id: &str, seat: &str) -> Value {
    json!({
        "external_transaction_id": external_id, "amount": "85.50", "currency": "PEN", "device_id": "D03",
        "shift_id": "S44", "occurred_at": "2026-09-21T10:00:00-05:00",
        "context": {"route": "184", "service": "184-0800", "seat": seat},
    })
}
