//! Whether this data folder is the one that it was, or a copy or an older state of it; and what is done then.
//!
//! The folder and the state folder ([`crate::witness`]) each name the run of the program that had them last. Where they
//! disagree the folder becomes an installation of its own with a new epoch, before the next sale. Sales of before keep
//! their ids, keys and bytes; each is looked up at YUPY before it is sent again, since another folder may have sent it.
//! Invariant: two folders that both sell never share an epoch that either could know of; no sale waits for this.
//!
//! Order of writes, a kill possible behind each. At a usual start: the database first (it remembers the run before as
//! well), then the state folder. So a state folder that is one run behind is a crash, and one that is ahead is an older
//! database. When the guard fires: the new installation's files first, which nobody refers to yet, then one commit for
//! installation, epoch and audit. A kill in between leaves files that no folder names, and the guard fires again.

use std::sync::Arc;

use rusqlite::Connection;
use serde_json::json;
use turno_sqlite::Database;
use uuid::Uuid;

use crate::clock::Millis;
use crate::machine::Machine;
use crate::random::{Entropy, uuid};
use crate::recover::{PutBack, Recovery};
use crate::secrets::Secrets;
use crate::settle::{self, Context};
use crate::store::audit::{self, Event};
use crate::store::installation::{self, InstallationRow};
use crate::store::{epochs, imported, people, print_jobs};
use crate::till::Options;
use crate::view::{EpochReason, Problem, ProblemCode};
use crate::witness::{Claim, Record, Witness};

/// What had to be done to get the folder open.
#[derive(Debug, Default)]
pub struct Found {
    pub recovery: Option<Recovery>,
    pub put_back: PutBack,
}

/// Who this folder is for the rest of this run.
pub struct Identity {
    pub installation_id: Uuid,
    pub secrets: Secrets,
    pub witness: Witness,
}

/// Finds out whether the folder is still itself, and makes it another installation if it is not.
///
/// # Errors
/// The folder or the state folder cannot be used; nothing was sold.
pub async fn identify(db: &Database, options: &Options, found: Found) -> Result<Identity, Problem> {
    let (candidate, start_id) = (uuid(&*options.entropy), uuid(&*options.entropy));
    let (own, is_enrolled) = db
        .write(move |conn| {
            Ok::<_, Problem>((installation::ensure(conn, candidate)?, epochs::current(conn)?.is_some()))
        })
        .await?;
    let claim = Witness::claim(&options.secrets_folder, own.installation_id).map_err(not_writable)?;
    let has_secrets = Secrets::exist(&options.secrets_folder, own.installation_id);
    let never_began = own.start_id.is_none() && (has_secrets || !is_enrolled);
    let record = |machine: &Machine| Record {
        start_id,
        last_sequence: own.last_sequence,
        last_shift: own.last_shift,
        last_z: own.last_z,
        machine: machine.clone(),
    };
    let suspicion = suspicion(&own, &claim, &options.machine, never_began);
    // Sales and voids that only the journal had are of a later state of this folder.
    let went_back = (!found.put_back.is_nothing()).then_some(EpochReason::WentBack);
    let restored = found.recovery.as_ref().map(|_| EpochReason::BackupRestored);
    let suspicion = restored.or(suspicion).or(went_back);
    match (suspicion, claim) {
        (None, Claim::Taken(mut witness)) => {
            db.write(move |conn| Ok::<_, Problem>(installation::begin_start(conn, start_id)?)).await?;
            keep(&mut witness, record(&options.machine));
            let secrets = Secrets::open(&options.secrets_folder, own.installation_id, &options.entropy)
                .map_err(not_writable)?;
            Ok(Identity { installation_id: own.installation_id, secrets, witness })
        }
        (None | Some(_), Claim::Held) => {
            let reason = suspicion.unwrap_or(EpochReason::FolderCopied);
            become_another(db, options, &own, start_id, reason, found).await
        }
        // Given back only when the new installation has its own.
        (Some(reason), Claim::Taken(_held)) => {
            become_another(db, options, &own, start_id, reason, found).await
        }
    }
}

/// Why the folder cannot be the one that it was, if so. Pure.
fn suspicion(
    own: &InstallationRow,
    claim: &Claim,
    machine: &Machine,
    never_began: bool,
) -> Option<EpochReason> {
    let witness = match claim {
        Claim::Held => return Some(EpochReason::FolderCopied),
        Claim::Taken(witness) => witness,
    };
    let Some(kept) = witness.record() else {
        return (!never_began).then_some(EpochReason::WitnessMissing);
    };
    if machine.is_other_than(&kept.machine) {
        return Some(EpochReason::OtherMachine);
    }
    let same_run = [own.start_id, own.previous_start_id].contains(&Some(kept.start_id));
    let numbers_hold = own.last_sequence >= kept.last_sequence
        && own.last_shift >= kept.last_shift
        && own.last_z >= kept.last_z;
    (!(same_run && numbers_hold)).then_some(EpochReason::WentBack)
}

async fn become_another(
    db: &Database,
    options: &Options,
    old: &InstallationRow,
    start_id: Uuid,
    reason: EpochReason,
    found: Found,
) -> Result<Identity, Problem> {
    let installation_id = uuid(&*options.entropy);
    let folder = &options.secrets_folder;
    let (old_id, last_sequence) = (old.installation_id, old.last_sequence);
    // Without the pepper no PIN can be checked any more; without the credential nothing can be sent.
    let pins_are_lost = !Secrets::exist(folder, old_id);
    let secrets = Secrets::adopt(folder, old_id, installation_id, &options.entropy).map_err(not_writable)?;
    let mut witness = match Witness::claim(folder, installation_id).map_err(not_writable)? {
        Claim::Taken(witness) => witness,
        Claim::Held => return Err(ProblemCode::Internal.into()),
    };
    let record = Record {
        start_id,
        last_sequence,
        last_shift: old.last_shift,
        last_z: old.last_z,
        machine: options.machine.clone(),
    };
    keep(&mut witness, record);
    let mut chance = [0; 8];
    options.entropy.fill(&mut chance);
    let now = options.clock.now().as_millisecond();
    let (policy, entropy) = (options.policy, Arc::clone(&options.entropy));
    db.write(move |conn| {
        installation::become_another(conn, installation_id, start_id)?;
        if let Some(Recovery { backup, set_aside, fault }) = &found.recovery {
            let data = json!({ "backup": backup, "set_aside": set_aside, "fault": fault });
            audit::append(conn, now, &audit::Entry { data, ..audit::Entry::new(Event::BackupRestored) })?;
        }
        if pins_are_lost {
            people::forget_pins(conn)?;
        }
        let taken = take_epoch(conn, chance, reason, now)?;
        epochs::set_recovered(conn, found.put_back.sales_count)?;
        let data = json!({
            "recovered_count": found.put_back.sales_count,
            "recovered_voids_count": found.put_back.voids_count,
            "reason": reason.as_word(),
            "installation_id": installation_id.to_string(),
            "was": old_id.to_string(),
            "epoch": taken,
            "after_sequence": last_sequence,
            "pins_are_lost": pins_are_lost,
        });
        audit::append(conn, now, &audit::Entry { data, ..audit::Entry::new(Event::IdentityGuardFired) })?;
        // In another state of this folder it may all have been printed.
        print_jobs::ask_about_open(conn, true, now)?;
        if let Some(enrolment) = installation::enrolment(conn)? {
            let context = Context { scope: enrolment.scope, policy, entropy };
            settle::ask_anew(conn, &context, now)?;
        }
        Ok::<_, Problem>(())
    })
    .await?;
    tracing::warn!(
        reason = reason.as_word(),
        "this data folder is a copy or was put back: it takes new numbers"
    );
    Ok(Identity { installation_id, secrets, witness })
}

/// Another till seems to use the numbers of this sale. If they are those that the next sale would get, it gets others.
///
/// A sign about an older epoch changes nothing: a hundred sales that collide cost one epoch.
pub fn suspect(
    conn: &Connection,
    entropy: &dyn Entropy,
    sequence: i64,
    reason: EpochReason,
    now: Millis,
) -> rusqlite::Result<()> {
    if epochs::current(conn)?.is_none_or(|current| sequence <= current.after_sequence) {
        return Ok(());
    }
    // Another till's numbers say nothing about ours.
    if imported::find(conn, sequence)?.is_some() {
        return Ok(());
    }
    leave_epoch(conn, entropy, reason, now)
}

/// The next sale gets other letters.
pub fn leave_epoch(
    conn: &Connection,
    entropy: &dyn Entropy,
    reason: EpochReason,
    now: Millis,
) -> rusqlite::Result<()> {
    let mut chance = [0; 8];
    entropy.fill(&mut chance);
    let taken = take_epoch(conn, chance, reason, now)?;
    let after_sequence = installation::last_sequence(conn)?;
    let data = json!({ "reason": reason.as_word(), "epoch": taken, "after_sequence": after_sequence });
    audit::append(conn, now, &audit::Entry { data, ..audit::Entry::new(Event::IdentityGuardFired) })
}

/// `None`: the till has no epoch yet, and gets its first when it is enrolled.
fn take_epoch(
    conn: &Connection,
    chance: [u8; 8],
    reason: EpochReason,
    now: Millis,
) -> rusqlite::Result<Option<String>> {
    if epochs::current(conn)?.is_none() {
        return Ok(None);
    }
    let epoch = epochs::unused(conn, chance)?;
    epochs::take(conn, epoch, reason, now)?;
    Ok(Some(epoch.as_str().to_owned()))
}

/// What cannot be kept outside (a full disk) is missed at the next start, which then takes a new epoch. No sale
/// waits for it.
fn keep(witness: &mut Witness, record: Record) {
    if let Err(error) = witness.keep(record) {
        tracing::error!(%error, "the till's run cannot be kept outside of the data folder");
    }
}

fn not_writable(error: std::io::Error) -> Problem {
    Problem::with(ProblemCode::FolderNotWritable, error.to_string())
}

#[cfg(test)]
mod tests;
