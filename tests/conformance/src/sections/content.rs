//! §4: what is the same content, and what is not.

use super::prelude::*;

section! { "content":
    layout_order_and_escapes_are_no_content covers D2 Compared;
    zeros_of_an_amount_are_no_content covers D2 Compared Body;
    form_and_spaces_of_free_texts_are_no_content covers D2 Compared Validation;
    every_other_member_is_content covers D1 Compared;
    what_was_sent_counts_and_not_what_it_stands_for covers D1 Compared;
    list_order_is_content covers D1 Compared;
}

async fn layout_order_and_escapes_are_no_content(stage: Stage) -> Result<()> {
    let (id, amount) = (stage.id("E"), stage.amount(50));
    let post = |body: String| stage.post("/v1/transactions").key("k").bytes(body);
    let plain = format!(r#"{{"external_transaction_id":"{id}","amount":"{amount}","buyer_name":"María"}}"#);
    post(plain).send().await?.expect(201)?;
    for other in [
        format!(
            "\r\n{{\t\"external_transaction_id\" : \"{id}\" ,\n\"amount\": \"{amount}\", \"buyer_name\": \"María\" }}\n"
        ),
        format!(r#"{{"buyer_name":"María","amount":"{amount}","external_transaction_id":"{id}"}}"#),
        format!(r#"{{"external_transaction_id":"{id}","\u0061mount":"{amount}","buyer_name":"Mar\u00eda"}}"#),
    ] {
        post(other).send().await?.expect(200)?.with(json!({"idempotency_replayed": true}))?;
    }
    Ok(())
}

async fn zeros_of_an_amount_are_no_content(stage: Stage) -> Result<()> {
    let sale = |amount: &str| {
        let mut sale = stage.bare("E");
        sale["amount"] = json!(amount);
        sale
    };
    stage.create("k", &sale("7.5")).await?.expect(201)?.with(json!({"amount": "7.50"}))?;
    stage.create("k", &sale("7.50")).await?.expect(200)?.with(json!({"idempotency_replayed": true}))?;
    stage.create("k", &sale("7.05")).await?.refused(409, "idempotency_conflict")?;
    Ok(())
}

async fn form_and_spaces_of_free_texts_are_no_content(stage: Stage) -> Result<()> {
    let sale =
        |name: &str, order: &str| stage.sale("E", json!({"buyer_name": name, "context": {"order": order}}));
    stage.create("k", &sale("María Ramos", "O 1")).await?.expect(201)?;
    for (name, order) in
        [("  María   Ramos ", "O 1"), ("Mari\u{301}a\u{a0}Ramos", "O 1"), ("María\tRamos", "\u{2003}O  1")]
    {
        let again = stage.create("k", &sale(name, order)).await?.expect(200)?;
        again.with(json!({"idempotency_replayed": true}))?;
    }
    // Case is content, although look-alikes ignore it.
    stage.create("k", &sale("maría ramos", "O 1")).await?.refused(409, "idempotency_conflict")?;
    Ok(())
}

async fn every_other_member_is_content(stage: Stage) -> Result<()> {
    let full = json!({
        "buyer_name": "Rosa", "payment_method": "card",
        "context": {
            "custom_reference_1": "1", "custom_reference_2": "2", "order": "3", "product": "4", "service": "5",
        },
    });
    stage.create("k", &stage.sale("E", full.clone())).await?.expect(201)?;
    let other = |change: Value| {
        let mut sale = stage.sale("E", full.clone());
        crate::stage::lay_over(&mut sale, change);
        sale
    };
    for name in ["buyer_name", "payment_method", "shift_id", "device_id", "integration_experience", "unknown"]
    {
        stage.create("k", &other(json!({name: "other"}))).await?.refused(409, "idempotency_conflict")?;
    }
    for name in [
        "custom_reference_1",
        "custom_reference_2",
        "route",
        "seat",
        "order",
        "product",
        "service",
        "unknown",
    ] {
        let change = json!({"context": {name: "other"}});
        stage.create("k", &other(change)).await?.refused(409, "idempotency_conflict")?;
        let absent = json!({"context": {name: null}});
        if name != "unknown" {
            stage.create("k", &other(absent)).await?.refused(409, "idempotency_conflict")?;
        }
    }
    stage.create("k", &other(json!({}))).await?.expect(200)?;
    Ok(())
}

async fn what_was_sent_counts_and_not_what_it_stands_for(stage: Stage) -> Result<()> {
    let mut bare = stage.bare("E");
    stage.create("k", &bare).await?.expect(201)?;
    bare["currency"] = json!("PEN");
    stage.create("k", &bare).await?.refused(409, "idempotency_conflict")?;
    // Under a key of its own it is the same sale.
    stage
        .create("k2", &bare)
        .await?
        .expect(200)?
        .with(json!({"duplicate": true, "ignored_differences": []}))?;
    Ok(())
}

async fn list_order_is_content(stage: Stage) -> Result<()> {
    let sale = |list: Value| stage.sale("E", json!({"note": list}));
    stage.create("k", &sale(json!([1, 2]))).await?.expect(201)?;
    stage.create("k", &sale(json!([2, 1]))).await?.refused(409, "idempotency_conflict")?;
    stage.create("k", &sale(json!([1, 2]))).await?.expect(200)?;
    Ok(())
}
