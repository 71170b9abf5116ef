//! Rows F: the same sale sent again under another key.

use super::prelude::*;

section! { "external_ids":
    the_same_sale_under_another_key_is_the_sale_already_known covers F2;
    when_it_is_sent_is_no_part_of_a_sale covers F2 Scope;
    differences_that_are_never_critical_are_reported_and_not_applied covers F2 Compared;
    a_different_amount_or_currency_is_a_conflict_that_changes_nothing covers F1 Compared;
    every_critical_context_field_conflicts_when_both_have_it covers F1 Compared;
    all_conflicting_fields_are_named_in_order_without_values covers F1;
    context_that_only_one_side_has_is_no_conflict_and_is_not_filled_in covers F2 Compared;
    a_voided_sale_keeps_its_id covers F1 F2;
    a_known_id_is_answered_before_look_alikes_and_tokens covers F1 F2 G1;
    external_ids_are_compared_byte_by_byte covers H1 Body;
}

async fn the_same_sale_under_another_key_is_the_sale_already_known(stage: Stage) -> Result<()> {
    let sale = stage.sale("E", json!({}));
    let first = stage.create("k1", &sale).await?.expect(201)?;
    let known = stage.create("k2", &sale).await?.expect(200)?.with_header("idempotency-replayed", "false")?;
    known.with(json!({
        "result": "existing_transaction", "duplicate": true, "duplicate_type": "same_external_transaction",
        "yupy_transaction_id": first.body["yupy_transaction_id"], "external_transaction_id": stage.id("E"),
        "state": {"operational": "active", "financial": "awaiting_payment"},
        "occurred_at": first.body["occurred_at"], "ignored_differences": [],
    }))?;
    ensure!(stage.count(&stage.id("E")).await? == 1, "not one sale");
    Ok(())
}

async fn when_it_is_sent_is_no_part_of_a_sale(stage: Stage) -> Result<()> {
    // Without a time, each arrival would be another time.
    let bare = stage.bare("E");
    stage.create("k1", &bare).await?.expect(201)?;
    stage.create("k1", &bare).await?.expect(200)?.with(json!({"idempotency_replayed": true}))?;
    stage
        .create("k2", &bare)
        .await?
        .expect(200)?
        .with(json!({"duplicate": true, "ignored_differences": []}))?;
    Ok(())
}

async fn differences_that_are_never_critical_are_reported_and_not_applied(stage: Stage) -> Result<()> {
    let id =
        stage.created("k", &stage.sale("E", json!({"buyer_name": "Rosa", "payment_method": "card"}))).await?;
    let before = stage.read(&id).await?;
    for (name, value) in [
        ("occurred_at", json!(stage.time(-50))),
        ("buyer_name", json!("Otra")),
        ("shift_id", json!("OTHER")),
        ("device_id", json!("OTHER")),
        ("integration_experience", json!("other")),
        ("payment_method", json!("cash")),
    ] {
        let known = stage
            .create(
                name,
                &stage.sale(
                    "E",
                    json!({
                        "buyer_name": "Rosa", "payment_method": "card", name: value,
                    }),
                ),
            )
            .await?
            .expect(200)?;
        known.with(json!({"duplicate": true, "ignored_differences": [name]}))?;
    }
    let mut after = stage.read(&id).await?;
    after.body["request_id"] = before.body["request_id"].clone();
    ensure!(after.body == before.body, "the sale has changed: {} to {}", before.summary(), after.summary());
    ensure!(stage.audited(json!({"event": "created"})).await? == 1, "created once");
    ensure!(stage.audit().await?.len() > 6, "ignored fields leave a row");
    Ok(())
}

async fn a_different_amount_or_currency_is_a_conflict_that_changes_nothing(stage: Stage) -> Result<()> {
    let id = stage.created("k", &stage.sale("E", json!({}))).await?;
    for (name, value) in [("amount", stage.amount(51)), ("currency", "USD".to_owned())] {
        let other = stage.sale("E", json!({name: value}));
        let conflict = stage.create(name, &other).await?.refused(409, "external_transaction_conflict")?;
        conflict.with(json!({"error": {
            "external_transaction_id": stage.id("E"), "yupy_transaction_id": id, "conflicting_fields": [name],
        }}))?;
    }
    stage.read(&id).await?.with(json!({"amount": stage.amount(50), "currency": "PEN"}))?;
    ensure!(stage.audit().await?.len() >= 3, "a conflict leaves a row");
    Ok(())
}

async fn every_critical_context_field_conflicts_when_both_have_it(stage: Stage) -> Result<()> {
    let names = ["custom_reference_1", "custom_reference_2", "order", "product", "route", "seat", "service"];
    for name in names {
        let sale =
            |value: &str| stage.sale(name, json!({"context": {"seat": null, "route": null, name: value}}));
        stage.create(&format!("{name}-1"), &sale(&stage.id("one"))).await?.expect(201)?;
        let conflict = stage.create(&format!("{name}-2"), &sale("other")).await?;
        let conflict = conflict.refused(409, "external_transaction_conflict")?;
        conflict.with(json!({"error": {"conflicting_fields": [name]}}))?;
    }
    Ok(())
}

async fn all_conflicting_fields_are_named_in_order_without_values(stage: Stage) -> Result<()> {
    let seat = stage.id("12A");
    stage
        .created("k1", &stage.sale("E", json!({"context": {"order": "SECRET-ORDER", "seat": seat}})))
        .await?;
    let other = stage.sale(
        "E",
        json!({
            "amount": stage.amount(51), "currency": "USD", "buyer_name": "Otra",
            "context": {"order": "2", "seat": "2", "route": "2", "product": "only here"},
        }),
    );
    let conflict = stage.create("k2", &other).await?.refused(409, "external_transaction_conflict")?;
    let conflict = conflict.with(json!({"error": {
        "conflicting_fields": ["amount", "currency", "order", "route", "seat"],
    }}))?;
    conflict.without(&["SECRET-ORDER", &seat, &stage.amount(50)])?;
    Ok(())
}

async fn context_that_only_one_side_has_is_no_conflict_and_is_not_filled_in(stage: Stage) -> Result<()> {
    let id = stage.created("k1", &stage.sale("E", json!({"context": {"order": "1"}}))).await?;
    let more = stage.sale("E", json!({"context": {"order": null, "product": "NEW-PRODUCT", "seat": null}}));
    stage.create("k2", &more).await?.expect(200)?.with(json!({"duplicate": true}))?;
    stage.read(&id).await?.without(&["NEW-PRODUCT"])?;
    // What was not filled in does not conflict later either.
    let other = stage.sale("E", json!({"context": {"product": "OTHER-PRODUCT"}}));
    stage.create("k3", &other).await?.expect(200)?;
    Ok(())
}

async fn a_voided_sale_keeps_its_id(stage: Stage) -> Result<()> {
    let sale = stage.sale("E", json!({}));
    let id = stage.created("k1", &sale).await?;
    stage.void(&id).await?;
    let known = stage.create("k2", &sale).await?.expect(200)?;
    known.with(json!({"yupy_transaction_id": id, "state": {"operational": "voided"}}))?;
    let other = stage.sale("E", json!({"amount": stage.amount(51)}));
    stage.create("k3", &other).await?.refused(409, "external_transaction_conflict")?;
    stage.read(&id).await?.with(json!({"state": {"operational": "voided"}}))?;
    Ok(())
}

async fn a_known_id_is_answered_before_look_alikes_and_tokens(stage: Stage) -> Result<()> {
    let buyer = json!({"buyer_name": stage.id("Rosa")});
    stage.created("a", &stage.sale("A", buyer.clone())).await?;
    let b = stage.sale("B", json!({"context": {"seat": stage.id("12B")}}));
    stage.created("b", &b).await?;
    // B sent again looks like A now, and is known all the same.
    let mut alike = stage.sale("B", buyer);
    alike["context"]["seat"] = json!(null);
    stage.create("b2", &alike).await?.expect(200)?.with(json!({"duplicate": true}))?;
    let mut with_token = b.clone();
    with_token["duplicate_confirmation_token"] = json!("forged");
    stage.create("b3", &with_token).await?.expect(200)?.with(json!({"duplicate": true}))?;
    with_token["amount"] = json!(stage.amount(51));
    stage.create("b4", &with_token).await?.refused(409, "external_transaction_conflict")?;
    Ok(())
}

async fn external_ids_are_compared_byte_by_byte(stage: Stage) -> Result<()> {
    for label in ["e", "E", "é", "E.", "E E", "E  E"] {
        let mut sale = stage.bare(label);
        sale["external_transaction_id"] = json!(format!("{label}-{}", stage.tag));
        let key = label.replace('é', "accent").replace(' ', "_");
        stage.create(&key, &sale).await?.expect(201)?;
    }
    Ok(())
}
