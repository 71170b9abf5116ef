//! A database that cannot be read is set aside and a backup takes its place; nothing is deleted, and no number is used
//! twice because of it.

use std::fs;
use std::path::{Path, PathBuf};

use turno_till::view::{EpochReason, ProblemCode, StorageWarning};
use turno_till::{Options, Till};

use crate::crash::disk::audited;
use crate::support::{MORNING, unlock};
use crate::world::{Folder, World, all_accepted};

/// Two sales in the backup and one since, all at YUPY; the folder is closed.
struct Shop {
    world: World,
    path: PathBuf,
    since: String,
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
    let path = folder.close().await;
    Shop { world, path, since }
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
    assert_eq!(folder.sales().await.len(), 2, "{context}");
    unlock(&folder.till).await;
    assert_ne!(folder.sell().await, shop.since, "{context}");
    assert!(all_accepted(&folder.until_settled().await), "{context}");
    folder.close().await;
    let events = audited(&shop.path);
    assert_eq!(events.get("backup_restored"), Some(&1), "{context}");
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
