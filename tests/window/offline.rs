//! Selling with a network that is not there, or that loses what it carries.

use std::collections::BTreeSet;

use anyhow::Result;
use turno_tests::{Machine, key};

use crate::ledger::{keys_at_the_server, keys_of_attempts, transactions};
use crate::steps::{see_accepted, see_pending, sell_seat, selling, set_line, unlock};

#[tokio::test]
async fn five_sales_made_offline_survive_a_kill_and_arrive_exactly_once() -> Result<()> {
    let machine = Machine::new()?;
    let till = selling(&machine).await?;
    set_line(&till, "offline").await?;
    let mut sold = BTreeSet::new();
    for seat in ["10A", "10B", "10C", "10D", "11A"] {
        sold.insert(sell_seat(&till, seat, "").await?);
    }
    assert_eq!(sold.len(), 5, "five sales have five numbers: {sold:?}");
    see_pending(&till, 5).await?;
    till.keys(key::F3).await?;
    till.see("send-now").await?;
    till.screenshot("pending-offline").await?;
    till.kill().await?;
    assert_eq!(transactions(&machine)?, [], "nothing has arrived");

    let till = machine.open(&[]).await?;
    unlock(&till).await?;
    see_pending(&till, 5).await?;
    set_line(&till, "online").await?;
    see_pending(&till, 0).await?;
    till.see_state("connection", "online").await?;
    till.kill().await?;

    let held = transactions(&machine)?;
    assert_eq!(held.len(), 5, "{held:?}");
    assert_eq!(held.into_iter().map(|sale| sale.external_id).collect::<BTreeSet<_>>(), sold);
    assert_eq!(keys_at_the_server(&machine)?.len(), 5);
    Ok(())
}

#[tokio::test]
async fn a_lost_reply_leads_to_one_transaction_under_one_key() -> Result<()> {
    let machine = Machine::new()?;
    let till = selling(&machine).await?;
    set_line(&till, "lost_reply").await?;
    let sale = sell_seat(&till, "10A", "").await?;
    till.see_where("last-sale", "says that it is not confirmed", |part| part.text.contains("Sin confirmar"))
        .await?;
    see_pending(&till, 1).await?;
    till.screenshot("lost-reply").await?;
    set_line(&till, "online").await?;
    see_accepted(&till).await?;
    see_pending(&till, 0).await?;
    till.kill().await?;

    let held = transactions(&machine)?;
    assert_eq!(held.len(), 1, "{held:?}");
    assert_eq!(held[0].external_id, sale);
    let keys = keys_of_attempts(&machine, &sale)?;
    assert!(keys.len() >= 2, "it was sent again: {keys:?}");
    assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), 1, "with the same key: {keys:?}");
    assert_eq!(keys_at_the_server(&machine)?, [keys[0].clone()]);
    Ok(())
}

#[tokio::test]
async fn a_portals_page_is_not_taken_for_an_answer() -> Result<()> {
    let machine = Machine::new()?;
    let till = selling(&machine).await?;
    set_line(&till, "portal").await?;
    sell_seat(&till, "10A", "").await?;
    till.see_state("connection", "portal").await?;
    see_pending(&till, 1).await?;
    set_line(&till, "online").await?;
    till.keys(key::F3).await?;
    till.click("send-now").await?;
    see_pending(&till, 0).await?;
    till.kill().await?;
    assert_eq!(transactions(&machine)?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn switched_off_by_a_person_the_till_sells_on_and_sends_when_switched_on() -> Result<()> {
    let machine = Machine::new()?;
    let till = selling(&machine).await?;
    till.keys(key::F3).await?;
    till.click("pause-sending").await?;
    till.see_state("connection", "paused").await?;
    till.keys(key::F2).await?;
    sell_seat(&till, "7A", "").await?;
    see_pending(&till, 1).await?;
    till.kill().await?;

    let till = machine.open(&[]).await?;
    unlock(&till).await?;
    till.see_focused("search").await?;
    till.see_state("connection", "paused").await?;
    till.keys(key::F3).await?;
    till.see_match("[data-testid^=sale-]").await?;
    till.screenshot("paused").await?;
    see_pending(&till, 1).await?;
    till.click("pause-sending").await?;
    see_pending(&till, 0).await?;
    till.see_state("connection", "online").await?;
    Ok(())
}
