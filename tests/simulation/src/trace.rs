//! What happened, in order: two runs of one seed must tell the same story.

use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};
use tokio::time::Instant;

#[derive(Clone, Debug)]
pub struct Trace {
    born: Instant,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Trace {
    #[must_use]
    pub fn begin() -> Self {
        Self { born: Instant::now(), lines: Arc::default() }
    }

    pub fn say(&self, line: impl AsRef<str>) {
        let at = self.born.elapsed().as_millis();
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{at:>9} {}", line.as_ref()));
    }

    #[must_use]
    pub fn digest(&self) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        Sha256::digest(lines.join("\n")).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    #[must_use]
    pub fn text(&self) -> String {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }
}
