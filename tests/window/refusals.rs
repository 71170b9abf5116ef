//! What cannot work says so on the screen, and leaves everything as it was.

use std::fs;

use anyhow::Result;
use turno_tests::{Machine, Window};

use crate::steps::selling;

async fn see_unavailable(till: &Window, code: &str) -> Result<()> {
    let part =
        till.see_where("problem", &format!("has the code {code}"), |part| part.is("code", code)).await?;
    assert!(part.text.contains("/turno"), "it names the folder: {}", part.text);
    till.screenshot(&format!("unavailable-{code}")).await?;
    Ok(())
}

#[tokio::test]
async fn a_second_start_brings_the_first_window_forward_and_ends() -> Result<()> {
    let machine = Machine::new()?;
    let first = selling(&machine).await?;
    assert!(machine.start_again().await?.success());
    crate::steps::sell_seat(&first, "8A", "").await?;
    crate::steps::see_accepted(&first).await
}

#[tokio::test]
async fn a_folder_that_something_silent_holds_is_named() -> Result<()> {
    let machine = Machine::new()?;
    fs::create_dir(machine.data())?;
    let lock = fs::File::create(machine.data().join("lock"))?;
    lock.try_lock()?;
    let till = machine.practise().await?;
    see_unavailable(&till, "folder_in_use").await
}

#[tokio::test]
async fn a_newer_database_is_refused_and_not_touched() -> Result<()> {
    let machine = Machine::new()?;
    selling(&machine).await?.kill().await?;
    let database = machine.till_database();
    let connection = rusqlite::Connection::open(&database)?;
    connection.pragma_update(None, "user_version", 999)?;
    connection.pragma_update(None, "wal_checkpoint", "TRUNCATE").ok();
    drop(connection);
    let before = fs::read(&database)?;

    let till = machine.open(&[]).await?;
    see_unavailable(&till, "database_newer").await?;
    till.kill().await?;
    assert!(fs::read(&database)? == before, "the database is byte for byte what it was");
    Ok(())
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_named() -> Result<()> {
    let machine = Machine::new()?;
    // Permissions do not bind everybody who runs tests; a file where the folder should be does.
    fs::write(machine.data(), "")?;
    let till = machine.practise().await?;
    see_unavailable(&till, "folder_not_writable").await
}
