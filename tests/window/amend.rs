//! A sale opened, corrected and voided.

use anyhow::Result;
use rusqlite::Connection;
use turno_tests::{Machine, Window, key};

use crate::ledger::{audit, keys_of_attempts, transactions};
use crate::steps::{MANAGER_PIN, see_pending, sell_seat, selling, set_line, unlock};

/// A sale that waits becomes one that YUPY refused: practice's YUPY accepts whatever this till sells.
fn refuse(machine: &Machine) -> Result<()> {
    let database = Connection::open(machine.till_database())?;
    let changed = database.execute(
        "UPDATE outbox SET state = 'needs_attention', due_at_ms = NULL, outcome_unknown = 0,
                           reason = 'validation_failed', detail = 'validation_failed: buyer_name (r-1)'",
        [],
    )?;
    assert_eq!(changed, 1);
    Ok(())
}

async fn open_sale(till: &Window, view: &str, id: &str) -> Result<()> {
    till.keys(view).await?;
    till.see(&format!("sale-open-{id}")).await?;
    till.click(&format!("sale-open-{id}")).await?;
    till.see("sale-timeline").await?;
    Ok(())
}

async fn approve(till: &Window, reason: &str) -> Result<()> {
    till.click("approval-reason").await?;
    till.keys(reason).await?;
    till.click("approval-pin").await?;
    till.keys(MANAGER_PIN).await?;
    till.keys(key::ENTER).await
}

async fn see_verdict(till: &Window, verdict: &str) -> Result<()> {
    till.see_where("sale-verdict", verdict, |part| part.is("verdict", verdict)).await?;
    Ok(())
}

async fn correct_on(width: u32, height: u32) -> Result<()> {
    let size = format!("{width}x{height}");
    let machine = Machine::with_screen(width, height)?;
    let till = selling(&machine).await?;
    set_line(&till, "offline").await?;
    let id = sell_seat(&till, "12A", "Maria Ramos").await?;
    till.kill().await?;
    refuse(&machine)?;

    let till = machine.open(&[]).await?;
    unlock(&till).await?;
    // What the line was is remembered, and what was refused waits for a person on any line.
    set_line(&till, "online").await?;
    open_sale(&till, key::F3, &id).await?;
    see_verdict(&till, "awaits_correction").await?;
    till.screenshot(&format!("{size}-sale-refused")).await?;
    till.click("sale-correct").await?;
    till.see_focused("correct-buyer_name").await?;
    till.screenshot(&format!("{size}-sale-correct")).await?;
    till.keys(" Quispe").await?;
    approve(&till, "El nombre estaba incompleto").await?;
    see_verdict(&till, "counts").await?;
    till.screenshot(&format!("{size}-sale-corrected")).await?;
    till.click("sale-close").await?;
    see_pending(&till, 0).await?;
    till.kill().await?;

    let held = transactions(&machine)?;
    assert_eq!(held.len(), 1, "{held:?}");
    assert_eq!(held[0].external_id, id);
    assert_eq!(held[0].buyer_name.as_deref(), Some("Maria Ramos Quispe"));
    let database = Connection::open(machine.till_database())?;
    let newest: String = database.query_one(
        "SELECT idempotency_key FROM requests WHERE revision = 1 AND operation = 'create'",
        [],
        |row| row.get(0),
    )?;
    let tried = keys_of_attempts(&machine, &id)?;
    assert_eq!(tried.last(), Some(&newest), "the correction has a key of its own: {tried:?}");
    Ok(())
}

#[tokio::test]
async fn a_manager_corrects_a_refused_sale_and_it_becomes_one_transaction() -> Result<()> {
    correct_on(1280, 800).await
}

#[tokio::test]
async fn a_refused_sale_is_corrected_on_the_smallest_screen() -> Result<()> {
    correct_on(1024, 600).await
}

async fn void_on(width: u32, height: u32) -> Result<()> {
    let size = format!("{width}x{height}");
    let machine = Machine::with_screen(width, height)?;
    let till = selling(&machine).await?;
    set_line(&till, "offline").await?;
    let id = sell_seat(&till, "12A", "").await?;
    open_sale(&till, key::F6, &id).await?;
    till.screenshot(&format!("{size}-sale-waiting")).await?;
    till.click("sale-void").await?;
    till.see("void-returned").await?;
    till.screenshot(&format!("{size}-sale-void")).await?;
    approve(&till, "Viaje cancelado").await?;
    see_verdict(&till, "voided").await?;
    till.screenshot(&format!("{size}-sale-voided")).await?;
    till.click("sale-close").await?;
    till.screenshot(&format!("{size}-sales-with-voided")).await?;
    set_line(&till, "online").await?;
    see_pending(&till, 0).await?;
    till.kill().await?;

    let held = transactions(&machine)?;
    assert_eq!(held.len(), 1, "the sale reached YUPY before its void: {held:?}");
    let voided = audit(&machine, "voided")?;
    assert_eq!(voided.len(), 1, "{voided:?}");
    assert_eq!(voided[0]["external_transaction_id"], id.as_str());
    Ok(())
}

#[tokio::test]
async fn a_void_without_a_network_follows_its_sale_when_it_is_back() -> Result<()> {
    void_on(1280, 800).await
}

#[tokio::test]
async fn a_sale_is_voided_on_the_smallest_screen() -> Result<()> {
    void_on(1024, 600).await
}
