//! The line comes back and many sales wait: how fast they go, beside a bare client at the same server, and what somebody
//! who sells meanwhile feels of it.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tokio::time::{MissedTickBehavior, interval};
use turno_till::relay::PARALLEL;

use super::Plan;
use super::shop::{Place, Shop, told_no};
use crate::figures::{Figures, Target, per_mille};
use crate::load;
use crate::on_sqlite::first_ones;
use crate::sale::{Kind, Numbers};
use crate::side::Running;

/// Between two sales at the counter: no cashier is faster, and the drain has time in between as it has in a shop.
const PACE: Duration = Duration::from_millis(20);
/// The drain is over long before, or it does not end.
const PATIENCE: Duration = Duration::from_secs(600);

pub async fn measure(plan: Plan, figures: &mut Figures, folder: &Path) -> Result<()> {
    println!("\n== {} queued sales, {PARALLEL} at a time, beside a bare client", plan.queued);
    let server = Running::sqlite(&folder.join("yupy.db"))?;
    let place = Place::new(&folder.join("drain"), Some(server.address))?;
    let shop = place.found_and_open().await?;
    let numbers = Arc::new(Numbers::default());
    // Times swing within seconds, so that the sides take turns with a part of it each.
    let turns = u32::try_from(plan.turns)?;
    let part = plan.queued / turns;
    let (mut bare, mut till) = (Duration::ZERO, Duration::ZERO);
    let (mut idle, mut busy) = (Vec::new(), Vec::new());
    for turn in 0..turns {
        let started = Instant::now();
        let sales = first_ones(Kind::LateTicket, &numbers);
        load::send_all(server.address, PARALLEL, 201, part.into(), sales).await?;
        let alone = started.elapsed();
        let drained = drain(&shop, part).await?;
        println!("  turn {turn}: {:.0} / {:.0} a second", rate(part, alone), rate(part, drained));
        (bare, till) = (bare + alone, till + drained);
        idle.extend(sell_at_pace(&shop, |sold| sold < plan.recorded).await?);
        busy.extend(sell_beside_the_drain(&shop, part).await?);
    }
    let (bare, till) = (rate(part * turns, bare), rate(part * turns, till));
    figures.put("bare_client_sales_per_s", bare);
    figures.put("drained_sales_per_s", till);
    figures.put_ratio("drain_vs_bare_client", till, bare, Target::AtLeast(0.8));
    figures.put("sales_recorded_during_the_drain", f64::from(u32::try_from(busy.len())?));
    figures.put("record_p50_us_idle", per_mille(&mut idle, 500));
    figures.put("record_p50_us_during_the_drain", per_mille(&mut busy, 500));
    let (calm, draining) = (per_mille(&mut idle, 990), per_mille(&mut busy, 990));
    figures.put("record_p99_us_idle", calm);
    figures.put("record_p99_us_during_the_drain", draining);
    figures.put_ratio("record_p99_drain_vs_idle", draining, calm, Target::AtMost(2.0));
    let status = shop.till.status().await.map_err(told_no)?.context("the till is set up")?;
    ensure!(status.in_review_count == 0 && status.needs_attention_count == 0, "{status:?}");
    shop.till.close().await;
    Ok(())
}

/// Queues so many sales and lets them go; how long it took until YUPY had taken the last.
async fn drain(shop: &Shop, count: u32) -> Result<Duration> {
    shop.queue(count).await?;
    let started = Instant::now();
    let waiting = shop.waiting().await?;
    let all = shop.taken.expect(waiting.into());
    shop.resume().await?;
    tokio::time::timeout(PATIENCE, all).await.context("the queue does not drain")?;
    let took = started.elapsed();
    shop.pause().await?;
    Ok(took.mul_f64(f64::from(count) / f64::from(waiting)))
}

async fn sell_beside_the_drain(shop: &Shop, count: u32) -> Result<Vec<f64>> {
    shop.queue(count).await?;
    let _all = shop.taken.expect(count.into());
    shop.resume().await?;
    // The end, where fewer are on their way, is left out.
    let most = u64::from(count) * 9 / 10;
    let micros = sell_at_pace(shop, |_| shop.taken.count() < most).await?;
    shop.pause().await?;
    Ok(micros)
}

async fn sell_at_pace(shop: &Shop, goes_on: impl Fn(u32) -> bool) -> Result<Vec<f64>> {
    let mut pace = interval(PACE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut micros = Vec::new();
    while goes_on(u32::try_from(micros.len())?) {
        pace.tick().await;
        micros.push(shop.sell().await?);
    }
    Ok(micros)
}

fn rate(count: u32, took: Duration) -> f64 {
    f64::from(count) / took.as_secs_f64()
}
