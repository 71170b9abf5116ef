//! What is measured on SQLite.

use std::{ops::Range, path::PathBuf, sync::Arc, time::Instant};

use anyhow::Result;
use tempfile::TempDir;

use crate::{
    Plan,
    figures::{Figures, Target, median},
    history, load,
    load::Requests,
    sale::{self, Kind, Numbers},
    side::Running,
};

/// As the contract's figures have it.
pub const CONNECTIONS: usize = 64;

/// A handful of tills at once: what one of them waits is the server's work and not the queue before it.
pub const FEW: usize = 4;

/// More tills than there are places in line for sales from earlier.
const FLEET: usize = 512;

/// The small history that the large one is compared to.
pub const SMALL_HISTORY: u64 = 10_000;

/// Equal urban fares within the window of look-alikes: a fleet's ten minutes at a busy hour.
pub const EQUAL_FARES: u64 = 20_000;

pub async fn measure(plan: Plan, figures: &mut Figures) -> Result<()> {
    let folder = tempfile::tempdir()?;
    creations(plan, figures, &folder).await?;
    histories(plan, figures, &folder).await?;
    equal_fares(plan, figures, &folder).await?;
    returning_fleet(plan, figures, &folder).await
}

fn file(folder: &TempDir, name: &str) -> PathBuf {
    folder.path().join(name)
}

/// Each time it is called, the next sale.
pub fn first_ones(kind: Kind, numbers: &Arc<Numbers>) -> Requests {
    let numbers = Arc::clone(numbers);
    Arc::new(move |text| sale::write(text, kind, numbers.next()))
}

/// Sales that are there already, one after the other.
pub fn known_ones(kind: Kind, numbers: Range<u64>) -> Requests {
    let (count, from) = (Numbers::default(), numbers.start);
    let length = numbers.end.saturating_sub(from).max(1);
    Arc::new(move |text| sale::write(text, kind, from + count.next() % length))
}

async fn creations(plan: Plan, figures: &mut Figures, folder: &TempDir) -> Result<()> {
    println!("\n== SQLite: creations at {CONNECTIONS} connections");
    let grouped = Running::sqlite(&file(folder, "grouped.db"))?;
    let one_by_one = Running::sqlite_one_by_one(&file(folder, "one-by-one.db"))?;
    let bare = Running::bare(&file(folder, "bare.db"))?;
    let numbers = Arc::new(Numbers::default());
    let (mut rates, mut alone, mut least, mut again) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for turn in 0..plan.turns {
        let (new, from) = (|| first_ones(Kind::Ticket, &numbers), numbers.count());
        rates.push(load::run(grouped.address, CONNECTIONS, plan.turn(), 201, new()).await?.per_second);
        let known = known_ones(Kind::Ticket, from..numbers.count());
        alone.push(load::run(one_by_one.address, CONNECTIONS, plan.turn(), 201, new()).await?.per_second);
        least.push(load::run(bare.address, CONNECTIONS, plan.turn(), 201, new()).await?.per_second);
        again.push(load::run(grouped.address, CONNECTIONS, plan.turn(), 200, known).await?.per_second);
        println!(
            "  turn {turn}: {:.0} / {:.0} / {:.0} / {:.0}",
            rates[turn], alone[turn], least[turn], again[turn]
        );
    }
    let [rate, alone, least, again] = [rates, alone, least, again].map(median);
    figures.put("sqlite_creations_per_s", rate);
    figures.put("sqlite_creations_one_by_one_per_s", alone);
    figures.put("bare_inserts_per_s", least);
    figures.put("sqlite_replays_per_s", again);
    figures.put_ratio("sqlite_grouped_vs_one_by_one", rate, alone, Target::AtLeast(10.0));
    figures.put_ratio("sqlite_contract_vs_bare", rate, least, Target::AtLeast(0.5));
    figures.put_ratio("sqlite_replay_vs_creation", again, rate, Target::AtLeast(1.5));
    let memory = grouped.peak_memory_mib()?;
    figures.put("sqlite_rss_mib", memory);
    figures.put_ratio("sqlite_rss_vs_limit", memory, 150.0, Target::AtMost(1.0));
    Ok(())
}

async fn histories(plan: Plan, figures: &mut Figures, folder: &TempDir) -> Result<()> {
    println!("\n== SQLite: a creation after {SMALL_HISTORY} and after {} transactions", plan.history);
    let sides = [("small.db", SMALL_HISTORY), ("large.db", plan.history)];
    let mut servers = Vec::new();
    for (name, total) in sides {
        let file = file(folder, name);
        // The first start makes the tables.
        drop(Running::sqlite(&file)?);
        let began = Instant::now();
        history::fill_sqlite(&file, total)?;
        println!("  {total} are in after {} s", began.elapsed().as_secs());
        servers.push(Running::sqlite(&file)?);
    }
    let [small, large] = p50s(plan, &servers).await?;
    figures.put("sqlite_creation_p50_us_small_history", small);
    figures.put("sqlite_creation_p50_us_large_history", large);
    figures.put_ratio("sqlite_large_history_vs_small", large, small, Target::AtMost(1.3));
    Ok(())
}

async fn equal_fares(plan: Plan, figures: &mut Figures, folder: &TempDir) -> Result<()> {
    println!("\n== SQLite: a ticket among {EQUAL_FARES} anonymous fares of its price, and among none");
    let servers =
        vec![Running::sqlite(&file(folder, "calm.db"))?, Running::sqlite(&file(folder, "busy.db"))?];
    let [calm, busy] = among_fares(plan, &servers).await?;
    figures.put("sqlite_look_alike_p50_us_among_none", calm);
    figures.put("sqlite_look_alike_p50_us_among_equal_fares", busy);
    figures.put_ratio("sqlite_equal_fares_vs_none", busy, calm, Target::AtMost(1.3));
    Ok(())
}

/// People at tills, alone and while a fleet sends last week's sales: they are never refused, and wait no longer than
/// the fleet's half of the line takes.
async fn returning_fleet(plan: Plan, figures: &mut Figures, folder: &TempDir) -> Result<()> {
    println!("\n== SQLite: {FEW} tills, alone and while {FLEET} others come back");
    let server = Running::sqlite(&file(folder, "fleet.db"))?;
    let numbers = Arc::new(Numbers::default());
    let (mut alone, mut beside, mut fleet) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..plan.turns {
        let new = || first_ones(Kind::Ticket, &numbers);
        alone.push(load::run(server.address, FEW, plan.turn(), 201, new()).await?.p50_micros());
        let late = first_ones(Kind::LateTicket, &numbers);
        let (tills, others) = tokio::join!(
            load::run(server.address, FEW, plan.turn(), 201, new()),
            load::run_with(server.address, FLEET, plan.turn(), vec![201, 503], late),
        );
        beside.push(tills?.p50_micros());
        fleet.push(others?.per_second);
    }
    let [alone, beside, fleet] = [alone, beside, fleet].map(median);
    figures.put("sqlite_till_p50_us_alone", alone);
    figures.put("sqlite_till_p50_us_beside_a_fleet", beside);
    figures.put("sqlite_fleet_answers_per_s", fleet);
    Ok(())
}

/// What a creation takes on each of two servers, in turns.
pub async fn p50s(plan: Plan, servers: &[Running]) -> Result<[f64; 2]> {
    p50s_of(plan, servers, Kind::Ticket, &Arc::new(Numbers::default())).await
}

/// What a ticket takes on two servers of which the second has sold many anonymous fares at its price.
pub async fn among_fares(plan: Plan, servers: &[Running]) -> Result<[f64; 2]> {
    let numbers = Arc::new(Numbers::default());
    let fares = first_ones(Kind::Fare, &numbers);
    load::send_all(servers[1].address, CONNECTIONS, 201, EQUAL_FARES, fares).await?;
    p50s_of(plan, servers, Kind::TicketAtFare, &numbers).await
}

async fn p50s_of(plan: Plan, servers: &[Running], kind: Kind, numbers: &Arc<Numbers>) -> Result<[f64; 2]> {
    let mut found = [Vec::new(), Vec::new()];
    for _ in 0..plan.turns {
        for (server, found) in servers.iter().zip(&mut found) {
            let new = first_ones(kind, numbers);
            found.push(load::run(server.address, FEW, plan.turn(), 201, new).await?.p50_micros());
        }
    }
    Ok(found.map(median))
}
