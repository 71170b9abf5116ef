//! A data folder that was copied, restored or carried to another machine never sells under numbers that another
//! folder uses, and what it had not sent yet is sent once.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use turno_till::Till;
use turno_till::machine::Machine;
use turno_till::view::{
    ConnectRequest, CreateManagerRequest, EpochReason, PastShiftsRequest, Phase, ProblemCode, SaleReason,
    SaleState, UnlockRequest,
};

use crate::books::Wire;
use crate::crash::disk::audited;
use crate::shift::exact;
use crate::support::{CASHIER_PIN, HandClock, MANAGER_PIN, MORNING, unlock};
use crate::world::{Folder, Place, World, all_accepted, killed_after};

/// Both folders sell on, offline at first; in the end every sale of either is at YUPY once.
async fn both_sell_and_nothing_is_lost_or_doubled(world: &World, one: &Folder, other: &Folder) {
    for folder in [one, other] {
        unlock(&folder.till).await;
        folder.wire.cut();
    }
    let mut new = BTreeSet::new();
    for _ in 0..3 {
        for folder in [one, other] {
            assert!(new.insert(folder.sell().await), "two sales share an id");
        }
    }
    for folder in [one, other] {
        folder.wire.join();
        folder.till.send_now().await.unwrap();
        let sales = folder.until_settled().await;
        assert!(all_accepted(&sales), "{sales:#?}");
        let status = folder.till.status().await.unwrap().unwrap();
        assert_eq!(status.identity_collision_count, 0);
    }
    let mut ours = BTreeSet::new();
    for folder in [one, other] {
        ours.extend(folder.sales().await.into_iter().map(|sale| sale.external_transaction_id));
    }
    let theirs: BTreeSet<String> = world.books.sales.lock().unwrap().keys().cloned().collect();
    assert_eq!(ours, theirs, "every sale is there once, and no other");
    assert!(new.is_subset(&theirs));
}

#[tokio::test(start_paused = true)]
async fn a_folder_that_was_only_closed_killed_or_moved_keeps_its_epoch() {
    let world = World::new();
    let mut folder = world.new_till().await;
    let first = folder.sell().await;
    for step in 0..4 {
        let path = folder.close().await;
        if step == 2 {
            fs::rename(&path, world.path("moved")).unwrap();
        }
        let name = if step < 2 { "data" } else { "moved" };
        folder = world.open(name, &world.home, MORNING + 60_000).await;
        unlock(&folder.till).await;
        let next = folder.sell().await;
        assert_eq!(next[..8], first[..8], "{next} {first}");
        assert_eq!(folder.new_epoch().await, None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_copy_of_a_folder_that_is_in_use_sells_under_an_epoch_of_its_own() {
    let world = World::new();
    let original = world.new_till().await;
    original.wire.cut();
    for _ in 0..3 {
        original.sell().await;
    }
    world.copy(&original.path, "copy");
    let copy = world.open("copy", &world.home, MORNING + 7).await;
    assert_eq!(copy.reason().await, Some(EpochReason::FolderCopied));
    assert_eq!(original.new_epoch().await, None);
    both_sell_and_nothing_is_lost_or_doubled(&world, &original, &copy).await;
}

#[tokio::test(start_paused = true)]
async fn of_a_folder_and_its_copy_the_one_that_is_opened_second_gets_the_epoch() {
    let world = World::new();
    let original = world.new_till().await;
    original.sell().await;
    let path = original.close().await;
    world.copy(&path, "copy");
    // Nobody can tell which is which, and it does not matter.
    let copy = world.open("copy", &world.home, MORNING + 60_007).await;
    assert_eq!(copy.reason().await, None);
    let path_of_copy = copy.close().await;
    let original = world.open("data", &world.home, MORNING + 60_000).await;
    assert_eq!(original.reason().await, Some(EpochReason::WentBack));
    assert!(path_of_copy.exists());
    let copy = world.open("copy", &world.home, MORNING + 60_007).await;
    assert_eq!(copy.reason().await, None, "it is the only one of its name now");
    both_sell_and_nothing_is_lost_or_doubled(&world, &original, &copy).await;
}

#[tokio::test(start_paused = true)]
async fn a_whole_home_on_another_machine_is_another_till() {
    let world = World::new();
    let original = world.new_till().await;
    original.wire.cut();
    original.sell().await;
    world.copy(&original.path, "clone");
    let clone = Place { machine: Machine::named("clone"), secrets: world.copy_state("clone-state") };
    let clone = world.open("clone", &clone, MORNING + 7).await;
    assert_eq!(clone.reason().await, Some(EpochReason::OtherMachine));
    both_sell_and_nothing_is_lost_or_doubled(&world, &original, &clone).await;
}

#[tokio::test(start_paused = true)]
async fn a_file_that_is_put_back_sells_under_a_new_epoch_also_within_one_run() {
    let world = World::new();
    let folder = world.new_till().await;
    folder.sell().await;
    folder.until_settled().await;
    let path = folder.close().await;
    for since in ["the same run", "another run"] {
        // What was sold after the copy is at YUPY, and nothing here knows of it.
        let folder = world.open("data", &world.home, MORNING + 60_000).await;
        if since == "the same run" {
            world.copy(&path, since);
        }
        unlock(&folder.till).await;
        let lost = folder.sell().await;
        folder.until_settled().await;
        if since == "another run" {
            folder.close().await;
            world.open("data", &world.home, MORNING + 70_000).await.close().await;
        } else {
            folder.close().await;
        }
        fs::remove_dir_all(&path).unwrap();
        world.copy(&world.path("the same run"), "data");
        let folder = world.open("data", &world.home, MORNING + 120_000).await;
        assert_eq!(folder.reason().await, Some(EpochReason::WentBack), "{since}");
        unlock(&folder.till).await;
        let next = folder.sell().await;
        assert_ne!(next, lost, "{since}");
        assert!(all_accepted(&folder.until_settled().await), "{since}");
        folder.close().await;
        fs::remove_dir_all(world.path("the same run")).unwrap();
        world.copy(&path, "the same run");
    }
}

#[tokio::test(start_paused = true)]
async fn a_shift_that_is_closed_again_in_an_older_state_has_a_report_of_another_number() {
    let world = World::new();
    let folder = world.new_till().await;
    // Nothing but the closing happens after the copy: no number of a sale or a shift tells the two states apart.
    world.copy(&folder.path, "before");
    let closed = async |folder: &Folder| {
        folder.till.close_shift(&exact(&folder.till, "S1").await).await.unwrap();
        let past = folder.till.past_shifts(&PastShiftsRequest { before: None }).await.unwrap();
        past.items[0].z_id.clone().unwrap()
    };
    let first = closed(&folder).await;
    let path = folder.close().await;
    fs::remove_dir_all(&path).unwrap();
    world.copy(&world.path("before"), "data");
    let older = world.open("data", &world.home, MORNING + 60_000).await;
    assert_eq!(older.reason().await, Some(EpochReason::WentBack));
    unlock(&older.till).await;
    let again = closed(&older).await;
    assert_ne!(again, first);
    assert!(first.ends_with("-1") && again.ends_with("-1"), "the letters differ: {first} {again}");
}

#[tokio::test(start_paused = true)]
async fn a_sale_of_before_is_looked_up_and_not_sent_again_if_it_is_there() {
    let world = World::new();
    let folder = world.new_till().await;
    folder.wire.cut();
    let (arrived, waits) = (folder.sell().await, folder.sell().await);
    let path = folder.close().await;
    world.copy(&path, "older");
    // Here the first one is sent; the older state of the folder knows nothing of it.
    world.books.sales.lock().unwrap().insert(arrived.clone(), body_of(&path, &arrived));
    let elsewhere = Place { machine: Machine::named("new"), secrets: world.copy_state("state") };
    let older = world.open("older", &elsewhere, MORNING + 60_000).await;
    assert!(older.new_epoch().await.unwrap().to_look_up_count <= 2);
    let sales = older.until_settled().await;
    assert!(all_accepted(&sales), "{sales:#?}");
    let sent: Vec<_> = older.wire.sales().iter().map(|request| request.body.clone().unwrap()).collect();
    assert_eq!(sent.len(), 1, "only the one that was not there");
    assert_eq!(
        serde_json::from_slice::<serde_json::Value>(&sent[0]).unwrap()["external_transaction_id"],
        waits.as_str()
    );
    let events = {
        older.till.close().await;
        audited(&older.path)
    };
    assert_eq!(events.get("identity_guard_fired"), Some(&1));
}

/// A manager answered YUPY's question, and then the folder was put back to before that.
#[tokio::test(start_paused = true)]
async fn what_was_decided_in_a_later_state_is_looked_up_and_not_asked_again() {
    let world = World::new();
    let folder = world.new_till().await;
    world.books.asks_once.store(true, Ordering::SeqCst);
    let id = folder.sell().await;
    let sales = folder.until_settled().await;
    assert_eq!(sales[0].state, SaleState::InReview);
    let path = folder.close().await;
    world.copy(&path, "older");
    world.books.sales.lock().unwrap().insert(id.clone(), body_of(&path, &id));
    let elsewhere = Place { machine: Machine::named("new"), secrets: world.copy_state("state") };
    let older = world.open("older", &elsewhere, MORNING + 60_000).await;
    assert_eq!(older.till.reviews().await.unwrap(), [], "nobody decides about what may be decided");
    let sales = older.until_settled().await;
    assert!(all_accepted(&sales), "{sales:#?}");
}

/// What a till has frozen for a sale.
fn body_of(folder: &Path, external_transaction_id: &str) -> serde_json::Value {
    let file = rusqlite::Connection::open(folder.join("till.db")).unwrap();
    let body: Vec<u8> = file
        .query_row(
            "SELECT body FROM requests JOIN sales USING (sequence) WHERE external_transaction_id = ?1",
            [external_transaction_id],
            |row| row.get(0),
        )
        .unwrap();
    serde_json::from_slice(&body).unwrap()
}

/// Nothing on either machine shows that there is another one: the image was made with its machine id.
#[tokio::test(start_paused = true)]
async fn of_two_perfect_clones_the_first_answer_that_shows_the_other_changes_the_epoch() {
    let world = World::new();
    let original = world.new_till().await;
    world.copy(&original.path, "clone");
    let twin = Place { machine: world.home.machine.clone(), secrets: world.copy_state("twin-state") };
    let clone = world.open("clone", &twin, MORNING + 7).await;
    assert_eq!(clone.reason().await, None);
    unlock(&clone.till).await;
    clone.wire.cut();
    let (mine, same) = (original.sell().await, clone.sell().await);
    assert_eq!(mine, same, "nobody could know");
    original.until_settled().await;
    clone.wire.join();
    clone.till.send_now().await.unwrap();
    let sales = clone.until_settled().await;
    assert_eq!(
        (sales[0].state, sales[0].reason),
        (SaleState::NeedsAttention, Some(SaleReason::IdentityCollision))
    );
    assert_eq!(clone.reason().await, Some(EpochReason::IdentityCollision));
    assert_eq!(clone.till.status().await.unwrap().unwrap().identity_collision_count, 1);
    for _ in 0..3 {
        assert_ne!(original.sell().await, clone.sell().await);
    }
    assert!(all_accepted(&original.until_settled().await));
    assert!(all_accepted(&clone.until_settled().await[..3]));
}

#[tokio::test(start_paused = true)]
async fn many_collisions_of_one_epoch_cost_one_epoch() {
    let world = World::new();
    let original = world.new_till().await;
    world.copy(&original.path, "clone");
    let twin = Place { machine: world.home.machine.clone(), secrets: world.copy_state("twin-state") };
    let clone = world.open("clone", &twin, MORNING + 7).await;
    unlock(&clone.till).await;
    clone.wire.cut();
    clone.wire.loses_a_reply.store(true, Ordering::SeqCst);
    for _ in 0..5 {
        original.sell().await;
        clone.sell().await;
    }
    original.until_settled().await;
    clone.wire.join();
    clone.till.send_now().await.unwrap();
    let sales = clone.until_settled().await;
    assert!(sales.iter().all(|sale| sale.state == SaleState::NeedsAttention), "{sales:#?}");
    clone.till.close().await;
    assert_eq!(audited(&clone.path).get("identity_guard_fired"), Some(&1));
}

#[tokio::test(start_paused = true)]
async fn without_what_is_kept_outside_the_folder_is_a_copy_whose_pins_are_lost() {
    let world = World::new();
    let folder = world.new_till().await;
    folder.sell().await;
    folder.until_settled().await;
    folder.close().await;
    fs::remove_dir_all(&world.home.secrets).unwrap();
    let again = world.open("data", &world.home, MORNING + 60_000).await;
    assert_eq!(again.reason().await, Some(EpochReason::WitnessMissing));
    let Phase::Reconnect { address } = again.till.phase().await.unwrap() else { panic!("as if nothing was") };
    let manager = || CreateManagerRequest { name: "Encargado".to_owned(), pin: MANAGER_PIN.to_owned() };
    let stranger = again.till.create_manager(&manager()).await.unwrap_err();
    assert_eq!(stranger.code, ProblemCode::NotAllowedNow, "whoever has a copy is not its manager");
    let pin = UnlockRequest { person_id: "c".to_owned(), pin: CASHIER_PIN.to_owned() };
    assert_eq!(again.till.unlock(&pin).await.unwrap_err().code, ProblemCode::PinWrong);

    let connect = ConnectRequest { address, enrolment_code: "C".to_owned() };
    again.till.connect(&connect).await.unwrap();
    assert_eq!(again.till.phase().await.unwrap(), Phase::FirstManager);
    again.till.create_manager(&manager()).await.unwrap();
    let Phase::Locked { people, .. } = again.till.phase().await.unwrap() else { panic!("not locked") };
    assert_eq!(people.len(), 1, "nobody is offered who cannot unlock");
    let pin = UnlockRequest { person_id: people[0].person_id.clone(), pin: MANAGER_PIN.to_owned() };
    again.till.unlock(&pin).await.unwrap();
    again.sell().await;
    let sales = again.until_settled().await;
    assert!(all_accepted(&sales) && sales.len() == 2, "{sales:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_copy_is_connected_again_to_its_own_company_and_to_no_other() {
    let world = World::new();
    let folder = world.new_till().await;
    folder.close().await;
    fs::remove_dir_all(&world.home.secrets).unwrap();
    let again = world.open("data", &world.home, MORNING + 60_000).await;
    let connect =
        ConnectRequest { address: "http://yupy.test".to_owned(), enrolment_code: "OTHER".to_owned() };
    assert_eq!(again.till.connect(&connect).await.unwrap_err().code, ProblemCode::EnrolmentRefused);
    assert!(again.till.needs_connection());
}

/// The program is killed while the guard is at work, behind every write there is, and opened again.
#[tokio::test(start_paused = true)]
async fn a_kill_between_any_two_steps_of_a_start_costs_at_most_an_epoch_and_never_a_number() {
    for is_copy in [false, true] {
        for steps in 0..9 {
            let world = World::new();
            let original = world.new_till().await;
            original.wire.cut();
            let mut ids = BTreeSet::from([original.sell().await]);
            world.copy(&original.path, "copy");
            let name = if is_copy { "copy" } else { "data" };
            if !is_copy {
                original.till.close().await;
            }
            let (wire, clock) = (Wire::to(&world.books), Arc::new(HandClock::at(MORNING + 60_007)));
            let options = world.options(&world.path(name), &world.home, &wire, &clock);
            let died = killed_after(steps, Till::open(options)).await;
            let again = world.open(name, &world.home, MORNING + 120_007).await;
            unlock(&again.till).await;
            assert!(ids.insert(again.sell().await), "after {steps} steps");
            if is_copy {
                assert!(ids.insert(original.sell().await), "after {steps} steps");
            } else if died {
                assert_eq!(again.new_epoch().await, None, "a crash is no copy (after {steps} steps)");
            }
            again.until_settled().await;
        }
    }
}
