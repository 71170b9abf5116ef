//! A database that cannot be read is set aside and a backup takes its place; nothing is deleted, and no number is used
//! twice because of it.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use turno_till::view::{
    EpochReason, ProblemCode, ShiftReportRequest, StorageWarning, VoidProgress, VoidSaleRequest,
};
use turno_till::{Options, Till};

use crate::crash::disk::audited;
use crate::support::{MANAGER_PIN, MORNING, unlock};
use crate::world::{Folder, World, all_accepted, killed_after};

/// Two sales in the backup and two since, of which the last has not been sent; the folder is closed.
struct Shop {
    world: World,
    path: PathBuf,
    since: String,
    unsent: String,
}

async fn closed_shop() -> Shop {
    let world = World::new();
    let folder = world.new_till().await;
    folder.sell().await;
    folder.sell().await;
    folder.until_settled().await;
    folder.till.back_up().await.unwrap();
    let since = folder.sell().await;
    folder.until_settled().await;
    folder.wire.cut();
    let unsent = folder.sell().await;
    journaled(&folder.path, 4).await;
    let path = folder.close().await;
    Shop { world, path, since, unsent }
}

/// Waits until the journal, which nobody waits for at the counter, has come so far.
async fn journaled(path: &Path, sequence: i64) {
    while turno_till::journal::last_sequence(&path.join("journal")) < Some(sequence) {
        tokio::task::yield_now().await;
    }
}

impl Shop {
    async fn reopen(&self) -> Folder {
        self.world.open("data", &self.world.home, MORNING + 120_000).await
    }

    fn backups(&self) -> Vec<PathBuf> {
        turno_till::backup::all(&self.path.join("backups"))
    }
}

fn spoil(file: &Path) {
    let mut bytes = fs::read(file).unwrap();
    bytes[4_096..].fill(0xAB);
    fs::write(file, bytes).unwrap();
}

/// The till of a restored backup: it has what the backup had, and sells under numbers that were never used.
async fn check_restored(shop: &Shop, context: &str) {
    let folder = shop.reopen().await;
    assert_eq!(folder.reason().await, Some(EpochReason::BackupRestored), "{context}");
    let sales = folder.until_settled().await;
    assert_eq!(sales.len(), 4, "two from the backup and two from the journal: {context}");
    assert!(all_accepted(&sales), "{context}: {sales:#?}");
    assert_eq!(folder.new_epoch().await.unwrap().recovered_count, 2, "{context}");
    let sent = folder.wire.sales();
    assert_eq!(sent.len(), 1, "only what YUPY did not have: {context}");
    assert!(String::from_utf8_lossy(sent[0].body.as_ref().unwrap()).contains(&shop.unsent), "{context}");
    unlock(&folder.till).await;
    assert_ne!(folder.sell().await, shop.since, "{context}");
    assert!(all_accepted(&folder.until_settled().await), "{context}");
    folder.close().await;
    let events = audited(&shop.path);
    assert_eq!(events.get("backup_restored"), Some(&1), "{context}");
    assert_eq!(events.get("sale_recovered"), Some(&2), "{context}");
}

#[tokio::test(start_paused = true)]
async fn a_damaged_database_is_set_aside_whole_and_the_newest_backup_opens() {
    for damage in ["spoilt pages", "not a database", "cut short", "emptied"] {
        let shop = closed_shop().await;
        let database = shop.path.join("till.db");
        match damage {
            "spoilt pages" => spoil(&database),
            "emptied" => fs::write(&database, "").unwrap(),
            "not a database" => fs::write(&database, "x".repeat(9_000)).unwrap(),
            _ => fs::write(&database, &fs::read(&database).unwrap()[..12_288]).unwrap(),
        }
        // A log that does not belong to what takes the database's place.
        fs::write(shop.path.join("till.db-wal"), "an old log").unwrap();
        check_restored(&shop, damage).await;
        let aside: Vec<_> = fs::read_dir(shop.path.join("damaged")).unwrap().collect();
        let aside = aside[0].as_ref().unwrap().path();
        assert!(aside.join("till.db").exists() && aside.join("till.db-wal").exists(), "{damage}: {aside:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn of_several_backups_the_newest_that_is_whole_is_taken() {
    let shop = closed_shop().await;
    let newest = shop.path.join("backups/till-20261201T000000Z.db");
    fs::copy(shop.backups().last().unwrap(), &newest).unwrap();
    spoil(&newest);
    spoil(&shop.path.join("till.db"));
    check_restored(&shop, "an older one").await;
    assert!(newest.exists(), "nothing is deleted");
}

#[tokio::test(start_paused = true)]
async fn a_start_that_was_killed_while_it_restored_is_finished_by_the_next() {
    for killed in ["while the backup was copied", "with the log moved", "with all moved"] {
        let shop = closed_shop().await;
        let aside = shop.path.join("damaged/20261130T150000Z");
        fs::create_dir_all(&aside).unwrap();
        let database = shop.path.join("till.db");
        spoil(&database);
        fs::write(shop.path.join("till.restored"), "half").unwrap();
        if killed != "while the backup was copied" {
            fs::write(aside.join("till.db-wal"), "a log").unwrap();
        }
        if killed == "with all moved" {
            fs::rename(&database, aside.join("till.db")).unwrap();
        }
        check_restored(&shop, killed).await;
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_backup_a_damaged_database_is_left_for_support_as_it_is() {
    let shop = closed_shop().await;
    fs::remove_dir_all(shop.path.join("backups")).unwrap();
    let database = shop.path.join("till.db");
    spoil(&database);
    let before = fs::read(&database).unwrap();
    let options = Options::new(shop.path.clone(), shop.world.home.secrets.clone());
    let Err(problem) = Till::open(options).await else { panic!("opened") };
    assert_eq!(problem.code, ProblemCode::DatabaseDamaged);
    assert_eq!(fs::read(&database).unwrap(), before);
    assert!(!shop.path.join("damaged").exists());
}

/// The till is killed while the journal is played back, and opened again.
#[tokio::test(start_paused = true)]
async fn a_journal_that_was_half_played_back_is_played_to_its_end() {
    for steps in 0..8 {
        let shop = closed_shop().await;
        spoil(&shop.path.join("till.db"));
        let dying = shop.world.open("data", &shop.world.home, MORNING + 110_000);
        killed_after(steps, dying).await;
        let folder = shop.reopen().await;
        let sales = folder.until_settled().await;
        assert!(sales.len() == 4 && all_accepted(&sales), "{steps}: {sales:#?}");
        unlock(&folder.till).await;
        assert!(![&shop.since, &shop.unsent].contains(&&folder.sell().await), "{steps}");
        assert!(all_accepted(&folder.until_settled().await), "{steps}");
    }
}

impl Folder {
    async fn void(&self, id: &str) -> Result<(), ProblemCode> {
        let shown = self.till.sale_detail(id).await.unwrap();
        let request = VoidSaleRequest {
            external_transaction_id: id.to_owned(),
            shown_returned_minor: shown.void_offer.returned.minor,
            manager_id: "m".to_owned(),
            pin: MANAGER_PIN.to_owned(),
            reason: "viaje cancelado".to_owned(),
        };
        self.till.void_sale(&request).await.map_err(|problem| problem.code)
    }

    async fn until_voided(&self, id: &str) {
        while self.till.sale_detail(id).await.unwrap().void.unwrap().progress != VoidProgress::Confirmed {
            self.clock.forward(1_000);
            self.till.send_now().await.unwrap();
        }
    }

    async fn cash_expected(&self) -> i64 {
        let open = ShiftReportRequest { shift_id: None };
        self.till.shift_report(&open).await.unwrap().drawer.expected.minor
    }
}

/// Waits until the journal has so many voids.
async fn voids_journaled(path: &Path, count: usize) {
    while turno_till::journal::voids(&path.join("journal")).count() < count {
        tokio::task::yield_now().await;
    }
}

/// Of a sale that the backup has and of one that it has not; known to YUPY and not.
#[tokio::test(start_paused = true)]
async fn money_that_was_given_back_after_the_backup_is_not_given_back_again() {
    for steps in (0..16).chain([u32::MAX]) {
        let world = World::new();
        let folder = world.new_till().await;
        let before = folder.sell().await;
        folder.until_settled().await;
        folder.till.back_up().await.unwrap();
        folder.void(&before).await.unwrap();
        folder.until_voided(&before).await;
        let since = folder.sell().await;
        folder.until_settled().await;
        folder.wire.cut();
        let unsent = folder.sell().await;
        folder.void(&unsent).await.unwrap();
        folder.void(&since).await.unwrap();
        let cash = folder.cash_expected().await;
        voids_journaled(&folder.path, 3).await;
        let path = folder.close().await;
        spoil(&path.join("till.db"));
        killed_after(steps, world.open("data", &world.home, MORNING + 110_000)).await;
        let folder = world.open("data", &world.home, MORNING + 120_000).await;
        unlock(&folder.till).await;
        assert_eq!(folder.cash_expected().await, cash, "{steps}: the drawer is what it was");
        for id in [&before, &since, &unsent] {
            assert_eq!(folder.void(id).await, Err(ProblemCode::AlreadyVoided), "{steps}");
            folder.until_voided(id).await;
            assert_eq!(world.books.voids.lock().unwrap()[id].len(), 1, "{steps}: one operation at YUPY");
        }
        folder.close().await;
        assert_eq!(audited(&path).get("void_recovered"), Some(&3), "{steps}");
    }
}

/// A line of the journal as a medium may bring it: whole by its checksum, and of people whom nobody knows.
fn without_people(line: &str) -> String {
    let (_, json) = line.split_once(' ').unwrap();
    let mut line: serde_json::Value = serde_json::from_str(json).unwrap();
    line["void"]["people"] = serde_json::json!([]);
    line["void"]["approved_by"] = "nobody".into();
    let json = line.to_string();
    let check: String = Sha256::digest(&json).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("{check} {json}")
}

#[tokio::test(start_paused = true)]
async fn a_void_that_cannot_be_put_back_stops_neither_the_start_nor_the_next_void() {
    let world = World::new();
    let folder = world.new_till().await;
    let (first, second) = (folder.sell().await, folder.sell().await);
    folder.until_settled().await;
    folder.till.back_up().await.unwrap();
    folder.void(&first).await.unwrap();
    folder.void(&second).await.unwrap();
    voids_journaled(&folder.path, 2).await;
    let path = folder.close().await;
    let file = fs::read_dir(path.join("journal")).unwrap().map(|file| file.unwrap().path()).max().unwrap();
    let lines = fs::read_to_string(&file).unwrap();
    let damaged = lines
        .lines()
        .map(|line| if line.contains(&first) { without_people(line) } else { line.to_owned() })
        .collect::<Vec<_>>();
    for (lines, recovered) in [(damaged.join("\n") + "\n", 1), (lines, 2)] {
        fs::write(&file, lines).unwrap();
        spoil(&path.join("till.db"));
        let folder = world.open("data", &world.home, MORNING + 120_000).await;
        unlock(&folder.till).await;
        folder.until_voided(&second).await;
        let is_voided = folder.till.sale_detail(&first).await.unwrap().void.is_some();
        assert_eq!(is_voided, recovered == 2, "it is looked for again at each start");
        folder.close().await;
        assert_eq!(audited(&path).get("void_recovered"), Some(&recovered));
    }
}

/// A restored till numbers its audit anew, below what the journal has seen.
#[tokio::test(start_paused = true)]
async fn what_is_voided_after_a_restore_is_in_the_journal_as_well() {
    let world = World::new();
    let folder = world.new_till().await;
    let first = folder.sell().await;
    let second = folder.sell().await;
    folder.until_settled().await;
    folder.till.back_up().await.unwrap();
    for _ in 0..5 {
        folder.sell().await;
    }
    folder.void(&first).await.unwrap();
    voids_journaled(&folder.path, 1).await;
    let path = folder.close().await;
    // Five sales are lost with the journal's medium, but for the line of the void.
    for file in fs::read_dir(path.join("journal")).unwrap() {
        let file = file.unwrap().path();
        let lines = fs::read_to_string(&file).unwrap();
        let voids: Vec<&str> = lines.lines().filter(|line| line.contains("\"void\"")).collect();
        fs::write(&file, voids.join("\n") + "\n").unwrap();
    }
    spoil(&path.join("till.db"));
    let folder = world.open("data", &world.home, MORNING + 120_000).await;
    unlock(&folder.till).await;
    folder.void(&second).await.unwrap();
    voids_journaled(&folder.path, 2).await;
    let path = folder.close().await;
    let folder = world.open("data", &world.home, MORNING + 180_000).await;
    assert_eq!(turno_till::journal::voids(&path.join("journal")).count(), 2, "and once is enough");
    folder.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_journal_that_cannot_be_written_stops_no_sale_and_is_shown_until_it_has_caught_up() {
    let world = World::new();
    let folder = world.new_till().await;
    journaled(&folder.path, 0).await;
    let journal = folder.path.join("journal");
    folder.close().await;
    fs::remove_dir_all(&journal).unwrap();
    fs::write(&journal, "the medium is gone").unwrap();
    let folder = world.open("data", &world.home, MORNING + 60_000).await;
    unlock(&folder.till).await;
    folder.sell().await;
    let warnings = || async { folder.till.status().await.unwrap().unwrap().storage_warnings };
    while warnings().await != [StorageWarning::JournalFailed] {
        tokio::task::yield_now().await;
    }
    fs::remove_file(&journal).unwrap();
    folder.sell().await;
    while !warnings().await.is_empty() {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    }
    journaled(&folder.path, 2).await;
    assert_eq!(turno_till::journal::tickets_behind(&journal, 0).count(), 2, "also what was sold meanwhile");
}

#[tokio::test(start_paused = true)]
async fn a_copy_is_made_by_itself_once_a_day_and_one_that_fails_is_shown() {
    let world = World::new();
    let folder = world.new_till().await;
    let copies = || turno_till::backup::all(&folder.path.join("backups")).len();
    let hour = || async {
        folder.clock.forward(60 * 60 * 1_000);
        tokio::time::sleep(std::time::Duration::from_secs(60 * 60)).await;
    };
    hour().await;
    assert_eq!(copies(), 1, "the first at once");
    for _ in 0..22 {
        hour().await;
    }
    assert_eq!(copies(), 1);
    hour().await;
    hour().await;
    assert_eq!(copies(), 2);

    let warnings = || async { folder.till.status().await.unwrap().unwrap().storage_warnings };
    assert_eq!(warnings().await, []);
    fs::remove_dir_all(folder.path.join("backups")).unwrap();
    fs::write(folder.path.join("backups"), "no folder").unwrap();
    folder.till.back_up().await.unwrap_err();
    assert_eq!(warnings().await, [StorageWarning::BackupFailed]);
    fs::remove_file(folder.path.join("backups")).unwrap();
    folder.till.back_up().await.unwrap();
    assert_eq!(warnings().await, []);
}
