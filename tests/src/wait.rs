//! Waiting for a condition, the only way in which a test waits.

use std::time::Duration;

use anyhow::{Result, bail};
use tokio::time::{Instant, sleep};

/// What takes longer than this on a loaded two-core machine is broken, not slow.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// Short against everything that is waited for, long against the cost of asking.
const PAUSE: Duration = Duration::from_millis(25);

/// Asks until there is an answer. `what` completes the sentence "waited in vain until …".
pub async fn until<T>(what: &str, mut ask: impl AsyncFnMut() -> Result<Option<T>>) -> Result<T> {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask().await? {
            return Ok(answer);
        }
        if Instant::now() > end {
            bail!("waited in vain until {what}");
        }
        sleep(PAUSE).await;
    }
}

/// Lets time pass in which nothing is waited for: what is measured is the rest itself.
pub async fn rest(length: Duration) {
    sleep(length).await;
}
