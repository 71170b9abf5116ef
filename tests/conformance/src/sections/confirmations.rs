//! Rows G1 to G6: what a confirmation token is worth, once and for what.

use super::prelude::*;
use crate::{stage::lay_over, wait::until};

section! { "confirmations":
    a_confirmed_sale_is_created_and_says_against_what covers G4 H1 Confirming;
    a_confirmation_is_audited_with_who_and_why_and_without_the_token covers G3 G4 Audit;
    a_confirmation_sent_again_is_a_replay covers D2 G4 Confirming;
    a_spent_token_confirms_nothing_more covers G1 F2 G4;
    the_questions_own_key_cannot_carry_the_answer covers D1 G3;
    the_original_request_finds_the_confirmed_sale covers D5 F2 D2;
    the_same_question_is_asked_again_with_the_same_token covers D5 G3;
    a_question_is_never_stored_as_an_answer covers D5 G2 G3;
    a_token_is_good_for_the_content_that_was_asked_about covers G1;
    a_forged_token_is_refused_even_where_nothing_is_to_confirm covers G1;
    an_altered_token_is_refused covers G1;
    a_refused_token_leaves_its_key_free covers G1 D6;
    a_new_look_alike_supersedes_the_token covers G5 G4;
    the_new_question_names_every_look_alike covers G3 G4 D5;
    a_superseded_token_no_longer_confirms covers G5;
    a_good_token_creates_although_its_candidate_is_gone covers G4;
    an_expired_token_brings_a_new_question_while_there_are_candidates covers G6 TokenLife;
    an_expired_token_creates_when_no_candidate_is_left covers G6 TokenLife;
    who_and_why_are_free_text_that_may_be_missing covers G4;
}

const SUSPECTED: &str = "possible_duplicate_transaction";
const INVALID: &str = "duplicate_confirmation_invalid";

/// A sold, and the question about B that looks like it.
struct Asked {
    a: String,
    token: String,
    challenge: String,
}

async fn ask(stage: &Stage) -> Result<Asked> {
    let a = stage.created("a", &stage.sale("A", json!({}))).await?;
    let question = stage.create("b", &stage.sale("B", json!({}))).await?.refused(409, SUSPECTED)?;
    Ok(Asked { a, token: token(&question)?, challenge: question.text("error.challenge_id")? })
}

fn token(question: &Answer) -> Result<String> {
    question.text("error.duplicate_confirmation_token")
}

/// The sale with the token and whatever else is said.
fn confirming(mut sale: Value, token: &str, more: Value) -> Value {
    sale["duplicate_confirmation_token"] = json!(token);
    lay_over(&mut sale, more);
    sale
}

async fn a_confirmed_sale_is_created_and_says_against_what(stage: Stage) -> Result<()> {
    let asked = ask(&stage).await?;
    let who = json!({"confirmed_by": "Manager", "confirmation_reason": "two passengers"});
    let confirmed =
        stage.create("confirm", &confirming(stage.sale("B", json!({})), &asked.token, who)).await?;
    let confirmed = confirmed.expect(201)?.with(json!({
        "result": "created", "external_transaction_id": stage.id("B"), "confirmed_duplicate_of": [asked.a],
    }))?;
    let id = confirmed.text("yupy_transaction_id")?;
    ensure!(id != asked.a, "the candidate was answered instead");
    stage.get(format!("/v1/duplicate-challenges/{}", asked.challenge)).send().await?.expect(200)?.with(
        json!({
            "state": "spent",
        }),
    )?;
    ensure!(stage.count(&stage.id("A")).await? + stage.count(&stage.id("B")).await? == 2, "not two sales");
    Ok(())
}

async fn a_confirmation_is_audited_with_who_and_why_and_without_the_token(stage: Stage) -> Result<()> {
    let Asked { token, .. } = ask(&stage).await?;
    let (who, why) = (stage.id("Manager"), stage.id("Reason"));
    let said = json!({"confirmed_by": who, "confirmation_reason": why});
    let body = confirming(stage.sale("B", json!({})), &token, said);
    let id = stage.created("confirm", &body).await?;
    stage.create("confirm", &body).await?.expect(200)?;
    let b = stage.id("B");
    for row in [
        json!({"event": "duplicate_suspected", "external_transaction_id": b}),
        json!({
            "event": "duplicate_confirmed", "external_transaction_id": b, "yupy_transaction_id": id,
            "confirmed_by": who, "confirmation_reason": why,
        }),
        json!({"event": "created", "external_transaction_id": b, "yupy_transaction_id": id}),
    ] {
        let count = stage.audited(row.clone()).await?;
        ensure!(count == 1, "{count} rows like {row}");
    }
    let says_token = stage.audit().await?.iter().any(|row| row.to_string().contains(&token));
    ensure!(!says_token, "the token is in the audit");
    Ok(())
}

async fn a_confirmation_sent_again_is_a_replay(stage: Stage) -> Result<()> {
    let Asked { token, .. } = ask(&stage).await?;
    let body = confirming(stage.sale("B", json!({})), &token, json!({"confirmed_by": "Manager"}));
    let id = stage.created("confirm", &body).await?;
    for _ in 0..2 {
        let again = stage.create("confirm", &body).await?.expect(200)?;
        again
            .with(json!({"idempotency_replayed": true, "original_status": 201, "yupy_transaction_id": id}))?;
    }
    Ok(())
}

async fn a_spent_token_confirms_nothing_more(stage: Stage) -> Result<()> {
    let Asked { token, .. } = ask(&stage).await?;
    let body = confirming(stage.sale("B", json!({})), &token, json!({}));
    let id = stage.created("confirm", &body).await?;
    // Under another key it is the sale already known; the token is not looked at.
    stage
        .create("again", &body)
        .await?
        .expect(200)?
        .with(json!({"duplicate": true, "yupy_transaction_id": id}))?;
    let other = confirming(stage.sale("C", json!({})), &token, json!({}));
    let refused = stage.create("other", &other).await?.refused(422, INVALID)?;
    let reason = refused.text("error.reason")?;
    ensure!(["payload_changed", "not_open"].contains(&reason.as_str()), "{}", refused.summary());
    ensure!(stage.count(&stage.id("C")).await? == 0, "a spent token has sold");
    Ok(())
}

async fn the_questions_own_key_cannot_carry_the_answer(stage: Stage) -> Result<()> {
    let Asked { token, .. } = ask(&stage).await?;
    let said = json!({"confirmed_by": "Manager", "confirmation_reason": "two passengers"});
    let answer = confirming(stage.sale("B", json!({})), &token, said);
    stage.create("b", &answer).await?.refused(409, "idempotency_conflict")?.with(json!({"error": {
        "hint": "confirmation_requires_new_key",
    }}))?;
    let changed = confirming(stage.sale("B", json!({"buyer_name": "Rosa"})), &token, json!({}));
    stage
        .create("b", &changed)
        .await?
        .refused(409, "idempotency_conflict")?
        .with(json!({"error": {"hint": null}}))?;
    ensure!(stage.count(&stage.id("B")).await? == 0, "a conflict has sold");
    Ok(())
}

async fn the_original_request_finds_the_confirmed_sale(stage: Stage) -> Result<()> {
    let Asked { token, .. } = ask(&stage).await?;
    let original = stage.sale("B", json!({}));
    let id = stage.created("confirm", &confirming(original.clone(), &token, json!({}))).await?;
    stage
        .create("b", &original)
        .await?
        .expect(200)?
        .with(json!({"duplicate": true, "yupy_transaction_id": id}))?;
    let replay = stage.create("b", &original).await?.expect(200)?;
    replay.with(json!({"idempotency_replayed": true, "original_status": 200}))?;
    Ok(())
}

async fn the_same_question_is_asked_again_with_the_same_token(stage: Stage) -> Result<()> {
    let asked = ask(&stage).await?;
    for key in ["b", "another"] {
        let again = stage.create(key, &stage.sale("B", json!({}))).await?.refused(409, SUSPECTED)?;
        again.with(json!({"error": {
            "duplicate_confirmation_token": asked.token, "challenge_id": asked.challenge,
            "previous_confirmation": null,
        }}))?;
    }
    let suspected = json!({"event": "duplicate_suspected", "external_transaction_id": stage.id("B")});
    ensure!(stage.audited(suspected).await? == 1, "one question is one row");
    Ok(())
}

async fn a_question_is_never_stored_as_an_answer(stage: Stage) -> Result<()> {
    let asked = ask(&stage).await?;
    stage.void(&asked.a).await?;
    let created = stage.create("b", &stage.sale("B", json!({}))).await?.expect(201)?;
    created.with(json!({"idempotency_replayed": false, "confirmed_duplicate_of": null}))?;
    Ok(())
}

async fn a_token_is_good_for_the_content_that_was_asked_about(stage: Stage) -> Result<()> {
    let Asked { token, .. } = ask(&stage).await?;
    for (n, more) in [
        json!({"buyer_name": "Rosa"}),
        json!({"amount": stage.amount(51)}),
        json!({"occurred_at": stage.time(-61)}),
        json!({"external_transaction_id": stage.id("C")}),
        json!({"context": {"seat": "1"}}),
        json!({"unknown": 1}),
    ]
    .into_iter()
    .enumerate()
    {
        let body = confirming(stage.sale("B", more), &token, json!({}));
        let refused = stage.create(&format!("k{n}"), &body).await?.refused(422, INVALID)?;
        refused.with(
            json!({"error": {"reason": "payload_changed", "candidate": null, "matching_signals": null}}),
        )?;
    }
    // It is still good for what it was made for; who and why are no part of that.
    let said = json!({"confirmed_by": "Manager", "confirmation_reason": "two passengers"});
    stage.create("confirm", &confirming(stage.sale("B", json!({})), &token, said)).await?.expect(201)?;
    Ok(())
}

async fn a_forged_token_is_refused_even_where_nothing_is_to_confirm(stage: Stage) -> Result<()> {
    for (n, forged) in ["x", "forged.token.here", &"A".repeat(300)].into_iter().enumerate() {
        let body = confirming(stage.sale(&format!("E{n}"), json!({})), forged, json!({}));
        let refused = stage.create(&format!("k{n}"), &body).await?.refused(422, INVALID)?;
        let reason = refused.text("error.reason")?;
        ensure!(["malformed", "not_issued_here"].contains(&reason.as_str()), "{}", refused.summary());
        ensure!(stage.count(&stage.id(&format!("E{n}"))).await? == 0, "a forged token has sold");
    }
    ensure!(stage.audit().await?.len() == 3, "each refusal is a row for security");
    Ok(())
}

async fn an_altered_token_is_refused(stage: Stage) -> Result<()> {
    let Asked { token, .. } = ask(&stage).await?;
    let characters: Vec<char> = token.chars().collect();
    let every = (characters.len() / 24).max(1);
    for at in (0..characters.len()).step_by(every).chain([characters.len() - 1]) {
        let mut altered = characters.clone();
        altered[at] = if altered[at] == 'a' { 'b' } else { 'a' };
        let altered: String = altered.into_iter().collect();
        let body = confirming(stage.sale("B", json!({})), &altered, json!({}));
        let refused = stage.create(&format!("k{at}"), &body).await?.refused(422, INVALID)?;
        let reason = refused.text("error.reason")?;
        ensure!(["malformed", "not_issued_here"].contains(&reason.as_str()), "{}", refused.summary());
    }
    for altered in [format!("{token}a"), token[..token.len() - 1].to_owned()] {
        let body = confirming(stage.sale("B", json!({})), &altered, json!({}));
        stage.create("length", &body).await?.refused(422, INVALID)?;
    }
    ensure!(stage.count(&stage.id("B")).await? == 0, "an altered token has sold");
    Ok(())
}

async fn a_refused_token_leaves_its_key_free(stage: Stage) -> Result<()> {
    let Asked { token, .. } = ask(&stage).await?;
    let body = |token: &str| confirming(stage.sale("B", json!({})), token, json!({}));
    stage.create("k", &body("forged")).await?.refused(422, INVALID)?;
    stage.create("k", &body(&token)).await?.expect(201)?;
    Ok(())
}

/// C is sold beside A and B's question, so that B has two look-alikes of which the token names one.
async fn sell_c(stage: &Stage) -> Result<String> {
    let c = stage.sale("C", json!({}));
    let question = stage.create("c", &c).await?.refused(409, SUSPECTED)?;
    stage.created("confirm-c", &confirming(c, &token(&question)?, json!({}))).await
}

async fn a_new_look_alike_supersedes_the_token(stage: Stage) -> Result<()> {
    let asked = ask(&stage).await?;
    let c = sell_c(&stage).await?;
    let body = |token: &str| confirming(stage.sale("B", json!({})), token, json!({}));
    let question = stage.create("confirm", &body(&asked.token)).await?.refused(409, SUSPECTED)?;
    let question =
        question.with(json!({"error": {"previous_confirmation": "superseded", "candidates_count": 2}}))?;
    let new = token(&question)?;
    ensure!(new != asked.token, "the same token for another question");
    ensure!(stage.count(&stage.id("B")).await? == 0, "a superseded token has sold");
    // The key of the first confirmation is bound to the first token.
    stage.create("confirm", &body(&new)).await?.refused(409, "idempotency_conflict")?.with(
        json!({"error": {
            "hint": "confirmation_requires_new_key",
        }}),
    )?;
    let confirmed = stage.create("confirm-2", &body(&new)).await?.expect(201)?;
    let mut against: Vec<_> = confirmed
        .at("confirmed_duplicate_of")
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    against.sort_unstable();
    let mut wanted = [asked.a.as_str(), c.as_str()];
    wanted.sort_unstable();
    ensure!(against == wanted, "confirmed against {against:?}, expected {wanted:?}");
    Ok(())
}

async fn the_new_question_names_every_look_alike(stage: Stage) -> Result<()> {
    let asked = ask(&stage).await?;
    sell_c(&stage).await?;
    let question = stage.create("b", &stage.sale("B", json!({}))).await?.refused(409, SUSPECTED)?;
    let question = question.with(json!({"error": {"candidates_count": 2, "previous_confirmation": null}}))?;
    let new = token(&question)?;
    ensure!(new != asked.token, "the same token for another question");
    stage.get(format!("/v1/duplicate-challenges/{}", asked.challenge)).send().await?.expect(200)?.with(
        json!({
            "state": "superseded",
        }),
    )?;
    stage.create("confirm", &confirming(stage.sale("B", json!({})), &new, json!({}))).await?.expect(201)?;
    Ok(())
}

async fn a_superseded_token_no_longer_confirms(stage: Stage) -> Result<()> {
    let asked = ask(&stage).await?;
    sell_c(&stage).await?;
    stage.create("b", &stage.sale("B", json!({}))).await?.refused(409, SUSPECTED)?;
    let old = confirming(stage.sale("B", json!({})), &asked.token, json!({}));
    stage.create("old", &old).await?.refused(409, SUSPECTED)?.with(json!({"error": {
        "previous_confirmation": "superseded",
    }}))?;
    Ok(())
}

async fn a_good_token_creates_although_its_candidate_is_gone(stage: Stage) -> Result<()> {
    let asked = ask(&stage).await?;
    stage.void(&asked.a).await?;
    let body = confirming(stage.sale("B", json!({})), &asked.token, json!({}));
    let confirmed = stage.create("confirm", &body).await?.expect(201)?;
    ensure!(confirmed.at("confirmed_duplicate_of").is_array(), "a token was used: {}", confirmed.summary());
    Ok(())
}

/// On an integration whose tokens live for seconds: a sold, b asked about, and its token expired.
async fn expired(stage: &Stage) -> Result<(String, String)> {
    let role = Role::ShortLived;
    let sold = stage.creation("a", &identified(stage, "A")).by(role).send().await?.expect(201)?;
    let question =
        stage.creation("b", &identified(stage, "B")).by(role).send().await?.refused(409, SUSPECTED)?;
    let challenge = question.text("error.challenge_id")?;
    until("the question has expired", async || {
        let view =
            stage.get(format!("/v1/duplicate-challenges/{challenge}")).by(role).send().await?.expect(200)?;
        Ok((view.at("state") == "expired").then_some(()))
    })
    .await?;
    Ok((sold.text("yupy_transaction_id")?, token(&question)?))
}

/// By whatever field its integration goes.
fn identified(stage: &Stage, label: &str) -> Value {
    let context = json!({"order": stage.id("O"), "custom_reference_2": stage.id("R")});
    stage.sale(label, json!({"buyer_name": stage.id("Rosa"), "context": context}))
}

async fn an_expired_token_brings_a_new_question_while_there_are_candidates(stage: Stage) -> Result<()> {
    let (_, old) = expired(&stage).await?;
    let body = confirming(identified(&stage, "B"), &old, json!({}));
    let question =
        stage.creation("confirm", &body).by(Role::ShortLived).send().await?.refused(409, SUSPECTED)?;
    let question = question.with(json!({"error": {"previous_confirmation": "expired"}}))?;
    ensure!(token(&question)? != old, "an expired token again");
    ensure!(stage.count_as(Role::ShortLived, &stage.id("B")).await? == 0, "an expired token has sold");
    Ok(())
}

async fn an_expired_token_creates_when_no_candidate_is_left(stage: Stage) -> Result<()> {
    let (id, old) = expired(&stage).await?;
    stage.voiding(&id, "void", "V").by(Role::ShortLived).send().await?.expect(200)?;
    let body = confirming(identified(&stage, "B"), &old, json!({}));
    let created = stage.creation("confirm", &body).by(Role::ShortLived).send().await?.expect(201)?;
    ensure!(created.at("confirmed_duplicate_of").is_array(), "a token was used: {}", created.summary());
    Ok(())
}

async fn who_and_why_are_free_text_that_may_be_missing(stage: Stage) -> Result<()> {
    let Asked { token, .. } = ask(&stage).await?;
    let said = json!({"confirmed_by": "  Jefa   de ruta ", "confirmation_reason": null});
    stage.create("confirm", &confirming(stage.sale("B", json!({})), &token, said)).await?.expect(201)?;
    let row =
        json!({"event": "duplicate_confirmed", "confirmed_by": "Jefa de ruta", "confirmation_reason": null});
    ensure!(stage.audited(row).await? == 1, "no such row");
    Ok(())
}
