//! Who works at the till: another person takes over in one step, and a manager lets a new one in.

use anyhow::Result;
use turno_tests::{Machine, Window, key};

use crate::steps::{CASHIER_PIN, MANAGER_PIN, choose_seat, next_sale, selling};

/// F12, a PIN, Enter: the shift stays open and nothing is locked in between.
async fn switch_to(till: &Window, person: &str, pin: &str, name: &str) -> Result<()> {
    till.keys(key::F12).await?;
    till.see("switch-dialog").await?;
    till.click(person).await?;
    till.see_focused("pin-input").await?;
    till.keys(pin).await?;
    till.keys(key::ENTER).await?;
    till.see_gone("switch-dialog").await?;
    till.see_text("switch-person", name).await?;
    Ok(())
}

#[tokio::test]
async fn a_new_person_takes_over_in_one_step_and_everybody_keeps_their_own_ticket() -> Result<()> {
    let machine = Machine::with_screen(1024, 600)?;
    let till = selling(&machine).await?;
    choose_seat(&till, "8A", "María Ramos").await?;
    till.keys(key::F12).await?;
    till.see_focused("pin-input").await?;
    till.screenshot("people-switch-1024").await?;
    till.keys(MANAGER_PIN).await?;
    till.keys(key::ENTER).await?;
    till.see_text("switch-person", "Encargado").await?;

    till.keys(key::F10).await?;
    till.see("person-add").await?;
    till.screenshot("people-1024").await?;
    till.click("person-add").await?;
    till.see_focused("person-name").await?;
    till.keys("Ana Ñahui").await?;
    till.click("new-pin").await?;
    till.keys("482913").await?;
    till.keys(key::TAB).await?;
    till.keys("482913").await?;
    till.click("approval-pin").await?;
    till.keys(MANAGER_PIN).await?;
    till.screenshot("people-add-1024").await?;
    till.keys(key::ENTER).await?;
    let row =
        till.see_match("[data-testid^=person-row-]:not([data-testid$=cashier]):not([data-testid$=manager])");
    let new = row.await?.test_id().replace("person-row-", "person-");

    switch_to(&till, &new, "482913", "Ana Ñahui").await?;
    choose_seat(&till, "8B", "").await?;
    till.keys(key::F9).await?;
    let sold = next_sale(&till, None).await?;
    assert!(sold.contains("-S1-"), "{sold} is of the shift that was open all the time");
    switch_to(&till, "person-cashier", CASHIER_PIN, "Caja").await?;
    till.see_text("line-0", "8A").await?;
    Ok(())
}
