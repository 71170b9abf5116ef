//! What a cashier does all day, by keyboard.

use anyhow::{Context, Result};
use turno_tests::{Machine, Window, key};

pub const CASHIER_PIN: &str = "314159";
pub const MANAGER_PIN: &str = "271828";

/// A departure that the demo catalog has whatever the hour.
pub const ROUTE: &str = "lima arequipa";

/// A till in practice, unlocked, with an open shift.
pub async fn selling(machine: &Machine) -> Result<Window> {
    let till = machine.practise().await?;
    unlock(&till).await?;
    open_shift(&till).await?;
    Ok(till)
}

/// Whoever the screen proposes types their PIN.
pub async fn unlock(till: &Window) -> Result<()> {
    let chosen = till.see_match("button.person[aria-pressed=true]").await?;
    let pin = if chosen.test_id() == "person-manager" { MANAGER_PIN } else { CASHIER_PIN };
    till.see("pin-input").await?;
    till.keys(pin).await?;
    till.keys(key::ENTER).await?;
    till.see_gone("pin-input").await
}

pub async fn open_shift(till: &Window) -> Result<()> {
    till.see("float").await?;
    till.keys("100").await?;
    till.keys(key::ENTER).await?;
    till.see("search").await?;
    Ok(())
}

/// Puts a seat on the ticket and stops where the money is typed.
pub async fn choose_seat(till: &Window, seat: &str, buyer: &str) -> Result<()> {
    till.keys(key::F2).await?;
    till.see_focused("search").await?;
    till.keys(ROUTE).await?;
    till.keys(key::ENTER).await?;
    till.see_focused("seat-typed").await?;
    till.keys(seat).await?;
    till.keys(key::ENTER).await?;
    till.see_focused("buyer-name").await?;
    till.keys(buyer).await?;
    till.keys(key::ENTER).await?;
    till.see_focused("received").await
}

/// Sells a seat, and comes back when the sale is recorded on this till. Tells its external id.
pub async fn sell_seat(till: &Window, seat: &str, buyer: &str) -> Result<String> {
    // Where the last sale is shown, so that it is not taken for this one.
    till.keys(key::F2).await?;
    till.see_focused("search").await?;
    let before = last_sale(till).await?;
    choose_seat(till, seat, buyer).await?;
    till.keys("100").await?;
    till.keys(key::ENTER).await?;
    next_sale(till, before).await
}

/// The external id of the sale that was recorded last, if the screen shows one.
pub async fn last_sale(till: &Window) -> Result<Option<String>> {
    Ok(till.look("last-sale").await?.and_then(|part| part.text.split_whitespace().next().map(str::to_owned)))
}

/// Waits until another sale than `before` is the last one.
pub async fn next_sale(till: &Window, before: Option<String>) -> Result<String> {
    let is_new = |text: &str| text.split_whitespace().next().is_some_and(|id| before.as_deref() != Some(id));
    till.see_where("last-sale", "shows another sale", |part| is_new(&part.text)).await?;
    last_sale(till).await?.context("the sale that was just seen")
}

/// Waits until the sale made last is accepted by YUPY.
pub async fn see_accepted(till: &Window) -> Result<()> {
    till.see_state("last-sale-state", "accepted").await?;
    Ok(())
}

/// Sets the practice line, and comes back when it is so.
pub async fn set_line(till: &Window, line: &str) -> Result<()> {
    till.click(&format!("practice-line-{line}")).await?;
    till.see_match(&format!("label.on [data-testid=practice-line-{line}]")).await?;
    Ok(())
}

pub async fn see_pending(till: &Window, count: u32) -> Result<()> {
    see_count(till, "pending-count", count).await
}

pub async fn see_reviews(till: &Window, count: u32) -> Result<()> {
    see_count(till, "review-count", count).await
}

async fn see_count(till: &Window, counter: &str, count: u32) -> Result<()> {
    let is_so = |found: Option<&String>| found.is_some_and(|found| *found == count.to_string());
    till.see_where(counter, &format!("counts {count}"), |part| is_so(part.data.get("count"))).await?;
    Ok(())
}
