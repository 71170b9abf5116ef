//! Creations of one company, several in one transaction.
//!
//! They wait for each other anyway: whoever continues a company's audit holds its end until the commit is on the disk.
//! So what has come in meanwhile is committed together, as the SQLite writer does. A batch is one task, and a company
//! has one at a time in each process. Invariant: a request is answered once, after the commit of its batch; whatever
//! a batch cannot say is evaluated on its own, by the same rules.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;
use turno_domain::ids::Company;

use super::{PostgresLedger, batch};
use crate::{
    ledger::LedgerError,
    matrix::{CreateOutcome, CreateRequest, Desk},
};

/// Requests in one transaction. More gains little over the disk's time, and the first would wait for all of them.
const BATCH_LIMIT: usize = 128;

/// A creation and the place where its answer goes.
pub(super) struct Job {
    pub desk: Desk,
    pub request: CreateRequest,
    answer: oneshot::Sender<Told>,
}

/// What a batch tells about one of its requests.
pub(super) enum Told {
    Done(Box<Result<CreateOutcome, LedgerError>>),
    /// It has to be evaluated on its own.
    Aside,
}

impl Job {
    pub(super) fn tell(self, told: Told) {
        // Nobody listens when the caller was dropped; what was committed stands all the same.
        let _ = self.answer.send(told);
    }
}

/// Clones share what waits.
#[derive(Clone, Default)]
pub(super) struct Creations(Arc<Mutex<HashMap<Company, VecDeque<Job>>>>);

impl Creations {
    /// How many wait for a batch.
    pub(super) fn waiting(&self) -> usize {
        self.lanes().values().map(VecDeque::len).sum()
    }

    pub(super) async fn create(&self, ledger: &PostgresLedger, desk: Desk, request: CreateRequest) -> Told {
        let company = desk.caller.scope.company.clone();
        let (answer, told) = oneshot::channel();
        let job = Job { desk, request, answer };
        let is_served = {
            let mut lanes = self.lanes();
            let is_served = lanes.contains_key(&company);
            lanes.entry(company.clone()).or_default().push_back(job);
            is_served
        };
        if !is_served {
            let (ledger, lane) = (ledger.clone(), Lane { creations: self.clone(), company });
            // A task of its own: the request that started it may be dropped, and others wait in it.
            tokio::spawn(async move {
                while let Some(jobs) = lane.next() {
                    batch::run(&ledger, jobs).await;
                }
            });
        }
        // A task that ended early (it panicked, or the process is ending) has answered nobody.
        told.await.unwrap_or(Told::Aside)
    }

    fn lanes(&self) -> MutexGuard<'_, HashMap<Company, VecDeque<Job>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Creations {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Creations")
    }
}

/// One company's, in the hands of the task that serves it. It is there exactly as long as that task.
struct Lane {
    creations: Creations,
    company: Company,
}

impl Lane {
    /// The next batch; `None` closes the lane.
    fn next(&self) -> Option<Vec<Job>> {
        let mut lanes = self.creations.lanes();
        let waiting = lanes.get_mut(&self.company)?;
        // Whoever has hung up while waiting gets nothing done.
        waiting.retain(|job| !job.answer.is_closed());
        let jobs: Vec<_> = waiting.drain(..waiting.len().min(BATCH_LIMIT)).collect();
        if jobs.is_empty() {
            lanes.remove(&self.company);
            return None;
        }
        Some(jobs)
    }
}

impl Drop for Lane {
    /// After a panic: what waits is dropped, which tells everybody to go on alone.
    fn drop(&mut self) {
        self.creations.lanes().remove(&self.company);
    }
}
