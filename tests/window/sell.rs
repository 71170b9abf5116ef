//! Selling with a network that is there.

use anyhow::Result;
use turno_tests::{Machine, key};

use crate::ledger::{audit, transactions};
use crate::steps::{
    MANAGER_PIN, choose_seat, last_sale, next_sale, open_shift, see_accepted, see_pending, sell_seat,
    selling, unlock,
};

#[tokio::test]
async fn a_sale_by_keyboard_alone_is_saved_here_and_accepted_by_yupy() -> Result<()> {
    let machine = Machine::new()?;
    let till = machine.open(&[]).await?;
    till.see_focused("welcome-practice").await?;
    till.screenshot("welcome").await?;
    till.keys(key::ENTER).await?;
    till.see("pin-input").await?;
    till.screenshot("locked").await?;
    unlock(&till).await?;
    open_shift(&till).await?;
    choose_seat(&till, "12A", "María Ramos").await?;
    till.keys("100").await?;
    till.see_where("change", "shows the change", |part| part.text.contains('.')).await?;
    till.screenshot("sell").await?;
    till.keys(key::ENTER).await?;
    let sale = next_sale(&till, None).await?;
    // The next sale can start at once.
    till.see_focused("search").await?;
    see_accepted(&till).await?;
    see_pending(&till, 0).await?;
    till.screenshot("sold").await?;
    till.kill().await?;

    let held = transactions(&machine)?;
    assert_eq!(held.len(), 1, "{held:?}");
    assert_eq!(held[0].external_id, sale);
    assert_eq!(held[0].seat.as_deref(), Some("12A"));
    assert_eq!(held[0].buyer_name.as_deref(), Some("María Ramos"));
    assert_eq!(audit(&machine, "created")?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn pressing_the_key_that_charges_twice_records_one_sale() -> Result<()> {
    let machine = Machine::new()?;
    let till = selling(&machine).await?;
    choose_seat(&till, "12B", "").await?;
    till.keys(&key::F9.repeat(2)).await?;
    next_sale(&till, None).await?;
    see_accepted(&till).await?;
    till.keys(key::F6).await?;
    till.wait("the list of sales has one", async || {
        Ok((till.look_all("tr[data-testid^=sale-]").await?.len() == 1).then_some(()))
    })
    .await?;
    till.kill().await?;
    assert_eq!(transactions(&machine)?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_double_click_on_the_button_that_charges_records_one_sale() -> Result<()> {
    let machine = Machine::new()?;
    let till = selling(&machine).await?;
    choose_seat(&till, "12C", "").await?;
    till.double_click("charge").await?;
    let first = next_sale(&till, None).await?;
    see_accepted(&till).await?;
    // Whatever a second press could have recorded comes before the next sale.
    sell_seat(&till, "12D", "").await?;
    see_accepted(&till).await?;
    till.kill().await?;
    let held = transactions(&machine)?;
    assert_eq!(held.len(), 2, "{held:?}");
    assert_eq!(held[0].external_id, first);
    Ok(())
}

#[tokio::test]
async fn a_name_that_looks_like_a_page_stays_text() -> Result<()> {
    const NAME: &str = "<img src=x onerror=\"document.title='taken'\"><b>Ana</b> & 'Co'";
    let machine = Machine::new()?;
    let till = selling(&machine).await?;
    sell_seat(&till, "9A", NAME).await?;
    see_accepted(&till).await?;
    till.keys(key::F6).await?;
    let shows_it = |text: &str| text.contains(NAME);
    till.wait("the list shows the name as it was typed", async || {
        Ok(till
            .look_all("tr[data-testid^=sale-]")
            .await?
            .iter()
            .any(|sale| shows_it(&sale.text))
            .then_some(()))
    })
    .await?;
    assert_eq!(till.script("return document.title").await?, "Turno");
    assert_eq!(till.script("return document.querySelectorAll('img, main b:not([class])').length").await?, 0);
    till.kill().await?;
    assert_eq!(transactions(&machine)?[0].buyer_name.as_deref(), Some(NAME));
    Ok(())
}

#[tokio::test]
async fn the_page_cannot_reach_the_network() -> Result<()> {
    let machine = Machine::new()?;
    let till = selling(&machine).await?;
    let reached = till
        .script(
            "const seen = [];
             document.addEventListener('securitypolicyviolation', (event) => seen.push(event.effectiveDirective));
             return fetch('http://127.0.0.1:9/').then(() => ['reached'], () => seen);",
        )
        .await?;
    assert_eq!(reached, serde_json::json!(["connect-src"]), "the policy stops it, not the network");
    assert_eq!(last_sale(&till).await?, None);
    Ok(())
}

/// Half by wallet, half in cash: what each of them comes to, and both of them with the sale afterwards.
async fn split_on(width: u32, height: u32) -> Result<()> {
    let machine = Machine::with_screen(width, height)?;
    let till = selling(&machine).await?;
    choose_seat(&till, "12C", "").await?;
    till.keys(key::F8).await?;
    till.see_focused("wallet-operation-rest").await?;
    till.keys("00482913").await?;
    till.screenshot(&format!("wallet-{width}")).await?;
    till.click("split").await?;
    till.see_focused("part-amount-1").await?;
    till.keys("20").await?;
    till.keys(key::ENTER).await?;
    till.see_focused("wallet-operation-1").await?;
    till.keys("77120045").await?;
    till.keys(key::ENTER).await?;
    till.see_focused("wallet-operation-rest").await?;
    till.keys(key::F8).await?;
    till.see_focused("received").await?;
    till.see_where("cash-due", "shows what is left", |part| part.text.contains('.')).await?;
    till.screenshot(&format!("split-{width}")).await?;
    till.keys("200").await?;
    till.keys(key::F9).await?;
    let sale = next_sale(&till, None).await?;
    see_accepted(&till).await?;
    till.keys(key::F6).await?;
    till.click(&format!("sale-open-{sale}")).await?;
    till.see_where("paid-with", "names both tenders", |part| {
        part.text.contains("77120045") && part.text.contains("Efectivo")
    })
    .await?;
    till.screenshot(&format!("split-detail-{width}")).await?;
    till.kill().await?;
    assert_eq!(transactions(&machine)?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_sale_is_paid_by_wallet_and_in_cash() -> Result<()> {
    split_on(1280, 800).await
}

#[tokio::test]
async fn a_sale_is_paid_by_wallet_and_in_cash_on_a_small_screen() -> Result<()> {
    split_on(1024, 600).await
}

/// More than a cashier gives alone: the reason, then the manager's PIN, and the discount with the sale afterwards.
async fn discount_on(width: u32, height: u32) -> Result<()> {
    let machine = Machine::with_screen(width, height)?;
    let till = selling(&machine).await?;
    choose_seat(&till, "12D", "").await?;
    till.click("discount").await?;
    till.see_focused("discount-value").await?;
    till.keys("15").await?;
    till.click("discount-reason").await?;
    till.keys("asiento roto").await?;
    till.screenshot(&format!("discount-{width}")).await?;
    till.keys(key::ENTER).await?;
    till.see_focused("received").await?;
    till.screenshot(&format!("discounted-{width}")).await?;
    till.keys("100").await?;
    till.keys(key::ENTER).await?;
    till.see_focused("approval-pin").await?;
    till.screenshot(&format!("discount-approve-{width}")).await?;
    till.keys(MANAGER_PIN).await?;
    till.keys(key::ENTER).await?;
    let sale = next_sale(&till, None).await?;
    see_accepted(&till).await?;
    till.keys(key::F6).await?;
    till.click(&format!("sale-open-{sale}")).await?;
    till.see_text("sale-discount", "asiento roto").await?;
    till.screenshot(&format!("discount-detail-{width}")).await?;
    till.kill().await?;
    assert_eq!(transactions(&machine)?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_discount_beyond_the_limit_takes_a_manager() -> Result<()> {
    discount_on(1280, 800).await
}

#[tokio::test]
async fn a_discount_beyond_the_limit_takes_a_manager_on_a_small_screen() -> Result<()> {
    discount_on(1024, 600).await
}

/// A fare that no cashier gives alone, found by its name: the manager's PIN, and both in the sale's timeline.
async fn price_list_on(width: u32, height: u32) -> Result<()> {
    let machine = Machine::with_screen(width, height)?;
    let till = selling(&machine).await?;
    till.keys(key::F2).await?;
    till.see_focused("search").await?;
    till.keys("cusco puno").await?;
    till.screenshot(&format!("price-lists-{width}")).await?;
    till.keys(" escolar").await?;
    till.keys(key::ENTER).await?;
    till.see_focused("seat-typed").await?;
    till.keys("3C").await?;
    till.keys(key::ENTER).await?;
    till.see_focused("buyer-name").await?;
    till.keys(key::ENTER).await?;
    till.see_focused("received").await?;
    till.see_text("due", "17.50").await?;
    till.screenshot(&format!("price-list-ticket-{width}")).await?;
    till.keys("20").await?;
    till.keys(key::ENTER).await?;
    till.see_focused("approval-pin").await?;
    till.screenshot(&format!("price-list-approve-{width}")).await?;
    till.keys(MANAGER_PIN).await?;
    till.keys(key::ENTER).await?;
    let sale = next_sale(&till, None).await?;
    see_accepted(&till).await?;
    till.keys(key::F6).await?;
    till.click(&format!("sale-open-{sale}")).await?;
    till.see_text("sale-timeline", "Un encargado aprobó la tarifa").await?;
    till.screenshot(&format!("price-list-detail-{width}")).await?;
    till.keys(key::ESCAPE).await?;
    for theme in ["dark", "high_contrast"] {
        till.keys(key::F10).await?;
        till.click(&format!("theme-{theme}")).await?;
        till.keys(key::F2).await?;
        till.see_focused("search").await?;
        till.keys(key::ESCAPE).await?;
        till.keys("cusco puno").await?;
        till.see_match("[data-testid^='offer-listed:']").await?;
        till.screenshot(&format!("price-lists-{theme}-{width}")).await?;
    }
    till.kill().await?;
    assert_eq!(transactions(&machine)?[0].seat.as_deref(), Some("3C"));
    Ok(())
}

#[tokio::test]
async fn a_price_list_for_managers_takes_a_manager() -> Result<()> {
    price_list_on(1280, 800).await
}

#[tokio::test]
async fn a_price_list_for_managers_takes_a_manager_on_a_small_screen() -> Result<()> {
    price_list_on(1024, 600).await
}
