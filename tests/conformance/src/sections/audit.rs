//! §11: the audit, one chain for a company.

use super::prelude::*;

section! { "audit":
    the_audit_is_paged_and_each_row_is_chained_to_the_one_before covers Audit Operations;
    a_sale_is_audited_in_the_order_in_which_it_went covers Audit H1 G3 G4;
    one_companys_audit_says_nothing_of_anothers covers Audit Scope;
    what_is_refused_at_the_gate_or_replayed_leaves_no_row covers Audit D2 E1;
}

async fn the_audit_is_paged_and_each_row_is_chained_to_the_one_before(stage: Stage) -> Result<()> {
    // Two rows at least, whoever else is there: one alone follows nothing.
    for (key, cents) in [("k1", 1), ("k2", 2)] {
        stage.created(key, &stage.sale(key, json!({"amount": stage.amount(cents)}))).await?;
    }
    let rows = stage.all(Role::Manager, "/v1/audit", &[("limit", "500")]).await?;
    let hash = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    for pair in rows.windows(2) {
        ensure!(!hash(&pair[0], "hash").is_empty(), "no hash in {}", pair[0]);
        ensure!(
            hash(&pair[0], "hash") == hash(&pair[1], "prev_hash"),
            "{} is not followed by {}",
            pair[0],
            pair[1]
        );
    }
    let first = stage.get("/v1/audit?limit=1").by(Role::Manager).send().await?.expect(200)?;
    ensure!(first.items()?.as_slice() == &rows[..1], "another first row: {}", first.summary());
    Ok(())
}

async fn a_sale_is_audited_in_the_order_in_which_it_went(stage: Stage) -> Result<()> {
    let a = stage.created("a", &stage.sale("A", json!({}))).await?;
    let question = stage.create("b", &stage.sale("B", json!({}))).await?;
    let mut confirm = stage.sale("B", json!({}));
    confirm["duplicate_confirmation_token"] = json!(question.text("error.duplicate_confirmation_token")?);
    let b = stage.created("confirm", &confirm).await?;
    stage.void(&a).await?;
    let rows = stage.audit().await?;
    let told: Vec<_> = rows
        .iter()
        .map(|row| (row["event"].as_str().unwrap_or_default(), row["yupy_transaction_id"].as_str()))
        .collect();
    let at = |event: (&str, Option<&str>)| told.iter().position(|row| *row == event);
    let order = [
        at(("created", Some(&a))),
        at(("duplicate_suspected", None)),
        at(("created", Some(&b))),
        at(("voided", Some(&a))),
    ];
    ensure!(order.iter().all(Option::is_some) && order.is_sorted(), "{told:?}");
    ensure!(at(("duplicate_confirmed", Some(&b))) > at(("duplicate_suspected", None)), "{told:?}");
    Ok(())
}

async fn one_companys_audit_says_nothing_of_anothers(stage: Stage) -> Result<()> {
    let sale = stage.sale("THEIRS", json!({}));
    stage.creation("k", &sale).by(Role::OtherCompany).send().await?.expect(201)?;
    ensure!(stage.audit().await?.is_empty(), "another company's sale is in the audit");
    // Every scope of its own company is.
    stage.creation("k", &sale).by(Role::OtherEnvironment).send().await?.expect(201)?;
    ensure!(stage.audited(json!({"event": "created"})).await? == 1, "the company's own is not");
    Ok(())
}

async fn what_is_refused_at_the_gate_or_replayed_leaves_no_row(stage: Stage) -> Result<()> {
    let sale = stage.sale("E", json!({}));
    stage.created("k", &sale).await?;
    for _ in 0..2 {
        stage.create("k", &sale).await?.expect(200)?;
    }
    stage.create("bad", &stage.sale("F", json!({"amount": "0"}))).await?.invalid(&["amount"])?;
    stage.creation("k", &sale).by_nobody().send().await?.refused(401, "unauthenticated")?;
    ensure!(stage.audit().await?.len() == 1, "more than one row: {:?}", stage.audit().await?);
    Ok(())
}
