//! Troubles of other tills, told of this one. `tests/tidy/cases.rs` says which test shows which.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use turno_till::transport::{Failure, Request, Sending, Transport};
use turno_till::view::{
    ChargeOutcome, Line, OpenShiftRequest, Phase, ProblemCode, SaleReason, SaleState, Standing, UnlockRequest,
};
use turno_till::{Options, Till, WriterMode};

use crate::support::{
    HandClock, MANAGER_PIN, MORNING, Reply, Seeded, Sent, Shop, Yupy, accepted, charge, error, fare,
    json_answer, luggage, options, recorded, seat, set_up,
};

/// YUPY has the sale and the answer is lost.
fn lost(_: &Value) -> Reply {
    Err(Failure::ConnectionLost)
}

/// YUPY had the sale already.
fn existing(body: &Value) -> Reply {
    let mut answer: Value = serde_json::from_slice(&accepted(body)?.body).unwrap();
    answer["result"] = json!("existing_transaction");
    json_answer(200, &answer)
}

async fn ids(shop: &Shop) -> Vec<String> {
    let (mut ids, mut after) = (Vec::new(), None);
    loop {
        let page = shop.till.recent_sales(after).await.unwrap();
        ids.extend(page.items.into_iter().map(|sale| sale.external_transaction_id));
        after = page.next;
        if after.is_none() {
            return ids;
        }
    }
}

async fn all_accepted(shop: &Shop) {
    for id in ids(shop).await {
        shop.until(&id, SaleState::Accepted).await;
    }
}

/// Each sale travelled under one key with the same bytes, however often.
fn assert_one_key_each(sent: &[Sent], sales: usize) {
    let distinct: BTreeSet<_> = sent.iter().map(|sent| (&sent.key, &sent.body)).collect();
    let keys: BTreeSet<_> = sent.iter().map(|sent| &sent.key).collect();
    assert_eq!((keys.len(), distinct.len()), (sales, sales));
}

#[tokio::test(start_paused = true)]
async fn lost_replies_double_no_kind_of_sale_and_no_line_of_a_ticket() {
    let shop = Shop::open().await;
    for _ in 0..3 {
        shop.yupy.then(lost);
    }
    for _ in 0..3 {
        shop.yupy.then(existing);
    }
    recorded(shop.charge(vec![seat("12A"), luggage(), fare(2)]).await.unwrap());
    all_accepted(&shop).await;
    assert_eq!(ids(&shop).await.len(), 3);
    assert_one_key_each(&shop.yupy.sales(), 3);
}

#[tokio::test(start_paused = true)]
async fn five_attempts_at_one_sale_move_the_shifts_figures_and_the_seats_once() {
    let shop = Shop::open().await;
    for _ in 0..4 {
        shop.yupy.then(lost);
    }
    shop.yupy.then(existing);
    let checkout = recorded(shop.charge(vec![seat("12A"), fare(2)]).await.unwrap());
    let figures = async || {
        let Phase::Selling { shift, .. } = shop.till.phase().await.unwrap() else {
            panic!("a shift is open")
        };
        let map = shop.till.seat_map("departure:184-2030").await.unwrap();
        let sold = map.decks.iter().flat_map(|deck| deck.rows.iter().flatten().flatten());
        let sold = sold.filter(|seat| seat.sold.is_some()).count();
        (shift.sales_count, shift.sold.minor, sold)
    };
    let before = figures().await;
    assert_eq!(before, (2, checkout.total.minor, 1));
    all_accepted(&shop).await;
    assert!(shop.yupy.sales().len() >= 6, "five attempts at one of the two, one at the other");
    assert_eq!(figures().await, before);
}

#[tokio::test(start_paused = true)]
async fn six_presses_at_the_same_time_record_one_sale() {
    let shop = Shop::open().await;
    let press = charge(&shop.till.open_draft().draft_id, vec![seat("12A")]);
    let presses: Vec<_> = (0..6)
        .map(|_| {
            let (till, press) = (shop.till.clone(), press.clone());
            tokio::spawn(async move { till.charge(&press).await })
        })
        .collect();
    let mut answers = BTreeSet::new();
    for pressed in presses {
        let checkout = recorded(pressed.await.unwrap().unwrap());
        answers.insert(checkout.sales[0].external_transaction_id.clone());
    }
    assert_eq!(answers.into_iter().collect::<Vec<_>>(), ids(&shop).await);
}

#[tokio::test(start_paused = true)]
async fn a_line_that_comes_and_goes_five_times_doubles_nothing() {
    let shop = Shop::open().await;
    shop.yupy.down(Failure::NoNetwork);
    for _ in 0..4 {
        shop.sell(fare(1)).await;
    }
    for round in 0..5 {
        shop.yupy.up();
        // One gets through, its reply does not; then the network is gone again.
        shop.yupy.then(lost).then(|_| Err(Failure::NoNetwork));
        shop.till.send_now().await.unwrap();
        shop.yupy.down(if round % 2 == 0 { Failure::NoNetwork } else { Failure::NoNameResolution });
        shop.till.send_now().await.unwrap();
    }
    shop.yupy.up();
    all_accepted(&shop).await;
    assert_eq!(ids(&shop).await.len(), 4);
    assert_one_key_each(&shop.yupy.sales(), 4);
}

#[tokio::test(start_paused = true)]
async fn what_a_refused_credential_delayed_goes_with_the_same_key_and_is_called_saved_until_then() {
    let shop = Shop::open().await;
    for _ in 0..3 {
        shop.yupy.then(error(401, "unauthenticated"));
    }
    let checkout = shop.sell(seat("12A")).await;
    let id = &checkout.sales[0].external_transaction_id;
    shop.till.send_now().await.unwrap();
    let waiting = shop.sale(id).await;
    assert_eq!((waiting.state, waiting.standing), (SaleState::Queued, Standing::Saved));
    shop.until(id, SaleState::Accepted).await;
    assert_one_key_each(&shop.yupy.sales(), 1);
    assert_eq!(shop.yupy.sales().len(), 4, "asked again until the credential was good");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_yupy_still_works_on_is_asked_about_again_and_is_neither_refused_nor_reviewed() {
    let shop = Shop::open().await;
    shop.yupy.then(|_| Err(Failure::TimedOut));
    for _ in 0..3 {
        shop.yupy.then(error(409, "idempotency_in_progress"));
    }
    shop.yupy.then(existing);
    let checkout = shop.sell(seat("12A")).await;
    let id = &checkout.sales[0].external_transaction_id;
    let mut met = BTreeSet::new();
    while shop.yupy.sales().len() < 5 {
        let sale = shop.sale(id).await;
        assert!(matches!(sale.state, SaleState::Queued | SaleState::Sending), "{sale:?}");
        met.extend(sale.reason.map(|reason| format!("{reason:?}")));
        let mut changes = shop.till.changes();
        if tokio::time::timeout(Duration::from_millis(200), changes.changed()).await.is_err() {
            shop.clock.forward(200);
        }
    }
    shop.until(id, SaleState::Accepted).await;
    assert!(met.contains(&format!("{:?}", SaleReason::InProgressAtYupy)), "{met:?}");
    assert!(shop.till.reviews().await.unwrap().is_empty());
    assert_one_key_each(&shop.yupy.sales(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_sale_without_a_word_from_yupy_is_unconfirmed_and_its_seat_is_not_sold_again_without_a_choice() {
    let shop = Shop::open().await;
    shop.yupy.down(Failure::ConnectionLost);
    let checkout = shop.sell(seat("12A")).await;
    shop.till.send_now().await.unwrap();
    let sale = shop.sale(&checkout.sales[0].external_transaction_id).await;
    assert_eq!(sale.standing, Standing::Unconfirmed);
    let again = shop.charge(vec![seat("12A")]).await.unwrap();
    assert!(matches!(again, ChargeOutcome::LookAlike { .. }), "{again:?}");
    assert_eq!(ids(&shop).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_line_that_drops_after_three_of_ten_leaves_seven_that_go_by_themselves() {
    let shop = Shop::open().await;
    shop.yupy.down(Failure::NoNetwork);
    for _ in 0..10 {
        shop.sell(fare(1)).await;
    }
    shop.till.send_now().await.unwrap();
    shop.yupy.up();
    for _ in 0..3 {
        shop.yupy.then(accepted);
    }
    for _ in 0..20 {
        shop.yupy.then(|_| Err(Failure::NoNetwork));
    }
    shop.till.send_now().await.unwrap();
    assert_eq!(shop.till.status().await.unwrap().unwrap().pending_count, 7);
    // Nobody presses anything, and the program is not started again.
    all_accepted(&shop).await;
    assert_one_key_each(&shop.yupy.sales(), 10);
}

#[tokio::test(start_paused = true)]
async fn five_pending_sales_are_counted_after_a_restart_and_go_without_a_new_sale() {
    let mut shop = Shop::open().await;
    shop.yupy.down(Failure::NoNetwork);
    for _ in 0..5 {
        shop.sell(fare(1)).await;
    }
    shop.crash().await;
    assert_eq!(shop.till.status().await.unwrap().unwrap().pending_count, 5);
    assert_eq!(shop.till.pending(None).await.unwrap().items.len(), 5);
    shop.yupy.up();
    all_accepted(&shop).await;
}

#[tokio::test(start_paused = true)]
async fn whoever_takes_over_offline_finds_every_pending_sale_of_the_one_before() {
    let shop = Shop::open().await;
    shop.yupy.down(Failure::NoNetwork);
    for _ in 0..10 {
        shop.sell(fare(1)).await;
    }
    let before = ids(&shop).await;
    shop.till.lock();
    let locked = shop.charge(vec![fare(1)]).await.unwrap_err();
    assert_eq!(locked.code, ProblemCode::NotUnlocked);
    shop.till
        .unlock(&UnlockRequest { person_id: "m".to_owned(), pin: MANAGER_PIN.to_owned() })
        .await
        .unwrap();
    assert_eq!(ids(&shop).await, before);
    assert_eq!(shop.till.status().await.unwrap().unwrap().pending_count, 10);
    let own = shop.sell(fare(2)).await;
    assert_eq!(own.sales[0].seller, "Encargado");
    shop.yupy.up();
    all_accepted(&shop).await;
}

#[tokio::test(start_paused = true)]
async fn five_thousand_queued_sales_are_all_kept() {
    const TICKETS: usize = 125;
    const LINES: usize = 40;
    let shop = Shop::open().await;
    shop.yupy.down(Failure::NoNetwork);
    for ticket in 0..TICKETS {
        let line = |number| Line { buyer_name: Some(format!("Persona {ticket}-{number}")), ..luggage() };
        let mut request = charge(&shop.till.open_draft().draft_id, (0..LINES).map(line).collect());
        request.look_alikes = turno_till::view::LookAlikePolicy::SellAnyway;
        shop.till.charge(&request).await.unwrap();
    }
    assert_eq!(shop.till.status().await.unwrap().unwrap().pending_count, 5_000);
    let all: BTreeSet<_> = ids(&shop).await.into_iter().collect();
    assert_eq!(all.len(), 5_000);
}

#[tokio::test(start_paused = true)]
async fn sending_now_tries_within_two_seconds_and_says_what_came_of_it() {
    let shop = Shop::open().await;
    shop.yupy.down(Failure::Unreachable);
    shop.sell(fare(1)).await;
    for _ in 0..5 {
        shop.till.send_now().await.unwrap();
    }
    // Whatever the pause that the line has come to.
    shop.yupy.up();
    let pressed = Instant::now();
    let report = shop.till.send_now().await.unwrap();
    assert!(pressed.elapsed() < Duration::from_secs(2), "{:?}", pressed.elapsed());
    assert_eq!((report.attempted, report.accepted, report.still_pending), (1, 1, 0));
}

/// Never answers about a sale.
struct Silent(Arc<Yupy>);

impl Transport for Silent {
    fn send(&self, request: Request) -> Sending<'_> {
        if request.path == "/v1/transactions" && request.body.is_some() {
            return Box::pin(std::future::pending());
        }
        self.0.send(request)
    }
}

#[tokio::test(start_paused = true)]
async fn a_yupy_that_does_not_answer_keeps_no_sale_waiting() {
    let folder = tempfile::TempDir::new().unwrap();
    let silent = Arc::new(Silent(Arc::default()));
    let clock = Arc::new(HandClock::at(MORNING));
    let till = Till::open(options(folder.path(), clock, Seeded::new(7), silent)).await.unwrap();
    set_up(&till).await;
    let begun = Instant::now();
    for _ in 0..50 {
        let draft = till.open_draft().draft_id;
        recorded(till.charge(&charge(&draft, vec![fare(1)])).await.unwrap());
        tokio::task::yield_now().await;
    }
    // In paused time whatever waits for the network or for a timer shows.
    assert_eq!(begun.elapsed(), Duration::ZERO);
    assert_eq!(till.status().await.unwrap().unwrap().pending_count, 50);
    till.close().await;
}

#[tokio::test(start_paused = true)]
async fn two_tills_of_one_company_never_give_one_number_also_offline() {
    let one = Shop::open().await;
    let other = Shop::bare().await;
    other.yupy.enrol_with(json!({ "device_id": "D04" }));
    set_up(&other.till).await;
    for shop in [&one, &other] {
        shop.yupy.down(Failure::NoNetwork);
        for _ in 0..20 {
            shop.sell(fare(1)).await;
        }
    }
    let all: BTreeSet<_> = [ids(&one).await, ids(&other).await].concat().into_iter().collect();
    assert_eq!(all.len(), 40);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_or_refused_ticket_gives_its_number_to_nobody_twice() {
    let mut shop = Shop::open().await;
    let mut numbers = Vec::new();
    for _ in 0..4 {
        let _cancelled = shop.till.open_draft();
        shop.charge(vec![seat("99Z")]).await.unwrap_err();
        numbers.push(shop.sell(fare(1)).await.sales[0].sequence);
        shop.crash().await;
    }
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
}

#[tokio::test(start_paused = true)]
async fn a_cold_start_without_a_network_and_with_a_credential_that_ended_sells_with_a_pin() {
    let mut shop = Shop::open().await;
    shop.yupy.down(Failure::NoNetwork);
    shop.crash().await;
    let checkout = shop.sell(seat("12A")).await;
    let refused = shop.till.open_shift(&OpenShiftRequest { float: "1".to_owned() }).await.unwrap_err();
    assert_eq!(refused.code, ProblemCode::ShiftAlreadyOpen, "the shift of before is still open");
    shop.yupy.up();
    shop.yupy.then(error(401, "unauthenticated"));
    shop.until(&checkout.sales[0].external_transaction_id, SaleState::Accepted).await;
}

/// On threads, as in production: whatever locks shows.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_calls_at_once_are_all_answered_and_none_is_locked_out() {
    let folder = tempfile::TempDir::new().unwrap();
    let yupy = Arc::new(Yupy::default());
    let usual = options(folder.path(), Arc::new(HandClock::at(MORNING)), Seeded::new(7), yupy);
    let till = Till::open(Options { writer: WriterMode::Thread, ..usual }).await.unwrap();
    set_up(&till).await;
    let calls: Vec<_> = (0..200)
        .map(|number| {
            let till = till.clone();
            tokio::spawn(async move {
                match number % 4 {
                    0 => till.recent_sales(None).await.map(drop),
                    1 => till.status().await.map(drop),
                    _ => {
                        let line = Line { buyer_name: Some(format!("Persona {number}")), ..luggage() };
                        till.charge(&charge(&till.open_draft().draft_id, vec![line])).await.map(drop)
                    }
                }
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    till.close().await;
    let db = rusqlite::Connection::open(folder.path().join("till.db")).unwrap();
    let sales: u32 = db.query_row("SELECT count(*) FROM sales", [], |row| row.get(0)).unwrap();
    assert_eq!(sales, 100);
}
