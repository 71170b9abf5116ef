//! Comparing our sales with YUPY's list: what YUPY lost is sent again, what only YUPY has is for people.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;
use turno_till::Till;
use turno_till::transport::Failure;
use turno_till::view::{
    Decision, FindingKind, MoneyHandled, PauseSendingRequest, ProblemCode, Reconciliation,
    ReconciliationReason, SaleReason, SaleState, SaleSummary, Standing,
};

use crate::books::{Books, PAGE, Wire};
use crate::crash::disk::audited;
use crate::review::decide;
use crate::support::{
    HandClock, MORNING, Seeded, Shop, charge, fare, options, question, recorded, seat, set_up,
};

struct Route {
    till: Till,
    books: Arc<Books>,
    wire: Arc<Wire>,
    folder: TempDir,
}

impl Route {
    async fn open() -> Self {
        let folder = TempDir::new().unwrap();
        let books = Arc::new(Books::default());
        let wire = Wire::to(&books);
        let clock = Arc::new(HandClock::at(MORNING));
        let till = Till::open(options(folder.path(), clock, Seeded::new(3), wire.clone())).await.unwrap();
        set_up(&till).await;
        Self { till, books, wire, folder }
    }

    /// Sells so many fares and waits until YUPY has them all.
    async fn sell(&self, count: usize) -> Vec<String> {
        let mut ids = Vec::new();
        for _ in 0..count {
            let request = charge(&self.till.open_draft().draft_id, vec![fare(1)]);
            let checkout = recorded(self.till.charge(&request).await.unwrap());
            ids.push(checkout.sales[0].external_transaction_id.clone());
        }
        self.drained().await;
        ids
    }

    async fn drained(&self) {
        let mut changes = self.till.changes();
        while self.till.status().await.unwrap().unwrap().pending_count > 0 {
            tokio::time::timeout(Duration::from_secs(60), changes.changed()).await.unwrap().unwrap();
        }
    }

    async fn sale(&self, id: &str) -> SaleSummary {
        let page = self.till.recent_sales(None).await.unwrap();
        page.items.into_iter().find(|sale| sale.external_transaction_id == id).unwrap()
    }

    async fn alarms(&self) -> u32 {
        self.till.status().await.unwrap().unwrap().reconciliation_alarm_count
    }
}

fn found(report: &Reconciliation) -> Vec<(FindingKind, &str)> {
    report.findings.iter().map(|finding| (finding.kind, finding.external_transaction_id.as_str())).collect()
}

#[tokio::test(start_paused = true)]
async fn a_sale_that_yupy_lost_is_sent_again_as_it_was_and_no_other() {
    let route = Route::open().await;
    let ids = route.sell(2 * PAGE + 1).await;
    let lost = [&ids[1], &ids[4]];
    for id in lost {
        route.books.forget(id);
    }
    let before = route.wire.sales();
    let report = route.till.reconcile().await.unwrap();
    assert_eq!((report.reason, report.compared_count), (ReconciliationReason::Asked, 3));
    let kind = FindingKind::SentAgain;
    assert_eq!(found(&report), [(kind, lost[0].as_str()), (kind, lost[1].as_str())]);
    assert_eq!(route.alarms().await, 0, "it mends itself");
    route.drained().await;

    assert_eq!(route.books.sales.lock().unwrap().len(), ids.len());
    let again = route.wire.sales()[before.len()..].to_vec();
    let mut keys: Vec<_> =
        again.iter().map(|sent| (sent.idempotency_key.clone(), sent.body.clone())).collect();
    let first = |id: &&String| {
        let sent =
            before.iter().find(|sent| String::from_utf8_lossy(sent.body.as_ref().unwrap()).contains(*id));
        sent.map(|sent| (sent.idempotency_key.clone(), sent.body.clone())).unwrap()
    };
    keys.sort();
    let mut firsts: Vec<_> = lost.iter().map(first).collect();
    firsts.sort();
    assert_eq!(keys, firsts, "the same keys and the same bytes, once each");
    let audit = audited(route.folder.path());
    assert_eq!((audit.get("sale_missing_at_yupy"), audit.get("reconciled")), (Some(&2), Some(&1)));
    let next = route.till.reconcile().await.unwrap();
    assert_eq!((next.findings_count, next.compared_count), (0, 5));
}

#[tokio::test(start_paused = true)]
async fn a_sale_that_waits_to_be_sent_again_says_why_and_is_no_longer_called_confirmed() {
    let route = Route::open().await;
    let ids = route.sell(1).await;
    route.books.forget(&ids[0]);
    // The list still comes; the answer to the sale that is sent again does not.
    route.wire.loses_a_reply.store(true, std::sync::atomic::Ordering::SeqCst);
    route.till.reconcile().await.unwrap();
    let sale = route.sale(&ids[0]).await;
    assert!(sale.standing != Standing::Confirmed, "{sale:?}");
    assert!([SaleState::Queued, SaleState::Sending].contains(&sale.state));
    assert!(sale.reason.is_none_or(|reason| reason == SaleReason::MissingAtYupy), "{sale:?}");
    while route.till.send_now().await.unwrap().still_pending > 0 {}
    assert_eq!(route.sale(&ids[0]).await.standing, Standing::Confirmed);
}

#[tokio::test(start_paused = true)]
async fn what_yupy_has_otherwise_or_alone_is_for_people_and_nothing_is_sent() {
    let route = Route::open().await;
    let ids = route.sell(3).await;
    {
        let mut sales = route.books.sales.lock().unwrap();
        sales.get_mut(&ids[0]).unwrap()["amount"] = json!("2.10");
        sales.get_mut(&ids[1]).unwrap()["currency"] = json!("USD");
        let mut foreign = |id: String| {
            let sale = json!({ "external_transaction_id": id, "amount": "2.00", "currency": "PEN" });
            sales.insert(id, sale);
        };
        foreign(ids[0].replace("-S1-0001", "-S1-0999"));
        foreign("D03-ZZZ-S1-0001".to_owned());
        foreign("ORDER-1".to_owned());
    }
    let sent = route.wire.sales().len();
    let report = route.till.reconcile().await.unwrap();
    let unknown = ids[0].replace("-S1-0001", "-S1-0999");
    let differs = FindingKind::AmountDiffers;
    assert_eq!(
        found(&report),
        [
            (differs, ids[0].as_str()),
            (differs, ids[1].as_str()),
            (FindingKind::UnknownHere, unknown.as_str())
        ]
    );
    assert_eq!(report.findings[0].yupy_amount.as_deref(), Some("PEN 2.10"));
    assert_eq!(report.findings[0].our_amount.as_ref().unwrap().minor, 200);
    assert_eq!((report.of_others_count, route.alarms().await), (2, 3));
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(route.wire.sales().len(), sent);
    for id in &ids {
        assert_eq!(route.sale(id).await.standing, Standing::Confirmed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_sale_that_was_decided_to_be_another_and_is_at_yupy_all_the_same_is_for_people() {
    let shop = Shop::open().await;
    shop.yupy.then(question("ch-1", "t-1", "ypt-0"));
    let sale = shop.sell(seat("12A")).await.sales[0].external_transaction_id.clone();
    shop.until(&sale, SaleState::InReview).await;
    let mut same = decide(&sale, "ch-1", Decision::SameSale);
    same.money = Some(MoneyHandled::Refunded);
    shop.till.decide(&same).await.unwrap();
    let item = json!({ "external_transaction_id": sale, "yupy_transaction_id": "ypt-9", "amount": "85.50", "currency": "PEN" });
    shop.yupy.list(vec![item]);
    let report = shop.till.reconcile().await.unwrap();
    assert_eq!(found(&report), [(FindingKind::DiscardedHere, sale.as_str())]);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_not_read_to_its_end_decides_nothing() {
    let shop = Shop::open().await;
    let sale = shop.sell(fare(1)).await.sales[0].external_transaction_id.clone();
    shop.until(&sale, SaleState::Accepted).await;
    shop.yupy.list_goes_round();
    assert_eq!(shop.till.reconcile().await.unwrap_err().code, ProblemCode::NotYupy);
    shop.yupy.list(vec![json!({ "amount": "2.00" })]);
    assert_eq!(shop.till.reconcile().await.unwrap_err().code, ProblemCode::NotYupy);
    shop.yupy.down(Failure::TimedOut);
    let refusal = shop.till.reconcile().await.unwrap_err();
    assert_eq!(
        (refusal.code, refusal.detail.as_deref()),
        (ProblemCode::AddressUnreachable, Some("timed_out"))
    );
    shop.till.pause_sending(&PauseSendingRequest { paused: true }).await.unwrap();
    assert_eq!(shop.till.reconcile().await.unwrap_err().code, ProblemCode::NotAllowedNow);
    assert_eq!(shop.till.last_reconciliation().await.unwrap(), None);
    assert_eq!(shop.sale(&sale).await.state, SaleState::Accepted);
    assert_eq!(shop.yupy.sales().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn it_is_done_every_day_and_after_a_long_time_without_a_line() {
    let shop = Shop::open().await;
    let reason = async || shop.till.last_reconciliation().await.unwrap().map(|report| report.reason);
    assert_eq!(reason().await, None);
    tokio::time::sleep(Duration::from_secs(2 * 3_600)).await;
    assert_eq!(reason().await, Some(ReconciliationReason::Daily));

    shop.yupy.down(Failure::NoNetwork);
    shop.till.send_now().await.unwrap();
    shop.clock.forward(2 * 3_600_000);
    shop.yupy.up();
    shop.till.send_now().await.unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(reason().await, Some(ReconciliationReason::Outage));
}
