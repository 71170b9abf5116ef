//! How fast a till is: every figure beside what it is compared to, in one run on one machine.
//!
//! The till is the real one on the real disk. Sides take turns, each figure is the median of its turns or a percentile
//! of all of them, and what counts are ratios within the run. The fleet alone lives in simulated time, where a server
//! has exactly the capacity that it is given.
//!
//! What has been seen so far comes from runs on two cores on which up to twenty other programs were running, so only
//! counts and ratios of interleaved sides mean something, and nothing has been measured on a quiet machine yet:
//!
//! - One sale is exactly one sync, and recording one costs the same with a million sales stored (1.01).
//! - Recording took 2.95 times a bare sync where 2 is wanted: 0.83 ms beside 0.28 ms, most of it two changes of thread.
//! - A till with a million sales was open and ready after 7.9 s where 1.5 is wanted. It reads all of its 1.5 GB once, to
//!   know that it is whole, before it lets anybody sell; how long that takes alone has to be measured.
//! - A page of its history was there within 8.4 ms in 99 of 100 cases where 5 is wanted.
//! - A queue drained at 0.1 to 0.7 of a bare client's pace where 0.8 is wanted. The relay claims for one place at a
//!   time, a read and a commit each, and looks at the next answer only then; claiming for all places that became free
//!   meanwhile would share the commit.
//! - A fleet of 500 drains in 1.02 of the ideal time, but with 1.98 requests a sale where 1.1 is wanted and 2.34 times
//!   the capacity at its peak where 1.5 is. This is simulated time, so the machine has no part in it: the server's line
//!   is shorter than what 500 tills send at four at a time, and a till that was told to come back later forgets it as
//!   soon as another of its four requests is accepted.

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

/// The value below which so many of a thousand are.
fn per_mille(values: &mut [f64], share: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = (values.len() * share).div_ceil(1_000).saturating_sub(1);
    values.get(place).copied().unwrap_or(f64::NAN)
}

/// Whether a folder's disk is one that syncs cost something on; memory would flatter every figure.
fn is_on_a_disk(folder: &Path) -> bool {
    !folder.starts_with("/dev/shm")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_value_that_was_measured() {
        let mut values: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        assert_eq!(per_mille(&mut values, 990).to_bits(), 198.0_f64.to_bits());
        assert_eq!(per_mille(&mut values, 500).to_bits(), 100.0_f64.to_bits());
        assert_eq!(per_mille(&mut values[..1], 990).to_bits(), 1.0_f64.to_bits());
        assert!(per_mille(&mut [], 990).is_nan());
    }
}
