//! The disk fails at the n-th call of an act, for every n. Either the act was done and is durable, or it says that it
//! was not or that it is not known; afterwards nothing is missing that anybody was told, and the same press again does
//! it exactly once.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use turno_crash::disk::{Fault, FaultKind, Lasts, Watch};
use turno_crash::facts::{self, Ack};
use turno_crash::rebuild::Loss;
use turno_crash::story::{Counter, charge, fare, luggage, on_paused_time, seat};
use turno_crash::yupy::Trouble;
use turno_till::backup;
use turno_till::view::{ChargeOutcome, Problem, ProblemCode, SaleState, SaleSummary};

const DRAFT: &str = "7b0d1a52-3c1f-4c57-9d0e-0a6a3f2f9b11";
/// More calls than any act makes; a loop that gets here does not end.
const CALLS_LIMIT: u64 = 2_000;
/// How long the disk stays broken for an act that goes on by itself, in seconds of the till.
const BROKEN_FOR: usize = 30;

/// Whether the program goes on after the fault or is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    GoOn,
    Restart,
}

/// Calls `act` with one kind of fault until it is not reached any more; `act` says whether it was.
async fn at_every(kind: FaultKind, lasts: Lasts, then: Then, act: &mut impl AsyncFnMut(Fault, Then) -> bool) {
    let mut nth = 1;
    while act(Fault { kind, nth, lasts }, then).await {
        nth += 1;
        assert!(nth < CALLS_LIMIT, "{kind:?}: the act never ends");
    }
    assert!(nth > 1, "{kind:?}: no call of the act was met");
}

/// Ways to fail, with what happens then.
const WAYS: [(FaultKind, Lasts, Then); 8] = [
    (FaultKind::Io, Lasts::Once, Then::GoOn),
    (FaultKind::Io, Lasts::Once, Then::Restart),
    (FaultKind::Io, Lasts::UntilHealed, Then::GoOn),
    (FaultKind::Full, Lasts::Once, Then::Restart),
    (FaultKind::Full, Lasts::UntilHealed, Then::GoOn),
    (FaultKind::Short, Lasts::Once, Then::Restart),
    (FaultKind::Sync, Lasts::Once, Then::GoOn),
    (FaultKind::Sync, Lasts::UntilHealed, Then::Restart),
];

/// Calls `act` with a fault of every way, at every call.
async fn at_every_call(mut act: impl AsyncFnMut(Fault, Then) -> bool) {
    for (kind, lasts, then) in WAYS {
        at_every(kind, lasts, then, &mut act).await;
    }
}

async fn press(counter: &Counter) -> Result<Vec<String>, Problem> {
    let pressed = counter.till.charge(&charge(DRAFT, vec![seat("12A"), luggage(), fare(2)])).await?;
    let ChargeOutcome::Recorded { checkout } = pressed else { panic!("a warning that nobody asked for") };
    let ids: Vec<_> = checkout.sales.into_iter().map(|sale| sale.external_transaction_id).collect();
    for id in &ids {
        counter.tell(Ack::Sale { external_transaction_id: id.clone() });
    }
    Ok(ids)
}

/// Ends the program and finds the folder whole, with every promise kept.
async fn check_whole(counter: Counter, since: usize, sales: usize, context: &str) {
    counter.till.close().await;
    let broken = counter.broken_promises(since).await.unwrap_or_else(|error| panic!("{context}: {error:#}"));
    assert!(broken.is_empty(), "{context}: told and not durable: {broken:?}");
    assert_eq!(counter.yupy.broken(), Vec::<String>::new(), "{context}");
    let state = facts::read(counter.folder.path()).await.unwrap();
    assert_eq!(state.faults, Vec::<String>::new(), "{context}");
    assert_eq!(state.sales.len(), sales, "{context}");
}

#[test]
fn a_sale_on_a_failing_disk_is_recorded_or_not_and_a_second_press_records_it_once() {
    on_paused_time(async {
        at_every_call(async |fault, then| {
            let mut counter = Counter::open(1, Trouble::None, None).await.unwrap();
            let since = counter.watch.disk.position();
            counter.watch.disk.fail(fault);
            let pressed = press(&counter).await;
            let struck = counter.watch.disk.heal() > 0;
            let context = format!("{fault:?}, {then:?}: {pressed:?}");
            if let Err(problem) = &pressed {
                assert!(struck, "{context}");
                let undone = [ProblemCode::DiskFull, ProblemCode::DiskFailed, ProblemCode::Internal];
                let said_undone = undone.contains(&problem.code);
                assert!(said_undone || problem.code == ProblemCode::OutcomeUnknown, "{context}");
                let killed = counter.watch.disk.position();
                let state = counter.after_power_cut(killed, Loss::Nothing).await.unwrap();
                assert!(!said_undone || state.sales.is_empty(), "said to be undone: {context}");
                if fault.kind == FaultKind::Full {
                    assert_eq!(problem.code, ProblemCode::DiskFull, "the cause is named: {context}");
                }
            }
            if then == Then::Restart {
                counter.restart().await.unwrap();
            }
            let again = press(&counter).await.unwrap();
            assert_eq!(again.len(), 3, "{context}");
            if let Ok(ids) = &pressed {
                assert_eq!(&again, ids, "{context}");
            }
            counter.rest(400).await.unwrap();
            let sales = counter.sales().await.unwrap();
            assert_eq!(sales.len(), 3, "{context}");
            assert!(sales.iter().all(|sale| sale.state == SaleState::Accepted), "{context}: {sales:?}");
            assert_eq!(counter.yupy.accepted(), 3, "{context}");
            check_whole(counter, since, 3, &context).await;
            struck
        })
        .await;
        Ok(())
    })
    .unwrap();
}

#[test]
fn sending_on_a_failing_disk_starts_no_request_that_is_not_on_it_and_settles_every_sale_once() {
    on_paused_time(async {
        at_every_call(async |fault, then| {
            let mut counter = Counter::open(2, Trouble::None, None).await.unwrap();
            press(&counter).await.unwrap();
            let since = counter.watch.disk.position();
            counter.watch.disk.fail(fault);
            // The calls from here on are the claim's and the settling's.
            let _ = counter.rest(BROKEN_FOR).await;
            let struck = counter.watch.disk.heal() > 0;
            let context = format!("{fault:?}, {then:?}");
            if then == Then::Restart {
                counter.restart().await.unwrap();
            }
            counter.rest(400).await.unwrap();
            let sales = counter.sales().await.unwrap();
            assert!(sales.iter().all(|sale| sale.state == SaleState::Accepted), "{context}: {sales:?}");
            assert_eq!(counter.yupy.accepted(), 3, "{context}");
            check_whole(counter, since, 3, &context).await;
            struck
        })
        .await;
        Ok(())
    })
    .unwrap();
}

#[test]
fn what_a_failed_sync_left_is_made_certain_before_anybody_is_told_of_it() {
    on_paused_time(async {
        let mut act = async |fault: Fault, then: Then| {
            let mut counter = Counter::open(3, Trouble::None, None).await.unwrap();
            // With the set-up written back, what is in the log is all that it can take back.
            counter.restart().await.unwrap();
            let since = counter.watch.disk.position();
            counter.watch.disk.fail(fault);
            let pressed = press(&counter).await;
            let struck = counter.watch.disk.heal() > 0;
            if then == Then::Restart {
                counter.restart().await.unwrap();
            }
            press(&counter).await.unwrap();
            counter.rest(400).await.unwrap();
            counter.till.close().await;
            let told = counter.told();
            for position in since..=counter.watch.disk.position() {
                for loss in [Loss::Everything, Loss::Some, Loss::Torn] {
                    let context =
                        format!("{fault:?}, {then:?}: {pressed:?}, power cut at {position}, {loss:?}");
                    let state = counter.after_power_cut(position, loss).await;
                    let state = state.unwrap_or_else(|error| panic!("{context}: {error:#}"));
                    assert_eq!(state.faults, Vec::<String>::new(), "{context}");
                    let due = told.iter().filter(|told| told.position <= position);
                    let missing: Vec<_> = due.filter(|told| !state.has(&told.ack)).collect();
                    assert!(missing.is_empty(), "{context}: {missing:?}");
                }
            }
            struck
        };
        for lasts in [Lasts::Once, Lasts::UntilHealed] {
            for then in [Then::GoOn, Then::Restart] {
                at_every(FaultKind::Sync, lasts, then, &mut act).await;
            }
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_decision_on_a_failing_disk_stands_or_is_asked_for_again() {
    on_paused_time(async {
        at_every_call(async |fault, then| {
            let mut counter = Counter::open(4, Trouble::Questions, None).await.unwrap();
            counter.till.charge(&charge(DRAFT, vec![seat("12A")])).await.unwrap();
            counter.rest(400).await.unwrap();
            assert_eq!(counter.till.reviews().await.unwrap().len(), 1);
            let since = counter.watch.disk.position();
            counter.watch.disk.fail(fault);
            let decided = counter.decide().await;
            let struck = counter.watch.disk.heal() > 0;
            let context = format!("{fault:?}, {then:?}: {decided:?}");
            assert!(decided.is_ok() || struck, "{context}");
            if then == Then::Restart {
                counter.restart().await.unwrap();
            }
            // A PIN that was right is not held against anybody because the disk failed.
            counter.decide().await.unwrap_or_else(|problem| panic!("{context}: {problem:?}"));
            counter.rest(400).await.unwrap();
            let sales = counter.sales().await.unwrap();
            let settled = |state| matches!(state, SaleState::Accepted | SaleState::Discarded);
            assert!(sales.iter().all(|sale| settled(sale.state)), "{context}: {sales:?}");
            let accepted = sales.iter().filter(|sale| sale.state == SaleState::Accepted).count();
            assert_eq!(counter.yupy.accepted(), accepted, "{context}");
            check_whole(counter, since, 1, &context).await;
            struck
        })
        .await;
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_start_on_a_failing_disk_is_refused_or_whole_and_the_next_one_is_the_same_till() {
    on_paused_time(async {
        at_every_call(async |fault, then| {
            let mut counter = Counter::open(5, Trouble::None, None).await.unwrap();
            counter.till.back_up().await.unwrap();
            press(&counter).await.unwrap();
            counter.rest(400).await.unwrap();
            counter.till.close().await;
            let since = counter.watch.disk.position();
            counter.watch.disk.fail(fault);
            let started = counter.start().await;
            let struck = counter.watch.disk.heal() > 0;
            let context = format!("{fault:?}, {then:?}: {started:?}");
            assert!(started.is_ok() || struck, "{context}");
            if started.is_err() || then == Then::Restart {
                counter.till.close().await;
                counter.start().await.unwrap_or_else(|problem| panic!("{context}: {problem:?}"));
            }
            counter.unlock().await.unwrap();
            assert_eq!(press(&counter).await.unwrap().len(), 3, "{context}");
            counter.rest(400).await.unwrap();
            let sales = counter.sales().await.unwrap();
            assert_eq!(sales.len(), 3, "{context}");
            let next = charge(&counter.till.open_draft().draft_id, vec![fare(1)]);
            let next = counter.till.charge(&next).await.unwrap();
            let ChargeOutcome::Recorded { checkout } = next else { panic!("{context}: {next:?}") };
            // A database that cannot be read at all has a backup take its place, and that takes a new epoch.
            if fault.lasts == Lasts::Once {
                assert_eq!(series(&checkout.sales[0]), series(&sales[0]), "an epoch was spent: {context}");
            }
            counter.rest(400).await.unwrap();
            check_whole(counter, since, 4, &context).await;
            struck
        })
        .await;
        Ok(())
    })
    .unwrap();
}

/// Device, epoch and shift of a sale's id.
fn series(sale: &SaleSummary) -> Option<&str> {
    sale.external_transaction_id.rsplit_once('-').map(|(series, _)| series)
}

#[test]
fn a_backup_on_a_failing_disk_is_whole_or_has_no_name_and_the_older_ones_stay() {
    on_paused_time(async {
        at_every_call(async |fault, _| {
            let counter = Counter::open(6, Trouble::None, None).await.unwrap();
            counter.till.back_up().await.unwrap();
            press(&counter).await.unwrap();
            counter.rest(400).await.unwrap();
            counter.clock.forward(1_000);
            let backups = counter.folder.path().join(backup::FOLDER);
            let copies = Watch::over(&backups, None);
            let since = counter.watch.disk.position();
            // Where it is written, and where it is read.
            copies.disk.fail(fault);
            counter.watch.disk.fail(fault);
            let made = counter.till.back_up().await;
            let struck = copies.disk.heal() + counter.watch.disk.heal() > 0;
            let context = format!("{fault:?}: {made:?}");
            assert!(made.is_ok() || struck, "{context}");
            let found = backup::all(&backups);
            assert_eq!(found.len(), 1 + usize::from(made.is_ok()), "{context}: {found:?}");
            for copy in &found {
                assert_eq!(backup::fault(copy).unwrap(), None, "{context}: {}", copy.display());
            }
            counter.till.back_up().await.unwrap();
            check_whole(counter, since, 3, &context).await;
            struck
        })
        .await;
        Ok(())
    })
    .unwrap();
}
