//! A ticket's COMMIT fails half-way. The till finds out by itself what became of it before anybody is told anything:
//! it is there, it is not there, or it cannot be known, and each of the three is said as what it is.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::time::Duration;

use turno_crash::disk::{Fault, FaultKind, Lasts, Op};
use turno_crash::facts::{self, Ack};
use turno_crash::rebuild::Loss;
use turno_crash::story::{Counter, charge, on_paused_time, seat};
use turno_crash::yupy::Trouble;
use turno_till::view::{ChargeOutcome, PauseSendingRequest, Problem, ProblemCode};

const DRAFT: &str = "7b0d1a52-3c1f-4c57-9d0e-0a6a3f2f9b11";

/// A till that sends nothing, so that every call to the disk is the ticket's.
async fn quiet() -> Counter {
    let counter = Counter::open(9, Trouble::None, None).await.unwrap();
    counter.till.pause_sending(&PauseSendingRequest { paused: true }).await.unwrap();
    counter
}

async fn press(counter: &Counter) -> Result<String, Problem> {
    let pressed = counter.till.charge(&charge(DRAFT, vec![seat("12A")])).await?;
    let ChargeOutcome::Recorded { checkout } = pressed else { panic!("a warning that nobody asked for") };
    let id = checkout.sales[0].external_transaction_id.clone();
    counter.tell(Ack::Sale { external_transaction_id: id.clone() });
    Ok(id)
}

/// Writes that a ticket's commit makes: the log's frames, the last of which makes it one.
async fn writes_of_a_ticket() -> u64 {
    let counter = quiet().await;
    let before = counter.watch.disk.position();
    press(&counter).await.unwrap();
    let ops = &counter.watch.disk.log()[before..];
    let writes = ops.iter().filter(|op| matches!(op, Op::Write { .. })).count();
    counter.till.close().await;
    u64::try_from(writes).unwrap()
}

#[test]
fn a_ticket_that_is_there_after_its_commit_failed_is_answered_as_recorded_and_is_on_the_medium() {
    on_paused_time(async {
        let counter = quiet().await;
        let since = counter.watch.disk.position();
        // The frames are written; only that they reached the medium is not certain.
        counter.watch.disk.fail(Fault { kind: FaultKind::Sync, nth: 1, lasts: Lasts::Once });
        let id = press(&counter).await.unwrap();
        assert_eq!(counter.watch.disk.heal(), 1, "the commit's sync was the one that failed");
        assert!(counter.broken_promises(since).await?.is_empty(), "a power cut would have taken it");
        assert_eq!(press(&counter).await.unwrap(), id, "pressed again, it is the same one");
        counter.till.close().await;
        let state = facts::read(counter.folder.path()).await?;
        assert_eq!((state.sales.len(), state.faults.len()), (1, 0), "{state:?}");
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_ticket_that_is_not_there_after_its_commit_failed_is_refused_and_stays_away() {
    on_paused_time(async {
        for nth in 1..=writes_of_a_ticket().await {
            let counter = quiet().await;
            let since = counter.watch.disk.position();
            counter.watch.disk.fail(Fault { kind: FaultKind::Short, nth, lasts: Lasts::Once });
            let problem = press(&counter).await.unwrap_err();
            assert_eq!(counter.watch.disk.heal(), 1, "write {nth}");
            assert_eq!(problem.code, ProblemCode::DiskFailed, "write {nth}");
            for loss in [Loss::Nothing, Loss::Some, Loss::Everything] {
                let state = counter.after_power_cut(counter.watch.disk.position(), loss).await?;
                assert_eq!(state.sales.len(), 0, "write {nth}, {loss:?}: it came back: {state:?}");
            }
            press(&counter).await.unwrap();
            assert!(counter.broken_promises(since).await?.is_empty(), "write {nth}");
            counter.till.close().await;
            let state = facts::read(counter.folder.path()).await?;
            assert_eq!((state.sales.len(), state.faults.len()), (1, 0), "write {nth}: {state:?}");
            assert!(state.audited.contains("ticket_not_saved"), "write {nth}: {state:?}");
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_ticket_of_which_the_disk_says_nothing_is_unknown_and_the_next_press_makes_it_one() {
    on_paused_time(async {
        for nth in 1..=writes_of_a_ticket().await {
            let counter = quiet().await;
            let since = counter.watch.disk.position();
            counter.watch.disk.fail(Fault { kind: FaultKind::Io, nth, lasts: Lasts::UntilHealed });
            let problem = press(&counter).await.unwrap_err();
            assert!(counter.watch.disk.heal() > 1, "call {nth}: it was looked for as well");
            assert_eq!(problem.code, ProblemCode::OutcomeUnknown, "call {nth}");
            press(&counter).await.unwrap();
            assert!(counter.broken_promises(since).await?.is_empty(), "call {nth}");
            counter.till.close().await;
            let state = facts::read(counter.folder.path()).await?;
            assert_eq!((state.sales.len(), state.faults.len()), (1, 0), "call {nth}: {state:?}");
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_disk_that_recovers_while_the_cashier_waits_leaves_nothing_unknown() {
    on_paused_time(async {
        let mut answered = 0;
        for nth in 1.. {
            let counter = quiet().await;
            let since = counter.watch.disk.position();
            counter.watch.disk.fail(Fault { kind: FaultKind::Io, nth, lasts: Lasts::UntilHealed });
            let mut pressing = std::pin::pin!(press(&counter));
            let at_once = tokio::time::timeout(Duration::from_millis(300), &mut pressing).await;
            let failed = counter.watch.disk.heal();
            let pressed = match at_once {
                Ok(pressed) => pressed,
                Err(_) => pressing.await,
            };
            match pressed {
                Ok(_) => answered += u32::from(failed > 0),
                Err(problem) => assert_eq!(problem.code, ProblemCode::DiskFailed, "call {nth}"),
            }
            assert!(counter.broken_promises(since).await?.is_empty(), "call {nth}");
            counter.till.close().await;
            if failed == 0 {
                break;
            }
        }
        assert!(answered > 0, "a ticket that was on the disk was found there");
        Ok(())
    })
    .unwrap();
}
