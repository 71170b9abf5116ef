//! The one place that writes: takes what waits, runs it in one transaction, commits once, then answers everybody.
//!
//! Invariant: a closure that refuses or panics undoes its own savepoint and nothing else, and no answer is sent
//! before COMMIT has returned.

use std::{
    any::Any,
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::Duration,
};

use rusqlite::Connection;
use tokio::sync::{Notify, OwnedSemaphorePermit, oneshot};

use crate::{
    WriteError,
    connection::{BUSY_TIMEOUT, open_writer},
    error::Fate,
};

/// Writes that may wait. Past this, callers wait for a place: at 5 000 writes a second it is a fifth of a second.
pub const QUEUE_LIMIT: usize = 1024;

/// Writes in one commit. More gains nothing over the disk's own time (measured flat from 64 on), and the first one
/// would wait for all of them.
pub const BATCH_LIMIT: usize = 256;

/// Quiet time after which the log is written back to the file and emptied.
const IDLE: Duration = Duration::from_secs(2);

/// A closure with the place where its answer goes.
pub(crate) trait Job: Send {
    /// Whether what it wrote is to be kept.
    fn run(&mut self, connection: &Connection) -> Verdict;
    fn answer(self: Box<Self>, fate: &Fate);
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Keep,
    Undo,
}

pub(crate) enum Message {
    Write(Box<dyn Job>),
    Close(oneshot::Sender<()>),
}

pub(crate) enum Answer<T, E> {
    Result(Result<T, WriteError<E>>),
    Panicked(Box<dyn Any + Send>),
}

pub(crate) struct Write<F, T, E> {
    progress: Progress<F, T, E>,
    reply: oneshot::Sender<Answer<T, E>>,
    /// The place in the queue, given back when the job is answered or dropped.
    place: Option<OwnedSemaphorePermit>,
}

enum Progress<F, T, E> {
    Waiting(F),
    /// Only while the closure runs.
    Running,
    Done(Result<T, E>),
    Panicked(Box<dyn Any + Send>),
}

impl<F, T, E> Write<F, T, E> {
    pub(crate) fn new(
        work: F,
        place: Option<OwnedSemaphorePermit>,
    ) -> (Self, oneshot::Receiver<Answer<T, E>>) {
        let (reply, answer) = oneshot::channel();
        (Self { progress: Progress::Waiting(work), reply, place }, answer)
    }
}

impl<F, T, E> Job for Write<F, T, E>
where
    F: FnOnce(&Connection) -> Result<T, E> + Send,
    T: Send,
    E: Send,
{
    fn run(&mut self, connection: &Connection) -> Verdict {
        let Progress::Waiting(work) = std::mem::replace(&mut self.progress, Progress::Running) else {
            return Verdict::Undo;
        };
        self.progress = match catch_unwind(AssertUnwindSafe(|| work(connection))) {
            Ok(result) => Progress::Done(result),
            Err(payload) => Progress::Panicked(payload),
        };
        if matches!(self.progress, Progress::Done(Ok(_))) { Verdict::Keep } else { Verdict::Undo }
    }

    fn answer(self: Box<Self>, fate: &Fate) {
        let Self { progress, reply, place } = *self;
        let answer = match progress {
            Progress::Done(Ok(value)) => Answer::Result(fate.as_error().map_or(Ok(value), Err)),
            Progress::Done(Err(error)) => Answer::Result(Err(WriteError::Rejected(error))),
            Progress::Panicked(payload) => Answer::Panicked(payload),
            // It never ran, so whatever happened to the batch did not happen to it.
            Progress::Waiting(_) | Progress::Running => {
                Answer::Result(Err(fate.as_error().unwrap_or(WriteError::Closed)))
            }
        };
        // Before the answer: whoever has heard it may count on the place.
        drop(place);
        // Nobody listens when the caller was dropped; the write stands all the same.
        let _ = reply.send(answer);
    }
}

pub(crate) struct Writer {
    path: PathBuf,
    /// `None` after a commit of unknown outcome, until the file can be opened again.
    connection: Option<Connection>,
    log_is_dirty: bool,
    commits: Arc<AtomicU64>,
    /// Told of every batch that found no room.
    full: Arc<Notify>,
}

impl Writer {
    pub(crate) fn new(
        path: PathBuf,
        connection: Connection,
        commits: Arc<AtomicU64>,
        full: Arc<Notify>,
    ) -> Self {
        Self { path, connection: Some(connection), log_is_dirty: false, commits, full }
    }

    /// Serve until everybody has let go of the queue or it is closed, with up to `batch_limit` writes in a commit.
    pub(crate) fn serve(mut self, queue: &Receiver<Message>, batch_limit: usize) {
        while let Some(first) = self.next(queue) {
            let mut batch = VecDeque::new();
            let mut closing = None;
            for message in std::iter::once(first).chain(queue.try_iter()) {
                match message {
                    Message::Write(job) => batch.push_back(job),
                    Message::Close(done) => closing = Some(done),
                }
                if batch.len() >= batch_limit || closing.is_some() {
                    break;
                }
            }
            self.write(batch);
            if let Some(done) = closing {
                drop(self);
                let _ = done.send(());
                return;
            }
        }
    }

    fn next(&mut self, queue: &Receiver<Message>) -> Option<Message> {
        while self.log_is_dirty {
            match queue.recv_timeout(IDLE) {
                Ok(message) => return Some(message),
                Err(RecvTimeoutError::Timeout) => self.empty_log(),
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        queue.recv().ok()
    }

    /// Run `waiting` in as few transactions as possible and answer all of it.
    pub(crate) fn write(&mut self, mut waiting: VecDeque<Box<dyn Job>>) {
        while !waiting.is_empty() {
            let mut ran = Vec::with_capacity(waiting.len());
            let fate = self.transaction(&mut waiting, &mut ran);
            if let Fate::Unknown(error) = &fate {
                tracing::error!(%error, "commit with unknown outcome: opening the database again");
                // SQLite's view of the file can no longer be trusted; a new connection recovers from the log.
                self.connection = None;
            }
            if matches!(fate, Fate::Full) {
                self.full.notify_one();
            }
            for job in ran {
                job.answer(&fate);
            }
        }
    }

    /// Moves what it has dealt with from `waiting` to `ran`, which is at least one job.
    fn transaction(&mut self, waiting: &mut VecDeque<Box<dyn Job>>, ran: &mut Vec<Box<dyn Job>>) -> Fate {
        let connection = match self.connection().and_then(|connection| {
            execute(connection, "BEGIN IMMEDIATE")?;
            Ok(connection)
        }) {
            Ok(connection) => connection,
            Err(error) => {
                ran.extend(waiting.drain(..));
                return Fate::not_committed(error);
            }
        };
        let fate = run_all(connection, waiting, ran);
        // Some errors end the transaction by themselves (disk full, I/O), others leave it open.
        if !connection.is_autocommit()
            && let Err(error) = execute(connection, "ROLLBACK")
        {
            tracing::error!(%error, "rollback failed: opening the database again");
            self.connection = None;
        }
        if matches!(fate, Fate::Committed) {
            self.log_is_dirty = true;
            self.commits.fetch_add(1, Ordering::Relaxed);
        }
        fate
    }

    fn connection(&mut self) -> rusqlite::Result<&Connection> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => open_writer(&self.path).map_err(|error| {
                tracing::error!(%error, "the database cannot be opened again");
                rusqlite::Error::SqliteFailure(
                    rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN),
                    Some(error.to_string()),
                )
            })?,
        };
        Ok(self.connection.insert(connection))
    }

    /// A long-lived reader keeps the log from being emptied; then the next quiet moment tries again. Waiting for it
    /// here would keep the next write waiting too.
    fn empty_log(&mut self) {
        let Some(connection) = &self.connection else { return };
        let empty = || {
            connection.busy_timeout(Duration::ZERO)?;
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0))
        };
        let busy = empty();
        if let Err(error) = connection.busy_timeout(BUSY_TIMEOUT) {
            tracing::error!(%error, "writes no longer wait for other programs");
        }
        match busy {
            Ok(busy) => self.log_is_dirty = busy,
            Err(error) => tracing::warn!(%error, "checkpoint failed"),
        }
    }
}

fn run_all(
    connection: &Connection,
    waiting: &mut VecDeque<Box<dyn Job>>,
    ran: &mut Vec<Box<dyn Job>>,
) -> Fate {
    while let Some(mut job) = waiting.pop_front() {
        let done = run_one(connection, job.as_mut());
        ran.push(job);
        if let Err(error) = done {
            return Fate::not_committed(error);
        }
    }
    match execute(connection, "COMMIT") {
        Ok(()) => Fate::Committed,
        Err(error) => Fate::of_failed_commit(error),
    }
}

fn run_one(connection: &Connection, job: &mut dyn Job) -> rusqlite::Result<()> {
    execute(connection, "SAVEPOINT job")?;
    let verdict = job.run(connection);
    if connection.is_autocommit() {
        // The closure's error took the whole transaction with it: the jobs before it lost their rows too.
        return Err(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ABORT_ROLLBACK),
            Some("the transaction was rolled back by SQLite".to_owned()),
        ));
    }
    if verdict == Verdict::Undo {
        execute(connection, "ROLLBACK TO job")?;
    }
    execute(connection, "RELEASE job")
}

fn execute(connection: &Connection, sql: &'static str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn emptying_the_log_waits_for_nobody_while_writes_still_do() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("notes.db");
        let connection = open_writer(&file).unwrap();
        connection.execute_batch("CREATE TABLE note (text TEXT)").unwrap();
        let other = Connection::open(&file).unwrap();
        other.execute_batch("BEGIN; SELECT text FROM note").unwrap();
        connection.execute_batch("INSERT INTO note VALUES ('while the other reads')").unwrap();
        let mut writer = Writer::new(file, connection, Arc::default(), Arc::default());
        let started = Instant::now();
        writer.empty_log();
        assert!(started.elapsed() < BUSY_TIMEOUT, "it waited for the other: {:?}", started.elapsed());
        assert!(writer.log_is_dirty, "the next quiet moment tries again");
        let timeout = writer.connection().unwrap().pragma_query_value(None, "busy_timeout", |row| row.get(0));
        assert_eq!(timeout, Ok(5_000), "a write waits for another program as before");
        other.execute_batch("COMMIT").unwrap();
        writer.empty_log();
        assert!(!writer.log_is_dirty);
    }
}
