//! A sale whose content YUPY refused, corrected by a manager: one sale, whatever became of its earlier version.

use proptest::prelude::*;
use serde_json::{Value, json};
use turno_domain::ids::{Company, Environment, ExternalTransactionId, Integration, Scope};
use turno_protocol::keys;
use turno_till::transport::Failure;
use turno_till::view::{
    CorrectSaleRequest, Decision, Happening, ProblemCode, SaleContent, SaleReason, SaleState, SaleVerdict,
};

use crate::review::decide;
use crate::support::{
    CASHIER_PIN, MANAGER_PIN, Reply, Sent, Shop, accepted, error, fare, json_answer, question, seat,
};

fn scope() -> Scope {
    Scope {
        company: Company::parse("A").unwrap(),
        integration: Integration::parse("pos").unwrap(),
        environment: Environment::parse("production").unwrap(),
    }
}

/// What the manager types: the newest content with another buyer and seat.
pub async fn correction(shop: &Shop, id: &str, seat: &str) -> CorrectSaleRequest {
    let shown = shop.till.sale_detail(id).await.unwrap();
    CorrectSaleRequest {
        external_transaction_id: id.to_owned(),
        revision: shown.revision,
        content: SaleContent {
            buyer_name: Some("  María   Ramos ".to_owned()),
            seat: Some(seat.to_owned()),
            ..shown.content
        },
        manager_id: "m".to_owned(),
        pin: MANAGER_PIN.to_owned(),
        reason: "el nombre tenía un error".to_owned(),
    }
}

async fn refused_by(shop: &Shop, status: u16, code: &str) -> String {
    shop.yupy.then(error(status, code));
    let checkout = shop.sell(seat("12A")).await;
    let id = checkout.sales[0].external_transaction_id.clone();
    shop.until(&id, SaleState::NeedsAttention).await;
    id
}

/// The sale as YUPY's list has it, said as in this body.
fn listed(sent: &Sent) -> Value {
    let body = sent.json();
    json!({
        "yupy_transaction_id": "ypt-early", "external_transaction_id": body["external_transaction_id"],
        "amount": body["amount"], "currency": "PEN", "occurred_at": body["occurred_at"],
        "state": { "operational": "active", "financial": "paid" }, "created_at": "2026-11-30T15:00:01Z",
        "buyer_name": body["buyer_name"], "context": body["context"],
    })
}

#[tokio::test(start_paused = true)]
async fn a_correction_is_the_same_sale_with_a_new_body_under_the_key_of_its_revision() {
    let shop = Shop::open().await;
    let id = refused_by(&shop, 422, "validation_failed").await;
    let request = correction(&shop, &id, "12B").await;
    shop.till.correct_sale(&request).await.unwrap();
    let sale = shop.until(&id, SaleState::Accepted).await;
    assert_eq!(sale.seat.as_deref(), Some("12A"), "what was sold and printed stays");
    let sent = shop.yupy.sales();
    assert_eq!(sent.len(), 2);
    let external = ExternalTransactionId::parse(id.clone()).unwrap();
    for (sent, revision) in sent.iter().zip(0..) {
        let key = keys::create_key(&scope(), &external, revision);
        assert_eq!(sent.key.as_deref(), Some(key.as_str()), "revision {revision}");
    }
    let (mut first, second) = (sent[0].json(), sent[1].json());
    first["buyer_name"] = json!("María Ramos");
    first["context"]["seat"] = json!("12B");
    assert_eq!(first, second, "nothing else changes");
    let shown = shop.till.sale_detail(&id).await.unwrap();
    assert_eq!((shown.revision, shown.verdict), (1, SaleVerdict::Counts));
    assert_eq!(shown.sold.seat.as_deref(), Some("12A"));
    assert_eq!(shown.content.seat.as_deref(), Some("12B"));
    let corrected = shown.timeline.iter().find(|entry| entry.happened == Happening::Corrected).unwrap();
    assert_eq!(corrected.person.as_deref(), Some("Encargado"));
    assert_eq!(corrected.reason.as_deref(), Some("el nombre tenía un error"));
    assert_eq!(corrected.detail.as_deref(), Some("buyer_name, seat"));
}

#[tokio::test(start_paused = true)]
async fn a_refused_sale_can_be_sent_again_as_it_is_with_its_key_and_its_bytes() {
    let shop = Shop::open().await;
    let id = refused_by(&shop, 418, "something_new").await;
    let shown = shop.till.sale_detail(&id).await.unwrap();
    let request = CorrectSaleRequest { content: shown.content, ..correction(&shop, &id, "12A").await };
    shop.till.correct_sale(&request).await.unwrap();
    shop.until(&id, SaleState::Accepted).await;
    let sent = shop.yupy.sales();
    assert_eq!((&sent[0].key, &sent[0].body), (&sent[1].key, &sent[1].body));
    assert_eq!(shop.till.sale_detail(&id).await.unwrap().revision, 0);
}

#[tokio::test(start_paused = true)]
async fn what_yupy_did_not_refuse_for_its_content_cannot_be_corrected() {
    let shop = Shop::open().await;
    // Accepted, and then one that waits with an attempt whose outcome nobody knows.
    let accepted_id = shop.sell(seat("12A")).await.sales[0].external_transaction_id.clone();
    shop.until(&accepted_id, SaleState::Accepted).await;
    shop.yupy.down(Failure::TimedOut);
    let unknown = shop.sell(seat("12B")).await.sales[0].external_transaction_id.clone();
    shop.till.send_now().await.unwrap();
    for id in [&accepted_id, &unknown] {
        let request = correction(&shop, id, "1B").await;
        let refused = shop.till.correct_sale(&request).await.unwrap_err();
        assert_eq!(refused.code, ProblemCode::NotCorrectable, "{id}");
        assert_eq!(shop.till.sale_detail(id).await.unwrap().revision, 0);
    }
    shop.yupy.up();
    for (status, code) in [(409, "external_transaction_conflict"), (409, "idempotency_conflict")] {
        let id = {
            shop.yupy.then(error(status, code));
            let sale = shop.sell(fare(1)).await.sales[0].external_transaction_id.clone();
            shop.until(&sale, SaleState::NeedsAttention).await;
            sale
        };
        let request = correction(&shop, &id, "1B").await;
        let refused = shop.till.correct_sale(&request).await.unwrap_err();
        assert_eq!(refused.code, ProblemCode::NotCorrectable, "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_correction_needs_a_manager_a_reason_texts_that_can_be_sent_and_the_sale_as_it_was_shown() {
    let shop = Shop::open().await;
    let id = refused_by(&shop, 422, "validation_failed").await;
    let good = correction(&shop, &id, "12B").await;
    let long = "x".repeat(121);
    let with = |change: &dyn Fn(&mut CorrectSaleRequest)| {
        let mut request = good.clone();
        change(&mut request);
        request
    };
    for (request, code) in [
        (with(&|it| it.pin = CASHIER_PIN.to_owned()), ProblemCode::PinWrong),
        (
            with(&|it| (it.manager_id, it.pin) = ("c".to_owned(), CASHIER_PIN.to_owned())),
            ProblemCode::ManagerRequired,
        ),
        (with(&|it| it.reason = "  ".to_owned()), ProblemCode::ReasonRequired),
        (with(&|it| it.content.seat = Some("12\u{0}".to_owned())), ProblemCode::TextInvalid),
        (with(&|it| it.content.order = Some(long.clone())), ProblemCode::TextInvalid),
        (with(&|it| it.revision = 1), ProblemCode::SaleChanged),
        (with(&|it| it.external_transaction_id = "X".to_owned()), ProblemCode::NotFound),
    ] {
        let refused = shop.till.correct_sale(&request).await.unwrap_err();
        assert_eq!(refused.code, code);
    }
    assert_eq!(shop.sale(&id).await.state, SaleState::NeedsAttention);
    shop.till.correct_sale(&good).await.unwrap();
    shop.until(&id, SaleState::Accepted).await;
    let again = shop.till.correct_sale(&good).await.unwrap_err();
    assert_eq!(again.code, ProblemCode::SaleChanged, "pressed twice, corrected once");
    assert_eq!(shop.yupy.sales().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_earlier_version_that_yupy_has_after_all_is_found_before_the_correction_leaves() {
    let shop = Shop::open().await;
    let id = refused_by(&shop, 422, "validation_failed").await;
    let request = correction(&shop, &id, "12B").await;
    let first = shop.yupy.sales().remove(0);
    shop.yupy.list(vec![listed(&first)]);
    shop.till.correct_sale(&request).await.unwrap();
    let sale = shop.until(&id, SaleState::Accepted).await;
    assert_eq!(sale.yupy_transaction_id.as_deref(), Some("ypt-early"));
    assert_eq!(shop.yupy.sales().len(), 1, "the correction is not sent");
    let shown = shop.till.sale_detail(&id).await.unwrap();
    assert_eq!(shown.verdict, SaleVerdict::CountsWithDifference);
    assert!(shown.timeline.iter().any(|entry| entry.happened == Happening::AcceptedEarlier));
}

#[tokio::test(start_paused = true)]
async fn an_earlier_version_that_arrives_while_the_correction_travels_is_no_identity_collision() {
    let shop = Shop::open().await;
    let id = refused_by(&shop, 422, "validation_failed").await;
    let request = correction(&shop, &id, "12B").await;
    let (first, yupy) = (shop.yupy.sales().remove(0), shop.yupy.clone());
    shop.yupy.then(move |body| {
        yupy.list(vec![listed(&first)]);
        error(409, "external_transaction_conflict")(body)
    });
    shop.till.correct_sale(&request).await.unwrap();
    let sale = shop.until(&id, SaleState::Accepted).await;
    assert_eq!(sale.yupy_transaction_id.as_deref(), Some("ypt-early"));
    let status = shop.till.status().await.unwrap().unwrap();
    assert!(status.new_epoch.is_none(), "nobody else uses this till's numbers");
    assert_eq!(
        shop.till.sale_detail(&id).await.unwrap().verdict,
        SaleVerdict::CountsWithDifference,
        "and the difference shows"
    );
}

#[tokio::test(start_paused = true)]
async fn somebody_elses_sale_under_the_id_of_a_corrected_one_is_still_an_alarm() {
    let shop = Shop::open().await;
    let id = refused_by(&shop, 422, "validation_failed").await;
    let request = correction(&shop, &id, "12B").await;
    let mut other = listed(&shop.yupy.sales()[0]);
    other["amount"] = json!("9.00");
    shop.yupy.list(vec![other]);
    shop.till.correct_sale(&request).await.unwrap();
    let sale = shop.until(&id, SaleState::NeedsAttention).await;
    assert_eq!(sale.reason, Some(SaleReason::IdentityCollision));
}

#[tokio::test(start_paused = true)]
async fn a_question_about_a_corrected_sale_is_confirmed_with_the_corrected_body() {
    let shop = Shop::open().await;
    let id = refused_by(&shop, 422, "validation_failed").await;
    shop.yupy.then(question("ch-1", "token-1", "ypt-1"));
    shop.till.correct_sale(&correction(&shop, &id, "12B").await).await.unwrap();
    shop.until(&id, SaleState::InReview).await;
    shop.till.decide(&decide(&id, "ch-1", Decision::DifferentSale)).await.unwrap();
    shop.until(&id, SaleState::Accepted).await;
    let sent = shop.yupy.sales();
    assert_eq!(sent[2].json()["context"]["seat"], "12B");
    assert_eq!(sent[2].json()["duplicate_confirmation_token"], "token-1");
}

#[tokio::test(start_paused = true)]
async fn a_correction_survives_a_crash_at_any_time_with_its_key() {
    let mut shop = Shop::open().await;
    let id = refused_by(&shop, 422, "validation_failed").await;
    shop.yupy.down(Failure::TimedOut);
    shop.till.correct_sale(&correction(&shop, &id, "12B").await).await.unwrap();
    shop.till.send_now().await.unwrap();
    shop.crash().await;
    shop.yupy.up();
    shop.until(&id, SaleState::Accepted).await;
    let keys: std::collections::BTreeSet<_> = shop.yupy.sales().into_iter().map(|sent| sent.key).collect();
    assert_eq!(keys.len(), 2, "one for each revision");
}

/// What the line and YUPY do with one request.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Accept,
    AcceptAndLoseTheAnswer,
    LoseTheRequest,
    /// It arrives only after everything else that is sent until the next request.
    ArriveLate,
    Refuse,
}

/// As much of YUPY as decides whether a sale exists once or twice: contract §5, rows D and F.
#[derive(Default)]
struct Books {
    keys: std::collections::BTreeMap<String, Value>,
    sales: Vec<Value>,
    late: Vec<(String, Value)>,
}

impl Books {
    fn take(&mut self, key: &str, body: &Value) -> Reply {
        if self.keys.get(key).is_some_and(|known| known != body) {
            return error(409, "idempotency_conflict")(body);
        }
        let id = &body["external_transaction_id"];
        if let Some(known) = self.sales.iter().find(|sale| sale["external_transaction_id"] == *id) {
            let replayed = self.keys.contains_key(key);
            if !replayed && known["context"] != body["context"] {
                return error(409, "external_transaction_conflict")(body);
            }
            let differs =
                if known["buyer_name"] == body["buyer_name"] { json!([]) } else { json!(["buyer_name"]) };
            return json_answer(
                200,
                &json!({
                    "result": "existing_transaction", "yupy_transaction_id": format!("ypt-{}", id.as_str().unwrap()),
                    "external_transaction_id": id, "occurred_at": body["occurred_at"],
                    "idempotency_replayed": replayed, "ignored_differences": differs,
                }),
            );
        }
        self.keys.insert(key.to_owned(), body.clone());
        self.sales.push(body.clone());
        accepted(body)
    }

    fn list(&self) -> Vec<Value> {
        let item = |body: &Value| {
            let sent = Sent { path: String::new(), key: None, body: body.to_string().into_bytes() };
            let mut item = listed(&sent);
            item["yupy_transaction_id"] =
                json!(format!("ypt-{}", body["external_transaction_id"].as_str().unwrap()));
            item
        };
        self.sales.iter().map(item).collect()
    }
}

fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fate = prop_oneof![
        1 => Just(Fate::Accept),
        1 => Just(Fate::AcceptAndLoseTheAnswer),
        1 => Just(Fate::LoseTheRequest),
        1 => Just(Fate::ArriveLate),
        3 => Just(Fate::Refuse),
    ];
    prop::collection::vec(fate, 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn no_order_of_corrections_and_answers_makes_two_sales_or_loses_one(fates in fates()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let shop = Shop::open().await;
            let books = std::sync::Arc::new(std::sync::Mutex::new(Books::default()));
            for fate in fates {
                let (books, yupy) = (books.clone(), shop.yupy.clone());
                shop.yupy.then_keyed(move |key, body| {
                    let mut books = books.lock().unwrap();
                    let late = std::mem::take(&mut books.late);
                    for (key, body) in late {
                        let _ = books.take(&key, &body);
                    }
                    let reply = match fate {
                        Fate::Accept => books.take(key, body),
                        Fate::AcceptAndLoseTheAnswer => {
                            let _ = books.take(key, body);
                            Err(Failure::ConnectionLost)
                        }
                        Fate::LoseTheRequest => Err(Failure::TimedOut),
                        Fate::ArriveLate => {
                            books.late.push((key.to_owned(), body.clone()));
                            Err(Failure::TimedOut)
                        }
                        // A server that accepted a key answers it before it looks at the content.
                        Fate::Refuse if books.keys.contains_key(key) => books.take(key, body),
                        Fate::Refuse => error(422, "validation_failed")(body),
                    };
                    yupy.list(books.list());
                    reply
                });
            }
            {
                let (books, yupy) = (books.clone(), shop.yupy.clone());
                shop.yupy.otherwise(move |key, body| {
                    let mut books = books.lock().unwrap();
                    let late = std::mem::take(&mut books.late);
                    for (key, body) in late {
                        let _ = books.take(&key, &body);
                    }
                    let reply = books.take(key, body);
                    yupy.list(books.list());
                    reply
                });
            }
            let id = shop.sell(seat("12A")).await.sales[0].external_transaction_id.clone();
            for round in 0..40 {
                let sale = shop.sale(&id).await;
                match sale.state {
                    SaleState::Accepted => break,
                    SaleState::NeedsAttention => {
                        assert_eq!(sale.reason, Some(SaleReason::ValidationFailed));
                        let request = correction(&shop, &id, ["12B", "11A", "11B"][round % 3]).await;
                        shop.till.correct_sale(&request).await.unwrap();
                    }
                    SaleState::Queued
                    | SaleState::Sending
                    | SaleState::InReview
                    | SaleState::OnHold
                    | SaleState::Discarded
                    | SaleState::Withdrawn => {
                        shop.clock.forward(61_000);
                        shop.till.send_now().await.unwrap();
                    }
                }
            }
            let sale = shop.until(&id, SaleState::Accepted).await;
            assert_eq!(sale.yupy_transaction_id, Some(format!("ypt-{id}")));
            let shown = shop.till.sale_detail(&id).await.unwrap();
            let books = books.lock().unwrap();
            assert_eq!(books.sales.len(), 1, "one sale is one transaction");
            let same = books.sales[0]["context"]["seat"] == json!(shown.content.seat)
                && books.sales[0]["buyer_name"] == json!(shown.content.buyer_name);
            let said = if same { SaleVerdict::Counts } else { SaleVerdict::CountsWithDifference };
            assert_eq!(shown.verdict, said, "what YUPY has is what the screen says that it has");
        });
    }
}
