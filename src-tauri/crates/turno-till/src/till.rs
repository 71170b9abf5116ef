//! The till: what a screen, a test or a simulator talks to.
//!
//! One value per data folder, cheap to clone. It holds what an open till needs (database, people, catalog, relay)
//! and joins the use-cases of the other modules to it. Invariant: every method either does all of what it says and
//! returns, or does nothing and says why.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use tokio::sync::watch;
use turno_protocol::catalog::CatalogBody;
use turno_sqlite::{Database, WriterMode};
use uuid::Uuid;

use crate::catalog::Catalog;
use crate::clock::{Millis, SharedClock, SystemClock, rfc3339};
use crate::enrol::{self, FetchedCatalog};
use crate::outbox::Policy;
use crate::pins::Pins;
use crate::random::{OsEntropy, SharedEntropy, uuid};
use crate::relay::{Parts, Relay};
use crate::secrets::Secrets;
use crate::sell::{self, Seller};
use crate::settle::{self, Context};
use crate::store::audit::{self, Event};
use crate::store::installation::{self, Enrolment};
use crate::store::{self, catalog as stored_catalog, outbox, people, sales, shifts, summaries};
use crate::transport::{AddressError, HttpTransport, SharedTransport};
use crate::view::{
    Charge, ChargeOutcome, ConnectRequest, Connection, ConnectionState, CreateManagerRequest, Decide, Deck,
    DraftOpened, Offer, OpenShiftRequest, Person, Phase, Problem, ProblemCode, Quote, QuoteRequest, Review,
    Role, SalePage, Seat, SeatMap, SeatSold, SendReport, Shift, Status, UnlockRequest,
};
use crate::{review, view};

/// Makes a transport for an address and, once enrolled, a credential.
pub type Connector = Arc<dyn Fn(&str, Option<&str>) -> Result<SharedTransport, AddressError> + Send + Sync>;

const NAME_LIMIT: usize = 60;

/// Where a till lives and what it is made of.
#[derive(Clone)]
pub struct Options {
    /// Exists and is locked by the caller.
    pub folder: PathBuf,
    /// For what must not lie beside the database; see [`Secrets`].
    pub secrets_folder: PathBuf,
    /// Where YUPY is now, when it moves between starts (practice).
    pub address: Option<String>,
    pub clock: SharedClock,
    pub entropy: SharedEntropy,
    pub connector: Connector,
    pub policy: Policy,
    pub writer: WriterMode,
}

impl Options {
    /// The real clock, randomness and network.
    #[must_use]
    pub fn new(folder: PathBuf, secrets_folder: PathBuf) -> Self {
        Self {
            folder,
            secrets_folder,
            address: None,
            clock: Arc::new(SystemClock),
            entropy: Arc::new(OsEntropy),
            connector: Arc::new(|address, credential| {
                HttpTransport::new(address, credential)
                    .map(|transport| Arc::new(transport) as SharedTransport)
            }),
            policy: Policy::default(),
            writer: WriterMode::Thread,
        }
    }
}

#[derive(Clone)]
pub struct Till {
    inner: Arc<Inner>,
}

struct Inner {
    options: Options,
    db: Database,
    installation_id: Uuid,
    pins: Mutex<Pins>,
    enrolled: RwLock<Option<Arc<Enrolled>>>,
    unlocked: Mutex<Option<Person>>,
    changes: watch::Sender<u64>,
}

/// What exists once a company has taken this till in.
struct Enrolled {
    enrolment: Enrolment,
    context: Context,
    transport: SharedTransport,
    relay: Relay,
    catalog: RwLock<Arc<Catalog>>,
}

impl Till {
    /// Opens the till of a folder; if it is enrolled, it starts sending what waits.
    ///
    /// # Errors
    /// Why the folder cannot be used; nothing was changed.
    pub async fn open(options: Options) -> Result<Self, Problem> {
        let db = store::open(&options.folder, options.writer)?;
        let candidate = uuid(&*options.entropy).to_string();
        let id = db.write(move |conn| Ok::<_, Problem>(installation::ensure(conn, &candidate)?)).await?;
        let installation_id = Uuid::parse_str(&id).map_err(|_| ProblemCode::DatabaseDamaged)?;
        let secrets = Secrets::open(&options.secrets_folder, &id, &options.entropy)
            .map_err(|error| Problem::with(ProblemCode::FolderNotWritable, error.to_string()))?;
        let pins = Pins {
            db: db.clone(),
            clock: Arc::clone(&options.clock),
            entropy: Arc::clone(&options.entropy),
            secrets,
        };
        let inner = Inner {
            options,
            db,
            installation_id,
            pins: Mutex::new(pins),
            enrolled: RwLock::new(None),
            unlocked: Mutex::new(None),
            changes: watch::Sender::new(0),
        };
        let till = Self { inner: Arc::new(inner) };
        if let Some(enrolment) = till.inner.db.read(installation::enrolment).await? {
            till.go_live(enrolment).await?;
        }
        Ok(till)
    }

    /// Fires whenever something on the screen may have changed: a hint to read again.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.inner.changes.subscribe()
    }

    #[must_use]
    pub fn is_enrolled(&self) -> bool {
        self.enrolled().is_ok()
    }

    /// Ends sending and lets go of the folder.
    pub async fn close(&self) {
        self.inner.enrolled.write().unwrap_or_else(PoisonError::into_inner).take();
        self.inner.db.close().await;
    }

    // --- setting up -------------------------------------------------------------------------

    /// Exchanges an enrolment code; afterwards the till sells for the company that gave it.
    ///
    /// # Errors
    /// `address_invalid`, `address_unreachable`, `not_yupy`, `enrolment_refused`; nothing is half set up.
    pub async fn connect(&self, request: &ConnectRequest) -> Result<(), Problem> {
        if self.is_enrolled() {
            return Err(ProblemCode::NotAllowedNow.into());
        }
        let options = &self.inner.options;
        let transport = (options.connector)(&request.address, None)?;
        let answer =
            enrol::enrol(&*transport, &*options.entropy, self.inner.installation_id, &request.enrolment_code)
                .await?;
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
            epoch: answer.epoch,
            currency: answer.currency,
        };
        let (row, now) = (enrolment.clone(), self.now());
        self.inner
            .db
            .write(move |conn| {
                installation::set_enrolment(conn, &row, now)?;
                stored_catalog::set(conn, catalog.etag.as_deref(), &catalog.bytes, now)?;
                let data =
                    serde_json::json!({ "device_id": row.device_id.as_str(), "epoch": row.epoch.as_str() });
                audit::append(conn, now, &audit::Entry { data, ..audit::Entry::new(Event::Enrolled) })?;
                Ok::<_, Problem>(())
            })
            .await?;
        self.go_live(enrolment).await
    }

    /// Starts the relay. Whatever an earlier run left half sent is given back first, with its key.
    async fn go_live(&self, enrolment: Enrolment) -> Result<(), Problem> {
        let options = &self.inner.options;
        let context = Context { scope: enrolment.scope.clone(), policy: options.policy };
        let (restart, now) = (context.clone(), self.now());
        self.inner.db.write(move |conn| Ok::<_, Problem>(settle::restart(conn, &restart, now)?)).await?;
        let stored = self.inner.db.read(stored_catalog::get).await?;
        let body: Option<CatalogBody> = stored.and_then(|row| serde_json::from_slice(&row.body).ok());
        let catalog = body.map(|body| Catalog::new(&body, enrolment.currency)).unwrap_or_default();
        let address = options.address.as_deref().unwrap_or(&enrolment.address);
        let transport = (options.connector)(address, self.pins().secrets.credential.as_deref())?;
        let relay = Relay::start(Parts {
            db: self.inner.db.clone(),
            transport: Arc::clone(&transport),
            clock: Arc::clone(&options.clock),
            entropy: Arc::clone(&options.entropy),
            context: context.clone(),
            changes: self.inner.changes.clone(),
        });
        let enrolled =
            Enrolled { enrolment, context, transport, relay, catalog: RwLock::new(Arc::new(catalog)) };
        *self.inner.enrolled.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(enrolled));
        self.changed();
        Ok(())
    }

    /// Asks YUPY for a newer catalog.
    ///
    /// # Errors
    /// It could not be had; the old one stays.
    pub async fn refresh_catalog(&self) -> Result<(), Problem> {
        let enrolled = self.enrolled()?;
        let etag = self.inner.db.read(stored_catalog::get).await?.and_then(|row| row.etag);
        let currency = enrolled.enrolment.currency;
        let Some(fetched) = enrol::fetch_catalog(&*enrolled.transport, etag, currency).await? else {
            return Ok(());
        };
        let FetchedCatalog { etag, bytes, body } = fetched;
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

    // --- people -----------------------------------------------------------------------------

    /// The first person of a new till.
    ///
    /// # Errors
    /// `name_invalid`, `pin_weak`, `not_allowed_now` when somebody exists already.
    pub async fn create_manager(&self, request: &CreateManagerRequest) -> Result<(), Problem> {
        if !self.inner.db.read(people::all).await?.is_empty() {
            return Err(ProblemCode::NotAllowedNow.into());
        }
        let person_id = uuid(&*self.inner.options.entropy).to_string();
        self.add_person(&person_id, &request.name, Role::Manager, &request.pin).await
    }

    /// Adds somebody who can unlock this till. Does nothing if the id is known.
    ///
    /// # Errors
    /// `name_invalid`, `pin_weak`.
    pub async fn add_person(
        &self,
        person_id: &str,
        name: &str,
        role: Role,
        pin: &str,
    ) -> Result<(), Problem> {
        let name = turno_domain::text::normalise_free_text(name);
        if name.is_empty() || name.chars().count() > NAME_LIMIT || turno_domain::text::has_control(&name) {
            return Err(ProblemCode::NameInvalid.into());
        }
        if self.inner.db.read(people::all).await?.iter().any(|person| person.person_id == person_id) {
            return Ok(());
        }
        self.pins().add(Person { person_id: person_id.to_owned(), name, role }, pin).await?;
        self.changed();
        Ok(())
    }

    /// # Errors
    /// `pin_wrong`, `pin_locked`.
    pub async fn unlock(&self, request: &UnlockRequest) -> Result<(), Problem> {
        let person = self.pins().verify(&request.person_id, &request.pin).await?;
        let (id, now) = (person.person_id.clone(), self.now());
        self.inner.db.write(move |conn| Ok::<_, Problem>(people::note_unlock(conn, &id, now)?)).await?;
        *self.inner.unlocked.lock().unwrap_or_else(PoisonError::into_inner) = Some(person);
        self.changed();
        Ok(())
    }

    pub fn lock(&self) {
        self.inner.unlocked.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.changed();
    }

    // --- shift ------------------------------------------------------------------------------

    /// # Errors
    /// `not_unlocked`, `shift_already_open`, `amount_invalid`.
    pub async fn open_shift(&self, request: &OpenShiftRequest) -> Result<(), Problem> {
        let (person, enrolled) = (self.unlocked()?, self.enrolled()?);
        let float = turno_domain::Money::parse_typed(&request.float, enrolled.enrolment.currency)
            .map_err(|_| ProblemCode::AmountInvalid)?;
        let now = self.now();
        self.inner
            .db
            .write(move |conn| {
                if shifts::current_number(conn)?.is_some() {
                    return Err(ProblemCode::ShiftAlreadyOpen.into());
                }
                let number = installation::take_shift_number(conn)?;
                shifts::open(conn, number, &person.person_id, now, float.minor())?;
                let entry = audit::Entry {
                    person_id: Some(&person.person_id),
                    data: serde_json::json!({ "shift": number, "float": float.to_amount_text() }),
                    ..audit::Entry::new(Event::ShiftOpened)
                };
                audit::append(conn, now, &entry)?;
                Ok::<_, Problem>(())
            })
            .await?;
        self.changed();
        Ok(())
    }

    // --- selling ----------------------------------------------------------------------------

    /// What can be sold now and matches the words.
    ///
    /// # Errors
    /// `not_allowed_now` before the till is set up.
    pub async fn search_offers(&self, text: &str, limit: u32) -> Result<Vec<Offer>, Problem> {
        let catalog = self.catalog()?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let found: Vec<_> = catalog.search(text, self.now(), limit).into_iter().cloned().collect();
        self.inner
            .db
            .read(move |conn| {
                found
                    .iter()
                    .map(|offer| {
                        let layout = catalog.layout(offer);
                        let free = match (layout, &offer.service) {
                            (Some(layout), Some(service)) => {
                                let sold = sales::seats_of(conn, service)?;
                                let taken =
                                    |seat: &str| sold.iter().any(|sale| sale.seat.as_deref() == Some(seat));
                                let free = layout.seats().filter(|seat| !taken(seat)).count();
                                Some(u32::try_from(free).unwrap_or(u32::MAX))
                            }
                            _ => None,
                        };
                        Ok(offer.view(free))
                    })
                    .collect()
            })
            .await
            .map_err(Into::into)
    }

    /// The seats of a departure, with what this till sold on it.
    ///
    /// # Errors
    /// `offer_gone`.
    pub async fn seat_map(&self, offer_id: &str) -> Result<SeatMap, Problem> {
        let catalog = self.catalog()?;
        let offer = catalog.offer(offer_id).cloned().ok_or(ProblemCode::OfferGone)?;
        let layout = catalog.layout(&offer).cloned().ok_or(ProblemCode::OfferGone)?;
        let service = offer.service.clone().unwrap_or_default();
        let sold = self.inner.db.read(move |conn| sales::seats_of(conn, &service)).await?;
        let seat = |label: &String| Seat {
            seat: label.clone(),
            price: offer.price_of(Some(label)).into(),
            sold: sold.iter().find(|sale| sale.seat.as_ref() == Some(label)).map(|sale| SeatSold {
                external_transaction_id: sale.external_transaction_id.clone(),
                occurred_at: rfc3339(sale.occurred_at),
                buyer_name: sale.buyer_name.clone(),
            }),
        };
        let decks: Vec<Deck> = layout
            .decks
            .iter()
            .map(|deck| Deck {
                number: deck.number,
                rows: deck
                    .rows
                    .iter()
                    .map(|row| row.iter().map(|place| place.as_ref().map(seat)).collect())
                    .collect(),
            })
            .collect();
        let taken = decks.iter().flat_map(|deck| deck.rows.iter().flatten().flatten());
        let free = taken.filter(|seat| seat.sold.is_none()).count();
        Ok(SeatMap { offer: offer.view(u32::try_from(free).ok()), decks })
    }

    /// The id under which a ticket will be recorded, whatever is pressed how often.
    #[must_use]
    pub fn open_draft(&self) -> DraftOpened {
        DraftOpened { draft_id: uuid(&*self.inner.options.entropy).to_string() }
    }

    /// # Errors
    /// Why a line cannot be sold.
    pub fn quote(&self, request: &QuoteRequest) -> Result<Quote, Problem> {
        let enrolled = self.enrolled()?;
        let priced =
            sell::price(&*self.catalog()?, enrolled.enrolment.currency, &request.lines, &request.tender)?;
        Ok(priced.quote())
    }

    /// Records a ticket. From the answer on it cannot be lost; sending goes on by itself.
    ///
    /// # Errors
    /// Why nothing was recorded. Only `outcome_unknown` leaves it open: look the draft up before charging again.
    pub async fn charge(&self, charge: &Charge) -> Result<ChargeOutcome, Problem> {
        let (person, enrolled) = (self.unlocked()?, self.enrolled()?);
        Uuid::parse_str(&charge.draft_id).map_err(|_| ProblemCode::NotFound)?;
        let (catalog, currency) = (self.catalog()?, enrolled.enrolment.currency);
        let priced = sell::price(&catalog, currency, &charge.lines, &charge.tender);
        let seller =
            Seller { person_id: person.person_id, enrolment: enrolled.enrolment.clone(), now: self.now() };
        let charge = charge.clone();
        let outcome = self
            .inner
            .db
            .write(move |conn| {
                // A ticket that was recorded stays recorded, also when its offer has left the catalog since.
                match (sell::already_recorded(conn, &seller, &charge)?, priced) {
                    (Some(outcome), _) => Ok(outcome),
                    (None, Err(problem)) => Err(problem),
                    (None, Ok(priced)) => sell::record(conn, &seller, &charge, &priced),
                }
            })
            .await?;
        enrolled.relay.wake();
        self.changed();
        Ok(outcome)
    }

    // --- the queue --------------------------------------------------------------------------

    /// # Errors
    /// The database could not be read.
    pub async fn pending(&self, after: Option<i64>) -> Result<SalePage, Problem> {
        Ok(self.inner.db.read(move |conn| summaries::pending(conn, after)).await?)
    }

    /// # Errors
    /// The database could not be read.
    pub async fn recent_sales(&self, after: Option<i64>) -> Result<SalePage, Problem> {
        Ok(self.inner.db.read(move |conn| summaries::recent(conn, after)).await?)
    }

    /// Tries everything that waits now, and says what came of it.
    ///
    /// # Errors
    /// `not_allowed_now` before the till is set up.
    pub async fn send_now(&self) -> Result<SendReport, Problem> {
        let enrolled = self.enrolled()?;
        let sent = enrolled.relay.send_now().await;
        let counts = self.inner.db.read(outbox::counts).await?;
        Ok(SendReport {
            attempted: sent.attempted,
            accepted: sent.accepted,
            still_pending: counts.pending,
            connection: connection(&enrolled.relay),
        })
    }

    // --- review -----------------------------------------------------------------------------

    /// # Errors
    /// `not_allowed_now` before the till is set up.
    pub async fn reviews(&self) -> Result<Vec<Review>, Problem> {
        let device_id = self.enrolled()?.enrolment.device_id.as_str().to_owned();
        Ok(self.inner.db.read(move |conn| review::open(conn, &device_id)).await?)
    }

    /// A manager's answer to a question.
    ///
    /// # Errors
    /// `reason_required`, `money_handling_required`, `pin_wrong`, `pin_locked`, `manager_required`,
    /// `question_changed`, `not_in_review`; nothing was decided.
    pub async fn decide(&self, request: &Decide) -> Result<(), Problem> {
        self.unlocked()?;
        let enrolled = self.enrolled()?;
        let reason = review::check(request)?;
        let manager = self.pins().approve(&request.manager_id, &request.pin).await?;
        let (context, request, now) = (enrolled.context.clone(), request.clone(), self.now());
        self.inner
            .db
            .write(move |conn| review::decide(conn, &context, &request, &manager, reason, now))
            .await?;
        enrolled.relay.wake();
        self.changed();
        Ok(())
    }

    // --- what the frame shows ---------------------------------------------------------------

    /// # Errors
    /// The database could not be read.
    pub async fn phase(&self) -> Result<Phase, Problem> {
        let Ok(enrolled) = self.enrolled() else { return Ok(Phase::Welcome) };
        let (people, last_person_id, shift) = self
            .inner
            .db
            .read(|conn| Ok((people::all(conn)?, people::last_unlocked(conn)?, shifts::current(conn)?)))
            .await?;
        if people.is_empty() {
            return Ok(Phase::FirstManager);
        }
        let Ok(person) = self.unlocked() else { return Ok(Phase::Locked { people, last_person_id }) };
        let Some(row) = shift else { return Ok(Phase::NoShift { person }) };
        let money = |minor| view::Money { minor, currency: enrolled.enrolment.currency.code().to_owned() };
        let opened_by = people.into_iter().find(|person| person.person_id == row.opened_by);
        let shift = Shift {
            shift_id: format!("S{}", row.shift_number),
            opened_at: rfc3339(row.opened_at),
            opened_by: opened_by.ok_or(ProblemCode::Internal)?,
            float: money(row.float_minor),
            sales_count: row.sales_count,
            sold: money(row.sold_minor),
        };
        Ok(Phase::Selling { person, shift })
    }

    /// # Errors
    /// The database could not be read.
    pub async fn status(&self) -> Result<Option<Status>, Problem> {
        let Ok(enrolled) = self.enrolled() else { return Ok(None) };
        let counts = self.inner.db.read(outbox::counts).await?;
        Ok(Some(Status {
            connection: connection(&enrolled.relay),
            pending_count: counts.pending,
            in_review_count: counts.in_review,
            needs_attention_count: counts.needs_attention,
            identity_collision_count: counts.identity_collision,
        }))
    }

    /// # Errors
    /// The database could not be read.
    pub async fn managers(&self) -> Result<Vec<Person>, Problem> {
        let people = self.inner.db.read(people::all).await?;
        Ok(people.into_iter().filter(|person| person.role == Role::Manager).collect())
    }

    /// The till's name and currency, once it has them.
    #[must_use]
    pub fn device(&self) -> Option<(String, String)> {
        let enrolled = self.enrolled().ok()?;
        Some((
            enrolled.enrolment.device_id.as_str().to_owned(),
            enrolled.enrolment.currency.code().to_owned(),
        ))
    }

    fn enrolled(&self) -> Result<Arc<Enrolled>, Problem> {
        let enrolled = self.inner.enrolled.read().unwrap_or_else(PoisonError::into_inner);
        enrolled.clone().ok_or_else(|| ProblemCode::NotAllowedNow.into())
    }

    fn catalog(&self) -> Result<Arc<Catalog>, Problem> {
        Ok(Arc::clone(&self.enrolled()?.catalog.read().unwrap_or_else(PoisonError::into_inner)))
    }

    fn unlocked(&self) -> Result<Person, Problem> {
        let unlocked = self.inner.unlocked.lock().unwrap_or_else(PoisonError::into_inner);
        unlocked.clone().ok_or_else(|| ProblemCode::NotUnlocked.into())
    }

    fn pins(&self) -> Pins {
        self.inner.pins.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn now(&self) -> Millis {
        self.inner.options.clock.now().as_millisecond()
    }

    fn changed(&self) {
        self.inner.changes.send_modify(|version| *version += 1);
    }
}

fn connection(relay: &Relay) -> Connection {
    let line = relay.line();
    let waiting = line.state != ConnectionState::Online;
    Connection {
        state: line.state,
        since: line.since.map(rfc3339),
        next_attempt_at: line.next_probe().filter(|_| waiting).map(rfc3339),
    }
}
