//! Unsent sales that travel in a file, two real tills, and the real server behind a bad network: both send, at once, and
//! each sale is one transaction.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use jiff::SignedDuration;
use turno_server::World;
use turno_simulation::actor::Actor;
use turno_simulation::chance::Chance;
use turno_simulation::faults::Weather;
use turno_simulation::net::{Cut, Net};
use turno_simulation::server::Server;
use turno_simulation::time::SimClock;
use turno_simulation::trace::Trace;
use turno_till::Till;
use turno_till::view::{
    Charge, ChargeOutcome, ExportUnsentRequest, ImportUnsentRequest, Line, LookAlikePolicy, Tender,
};

const PASSPHRASE: &str = "tres buses azules";
const SALES: u32 = 6;
/// Each is another order of lost requests, lost replies and delays.
const SEEDS: u64 = 12;
/// Seconds of the tills that a healed network may take.
const ROUNDS: usize = 600;

async fn sell(till: &Till, quantity: u32) -> String {
    let line = Line {
        offer_id: "fare:U7-adulto".to_owned(),
        seat: None,
        quantity,
        buyer_name: None,
        shown_price_minor: 200,
        discount: None,
    };
    let charge = Charge {
        draft_id: till.open_draft().draft_id,
        lines: vec![line],
        tenders: vec![Tender::Cash { received: None }],
        look_alikes: LookAlikePolicy::SellAnyway,
        approval: None,
    };
    let ChargeOutcome::Recorded { checkout } = till.charge(&charge).await.unwrap() else {
        panic!("a warning that nobody asked for")
    };
    checkout.sales[0].external_transaction_id.clone()
}

/// Nothing waits any more.
async fn drained(till: &Till) -> bool {
    let mut changes = till.changes();
    for _ in 0..ROUNDS {
        if till.pending(None).await.unwrap().items.is_empty() {
            return true;
        }
        let _ = tokio::time::timeout(Duration::from_secs(1), changes.changed()).await;
    }
    false
}

async fn both_send(seed: u64, folder: &Path) -> Result<()> {
    let (chance, trace) = (Chance::new(seed), Trace::begin());
    let world = World::new(SimClock::right(), chance.branch());
    let server =
        Server::start(folder.join("yupy.db"), world, SignedDuration::from_hours(24), 2, None).await?;
    let net = Net::new(server.clone(), Weather::draw(&chance), None, trace.clone());
    let mut actors = Vec::new();
    for number in 0..2 {
        let place = folder.join(format!("till-{number}"));
        let (net, server, trace) = (net.clone(), server.clone(), trace.clone());
        let mut actor = Actor::new(number, place, net, server, chance.branch(), trace, None)?;
        actor.set_up().await?;
        actors.push(actor);
    }
    let (first, second) = (actors[0].till()?, actors[1].till()?);
    net.cut(0, Cut::NoNetwork);
    let mut ids = BTreeSet::new();
    for quantity in 1..=SALES {
        ids.insert(sell(first, quantity).await);
    }
    let path = folder.join("stick.ventas").display().to_string();
    let passphrase = PASSPHRASE.to_owned();
    let export = ExportUnsentRequest { path: path.clone(), passphrase: passphrase.clone() };
    let exported = first.export_unsent(&export).await.unwrap();
    let imported = second.import_unsent(&ImportUnsentRequest { path, passphrase }).await.unwrap();
    ensure!(exported.sales_count == SALES && imported.imported_count == SALES, "{exported:?} {imported:?}");
    // From here on both are at it, on a line that loses requests and replies.
    net.join(0);
    let (_one, _other) = tokio::join!(first.send_now(), second.send_now());
    net.heal();
    ensure!(drained(first).await && drained(second).await, "something still waits");
    let listed = server.list("/v1/transactions?device_id=D01").await?;
    let at_yupy: Vec<_> = listed.iter().filter_map(|sale| sale["external_transaction_id"].as_str()).collect();
    ensure!(at_yupy.len() == ids.len(), "doubled or lost: {at_yupy:?}");
    ensure!(at_yupy.iter().all(|id| ids.contains(*id)), "not ours: {at_yupy:?}");
    ensure!(net.keys_with_two_bodies().is_empty() && net.bodies_with_two_keys().is_empty());
    ensure!(server.list("/v1/transactions?device_id=D02").await?.is_empty(), "a sale is its own till's");
    Ok(())
}

#[test]
fn two_tills_that_send_the_same_file_at_once_make_one_transaction_of_each_sale() {
    for seed in 1..=SEEDS {
        let folder = tempfile::tempdir().unwrap();
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let done = runtime.block_on(both_send(seed, folder.path()));
        done.unwrap_or_else(|error| panic!("seed {seed}: {error:#}"));
    }
}
