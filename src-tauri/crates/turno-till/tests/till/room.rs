//! A disk without room: nothing more is sold before there is some, and everything else goes on.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use turno_till::Till;
use turno_till::backup;
use turno_till::room::{AGAIN_BYTES, Disk, LOW_BYTES, RESERVE_BYTES};
use turno_till::transport::Failure;
use turno_till::view::{ProblemCode, QuoteRequest, SaleState, StorageWarning, Tender};

use crate::support::{Shop, charge, fare, question, recorded, seat, set_up, unlock};

const PLENTY: u64 = 10 * AGAIN_BYTES;

/// So much room, of which the reserve takes its part.
struct SmallDisk {
    room: AtomicU64,
    reserve: AtomicBool,
}

impl SmallDisk {
    fn of(room: u64) -> Arc<Self> {
        Arc::new(Self { room: AtomicU64::new(room), reserve: AtomicBool::new(false) })
    }

    fn becomes(&self, room: u64) {
        self.room.store(room, Ordering::SeqCst);
    }

    fn holds_the_reserve(&self) -> bool {
        self.reserve.load(Ordering::SeqCst)
    }
}

impl Disk for SmallDisk {
    fn free(&self, folder: &Path) -> io::Result<u64> {
        Ok(self.room.load(Ordering::SeqCst).saturating_sub(self.size(folder)))
    }

    fn size(&self, _file: &Path) -> u64 {
        if self.holds_the_reserve() { RESERVE_BYTES } else { 0 }
    }

    fn allocate(&self, _file: &Path, _bytes: u64) -> io::Result<()> {
        self.reserve.store(true, Ordering::SeqCst);
        Ok(())
    }

    fn release(&self, _file: &Path) -> io::Result<()> {
        self.reserve.store(false, Ordering::SeqCst);
        Ok(())
    }
}

async fn shop_on(disk: &Arc<SmallDisk>) -> Shop {
    let disk = Arc::clone(disk);
    let shop = Shop::bare_with(|options| options.disk = disk).await;
    set_up(&shop.till).await;
    shop
}

/// The till looks at its disk now and then.
async fn a_while() {
    tokio::time::sleep(Duration::from_secs(11)).await;
}

async fn warnings(till: &Till) -> Vec<StorageWarning> {
    till.status().await.unwrap().unwrap().storage_warnings
}

#[tokio::test(start_paused = true)]
async fn without_room_a_ticket_is_refused_before_money_is_taken_and_the_status_bar_says_why() {
    let disk = SmallDisk::of(PLENTY);
    let shop = shop_on(&disk).await;
    shop.charge(vec![seat("12A")]).await.unwrap();
    disk.becomes(RESERVE_BYTES + LOW_BYTES - 1);
    let quote = QuoteRequest { lines: vec![seat("12B")], tenders: vec![Tender::Cash { received: None }] };
    assert_eq!(shop.till.quote(&quote).unwrap_err().code, ProblemCode::DiskFull, "told with the first line");
    assert_eq!(shop.charge(vec![seat("12B")]).await.unwrap_err().code, ProblemCode::DiskFull);
    assert_eq!(shop.till.recent_sales(None).await.unwrap().items.len(), 1, "nothing was recorded");
    a_while().await;
    assert_eq!(warnings(&shop.till).await, [StorageWarning::DiskLow]);
    assert!(!disk.holds_the_reserve(), "its room is for what was sold");
}

#[tokio::test(start_paused = true)]
async fn without_room_what_was_sold_is_sent_settled_asked_about_and_looked_at() {
    let disk = SmallDisk::of(PLENTY);
    let shop = shop_on(&disk).await;
    shop.yupy.down(Failure::Unreachable);
    let first = recorded(shop.charge(vec![seat("12A")]).await.unwrap()).sales.remove(0);
    let second = recorded(shop.charge(vec![seat("12B")]).await.unwrap()).sales.remove(0);
    disk.becomes(0);
    a_while().await;
    shop.yupy.then(question("q", "t", "ypt-9")).up();
    shop.till.send_now().await.unwrap();
    let asked = shop.till.reviews().await.unwrap().remove(0).external_transaction_id;
    let other = if asked == first.external_transaction_id { &second } else { &first };
    shop.until(&other.external_transaction_id, SaleState::Accepted).await;
    assert_eq!(shop.till.search_offers("", 5).await.unwrap().len(), 3);
    shop.till.lock();
    unlock(&shop.till).await;
    assert_eq!(shop.charge(vec![fare(1)]).await.unwrap_err().code, ProblemCode::DiskFull);
}

#[tokio::test(start_paused = true)]
async fn selling_comes_back_by_itself_when_there_is_room_again() {
    let disk = SmallDisk::of(PLENTY);
    let shop = shop_on(&disk).await;
    disk.becomes(0);
    a_while().await;
    disk.becomes(AGAIN_BYTES - 1);
    a_while().await;
    let refused = shop.charge(vec![fare(1)]).await.unwrap_err().code;
    assert_eq!(refused, ProblemCode::DiskFull, "what was given up is not room to sell with");
    disk.becomes(AGAIN_BYTES);
    a_while().await;
    assert!(disk.holds_the_reserve());
    assert_eq!(warnings(&shop.till).await, []);
    shop.charge(vec![fare(1)]).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_ticket_that_was_recorded_is_answered_again_though_there_is_no_room_for_another() {
    let disk = SmallDisk::of(PLENTY);
    let shop = shop_on(&disk).await;
    let request = charge(&shop.till.open_draft().draft_id, vec![seat("12A")]);
    let first = recorded(shop.till.charge(&request).await.unwrap());
    disk.becomes(0);
    let again = recorded(shop.till.charge(&request).await.unwrap());
    assert_eq!(again.sales[0].external_transaction_id, first.sales[0].external_transaction_id);
}

#[tokio::test(start_paused = true)]
async fn a_till_that_starts_without_room_gives_the_reserve_up_first_and_sends_what_waits() {
    let disk = SmallDisk::of(PLENTY);
    let mut shop = shop_on(&disk).await;
    shop.yupy.down(Failure::Unreachable);
    let sold = recorded(shop.charge(vec![seat("12A")]).await.unwrap()).sales.remove(0);
    disk.becomes(0);
    shop.yupy.up();
    shop.crash().await;
    assert!(!disk.holds_the_reserve());
    assert_eq!(warnings(&shop.till).await, [StorageWarning::DiskLow], "from the first moment on");
    shop.until(&sold.external_transaction_id, SaleState::Accepted).await;
}

#[tokio::test(start_paused = true)]
async fn the_room_that_is_left_is_not_spent_on_a_copy() {
    let disk = SmallDisk::of(PLENTY);
    let shop = shop_on(&disk).await;
    let copies = || backup::all(&shop.folder().join(backup::FOLDER)).len();
    a_while().await;
    assert_eq!(copies(), 1);
    disk.becomes(0);
    for _ in 0..8 {
        shop.clock.forward(backup::EVERY_MS);
        tokio::time::sleep(Duration::from_secs(15 * 60)).await;
    }
    assert_eq!(copies(), 1, "no copy while there is no room");
    disk.becomes(PLENTY);
    tokio::time::sleep(Duration::from_secs(20 * 60)).await;
    assert_eq!(copies(), 2, "the one that was due is made up for");
}
