//! Rows D: what is known of a key decides before anything else.

use super::prelude::*;

section! { "keys":
    the_same_key_and_content_answer_the_first_sale_again covers D2 D6 H1;
    a_replay_tells_the_state_as_of_now covers D2;
    the_same_key_with_other_content_is_a_conflict_and_the_first_stays covers D1;
    a_key_in_its_final_state_is_looked_up_before_validation covers D1 D2;
    the_ietf_profile_answers_422_with_the_same_code covers D1;
    a_failed_validation_forgets_the_key covers E1 D6;
    a_failed_validation_leaves_a_bound_key_bound covers E1 D1 D5;
    a_key_that_met_a_known_sale_is_final_and_says_so covers D2 F2 Keys;
    a_key_that_met_a_conflict_stays_bound_and_is_asked_again covers D5 D1 F1;
    an_operation_belongs_to_the_content_of_its_key covers D1 Compared;
    keys_are_compared_byte_by_byte covers D6 Keys;
}

async fn the_same_key_and_content_answer_the_first_sale_again(stage: Stage) -> Result<()> {
    let sale = stage.sale("E", json!({}));
    let first = stage.create("k", &sale).await?.expect(201)?;
    for _ in 0..3 {
        let again =
            stage.create("k", &sale).await?.expect(200)?.with_header("idempotency-replayed", "true")?;
        again.with(json!({
            "result": "existing_transaction", "idempotency_replayed": true, "original_status": 201,
            "yupy_transaction_id": first.body["yupy_transaction_id"], "external_transaction_id": stage.id("E"),
            "occurred_at": first.body["occurred_at"], "created_at": first.body["created_at"],
            "state": {"operational": "active", "financial": "awaiting_payment"},
        }))?;
    }
    ensure!(stage.count(&stage.id("E")).await? == 1, "not one sale");
    Ok(())
}

async fn a_replay_tells_the_state_as_of_now(stage: Stage) -> Result<()> {
    let sale = stage.sale("E", json!({}));
    let id = stage.created("k", &sale).await?;
    stage.void(&id).await?;
    let again = stage.create("k", &sale).await?.expect(200)?;
    again.with(json!({"idempotency_replayed": true, "state": {"operational": "voided"}}))?;
    Ok(())
}

async fn the_same_key_with_other_content_is_a_conflict_and_the_first_stays(stage: Stage) -> Result<()> {
    let sale = stage.sale("E", json!({}));
    let id = stage.created("k", &sale).await?;
    for more in [
        json!({"amount": stage.amount(51)}),
        json!({"external_transaction_id": stage.id("F")}),
        json!({"buyer_name": "Rosa"}),
        json!({"occurred_at": stage.time(-61)}),
        json!({"context": {"seat": "1C"}}),
        json!({"unknown": 1}),
    ] {
        let answer = stage.create("k", &stage.sale("E", more)).await?.refused(409, "idempotency_conflict")?;
        answer.with(json!({"error": {"hint": null}}))?;
    }
    stage.create("k", &sale).await?.expect(200)?.with(json!({"yupy_transaction_id": id}))?;
    stage.read(&id).await?.with(json!({"amount": stage.amount(50)}))?;
    ensure!(stage.count(&stage.id("F")).await? == 0, "a conflict has sold");
    Ok(())
}

async fn a_key_in_its_final_state_is_looked_up_before_validation(stage: Stage) -> Result<()> {
    let id = stage.created("k", &stage.sale("E", json!({}))).await?;
    for body in [stage.sale("E", json!({"amount": "85,50"})), json!({}), json!([])] {
        stage.create("k", &body).await?.refused(409, "idempotency_conflict")?;
    }
    // So also for the other operations: a wrong sale in the path is other content of the key.
    stage.voiding("no-such-sale", "k", "V").send().await?.refused(409, "idempotency_conflict")?;
    stage.read(&id).await?.with(json!({"state": {"operational": "active"}}))?;
    Ok(())
}

async fn the_ietf_profile_answers_422_with_the_same_code(stage: Stage) -> Result<()> {
    let post = |body: &Value| stage.creation("k", body).by(Role::Ietf);
    post(&stage.sale("E", json!({}))).send().await?.expect(201)?;
    let conflict = post(&stage.sale("E", json!({"amount": stage.amount(51)}))).send().await?;
    let conflict = conflict.refused(422, "idempotency_conflict")?;
    let media_type = conflict.header("content-type").unwrap_or_default().to_owned();
    if !media_type.starts_with("application/problem+json") {
        return conflict.fail("expected application/problem+json");
    }
    // What is no conflict of a key keeps its status.
    let other_key =
        stage.creation("k2", &stage.sale("E", json!({"amount": stage.amount(51)}))).by(Role::Ietf);
    other_key.send().await?.refused(409, "external_transaction_conflict")?;
    Ok(())
}

async fn a_failed_validation_forgets_the_key(stage: Stage) -> Result<()> {
    stage.create("k", &stage.sale("E", json!({"amount": "85,50"}))).await?.invalid(&["amount"])?;
    stage.create("k", &stage.sale("E", json!({}))).await?.expect(201)?;
    Ok(())
}

async fn a_failed_validation_leaves_a_bound_key_bound(stage: Stage) -> Result<()> {
    stage.created("first", &stage.sale("A", json!({}))).await?;
    let alike = stage.sale("B", json!({}));
    stage.create("k", &alike).await?.refused(409, "possible_duplicate_transaction")?;
    stage
        .create("k", &stage.sale("B", json!({"amount": "0"})))
        .await?
        .refused(409, "idempotency_conflict")?;
    stage.create("k", &alike).await?.refused(409, "possible_duplicate_transaction")?;
    Ok(())
}

async fn a_key_that_met_a_known_sale_is_final_and_says_so(stage: Stage) -> Result<()> {
    let sale = stage.sale("E", json!({}));
    let id = stage.created("k1", &sale).await?;
    stage.create("k2", &sale).await?.expect(200)?.with(json!({"duplicate": true}))?;
    let replay = stage.create("k2", &sale).await?.expect(200)?.with_header("idempotency-replayed", "true")?;
    replay.with(json!({"idempotency_replayed": true, "original_status": 200, "yupy_transaction_id": id}))?;
    Ok(())
}

async fn a_key_that_met_a_conflict_stays_bound_and_is_asked_again(stage: Stage) -> Result<()> {
    stage.created("k1", &stage.sale("E", json!({}))).await?;
    let other = stage.sale("E", json!({"amount": stage.amount(51)}));
    for _ in 0..2 {
        let conflict = stage.create("k2", &other).await?.refused(409, "external_transaction_conflict")?;
        ensure!(conflict.header("idempotency-replayed") != Some("true"), "a conflict is no answer to repeat");
    }
    stage
        .create("k2", &stage.sale("F", json!({"context": {"seat": "9"}})))
        .await?
        .refused(409, "idempotency_conflict")?;
    Ok(())
}

async fn an_operation_belongs_to_the_content_of_its_key(stage: Stage) -> Result<()> {
    let sale = stage.sale("E", json!({}));
    let id = stage.created("k", &sale).await?;
    stage.voiding(&id, "k", "V").send().await?.refused(409, "idempotency_conflict")?;
    let payment = json!({"external_payment_id": stage.id("P"), "amount": stage.amount(50)});
    let pay = stage.post(format!("/v1/transactions/{id}/payments")).key("k").json(&payment);
    pay.send().await?.refused(409, "idempotency_conflict")?;
    stage.voiding(&id, "v", "V").send().await?.expect(200)?;
    stage.create("v", &stage.sale("F", json!({}))).await?.refused(409, "idempotency_conflict")?;
    Ok(())
}

async fn keys_are_compared_byte_by_byte(stage: Stage) -> Result<()> {
    for (n, key) in ["a", "A", "a.", "a\"", "\"a"].into_iter().enumerate() {
        let sale = stage.sale(&format!("E{n}"), json!({"context": {"seat": stage.id(&n.to_string())}}));
        stage.create(key, &sale).await?.expect(201)?;
    }
    Ok(())
}
