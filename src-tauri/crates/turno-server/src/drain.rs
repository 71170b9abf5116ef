//! The end of a server: what has begun is finished, what comes now is sent elsewhere.
//!
//! Invariant: once draining has begun no operation is run any more, and the server does not end before its own tasks
//! (payments at the acquirer) have, or have had their time.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

/// Clones are one switch.
#[derive(Clone, Debug, Default)]
pub struct Drain {
    has_begun: Arc<AtomicBool>,
    tasks: TaskTracker,
}

impl Drain {
    pub fn begin(&self) {
        self.has_begun.store(true, Ordering::SeqCst);
        self.tasks.close();
    }

    pub fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::SeqCst)
    }

    /// Run `work` in a task of the server's own: it goes on when the request that asked for it is dropped.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.tasks.spawn(work)
    }

    /// Tasks that have not ended.
    pub(crate) fn tasks(&self) -> usize {
        self.tasks.len()
    }

    /// After [`Self::begin`]: until the last task has ended.
    pub async fn finished(&self) {
        self.tasks.wait().await;
    }
}
