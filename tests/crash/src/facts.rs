//! What the real store finds on a disk, and whether it is whole.
//!
//! Invariant: a [`State`] without `faults` is one in which every rule about what belongs together holds.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use anyhow::{Context, Result};
use rusqlite::Connection;
use turno_till::WriterMode;
use turno_till::store::{self, audit};

/// Something that somebody was told, or that left the till because it was so.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ack {
    /// The cashier saw that the sale is recorded.
    Sale { external_transaction_id: String },
    /// YUPY got a request; the attempt is the `nth` with its key.
    Attempt { key: String, nth: u32 },
    /// The manager saw that the decision stands.
    Decision { challenge_id: String },
    /// Somebody saw that a person, a shift or the company is set up.
    Audited { event: &'static str },
}

/// What is on a disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    pub sales: BTreeSet<String>,
    pub attempts: BTreeMap<String, u32>,
    pub decisions: BTreeSet<String>,
    pub audited: BTreeSet<String>,
    /// Rules that do not hold.
    pub faults: Vec<String>,
}

impl State {
    #[must_use]
    pub fn has(&self, ack: &Ack) -> bool {
        match ack {
            Ack::Sale { external_transaction_id } => self.sales.contains(external_transaction_id),
            Ack::Attempt { key, nth } => self.attempts.get(key).is_some_and(|count| count >= nth),
            Ack::Decision { challenge_id } => self.decisions.contains(challenge_id),
            Ack::Audited { event } => self.audited.contains(*event),
        }
    }
}

/// Each finds the rows that break a rule.
const RULES: &[(&str, &str)] = &[
    (
        "a sale has its request, its outbox entry and one audit row",
        "SELECT external_transaction_id FROM sales
         WHERE (SELECT count(*) FROM requests
                WHERE requests.sequence = sales.sequence AND operation = 'create') <> 1
            OR NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.sequence = sales.sequence)
            OR (SELECT count(*) FROM audit WHERE event = 'sale_recorded'
                AND audit.external_transaction_id = sales.external_transaction_id) <> 1",
    ),
    (
        "an audited sale is there",
        "SELECT external_transaction_id FROM audit WHERE event = 'sale_recorded'
         AND external_transaction_id NOT IN (SELECT external_transaction_id FROM sales)",
    ),
    (
        "a checkout has all of its sales",
        "SELECT draft_id FROM checkouts
         WHERE total_minor <> (SELECT total(amount_minor) FROM sales WHERE sales.draft_id = checkouts.draft_id)",
    ),
    (
        "a sale is accepted with its audit row",
        "SELECT external_transaction_id FROM sales JOIN outbox USING (sequence)
         WHERE (state = 'accepted') <> (SELECT count(*) = 1 FROM audit WHERE event = 'sale_accepted'
                AND audit.external_transaction_id = sales.external_transaction_id)",
    ),
    (
        "a sale is in review exactly while its question is open",
        "SELECT sequence FROM outbox
         WHERE (state = 'in_review') <> EXISTS (SELECT 1 FROM questions
                WHERE questions.sequence = outbox.sequence AND questions.state = 'open')",
    ),
    (
        "a decision is audited, and one for another sale has frozen its confirmation",
        "SELECT challenge_id FROM questions WHERE state = 'decided' AND honours IS NULL
         AND ((SELECT count(*) FROM audit WHERE event = 'question_decided'
               AND json_extract(data, '$.challenge_id') = challenge_id) <> 1
              OR (decision = 'different_sale' AND NOT EXISTS (SELECT 1 FROM requests
                  WHERE requests.sequence = questions.sequence AND operation = 'confirm')))",
    ),
    (
        "what is being sent has an attempt without an end",
        "SELECT sequence FROM outbox WHERE state = 'sending'
         AND NOT EXISTS (SELECT 1 FROM attempts
                         WHERE attempts.request_id = outbox.request_id AND finished_at_ms IS NULL)",
    ),
    (
        "numbers are never behind the sales that have them",
        "SELECT last_sequence FROM installation WHERE last_sequence < (SELECT max(sequence) FROM sales)",
    ),
];

/// Opens the folder's database as the program does and lets go of it. What the file holds then is one number: the
/// same number is the same database, byte for byte.
///
/// # Errors
/// The program could not open it.
pub async fn settle(folder: &Path) -> Result<u64> {
    let db = store::open(folder, WriterMode::Inline).context("opening")?;
    db.close().await;
    let mut hasher = DefaultHasher::new();
    fs::read(folder.join(store::FILE_NAME))?.hash(&mut hasher);
    Ok(hasher.finish())
}

/// Reads everything that matters, past the till.
///
/// # Errors
/// The database could not be opened or read: it is damaged.
pub async fn read(folder: &Path) -> Result<State> {
    let db = store::open(folder, WriterMode::Inline).context("opening")?;
    let state = db.read(state).await.context("reading")?;
    db.close().await;
    Ok(state)
}

fn state(conn: &Connection) -> rusqlite::Result<State> {
    let mut faults = Vec::new();
    for check in ["PRAGMA integrity_check", "PRAGMA foreign_key_check"] {
        let found = texts(conn, check)?;
        faults.extend(found.into_iter().filter(|line| line != "ok").map(|line| format!("{check}: {line}")));
    }
    if let Some(row) = audit::first_broken(conn)? {
        faults.push(format!("the audit breaks at row {row}"));
    }
    for (rule, sql) in RULES {
        faults.extend(texts(conn, sql)?.into_iter().map(|row| format!("not so: {rule}: {row}")));
    }
    let attempts = conn
        .prepare(
            "SELECT idempotency_key, count(*) FROM attempts JOIN requests USING (request_id) GROUP BY idempotency_key",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    let set = |sql| texts(conn, sql).map(BTreeSet::from_iter);
    Ok(State {
        sales: set("SELECT external_transaction_id FROM sales")?,
        attempts,
        decisions: set("SELECT challenge_id FROM questions WHERE state = 'decided'")?,
        audited: set("SELECT DISTINCT event FROM audit")?,
        faults,
    })
}

/// The first column of every row, as text.
fn texts(conn: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = conn.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        let value = row.get_ref(0)?;
        Ok(value.as_str().map_or_else(|_| format!("{value:?}"), str::to_owned))
    })?;
    rows.collect()
}
