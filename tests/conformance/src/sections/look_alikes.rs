//! §6 and rows G2 and G3: when two sales look alike, and the question that follows.

use futures_util::future::try_join_all;

use super::prelude::*;

section! { "look_alikes":
    an_amount_alone_is_two_sales covers G2 AmountAlone;
    ten_equal_fares_on_one_bus_are_ten_sales covers G2 EqualFares;
    another_seat_is_another_sale covers G2 OtherSeat;
    the_same_seat_under_another_id_is_a_question covers G3 SameSeat;
    a_voided_sale_is_nobodys_look_alike covers G2 OneVoided;
    the_same_buyer_without_a_seat_is_a_question covers G3 SameBuyer;
    the_same_seat_hours_apart_is_two_sales_although_both_arrive_at_once covers G2 HoursApart;
    a_question_has_all_that_a_person_needs_to_decide covers G3 Rule;
    a_question_takes_nothing covers G3;
    the_window_is_about_when_it_happened_in_both_directions covers G2 G3 Rule;
    a_sale_without_a_time_happened_when_it_arrived covers G3 Body;
    amount_and_currency_are_necessary covers G2 Rule;
    one_field_that_both_have_and_that_differs_tells_them_apart covers G2 Rule;
    a_field_that_only_one_has_tells_nothing covers G3 Rule;
    an_identifying_field_and_four_signals_are_needed covers G2 G3 Rule;
    empty_texts_are_no_signals covers G2 Rule Validation;
    names_are_compared_without_case_form_or_spaces covers G3 Rule;
    the_candidate_has_most_signals_and_then_is_nearest_in_time covers G3 BestCandidate;
    a_text_may_be_long_and_identifies_all_the_same covers G3 Rule;
    an_integration_has_a_rule_of_its_own covers G2 G3 Everywhere;
    a_till_that_comes_back_sends_its_sales_in_one_second_and_none_is_asked_about covers G2 HoursApart;
}

const SUSPECTED: &str = "possible_duplicate_transaction";

async fn an_amount_alone_is_two_sales(stage: Stage) -> Result<()> {
    stage.create("k1", &stage.bare("A")).await?.expect(201)?;
    stage.create("k2", &stage.bare("B")).await?.expect(201)?;
    Ok(())
}

async fn ten_equal_fares_on_one_bus_are_ten_sales(stage: Stage) -> Result<()> {
    for n in 0..10 {
        let label = format!("E{n}");
        let fare = stage.sale(&label, json!({"occurred_at": stage.time(-n), "context": {"seat": null}}));
        stage.create(&label, &fare).await?.expect(201)?;
    }
    Ok(())
}

async fn another_seat_is_another_sale(stage: Stage) -> Result<()> {
    stage.create("k1", &stage.sale("A", json!({}))).await?.expect(201)?;
    let other = stage.sale("B", json!({"buyer_name": "Rosa", "context": {"seat": stage.id("12B")}}));
    stage.create("k2", &other).await?.expect(201)?;
    Ok(())
}

async fn the_same_seat_under_another_id_is_a_question(stage: Stage) -> Result<()> {
    stage.create("k1", &stage.sale("A", json!({}))).await?.expect(201)?;
    let alike = stage.sale("B", json!({"occurred_at": stage.time(0)}));
    stage.create("k2", &alike).await?.refused(409, SUSPECTED)?;
    // No word of the till's own forces it.
    let mut forced = alike.clone();
    for name in ["force", "confirmed", "allow_duplicate"] {
        forced[name] = json!(true);
    }
    stage.create("k3", &forced).await?.refused(409, SUSPECTED)?;
    Ok(())
}

async fn a_voided_sale_is_nobodys_look_alike(stage: Stage) -> Result<()> {
    let id = stage.created("k1", &stage.sale("A", json!({}))).await?;
    stage.void(&id).await?;
    stage.create("k2", &stage.sale("B", json!({}))).await?.expect(201)?;
    Ok(())
}

async fn the_same_buyer_without_a_seat_is_a_question(stage: Stage) -> Result<()> {
    let sale = |label: &str| stage.sale(label, json!({"buyer_name": stage.id("Rosa"), "context": null}));
    stage.create("k1", &sale("A")).await?.expect(201)?;
    stage.create("k2", &sale("B")).await?.refused(409, SUSPECTED)?.with(json!({"error": {
        "matching_signals": ["amount", "currency", "buyer_name", "shift_id", "device_id"],
    }}))?;
    Ok(())
}

async fn the_same_seat_hours_apart_is_two_sales_although_both_arrive_at_once(stage: Stage) -> Result<()> {
    let sale = |label: &str, hours: i64| stage.sale(label, json!({"occurred_at": stage.time(-3600 * hours)}));
    let (early, late) = (sale("A", 4), sale("B", 1));
    let answers = try_join_all([stage.create("k1", &early), stage.create("k2", &late)]).await?;
    for answer in answers {
        answer.expect(201)?;
    }
    Ok(())
}

async fn a_question_has_all_that_a_person_needs_to_decide(stage: Stage) -> Result<()> {
    let context = json!({
        "custom_reference_1": "ROUTE-184", "custom_reference_2": stage.id("SEAT"), "order": "O", "product": "P",
        "service": "S",
    });
    let first = stage.sale("A", json!({"buyer_name": "Rosa", "context": context}));
    let id = stage.created("k1", &first).await?;
    let alike = stage.sale("B", json!({
        "buyer_name": "rosa", "occurred_at": stage.time(0), "device_id": stage.id("OTHER"), "context": context,
    }));
    let question = stage.create("k2", &alike).await?.refused(409, SUSPECTED)?.with(json!({"error": {
        "candidate": {
            "yupy_transaction_id": id, "external_transaction_id": stage.id("A"), "amount": stage.amount(50),
            "currency": "PEN", "device_id": stage.id("DEVICE"), "shift_id": stage.id("SHIFT"),
            "state": {"operational": "active", "financial": "awaiting_payment"},
        },
        "candidates_count": 1, "resolution": "review_before_creating", "previous_confirmation": null,
        "matching_signals": [
            "amount", "currency", "buyer_name", "shift_id", "route", "seat", "order", "product", "service",
            "custom_reference_1", "custom_reference_2",
        ],
    }}))?;
    let happened: jiff::Timestamp = question.text("error.candidate.occurred_at")?.parse()?;
    ensure!(happened == stage.time(-60).parse()?, "not the candidate's own time: {}", question.summary());
    ensure!(!question.text("error.challenge_id")?.is_empty(), "no challenge");
    ensure!(!question.text("error.duplicate_confirmation_token")?.is_empty(), "no token");
    let expires: jiff::Timestamp = question.text("error.expires_at")?.parse()?;
    ensure!(expires > stage.now, "expired before it was asked");
    Ok(())
}

async fn a_question_takes_nothing(stage: Stage) -> Result<()> {
    stage.create("k1", &stage.sale("A", json!({}))).await?.expect(201)?;
    stage.create("k2", &stage.sale("B", json!({}))).await?.refused(409, SUSPECTED)?;
    ensure!(stage.count(&stage.id("B")).await? == 0, "a question has sold");
    let elsewhere = stage.sale("B", json!({"context": {"seat": stage.id("12B")}}));
    stage.create("k3", &elsewhere).await?.expect(201)?;
    Ok(())
}

async fn the_window_is_about_when_it_happened_in_both_directions(stage: Stage) -> Result<()> {
    let sale = |label: &str, at: i64| stage.sale(label, json!({"occurred_at": stage.time(at)}));
    stage.create("a", &sale("A", -5_000)).await?.expect(201)?;
    for (n, apart) in [-599, -300, -1, 0, 1, 300, 599].into_iter().enumerate() {
        let label = format!("INSIDE{n}");
        stage.create(&label, &sale(&label, -5_000 + apart)).await?.refused(409, SUSPECTED)?;
    }
    for (n, apart) in [-601, 601].into_iter().enumerate() {
        let label = format!("OUTSIDE{n}");
        stage.create(&label, &sale(&label, -5_000 + apart)).await?.expect(201)?;
    }
    Ok(())
}

async fn a_sale_without_a_time_happened_when_it_arrived(stage: Stage) -> Result<()> {
    let sale = |label: &str, at: Value| stage.sale(label, json!({"occurred_at": at}));
    stage.create("k1", &sale("A", json!(null))).await?.expect(201)?;
    stage.create("k2", &sale("B", json!(stage.time(0)))).await?.refused(409, SUSPECTED)?;
    stage.create("k3", &sale("C", json!(stage.time(-3_600)))).await?.expect(201)?;
    Ok(())
}

async fn amount_and_currency_are_necessary(stage: Stage) -> Result<()> {
    let all = json!({"buyer_name": "Rosa", "context": {"order": "O", "product": "P"}});
    stage.create("k1", &stage.sale("A", all.clone())).await?.expect(201)?;
    for (n, more) in [json!({"amount": stage.amount(51)}), json!({"currency": "USD"})].into_iter().enumerate()
    {
        let label = format!("B{n}");
        let mut other = stage.sale(&label, all.clone());
        crate::stage::lay_over(&mut other, more);
        stage.create(&label, &other).await?.expect(201)?;
    }
    Ok(())
}

const CONTEXT: [&str; 7] =
    ["route", "seat", "order", "product", "service", "custom_reference_1", "custom_reference_2"];

async fn one_field_that_both_have_and_that_differs_tells_them_apart(stage: Stage) -> Result<()> {
    for name in CONTEXT {
        // Each pair has its own passenger, so that the pairs are not alike.
        let passenger = stage.id(name);
        let sale = |label: &str, value: &str| {
            let context = json!({"route": null, "seat": null, name: value});
            stage.sale(&format!("{label}-{name}"), json!({"buyer_name": passenger, "context": context}))
        };
        stage.create(&format!("{name}1"), &sale("A", "1")).await?.expect(201)?;
        stage.create(&format!("{name}2"), &sale("B", "2")).await?.expect(201)?;
        stage.create(&format!("{name}3"), &sale("C", "1")).await?.refused(409, SUSPECTED)?;
    }
    Ok(())
}

async fn a_field_that_only_one_has_tells_nothing(stage: Stage) -> Result<()> {
    for name in CONTEXT {
        let passenger = stage.id(name);
        let sale = |label: &str, context: Value| {
            stage.sale(&format!("{label}-{name}"), json!({"buyer_name": passenger, "context": context}))
        };
        let without = json!({"route": null, "seat": null});
        stage.create(&format!("{name}1"), &sale("A", without)).await?.expect(201)?;
        let with = json!({"route": null, "seat": null, name: "1"});
        stage.create(&format!("{name}2"), &sale("B", with)).await?.refused(409, SUSPECTED)?;
    }
    // Neither do other tills, shifts, names or ways to pay.
    stage.create("till1", &stage.sale("S", json!({"buyer_name": "Rosa"}))).await?.expect(201)?;
    let other = stage.sale(
        "T",
        json!({
            "buyer_name": "Julia", "shift_id": "OTHER", "device_id": "OTHER", "payment_method": "card",
            "integration_experience": "other",
        }),
    );
    stage.create("till2", &other).await?.refused(409, SUSPECTED)?.with(json!({"error": {
        "matching_signals": ["amount", "currency", "route", "seat"],
    }}))?;
    Ok(())
}

async fn an_identifying_field_and_four_signals_are_needed(stage: Stage) -> Result<()> {
    // amount, currency and one more: three signals.
    for name in ["seat", "order", "custom_reference_2"] {
        let sale = |label: &str, more: Value| {
            let mut sale = stage.bare(&format!("{label}-{name}"));
            sale["occurred_at"] = json!(stage.time(-60));
            sale["context"] = json!({name: stage.id(name)});
            crate::stage::lay_over(&mut sale, more);
            sale
        };
        stage
            .create(&format!("{name}1"), &sale("A", json!({"device_id": stage.id(name)})))
            .await?
            .expect(201)?;
        stage.create(&format!("{name}2"), &sale("B", json!({}))).await?.expect(201)?;
        let fourth = sale("C", json!({"device_id": stage.id(name)}));
        stage.create(&format!("{name}3"), &fourth).await?.refused(409, SUSPECTED)?;
    }
    // Everything but an identifying field is nothing.
    let anonymous = |label: &str| {
        let context = json!({"seat": null, "product": "P", "service": "S", "custom_reference_1": "R"});
        stage.sale(label, json!({"context": context}))
    };
    stage.create("anonymous1", &anonymous("X")).await?.expect(201)?;
    stage.create("anonymous2", &anonymous("Y")).await?.expect(201)?;
    Ok(())
}

async fn empty_texts_are_no_signals(stage: Stage) -> Result<()> {
    let sale = |label: &str| {
        stage.sale(label, json!({"buyer_name": " \t ", "context": {"seat": "", "order": "\u{a0}"}}))
    };
    stage.create("k1", &sale("A")).await?.expect(201)?;
    stage.create("k2", &sale("B")).await?.expect(201)?;
    // Empty and something are not different either.
    let named = |label: &str, seat: &str| {
        stage.sale(label, json!({"buyer_name": stage.id("Rosa"), "context": {"seat": seat}}))
    };
    stage.create("k3", &named("C", "")).await?.expect(201)?;
    stage.create("k4", &named("D", "12A")).await?.refused(409, SUSPECTED)?;
    Ok(())
}

async fn names_are_compared_without_case_form_or_spaces(stage: Stage) -> Result<()> {
    let sale = |label: &str, name: &str| {
        stage.sale(label, json!({"buyer_name": format!("{name} {}", stage.tag), "context": null}))
    };
    stage.create("k", &sale("A", "María Núñez Strauß")).await?.expect(201)?;
    for (n, name) in ["MARÍA NÚÑEZ STRAUSS", "mari\u{301}a  nún\u{303}ez strauß", " María\u{a0}Núñez Strauß "]
        .into_iter()
        .enumerate()
    {
        let label = format!("B{n}");
        stage.create(&label, &sale(&label, name)).await?.refused(409, SUSPECTED)?;
    }
    // An accent is part of a name.
    stage.create("c", &sale("C", "Maria Nunez Strauss")).await?.expect(201)?;
    Ok(())
}

async fn the_candidate_has_most_signals_and_then_is_nearest_in_time(stage: Stage) -> Result<()> {
    let sale = |label: &str, at: i64, more: Value| {
        let mut sale =
            stage.sale(label, json!({"occurred_at": stage.time(at), "shift_id": null, "device_id": null}));
        crate::stage::lay_over(&mut sale, more);
        sale
    };
    let asked = |label: &str| sale(label, -1_000, json!({"shift_id": "S", "buyer_name": "Rosa"}));
    // Stored side by side: none of these three is within the window of another, but all are of the question's.
    let far = stage.created("far", &sale("FAR", -1_590, json!({"shift_id": "S"}))).await?;
    stage.create("first", &asked("B")).await?.refused(409, SUSPECTED)?.with(json!({"error": {
        "candidate": {"yupy_transaction_id": far}, "candidates_count": 1,
    }}))?;
    let near = stage.created("near", &sale("NEAR", -900, json!({}))).await?;
    let question = stage.create("second", &asked("C")).await?.refused(409, SUSPECTED)?;
    question.with(json!({"error": {"candidate": {"yupy_transaction_id": far}, "candidates_count": 2}}))?;
    // With as many signals each, time decides.
    let equal = sale("D", -1_000, json!({}));
    stage.create("third", &equal).await?.refused(409, SUSPECTED)?.with(json!({"error": {
        "candidate": {"yupy_transaction_id": near}, "candidates_count": 2,
    }}))?;
    Ok(())
}

/// Longer than what an index of a database may hold, and without a pattern that it could shorten.
fn long_text(stage: &Stage) -> String {
    let mut state: u64 =
        stage.id("seed").bytes().fold(7, |state, byte| state.wrapping_mul(31) + u64::from(byte));
    std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + u8::try_from((state >> 33) % 26).expect("below 26"))
    })
    .take(5_000)
    .collect()
}

async fn a_text_may_be_long_and_identifies_all_the_same(stage: Stage) -> Result<()> {
    let text = long_text(&stage);
    let fields = [
        ("device", json!({"device_id": text})),
        ("name", json!({"buyer_name": text, "context": {"seat": null}})),
        ("seat", json!({"context": {"seat": text}})),
        ("order", json!({"context": {"seat": null, "order": text}})),
        ("reference", json!({"context": {"seat": null, "custom_reference_2": text}})),
    ];
    for (cents, (field, long)) in (60..).zip(fields) {
        let sale = |label: &str| {
            let mut sale = stage.sale(&format!("{label}-{field}"), long.clone());
            sale["amount"] = json!(stage.amount(cents));
            sale
        };
        stage.create(&format!("k1-{field}"), &sale("A")).await?.expect(201)?;
        stage.create(&format!("k2-{field}"), &sale("B")).await?.refused(409, SUSPECTED)?;
    }
    Ok(())
}

async fn an_integration_has_a_rule_of_its_own(stage: Stage) -> Result<()> {
    let post = |key: &str, body: &Value| stage.creation(key, body).by(Role::OtherRule);
    // There a seat identifies nobody.
    post("k1", &stage.sale("A", json!({}))).send().await?.expect(201)?;
    post("k2", &stage.sale("B", json!({}))).send().await?.expect(201)?;
    let order = |label: &str| stage.sale(label, json!({"context": {"seat": null, "order": stage.id("O")}}));
    post("k3", &order("C")).send().await?.expect(201)?;
    post("k4", &order("D")).send().await?.refused(409, SUSPECTED)?;
    // And five minutes are far apart there.
    let mut later = order("E");
    later["occurred_at"] = json!(stage.time(-360));
    post("k5", &later).send().await?.expect(201)?;
    Ok(())
}

async fn a_till_that_comes_back_sends_its_sales_in_one_second_and_none_is_asked_about(
    stage: Stage,
) -> Result<()> {
    let sales: Vec<_> = (0..40)
        .map(|n| stage.sale(&format!("E{n}"), json!({"occurred_at": stage.time(-10_000 + 700 * n)})))
        .collect();
    let sent = sales.iter().enumerate().map(|(n, sale)| {
        let stage = &stage;
        async move { stage.create(&format!("k{n}"), sale).await }
    });
    for answer in try_join_all(sent).await? {
        answer.expect(201)?;
    }
    Ok(())
}
