//! The real server on a real file, called without sockets. It can be killed and started again at any moment.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use axum::Router;
use axum::body::{Body, to_bytes};
use jiff::SignedDuration;
use serde_json::Value;
use tower::ServiceExt;
use turno_domain::Currency;
use turno_domain::ids::{Company, DeviceId, Environment, Integration, Scope};
use turno_domain::lookalike::Rule;
use turno_protocol::catalog::CatalogBody;
use turno_protocol::secret::Secret;
use turno_server::till_audit::{Agreed, TillAuditError, verify_till_audit};
use turno_server::{
    Administration, CompanySettings, Config, IntegrationSettings, NewCredential, NewEnrolmentCode, Rights,
    SqliteLedger, SqliteOptions, World, WriterMode, app,
};

use crate::sabotage::Sabotage;

/// What the checks look with.
const AUDITOR: &str = "auditor-token";
const PAGE: usize = 500;

#[derive(Clone)]
pub struct Server {
    path: PathBuf,
    world: World,
    running: Arc<Mutex<Option<Running>>>,
    /// Tills that were taken in, and how many there will be.
    enrolled: Arc<AtomicUsize>,
    tills: usize,
    is_put_back: Arc<AtomicBool>,
}

#[derive(Clone)]
struct Running {
    router: Router,
    ledger: SqliteLedger,
    /// Handlers of this life; they end with it.
    handlers: Arc<Mutex<tokio::task::JoinSet<()>>>,
}

impl Server {
    pub async fn start(
        path: PathBuf,
        world: World,
        token_life: SignedDuration,
        tills: usize,
        sabotage: Option<Sabotage>,
    ) -> Result<Self> {
        let server = Self {
            path,
            world,
            running: Arc::default(),
            enrolled: Arc::default(),
            tills,
            is_put_back: Arc::default(),
        };
        server.boot().await?;
        let ledger = server.running().context("just started")?.ledger;
        let (company, integration) = (scope().company, scope().integration);
        let name = "Transportes del Sur".to_owned();
        ledger
            .put_company(CompanySettings { company: company.clone(), name, currency: Currency::PEN })
            .await?;
        let mut settings = IntegrationSettings::new(company.clone(), integration.clone());
        settings.confirmation_token_life = token_life;
        if sabotage == Some(Sabotage::ServerNeverAsks) {
            settings.rule = Rule::new(settings.rule.window(), [])?;
        }
        ledger.put_integration(settings).await?;
        ledger.put_catalog(company, integration, catalog()?).await?;
        let rights = Rights::parse("read,audit").context("rights")?;
        ledger.put_credential(NewCredential::with_token(&Secret::new(AUDITOR), scope(), rights)).await?;
        Ok(server)
    }

    async fn boot(&self) -> Result<()> {
        let options = SqliteOptions {
            world: self.world.clone(),
            writer: WriterMode::Inline,
            ..SqliteOptions::default()
        };
        let ledger = SqliteLedger::open(&self.path, options).await?;
        let config = Config { world: self.world.clone(), ..Config::default() };
        let router = app(ledger.clone(), config);
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Running { router, ledger, handlers: Arc::default() });
        Ok(())
    }

    /// Kills whatever is being handled and opens the file again.
    pub async fn restart(&self) -> Result<()> {
        self.stop().await;
        self.boot().await
    }

    async fn stop(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(running) = running {
            running.handlers.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
            running.ledger.close().await;
        }
    }

    /// A till has its credential: from the last one on, a backup knows all of them.
    pub fn has_enrolled_one(&self) {
        self.enrolled.fetch_add(1, Ordering::SeqCst);
    }

    /// Somebody makes a backup of the server, or puts it back. Says whether it was put back.
    pub async fn put_back(&self) -> Result<bool> {
        if self.enrolled.load(Ordering::SeqCst) < self.tills {
            return Ok(false);
        }
        let older = self.path.with_extension("older");
        let goes_back = older.exists();
        self.stop().await;
        if goes_back {
            std::fs::copy(&older, &self.path)?;
            self.is_put_back.store(true, Ordering::SeqCst);
        } else {
            std::fs::copy(&self.path, &older)?;
        }
        self.boot().await?;
        Ok(goes_back)
    }

    /// Whether the server has ever lost what it had said.
    #[must_use]
    pub fn was_put_back(&self) -> bool {
        self.is_put_back.load(Ordering::SeqCst)
    }

    /// An enrolment code for a till, on which managers answer for the others as well.
    pub async fn code(&self, device: &str) -> Result<String> {
        let (code, text) = NewEnrolmentCode::generate(&self.world, scope(), DeviceId::parse(device)?);
        let code = code.with_rights(Rights::of_a_managers_till());
        self.running().context("running")?.ledger.put_enrolment_code(code).await?;
        Ok(text.expose().to_owned())
    }

    /// Hands a request to the server as it is now. `None`: it died while handling it, or is not there.
    pub async fn handle(&self, request: http::Request<Body>) -> Option<http::Response<Body>> {
        let running = self.running()?;
        let (answer, heard) = tokio::sync::oneshot::channel();
        running.handlers.lock().unwrap_or_else(PoisonError::into_inner).spawn(async move {
            let Ok(response) = running.router.oneshot(request).await;
            // Whoever asked may have hung up.
            let _ = answer.send(response);
        });
        heard.await.ok()
    }

    /// Every item of a list, as the auditor sees it.
    pub async fn list(&self, path: &str) -> Result<Vec<Value>> {
        let mut items = Vec::new();
        let mut after = String::new();
        loop {
            let joint = if path.contains('?') { '&' } else { '?' };
            let uri = format!("{path}{joint}limit={PAGE}{after}");
            let request = http::Request::builder()
                .uri(uri)
                .header("authorization", format!("Bearer {AUDITOR}"))
                .body(Body::empty())?;
            let answer = self.handle(request).await.context("the server is running")?;
            let body: Value = serde_json::from_slice(&to_bytes(answer.into_body(), usize::MAX).await?)?;
            items
                .extend(body["items"].as_array().with_context(|| format!("{path}: {body}"))?.iter().cloned());
            match body["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => return Ok(items),
            }
        }
    }

    /// Whether a till's audit file agrees with what that till had said of it.
    pub async fn verify_till_audit(
        &self,
        device: &str,
        file: &[u8],
    ) -> std::result::Result<Agreed, TillAuditError> {
        let ledger = self.running().expect("the server is running").ledger;
        let device = DeviceId::parse(device).expect("a device of the simulation");
        verify_till_audit(&ledger, &scope().company, &device, file).await
    }

    fn running(&self) -> Option<Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn scope() -> Scope {
    Scope {
        company: Company::parse("A").expect("a fixed id"),
        integration: Integration::parse("pos").expect("a fixed id"),
        environment: Environment::parse("simulated").expect("a fixed id"),
    }
}

/// One departure with four seats, a city fare and luggage.
pub fn catalog() -> Result<CatalogBody> {
    Ok(serde_json::from_value(serde_json::json!({
        "revision": "1", "currency": "PEN",
        "routes": [
            { "route": "184", "name": "Lima – Arequipa", "kind": "intercity", "stops": ["Lima", "Arequipa"] },
            { "route": "U7", "name": "Línea 7", "kind": "urban" },
        ],
        "services": [{
            "service": "184-N", "route": "184", "departs_at": "2027-12-31T01:30:00Z", "name": "Lima – Arequipa",
            "layout": "L", "fare": "85.50",
        }],
        "layouts": [{ "layout": "L", "decks": [{ "number": 1, "rows": [["1A", null, "1B"], ["2A", null, "2B"]] }] }],
        "fares": [{ "fare": "U7-adulto", "route": "U7", "name": "Pasaje urbano", "price": "2.00" }],
        "products": [{ "product": "equipaje", "name": "Equipaje extra", "price": "9.90" }],
    }))?)
}
