//! One batch of creations: read for all of them, evaluate each, write for all of them, commit once.
//!
//! A handful of exchanges with the database, however many requests there are. Invariant: everything that the rules read is
//! held until the commit (external ids and look-alikes by locks) or decided by an index when it is written (keys), so
//! the outcome is that of one transaction after the other.

use std::{collections::BTreeSet, sync::Arc};

use futures_util::future::{try_join, try_join_all};

use super::{
    ATTEMPTS, PostgresLedger,
    audit::{self, Head},
    challenge,
    connection::LOCK_TIMEOUT_MS,
    creations::{Job, Told},
    error::{Remedy, StoreError},
    gathered::{Aside, Gathered, Gathering},
    key, likeness,
    row::{self, Result},
    sale,
    transaction::Transaction,
};
use crate::{
    books::at_once,
    ledger::LedgerError,
    matrix::{self, CreateOutcome},
};

/// How long a whole batch waits for one request's twin. Then each waits on its own, and only the twin for long.
const TWIN_TIMEOUT_MS: u32 = 300;

/// Run `jobs`, which are of one company, and answer all of them.
pub(super) async fn run(ledger: &PostgresLedger, jobs: Vec<Job>) {
    for _ in 0..ATTEMPTS {
        match commit(ledger, &jobs).await {
            Ok(outcomes) => {
                for (job, outcome) in jobs.into_iter().zip(outcomes) {
                    job.tell(outcome.map_or(Told::Aside, |outcome| Told::Done(Box::new(Ok(outcome)))));
                }
                return;
            }
            Err(error) if error.remedy() == Remedy::Again => {
                tracing::debug!(%error, "another transaction came first");
            }
            Err(error) => return tell_all(jobs, error),
        }
    }
    for job in jobs {
        job.tell(Told::Aside);
    }
}

/// Each finds out on its own what is wrong, unless it is the same for all.
fn tell_all(jobs: Vec<Job>, error: StoreError) {
    let (remedy, is_alone, error) = (error.remedy(), jobs.len() == 1, Arc::new(error));
    for job in jobs {
        job.tell(match remedy {
            Remedy::Later => {
                Told::Done(Box::new(Err(LedgerError::Unavailable(Box::new(Arc::clone(&error))))))
            }
            // D3, as it would be told on its own.
            Remedy::Busy if is_alone => Told::Done(Box::new(Ok(CreateOutcome::KeyInProgress))),
            Remedy::Busy | Remedy::Again | Remedy::None => Told::Aside,
        });
    }
}

/// The outcome of each, committed. `None`: it has to be evaluated on its own.
async fn commit(ledger: &PostgresLedger, jobs: &[Job]) -> Result<Vec<Option<CreateOutcome>>> {
    let transaction = Transaction::begin(&ledger.pool).await?;
    match evaluate(ledger, jobs, &transaction).await {
        Ok((outcomes, written)) => {
            write_and_commit(transaction, written).await?;
            Ok(outcomes)
        }
        Err(error) => {
            transaction.roll_back().await;
            Err(error)
        }
    }
}

type Evaluated = (Vec<Option<CreateOutcome>>, Option<(Gathered, Head)>);

/// Read, evaluate, settle the keys and hold the company's head, if there is anything to write.
async fn evaluate(ledger: &PostgresLedger, jobs: &[Job], transaction: &Transaction) -> Result<Evaluated> {
    let mut gathered = gather(ledger, jobs, transaction).await?;
    let mut outcomes = Vec::with_capacity(jobs.len());
    for Job { desk, request, .. } in jobs {
        let mark = gathered.mark();
        let rule = matrix::create_transaction(&mut gathered, desk, request.clone());
        match at_once(rule) {
            Ok(outcome) => outcomes.push(Some(outcome)),
            Err(Aside) => {
                gathered.undo_to(mark);
                outcomes.push(None);
            }
        }
    }
    let company = jobs.first().map(|job| &job.desk.caller.scope.company);
    let Some(company) = company.filter(|_| gathered.has_written()) else { return Ok((outcomes, None)) };
    let client = transaction.client();
    // A twin elsewhere is waited for here, before the company is held; if others wait too, not for long.
    let twin_timeout_ms = if jobs.len() == 1 { LOCK_TIMEOUT_MS } else { TWIN_TIMEOUT_MS };
    row::prepare(client, &[row::LOCK_TIMEOUT, key::INSERT_ALL, audit::LOCK_HEAD]).await?;
    let (((), ()), ((), head)) = try_join(
        try_join(
            row::lock_timeout(client, twin_timeout_ms),
            key::insert_all(client, gathered.written_keys(), transaction.now()),
        ),
        try_join(row::lock_timeout(client, LOCK_TIMEOUT_MS), Head::lock(client, company)),
    )
    .await?;
    Ok((outcomes, Some((gathered, head))))
}

async fn gather(ledger: &PostgresLedger, jobs: &[Job], transaction: &Transaction) -> Result<Gathered> {
    let client = transaction.client();
    let age = key::Age { now: transaction.now(), retention: ledger.key_retention };
    let wanted = Gathering::of(jobs, transaction.now());
    // In their order, so that two batches never hold what the other waits for. The external ids' locks are not
    // waited for: whoever holds one is a twin on its own, and its request here goes aside.
    row::prepare(client, &[row::TRY_LOCKS, row::LOCKS]).await?;
    let (id_locks, likeness_locks) = (wanted.id_locks(), wanted.likeness_locks());
    let (held, ()) = try_join(row::try_locks(client, &id_locks), row::locks(client, &likeness_locks)).await?;
    // New statements, which see what the locks' last holders have committed; sent together.
    let reads = try_join(
        try_join(key::find_all(client, wanted.keys(), age), sale::by_external_ids(client, wanted.ids())),
        try_join(challenge::open_among(client, wanted.ids()), likeness::find_all(client, wanted.clues())),
    );
    let ((keys, sales), (questions, alike)) = reads.await?;
    let held: BTreeSet<String> = held.into_iter().collect();
    Ok(Gathered::new(transaction.now(), keys, sales, alike, questions, wanted.is_held(&held)))
}

async fn write_and_commit(transaction: Transaction, written: Option<(Gathered, Head)>) -> Result<()> {
    let Some((gathered, mut head)) = written else { return transaction.commit().await };
    let sales: Vec<_> =
        gathered.written_sales().map(|(scope, sale)| (scope, head.next_arrival(), sale)).collect();
    let questions: Vec<_> =
        gathered.written_questions().iter().map(|new| (head.next_arrival(), new)).collect();
    let rows: Vec<_> = gathered.written_audit().map(|entry| head.next_row(entry)).collect();
    let client = transaction.client();
    let writes = try_join(
        try_join(sale::insert_all(client, &sales), audit::insert_all(client, &head.company, &rows)),
        try_join(
            try_join_all(questions.iter().map(|(arrival, new)| challenge::insert(client, new, *arrival))),
            head.save(client),
        ),
    );
    match writes.await {
        Ok(_) => transaction.commit().await,
        Err(error) => {
            transaction.roll_back().await;
            Err(error)
        }
    }
}
