//! The till: what a screen, a test or a simulator talks to.
//!
//! One value per data folder, cheap to clone. It holds what an open till needs (database, people, catalog, relay)
//! and joins the use-cases of the other modules to it. Invariant: every method either does all of what it says and
//! returns, or does nothing and says why.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use tokio::sync::{Notify, watch};
use turno_print::device::Limits;
use turno_sqlite::{Database, WriterMode};
use uuid::Uuid;

use crate::backup;
use crate::catalog::Catalog;
use crate::clock::{Millis, SharedClock, SystemClock, rfc3339};
use crate::guard::{self, Found, Identity};
use crate::journal;
use crate::machine::Machine;
use crate::outbox::Policy;
use crate::pins::{PinCost, Pins, Waits};
use crate::random::{OsEntropy, SharedEntropy};
use crate::reconcile::OneAtATime;
use crate::recover;
use crate::relay::{Relay, Task};
use crate::room::{Reserve, Room, SharedDisk, SystemDisk};
use crate::settle::Context;
use crate::store::installation::{self, Enrolment};
use crate::transport::{AddressError, HttpTransport, SharedTransport};
use crate::view::{Connection, ConnectionState, Person, Problem, ProblemCode, StorageWarning};
use crate::witness::Witness;

mod amend;
mod audit;
mod counter;
mod elsewhere;
mod exporting;
mod frame;
mod handover;
mod people;
mod printing;
mod queue;
mod reconciling;
mod searching;
mod settings;
mod setup;
mod shift;
mod storage;

/// Makes a transport for an address and, once enrolled, a credential.
pub type Connector = Arc<dyn Fn(&str, Option<&str>) -> Result<SharedTransport, AddressError> + Send + Sync>;

/// Where a till lives and what it is made of.
#[derive(Clone)]
pub struct Options {
    /// Exists and is locked by the caller.
    pub folder: PathBuf,
    /// For what must not lie beside the database: secrets, and what tells the folder from a copy of it.
    pub secrets_folder: PathBuf,
    /// Where copies of the database are kept.
    pub backup_folder: PathBuf,
    /// Where every sale is written once more; best on another medium.
    pub journal_folder: PathBuf,
    /// The machine that this is.
    pub machine: Machine,
    /// The medium of the folder.
    pub disk: SharedDisk,
    /// Where YUPY is now, when it moves between starts (practice).
    pub address: Option<String>,
    pub clock: SharedClock,
    pub entropy: SharedEntropy,
    pub connector: Connector,
    pub policy: Policy,
    pub pin_cost: PinCost,
    /// How long a printer is waited for.
    pub printer: Limits,
    pub writer: WriterMode,
}

impl Options {
    /// The real clock, randomness and network.
    #[must_use]
    pub fn new(folder: PathBuf, secrets_folder: PathBuf) -> Self {
        Self {
            backup_folder: folder.join(backup::FOLDER),
            journal_folder: folder.join(journal::FOLDER),
            folder,
            secrets_folder,
            machine: Machine::here(),
            disk: Arc::new(SystemDisk),
            address: None,
            clock: Arc::new(SystemClock),
            entropy: Arc::new(OsEntropy),
            connector: Arc::new(|address, credential| {
                HttpTransport::new(address, credential)
                    .map(|transport| Arc::new(transport) as SharedTransport)
            }),
            policy: Policy::default(),
            pin_cost: PinCost::default(),
            printer: Limits::default(),
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
    /// Room that is kept for when there is none.
    reserve: Reserve,
    installation_id: Uuid,
    /// Held for as long as the till is open.
    witness: Mutex<Option<Witness>>,
    pins: Mutex<Pins>,
    enrolled: RwLock<Option<Arc<Enrolled>>>,
    unlocked: Mutex<Option<Person>>,
    first_manager: tokio::sync::Mutex<()>,
    storage_warnings: Mutex<BTreeSet<StorageWarning>>,
    /// A backup was made: the journal begins a new file.
    journal_turns: AtomicBool,
    changes: watch::Sender<u64>,
}

/// What exists once a company has taken this till in.
struct Enrolled {
    enrolment: Enrolment,
    context: Context,
    transport: SharedTransport,
    relay: Relay,
    catalog: RwLock<Arc<Catalog>>,
    /// Somebody wants to know now whether there is a newer one.
    catalog_wanted: Arc<Notify>,
    reconciling: OneAtATime,
    _reconciler: Task,
    /// There is a decision to tell, or one to learn of.
    delivery_wanted: Arc<Notify>,
    /// Somebody wants to know now what was decided elsewhere.
    look_wanted: Arc<AtomicBool>,
    _delivery: Task,
    _fresh_catalog: Task,
    /// There are sales for the journal.
    journal_wanted: Arc<Notify>,
    _journal: Task,
    _backups: Task,
    /// There is something to print.
    printing_wanted: Arc<Notify>,
    _printing: Task,
    _room: Task,
    /// There are sales for the index.
    index_wanted: Arc<Notify>,
    _index: Task,
}

impl Till {
    /// Opens the till of a folder; if it is enrolled, it starts sending what waits.
    ///
    /// # Errors
    /// Why the folder cannot be used; nothing was changed.
    pub async fn open(options: Options) -> Result<Self, Problem> {
        let now = options.clock.now().as_millisecond();
        // First of all: even opening a database needs a little room.
        let reserve = Reserve::new(Arc::clone(&options.disk), options.folder.clone());
        let is_low = reserve.tend() == Room::Low;
        let (db, recovery) = recover::open(&options.folder, &options.backup_folder, options.writer, now)?;
        let put_back =
            recover::play_journal(&db, &options.journal_folder, options.policy, &options.entropy, now)
                .await?;
        let found = Found { recovery, put_back };
        let Identity { installation_id, secrets, witness } = guard::identify(&db, &options, found).await?;
        let pins = Pins {
            db: db.clone(),
            clock: Arc::clone(&options.clock),
            entropy: Arc::clone(&options.entropy),
            cost: options.pin_cost,
            waits: Waits::default(),
            mode: options.writer,
            secrets,
        };
        let inner = Inner {
            options,
            db,
            reserve,
            installation_id,
            witness: Mutex::new(Some(witness)),
            pins: Mutex::new(pins),
            enrolled: RwLock::new(None),
            unlocked: Mutex::new(None),
            first_manager: tokio::sync::Mutex::default(),
            storage_warnings: Mutex::new(is_low.then_some(StorageWarning::DiskLow).into_iter().collect()),
            journal_turns: AtomicBool::new(false),
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

    /// The credential did not come with the data: a copied folder whose state folder is elsewhere or lost.
    #[must_use]
    pub fn needs_connection(&self) -> bool {
        self.is_enrolled() && self.pins().secrets.credential.is_none()
    }

    /// Ends sending and lets go of the folder.
    pub async fn close(&self) {
        self.inner.enrolled.write().unwrap_or_else(PoisonError::into_inner).take();
        self.inner.db.close().await;
        self.inner.witness.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn enrolled(&self) -> Result<Arc<Enrolled>, Problem> {
        let enrolled = self.inner.enrolled.read().unwrap_or_else(PoisonError::into_inner);
        enrolled.clone().ok_or_else(|| ProblemCode::NotAllowedNow.into())
    }

    /// A person wants nothing to leave this machine.
    fn is_sending_paused(&self) -> bool {
        self.enrolled().is_ok_and(|enrolled| enrolled.relay.paused_since().is_some())
    }

    fn catalog(&self) -> Result<Arc<Catalog>, Problem> {
        Ok(Arc::clone(&self.enrolled()?.catalog.read().unwrap_or_else(PoisonError::into_inner)))
    }

    fn unlocked(&self) -> Result<Person, Problem> {
        let unlocked = self.inner.unlocked.lock().unwrap_or_else(PoisonError::into_inner);
        unlocked.clone().ok_or_else(|| ProblemCode::NotUnlocked.into())
    }

    /// Keeps outside of the folder how far its numbers have gone.
    fn note_numbers(&self, last_sequence: i64, last_shift: u32) {
        let mut witness = self.inner.witness.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(witness) = &mut *witness {
            witness.note(last_sequence, last_shift);
        }
    }

    /// The same of its closings.
    fn note_closing(&self, last_z: i64) {
        let mut witness = self.inner.witness.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(witness) = &mut *witness {
            witness.note_closing(last_z);
        }
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
    if let Some(since) = relay.paused_since() {
        return Connection {
            state: ConnectionState::Paused,
            since: Some(rfc3339(since)),
            next_attempt_at: None,
        };
    }
    let line = relay.line();
    let waiting = line.state != ConnectionState::Online;
    Connection {
        state: line.state,
        since: line.since.map(rfc3339),
        next_attempt_at: line.next_probe().filter(|_| waiting).map(rfc3339),
    }
}
