//! From an empty folder to a till that a company knows, and a catalog that stays fresh.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use turno_protocol::catalog::CatalogBody;

use super::reconciling::keep_reconciled;
use super::{Enrolled, Inner, Till, printing, searching, storage};
use crate::catalog::Catalog;
use crate::delivery;
use crate::enrol::{self, FetchedCatalog};
use crate::reconcile::OneAtATime;
use crate::relay::{Parts, Registrant, Relay, Task};
use crate::resolve;
use crate::settle::{self, Context};
use crate::store::audit::{self, Event};
use crate::store::catalog::{self as stored_catalog, CatalogRow};
use crate::store::installation::{self, Enrolment};
use crate::store::{epochs, print_jobs};
use crate::view::{ConnectRequest, EpochReason, Problem, ProblemCode};

/// Fares change by the day; a bus that is added shows within this time.
const CATALOG_EVERY: Duration = Duration::from_secs(15 * 60);
/// After a look that failed, most often because there is no network.
const CATALOG_RETRY: Duration = Duration::from_secs(60);

impl Till {
    /// Exchanges an enrolment code; afterwards the till sells for the company that gave it. A till without its
    /// credential is connected again, to the company that it sold for: what waits in it belongs there.
    ///
    /// # Errors
    /// `address_invalid`, `address_unreachable`, `not_yupy`, `enrolment_refused`; nothing is half set up.
    pub async fn connect(&self, request: &ConnectRequest) -> Result<(), Problem> {
        let before = self.enrolled().ok();
        if before.is_some() && !self.needs_connection() {
            return Err(ProblemCode::NotAllowedNow.into());
        }
        let options = &self.inner.options;
        let transport = (options.connector)(&request.address, None)?;
        let answer =
            enrol::enrol(&*transport, &*options.entropy, self.inner.installation_id, &request.enrolment_code)
                .await?;
        if before.is_some_and(|before| before.context.scope != answer.scope()) {
            return Err(Problem::with(ProblemCode::EnrolmentRefused, "other_company"));
        }
        let credential = answer.credential.expose();
        let transport = (options.connector)(&request.address, Some(credential))?;
        let catalog =
            enrol::fetch_catalog(&*transport, None, answer.currency).await?.ok_or(ProblemCode::NotYupy)?;
        let mut secrets = self.pins().secrets;
        secrets
            .keep_credential(credential.to_owned())
            .map_err(|error| Problem::with(ProblemCode::FolderNotWritable, error.to_string()))?;
        self.inner.pins.lock().unwrap_or_else(PoisonError::into_inner).secrets = secrets;
        let enrolment = Enrolment {
            address: request.address.trim().to_owned(),
            scope: answer.scope(),
            company_name: answer.company_name,
            device_id: answer.device_id,
            currency: answer.currency,
        };
        let (row, epoch, now) = (enrolment.clone(), answer.epoch, self.now());
        self.inner
            .db
            .write(move |conn| {
                installation::set_enrolment(conn, &row, now)?;
                epochs::take(conn, epoch, EpochReason::Enrolled, now)?;
                epochs::set_registered(conn, epoch, now)?;
                stored_catalog::set(conn, catalog.etag.as_deref(), &catalog.bytes, now)?;
                let data =
                    serde_json::json!({ "device_id": row.device_id.as_str(), "epoch": epoch.as_str() });
                audit::append(conn, now, &audit::Entry { data, ..audit::Entry::new(Event::Enrolled) })?;
                Ok::<_, Problem>(())
            })
            .await?;
        self.go_live(enrolment).await
    }

    /// Starts the relay. Whatever an earlier run left half sent is given back first, with its key.
    pub(super) async fn go_live(&self, enrolment: Enrolment) -> Result<(), Problem> {
        let options = &self.inner.options;
        let context = Context {
            scope: enrolment.scope.clone(),
            policy: options.policy,
            entropy: Arc::clone(&options.entropy),
        };
        let (restart, now) = (context.clone(), self.now());
        self.inner
            .db
            .write(move |conn| {
                print_jobs::ask_about_open(conn, false, now)?;
                resolve::restart(conn, &restart, now)?;
                Ok::<_, Problem>(settle::restart(conn, &restart, now)?)
            })
            .await?;
        let body = self.inner.db.read(stored_catalog::get).await?.and_then(|row| readable(&row));
        let catalog = body.map(|body| Catalog::new(&body, enrolment.currency)).unwrap_or_default();
        let address = options.address.as_deref().unwrap_or(&enrolment.address);
        let transport = (options.connector)(address, self.pins().secrets.credential.as_deref())?;
        let after_outage = Arc::new(Notify::new());
        let printing_wanted = Arc::new(Notify::new());
        let relay = Relay::start(Parts {
            db: self.inner.db.clone(),
            transport: Arc::clone(&transport),
            clock: Arc::clone(&options.clock),
            entropy: Arc::clone(&options.entropy),
            context: context.clone(),
            registrant: Registrant {
                installation_id: self.inner.installation_id,
                device_id: enrolment.device_id.clone(),
            },
            paused_since: self.inner.db.read(installation::sending_paused_at).await?,
            after_outage: Arc::clone(&after_outage),
            after_payment: Arc::clone(&printing_wanted),
            changes: self.inner.changes.clone(),
        });
        let delivery_wanted = Arc::new(Notify::new());
        let look_wanted = Arc::new(AtomicBool::new(false));
        let delivery = delivery::run(delivery::Parts {
            db: self.inner.db.clone(),
            transport: Arc::clone(&transport),
            clock: Arc::clone(&options.clock),
            entropy: Arc::clone(&options.entropy),
            context: context.clone(),
            ear: relay.ear(),
            wanted: Arc::clone(&delivery_wanted),
            look_wanted: Arc::clone(&look_wanted),
            changes: self.inner.changes.clone(),
        });
        let reconciling = keep_reconciled(Arc::downgrade(&self.inner), after_outage);
        let catalog_wanted = Arc::new(Notify::new());
        let fresh = keep_catalog_fresh(Arc::downgrade(&self.inner), Arc::clone(&catalog_wanted));
        let journal_wanted = Arc::new(Notify::new());
        let journal = storage::keep_journal(Arc::downgrade(&self.inner), Arc::clone(&journal_wanted));
        let index_wanted = Arc::new(Notify::new());
        let indexing = searching::keep_indexed(Arc::downgrade(&self.inner), Arc::clone(&index_wanted));
        let enrolled = Enrolled {
            enrolment,
            context,
            transport,
            relay,
            catalog: RwLock::new(Arc::new(catalog)),
            catalog_wanted,
            reconciling: OneAtATime::default(),
            _reconciler: Task(tokio::spawn(reconciling).abort_handle()),
            delivery_wanted,
            look_wanted,
            _delivery: Task(tokio::spawn(delivery).abort_handle()),
            _fresh_catalog: Task(tokio::spawn(fresh).abort_handle()),
            journal_wanted: Arc::clone(&journal_wanted),
            _journal: Task(tokio::spawn(journal).abort_handle()),
            printing_wanted: Arc::clone(&printing_wanted),
            _printing: Task(
                tokio::spawn(printing::keep_printing(Arc::downgrade(&self.inner), printing_wanted))
                    .abort_handle(),
            ),
            _backups: Task(tokio::spawn(storage::keep_backups(Arc::downgrade(&self.inner))).abort_handle()),
            _room: Task(tokio::spawn(storage::keep_room(Arc::downgrade(&self.inner))).abort_handle()),
            index_wanted,
            _index: Task(tokio::spawn(indexing).abort_handle()),
        };
        let catalog_wanted = Arc::clone(&enrolled.catalog_wanted);
        let wake_printing = Arc::clone(&enrolled.printing_wanted);
        *self.inner.enrolled.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(enrolled));
        catalog_wanted.notify_one();
        // What waited when the program ended.
        wake_printing.notify_one();
        self.changed();
        Ok(())
    }

    /// Asks YUPY for a newer catalog.
    ///
    /// # Errors
    /// It could not be had; the old one stays.
    pub async fn refresh_catalog(&self) -> Result<(), Problem> {
        let ask = self.ask_for_catalog()?;
        self.take_catalog(ask.await?).await
    }

    /// The question alone. It holds no part of the till: a till that is dropped meanwhile is gone, and its folder free.
    fn ask_for_catalog(
        &self,
    ) -> Result<impl Future<Output = Result<Option<FetchedCatalog>, Problem>> + Send + use<>, Problem> {
        let enrolled = self.enrolled()?;
        let (db, transport) = (self.inner.db.clone(), Arc::clone(&enrolled.transport));
        let currency = enrolled.enrolment.currency;
        Ok(async move {
            // A version is only named if we can sell from it: otherwise YUPY would say that nothing has changed.
            let stored = db.read(stored_catalog::get).await?.filter(|row| readable(row).is_some());
            enrol::fetch_catalog(&*transport, stored.and_then(|row| row.etag), currency).await
        })
    }

    async fn take_catalog(&self, fetched: Option<FetchedCatalog>) -> Result<(), Problem> {
        let Some(FetchedCatalog { etag, bytes, body }) = fetched else { return Ok(()) };
        let enrolled = self.enrolled()?;
        let currency = enrolled.enrolment.currency;
        let now = self.now();
        self.inner
            .db
            .write(move |conn| Ok::<_, Problem>(stored_catalog::set(conn, etag.as_deref(), &bytes, now)?))
            .await?;
        let catalog = Arc::new(Catalog::new(&body, currency));
        *enrolled.catalog.write().unwrap_or_else(PoisonError::into_inner) = catalog;
        self.changed();
        Ok(())
    }
}

/// What an earlier run stored, perhaps of another version and with other ideas of a catalog.
fn readable(row: &CatalogRow) -> Option<CatalogBody> {
    serde_json::from_slice(&row.body).ok()
}

/// Keeps the catalog fresh for as long as the till is open, from the first time that it is wanted.
async fn keep_catalog_fresh(inner: Weak<Inner>, wanted: Arc<Notify>) {
    wanted.notified().await;
    loop {
        let till = || inner.upgrade().map(|inner| Till { inner });
        if till().is_some_and(|till| till.is_sending_paused()) {
            wanted.notified().await;
            continue;
        }
        let Some(asking) = till().map(|till| till.ask_for_catalog()) else { return };
        let fetched = match asking {
            Ok(asking) => asking.await,
            Err(problem) => Err(problem),
        };
        let fresh = match (fetched, till()) {
            (Ok(fetched), Some(till)) => till.take_catalog(fetched).await.is_ok(),
            (Ok(_) | Err(_), _) => false,
        };
        let pause = if fresh { CATALOG_EVERY } else { CATALOG_RETRY };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = wanted.notified() => {}
        }
    }
}
