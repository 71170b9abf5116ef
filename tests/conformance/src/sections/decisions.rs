//! §6 deciding elsewhere, and §11's reading of questions.

use super::prelude::*;

section! { "decisions":
    decided_to_be_the_same_sale_the_token_is_dead covers DecidedElsewhere Questions G1;
    decided_to_be_another_sale_it_waits_for_the_till_to_confirm covers DecidedElsewhere Questions G4;
    the_first_decision_wins covers DecidedElsewhere Questions;
    a_till_decides_by_its_token covers DecidedElsewhere Operations;
    a_question_shows_both_sales_and_never_the_token covers Questions;
    open_questions_are_the_managers_list_and_a_till_sees_its_own covers Questions Operations A2;
    a_decision_must_say_what_and_by_whom covers Questions E1;
    a_question_of_another_scope_does_not_exist covers Questions Scope;
    a_foreign_token_decides_nothing covers Questions G1;
    a_spent_question_is_not_decided_any_more covers Questions;
}

const SUSPECTED: &str = "possible_duplicate_transaction";

struct Question {
    challenge: String,
    token: String,
}

async fn question(stage: &Stage, role: Role) -> Result<Question> {
    stage.creation("a", &stage.sale("A", json!({}))).by(role).send().await?.expect(201)?;
    let asked =
        stage.creation("b", &stage.sale("B", json!({}))).by(role).send().await?.refused(409, SUSPECTED)?;
    Ok(Question {
        challenge: asked.text("error.challenge_id")?,
        token: asked.text("error.duplicate_confirmation_token")?,
    })
}

impl Question {
    fn decision(&self, decision: &str, by: &str) -> Value {
        json!({"challenge_id": self.challenge, "decision": decision, "decided_by": by})
    }
}

async fn resolve(stage: &Stage, role: Role, body: &Value) -> Result<Answer> {
    stage.post("/v1/duplicate-resolutions").by(role).json(body).send().await
}

async fn view(stage: &Stage, role: Role, challenge: &str) -> Result<Answer> {
    stage.get(format!("/v1/duplicate-challenges/{challenge}")).by(role).send().await
}

fn confirmation(stage: &Stage, token: &str) -> Value {
    let mut body = stage.sale("B", json!({}));
    body["duplicate_confirmation_token"] = json!(token);
    body
}

async fn decided_to_be_the_same_sale_the_token_is_dead(stage: Stage) -> Result<()> {
    let asked = question(&stage, Role::Till).await?;
    let by = stage.id("Manager");
    let decision = asked.decision("same_sale", &by);
    resolve(&stage, Role::Manager, &decision).await?.expect(200)?.with(json!({
        "challenge_id": asked.challenge, "decision": "same_sale", "decided_by": by,
    }))?;
    let refused = stage.create("confirm", &confirmation(&stage, &asked.token)).await?;
    let refused = refused.refused(422, "duplicate_confirmation_invalid")?;
    refused.with(json!({"error": {"reason": "not_open"}}))?;
    ensure!(stage.count(&stage.id("B")).await? == 0, "a dead token has sold");
    // Without a token the first key asks anew.
    let anew = stage.create("b", &stage.sale("B", json!({}))).await?.refused(409, SUSPECTED)?;
    ensure!(anew.text("error.duplicate_confirmation_token")? != asked.token, "the dead token again");
    let row = json!({"event": "duplicate_resolved", "decision": "same_sale", "decided_by": by});
    ensure!(stage.audited(row).await? == 1, "a decision is audited once");
    Ok(())
}

async fn decided_to_be_another_sale_it_waits_for_the_till_to_confirm(stage: Stage) -> Result<()> {
    let asked = question(&stage, Role::Till).await?;
    let by = stage.id("Manager");
    let mut decision = asked.decision("different_sale", &by);
    decision["reason"] = json!("two passengers");
    resolve(&stage, Role::Manager, &decision)
        .await?
        .expect(200)?
        .with(json!({"decision": "different_sale"}))?;
    ensure!(stage.count(&stage.id("B")).await? == 0, "a decision has sold");
    view(&stage, Role::Till, &asked.challenge).await?.expect(200)?.with(json!({
        "state": "open", "decision": "different_sale", "decided_by": by,
    }))?;
    let mut confirm = confirmation(&stage, &asked.token);
    confirm["confirmed_by"] = json!(by);
    stage.create("confirm", &confirm).await?.expect(201)?;
    view(&stage, Role::Till, &asked.challenge).await?.expect(200)?.with(json!({"state": "spent"}))?;
    Ok(())
}

async fn the_first_decision_wins(stage: Stage) -> Result<()> {
    let asked = question(&stage, Role::Till).await?;
    let first = asked.decision("different_sale", "First");
    resolve(&stage, Role::Manager, &first).await?.expect(200)?;
    let other = asked.decision("same_sale", "Second");
    resolve(&stage, Role::Till, &other).await?.refused(409, "already_resolved")?.with(json!({"error": {
        "decision": "different_sale", "decided_by": "First",
    }}))?;
    // The same decision again is no failure, and changes nothing.
    let again = asked.decision("different_sale", "Second");
    resolve(&stage, Role::Till, &again).await?.expect(200)?.with(json!({"decided_by": "First"}))?;
    ensure!(stage.audited(json!({"event": "duplicate_resolved"})).await? == 1, "one decision, one row");
    Ok(())
}

async fn a_till_decides_by_its_token(stage: Stage) -> Result<()> {
    let asked = question(&stage, Role::Till).await?;
    let body = json!({
        "duplicate_confirmation_token": asked.token, "decision": "same_sale", "decided_by": "Cashier",
    });
    // A key is accepted, not needed.
    let keyed = stage.post("/v1/duplicate-resolutions").key("r").json(&body);
    keyed
        .send()
        .await?
        .expect(200)?
        .with(json!({"challenge_id": asked.challenge}))?
        .without(&[&asked.token])?;
    resolve(&stage, Role::Till, &body).await?.expect(200)?;
    Ok(())
}

async fn a_question_shows_both_sales_and_never_the_token(stage: Stage) -> Result<()> {
    let asked = question(&stage, Role::Till).await?;
    for role in [Role::Till, Role::Manager] {
        let shown = view(&stage, role, &asked.challenge).await?.expect(200)?;
        let shown =
            shown.with(json!({"challenge_id": asked.challenge, "state": "open", "decision": null}))?;
        let shown = shown.without(&[&asked.token, "duplicate_confirmation_token"])?;
        for label in ["A", "B"] {
            ensure!(shown.text.contains(&stage.id(label)), "{label} is not shown: {}", shown.summary());
        }
    }
    for nothing in ["no-such-question", "%00", "%ff"] {
        view(&stage, Role::Till, nothing).await?.failed(404)?;
    }
    Ok(())
}

async fn open_questions_are_the_managers_list_and_a_till_sees_its_own(stage: Stage) -> Result<()> {
    let asked = question(&stage, Role::Till).await?;
    let open =
        || stage.all(Role::Manager, "/v1/duplicate-challenges", &[("state", "open"), ("limit", "500")]);
    let is_mine = |item: &&Value| item["challenge_id"] == json!(asked.challenge);
    let listed = open().await?;
    let mine: Vec<_> = listed.iter().filter(is_mine).collect();
    ensure!(mine.len() == 1, "listed {} times", mine.len());
    ensure!(!mine[0].to_string().contains(&asked.token), "the list tells the token");
    stage.get("/v1/duplicate-challenges?state=open").send().await?.refused(403, "forbidden")?;
    resolve(&stage, Role::Manager, &asked.decision("same_sale", "Manager")).await?.expect(200)?;
    ensure!(!open().await?.iter().any(|item| is_mine(&item)), "a closed question is listed as open");
    Ok(())
}

async fn a_decision_must_say_what_and_by_whom(stage: Stage) -> Result<()> {
    let asked = question(&stage, Role::Till).await?;
    for (body, paths) in [
        (json!({"challenge_id": asked.challenge, "decided_by": "M"}), vec!["decision"]),
        (asked.decision("maybe", "M"), vec!["decision"]),
        (json!({"challenge_id": asked.challenge, "decision": 1, "decided_by": "M"}), vec!["decision"]),
    ] {
        resolve(&stage, Role::Manager, &body).await?.invalid(&paths)?;
    }
    let nameless = json!({"decision": "same_sale", "decided_by": "M"});
    let refused = resolve(&stage, Role::Manager, &nameless).await?;
    ensure!((400..500).contains(&refused.status), "no question was decided: {}", refused.summary());
    view(&stage, Role::Till, &asked.challenge).await?.expect(200)?.with(json!({"state": "open"}))?;
    Ok(())
}

async fn a_question_of_another_scope_does_not_exist(stage: Stage) -> Result<()> {
    let asked = question(&stage, Role::Till).await?;
    let decision = asked.decision("same_sale", "Nobody");
    for role in [Role::OtherCompany, Role::OtherEnvironment, Role::OtherIntegration] {
        let hidden = view(&stage, role, &asked.challenge).await?.failed(404)?;
        hidden.without(&[&stage.id("A"), &stage.id("B")])?;
        resolve(&stage, role, &decision).await?.failed(404)?;
    }
    view(&stage, Role::Till, &asked.challenge).await?.expect(200)?.with(json!({"state": "open"}))?;
    // A manager decides for the whole company, in whatever environment.
    let training = question(&stage, Role::OtherEnvironment).await?;
    resolve(&stage, Role::Manager, &training.decision("same_sale", "M")).await?.expect(200)?;
    let theirs = question(&stage, Role::OtherCompany).await?;
    resolve(&stage, Role::Manager, &theirs.decision("same_sale", "M")).await?.failed(404)?;
    Ok(())
}

async fn a_foreign_token_decides_nothing(stage: Stage) -> Result<()> {
    let asked = question(&stage, Role::Till).await?;
    let body =
        json!({"duplicate_confirmation_token": asked.token, "decision": "same_sale", "decided_by": "N"});
    let refused =
        resolve(&stage, Role::OtherCompany, &body).await?.refused(422, "duplicate_confirmation_invalid")?;
    refused.with(json!({"error": {"reason": "not_issued_here"}}))?;
    let confirm = stage.creation("confirm", &confirmation(&stage, &asked.token)).by(Role::OtherCompany);
    let refused = confirm.send().await?.refused(422, "duplicate_confirmation_invalid")?;
    refused.with(json!({"error": {"reason": "not_issued_here", "candidate": null}}))?;
    // Whoever tried has harmed nothing.
    stage.create("confirm", &confirmation(&stage, &asked.token)).await?.expect(201)?;
    Ok(())
}

async fn a_spent_question_is_not_decided_any_more(stage: Stage) -> Result<()> {
    let asked = question(&stage, Role::Till).await?;
    stage.create("confirm", &confirmation(&stage, &asked.token)).await?.expect(201)?;
    let late = resolve(&stage, Role::Manager, &asked.decision("same_sale", "Late")).await?;
    ensure!(late.status >= 400, "a spent question was decided: {}", late.summary());
    view(&stage, Role::Till, &asked.challenge)
        .await?
        .expect(200)?
        .with(json!({"state": "spent", "decision": null}))?;
    ensure!(stage.count(&stage.id("B")).await? == 1, "the confirmed sale is gone");
    Ok(())
}
