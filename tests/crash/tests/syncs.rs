//! What durability costs: syncs, counted.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use turno_crash::disk::Op;
use turno_crash::story::{Counter, charge, fare, luggage, on_paused_time, seat};
use turno_crash::yupy::Trouble;
use turno_till::view::PauseSendingRequest;

const SALES: usize = 60;
/// After so many sales the log is written back to the file, as in a quiet moment; the next sale begins it anew.
const QUIET_EVERY: usize = 20;

#[test]
fn a_recorded_sale_is_one_sync_and_nothing_else_is_synced() {
    on_paused_time(async {
        let counter = Counter::open(1, Trouble::None, None).await?;
        counter.till.pause_sending(&PauseSendingRequest { paused: true }).await.unwrap();
        let disk = &counter.watch.disk;
        let mut begun_anew = 0;
        for number in 0..SALES {
            if number % QUIET_EVERY == 0 {
                counter.checkpoint("PASSIVE")?;
            }
            let lines = match number % 3 {
                0 => vec![fare(1)],
                1 => vec![seat("7B")],
                _ => vec![seat("12A"), seat("12B"), luggage(), fare(3)],
            };
            let draft = counter.till.open_draft().draft_id;
            let before = disk.position();
            counter.till.charge(&charge(&draft, lines)).await.unwrap();
            let ops = &disk.log()[before..];
            let syncs = ops.iter().filter(|op| matches!(op, Op::Sync { .. })).count();
            // A log that begins anew has a new header, which is certain before anything stands behind it.
            let header = ops.iter().filter(|op| matches!(op, Op::Write { at: 0, .. })).count();
            assert_eq!(syncs, 1 + header, "sale {number}");
            begun_anew += header;
        }
        assert_eq!(begun_anew, SALES / QUIET_EVERY, "no other sale pays for the log");
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_sale_on_its_way_to_yupy_is_three_syncs() {
    on_paused_time(async {
        let counter = Counter::open(1, Trouble::None, None).await?;
        for _ in 0..10 {
            let draft = counter.till.open_draft().draft_id;
            let before = counter.watch.disk.position();
            counter.till.charge(&charge(&draft, vec![seat("12A")])).await.unwrap();
            counter.rest(100).await?;
            assert_eq!(counter.watch.disk.syncs_since(before), 3, "recorded, claimed, settled");
        }
        Ok(())
    })
    .unwrap();
}
