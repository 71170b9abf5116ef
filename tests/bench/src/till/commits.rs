//! What a commit costs, counted by the disk that is watched and timed beside a bare sync of the same disk.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use turno_crash::story::{Counter, charge, on_paused_time, seat};
use turno_crash::yupy::Trouble;
use turno_till::view::PauseSendingRequest;

use super::Plan;
use super::shop::told_no;
use crate::figures::{Figures, Target};

/// One page of the database.
const PAGE: [u8; 4096] = [7; 4096];

/// How often the medium is asked to make something certain while sales are recorded.
pub fn syncs(plan: Plan, figures: &mut Figures) -> Result<()> {
    println!("\n== one sale, one sync");
    let sales = plan.recorded;
    // A runtime of its own, whose time does not pass.
    let counted = std::thread::spawn(move || on_paused_time(count(sales)));
    let syncs = counted.join().expect("counting does not panic")?;
    figures.put_ratio("fsyncs_per_sale", syncs, f64::from(sales), Target::Exactly(1.0));
    Ok(())
}

async fn count(sales: u32) -> Result<f64> {
    let counter = Counter::open(1, Trouble::None, None).await?;
    counter.till.pause_sending(&PauseSendingRequest { paused: true }).await.map_err(told_no)?;
    let before = counter.watch.disk.position();
    for number in 0..sales {
        let line = seat(&format!("{}A", 1 + number % 24));
        let draft_id = counter.till.open_draft().draft_id;
        counter.till.charge(&charge(&draft_id, vec![line])).await.map_err(told_no)?;
    }
    let syncs = counter.watch.disk.syncs_since(before);
    counter.till.close().await;
    Ok(f64::from(u32::try_from(syncs)?))
}

/// A file beside the till's.
pub struct Bare(File);

impl Bare {
    pub fn beside(folder: &Path) -> Result<Self> {
        Ok(Self(File::create(folder.join("bare")).context("a file beside the till's")?))
    }

    /// Appends a page and makes it certain; in how many microseconds.
    pub fn sync(&mut self) -> Result<f64> {
        let started = Instant::now();
        self.0.write_all(&PAGE)?;
        self.0.sync_data()?;
        Ok(started.elapsed().as_secs_f64() * 1_000_000.0)
    }
}
