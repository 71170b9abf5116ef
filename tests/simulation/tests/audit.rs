//! A till's audit against what the server keeps of it: what the chain alone cannot show, a tail that was cut off and a
//! folder that was put back, shows against the heads that came with the sales.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::time::Duration;

use anyhow::{Result, ensure};
use jiff::SignedDuration;
use turno_server::World;
use turno_server::till_audit::TillAuditError;
use turno_simulation::actor::Actor;
use turno_simulation::chance::Chance;
use turno_simulation::faults::Weather;
use turno_simulation::net::Net;
use turno_simulation::server::Server;
use turno_simulation::time::{SimClock, pass};
use turno_simulation::trace::Trace;
use turno_till::Till;
use turno_till::view::{Approval, Charge, ExportAuditRequest, Line, LookAlikePolicy, Tender};

async fn sell(till: &Till, quantity: u32) {
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
    till.charge(&charge).await.unwrap();
    while !till.pending(None).await.unwrap().items.is_empty() {
        pass(Duration::from_secs(1)).await;
    }
}

async fn story(folder: &std::path::Path) -> Result<()> {
    let (chance, trace) = (Chance::new(1), Trace::begin());
    let world = World::new(SimClock::right(), chance.branch());
    let life = SignedDuration::from_hours(24);
    let server = Server::start(folder.join("yupy.db"), world, life, 1, None).await?;
    let net = Net::new(server.clone(), Weather::fair(), None, trace.clone());
    let place = folder.join("till");
    let mut actor = Actor::new(0, place, net, server.clone(), chance.branch(), trace, None)?;
    actor.set_up().await?;
    let till = actor.till()?;
    for quantity in 1..=3 {
        sell(till, quantity).await;
    }
    let path = folder.join("audit.jsonl").display().to_string();
    let approval = Approval { manager_id: "m".to_owned(), pin: "271828".to_owned() };
    let exported = till.export_audit(&ExportAuditRequest { path: path.clone(), approval }).await.unwrap();
    let file = std::fs::read_to_string(&path)?;
    let agreed = server.verify_till_audit("D01", file.as_bytes()).await?;
    ensure!(agreed.kept == 3 && i64::try_from(agreed.head.rows)? == exported.rows, "{agreed:?}");

    // Each place at which the tail can be cut before the last sale that was sent.
    let lines: Vec<&str> = file.lines().collect();
    let mut seen = 0;
    for left in 0..lines.len() {
        let cut: String = lines[..left].iter().flat_map(|line| [*line, "\n"]).collect();
        match server.verify_till_audit("D01", cut.as_bytes()).await {
            Err(TillAuditError::Missing { row, .. }) => {
                ensure!(row > left as u64, "{row} is in the {left} that are left");
                seen += 1;
            }
            Ok(agreed) => ensure!(agreed.head.rows == left as u64 && agreed.kept == 3),
            Err(other) => return Err(other.into()),
        }
    }
    // What was written after the last sale left is kept by nobody yet.
    ensure!(seen + 4 >= lines.len(), "{seen} of {}", lines.len());

    let altered = file.replacen("dos", "tres", 1).replacen("pin_refused", "x", 1);
    let altered = altered.replacen("shift_opened", "shift_closed", 1);
    let broken = server.verify_till_audit("D01", altered.as_bytes()).await;
    ensure!(matches!(broken, Err(TillAuditError::Broken(_))), "{broken:?}");
    let foreign = server.verify_till_audit("D01", b"{}\n").await;
    ensure!(matches!(foreign, Err(TillAuditError::NoRow(1))), "{foreign:?}");
    Ok(())
}

#[test]
fn a_tail_that_was_cut_off_shows_against_the_heads_that_came_with_the_sales() {
    let folder = tempfile::tempdir().unwrap();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(story(folder.path())).unwrap();
}
