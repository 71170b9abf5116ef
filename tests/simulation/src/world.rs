//! One world from one seed: a server, some tills, bad weather, then healing and the checks.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use jiff::SignedDuration;
use tempfile::TempDir;
use tokio::task::JoinSet;
use turno_server::World as ServerWorld;

use crate::actor::Actor;
use crate::chance::Chance;
use crate::checks::{self, Totals};
use crate::faults::Weather;
use crate::net::Net;
use crate::sabotage::Sabotage;
use crate::server::Server;
use crate::time::SimClock;
use crate::trace::Trace;

/// What a world came to.
#[derive(Debug)]
pub struct Outcome {
    pub seed: u64,
    pub violation: Option<String>,
    pub totals: Totals,
    pub faults: BTreeMap<String, u64>,
    pub digest: String,
    pub story: String,
}

/// Runs a world on this thread. The same seed gives the same story.
pub fn run(seed: u64) -> Outcome {
    run_with(seed, None)
}

/// Runs a world in which something is done wrong on purpose.
pub fn run_with(seed: u64, sabotage: Option<Sabotage>) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without I/O needs nothing from the system");
    runtime.block_on(async {
        let trace = Trace::begin();
        let mut faults = BTreeMap::new();
        let lived = live(seed, sabotage, &trace, &mut faults).await;
        let (totals, violation) = match lived {
            Ok(totals) => (totals, None),
            Err(error) => (Totals::default(), Some(format!("{error:#}"))),
        };
        Outcome { seed, violation, totals, faults, digest: trace.digest(), story: trace.text() }
    })
}

/// Real files where nothing waits for a disk: what is tested here is the order of things, not the medium.
pub(crate) fn folder() -> Result<TempDir> {
    let memory = std::path::Path::new("/dev/shm");
    let folder = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() };
    folder.context("a folder for the world")
}

async fn live(
    seed: u64,
    sabotage: Option<Sabotage>,
    trace: &Trace,
    faults: &mut BTreeMap<String, u64>,
) -> Result<Totals> {
    let folder = folder()?;
    let chance = Chance::new(seed);
    let world = ServerWorld::new(SimClock::right(), chance.branch());
    let token_life = *chance.pick(&[
        SignedDuration::from_secs(20),
        SignedDuration::from_mins(5),
        SignedDuration::from_hours(24),
    ]);
    let count = usize::try_from(chance.between(1..=3)).context("a few")?;
    let server = Server::start(folder.path().join("yupy.db"), world, token_life, count, sabotage).await?;
    let net = Net::new(server.clone(), Weather::draw(&chance), sabotage, trace.clone());
    let mut hours = JoinSet::new();
    for number in 0..count {
        let mut actor = Actor::new(
            number,
            folder.path().join(format!("till-{number}")),
            net.clone(),
            server.clone(),
            chance.branch(),
            trace.clone(),
            sabotage,
        )?;
        let (acts, is_copied) = (chance.between(6..=24), chance.per_mille(100));
        if is_copied {
            net.expect_copies();
        }
        hours.spawn(async move {
            actor.set_up().await?;
            for _ in 0..acts / 2 {
                actor.act().await?;
            }
            let mut folders = vec![actor];
            if is_copied {
                let twin = folders[0].twin().await?;
                folders.push(twin);
            }
            for _ in acts / 2..acts {
                for actor in &mut folders {
                    actor.act().await?;
                }
            }
            anyhow::Ok(folders)
        });
    }
    let mut actors = Vec::new();
    while let Some(worked) = hours.join_next().await {
        actors.extend(worked.context("an actor's task")??);
    }
    actors.sort_by_key(|actor| actor.number);
    *faults = net.faults();
    net.heal();
    trace.say("healed");
    for actor in &mut actors {
        actor.wind_down().await?;
    }
    checks::all(&actors, &server, &net).await
}
