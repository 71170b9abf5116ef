//! Letters that the till takes by itself: YUPY is told of them, and says whose they are.

use std::sync::atomic::Ordering;

use rusqlite::Connection;
use turno_till::store::FILE_NAME;
use turno_till::view::EpochReason;

use crate::support::{MORNING, unlock};
use crate::world::{Folder, World, all_accepted};

/// A folder that was copied and takes letters of its own; its shift is open.
async fn copied(world: &World) -> Folder {
    let first = world.new_till().await;
    first.sell().await;
    first.until_settled().await;
    world.copy(&first.path, "copy");
    let copy = world.open("copy", &world.home, MORNING + 500).await;
    assert_eq!(copy.reason().await, Some(EpochReason::FolderCopied));
    unlock(&copy.till).await;
    copy
}

/// Epochs with whether YUPY knows them, the oldest first.
fn epochs(folder: &Folder) -> Vec<(String, bool)> {
    let conn = Connection::open(folder.path.join(FILE_NAME)).unwrap();
    let mut statement =
        conn.prepare("SELECT epoch, registered_at_ms IS NOT NULL FROM epochs ORDER BY epoch_number").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

fn collisions(folder: &Folder) -> u32 {
    let conn = Connection::open(folder.path.join(FILE_NAME)).unwrap();
    let count = "SELECT count(*) FROM audit WHERE event = 'identity_collision'";
    conn.query_row(count, [], |row| row.get(0)).unwrap()
}

/// Waits until YUPY knows the newest epoch.
async fn until_known(folder: &Folder) -> Vec<(String, bool)> {
    let mut changes = folder.till.changes();
    for _ in 0..100 {
        let epochs = epochs(folder);
        if epochs.last().unwrap().1 {
            return epochs;
        }
        let _ = tokio::time::timeout(std::time::Duration::from_secs(1), changes.changed()).await;
        folder.clock.forward(1_000);
    }
    panic!("YUPY was never told: {:?}", epochs(folder));
}

fn told(folder: &Folder) -> usize {
    let sent = folder.wire.sent.lock().unwrap();
    sent.iter().filter(|request| request.path == "/v1/devices/epochs").count()
}

#[tokio::test(start_paused = true)]
async fn letters_that_the_guard_took_are_told_to_yupy_at_the_first_contact_and_once() {
    let world = World::new();
    let copy = copied(&world).await;
    let known = until_known(&copy).await;
    assert_eq!(known.len(), 2);
    assert_eq!(told(&copy), 1);
    copy.sell().await;
    copy.until_settled().await;
    assert_eq!((told(&copy), epochs(&copy).len()), (1, 2), "a till that is known has nothing to tell");
}

#[tokio::test(start_paused = true)]
async fn letters_of_somebody_else_are_left_before_a_sale_bears_them() {
    let world = World::new();
    world.books.taken_epochs.store(2, Ordering::SeqCst);
    let copy = copied(&world).await;
    let known = until_known(&copy).await;
    assert_eq!(known.len(), 4, "two were taken, the third is ours: {known:?}");
    let id = copy.sell().await;
    assert!(id.contains(&format!("-{}-", known[3].0)), "{id}");
    assert_eq!(collisions(&copy), 0, "nobody has to be alarmed");
}

#[tokio::test(start_paused = true)]
async fn letters_that_sales_bear_already_are_left_audited_and_the_sales_looked_up_first() {
    let world = World::new();
    world.books.taken_epochs.store(1, Ordering::SeqCst);
    let first = world.new_till().await;
    world.copy(&first.path, "copy");
    let copy = world.open("copy", &world.home, MORNING + 500).await;
    copy.wire.cut();
    unlock(&copy.till).await;
    let id = copy.sell().await;
    copy.wire.join();
    copy.till.send_now().await.unwrap();
    assert!(all_accepted(&copy.until_settled().await));
    let known = until_known(&copy).await;
    assert_eq!((known.len(), collisions(&copy)), (3, 1), "{known:?}");
    assert_eq!(copy.sales().await[0].external_transaction_id, id, "what was sold keeps its number");
    assert_eq!(copy.reason().await, Some(EpochReason::IdentityCollision), "and people are told");
}

#[tokio::test(start_paused = true)]
async fn a_yupy_that_takes_every_letter_is_not_asked_for_ever() {
    let world = World::new();
    world.books.taken_epochs.store(u32::MAX, Ordering::SeqCst);
    let copy = copied(&world).await;
    for _ in 0..200 {
        copy.clock.forward(10_000);
        tokio::time::sleep(std::time::Duration::from_secs(10)).await;
    }
    assert!((1..20).contains(&told(&copy)), "{}", told(&copy));
    copy.sell().await;
    assert!(all_accepted(&copy.until_settled().await));
}
