//! The epochs under which this till has numbered its sales.
//!
//! Invariant: the newest row is the epoch of the next sale, and no epoch is taken twice in one folder.

use rusqlite::{Connection, OptionalExtension, Result, params};
use turno_domain::ids::{DeviceId, Epoch};

use crate::clock::Millis;
use crate::store::{unreadable, words};
use crate::view::EpochReason;

words!(EpochReason {
    EpochReason::Enrolled => "enrolled" = EpochReason::Enrolled,
    EpochReason::WitnessMissing => "witness_missing" = EpochReason::WitnessMissing,
    EpochReason::FolderCopied => "folder_copied" = EpochReason::FolderCopied,
    EpochReason::OtherMachine => "other_machine" = EpochReason::OtherMachine,
    EpochReason::WentBack => "went_back" = EpochReason::WentBack,
    EpochReason::BackupRestored => "backup_restored" = EpochReason::BackupRestored,
    EpochReason::IdentityCollision => "identity_collision" = EpochReason::IdentityCollision,
});

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochRow {
    pub epoch: Epoch,
    /// Sales up to this sequence belong to earlier epochs.
    pub after_sequence: i64,
    pub reason: EpochReason,
    pub taken_at: Millis,
    pub registered_at: Option<Millis>,
    /// Sales that the journal put back just before.
    pub recovered_count: u32,
}

/// The epoch of the next sale; none before the till is enrolled.
pub fn current(conn: &Connection) -> Result<Option<EpochRow>> {
    conn.prepare_cached(
        "SELECT epoch, after_sequence, reason, taken_at_ms, registered_at_ms, recovered_count FROM epochs
         ORDER BY epoch_number DESC LIMIT 1",
    )?
    .query_row([], |row| {
        let epoch: String = row.get(0)?;
        Ok(EpochRow {
            epoch: Epoch::parse(&epoch).map_err(|_| unreadable("epochs.epoch", &epoch))?,
            after_sequence: row.get(1)?,
            reason: EpochReason::from_word(&row.get::<_, String>(2)?)?,
            taken_at: row.get(3)?,
            registered_at: row.get(4)?,
            recovered_count: row.get(5)?,
        })
    })
    .optional()
}

/// From the next sale on, this one.
pub fn take(conn: &Connection, epoch: Epoch, reason: EpochReason, at: Millis) -> Result<()> {
    conn.execute(
        "INSERT INTO epochs (epoch, after_sequence, reason, taken_at_ms)
         SELECT ?1, last_sequence, ?2, ?3 FROM installation",
        params![epoch.as_str(), reason.as_word(), at],
    )?;
    Ok(())
}

/// The journal put sales back before the newest epoch was taken.
pub fn set_recovered(conn: &Connection, recovered_count: u32) -> Result<()> {
    conn.execute(
        "UPDATE epochs SET recovered_count = ?1 WHERE epoch_number = (SELECT max(epoch_number) FROM epochs)",
        [recovered_count],
    )?;
    Ok(())
}

/// YUPY knows it.
pub fn set_registered(conn: &Connection, epoch: Epoch, at: Millis) -> Result<()> {
    conn.execute(
        "UPDATE epochs SET registered_at_ms = ?2 WHERE epoch = ?1 AND registered_at_ms IS NULL",
        params![epoch.as_str(), at],
    )?;
    Ok(())
}

/// Whether this folder sold, or must have sold, under an external id. Under an epoch that it left because another folder
/// or machine has the same one, only the numbers of before are its own.
pub fn is_ours(conn: &Connection, device_id: &DeviceId, external_transaction_id: &str) -> Result<bool> {
    let rest = external_transaction_id.strip_prefix(device_id.as_str()).and_then(|id| id.strip_prefix('-'));
    let Some((epoch, rest)) = rest.and_then(|rest| rest.split_once('-')) else { return Ok(false) };
    let sequence = rest.rsplit_once('-').and_then(|(_, digits)| digits.parse::<i64>().ok());
    conn.prepare_cached(
        "SELECT NOT EXISTS (
             SELECT 1 FROM epochs later
             WHERE later.epoch_number = (
                       SELECT min(epoch_number) FROM epochs WHERE epoch_number > mine.epoch_number)
               AND later.reason IN ('witness_missing', 'folder_copied', 'other_machine')
               AND later.after_sequence < ?2)
         FROM epochs mine WHERE mine.epoch = ?1",
    )?
    .query_row(params![epoch, sequence.unwrap_or(i64::MAX)], |row| row.get(0))
    .optional()
    .map(|is_ours| is_ours.unwrap_or(false))
}

/// An epoch that this folder never had, chosen by `chance`: the first free one from there on.
pub fn unused(conn: &Connection, chance: [u8; 8]) -> Result<Epoch> {
    let start = u64::from_le_bytes(chance);
    let mut is_used = conn.prepare_cached("SELECT 1 FROM epochs WHERE epoch = ?1")?;
    for step in 0..Epoch::COUNT {
        let epoch = Epoch::from_random(start.wrapping_add(step).to_le_bytes());
        if is_used.query_row([epoch.as_str()], |_| Ok(())).optional()?.is_none() {
            return Ok(epoch);
        }
    }
    Err(unreadable("epochs", "every epoch there is"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::fixture::in_memory;

    fn epoch(text: &str) -> Epoch {
        Epoch::parse(text).unwrap()
    }

    fn installed() -> Connection {
        let conn = in_memory();
        conn.execute_batch(
            "INSERT INTO installation (id, installation_id, last_sequence) VALUES (1, 'i', 7)",
        )
        .unwrap();
        conn
    }

    #[test]
    fn the_newest_epoch_is_current_and_says_which_sales_are_older() {
        let conn = installed();
        assert_eq!(current(&conn).unwrap(), None);
        take(&conn, epoch("K7M"), EpochReason::Enrolled, 1).unwrap();
        conn.execute_batch("UPDATE installation SET last_sequence = 9").unwrap();
        take(&conn, epoch("A3X"), EpochReason::WentBack, 2).unwrap();
        let newest = EpochRow {
            epoch: epoch("A3X"),
            after_sequence: 9,
            reason: EpochReason::WentBack,
            taken_at: 2,
            registered_at: None,
            recovered_count: 0,
        };
        assert_eq!(current(&conn).unwrap(), Some(newest));
        set_registered(&conn, epoch("K7M"), 3).unwrap();
        assert_eq!(current(&conn).unwrap(), Some(newest), "only its own row");
        set_registered(&conn, epoch("A3X"), 3).unwrap();
        set_registered(&conn, epoch("A3X"), 4).unwrap();
        assert_eq!(current(&conn).unwrap().unwrap().registered_at, Some(3));
    }

    #[test]
    fn what_another_folder_sells_under_an_epoch_that_was_left_to_it_is_not_ours() {
        let conn = installed();
        let device = DeviceId::parse("D03").unwrap();
        let mut sequence = 7;
        for (taken, reason) in [
            ("K7M", EpochReason::Enrolled),
            ("A3X", EpochReason::FolderCopied),
            ("A4X", EpochReason::WentBack),
            ("A7X", EpochReason::OtherMachine),
        ] {
            take(&conn, epoch(taken), reason, 1).unwrap();
            sequence += 10;
            conn.execute("UPDATE installation SET last_sequence = ?1", [sequence]).unwrap();
        }
        for (id, ours) in [
            ("D03-K7M-S1-0017", true),
            ("D03-K7M-S1-0018", false),
            ("D03-A3X-S1-0027", true),
            // Restored: nobody else sold these.
            ("D03-A3X-S1-0028", true),
            ("D03-A4X-S1-0037", true),
            ("D03-A4X-S9-0038", false),
            ("D03-A7X-S1-9999", true),
            ("D03-K9X-S1-0001", false),
            ("D04-K7M-S1-0001", false),
            ("D03K7M-S1-0001", false),
            ("ORDER-1", false),
            ("", false),
        ] {
            assert_eq!(is_ours(&conn, &device, id).unwrap(), ours, "{id}");
        }
    }

    #[test]
    fn an_epoch_that_was_used_is_never_drawn_again() {
        let conn = installed();
        let drawn = [0_u64, 0, 0, 1].map(|chance| {
            let epoch = unused(&conn, chance.to_le_bytes()).unwrap();
            take(&conn, epoch, EpochReason::WentBack, 1).unwrap();
            epoch
        });
        let distinct: std::collections::BTreeSet<Epoch> = drawn.into_iter().collect();
        assert_eq!(distinct.len(), drawn.len());
    }
}
