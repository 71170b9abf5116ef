//! The till dies between any two of its commits, and in the middle of each, and is opened again.
//!
//! One life is lived to its end while everything that YUPY hears and everything that people are told is noted with
//! the length of the database's log at that moment. Afterwards the log is cut behind every commit, and within it:
//! each cut is what a dead machine would have left on its disk. A second life begins there, beside the YUPY of that
//! moment, and must end as the first did.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use turno_till::Till;
use turno_till::view::{ChargeOutcome, Decide, Decision, MoneyHandled, SaleState, SaleSummary, Standing};

use crate::support::{HandClock, MANAGER_PIN, MORNING, Seeded, charge, options, seat, set_up, unlock};

pub mod disk;
mod yupy;

use disk::{Disk, audited, facts};
use yupy::{Ledger, Moment, Yupy};

const DRAFT: &str = "7b0d1a52-3c1f-4c57-9d0e-0a6a3f2f9b11";

/// What happens to the one sale of each life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Story {
    NothingLooksLikeIt,
    DecidedDifferent,
    DecidedSame,
}

/// One run of the program.
struct Life {
    till: Till,
    yupy: Arc<Yupy>,
    clock: Arc<HandClock>,
}

impl Life {
    async fn begin(folder: &Path, ledger: Ledger, ms: i64) -> Self {
        let yupy = Yupy::beside(folder, ledger);
        let clock = Arc::new(HandClock::at(ms));
        let chance = Seeded::new(u64::try_from(ms).unwrap());
        let till = Till::open(options(folder, clock.clone(), chance, yupy.clone())).await.unwrap();
        Self { till, yupy, clock }
    }

    /// The cashier presses *Cobrar*; after a crash again, with the draft that is still on the screen.
    async fn charge(&self) {
        let outcome = self.till.charge(&charge(DRAFT, vec![seat("12A")])).await.unwrap();
        assert!(matches!(outcome, ChargeOutcome::Recorded { .. }), "{outcome:?}");
        self.yupy.note(|moment| moment.charged = true);
    }

    /// The manager answers the question, if there is one. Says whether there was.
    async fn decide(&self, story: Story) -> bool {
        let reviews = self.till.reviews().await.unwrap();
        let Some(review) = reviews.first() else { return false };
        let (decision, money) = match story {
            Story::DecidedSame => (Decision::SameSale, Some(MoneyHandled::Refunded)),
            Story::DecidedDifferent | Story::NothingLooksLikeIt => (Decision::DifferentSale, None),
        };
        let decide = Decide {
            external_transaction_id: review.external_transaction_id.clone(),
            challenge_id: review.challenge_id.clone(),
            decision,
            manager_id: "m".to_owned(),
            pin: MANAGER_PIN.to_owned(),
            reason: "dos pasajeros".to_owned(),
            money,
        };
        self.till.decide(&decide).await.unwrap();
        self.yupy.note(|moment| moment.decided = true);
        true
    }

    async fn sales(&self) -> Vec<SaleSummary> {
        self.till.recent_sales(None).await.unwrap().items
    }

    /// Until the sale is settled or a person is needed.
    async fn wait(&self) -> SaleSummary {
        let mut changes = self.till.changes();
        for _ in 0..300 {
            let sale = self.sales().await.remove(0);
            if !matches!(sale.state, SaleState::Queued | SaleState::Sending) {
                return sale;
            }
            if tokio::time::timeout(Duration::from_secs(1), changes.changed()).await.is_err() {
                self.clock.forward(1_000);
            }
        }
        panic!("never settled: {:?}", self.sales().await);
    }

    /// From *Cobrar* to the end. Says whether a manager was asked.
    async fn live(&self, story: Story) -> bool {
        self.charge().await;
        self.wait().await;
        let asked = self.decide(story).await;
        let sale = self.wait().await;
        match story {
            Story::NothingLooksLikeIt | Story::DecidedDifferent => {
                assert_eq!((sale.state, sale.standing), (SaleState::Accepted, Standing::Confirmed));
            }
            Story::DecidedSame => assert_eq!(sale.state, SaleState::Discarded),
        }
        asked
    }
}

async fn check(story: Story) {
    let ledger = Ledger { asks: story != Story::NothingLooksLikeIt, ..Ledger::default() };
    let folder = TempDir::new().unwrap();
    let first = Life::begin(folder.path(), ledger, MORNING).await;
    set_up(&first.till).await;
    first.yupy.note(|_| ());
    first.live(story).await;
    let disk = Disk::of(folder.path());
    let end = first.clock.ms();
    let mut moments = first.yupy.moments.lock().unwrap().clone();
    moments.remove(0);
    first.till.close().await;

    let set_up = moments[0].log;
    let commits: Vec<usize> = disk.commits().into_iter().filter(|commit| *commit >= set_up).collect();
    assert!(commits.len() >= 4, "cobrar, claim, settle at the least: {commits:?}");
    let mut crashes = 0;
    for (index, moment) in moments.iter().enumerate() {
        // A moment lasted while the log grew from its own length to that of the next.
        let last = moments.get(index + 1).map_or(disk.log.len(), |next| next.log);
        for (commit, next) in commits.iter().zip(commits[1..].iter().map(Some).chain([None])) {
            if (moment.log..=last).contains(commit) {
                // Behind the commit, and in the middle of writing the next one.
                for cut in [Some(*commit), next.map(|next| (commit + next) / 2)].into_iter().flatten() {
                    die_and_live_on(story, &disk, cut, *commit > set_up, moment, end).await;
                    crashes += 1;
                }
            }
        }
    }
    assert!(crashes >= 2 * commits.len(), "{crashes} crashes for {} commits", commits.len());
}

async fn die_and_live_on(story: Story, disk: &Disk, cut: usize, recorded: bool, moment: &Moment, end: i64) {
    let folder = disk.cut(cut, &moment.witness);
    let found = facts(folder.path());
    let context = format!("{story:?}, log cut at {cut}: {found:?}");
    assert_eq!(found.sales, u32::from(recorded), "the sale is there if it was committed: {context}");
    assert!(recorded || !moment.charged, "nobody is told before the commit: {context}");
    assert!(found.decisions == 1 || !moment.decided, "nobody is told before the commit: {context}");
    let under_way = moment.ledger.heard + u32::from(moment.arriving);
    assert!(found.attempts >= under_way, "an attempt is on the disk before its first byte leaves: {context}");
    assert!(found.sending == 1 || !moment.arriving, "and so is its state: {context}");

    let life = Life::begin(folder.path(), moment.ledger.clone(), end + 60_000).await;
    unlock(&life.till).await;
    let before = life.sales().await;
    assert_eq!(before.len(), usize::from(recorded), "{context}");
    let asked = life.live(story).await;
    let decided_before = found.decisions == 1 || story == Story::NothingLooksLikeIt;
    assert_eq!(asked, !decided_before, "a decision that stands is not asked for again: {context}");

    let after = life.sales().await;
    assert_eq!(after.len(), 1, "{context}");
    if let Some(sale) = before.first() {
        assert_eq!(sale.external_transaction_id, after[0].external_transaction_id, "{context}");
    }
    let ledger = life.yupy.ledger();
    assert_eq!(ledger.violations, Vec::<String>::new(), "{context}");
    let sold = u32::from(story != Story::DecidedSame);
    assert_eq!(ledger.sales.len(), usize::try_from(sold).unwrap(), "one sale, one transaction: {context}");
    let keys = if story == Story::DecidedDifferent { 2 } else { 1 };
    assert_eq!(ledger.keys.len(), keys, "one key for the sale and one for its confirmation: {context}");
    life.till.close().await;
    let audit = audited(folder.path());
    assert_eq!(audit.get("identity_guard_fired"), None, "a crash is no copy: {context}");
    let times = |event: &str| audit.get(event).copied().unwrap_or_default();
    assert_eq!((times("sale_recorded"), times("sale_accepted")), (1, sold), "{context}");
    assert_eq!(times("question_decided"), u32::from(story != Story::NothingLooksLikeIt), "{context}");
}

#[tokio::test(start_paused = true)]
async fn a_plain_sale_survives_every_crash_and_is_sold_once() {
    check(Story::NothingLooksLikeIt).await;
}

#[tokio::test(start_paused = true)]
async fn a_confirmed_sale_survives_every_crash_and_is_sold_once() {
    check(Story::DecidedDifferent).await;
}

#[tokio::test(start_paused = true)]
async fn a_discarded_sale_survives_every_crash_and_is_not_sold() {
    check(Story::DecidedSame).await;
}
