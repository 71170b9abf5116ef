//! A till's day on a watched disk: it is set up, sells, sends, asks a manager, is restarted, and its log is emptied.
//!
//! The till is the real one. What people are told, and what leaves for YUPY, is noted with the place in the disk's
//! log at which it happened. Invariant: one seed is one story.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use rusqlite::Connection;
use tempfile::TempDir;
use turno_till::clock::Clock;
use turno_till::random::Entropy;
use turno_till::room::{Ample, SharedDisk};
use turno_till::store::FILE_NAME;
use turno_till::transport::SharedTransport;
use turno_till::view::{
    Charge, ChargeOutcome, ConnectRequest, Decide, Decision, Line, LookAlikePolicy, MoneyHandled,
    OpenShiftRequest, Problem, Role, SaleState, SaleSummary, Tender, UnlockRequest,
};
use turno_till::{Options, PinCost, Till, WriterMode};

use crate::chance::Chance;
use crate::disk::{Disk, Op, Watch, Weakness};
use crate::facts::{self, Ack, State};
use crate::rebuild::{self, Cursor, Loss};
use crate::yupy::{Trouble, Yupy};

pub const CASHIER_PIN: &str = "314159";
pub const MANAGER_PIN: &str = "271828";
/// 2026-11-30 10:00 in Lima.
const MORNING: i64 = 1_796_050_800_000;
/// What PINs cost is not what is tested here.
const CHEAP_PINS: PinCost = PinCost { memory_kib: 8, passes: 1 };
/// How long a sale may take to come to rest.
const ROUNDS: usize = 400;

/// A clock that is set by hand.
pub struct HandClock(AtomicI64);

impl HandClock {
    pub fn forward(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.0.load(Ordering::SeqCst)).expect("a day of this century")
    }
}

/// Somebody was told something, behind so many operations of the disk.
#[derive(Clone, Debug)]
pub struct Told {
    pub position: usize,
    pub ack: Ack,
}

/// What is left of a story.
#[derive(Debug)]
pub struct Lived {
    pub names: Vec<String>,
    pub log: Vec<Op>,
    pub told: Vec<Told>,
}

/// A till with everything around it.
pub struct Counter {
    pub till: Till,
    pub clock: Arc<HandClock>,
    pub yupy: Arc<Yupy>,
    pub watch: Watch,
    pub folder: TempDir,
    chance: Chance,
    options: Options,
    told: Arc<Mutex<Vec<Told>>>,
}

/// Lives the story of a seed, with `sales` presses of *Cobrar*, on a runtime of its own.
///
/// # Errors
/// Something went wrong although the disk is good.
pub fn live(seed: u64, sales: usize, weakness: Option<Weakness>) -> Result<Lived> {
    on_paused_time(async {
        let counter = Counter::open(seed, Trouble::Some, weakness).await?;
        counter.day(sales).await
    })
}

/// Runs a future on this thread, where waiting takes no time.
///
/// # Errors
/// What the future says.
pub fn on_paused_time<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    runtime.block_on(future)
}

/// Real files where nothing waits for a medium: what would be lost is decided from the log.
///
/// # Errors
/// No folder can be made.
pub fn folder() -> Result<TempDir> {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() };
    folder.context("a folder for the disk")
}

impl Counter {
    /// A new till, set up by its company and with an open shift.
    ///
    /// # Errors
    /// It could not be set up.
    pub async fn open(seed: u64, trouble: Trouble, weakness: Option<Weakness>) -> Result<Self> {
        let counter = Self::bare(seed, trouble, weakness).await?;
        counter.set_up().await?;
        Ok(counter)
    }

    /// # Errors
    /// The folder cannot be used.
    pub async fn bare(seed: u64, trouble: Trouble, weakness: Option<Weakness>) -> Result<Self> {
        Self::bare_on(seed, trouble, weakness, |_| Arc::new(Ample)).await
    }

    /// A till whose room is told by `room`, which gets the disk that SQLite's calls go to.
    ///
    /// # Errors
    /// The folder cannot be used.
    pub async fn bare_on(
        seed: u64,
        trouble: Trouble,
        weakness: Option<Weakness>,
        room: impl FnOnce(&Arc<Disk>) -> SharedDisk,
    ) -> Result<Self> {
        let folder = folder()?;
        let watch = Watch::over(folder.path(), weakness);
        let chance = Chance::new(seed);
        let clock = Arc::new(HandClock(AtomicI64::new(MORNING)));
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = {
            let (told, disk) = (Arc::clone(&told), Arc::clone(&watch.disk));
            move |key: &str, nth| {
                let ack = Ack::Attempt { key: key.to_owned(), nth };
                let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                told.push(Told { position: disk.position(), ack });
            }
        };
        let yupy = Yupy::new(Chance::new(chance.next()), trouble, Box::new(heard));
        let chance_of_till = Chance::new(chance.next());
        let options = Options {
            disk: room(&watch.disk),
            ..options(folder.path(), Arc::clone(&clock), chance_of_till, Arc::clone(&yupy) as _)
        };
        let till = Till::open(options.clone()).await.map_err(told_no)?;
        Ok(Self { till, clock, yupy, watch, folder, chance, options, told })
    }

    /// Enrols the till, gives it people and opens a shift.
    ///
    /// # Errors
    /// A step was refused.
    pub async fn set_up(&self) -> Result<()> {
        let connect =
            ConnectRequest { address: "http://yupy.test".to_owned(), enrolment_code: "C".to_owned() };
        self.till.connect(&connect).await.map_err(told_no)?;
        self.tell(Ack::Audited { event: "enrolled" });
        self.till.add_person("c", "Caja", Role::Cashier, CASHIER_PIN).await.map_err(told_no)?;
        self.till.add_person("m", "Encargado", Role::Manager, MANAGER_PIN).await.map_err(told_no)?;
        self.tell(Ack::Audited { event: "person_created" });
        self.unlock().await?;
        self.till.open_shift(&OpenShiftRequest { float: "100".to_owned() }).await.map_err(told_no)?;
        self.tell(Ack::Audited { event: "shift_opened" });
        Ok(())
    }

    /// # Errors
    /// The PIN was refused.
    pub async fn unlock(&self) -> Result<()> {
        let request = UnlockRequest { person_id: "c".to_owned(), pin: CASHIER_PIN.to_owned() };
        self.till.unlock(&request).await.map_err(told_no)
    }

    async fn day(mut self, sales: usize) -> Result<Lived> {
        for _ in 0..sales {
            self.sell().await?;
            match self.chance.below(10) {
                0..4 => self.rest(20).await?,
                4..6 => self.decide().await.map_err(told_no)?,
                6 => self.restart().await?,
                7 => self.checkpoint("PASSIVE")?,
                8 => self.checkpoint("TRUNCATE")?,
                _ => {}
            }
        }
        self.rest(ROUNDS).await?;
        self.decide().await.map_err(told_no)?;
        self.rest(ROUNDS).await?;
        let broken = self.yupy.broken();
        if !broken.is_empty() {
            bail!("keys carried two bodies: {broken:?}");
        }
        self.till.close().await;
        Ok(Lived { names: self.watch.disk.names(), log: self.watch.disk.log(), told: self.told() })
    }

    async fn sell(&self) -> Result<()> {
        let charge = charge(&self.till.open_draft().draft_id, self.ticket());
        let outcome = self.till.charge(&charge).await.map_err(told_no)?;
        let ChargeOutcome::Recorded { checkout } = outcome else { bail!("a warning nobody asked for") };
        for sale in checkout.sales {
            self.tell(Ack::Sale { external_transaction_id: sale.external_transaction_id });
        }
        Ok(())
    }

    fn ticket(&self) -> Vec<Line> {
        let seat = || {
            let row = 1 + self.chance.below(24);
            seat(&format!("{row}{}", self.chance.pick(&["A", "B", "C", "D"])))
        };
        match self.chance.below(4) {
            0 => vec![fare(1)],
            1 => vec![seat(), luggage(), fare(2)],
            _ => vec![seat()],
        }
    }

    /// Waits until nothing is on its way any more, or for so many rounds.
    ///
    /// # Errors
    /// The sales cannot be read.
    pub async fn rest(&self, rounds: usize) -> Result<()> {
        let mut changes = self.till.changes();
        for _ in 0..rounds {
            let sales = self.sales().await?;
            if sales.iter().all(|sale| !matches!(sale.state, SaleState::Queued | SaleState::Sending)) {
                return Ok(());
            }
            // Wall time follows paused time in steps, so that what is due later becomes due.
            if tokio::time::timeout(Duration::from_secs(1), changes.changed()).await.is_err() {
                self.clock.forward(1_000);
            }
        }
        Ok(())
    }

    /// # Errors
    /// They cannot be read.
    pub async fn sales(&self) -> Result<Vec<SaleSummary>> {
        let (mut sales, mut after) = (Vec::new(), None);
        loop {
            let page = self.till.recent_sales(after).await.map_err(told_no)?;
            sales.extend(page.items);
            after = page.next;
            if after.is_none() {
                return Ok(sales);
            }
        }
    }

    /// What the disk would hold had the power gone at a position, with nothing kept that was not synced.
    ///
    /// # Errors
    /// The program could not open it.
    pub async fn after_power_cut(&self, position: usize, loss: Loss) -> Result<State> {
        let (names, log, folder) = (self.watch.disk.names(), self.watch.disk.log(), folder()?);
        let mut cursor = Cursor::new(&log, names.len());
        cursor.advance_to(position);
        rebuild::lay_out(folder.path(), &names, &cursor.image(loss, &self.chance))?;
        facts::read(folder.path()).await
    }

    /// What somebody was told since a position and a power cut right behind it would have taken away.
    ///
    /// # Errors
    /// The disk would be damaged.
    pub async fn broken_promises(&self, since: usize) -> Result<Vec<Told>> {
        let told: Vec<_> = self.told().into_iter().filter(|told| told.position >= since).collect();
        let mut broken = Vec::new();
        for at_once in told.chunk_by(|one, other| one.position == other.position) {
            let position = at_once[0].position;
            let state = self.after_power_cut(position, Loss::Everything).await?;
            if let Some(fault) = state.faults.first() {
                bail!("after a power cut at {position}: {fault}");
            }
            broken.extend(at_once.iter().filter(|told| !state.has(&told.ack)).cloned());
        }
        Ok(broken)
    }

    #[must_use]
    pub fn told(&self) -> Vec<Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The manager answers every question.
    ///
    /// # Errors
    /// What the till says to that.
    pub async fn decide(&self) -> Result<(), Problem> {
        for review in self.till.reviews().await? {
            let same = self.chance.percent(30);
            let decide = Decide {
                external_transaction_id: review.external_transaction_id,
                challenge_id: review.challenge_id.clone(),
                decision: if same { Decision::SameSale } else { Decision::DifferentSale },
                manager_id: "m".to_owned(),
                pin: MANAGER_PIN.to_owned(),
                reason: "dos pasajeros".to_owned(),
                money: same.then_some(MoneyHandled::Refunded),
            };
            self.till.decide(&decide).await?;
            self.tell(Ack::Decision { challenge_id: review.challenge_id });
        }
        Ok(())
    }

    /// Ends the program properly and starts it again.
    ///
    /// # Errors
    /// It does not start.
    pub async fn restart(&mut self) -> Result<()> {
        self.till.close().await;
        self.start().await.map_err(told_no)?;
        self.unlock().await
    }

    /// Starts the program on the folder; nobody has unlocked it yet.
    ///
    /// # Errors
    /// Why it does not start.
    pub async fn start(&mut self) -> Result<(), Problem> {
        self.till = Till::open(self.options.clone()).await?;
        Ok(())
    }

    /// What the writer does to its log in a quiet moment, and SQLite by itself when the log is long.
    ///
    /// # Errors
    /// The disk failed.
    pub fn checkpoint(&self, mode: &str) -> Result<()> {
        let conn = Connection::open(self.database())?;
        conn.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()))?;
        Ok(())
    }

    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.folder.path().join(FILE_NAME)
    }

    pub fn tell(&self, ack: Ack) {
        let position = self.watch.disk.position();
        self.told.lock().unwrap_or_else(PoisonError::into_inner).push(Told { position, ack });
    }
}

/// A till of a folder with nothing real in it but the disk.
#[must_use]
pub fn options(folder: &Path, clock: Arc<HandClock>, chance: Chance, transport: SharedTransport) -> Options {
    Options {
        clock,
        entropy: Arc::new(chance) as Arc<dyn Entropy>,
        connector: Arc::new(move |_, _| Ok(Arc::clone(&transport))),
        pin_cost: CHEAP_PINS,
        disk: Arc::new(Ample),
        writer: WriterMode::Inline,
        ..Options::new(folder.to_owned(), folder.join("secrets"))
    }
}

#[must_use]
pub fn charge(draft_id: &str, lines: Vec<Line>) -> Charge {
    Charge {
        draft_id: draft_id.to_owned(),
        lines,
        tenders: vec![Tender::Cash { received: None }],
        look_alikes: LookAlikePolicy::SellAnyway,
        approval: None,
    }
}

#[must_use]
pub fn seat(seat: &str) -> Line {
    Line {
        offer_id: "departure:184-2030".to_owned(),
        seat: Some(seat.to_owned()),
        quantity: 1,
        buyer_name: None,
        shown_price_minor: 8_550,
        discount: None,
    }
}

#[must_use]
pub fn fare(quantity: u32) -> Line {
    Line {
        offer_id: "fare:U7-adulto".to_owned(),
        seat: None,
        quantity,
        buyer_name: None,
        shown_price_minor: 200,
        discount: None,
    }
}

#[must_use]
pub fn luggage() -> Line {
    Line {
        offer_id: "product:equipaje".to_owned(),
        seat: None,
        quantity: 1,
        buyer_name: None,
        shown_price_minor: 996,
        discount: None,
    }
}

fn told_no(problem: Problem) -> anyhow::Error {
    anyhow::anyhow!("{:?}: {} {:?}", problem.code, problem.message, problem.detail)
}
