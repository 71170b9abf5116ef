//! `turno-server`: the reference implementation of the YUPY contract, as a program and as a library.
//!
//! # Inside another program
//!
//! Open a ledger, say who may use it, and serve the router on any listener:
//!
//! ```
//! # async fn practise(folder: &std::path::Path) -> Result<(), Box<dyn std::error::Error>> {
//! use turno_domain::{Currency, ids::{Company, DeviceId, Environment, Integration, Scope}};
//! use turno_server::{
//!     Administration, CompanySettings, Config, IntegrationSettings, NewCredential, NewEnrolmentCode, Rights,
//!     SqliteLedger, SqliteOptions, World, app,
//! };
//!
//! let ledger = SqliteLedger::open(&folder.join("practice-server.db"), SqliteOptions::default()).await?;
//!
//! let (company, integration) = (Company::parse("demo")?, Integration::parse("pos")?);
//! let name = "Transportes Demo".to_owned();
//! ledger.put_company(CompanySettings { company: company.clone(), name, currency: Currency::PEN }).await?;
//! ledger.put_integration(IntegrationSettings::new(company.clone(), integration.clone())).await?;
//! # let catalog: turno_protocol::catalog::CatalogBody =
//! #     serde_json::from_str(r#"{"revision": "1", "currency": "PEN"}"#)?;
//! ledger.put_catalog(company.clone(), integration.clone(), catalog).await?;
//!
//! // A code for one till, typed there or handed over. Only its hash is kept.
//! let scope = Scope { company, integration, environment: Environment::parse("practice")? };
//! let (code, text) = NewEnrolmentCode::generate(&World::system(), scope.clone(), DeviceId::parse("D01")?);
//! ledger.put_enrolment_code(code).await?;
//! println!("enrol with {}", text.expose());
//!
//! // Or a credential without enrolment, e.g. a manager's desk.
//! let (manager, token) = NewCredential::generate(&World::system(), scope, Rights::parse("read,audit").unwrap());
//! ledger.put_credential(manager).await?;
//! # drop(token);
//!
//! let router: axum::Router = app(ledger.clone(), Config::default());
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
//! # let stop = async {};
//! axum::serve(listener, router).with_graceful_shutdown(stop).await?;
//! ledger.close().await;
//! # Ok(())
//! # }
//! # tokio::runtime::Runtime::new().unwrap().block_on(practise(tempfile::tempdir().unwrap().path())).unwrap();
//! ```
//!
//! Every `put_…` may be repeated at each start: the last word counts, and a code that was used stays used. The router
//! is a plain [`axum::Router`]; whoever embeds it may put anything in front of it, for instance a line that fails.
//! [`SqliteOptions`] takes a [`World`] (clock and random numbers) and the writer's mode, so a simulator can drive the
//! same router without a real clock or thread.
//!
//! # Map
//!
//! [`http`](app) translates requests and answers · [`request`] validates · [`content`] says what is the same request ·
//! [`matrix`] is the contract's table, written once over [`books::Books`] · [`sqlite`] and
//! [`postgres`] keep the rows.

pub mod acquirer;
pub mod admin;
mod admission;
pub mod audit;
pub mod books;
pub mod caller;
pub mod callers;
pub mod config;
pub mod content;
mod descriptors;
mod drain;
pub mod fixture;
mod housekeeping;
mod http;
mod instant;
mod kill_points;
pub mod ledger;
pub mod matrix;
mod metrics;
mod names;
mod paying;
pub mod payment;
pub mod postgres;
pub mod request;
pub mod sale;
pub mod secrets;
mod serving;
pub mod settings;
pub mod sqlite;
mod throttle;
pub mod till_audit;
pub mod tls;
mod token;
pub mod transfer;
pub mod world;

pub use admin::{NewCredential, NewEnrolmentCode};
pub use caller::{Right, Rights};
pub use config::{Config, MetricsPlace};
pub use drain::Drain;
pub use housekeeping::housekeeping;
pub use http::{app, metrics_app};
pub use ledger::{AdminError, Administration, Ledger, LedgerError};
pub use metrics::{Counter, Metrics};
pub use postgres::{OpenPostgresError, PostgresLedger, PostgresOptions};
pub use serving::{Door, serve};
pub use settings::{CompanySettings, IntegrationSettings};
pub use sqlite::{Commits, OpenLedgerError, SqliteLedger, SqliteOptions, WriterMode};
pub use throttle::RateLimit;
pub use tls::{Tls, TlsError};
pub use world::{Clock, Entropy, World};
