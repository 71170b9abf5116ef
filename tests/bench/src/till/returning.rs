//! A whole fleet comes back at once, in simulated time, to a server that does so much a second and no more.

use anyhow::Result;
use turno_simulation::fleet::{self, Fleet};

use super::Plan;
use crate::figures::{Figures, Target};

/// Sales that the server takes in a second: the whole fleet needs some minutes.
const CAPACITY: u32 = 500;

pub fn measure(plan: Plan, figures: &mut Figures) -> Result<()> {
    println!("\n== {} tills come back with {} sales each", plan.fleet, plan.fleet_sales);
    let fleet = Fleet { tills: plan.fleet, sales: plan.fleet_sales, capacity: CAPACITY };
    // A runtime of its own, whose time is simulated.
    let lived = std::thread::spawn(move || fleet::come_back(fleet));
    let back = lived.join().expect("the simulation does not panic")?;
    let count = |count: usize| -> Result<f64> { Ok(f64::from(u32::try_from(count)?)) };
    let (sales, capacity) = (count(plan.fleet * plan.fleet_sales)?, f64::from(CAPACITY));
    let ideal = sales / capacity;
    figures.put("fleet_refused_requests", count(back.refused)?);
    figures.put_ratio("fleet_requests_per_sale", count(back.requests)?, sales, Target::AtMost(1.1));
    figures.put_ratio("fleet_peak_vs_capacity", count(back.busiest_second)?, capacity, Target::AtMost(1.5));
    figures.put("fleet_drained_in_s", back.drained_in.as_secs_f64());
    figures.put_ratio("fleet_drain_vs_ideal", back.drained_in.as_secs_f64(), ideal, Target::AtMost(1.05));
    Ok(())
}
