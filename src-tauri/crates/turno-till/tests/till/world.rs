//! Machines, data folders on them that are copied, closed and opened, and the books of YUPY that all of them write to.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use turno_till::machine::Machine;
use turno_till::view::{EpochReason, LookAlikePolicy, NewEpoch, SaleState, SaleSummary};
use turno_till::{Options, PinCost, Till};

use crate::books::{Books, Wire};
use crate::support::{HandClock, MORNING, Seeded, charge, fare, options, recorded, set_up};

/// A machine with a state folder, on which data folders are opened.
pub struct Place {
    pub machine: Machine,
    pub secrets: PathBuf,
}

/// A till in a data folder, with its own line to YUPY.
pub struct Folder {
    pub path: PathBuf,
    pub till: Till,
    pub wire: Arc<Wire>,
    pub clock: Arc<HandClock>,
}

pub struct World {
    root: TempDir,
    pub books: Arc<Books>,
    pub home: Place,
    chance: std::cell::Cell<u64>,
}

impl World {
    pub fn new() -> Self {
        let root = TempDir::new().unwrap();
        let home = Place { machine: Machine::named("home"), secrets: root.path().join("home-state") };
        Self { books: Arc::default(), home, root, chance: std::cell::Cell::new(1) }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub fn options(&self, path: &Path, place: &Place, wire: &Arc<Wire>, clock: &Arc<HandClock>) -> Options {
        self.chance.set(self.chance.get() + 1);
        Options {
            pin_cost: PinCost { memory_kib: 8, passes: 1 },
            secrets_folder: place.secrets.clone(),
            machine: place.machine.clone(),
            ..options(path, clock.clone(), Seeded::new(self.chance.get()), wire.clone())
        }
    }

    /// Opens a folder at a time of its own: two tills do not sell in the same millisecond.
    pub async fn open(&self, name: &str, place: &Place, ms: i64) -> Folder {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap();
        let (wire, clock) = (Wire::to(&self.books), Arc::new(HandClock::at(ms)));
        let till = Till::open(self.options(&path, place, &wire, &clock)).await.unwrap();
        Folder { path, till, wire, clock }
    }

    pub async fn new_till(&self) -> Folder {
        let folder = self.open("data", &self.home, MORNING).await;
        set_up(&folder.till).await;
        folder
    }

    /// The folder as it is on the disk at this moment.
    pub fn copy(&self, from: &Path, name: &str) {
        copy_all(from, &self.path(name));
    }

    /// The state folder too, as when a whole home is cloned.
    pub fn copy_state(&self, name: &str) -> PathBuf {
        let to = self.path(name);
        copy_all(&self.home.secrets, &to);
        to
    }
}

pub fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        if file.file_type().unwrap().is_dir() {
            copy_all(&file.path(), &to.join(file.file_name()));
        } else {
            fs::copy(file.path(), to.join(file.file_name())).unwrap();
        }
    }
}

impl Folder {
    pub async fn sell(&self) -> String {
        self.clock.forward(1_003);
        let mut request = charge(&self.till.open_draft().draft_id, vec![fare(1)]);
        request.look_alikes = LookAlikePolicy::SellAnyway;
        recorded(self.till.charge(&request).await.unwrap()).sales[0].external_transaction_id.clone()
    }

    pub async fn sales(&self) -> Vec<SaleSummary> {
        self.till.recent_sales(None).await.unwrap().items
    }

    pub async fn until_settled(&self) -> Vec<SaleSummary> {
        let mut changes = self.till.changes();
        for _ in 0..200 {
            let sales = self.sales().await;
            if !sales.iter().any(|sale| matches!(sale.state, SaleState::Queued | SaleState::Sending)) {
                return sales;
            }
            if tokio::time::timeout(Duration::from_secs(1), changes.changed()).await.is_err() {
                self.clock.forward(1_000);
            }
        }
        panic!("{:#?}", self.sales().await);
    }

    pub async fn new_epoch(&self) -> Option<NewEpoch> {
        self.till.status().await.unwrap().unwrap().new_epoch
    }

    pub async fn reason(&self) -> Option<EpochReason> {
        self.new_epoch().await.map(|new| new.reason)
    }

    pub async fn close(self) -> PathBuf {
        self.till.close().await;
        self.path
    }
}

pub fn all_accepted(sales: &[SaleSummary]) -> bool {
    sales.iter().all(|sale| sale.state == SaleState::Accepted)
}

/// Polls a future so many times and drops it, as a kill does. Says whether it had not ended.
pub async fn killed_after<T>(polls: u32, work: impl Future<Output = T>) -> bool {
    let mut work = std::pin::pin!(work);
    let mut left = polls;
    std::future::poll_fn(move |context| {
        if left == 0 {
            return std::task::Poll::Ready(true);
        }
        left -= 1;
        work.as_mut().poll(context).map(|_| false)
    })
    .await
}
