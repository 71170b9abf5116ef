//! Paying by card in the real window, with the practice server and its acquirer behind it.

use anyhow::Result;
use turno_tests::{Machine, key};

use crate::ledger::{audit, transactions};
use crate::steps::{choose_seat, next_sale, see_pending, selling};

async fn card_on(width: u32, height: u32) -> Result<()> {
    let machine = Machine::with_screen(width, height)?;
    let till = selling(&machine).await?;
    // The line is known by then: a sale in cash has gone over it.
    choose_seat(&till, "12A", "").await?;
    till.keys(key::F9).await?;
    let first = next_sale(&till, None).await?;
    see_pending(&till, 0).await?;
    choose_seat(&till, "12B", "").await?;
    till.keys(&key::F8.repeat(2)).await?;
    till.see_focused("tender-card").await?;
    till.screenshot(&format!("card-{width}")).await?;
    // A scanner's Enter, or a hasty one, charges no card.
    till.keys(key::ENTER).await?;
    till.keys(key::F9).await?;
    let second = next_sale(&till, Some(first)).await?;
    till.see_where("last-sale-card", "says that the card was approved", |part| {
        part.text.contains("aprobada")
    })
    .await?;
    till.see_focused("search").await?;
    till.screenshot(&format!("card-approved-{width}")).await?;
    till.kill().await?;
    assert_eq!(transactions(&machine)?.len(), 2);
    let paid = audit(&machine, "payment_approved")?;
    assert_eq!(paid.len(), 1, "{second} was charged once");
    Ok(())
}

#[tokio::test]
async fn a_sale_is_paid_by_card() -> Result<()> {
    card_on(1280, 800).await
}

#[tokio::test]
async fn a_sale_is_paid_by_card_on_a_small_screen() -> Result<()> {
    card_on(1024, 600).await
}
