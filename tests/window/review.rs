//! The same seat twice: the question, and who may answer it.

use anyhow::Result;
use turno_tests::{Machine, key};

use crate::ledger::{audit, transactions};
use crate::steps::{
    MANAGER_PIN, choose_seat, next_sale, see_accepted, see_pending, see_reviews, sell_seat, selling,
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
