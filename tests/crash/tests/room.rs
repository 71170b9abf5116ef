//! SQLite finds no room at the n-th write, for every n: the reserve is given up, and what was sold reaches YUPY all the
//! same, though nobody frees a byte.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use turno_crash::disk::{self, Fault, FaultKind, Lasts};
use turno_crash::facts;
use turno_crash::story::{Counter, charge, fare, luggage, on_paused_time, seat};
use turno_crash::yupy::Trouble;
use turno_till::room::{Disk, LOW_BYTES, RESERVE_BYTES};
use turno_till::view::{ProblemCode, SaleState, StorageWarning};

const DRAFT: &str = "7b0d1a52-3c1f-4c57-9d0e-0a6a3f2f9b11";
/// More writes than a ticket and its way to YUPY make.
const WRITES_LIMIT: u64 = 500;

/// A disk that says that it has room (a quota that `statvfs` does not know), and on which SQLite finds some again once
/// the reserve is given up.
struct Quota {
    watched: Arc<disk::Disk>,
    holds: AtomicBool,
    given_up: AtomicU32,
}

impl Disk for Quota {
    fn free(&self, _folder: &Path) -> io::Result<u64> {
        Ok(if self.holds.load(Ordering::SeqCst) { LOW_BYTES } else { RESERVE_BYTES + LOW_BYTES })
    }

    fn size(&self, _file: &Path) -> u64 {
        if self.holds.load(Ordering::SeqCst) { RESERVE_BYTES } else { 0 }
    }

    fn allocate(&self, _file: &Path, _bytes: u64) -> io::Result<()> {
        Ok(())
    }

    fn release(&self, _file: &Path) -> io::Result<()> {
        self.holds.store(false, Ordering::SeqCst);
        self.given_up.fetch_add(1, Ordering::SeqCst);
        self.watched.heal();
        Ok(())
    }
}

#[test]
fn whatever_write_finds_the_disk_full_the_reserve_lets_the_queue_drain_and_settle() {
    on_paused_time(async {
        let mut met = 0;
        for nth in 1.. {
            assert!(nth < WRITES_LIMIT, "the fault is met for ever");
            let mut quota = None;
            let counter = Counter::bare_on(7, Trouble::None, None, |watched| {
                let (holds, given_up) = (AtomicBool::new(true), AtomicU32::new(0));
                let made = Arc::new(Quota { watched: Arc::clone(watched), holds, given_up });
                quota = Some(Arc::clone(&made));
                made
            })
            .await?;
            let quota = quota.unwrap();
            counter.set_up().await?;
            counter.watch.disk.fail(Fault { kind: FaultKind::Full, nth, lasts: Lasts::UntilHealed });
            let ticket = charge(DRAFT, vec![seat("12A"), luggage(), fare(2)]);
            let pressed = counter.till.charge(&ticket).await;
            counter.rest(400).await?;
            let gave_up = quota.given_up.load(Ordering::SeqCst);
            counter.watch.disk.heal();
            if gave_up == 0 {
                pressed.unwrap();
                break;
            }
            met += 1;
            let sales = counter.sales().await?;
            let settled = sales.iter().all(|sale| sale.state == SaleState::Accepted);
            assert!(settled, "write {nth}: what was sold was sent: {sales:?}");
            assert_eq!(counter.yupy.accepted(), sales.len(), "write {nth}");
            match pressed {
                Ok(_) => assert_eq!(sales.len(), 3, "write {nth}"),
                Err(problem) => {
                    assert_eq!((problem.code, sales.len()), (ProblemCode::DiskFull, 0), "write {nth}");
                }
            }
            let next = counter.till.charge(&charge(&counter.till.open_draft().draft_id, vec![fare(1)])).await;
            assert_eq!(next.unwrap_err().code, ProblemCode::DiskFull, "write {nth}: no ticket is begun");
            let status = counter.till.status().await.unwrap().unwrap();
            assert_eq!(status.storage_warnings, [StorageWarning::DiskLow], "write {nth}");
            counter.till.close().await;
            let state = facts::read(counter.folder.path()).await?;
            assert_eq!(state.faults, Vec::<String>::new(), "write {nth}");
        }
        assert!(met > 10, "only {met} writes were met");
        Ok(())
    })
    .unwrap();
}
