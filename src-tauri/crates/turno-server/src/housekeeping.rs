//! What a server does without being asked: it looks after payments that nobody follows, forgets old keys,
//! and closes questions that nobody answered in time.
//!
//! Invariant: the reaper looks up and closes, it never charges; the purge never touches work in flight.

use std::time::Duration;

use crate::{config::Config, ledger::Ledger, metrics::Counter, paying::Cashier};

/// How often abandoned payments are looked up. Their tills ask sooner; this is for those that do not come back.
const REAPING: Duration = Duration::from_secs(30);

/// Payments looked up in one round, so that an acquirer that is down is not asked a thousand times.
const REAPED_AT_ONCE: u16 = 20;

/// How often expired keys are purged.
const PURGING: Duration = Duration::from_secs(10 * 60);

/// Questions closed in one transaction; another round follows at the next purge.
const EXPIRED_AT_ONCE: u16 = 500;

/// Keys removed in one transaction: short enough that no sale waits for it.
const PURGED_AT_ONCE: u16 = 500;

/// Runs for as long as the server does; whoever serves the router spawns it beside it.
pub async fn housekeeping<L: Ledger>(ledger: L, config: Config) {
    let cashier = config.cashier(ledger.clone());
    let mut reaping = tokio::time::interval(REAPING);
    let mut purging = tokio::time::interval(PURGING);
    loop {
        tokio::select! {
            _ = reaping.tick() => reap(cashier.as_ref()).await,
            _ = purging.tick() => {
                purge(&ledger, &config).await;
                expire(&ledger, &config).await;
            }
        }
    }
}

async fn reap<L: Ledger>(cashier: Option<&Cashier<L>>) {
    let Some(cashier) = cashier else { return };
    let abandoned = match cashier.ledger.claim_abandoned_payments(REAPED_AT_ONCE).await {
        Ok(abandoned) => abandoned,
        Err(error) => return tracing::warn!(%error, "abandoned payments cannot be read"),
    };
    for payment in abandoned {
        if let Err(error) = cashier.look_after(payment).await {
            tracing::warn!(%error, "an abandoned payment cannot be followed");
        }
    }
}

async fn expire<L: Ledger>(ledger: &L, config: &Config) {
    match ledger.expire_challenges(EXPIRED_AT_ONCE).await {
        Ok(expired) => config.metrics.add(Counter::ChallengesExpired, expired),
        Err(error) => tracing::warn!(%error, "questions whose time is over cannot be closed"),
    }
}

async fn purge<L: Ledger>(ledger: &L, config: &Config) {
    loop {
        let purged = ledger.purge_keys(PURGED_AT_ONCE).await;
        config.metrics.add(Counter::KeysPurged, *purged.as_ref().unwrap_or(&0));
        match purged {
            Ok(purged) if purged == u64::from(PURGED_AT_ONCE) => tokio::task::yield_now().await,
            Ok(purged) => {
                config.metrics.purged(config.world.now());
                return tracing::debug!(purged, "expired keys forgotten");
            }
            Err(error) => return tracing::warn!(%error, "expired keys cannot be purged"),
        }
    }
}
