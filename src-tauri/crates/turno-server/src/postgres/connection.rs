//! Connections: how long each wait may take.
//!
//! Invariant: no statement and no wait outlives the time after which a till gives up, so that what a till is told is
//! what was done.

use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use tokio_postgres::{Config, NoTls, config::TargetSessionAttrs};

use super::OpenPostgresError;

/// Enough for a network that is far, and below what a till waits.
const CONNECT: Duration = Duration::from_secs(3);

/// For a connection to become free: below the 12 s in which an answer has to be there.
const WAIT_FOR_CONNECTION: Duration = Duration::from_secs(5);

/// As the contract has it: how long a twin in flight is waited for.
pub(super) const LOCK_TIMEOUT_MS: u32 = 2_000;

/// No statement of ours takes a tenth of it.
const STATEMENT_TIMEOUT_MS: u32 = 5_000;

/// A server that stands still in a transaction keeps others from their sales no longer than this.
const IDLE_TIMEOUT_MS: u32 = 5_000;

/// Every statement of ours finds its rows by an index. Without statistics (a new database, a table that has grown since
/// it was last looked at) the planner would rather read small tables as a whole, keep that plan, and go on with it when
/// they are not small any more.
const BY_INDEX: &str = "-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off \
                        -c plan_cache_mode=force_generic_plan";

pub(super) fn pool(address: &str, size: usize) -> Result<Pool, OpenPostgresError> {
    let mut config: Config = address.parse().map_err(OpenPostgresError::Address)?;
    // What the address says comes last and counts.
    let given = config.get_options().unwrap_or_default().to_owned();
    config
        .options(format!(
            "-c lock_timeout={LOCK_TIMEOUT_MS} -c statement_timeout={STATEMENT_TIMEOUT_MS} \
             -c idle_in_transaction_session_timeout={IDLE_TIMEOUT_MS} {BY_INDEX} {given}"
        ))
        .connect_timeout(CONNECT)
        // A stand-by knows less than what tills were told.
        .target_session_attrs(TargetSessionAttrs::ReadWrite);
    if config.get_application_name().is_none() {
        config.application_name("turno-server");
    }
    let manager =
        Manager::from_config(config, NoTls, ManagerConfig { recycling_method: RecyclingMethod::Fast });
    Ok(Pool::builder(manager)
        .max_size(size)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(WAIT_FOR_CONNECTION))
        .create_timeout(Some(CONNECT))
        .recycle_timeout(Some(CONNECT))
        .build()?)
}
