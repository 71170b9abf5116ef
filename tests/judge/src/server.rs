//! The real server with its default settings, and a company for a day.

use anyhow::{Context, Result};
use axum::Router;
use axum::body::{Body, to_bytes};
use http::StatusCode;
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt;
use turno_domain::Currency;
use turno_domain::ids::{Company, Environment, IdempotencyKey, Integration, Scope};
use turno_protocol::secret::Secret;
use turno_server::{
    Administration, CompanySettings, Config, IntegrationSettings, NewCredential, Rights, SqliteLedger,
    SqliteOptions, WriterMode, app,
};

const TOKEN: &str = "judge";
const LONGEST_ANSWER: usize = 1024 * 1024;

pub struct Server {
    router: Router,
    ledger: SqliteLedger,
    scope: Scope,
    /// Its rows live as long as the day.
    _folder: TempDir,
}

impl Server {
    pub async fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let options = SqliteOptions { writer: WriterMode::Inline, ..SqliteOptions::default() };
        let ledger = SqliteLedger::open(&folder.path().join("yupy.db"), options).await?;
        let scope = Scope {
            company: Company::parse("day")?,
            integration: Integration::parse("pos")?,
            environment: Environment::parse("judged")?,
        };
        let (company, name) = (scope.company.clone(), "A day".to_owned());
        ledger.put_company(CompanySettings { company, name, currency: Currency::PEN }).await?;
        ledger
            .put_integration(IntegrationSettings::new(scope.company.clone(), scope.integration.clone()))
            .await?;
        let rights = Rights::parse("create").context("known rights")?;
        ledger.put_credential(NewCredential::with_token(&Secret::new(TOKEN), scope.clone(), rights)).await?;
        Ok(Self { router: app(ledger.clone(), Config::default()), ledger, scope, _folder: folder })
    }

    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    pub async fn post(&self, path: &str, key: &IdempotencyKey, body: &Value) -> Result<(StatusCode, Value)> {
        let request = http::Request::post(path)
            .header("authorization", format!("Bearer {TOKEN}"))
            .header("content-type", "application/json")
            .header("idempotency-key", key.as_str())
            .body(Body::from(body.to_string()))?;
        let Ok(answer) = self.router.clone().oneshot(request).await;
        let status = answer.status();
        Ok((status, serde_json::from_slice(&to_bytes(answer.into_body(), LONGEST_ANSWER).await?)?))
    }

    pub async fn stop(self) {
        self.ledger.close().await;
    }
}
