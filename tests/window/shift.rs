//! A cashier's day from the first float to the next one, by keyboard, with the network away at its end.

use anyhow::Result;
use turno_tests::{Machine, Window, key};

use crate::steps::{
    MANAGER_PIN, choose_seat, next_sale, open_shift, see_accepted, see_pending, sell_seat, selling, set_line,
    unlock,
};

async fn figure(till: &Window, name: &str, text: &str) -> Result<()> {
    till.see_text(&format!("report-{name}"), text).await?;
    Ok(())
}

/// Opens the part of Turno behind a button.
async fn press(till: &Window, button: &str) -> Result<()> {
    till.see_where(button, "can be pressed", |part| part.is_enabled).await?;
    till.click(button).await
}

#[tokio::test]
async fn a_day_ends_with_sales_that_wait_and_the_next_shift_sees_them_settle() -> Result<()> {
    let machine = Machine::with_screen(1280, 800)?;
    let till = selling(&machine).await?;
    sell_seat(&till, "12A", "María Ramos").await?;
    see_accepted(&till).await?;

    till.keys(key::F7).await?;
    till.see_focused("cash-in").await?;
    press(&till, "cash-out").await?;
    till.see_focused("cash-amount").await?;
    till.screenshot("shift-pay-out").await?;
    till.keys("12.50").await?;
    till.keys(key::TAB).await?;
    till.keys("Agua para la oficina").await?;
    till.keys(key::ENTER).await?;
    figure(&till, "drawer-pay_outs", "12.50").await?;

    set_line(&till, "offline").await?;
    let waiting = [sell_seat(&till, "10A", "").await?, sell_seat(&till, "10B", "José Ñáñez").await?];
    see_pending(&till, 2).await?;
    till.keys(key::F7).await?;
    till.see_text("report-pending", "S/").await?;
    till.screenshot("shift-x").await?;

    press(&till, "shift-close").await?;
    till.see_focused("count-20000").await?;
    for id in &waiting {
        till.see_text("close-pending", id).await?;
    }
    // One note of 200 and one of 100: what is missing needs a manager.
    till.keys("1").await?;
    till.keys(key::ENTER).await?;
    till.keys("1").await?;
    till.see("close-reason").await?;
    till.keys(&key::ENTER.repeat(10)).await?;
    till.see_focused("close-reason").await?;
    till.keys("Falta un billete").await?;
    till.keys(key::TAB).await?;
    till.see_focused("approval-pin").await?;
    till.keys(MANAGER_PIN).await?;
    till.screenshot("shift-close").await?;
    till.keys(key::ENTER).await?;

    till.see("last-closing").await?;
    till.screenshot("shift-closed").await?;
    press(&till, "last-closing-see").await?;
    till.see("report-difference").await?;
    till.screenshot("shift-z").await?;
    till.kill().await?;

    // Killed, the shift stays closed, and its count is the next float.
    let till = machine.open(&[]).await?;
    unlock(&till).await?;
    press(&till, "last-closing-use").await?;
    till.see_focused("float").await?;
    till.keys(key::ENTER).await?;
    till.see_focused("search").await?;
    set_line(&till, "online").await?;
    see_pending(&till, 0).await?;
    till.keys(key::F7).await?;
    figure(&till, "drawer-float", "300.00").await?;
    figure(&till, "sold", "0.00").await?;
    press(&till, "shift-past").await?;
    till.see_where("past-S1", "has its number", |part| part.text.contains("Z ") && part.text.contains("-1"))
        .await?;
    till.screenshot("shift-past").await?;
    press(&till, "past-S1").await?;
    till.wait("both late sales are in the addendum", async || {
        let late = till.look_all("[data-testid=report-late][data-state=accepted]").await?;
        Ok((late.len() == 2).then_some(()))
    })
    .await?;
    till.screenshot("shift-addendum").await?;
    Ok(())
}

#[tokio::test]
async fn closing_pressed_twice_closes_once_and_a_shift_without_sales_closes() -> Result<()> {
    let machine = Machine::with_screen(1024, 600)?;
    let till = selling(&machine).await?;
    till.keys(key::F7).await?;
    till.see("report-sold").await?;
    till.screenshot("shift-x-1024").await?;
    press(&till, "shift-close").await?;
    till.see_focused("count-20000").await?;
    till.keys(key::ENTER).await?;
    till.keys("1").await?;
    till.see_text("close-counted", "100.00").await?;
    till.screenshot("shift-close-1024").await?;
    till.double_click("close-confirm").await?;
    till.see("last-closing").await?;
    open_shift(&till).await?;
    till.keys(key::F7).await?;
    press(&till, "shift-past").await?;
    till.see("past-S1").await?;
    assert_eq!(till.look_all("[data-testid^=past-S]").await?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_ticket_that_was_not_charged_is_named_and_is_there_for_its_seller_in_the_next_shift() -> Result<()>
{
    let machine = Machine::new()?;
    let till = selling(&machine).await?;
    choose_seat(&till, "9A", "").await?;
    till.keys(key::F7).await?;
    press(&till, "shift-close").await?;
    till.see("close-open-ticket").await?;
    till.see_focused("count-20000").await?;
    till.keys(key::ENTER).await?;
    till.keys("1").await?;
    press(&till, "close-confirm").await?;
    open_shift(&till).await?;
    till.see_text("line-0", "9A").await?;
    till.keys(key::F9).await?;
    let sale = next_sale(&till, None).await?;
    assert!(sale.contains("-S2-"), "{sale} is of the shift in which it was charged");
    Ok(())
}
