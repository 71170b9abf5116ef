//! Two windows of one company: a question of the one is answered in the other.

use anyhow::Result;
use rusqlite::Connection;
use turno_tests::{Machine, Yupy, key};

use crate::connect::{CODE, sell_two_alike, selling_for};
use crate::steps::{see_pending, see_reviews};

const MANAGERS_CODE: &str = "M4NAG-ERSC2-DEXYZ";
const PIN: &str = "804271";

#[tokio::test]
async fn a_question_of_one_till_is_answered_on_another_and_confirmed_in_that_name() -> Result<()> {
    let (counter, office) = (Machine::new()?, Machine::new()?);
    let database = counter.path("yupy.db");
    let yupy = Yupy::start(&database, CODE).await?;
    yupy.expect_manager(MANAGERS_CODE, "D08").await?;
    yupy.ask_about_products().await?;
    let seller = selling_for(&yupy, &counter, CODE).await?;
    let manager = selling_for(&yupy, &office, MANAGERS_CODE).await?;

    let second = sell_two_alike(&seller).await?;

    manager.keys(key::F4).await?;
    manager.click(&format!("other-open-{second}")).await?;
    manager.see("review-dialog").await?;
    manager.screenshot("other-review").await?;
    manager.click("decide-different").await?;
    manager.see_focused("decide-reason").await?;
    manager.keys("Son dos bultos").await?;
    manager.keys(key::TAB).await?;
    manager.see_focused("approval-pin").await?;
    manager.keys(PIN).await?;
    manager.keys(key::ENTER).await?;
    manager.see_gone("review-dialog").await?;
    manager.see_match("li[data-progress]").await?;
    manager.click("other-refresh").await?;
    manager.see_match("li[data-progress=told]").await?;
    manager.screenshot("other-reviews").await?;

    // The seller learns it at its next contact.
    seller.keys(key::F3).await?;
    seller.click("send-now").await?;
    see_reviews(&seller, 0).await?;
    see_pending(&seller, 0).await?;
    seller.kill().await?;
    manager.kill().await?;
    drop(yupy);
    let held: u32 =
        Connection::open(&database)?.query_row("SELECT count(*) FROM sale", [], |row| row.get(0))?;
    assert_eq!(held, 2);
    let confirmed: String = Connection::open(&database)?.query_row(
        "SELECT entry FROM audit WHERE entry LIKE '%duplicate_confirmed%'",
        [],
        |row| row.get(0),
    )?;
    assert!(confirmed.contains("Son dos bultos") && confirmed.contains("Jefa de terminal"), "{confirmed}");
    Ok(())
}
