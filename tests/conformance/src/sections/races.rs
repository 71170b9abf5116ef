//! §5: what many do at once is done once.

use futures_util::future::join_all;

use super::prelude::*;

section! { "races":
    fifty_equal_requests_under_one_key_make_one_sale covers Races D2 D3 H1;
    one_external_id_under_many_keys_makes_one_sale covers Races F2 H1;
    one_external_id_with_many_amounts_makes_one_sale_and_conflicts covers Races F1 H1;
    look_alikes_at_once_make_one_sale_and_questions covers Races G2 G3 H1;
    equal_fares_at_once_are_all_sold covers Races G2 EqualFares;
    one_token_under_many_keys_makes_one_sale_and_one_audit_row covers Races G4 F2 Audit;
    voids_at_once_all_succeed_and_one_is_applied covers Races Void;
    equal_payments_at_once_charge_once covers Races D2 D3 Payments;
    different_decisions_at_once_leave_one covers Races DecidedElsewhere;
}

/// All at once; each answer with its number.
async fn at_once<F: Future<Output = Result<Answer>>>(
    count: usize,
    ask: impl Fn(usize) -> F,
) -> Result<Vec<Answer>> {
    join_all((0..count).map(ask)).await.into_iter().collect()
}

/// Every answer is one of these, a status with a code, and the first comes exactly this often.
#[track_caller]
fn tally(answers: &[Answer], first: (u16, &str), count: usize, others: &[(u16, &str)]) -> Result<()> {
    let is = |answer: &Answer, (status, code): (u16, &str)| answer.is_refused(status, code);
    let odd =
        answers.iter().find(|answer| !is(answer, first) && !others.iter().any(|other| is(answer, *other)));
    if let Some(odd) = odd {
        return odd.clone().fail("expected one of the known answers");
    }
    let found = answers.iter().filter(|answer| is(answer, first)).count();
    ensure!(found == count, "{found} times {first:?}, expected {count}");
    Ok(())
}

async fn fifty_equal_requests_under_one_key_make_one_sale(stage: Stage) -> Result<()> {
    let sale = stage.sale("E", json!({}));
    let answers = at_once(50, |_| stage.create("k", &sale)).await?;
    tally(&answers, (201, ""), 1, &[(200, ""), (409, "idempotency_in_progress")])?;
    let id = stage.create("k", &sale).await?.expect(200)?.text("yupy_transaction_id")?;
    for answer in answers.iter().filter(|answer| answer.status < 400) {
        ensure!(answer.body["yupy_transaction_id"] == json!(id), "another sale: {}", answer.summary());
    }
    ensure!(stage.audited(json!({"event": "created"})).await? == 1, "not one row");
    Ok(())
}

async fn one_external_id_under_many_keys_makes_one_sale(stage: Stage) -> Result<()> {
    let sale = stage.sale("E", json!({}));
    let answers = at_once(50, |n| {
        let (stage, sale) = (&stage, &sale);
        async move { stage.create(&format!("k{n}"), sale).await }
    });
    tally(&answers.await?, (201, ""), 1, &[(200, "")])?;
    ensure!(stage.count(&stage.id("E")).await? == 1, "not one sale");
    Ok(())
}

async fn one_external_id_with_many_amounts_makes_one_sale_and_conflicts(stage: Stage) -> Result<()> {
    let answers = at_once(20, |n| {
        let stage = &stage;
        async move {
            let cents = u32::try_from(n)?;
            stage.create(&format!("k{n}"), &stage.sale("E", json!({"amount": stage.amount(cents)}))).await
        }
    });
    tally(&answers.await?, (201, ""), 1, &[(409, "external_transaction_conflict")])
}

async fn look_alikes_at_once_make_one_sale_and_questions(stage: Stage) -> Result<()> {
    let answers = at_once(20, |n| {
        let stage = &stage;
        async move { stage.create(&format!("k{n}"), &stage.sale(&format!("E{n}"), json!({}))).await }
    });
    tally(&answers.await?, (201, ""), 1, &[(409, "possible_duplicate_transaction")])
}

async fn equal_fares_at_once_are_all_sold(stage: Stage) -> Result<()> {
    let answers = at_once(20, |n| {
        let stage = &stage;
        async move {
            let fare = stage.sale(&format!("E{n}"), json!({"context": {"seat": null}}));
            stage.create(&format!("k{n}"), &fare).await
        }
    });
    tally(&answers.await?, (201, ""), 20, &[])
}

async fn one_token_under_many_keys_makes_one_sale_and_one_audit_row(stage: Stage) -> Result<()> {
    stage.create("a", &stage.sale("A", json!({}))).await?.expect(201)?;
    let question = stage.create("b", &stage.sale("B", json!({}))).await?;
    let mut confirm = stage.sale("B", json!({}));
    confirm["duplicate_confirmation_token"] = json!(question.text("error.duplicate_confirmation_token")?);
    let answers = at_once(20, |n| {
        let (stage, confirm) = (&stage, &confirm);
        async move { stage.create(&format!("c{n}"), confirm).await }
    });
    tally(&answers.await?, (201, ""), 1, &[(200, "")])?;
    ensure!(stage.audited(json!({"event": "duplicate_confirmed"})).await? == 1, "not one row");
    Ok(())
}

async fn voids_at_once_all_succeed_and_one_is_applied(stage: Stage) -> Result<()> {
    let id = stage.created("k", &stage.sale("E", json!({}))).await?;
    let answers = at_once(20, |n| {
        let (stage, id) = (&stage, &id);
        async move { stage.voiding(id, &format!("v{n}"), &format!("V{n}")).send().await }
    });
    let answers = answers.await?;
    tally(&answers, (200, ""), 20, &[])?;
    let applied = answers.iter().filter(|answer| answer.body["result"] == "applied").count();
    ensure!(applied == 1, "applied {applied} times");
    Ok(())
}

async fn equal_payments_at_once_charge_once(stage: Stage) -> Result<()> {
    let id = stage.created("k", &stage.sale("E", json!({"payment_method": "card"}))).await?;
    let body = json!({"external_payment_id": stage.id("P"), "amount": stage.amount(50), "currency": "PEN"});
    let path = format!("/v1/transactions/{id}/payments");
    let answers = at_once(20, |_| stage.post(&path).key("p").json(&body).send()).await?;
    tally(&answers, (201, ""), 1, &[(200, ""), (409, "idempotency_in_progress")])?;
    stage.read(&id).await?.with(json!({"state": {"financial": "paid"}}))?;
    Ok(())
}

async fn different_decisions_at_once_leave_one(stage: Stage) -> Result<()> {
    stage.create("a", &stage.sale("A", json!({}))).await?.expect(201)?;
    let question = stage.create("b", &stage.sale("B", json!({}))).await?;
    let challenge = question.text("error.challenge_id")?;
    let decisions = ["same_sale", "different_sale"];
    let answers = at_once(20, |n| {
        let body =
            json!({"challenge_id": challenge, "decision": decisions[n % 2], "decided_by": format!("M{n}")});
        let stage = &stage;
        async move { stage.post("/v1/duplicate-resolutions").by(Role::Manager).json(&body).send().await }
    });
    tally(&answers.await?, (200, ""), 10, &[(409, "already_resolved")])?;
    ensure!(stage.audited(json!({"event": "duplicate_resolved"})).await? == 1, "not one row");
    Ok(())
}
