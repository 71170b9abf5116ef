//! The same seat twice: the question, who may answer it, and what becomes of the answer.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use rusqlite::Connection;
use tokio::time::Instant;
use turno_tests::{Machine, Window, Yupy, key};

use crate::connect::{CODE, sell_two_alike, selling_for};
use crate::ledger::{audit, keys_of_attempts, transactions};
use crate::steps::{
    MANAGER_PIN, choose_seat, next_sale, see_accepted, see_pending, see_reviews, sell_seat, selling,
    set_line, unlock,
};

const REASON: &str = "Dos buses salen a la misma hora";

#[tokio::test]
async fn the_same_seat_twice_is_asked_about_and_a_manager_decides() -> Result<()> {
    let machine = Machine::new()?;
    let till = selling(&machine).await?;
    let first = sell_seat(&till, "12A", "").await?;
    see_accepted(&till).await?;

    // The till itself warns first; the cashier sells all the same.
    choose_seat(&till, "12A", "").await?;
    till.keys("100").await?;
    till.keys(key::ENTER).await?;
    till.see("look-alike").await?;
    till.screenshot("look-alike").await?;
    till.click("look-alike-sell").await?;
    let second = next_sale(&till, Some(first.clone())).await?;

    // Then YUPY asks. Nothing else waits for the answer.
    see_reviews(&till, 1).await?;
    sell_seat(&till, "11B", "").await?;
    see_accepted(&till).await?;
    till.keys(key::F4).await?;
    till.see_focused(&format!("review-open-{second}")).await?;
    till.keys(key::ENTER).await?;
    till.see("review-dialog").await?;
    till.see("review-sentence").await?;
    till.screenshot("review").await?;
    till.click("decide-different").await?;
    till.see_focused("decide-reason").await?;
    till.keys(REASON).await?;
    till.keys(key::TAB).await?;

    till.see_focused("approval-pin").await?;
    till.keys("000000").await?;
    till.keys(key::ENTER).await?;
    till.see_where("problem", "says that the PIN is wrong", |part| part.is("code", "pin_wrong")).await?;
    see_reviews(&till, 1).await?;

    till.see_focused("approval-pin").await?;
    till.keys(MANAGER_PIN).await?;
    till.keys(key::ENTER).await?;
    till.see_gone("review-dialog").await?;
    see_reviews(&till, 0).await?;
    see_pending(&till, 0).await?;
    till.kill().await?;

    let held = transactions(&machine)?;
    assert_eq!(held.len(), 3, "{held:?}");
    assert_eq!(held[0].external_id, first);
    assert_eq!(held[2].external_id, second, "it was confirmed after the sale that did not wait");
    let confirmed = audit(&machine, "duplicate_confirmed")?;
    assert_eq!(confirmed.len(), 1, "{confirmed:?}");
    assert_eq!(confirmed[0]["external_transaction_id"], second.as_str());
    assert_eq!(confirmed[0]["confirmed_by"], "Encargado");
    assert_eq!(confirmed[0]["confirmation_reason"], REASON);
    Ok(())
}

/// Sells a seat twice, past the till's own warning: a sale about which YUPY asks.
async fn asked_about(till: &Window, seat: &str) -> Result<String> {
    let first = sell_seat(till, seat, "").await?;
    see_accepted(till).await?;
    choose_seat(till, seat, "").await?;
    till.keys("100").await?;
    till.keys(key::ENTER).await?;
    till.click("look-alike-sell").await?;
    let second = next_sale(till, Some(first)).await?;
    see_reviews(till, 1).await?;
    Ok(second)
}

/// Opens the question of a sale.
async fn open(till: &Window, sale: &str) -> Result<()> {
    till.keys(key::F4).await?;
    till.click(&format!("review-open-{sale}")).await?;
    till.see("review-dialog").await?;
    Ok(())
}

/// Chooses *es otra venta* with a reason, up to the PIN.
async fn say_different(till: &Window) -> Result<()> {
    till.click("decide-different").await?;
    till.see_focused("decide-reason").await?;
    till.keys(REASON).await?;
    till.keys(key::TAB).await?;
    till.see_focused("approval-pin").await
}

/// Types a manager's PIN; tells the code of the refusal, if it was one.
async fn try_pin(till: &Window, pin: &str) -> Result<Option<String>> {
    till.see_focused("approval-pin").await?;
    till.keys(pin).await?;
    till.keys(key::ENTER).await?;
    till.wait("the PIN is answered", async || {
        let Some(confirm) = till.look("decide-confirm").await? else { return Ok(Some(None)) };
        if confirm.text.contains("Guardando") {
            return Ok(None);
        }
        let refusal = till.look("problem").await?;
        Ok(refusal.map(|part| part.data.get("code").cloned()))
    })
    .await
}

#[tokio::test]
async fn the_same_sale_is_discarded_told_to_yupy_and_left_out_of_what_was_sold() -> Result<()> {
    let machine = Machine::new()?;
    let till = selling(&machine).await?;
    let id = asked_about(&till, "12A").await?;
    open(&till, &id).await?;
    till.click("decide-same").await?;
    till.click("decide-money-refunded").await?;
    till.click("decide-reason").await?;
    till.keys("Se cobró dos veces").await?;
    till.screenshot("review-same").await?;
    till.click("approval-pin").await?;
    assert_eq!(try_pin(&till, MANAGER_PIN).await?, None);
    till.see_gone("review-dialog").await?;
    see_reviews(&till, 0).await?;
    see_pending(&till, 0).await?;
    till.click("discard-see").await?;
    till.see_where("sale-verdict", "says that it does not count", |part| {
        part.is("verdict", "does_not_count")
    })
    .await?;
    till.see_match("li[data-happened=discard_told]").await?;
    till.screenshot("review-discarded").await?;
    till.click("sale-close").await?;
    till.keys(key::F7).await?;
    till.see_text("report-discarded", "S/").await?;
    till.screenshot("review-discarded-shift").await?;
    till.kill().await?;

    assert_eq!(transactions(&machine)?.len(), 1);
    let resolved = audit(&machine, "duplicate_resolved")?;
    assert_eq!(resolved.len(), 1, "{resolved:?}");
    assert_eq!(resolved[0]["decision"], "same_sale");
    assert!(audit(&machine, "duplicate_confirmed")?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_question_that_is_left_for_later_ages_on_the_screen_and_stops_nothing() -> Result<()> {
    let machine = Machine::new()?;
    let till = selling(&machine).await?;
    let id = asked_about(&till, "12A").await?;
    open(&till, &id).await?;
    till.click("decide-later").await?;
    till.see_gone("review-dialog").await?;
    let row = format!("li:has([data-testid=review-open-{id}])");
    let text = async || Ok::<_, anyhow::Error>(till.see_match(&row).await?.text);
    let before = text().await?;
    assert!(before.contains("Pregunta de hace"), "{before}");
    till.wait("the question is older", async || Ok((text().await? != before).then_some(()))).await?;
    till.screenshot("review-later").await?;

    sell_seat(&till, "9B", "").await?;
    see_accepted(&till).await?;
    see_reviews(&till, 1).await?;
    till.kill().await?;
    assert_eq!(transactions(&machine)?.len(), 2, "the one that waits is not there");

    let till = machine.open(&[]).await?;
    unlock(&till).await?;
    see_reviews(&till, 1).await?;
    open(&till, &id).await?;
    say_different(&till).await?;
    assert_eq!(try_pin(&till, MANAGER_PIN).await?, None);
    see_reviews(&till, 0).await?;
    see_pending(&till, 0).await?;
    till.kill().await?;
    assert_eq!((transactions(&machine)?.len(), audit(&machine, "duplicate_confirmed")?.len()), (3, 1));
    Ok(())
}

#[tokio::test]
async fn wrong_pins_lock_and_a_restart_begins_the_wait_anew() -> Result<()> {
    let machine = Machine::new()?;
    let till = selling(&machine).await?;
    let id = asked_about(&till, "12A").await?;
    open(&till, &id).await?;
    say_different(&till).await?;
    // Each wait is twice as long as the one before: at some point it is longer than the typing.
    let mut wrong = 0;
    while try_pin(&till, "999998").await?.as_deref() == Some("pin_wrong") {
        wrong += 1;
    }
    assert!(wrong >= 3, "{wrong} were free");
    till.see_where("problem", "says that there is a wait", |part| part.is("code", "pin_locked")).await?;
    till.screenshot("review-locked").await?;
    till.kill().await?;

    let till = machine.open(&[]).await?;
    unlock(&till).await?;
    open(&till, &id).await?;
    say_different(&till).await?;
    let refused = try_pin(&till, MANAGER_PIN).await?;
    assert_eq!(refused.as_deref(), Some("pin_locked"), "the right PIN does not help, and a restart neither");
    till.screenshot("review-locked-restarted").await?;
    till.wait("the wait is over", async || Ok(try_pin(&till, MANAGER_PIN).await?.is_none().then_some(())))
        .await?;
    see_reviews(&till, 0).await?;
    see_pending(&till, 0).await?;
    till.kill().await?;
    assert_eq!(audit(&machine, "duplicate_confirmed")?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_confirmation_whose_answer_is_lost_is_one_transaction_and_one_audit_row() -> Result<()> {
    let machine = Machine::new()?;
    let till = selling(&machine).await?;
    let id = asked_about(&till, "12A").await?;
    set_line(&till, "lost_reply").await?;
    open(&till, &id).await?;
    say_different(&till).await?;
    assert_eq!(try_pin(&till, MANAGER_PIN).await?, None);
    see_reviews(&till, 0).await?;
    see_pending(&till, 1).await?;
    till.keys(key::F2).await?;
    till.see_where("last-sale", "says that it is not confirmed", |part| part.text.contains("Sin confirmar"))
        .await?;
    till.screenshot("review-lost-answer").await?;
    set_line(&till, "online").await?;
    see_accepted(&till).await?;
    see_pending(&till, 0).await?;
    till.kill().await?;

    assert_eq!(transactions(&machine)?.len(), 2);
    assert_eq!(audit(&machine, "duplicate_confirmed")?.len(), 1);
    let keys = keys_of_attempts(&machine, &id)?;
    let (first, confirming) = keys.split_first().context("it was sent")?;
    assert!(confirming.len() >= 2, "it was sent again: {keys:?}");
    assert_eq!(confirming.iter().collect::<BTreeSet<_>>().len(), 1, "under one key: {keys:?}");
    assert!(!confirming.contains(first), "of its own: {keys:?}");
    Ok(())
}

#[tokio::test]
async fn a_decision_with_a_token_that_expired_is_asked_for_anew_and_holds_once() -> Result<()> {
    const LIFE_SECONDS: u32 = 3;
    const PIN: &str = "804271";
    let machine = Machine::new()?;
    let database = machine.path("yupy.db");
    let yupy = Yupy::start(&database, CODE).await?;
    yupy.ask_about_products_for(LIFE_SECONDS).await?;
    let till = selling_for(&yupy, &machine, CODE).await?;
    let id = sell_two_alike(&till).await?;
    let asked = Instant::now();

    open(&till, &id).await?;
    say_different(&till).await?;
    till.wait("the token has expired", async || {
        Ok((asked.elapsed().as_secs() > u64::from(LIFE_SECONDS)).then_some(()))
    })
    .await?;
    assert_eq!(try_pin(&till, PIN).await?, None);
    see_reviews(&till, 0).await?;
    see_pending(&till, 0).await?;
    till.keys(key::F6).await?;
    till.click(&format!("sale-open-{id}")).await?;
    till.see_match("li[data-happened=decision_carried_over]").await?;
    till.screenshot("review-renewed").await?;
    till.kill().await?;
    drop(yupy);

    let ledger = Connection::open(&database)?;
    let held: u32 = ledger.query_row("SELECT count(*) FROM sale", [], |row| row.get(0))?;
    let rows = |event: &str| -> Result<u32> {
        let sql = "SELECT count(*) FROM audit WHERE entry LIKE ?1";
        Ok(ledger.query_row(sql, [format!("%\"{event}\"%")], |row| row.get(0))?)
    };
    assert_eq!((held, rows("duplicate_confirmed")?), (2, 1));
    assert!(rows("duplicate_suspected")? >= 2, "it was asked anew");
    Ok(())
}
