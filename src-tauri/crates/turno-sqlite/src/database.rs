//! The handle that stores hold: cheap to clone, usable from any task.
//!
//! Invariant: all writes of a process go through the one writer behind it, in the order in which they got a place
//! in the queue.

use std::{
    collections::VecDeque,
    fmt,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{Sender, channel},
    },
};

use rusqlite::Connection;
use tokio::sync::{Notify, Semaphore, oneshot};

use crate::{
    BATCH_LIMIT, Migration, OpenError, QUEUE_LIMIT, WriteError,
    connection::open_writer,
    migration::migrate,
    reader::Readers,
    writer::{Answer, Job, Message, Write, Writer},
};

/// Where closures run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriterMode {
    /// On a thread of their own, committed in groups.
    #[default]
    Thread,
    /// On the caller's thread, one commit each, reads too: nothing depends on a scheduler, for the simulator.
    Inline,
}

/// How many waiting writes share one commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Commits {
    #[default]
    Grouped,
    /// Each has its own: what grouping is measured against.
    OneByOne,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    pub mode: WriterMode,
    pub commits: Commits,
}

#[derive(Clone)]
pub struct Database {
    shared: Arc<Shared>,
}

struct Shared {
    path: PathBuf,
    writes: Writes,
    readers: Readers,
    /// Places in the queue; a job gives its own back once it is answered.
    places: Arc<Semaphore>,
    commits: Arc<AtomicU64>,
    full: Arc<Notify>,
}

enum Writes {
    Thread(Mutex<Sender<Message>>),
    Inline(Mutex<Option<Writer>>),
}

impl Database {
    /// Open or create the file, check its settings and bring its schema up to date. Blocks: called once at start.
    pub fn open(path: &Path, migrations: &[Migration], options: Options) -> Result<Self, OpenError> {
        let mut connection = open_writer(path)?;
        migrate(&mut connection, migrations)?;
        let commits = Arc::new(AtomicU64::new(0));
        let full = Arc::new(Notify::new());
        let writer = Writer::new(path.to_owned(), connection, Arc::clone(&commits), Arc::clone(&full));
        let writes = match options.mode {
            WriterMode::Inline => Writes::Inline(Mutex::new(Some(writer))),
            WriterMode::Thread => {
                let batch_limit = match options.commits {
                    Commits::Grouped => BATCH_LIMIT,
                    Commits::OneByOne => 1,
                };
                let (sender, queue) = channel();
                std::thread::Builder::new()
                    .name("sqlite-writer".to_owned())
                    .spawn(move || writer.serve(&queue, batch_limit))
                    .expect("a process that cannot start one thread cannot work");
                Writes::Thread(Mutex::new(sender))
            }
        };
        let shared = Shared {
            path: path.to_owned(),
            writes,
            readers: Readers::new(path.to_owned()),
            places: Arc::new(Semaphore::new(QUEUE_LIMIT)),
            commits,
            full,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Run `work` inside a transaction and commit it, together with whatever else waits.
    ///
    /// An error from `work` undoes what it wrote and is handed back as [`WriteError::Rejected`]. A panic in it is
    /// undone too and goes on in the caller. Dropping the future does not stop a write that is in the queue.
    pub async fn write<T, E, F>(&self, work: F) -> Result<T, WriteError<E>>
    where
        F: FnOnce(&Connection) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: Send + 'static,
    {
        self.shared.writes.give_way().await;
        let Ok(place) = Arc::clone(&self.shared.places).acquire_owned().await else {
            return Err(WriteError::Closed);
        };
        let (job, answer) = Write::new(work, Some(place));
        self.shared.writes.submit(Box::new(job));
        match answer.await {
            Ok(Answer::Result(result)) => {
                if matches!(result, Err(WriteError::OutcomeUnknown(_))) {
                    self.shared.readers.forget();
                }
                result
            }
            Ok(Answer::Panicked(payload)) => std::panic::resume_unwind(payload),
            // The queue was dropped with the job still in it.
            Err(_) => Err(WriteError::Closed),
        }
    }

    /// Run `work` on a connection that sees one snapshot and cannot write. Keep it short: a reader that stays
    /// makes the log grow.
    pub async fn read<T, F>(&self, work: F) -> Result<T, rusqlite::Error>
    where
        F: FnOnce(&Connection) -> Result<T, rusqlite::Error> + Send + 'static,
        T: Send + 'static,
    {
        self.shared.writes.give_way().await;
        let shared = Arc::clone(&self.shared);
        match self.shared.writes {
            Writes::Inline(_) => {
                let _place = shared.readers.places.acquire().await.map_err(|_| closed())?;
                shared.readers.run(work)
            }
            Writes::Thread(_) => {
                let place = self.shared.readers.places.acquire().await.map_err(|_| closed())?;
                let read = tokio::task::spawn_blocking(move || shared.readers.run(work)).await;
                drop(place);
                match read {
                    Ok(result) => result,
                    Err(error) => match error.try_into_panic() {
                        Ok(payload) => std::panic::resume_unwind(payload),
                        Err(_) => Err(closed()),
                    },
                }
            }
        }
    }

    /// Writes that wait or are being committed.
    pub fn queue_depth(&self) -> usize {
        QUEUE_LIMIT - self.shared.places.available_permits()
    }

    /// Commits since the file was opened. Writes divided by commits is what grouping gains.
    pub fn commits(&self) -> u64 {
        self.shared.commits.load(Ordering::Relaxed)
    }

    /// Returns when a write has found the medium full, since the last time that somebody waited here: whoever can
    /// make room does so, and the same write may be tried again.
    pub async fn until_full(&self) {
        self.shared.full.notified().await;
    }

    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Commit what waits, empty the log into the file and let go of it. Later calls are refused.
    pub async fn close(&self) {
        self.shared.places.close();
        self.shared.readers.close().await;
        match &self.shared.writes {
            Writes::Inline(writer) => drop(writer.lock().unwrap_or_else(PoisonError::into_inner).take()),
            Writes::Thread(sender) => {
                let (done, closed) = oneshot::channel();
                let close = Message::Close(done);
                // An error on either side means that the writer has gone already.
                let _ = sender.lock().unwrap_or_else(PoisonError::into_inner).send(close);
                let _ = closed.await;
            }
        }
    }
}

impl Writes {
    /// Without a thread of its own a call would never let another task run; a simulator switches, or kills, here.
    async fn give_way(&self) {
        match self {
            Self::Thread(_) => {}
            Self::Inline(_) => tokio::task::yield_now().await,
        }
    }

    fn submit(&self, job: Box<dyn Job>) {
        match self {
            // A closed queue drops the job, and with it the place where the caller listens.
            Self::Thread(sender) => {
                drop(sender.lock().unwrap_or_else(PoisonError::into_inner).send(Message::Write(job)));
            }
            Self::Inline(writer) => {
                if let Some(writer) = writer.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
                    writer.write(VecDeque::from([job]));
                }
            }
        }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Database").field("path", &self.shared.path).finish_non_exhaustive()
    }
}

fn closed() -> rusqlite::Error {
    let misuse = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_MISUSE);
    rusqlite::Error::SqliteFailure(misuse, Some("the database is closed".to_owned()))
}
