//! What outlives a server: its store, its acquirer, and a till that asks again.

use std::{io::Write, path::PathBuf, process::Command, time::Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use turno_postgres::Database;
use turno_server::acquirer::StatementLine;

use crate::program::{PATIENCE, Program, command, until};

const SECRET: &str = "a secret between two processes";
pub const WEBHOOK_SECRET: &str = "a secret of the webhook";
pub const TILL: &str = "token-of-the-till";
const MANAGER: &str = "token-of-the-manager";
const BUYER: &str = "Rosa Quispe";

/// What no log may hold.
const UNWRITTEN: [&str; 8] =
    [SECRET, WEBHOOK_SECRET, TILL, MANAGER, BUYER, "Quispe", "external_payment_id", "payment_method"];

/// Short, so that a test does not wait for long until an owner is believed to be gone.
const SHORT_LEASE_S: u32 = 1;

/// As somebody asks who looks for a fault.
const LOG_EVERYTHING: &str = "trace,tokio_postgres::query=trace,hyper=trace";

pub enum Store {
    Sqlite,
    Postgres(Database),
}

impl Store {
    /// `None`, and a word about it, where no PostgreSQL is installed.
    pub fn postgres() -> Option<Self> {
        let database = Database::create().unwrap();
        if database.is_none() {
            // Past the test harness, which keeps the output of passing tests to itself.
            let mut out = std::io::stderr();
            writeln!(out, "SKIPPED: no PostgreSQL on this machine").unwrap();
        }
        database.map(Self::Postgres)
    }
}

pub struct Town {
    folder: TempDir,
    store: Store,
    lease_s: u32,
    acquirer: Program,
    http: reqwest::Client,
}

impl Town {
    pub fn new(store: Store) -> Self {
        Self::with_lease(store, SHORT_LEASE_S)
    }

    pub fn with_lease(store: Store, lease_s: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("fixture.json"), fixture().to_string()).unwrap();
        let acquirer = Program::start(
            command()
                .args(["sandbox-acquirer", "--listen", "127.0.0.1:0"])
                .env("TURNO_ACQUIRER_SECRET", SECRET)
                .env("RUST_LOG", LOG_EVERYTHING),
            &folder.path().join("log"),
        );
        let http = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
        Self { folder, store, lease_s, acquirer, http }
    }

    pub fn database(&self) -> String {
        match &self.store {
            Store::Sqlite => format!("sqlite:{}", self.folder.path().join("ledger.db").display()),
            Store::Postgres(database) => database.url(),
        }
    }

    pub fn log(&self) -> PathBuf {
        self.path("log")
    }

    /// A file of the test's own.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn serve(&self) -> Command {
        let mut serve = command();
        serve
            .args(["serve", "--listen", "127.0.0.1:0", "--lease-s", &self.lease_s.to_string()])
            .arg("--fixture")
            .arg(self.folder.path().join("fixture.json"))
            .args(["--database", &self.database(), "--acquirer-url", &self.acquirer.address])
            .env("TURNO_ACQUIRER_SECRET", SECRET)
            .env("RUST_LOG", LOG_EVERYTHING);
        serve
    }

    pub fn server(&self) -> Program {
        Program::start(&mut self.serve(), &self.log())
    }

    /// One that dies at this point.
    pub fn doomed(&self, point: &str) -> Program {
        Program::start(self.serve().env("TURNO_KILL_POINT", point), &self.log())
    }

    /// One that waits at this point, once.
    pub fn held(&self, point: &str) -> Program {
        let mut serve = self.serve();
        serve.env("TURNO_HOLD_POINT", point).env("TURNO_HOLD_FILE", self.hold());
        Program::start(&mut serve, &self.log())
    }

    fn hold(&self) -> PathBuf {
        self.folder.path().join("held")
    }

    /// SIGSTOP, when it has come to its point.
    pub async fn stop(&self, held: &Program) {
        let hold = self.hold();
        until("the server has come to its point", || hold.exists().then_some(())).await;
        held.signal("STOP");
        held.stopped().await;
        // It sees that when it goes on.
        std::fs::remove_file(hold).unwrap();
    }

    /// What the acquirer was asked for, by anybody.
    pub async fn statement(&self) -> Vec<StatementLine> {
        let url = format!("{}/statement", self.acquirer.address);
        let text = self.http.get(url).send().await.unwrap().text().await.unwrap();
        serde_json::from_str(&text).unwrap()
    }

    pub fn till(&self, server: &Program) -> Till {
        Till { http: self.http.clone(), address: server.address.clone() }
    }

    /// The audit's length and the hash of its last row, after the whole chain was found to hold.
    pub fn audit_head(&self) -> String {
        let output =
            command().args(["admin", "--database", &self.database(), "verify-audit", "A"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Whatever the test was about.
impl Drop for Town {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let log = std::fs::read_to_string(self.log()).unwrap();
        for line in log.lines() {
            for word in UNWRITTEN {
                assert!(!line.contains(word), "{word} in: {line}");
            }
        }
    }
}

/// Somebody who speaks to one server.
#[derive(Clone)]
pub struct Till {
    http: reqwest::Client,
    pub address: String,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub is_replay: bool,
    pub body: Value,
}

impl Answer {
    pub fn code(&self) -> &str {
        self.body["error"]["code"].as_str().unwrap_or_default()
    }

    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.body);
        self
    }
}

impl Till {
    /// Nothing, if the server went away in the middle.
    pub async fn post(&self, path: &str, key: &str, body: &Value) -> Option<Answer> {
        let request = self.http.post(format!("{}{path}", self.address)).bearer_auth(TILL);
        let request = request.header("content-type", "application/json").header("idempotency-key", key);
        self.read(request.body(body.to_string())).await
    }

    /// As the contract tells a till to: the same request, for as long as somebody else is at work on it.
    pub async fn insist(&self, path: &str, key: &str, body: &Value) -> Answer {
        let end = Instant::now() + PATIENCE;
        loop {
            let answer = self.post(path, key, body).await.expect("this server lives");
            if answer.code() != "idempotency_in_progress" {
                return answer;
            }
            assert!(Instant::now() < end, "in progress for ever");
        }
    }

    /// As [`Self::insist`], at a server that will not live to say more.
    pub async fn insist_until_it_dies(&self, path: &str, key: &str, body: &Value) {
        let end = Instant::now() + PATIENCE;
        while let Some(answer) = self.post(path, key, body).await {
            assert_eq!(answer.code(), "idempotency_in_progress", "{}", answer.body);
            assert!(Instant::now() < end, "in progress for ever");
        }
    }

    pub async fn get(&self, path: &str) -> Answer {
        let request = self.http.get(format!("{}{path}", self.address)).bearer_auth(MANAGER);
        self.read(request).await.expect("this server lives")
    }

    async fn read(&self, request: reqwest::RequestBuilder) -> Option<Answer> {
        let response = request.send().await.ok()?;
        let status = response.status().as_u16();
        let is_replay =
            response.headers().get("idempotency-replayed").is_some_and(|value| value.as_bytes() == b"true");
        let text = response.text().await.ok()?;
        Some(Answer { status, is_replay, body: serde_json::from_str(&text).unwrap_or(Value::Null) })
    }

    /// How often the audit names an event.
    pub async fn audited(&self, event: &str) -> usize {
        let rows = self.get("/v1/audit?limit=500").await.expect(200).body;
        rows["items"].as_array().unwrap().iter().filter(|row| row["event"] == event).count()
    }

    /// The path of its payments.
    pub async fn sell(&self, amount: &str) -> String {
        let sold = self.post("/v1/transactions", "sale", &sale(amount)).await.unwrap().expect(201);
        format!("/v1/transactions/{}/payments", sold.body["yupy_transaction_id"].as_str().unwrap())
    }

    /// The sale of a path of payments, as it is now.
    pub async fn financial(&self, payments: &str) -> String {
        let sale = self.get(payments.strip_suffix("/payments").unwrap()).await.expect(200);
        sale.body["state"]["financial"].as_str().unwrap().to_owned()
    }
}

pub fn sale(amount: &str) -> Value {
    json!({
        "external_transaction_id": "E-1", "amount": amount, "currency": "PEN", "device_id": "D03",
        "payment_method": "card", "buyer_name": BUYER,
    })
}

pub fn payment(amount: &str) -> Value {
    json!({"external_payment_id": "P-1", "amount": amount, "currency": "PEN", "method": "card"})
}

/// An acquirer that is believed at once when it knows of nothing.
fn fixture() -> Value {
    let credential = |token: &str, rights: [&str; 2]| {
        json!({
            "token": token, "company": "A", "integration": "pos", "environment": "production", "rights": rights,
        })
    };
    json!({
        "settings": {
            "currency": "PEN", "body_limit_bytes": 65_536, "key_retention_days": 30,
            "similarity_window_s": 600, "identifying_fields": ["seat"], "confirmation_token_life_s": 86_400,
            "error_profile": "default", "acquirer_visibility_delay_s": 0,
            "acquirer_webhook_secret": WEBHOOK_SECRET,
        },
        "integrations": [{"company": "A", "integration": "pos"}],
        "credentials": [credential(TILL, ["create", "read"]), credential(MANAGER, ["read", "audit"])],
    })
}
