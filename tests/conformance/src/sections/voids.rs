//! Voids: idempotent by their key, by their operation id and by the state that they lead to (§2, §8, §11).

use super::prelude::*;

section! { "voids":
    a_void_is_applied_once_and_replayed covers Void D2 H1 Operations;
    the_same_operation_under_another_key_is_the_one_already_known covers Void F2 OperationIds;
    to_void_what_is_voided_is_no_failure covers Void Operations;
    a_void_needs_a_key_and_an_operation_id covers B1 B2 E1 Void;
    a_voids_key_is_bound_to_its_content_and_its_sale covers D1 Compared;
    an_operation_id_of_another_sale_is_a_conflict covers F1 Keys;
    a_sale_that_does_not_exist_cannot_be_voided_and_the_key_stays_free covers Everywhere D6;
    a_void_is_audited_once covers Audit Void;
    a_voids_reason_is_free_text covers Validation Compared;
}

async fn a_void_is_applied_once_and_replayed(stage: Stage) -> Result<()> {
    let id = stage.created("k", &stage.sale("E", json!({}))).await?;
    let first = stage.voiding(&id, "v", "V").send().await?.expect(200)?;
    first.with_header("idempotency-replayed", "false")?.with(json!({
        "result": "applied", "yupy_transaction_id": id, "external_transaction_id": stage.id("E"),
        "state": {"operational": "voided"},
    }))?;
    let again = stage
        .voiding(&id, "v", "V")
        .send()
        .await?
        .expect(200)?
        .with_header("idempotency-replayed", "true")?;
    again.with(
        json!({"idempotency_replayed": true, "result": "applied", "state": {"operational": "voided"}}),
    )?;
    stage.read(&id).await?.with(json!({"state": {"operational": "voided"}}))?;
    Ok(())
}

async fn the_same_operation_under_another_key_is_the_one_already_known(stage: Stage) -> Result<()> {
    let id = stage.created("k", &stage.sale("E", json!({}))).await?;
    stage.voiding(&id, "v1", "V").send().await?.expect(200)?;
    let known = stage.voiding(&id, "v2", "V").send().await?.expect(200)?;
    known.with_header("idempotency-replayed", "false")?.with(json!({"result": "existing_operation"}))?;
    Ok(())
}

async fn to_void_what_is_voided_is_no_failure(stage: Stage) -> Result<()> {
    let id = stage.created("k", &stage.sale("E", json!({}))).await?;
    stage.voiding(&id, "v1", "V1").send().await?.expect(200)?.with(json!({"result": "applied"}))?;
    let again = stage.voiding(&id, "v2", "V2").send().await?.expect(200)?;
    again.with(json!({"result": "already_in_state", "state": {"operational": "voided"}}))?;
    Ok(())
}

async fn a_void_needs_a_key_and_an_operation_id(stage: Stage) -> Result<()> {
    let id = stage.created("k", &stage.sale("E", json!({}))).await?;
    let path = format!("/v1/transactions/{id}/void");
    let good = json!({"external_operation_id": stage.id("V")});
    stage.post(&path).json(&good).send().await?.refused(400, "idempotency_key_required")?;
    stage.post(&path).raw_key("a b").json(&good).send().await?.refused(400, "idempotency_key_invalid")?;
    for body in [
        json!({}),
        json!({"external_operation_id": ""}),
        json!({"external_operation_id": 7}),
        json!({"external_operation_id": " V"}),
    ] {
        stage.post(&path).key("v").json(&body).send().await?.invalid(&["external_operation_id"])?;
    }
    stage.read(&id).await?.with(json!({"state": {"operational": "active"}}))?;
    stage.post(&path).key("v").json(&good).send().await?.expect(200)?;
    Ok(())
}

async fn a_voids_key_is_bound_to_its_content_and_its_sale(stage: Stage) -> Result<()> {
    let id = stage.created("k", &stage.sale("E", json!({}))).await?;
    let other = stage.created("k2", &stage.sale("F", json!({"context": {"seat": "2"}}))).await?;
    stage.voiding(&id, "v", "V").send().await?.expect(200)?;
    stage.voiding(&id, "v", "W").send().await?.refused(409, "idempotency_conflict")?;
    stage.voiding(&other, "v", "V").send().await?.refused(409, "idempotency_conflict")?;
    stage.read(&other).await?.with(json!({"state": {"operational": "active"}}))?;
    Ok(())
}

async fn an_operation_id_of_another_sale_is_a_conflict(stage: Stage) -> Result<()> {
    let id = stage.created("k", &stage.sale("E", json!({}))).await?;
    let other = stage.created("k2", &stage.sale("F", json!({"context": {"seat": "2"}}))).await?;
    stage.voiding(&id, "v", "V").send().await?.expect(200)?;
    stage.voiding(&other, "w", "V").send().await?.refused(409, "external_transaction_conflict")?;
    stage.read(&other).await?.with(json!({"state": {"operational": "active"}}))?;
    Ok(())
}

async fn a_sale_that_does_not_exist_cannot_be_voided_and_the_key_stays_free(stage: Stage) -> Result<()> {
    stage.voiding("no-such-sale", "v", "V").send().await?.refused(404, "transaction_not_found")?;
    // Before what is wrong with the body is looked at.
    let empty = stage.post("/v1/transactions/no-such-sale/void").key("v").json(&json!({}));
    empty.send().await?.refused(404, "transaction_not_found")?;
    let id = stage.created("k", &stage.sale("E", json!({}))).await?;
    stage.voiding(&id, "v", "V").send().await?.expect(200)?.with(json!({"result": "applied"}))?;
    Ok(())
}

async fn a_void_is_audited_once(stage: Stage) -> Result<()> {
    let id = stage.created("k", &stage.sale("E", json!({}))).await?;
    for (key, operation) in [("v1", "V1"), ("v1", "V1"), ("v2", "V1"), ("v3", "V3")] {
        stage.voiding(&id, key, operation).send().await?.expect(200)?;
    }
    let row = json!({"event": "voided", "yupy_transaction_id": id, "external_transaction_id": stage.id("E")});
    ensure!(stage.audited(row).await? == 1, "not one row");
    Ok(())
}

async fn a_voids_reason_is_free_text(stage: Stage) -> Result<()> {
    let id = stage.created("k", &stage.sale("E", json!({}))).await?;
    let post = |reason: Value| {
        let body = json!({"external_operation_id": stage.id("V"), "reason": reason});
        stage.post(format!("/v1/transactions/{id}/void")).key("v").json(&body)
    };
    post(json!(7)).send().await?.invalid(&["reason"])?;
    post(json!("  Viaje   cancelado")).send().await?.expect(200)?;
    post(json!("Viaje cancelado")).send().await?.expect(200)?.with(json!({"idempotency_replayed": true}))?;
    post(json!("Otra razón")).send().await?.refused(409, "idempotency_conflict")?;
    Ok(())
}
