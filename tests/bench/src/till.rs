//! How fast a till is: every figure beside what it is compared to, in one run on one machine.
//!
//! The till is the real one on the real disk. Sides take turns, each figure is the median of its turns or a percentile
//! of all of them, and what counts are ratios within the run. The fleet alone lives in simulated time, where a server
//! has exactly the capacity that it is given.

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
