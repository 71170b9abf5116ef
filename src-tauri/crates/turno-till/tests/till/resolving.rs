//! A discard on its way to YUPY: told once it can be, taken back before, and seen by people when YUPY says otherwise.

use serde_json::json;
use turno_till::transport::Failure;
use turno_till::view::{
    Decide, Decision, DiscardRequest, Happening, MoneyHandled, ProblemCode, ResolutionProgress, SaleDetail,
    SaleState, SaleVerdict,
};

use crate::review::{asked, decide};
use crate::shift::exact;
use crate::support::{CASHIER_PIN, MANAGER_PIN, Shop, already_resolved, error, json_answer, seat};

pub fn same(id: &str, challenge: &str) -> Decide {
    let reason = "se tecleó dos veces".to_owned();
    Decide { money: Some(MoneyHandled::Refunded), reason, ..decide(id, challenge, Decision::SameSale) }
}

fn discard(id: &str) -> DiscardRequest {
    DiscardRequest {
        external_transaction_id: id.to_owned(),
        manager_id: "m".to_owned(),
        pin: MANAGER_PIN.to_owned(),
        reason: "eran dos pasajeros".to_owned(),
    }
}

impl Shop {
    async fn until_told(&self, id: &str, progress: ResolutionProgress) -> SaleDetail {
        let mut changes = self.till.changes();
        for _ in 0..200 {
            let shown = self.till.sale_detail(id).await.unwrap();
            if shown.resolution.as_ref().is_some_and(|resolution| resolution.progress == progress) {
                return shown;
            }
            let wait = std::time::Duration::from_secs(1);
            if tokio::time::timeout(wait, changes.changed()).await.is_err() {
                self.clock.forward(1_000);
            }
        }
        panic!("never {progress:?}: {:?}", self.till.sale_detail(id).await.unwrap().resolution);
    }

    async fn pending_count(&self) -> (u32, usize) {
        let count = self.till.status().await.unwrap().unwrap().pending_count;
        (count, self.till.pending(None).await.unwrap().items.len())
    }
}

fn happened(shown: &SaleDetail) -> Vec<Happening> {
    shown.timeline.iter().map(|entry| entry.happened).collect()
}

#[tokio::test(start_paused = true)]
async fn yupy_is_told_of_a_discard_in_the_managers_words() {
    let shop = Shop::open().await;
    let id = asked(&shop).await;
    shop.till.decide(&same(&id, "ch-1")).await.unwrap();
    assert_eq!(shop.pending_count().await, (1, 1), "it waits where people look for what waits");
    let shown = shop.until_told(&id, ResolutionProgress::Told).await;
    let sent = shop.yupy.decisions();
    assert_eq!(sent.len(), 1);
    assert_eq!(
        sent[0].json(),
        json!({
            "challenge_id": "ch-1", "decision": "same_sale", "decided_by": "Encargado",
            "reason": "se tecleó dos veces",
        })
    );
    assert_eq!(shop.pending_count().await, (0, 0));
    assert_eq!(shown.verdict, SaleVerdict::DoesNotCount);
    let at = |wanted| happened(&shown).iter().position(|one| *one == wanted).unwrap();
    assert!(at(Happening::DecidedSame) < at(Happening::DiscardTold));
    assert_eq!(shown.resolution.unwrap().take_back_refused, Some(ProblemCode::TakeBackTooLate));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_lost_is_asked_for_with_the_same_words_over_a_restart() {
    let mut shop = Shop::open().await;
    let id = asked(&shop).await;
    shop.yupy
        .then_decision(|_| Err(Failure::ConnectionLost))
        .then_decision(error(503, "service_unavailable"));
    shop.till.decide(&same(&id, "ch-1")).await.unwrap();
    shop.till.send_now().await.unwrap();
    while shop.yupy.decisions().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let refused = shop.till.take_back_discard(&discard(&id)).await.unwrap_err();
    assert_eq!(refused.code, ProblemCode::TakeBackTooLate, "YUPY may know of it");
    shop.crash().await;
    shop.until_told(&id, ResolutionProgress::Told).await;
    let sent = shop.yupy.decisions();
    assert_eq!(sent.len(), 3);
    assert!(sent.windows(2).all(|pair| pair[0].body == pair[1].body));
}

#[tokio::test(start_paused = true)]
async fn hours_offline_a_discard_waits_and_can_be_taken_back() {
    let mut shop = Shop::open().await;
    let id = asked(&shop).await;
    shop.yupy.down(Failure::NoNetwork);
    shop.till.decide(&same(&id, "ch-1")).await.unwrap();
    shop.till.send_now().await.unwrap();
    shop.clock.forward(3 * 3_600_000);
    shop.crash().await;
    assert_eq!(shop.sale(&id).await.state, SaleState::Discarded);
    let wrong = DiscardRequest { pin: CASHIER_PIN.to_owned(), ..discard(&id) };
    assert_eq!(shop.till.take_back_discard(&wrong).await.unwrap_err().code, ProblemCode::PinWrong);
    let mute = DiscardRequest { reason: " ".to_owned(), ..discard(&id) };
    assert_eq!(shop.till.take_back_discard(&mute).await.unwrap_err().code, ProblemCode::ReasonRequired);
    shop.till.take_back_discard(&discard(&id)).await.unwrap();
    let shown = shop.till.sale_detail(&id).await.unwrap();
    assert_eq!((shown.sale.state, shown.resolution.is_none()), (SaleState::InReview, true));
    assert_eq!(shop.till.reviews().await.unwrap()[0].challenge_id, "ch-1", "the question as it was");
    let again = shop.till.take_back_discard(&discard(&id)).await.unwrap_err();
    assert_eq!(again.code, ProblemCode::TakeBackTooLate);
    shop.till.decide(&decide(&id, "ch-1", Decision::DifferentSale)).await.unwrap();
    shop.yupy.up();
    shop.till.send_now().await.unwrap();
    shop.until(&id, SaleState::Accepted).await;
    assert!(shop.yupy.decisions().is_empty(), "what was taken back is never told");
    let shown = shop.till.sale_detail(&id).await.unwrap();
    let at = |wanted| happened(&shown).iter().position(|one| *one == wanted).unwrap();
    assert!(at(Happening::DecidedSame) < at(Happening::DiscardTakenBack));
    assert!(at(Happening::DiscardTakenBack) < at(Happening::DecidedDifferent));
}

#[tokio::test(start_paused = true)]
async fn a_discard_that_was_taken_back_can_be_made_again() {
    let shop = Shop::open().await;
    let id = asked(&shop).await;
    shop.till.decide(&same(&id, "ch-1")).await.unwrap();
    shop.till.take_back_discard(&discard(&id)).await.unwrap();
    shop.till.decide(&same(&id, "ch-1")).await.unwrap();
    shop.until_told(&id, ResolutionProgress::Told).await;
    assert_eq!(shop.yupy.decisions().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_seat_that_was_sold_again_ends_the_taking_back() {
    let shop = Shop::open().await;
    let id = asked(&shop).await;
    shop.yupy.down(Failure::NoNetwork);
    shop.till.decide(&same(&id, "ch-1")).await.unwrap();
    shop.sell(seat("12A")).await;
    let shown = shop.till.sale_detail(&id).await.unwrap();
    assert_eq!(shown.resolution.unwrap().take_back_refused, Some(ProblemCode::TakeBackTooLate));
    let refused = shop.till.take_back_discard(&discard(&id)).await.unwrap_err();
    assert_eq!(refused.code, ProblemCode::TakeBackTooLate);
    assert_eq!(shop.sale(&id).await.state, SaleState::Discarded, "nothing changed");
}

#[tokio::test(start_paused = true)]
async fn a_shift_that_was_closed_with_the_discard_ends_the_taking_back() {
    let shop = Shop::open().await;
    let id = asked(&shop).await;
    shop.yupy.down(Failure::NoNetwork);
    shop.till.decide(&same(&id, "ch-1")).await.unwrap();
    let shown = shop.till.sale_detail(&id).await.unwrap();
    assert_eq!(shown.resolution.unwrap().take_back_refused, None);
    shop.clock.forward(60_000);
    shop.till.close_shift(&exact(&shop.till, "S1").await).await.unwrap();
    let refused = shop.till.take_back_discard(&discard(&id)).await.unwrap_err();
    assert_eq!(refused.code, ProblemCode::TakeBackTooLate, "its drawer was counted without the sale");
    assert_eq!(shop.sale(&id).await.state, SaleState::Discarded);
}

#[tokio::test(start_paused = true)]
async fn somebody_elses_earlier_decision_is_seen_by_people_and_creates_nothing() {
    let shop = Shop::open().await;
    let id = asked(&shop).await;
    shop.yupy.then_decision(already_resolved("different_sale", "Rosa"));
    shop.till.decide(&same(&id, "ch-1")).await.unwrap();
    let shown = shop.until_told(&id, ResolutionProgress::DecidedOtherwise).await;
    assert_eq!((shown.verdict, shown.sale.state), (SaleVerdict::DiscardDisputed, SaleState::Discarded));
    assert_eq!(shown.resolution.unwrap().detail.as_deref(), Some("Rosa"));
    let status = shop.till.status().await.unwrap().unwrap();
    assert_eq!((status.pending_count, status.needs_attention_count), (1, 1));
    shop.till.send_now().await.unwrap();
    assert_eq!((shop.yupy.sales().len(), shop.yupy.decisions().len()), (1, 1), "nothing goes on by itself");
    shop.till.leave_discard(&discard(&id)).await.unwrap();
    assert_eq!(shop.pending_count().await, (0, 0));
    let again = shop.till.leave_discard(&discard(&id)).await.unwrap_err();
    assert_eq!(again.code, ProblemCode::NotAllowedNow);
    let shown = shop.till.sale_detail(&id).await.unwrap();
    assert_eq!(shown.verdict, SaleVerdict::DoesNotCount);
    assert!(happened(&shown).ends_with(&[Happening::DiscardDisputed, Happening::DiscardLeft]));
    let disputed = shown.timeline.iter().find(|entry| entry.happened == Happening::DiscardDisputed).unwrap();
    let told = (disputed.person.as_deref(), disputed.detail.as_deref());
    assert_eq!(
        told,
        (Some("Rosa"), Some("decided_otherwise")),
        "a name is where support's text leaves it out"
    );
}

#[tokio::test(start_paused = true)]
async fn a_disputed_discard_can_be_taken_back() {
    let shop = Shop::open().await;
    let id = asked(&shop).await;
    shop.yupy.then_decision(already_resolved("different_sale", "Rosa"));
    shop.till.decide(&same(&id, "ch-1")).await.unwrap();
    shop.until_told(&id, ResolutionProgress::DecidedOtherwise).await;
    shop.till.take_back_discard(&discard(&id)).await.unwrap();
    assert_eq!(shop.sale(&id).await.state, SaleState::InReview);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_has_ended_closes_the_discard_unless_the_sale_is_there() {
    let shop = Shop::open().await;
    let id = asked(&shop).await;
    shop.yupy.then_decision(error(409, "invalid_state"));
    shop.till.decide(&same(&id, "ch-1")).await.unwrap();
    let shown = shop.until_told(&id, ResolutionProgress::Closed).await;
    assert!(happened(&shown).contains(&Happening::DiscardNotTold));
    assert_eq!(shop.pending_count().await, (0, 0));

    let other = Shop::open().await;
    let id = asked(&other).await;
    other.yupy.then_decision(error(404, "not_found"));
    let sold = other.yupy.sales()[0].json();
    other.yupy.list(vec![json!({
        "yupy_transaction_id": "ypt-7", "external_transaction_id": id, "amount": sold["amount"],
        "currency": "PEN", "occurred_at": sold["occurred_at"], "created_at": "2026-11-30T15:00:00Z",
        "state": { "operational": "active", "financial": "paid" }, "request_id": "r",
    })]);
    other.till.decide(&same(&id, "ch-1")).await.unwrap();
    let shown = other.until_told(&id, ResolutionProgress::SaleExists).await;
    assert_eq!(shown.verdict, SaleVerdict::DiscardDisputed);
    other.till.take_back_discard(&discard(&id)).await.unwrap();
    other.until(&id, SaleState::Accepted).await;
}

#[tokio::test(start_paused = true)]
async fn words_that_were_changed_on_the_disk_are_not_told() {
    let mut shop = Shop::open().await;
    let id = asked(&shop).await;
    shop.yupy.down(Failure::NoNetwork);
    shop.till.decide(&same(&id, "ch-1")).await.unwrap();
    shop.till.close().await;
    let conn = rusqlite::Connection::open(shop.folder().join("till.db")).unwrap();
    conn.execute_batch(
        "DROP TRIGGER resolutions_are_frozen;
         UPDATE resolutions SET body = CAST(replace(CAST(body AS TEXT), 'same_sale', 'different_sale') AS BLOB)",
    )
    .unwrap();
    drop(conn);
    shop.yupy.up();
    shop.crash().await;
    let next = shop.sell(seat("12B")).await.sales[0].external_transaction_id.clone();
    shop.until(&next, SaleState::Accepted).await;
    shop.until_told(&id, ResolutionProgress::Refused).await;
    assert!(shop.yupy.decisions().is_empty());
}

/// Damaged while the till runs: at its start a row that cannot be understood is set aside before anything is told.
#[tokio::test(start_paused = true)]
async fn a_discarded_sale_that_cannot_be_understood_keeps_no_other_decision_waiting() {
    let shop = Shop::open().await;
    let damaged = asked(&shop).await;
    shop.yupy.down(Failure::NoNetwork);
    shop.till.decide(&same(&damaged, "ch-1")).await.unwrap();
    let conn = rusqlite::Connection::open(shop.folder().join("till.db")).unwrap();
    conn.execute_batch("PRAGMA ignore_check_constraints = ON; UPDATE outbox SET state = 'eaten'").unwrap();
    drop(conn);
    shop.yupy.up();
    shop.sell(seat("12B")).await;
    let told = || {
        let conn = rusqlite::Connection::open(shop.folder().join("till.db")).unwrap();
        conn.query_one("SELECT state FROM resolutions", [], |row| row.get::<_, String>(0)).unwrap()
    };
    while told() != "needs_attention" {
        shop.clock.forward(1_000);
        shop.till.send_now().await.unwrap();
    }
    assert!(shop.yupy.decisions().is_empty(), "nothing is told of a sale that is not known to be discarded");
}

#[tokio::test(start_paused = true)]
async fn a_portals_page_is_no_answer_to_a_decision() {
    let shop = Shop::open().await;
    let id = asked(&shop).await;
    shop.yupy.then_decision(|_| json_answer(200, &json!({}))).then_decision(|body| {
        let mut other = body.clone();
        other["decision"] = "different_sale".into();
        json_answer(200, &other)
    });
    shop.till.decide(&same(&id, "ch-1")).await.unwrap();
    shop.until_told(&id, ResolutionProgress::Told).await;
    assert_eq!(shop.yupy.decisions().len(), 3);
}
