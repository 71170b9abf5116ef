//! A server that was put back to an earlier state has forgotten sales; the till has not.

use std::collections::BTreeSet;
use std::fs;

use anyhow::Result;
use turno_tests::{Machine, key};

use crate::ledger::{keys_of_attempts, transactions};
use crate::steps::{see_accepted, see_pending, sell_seat, selling, unlock};

#[tokio::test]
async fn what_a_restored_server_has_forgotten_is_sent_again_when_the_books_are_compared() -> Result<()> {
    let machine = Machine::new()?;
    let till = selling(&machine).await?;
    let kept = sell_seat(&till, "9A", "").await?;
    see_accepted(&till).await?;
    till.kill().await?;
    let (database, backup) = (machine.server_database(), machine.path("yupy-backup.db"));
    // Opening and closing it writes everything that is beside it into the one file.
    rusqlite::Connection::open(&database)?.pragma_update(None, "wal_checkpoint", "TRUNCATE")?;
    fs::copy(&database, &backup)?;

    let till = machine.open(&[]).await?;
    unlock(&till).await?;
    let forgotten = sell_seat(&till, "9B", "").await?;
    see_accepted(&till).await?;
    till.kill().await?;
    for beside in ["-wal", "-shm"] {
        fs::remove_file(database.with_file_name(format!("yupy.db{beside}"))).ok();
    }
    fs::copy(&backup, &database)?;

    let till = machine.open(&[]).await?;
    unlock(&till).await?;
    till.see_focused("search").await?;
    till.keys(key::F6).await?;
    till.click("reconcile").await?;
    till.see_match("li[data-kind=sent_again]").await?;
    till.screenshot("reconciled").await?;
    see_pending(&till, 0).await?;
    till.kill().await?;

    let held: BTreeSet<_> = transactions(&machine)?.into_iter().map(|sale| sale.external_id).collect();
    assert_eq!(held, BTreeSet::from([kept, forgotten.clone()]));
    let keys: BTreeSet<_> = keys_of_attempts(&machine, &forgotten)?.into_iter().collect();
    assert_eq!(keys.len(), 1, "one key, however often it was sent");
    Ok(())
}
