//! §1: company, integration and environment of the credential, and nothing else, say what one meets.

use super::prelude::*;

section! { "scopes":
    a_key_or_id_of_another_scope_is_unrelated covers Scope D6 H1;
    a_rotated_credential_keeps_its_scope covers Scope D1 D2 F1 F2;
    a_sale_of_another_scope_does_not_exist covers Scope Everywhere;
    a_sale_of_another_scope_is_never_a_candidate covers Scope G2;
    the_body_cannot_choose_the_scope covers Scope Body;
}

const OTHERS: [Role; 3] = [Role::OtherCompany, Role::OtherEnvironment, Role::OtherIntegration];

async fn a_key_or_id_of_another_scope_is_unrelated(stage: Stage) -> Result<()> {
    let sale = stage.sale("E", json!({}));
    let first = stage.created("k", &sale).await?;
    for role in OTHERS {
        let other = stage.creation("k", &sale).by(role).send().await?.expect(201)?;
        ensure!(other.text("yupy_transaction_id")? != first, "{role:?} was given another's sale");
        // The same key for something else there is a conflict there and nowhere else.
        let changed = stage.sale("E", json!({"amount": stage.amount(51)}));
        let conflict = stage.creation("k", &changed).by(role).send().await?;
        ensure!(conflict.code() == "idempotency_conflict", "{}", conflict.summary());
    }
    stage.create("k", &sale).await?.expect(200)?.with(json!({"yupy_transaction_id": first}))?;
    Ok(())
}

async fn a_rotated_credential_keeps_its_scope(stage: Stage) -> Result<()> {
    let sale = stage.sale("E", json!({}));
    let id = stage.created("k", &sale).await?;
    let post = |key: &str, body: &Value| stage.creation(key, body).by(Role::RotatedTill);
    post("k", &sale).send().await?.expect(200)?.with(json!({
        "idempotency_replayed": true, "yupy_transaction_id": id,
    }))?;
    post("k2", &sale)
        .send()
        .await?
        .expect(200)?
        .with(json!({"duplicate": true, "yupy_transaction_id": id}))?;
    let other = stage.sale("E", json!({"amount": stage.amount(51)}));
    post("k", &other).send().await?.refused(409, "idempotency_conflict")?;
    post("k3", &other).send().await?.refused(409, "external_transaction_conflict")?;
    Ok(())
}

async fn a_sale_of_another_scope_does_not_exist(stage: Stage) -> Result<()> {
    let id = stage.created("k", &stage.sale("E", json!({}))).await?;
    for role in OTHERS {
        let not_found =
            |answer: Answer| answer.refused(404, "transaction_not_found")?.without(&[&stage.id("E")]);
        not_found(stage.get(format!("/v1/transactions/{id}")).by(role).send().await?)?;
        not_found(stage.voiding(&id, "v", "V").by(role).send().await?)?;
        let payment = json!({"external_payment_id": stage.id("P"), "amount": stage.amount(50)});
        let pay = stage.post(format!("/v1/transactions/{id}/payments")).by(role).key("p").json(&payment);
        not_found(pay.send().await?)?;
        ensure!(stage.count_as(role, &stage.id("E")).await? == 0, "{role:?} finds it by its id");
        let device = stage.id("DEVICE");
        let list = stage.all(role, "/v1/transactions", &[("device_id", &device)]).await?;
        ensure!(list.is_empty(), "{role:?} lists it");
    }
    stage
        .read(&id)
        .await?
        .with(json!({"state": {"operational": "active", "financial": "awaiting_payment"}}))?;
    Ok(())
}

async fn a_sale_of_another_scope_is_never_a_candidate(stage: Stage) -> Result<()> {
    let identified = |label: &str| {
        stage.sale(label, json!({"buyer_name": stage.id("Rosa"), "context": {"order": stage.id("O")}}))
    };
    for role in OTHERS {
        stage.creation("k", &identified("A")).by(role).send().await?.expect(201)?;
    }
    stage.create("k", &identified("B")).await?.expect(201)?;
    Ok(())
}

async fn the_body_cannot_choose_the_scope(stage: Stage) -> Result<()> {
    let mut sale = stage.sale("E", json!({}));
    for name in ["company", "integration", "environment", "scope", "tenant"] {
        sale[name] = json!("another");
    }
    let id = stage.created("k", &sale).await?;
    stage.read(&id).await?;
    for role in OTHERS {
        ensure!(stage.count_as(role, &stage.id("E")).await? == 0, "{role:?} has it");
    }
    Ok(())
}
