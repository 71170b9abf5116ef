//! A till's audit file against what the till said of it with each sale.
//!
//! A chain alone cannot show that its tail was cut off, or that it is an older one; the heads that were kept here can.
//! Invariant: what is compared was written before anybody asked, in a chain of its own that the till cannot reach.

use std::collections::BTreeMap;
use std::io::BufRead;

use serde_json::Value;
use turno_domain::ids::{Company, DeviceId};
use turno_protocol::{
    canonical,
    chain::{self, BrokenAt, Hash, Head, Link},
};

use crate::ledger::{Ledger, LedgerError, PageRequest};

/// Rows in memory at a time while the company's audit is read.
const READ_AT_ONCE: u16 = 500;

#[derive(Debug, thiserror::Error)]
pub enum TillAuditError {
    #[error("the file cannot be read")]
    File(#[from] std::io::Error),
    #[error("line {0} is no row of a till's audit")]
    NoRow(u64),
    #[error(transparent)]
    Broken(#[from] BrokenAt),
    /// The till had come further, or its rows were others.
    #[error("with sale {sale} the till said that row {row} was its last one; the file has no such row")]
    Missing { row: u64, sale: String },
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// What was found to agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreed {
    pub head: Head,
    /// Sales with which the till had said where its audit stood.
    pub kept: u64,
}

/// Verifies the chain in a file that a till wrote, and that every head which that till ever sent is in it.
pub async fn verify_till_audit<L: Ledger>(
    ledger: &L,
    company: &Company,
    device: &DeviceId,
    file: impl BufRead,
) -> Result<Agreed, TillAuditError> {
    let (head, hashes) = read(file)?;
    let mut kept = 0;
    let mut page = PageRequest { after: None, limit: READ_AT_ONCE };
    loop {
        let rows = ledger.audit(company.clone(), page).await?;
        for row in rows.items {
            let text = |name: &str| row.entry.get(name).and_then(Value::as_str);
            let said = text("till_audit_head").and_then(Head::parse);
            let Some(said) = said.filter(|_| text("device_id") == Some(device.as_str())) else { continue };
            if said.rows > 0 && hashes.get(&said.rows) != Some(&said.hash) {
                let sale = text("external_transaction_id").unwrap_or_default().to_owned();
                return Err(TillAuditError::Missing { row: said.rows, sale });
            }
            kept += 1;
        }
        match rows.next {
            Some(next) => page.after = Some(next),
            None => return Ok(Agreed { head, kept }),
        }
    }
}

fn read(file: impl BufRead) -> Result<(Head, BTreeMap<u64, Hash>), TillAuditError> {
    let (mut head, mut hashes) = (Head::EMPTY, BTreeMap::new());
    for line in file.lines() {
        let link = link(&line?).ok_or(TillAuditError::NoRow(head.rows + 1))?;
        head = chain::verify_after(head, [link])?;
        hashes.insert(head.rows, head.hash);
    }
    Ok((head, hashes))
}

/// A line without its number and its two hashes is what is hashed.
fn link(line: &str) -> Option<Link> {
    let mut row: Value = serde_json::from_str(line).ok()?;
    let members = row.as_object_mut()?;
    members.remove("number")?;
    let mut hash = |name: &str| chain::from_hex(members.remove(name)?.as_str()?);
    let (prev_hash, hash) = (hash("prev_hash")?, hash("hash")?);
    Some(Link { prev_hash, hash, canonical: canonical::to_bytes(&row) })
}
