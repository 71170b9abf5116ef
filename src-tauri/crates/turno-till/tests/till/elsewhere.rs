//! Answers that were given on another till, and other tills' questions answered here.

use serde_json::{Value, json};
use turno_till::transport::Failure;
use turno_till::view::{
    DecideOther, Decision, Happening, OtherAccess, ProblemCode, ResolutionProgress, SaleState,
};

use crate::resolving::same;
use crate::review::{asked, decide};
use crate::support::{CASHIER_PIN, MANAGER_PIN, Shop, already_resolved, error, question};

fn said(challenge: &str, state: &str, decision: Option<&str>) -> Value {
    let sale = |id: &str, device: &str| {
        json!({
            "external_transaction_id": id, "yupy_transaction_id": format!("ypt-{id}"), "amount": "85.50",
            "currency": "PEN", "occurred_at": "2026-11-30T15:00:00Z", "created_at": "2026-11-30T15:00:00Z",
            "device_id": device, "shift_id": "S9", "buyer_name": "María Ramos",
            "context": { "route": "184", "seat": "12A" },
            "state": { "operational": "active", "financial": "paid" }, "request_id": "r",
        })
    };
    json!({
        "challenge_id": challenge, "state": state, "decision": decision,
        "decided_by": decision.map(|_| "Rosa"), "reason": decision.map(|_| "lo vi en la cámara"),
        "decided_at": decision.map(|_| "2026-11-30T15:05:00Z"),
        "asked_at": "2026-11-30T15:01:00Z", "expires_at": "2026-12-01T15:01:00Z",
        "matching_signals": ["amount", "currency", "buyer_name", "route", "seat"],
        "asked": sale("D07-AAA-S9-0002", "D07"), "candidate": sale("D07-AAA-S9-0001", "D07"),
        "candidates_count": 1, "request_id": "r",
    })
}

impl Shop {
    /// Time for a look at the questions.
    async fn look(&self) {
        for _ in 0..40 {
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            self.clock.forward(1_000);
        }
    }

    fn looks(&self) -> usize {
        let sent = self.yupy.sent.lock().unwrap();
        sent.iter().filter(|sent| sent.path.starts_with("/v1/duplicate-challenges/")).count()
    }
}

#[tokio::test(start_paused = true)]
async fn another_sale_said_elsewhere_is_confirmed_in_that_name_under_the_tokens_key() {
    let mut shop = Shop::open().await;
    let id = asked(&shop).await;
    shop.yupy.challenge(said("ch-1", "open", Some("different_sale")));
    shop.crash().await;
    shop.until(&id, SaleState::Accepted).await;
    let sent = shop.yupy.sales();
    assert_eq!(sent.len(), 2);
    assert_ne!(sent[0].key, sent[1].key);
    let confirmation = sent[1].json();
    assert_eq!(confirmation["duplicate_confirmation_token"], "token-1");
    assert_eq!(confirmation["confirmed_by"], "Rosa");
    assert_eq!(confirmation["confirmation_reason"], "lo vi en la cámara");
    let shown = shop.till.sale_detail(&id).await.unwrap();
    let told = shown.timeline.iter().find(|one| one.happened == Happening::DecidedElsewhereDifferent);
    assert_eq!(told.unwrap().person.as_deref(), Some("Rosa"));
    assert!(shop.yupy.decisions().is_empty(), "YUPY knows its own word");
}

#[tokio::test(start_paused = true)]
async fn a_question_without_a_decision_is_looked_at_now_and_then_and_decides_nothing() {
    let shop = Shop::open().await;
    let id = asked(&shop).await;
    for change in [said("ch-1", "open", None), said("ch-2", "open", Some("different_sale"))] {
        shop.yupy.challenge(change);
    }
    let before = shop.looks();
    for _ in 0..3 {
        shop.look().await;
    }
    let looks = shop.looks() - before;
    assert!((3..=5).contains(&looks), "{looks} in two minutes");
    assert_eq!(shop.sale(&id).await.state, SaleState::InReview);
    assert_eq!(shop.yupy.sales().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn who_sends_now_learns_now_what_was_decided_elsewhere() {
    let shop = Shop::open().await;
    let id = asked(&shop).await;
    shop.look().await;
    let before = shop.looks();
    shop.yupy.challenge(said("ch-1", "open", Some("different_sale")));
    shop.till.send_now().await.unwrap();
    let soon = std::time::Duration::from_secs(5);
    let learnt = async {
        while shop.looks() == before {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(soon, learnt).await.unwrap();
    shop.until(&id, SaleState::Accepted).await;
}

#[tokio::test(start_paused = true)]
async fn without_a_question_nothing_is_looked_at() {
    let shop = Shop::open().await;
    shop.till.send_now().await.unwrap();
    shop.look().await;
    assert_eq!(shop.looks(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_confirmation_that_came_second_is_not_repeated_over_a_new_question() {
    let shop = Shop::open().await;
    let id = asked(&shop).await;
    shop.yupy.challenge(said("ch-1", "closed", Some("same_sale")));
    shop.yupy.then(error(422, "duplicate_confirmation_invalid")).then(question("ch-2", "token-2", "ypt-1"));
    shop.till.decide(&decide(&id, "ch-1", Decision::DifferentSale)).await.unwrap();
    shop.until(&id, SaleState::InReview).await;
    assert_eq!(shop.yupy.sales().len(), 3, "the earlier decision is not carried over");
    shop.look().await;
    shop.look().await;
    let review = &shop.till.reviews().await.unwrap()[0];
    let elsewhere = review.decided_elsewhere.as_ref().unwrap();
    assert_eq!((elsewhere.decided_by.as_str(), review.challenge_id.as_str()), ("Rosa", "ch-2"));
    let refused = shop.till.decide(&decide(&id, "ch-2", Decision::DifferentSale)).await.unwrap_err();
    assert_eq!((refused.code, refused.detail.as_deref()), (ProblemCode::DecidedElsewhere, Some("Rosa")));
    shop.till.decide(&same(&id, "ch-2")).await.unwrap();
    assert_eq!(shop.sale(&id).await.state, SaleState::Discarded);
    shop.look().await;
    assert_eq!(shop.yupy.decisions().len(), 1, "of the new question YUPY is told");
}

#[tokio::test(start_paused = true)]
async fn a_token_that_was_spent_by_another_folder_is_looked_up() {
    let shop = Shop::open().await;
    let id = asked(&shop).await;
    shop.yupy.challenge(said("ch-1", "spent", None));
    shop.until(&id, SaleState::Accepted).await;
    let sent = shop.yupy.sales();
    assert_eq!((&sent[0].key, &sent[0].body), (&sent[1].key, &sent[1].body), "asked for, not confirmed");
}

fn about_d07(decision: Decision) -> DecideOther {
    DecideOther {
        external_transaction_id: "D07-AAA-S9-0002".to_owned(),
        challenge_id: "ch-7".to_owned(),
        decision,
        manager_id: "m".to_owned(),
        pin: MANAGER_PIN.to_owned(),
        reason: "lo vi en la cámara".to_owned(),
    }
}

#[tokio::test(start_paused = true)]
async fn other_tills_questions_are_listed_side_by_side_and_ones_own_are_not_among_them() {
    let shop = Shop::open().await;
    let id = asked(&shop).await;
    let mut own = said("ch-1", "open", None);
    own["asked"]["external_transaction_id"] = id.into();
    let mut of_this_device = said("ch-2", "open", None);
    of_this_device["asked"]["device_id"] = "D03".into();
    for listed in [own, of_this_device, said("ch-7", "open", None), said("ch-8", "open", Some("same_sale"))] {
        shop.yupy.challenge(listed);
    }
    let list = shop.till.other_reviews().await.unwrap();
    assert_eq!(list.access, OtherAccess::Granted);
    let [review] = &list.reviews[..] else { panic!("{list:?}") };
    assert_eq!(review.challenge_id, "ch-7");
    assert_eq!((review.own.amount.minor, review.own.seat.as_deref()), (8_550, Some("12A")));
    assert_eq!(review.own.device_id.as_deref(), Some("D07"));
    assert_eq!(review.candidate.operational.as_deref(), Some("active"));
    assert_eq!(review.seconds_apart, Some(0));
}

#[tokio::test(start_paused = true)]
async fn an_answer_for_another_till_is_told_with_its_author_and_survives_a_restart_offline() {
    let mut shop = Shop::open().await;
    shop.yupy.challenge(said("ch-7", "open", None));
    let request = about_d07(Decision::DifferentSale);
    for (wrong, code) in [
        (DecideOther { pin: CASHIER_PIN.to_owned(), ..request.clone() }, ProblemCode::PinWrong),
        (DecideOther { reason: " ".to_owned(), ..request.clone() }, ProblemCode::ReasonRequired),
    ] {
        assert_eq!(shop.till.decide_other(&wrong).await.unwrap_err().code, code);
    }
    shop.yupy.down(Failure::NoNetwork);
    shop.yupy.then_decision(|_| Err(Failure::ConnectionLost));
    shop.till.decide_other(&request).await.unwrap();
    shop.till.decide_other(&request).await.unwrap();
    let other = about_d07(Decision::SameSale);
    assert_eq!(shop.till.decide_other(&other).await.unwrap_err().code, ProblemCode::NotInReview);
    shop.crash().await;
    shop.yupy.up();
    for _ in 0..6 {
        shop.till.send_now().await.unwrap();
        shop.look().await;
    }
    let sent = shop.yupy.decisions();
    assert_eq!(sent.len(), 3, "what did not leave, what was lost, and no more");
    assert!(sent.windows(2).all(|pair| pair[0].body == pair[1].body));
    assert_eq!(
        sent[2].json(),
        json!({
            "challenge_id": "ch-7", "decision": "different_sale", "decided_by": "Encargado",
            "reason": "lo vi en la cámara",
        })
    );
    let list = shop.till.other_reviews().await.unwrap();
    assert!(list.reviews.is_empty(), "what was answered is not asked again");
    assert_eq!(list.decided[0].progress, ResolutionProgress::Told);
    assert!(shop.yupy.sales().is_empty(), "nothing is sold here by it");
    assert_eq!(shop.till.status().await.unwrap().unwrap().pending_count, 0);
}

#[tokio::test(start_paused = true)]
async fn who_was_first_is_said_to_whoever_was_second() {
    let shop = Shop::open().await;
    shop.yupy.then_decision(already_resolved("same_sale", "Rosa"));
    shop.till.send_now().await.unwrap();
    shop.till.decide_other(&about_d07(Decision::DifferentSale)).await.unwrap();
    shop.look().await;
    let list = shop.till.other_reviews().await.unwrap();
    assert_eq!(list.decided[0].progress, ResolutionProgress::DecidedOtherwise);
    assert_eq!(list.decided[0].detail.as_deref(), Some("Rosa"));
    assert_eq!(shop.till.status().await.unwrap().unwrap().needs_attention_count, 0, "it is not this till's");
}

#[tokio::test(start_paused = true)]
async fn ones_own_question_is_answered_as_ones_own() {
    let shop = Shop::open().await;
    let id = asked(&shop).await;
    let request = DecideOther {
        external_transaction_id: id,
        challenge_id: "ch-1".to_owned(),
        ..about_d07(Decision::DifferentSale)
    };
    assert_eq!(shop.till.decide_other(&request).await.unwrap_err().code, ProblemCode::QuestionChanged);
}

#[tokio::test(start_paused = true)]
async fn a_till_without_the_right_says_so_and_a_line_without_yupy_says_why() {
    let shop = Shop::open().await;
    shop.yupy.forbid_list();
    assert_eq!(shop.till.other_reviews().await.unwrap().access, OtherAccess::NotGranted);
    shop.yupy.down(Failure::NoNetwork);
    let refused = shop.till.other_reviews().await.unwrap_err();
    assert_eq!(
        (refused.code, refused.detail.as_deref()),
        (ProblemCode::AddressUnreachable, Some("no_network"))
    );
}
