//! How fast a till is: every figure beside what it is compared to, in one run on one machine.
//!
//! The till is the real one on the real disk. Sides take turns, each figure is the median of its turns or a percentile
//! of all of them, and what counts are ratios within the run. The fleet alone lives in simulated time, where a server
//! has exactly the capacity that it is given.
//!
//! What was seen in whole runs on two nearly idle cores, and what limits what was missed:
//!
//! - Reached: one sync a sale, exactly; recording with a million sales stored (1.16 times an empty till; 1.04 to 1.26
//!   from run to run); a page of history (0.4 to 0.6 ms in 99 of 100 cases); the fleet of 500 tills with 200 sales each:
//!   1.09 requests a sale, 1.21 times the capacity at its peak, 1.01 of the ideal time.
//! - Recording takes 2.8 to 3.5 times a bare sync where 2 is wanted: 1.1 ms beside 0.33. A sale writes some twenty pages,
//!   which costs the sync 0.05 ms more than one page does; the rest is the statements and the changes of thread.
//! - A till with a million sales is open and ready after 2.7 to 3.0 s where 1.5 is wanted. It reads all of its 1.5 GB
//!   once, to know that it is whole, before it lets anybody sell.
//! - A queue drains at 0.38 to 0.49 of a bare client's pace where 0.8 is wanted: 1 400 to 1 500 sales a second. The bare
//!   client writes nothing, and on two cores the till's two commits a sale share them with the server.
//! - The 99th percentile of recording during the drain is 1.1 to 2.2 times the idle one where 2 is wanted.

mod catalog;
mod commits;
mod drain;
mod large;
mod returning;
mod shop;
mod stock;

use std::path::Path;

use anyhow::Result;
use clap::Args;

use crate::figures::Figures;

/// How much of everything.
#[derive(Args, Clone, Copy, Debug)]
pub struct Plan {
    /// Sales that the large till holds already. Fewer for a quick look.
    #[arg(long, default_value_t = 1_000_000)]
    sales: i64,
    /// Turns of each side.
    #[arg(long, default_value_t = 5)]
    turns: usize,
    /// Sales that a till records in one turn.
    #[arg(long, default_value_t = 200)]
    recorded: u32,
    /// Sales that wait when the line comes back.
    #[arg(long, default_value_t = 10_000)]
    queued: u32,
    /// Tills of the fleet; none leaves the fleet out.
    #[arg(long, default_value_t = 500)]
    fleet: usize,
    /// Sales that each till of the fleet brings.
    #[arg(long, default_value_t = 200)]
    fleet_sales: usize,
}

pub async fn measure(plan: Plan, figures: &mut Figures) -> Result<()> {
    let folder = tempfile::tempdir()?;
    commits::syncs(plan, figures)?;
    large::measure(plan, figures, folder.path()).await?;
    drain::measure(plan, figures, folder.path()).await?;
    if plan.fleet > 0 {
        returning::measure(plan, figures)?;
    }
    Ok(())
}

/// Whether a folder's disk is one that syncs cost something on; memory would flatter every figure.
fn is_on_a_disk(folder: &Path) -> bool {
    !folder.starts_with("/dev/shm")
}
