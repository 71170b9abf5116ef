//! The real router over a real file, in the test's own thread and time.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU32, Ordering},
    },
};

use axum::{
    Router,
    body::{Body, to_bytes},
    http::Request,
};
use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tower::ServiceExt;
use turno_domain::{
    Currency,
    ids::{Company, Environment, Integration, Scope},
};
use turno_postgres::Database;
use turno_protocol::secret::Secret;
use turno_server::{
    Administration, Clock, CompanySettings, Config, Entropy, IntegrationSettings, NewCredential,
    PostgresLedger, PostgresOptions, Rights, SqliteLedger, SqliteOptions, World, WriterMode, app,
};

/// One server for many sequences; each has a company of its own in it.
pub struct Server {
    runtime: Runtime,
    store: Store,
    router: Router,
    companies: AtomicU32,
}

enum Store {
    /// With a clock that is moved, in a folder that goes with the server.
    Sqlite { ledger: SqliteLedger, now_ms: Arc<AtomicI64>, _folder: TempDir },
    /// With the database's own clock, which nobody moves.
    Postgres { ledger: PostgresLedger, _database: Database },
}

/// A till and a manager of a new company.
pub struct Visit<'a> {
    server: &'a Server,
    company: String,
    pub start_ms: i64,
}

pub struct Answer {
    pub status: u16,
    pub replayed: Option<bool>,
    pub body: Value,
}

impl Answer {
    pub fn text(&self, pointer: &str) -> &str {
        self.body.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }
}

#[derive(Clone)]
struct MovedClock(Arc<AtomicI64>);

impl Clock for MovedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.0.load(Ordering::SeqCst)).unwrap()
    }
}

/// The same bytes in every run, so that a shrunk sequence stays the same.
#[derive(Clone)]
struct Counting(Arc<AtomicU32>);

impl Entropy for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(4) {
            let number = self.0.fetch_add(1, Ordering::SeqCst).to_be_bytes();
            chunk.copy_from_slice(&number[4 - chunk.len()..]);
        }
    }
}

/// Nothing has to survive a power cut here, and memory is much faster to sync.
const MEMORY: &str = "/dev/shm";

/// Between two sequences, so that their times do not meet.
const GAP_MS: i64 = 86_400_000;

impl Server {
    pub fn new() -> Self {
        let folder =
            if Path::new(MEMORY).is_dir() { tempfile::tempdir_in(MEMORY) } else { tempfile::tempdir() };
        let folder = folder.unwrap();
        let now_ms = Arc::new(AtomicI64::new(1_790_000_000_000));
        let world = World::new(MovedClock(Arc::clone(&now_ms)), Counting(Arc::default()));
        let options =
            SqliteOptions { world: world.clone(), writer: WriterMode::Inline, ..SqliteOptions::default() };
        let file = folder.path().join("ledger.db");
        let runtime = runtime();
        let ledger = runtime.block_on(SqliteLedger::open(&file, options)).unwrap();
        let router = app(ledger.clone(), Config { world, ..Config::default() });
        let store = Store::Sqlite { ledger, now_ms, _folder: folder };
        Self { runtime, store, router, companies: AtomicU32::new(0) }
    }

    /// `None` where no PostgreSQL is installed.
    pub fn on_postgres() -> Option<Self> {
        let database = Database::create().unwrap()?;
        let runtime = runtime();
        let url = database.url();
        let ledger = runtime.block_on(PostgresLedger::open(&url, PostgresOptions::default())).unwrap();
        let router = app(ledger.clone(), Config::default());
        let store = Store::Postgres { ledger, _database: database };
        Some(Self { runtime, store, router, companies: AtomicU32::new(0) })
    }

    pub fn visit(&self) -> Visit<'_> {
        let company = format!("c{}", self.companies.fetch_add(1, Ordering::Relaxed));
        let start_ms = match &self.store {
            Store::Sqlite { ledger, now_ms, .. } => {
                self.runtime.block_on(furnish(ledger, &company));
                now_ms.fetch_add(GAP_MS, Ordering::SeqCst) + GAP_MS
            }
            Store::Postgres { ledger, .. } => {
                self.runtime.block_on(furnish(ledger, &company));
                Timestamp::now().as_second() * 1_000
            }
        };
        Visit { server: self, company, start_ms }
    }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

async fn furnish(ledger: &impl Administration, company: &str) {
    let (id, integration) = (Company::parse(company).unwrap(), Integration::parse("tills").unwrap());
    let settings = CompanySettings { company: id.clone(), name: company.to_owned(), currency: Currency::PEN };
    ledger.put_company(settings).await.unwrap();
    ledger.put_integration(IntegrationSettings::new(id.clone(), integration.clone())).await.unwrap();
    let scope = Scope { company: id, integration, environment: Environment::parse("production").unwrap() };
    for (role, rights) in [("till", "create,read"), ("manager", "read,audit")] {
        let token = Secret::new(format!("{role}-{company}"));
        let credential = NewCredential::with_token(&token, scope.clone(), Rights::parse(rights).unwrap());
        ledger.put_credential(credential).await.unwrap();
    }
}

impl Visit<'_> {
    pub fn wait(&self, seconds: i64) {
        match &self.server.store {
            Store::Sqlite { now_ms, .. } => now_ms.fetch_add(seconds * 1_000, Ordering::SeqCst),
            Store::Postgres { .. } => panic!("nobody moves the database's clock"),
        };
    }

    pub fn post(&self, path: &str, key: Option<&str>, body: &Value) -> Answer {
        self.post_bytes(path, key, body.to_string().into_bytes())
    }

    pub fn post_bytes(&self, path: &str, key: Option<&str>, body: Vec<u8>) -> Answer {
        let mut request = Request::post(path).header("content-type", "application/json");
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        self.send("till", request.body(Body::from(body)).unwrap())
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("till", Request::get(path).body(Body::empty()).unwrap())
    }

    /// The company's rows.
    pub fn audit(&self) -> Vec<Value> {
        let audit = self.send("manager", Request::get("/v1/audit?limit=500").body(Body::empty()).unwrap());
        assert_eq!(audit.body["next"], json!(null), "a sequence has less than a page of rows");
        audit.body["items"].as_array().unwrap().clone()
    }

    fn send(&self, role: &str, mut request: Request<Body>) -> Answer {
        let credential = format!("Bearer {role}-{}", self.company);
        request.headers_mut().insert("authorization", credential.try_into().unwrap());
        self.server.runtime.block_on(async {
            let response = self.server.router.clone().oneshot(request).await.unwrap();
            let status = response.status().as_u16();
            let replayed = response.headers().get("idempotency-replayed").map(|value| value == "true");
            let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
            Answer { status, replayed, body: serde_json::from_slice(&bytes).unwrap_or(Value::Null) }
        })
    }
}
