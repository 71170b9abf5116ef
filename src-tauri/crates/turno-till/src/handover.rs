//! Unsent sales that leave a till in a file, and reach YUPY through another one.
//!
//! What travels is what was frozen: ids, keys and bytes. So it does not matter whether one till sends, the other, or
//! both. The file is signed in this sense: it opens only for the passphrase of whoever wrote it, and what it says of
//! itself (company, till, person, time) stands inside; there is no key of its own that tills would have to share.
//! Invariant: a sale is imported with exactly what another till would have sent, or not at all; nothing leaves the
//! queue of the till that wrote the file.

use std::collections::BTreeSet;

use rusqlite::{Connection, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use turno_domain::Currency;
use turno_domain::ids::{ExternalTransactionId, IdempotencyKey, Scope};

use crate::clock::Millis;
use crate::outbox::{Doubt, QueueReason, State};
use crate::sell::CREATE_PATH;
use crate::store::audit::{self, Event};
use crate::store::imported::{self, Origin};
use crate::store::outbox::{self as entries, Entry};
use crate::store::requests::{self, NewRequest, RequestKind};
use crate::store::sales::{self, SaleRow};
use crate::store::{attempts, installation, unreadable};

pub mod sealed;

/// What the contract lets a till keep for itself before it asks for a reconciliation is far less.
pub const SALES_LIMIT: u32 = 100_000;
/// Sales in one transaction: nobody at the counter waits for more.
pub const BATCH: u32 = 100;
/// Ten characters take years to try out, at five tries a second on a machine like ours.
pub const PASSPHRASE_MIN: usize = 10;
/// A first body, its repairs and its confirmations; more is no sale that people handled.
const REQUESTS_LIMIT: usize = 64;

/// One line of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum Line {
    /// The first: whose sales these are, and who wrote them here.
    Manifest(Manifest),
    Sale(Box<Carried>),
    /// The last.
    End {
        sales_count: u32,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub scope: Scope,
    pub currency: String,
    /// The till that wrote the file.
    pub device_id: String,
    pub made_at: Millis,
    pub made_by: String,
}

/// A sale with everything that another till needs to send it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// Where it was sold, by whom and in which shift.
    origin: Origin,
    sale: CarriedSale,
    /// The oldest first: the first body, its revisions, the confirmations.
    requests: Vec<CarriedRequest>,
    /// Which of them is sent next.
    current: usize,
    /// How it stood, for whoever reads the audit.
    state: String,
    attempts: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CarriedSale {
    external_transaction_id: String,
    occurred_at: Millis,
    amount_minor: i64,
    currency: String,
    quantity: u32,
    description: String,
    offer_id: String,
    route: Option<String>,
    seat: Option<String>,
    product: Option<String>,
    service: Option<String>,
    buyer_name: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CarriedRequest {
    kind: String,
    /// Which correction of the content it carries; 0 is what was recorded at the sale.
    revision: u32,
    idempotency_key: String,
    path: String,
    /// JSON, byte for byte as it is sent.
    body: String,
    created_at: Millis,
}

/// Unsettled sales behind this sequence and up to that one, the oldest first; from here on each is looked up at YUPY
/// before it is sent, since another till may be quicker. Says where the next batch begins.
pub fn take_out(
    conn: &Connection,
    device_id: &str,
    behind: i64,
    up_to: i64,
    now: Millis,
) -> Result<(Vec<Carried>, i64)> {
    let sequences = entries::unsettled(conn, behind, up_to, BATCH)?;
    let last = sequences.last().copied().unwrap_or(behind);
    let mut carried = Vec::new();
    for sequence in sequences {
        // A sale whose rows cannot be understood is for people, here.
        match Carried::read(conn, device_id, sequence) {
            Ok(sale) => carried.push(sale),
            Err(error) if crate::store::is_about_the_row(&error) => {
                tracing::error!(%error, sequence, "a sale cannot be exported");
                continue;
            }
            Err(error) => return Err(error),
        }
        entries::note_carried(conn, sequence, now)?;
    }
    Ok((carried, last))
}

impl Carried {
    fn read(conn: &Connection, device_id: &str, sequence: i64) -> Result<Self> {
        let missing = || unreadable("outbox.sequence", "a sale that is not there");
        let entry = entries::get(conn, sequence)?.ok_or_else(missing)?;
        let sale = sales::by_sequence(conn, sequence)?.ok_or_else(missing)?;
        let frozen = requests::of_sale(conn, sequence)?;
        let current = frozen.iter().position(|request| request.request_id == entry.request_id);
        let requests = frozen.into_iter().map(|request| {
            if !request.is_intact() {
                return Err(unreadable("requests.body", "bytes that are not those that were frozen"));
            }
            Ok(CarriedRequest {
                kind: request.kind.as_word().to_owned(),
                revision: request.revision,
                idempotency_key: request.idempotency_key,
                path: request.path,
                body: String::from_utf8(request.body).map_err(|_| unreadable("requests.body", "?"))?,
                created_at: request.created_at,
            })
        });
        Ok(Self {
            origin: Origin::of(conn, &sale, device_id)?,
            requests: requests.collect::<Result<_>>()?,
            current: current.ok_or_else(|| unreadable("outbox.request_id", "?"))?,
            state: entry.state.as_word().to_owned(),
            attempts: entry.state.attempts(),
            sale: CarriedSale {
                external_transaction_id: sale.external_transaction_id,
                occurred_at: sale.occurred_at,
                amount_minor: sale.amount_minor,
                currency: sale.currency,
                quantity: sale.quantity,
                description: sale.description,
                offer_id: sale.offer_id,
                route: sale.route,
                seat: sale.seat,
                product: sale.product,
                service: sale.service,
                buyer_name: sale.buyer_name,
            },
        })
    }

    /// Whether all of it can be stored and sent. Somebody with the passphrase wrote it; that program may have had a bug.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let sale = &self.sale;
        let is_id = ExternalTransactionId::parse(sale.external_transaction_id.clone()).is_ok();
        let is_money = sale.amount_minor > 0 && sale.quantity > 0 && Currency::parse(&sale.currency).is_ok();
        let is_time = jiff::Timestamp::from_millisecond(sale.occurred_at).is_ok();
        let keys: BTreeSet<_> = self.requests.iter().map(|request| &request.idempotency_key).collect();
        let creates: Vec<u32> =
            self.requests.iter().filter(|it| it.kind == "create").map(|it| it.revision).collect();
        let first_creates = self.requests.first().is_some_and(|request| request.kind == "create")
            && creates.first() == Some(&0)
            && creates.is_sorted_by(|one, next| one < next);
        let are_requests = (1..=REQUESTS_LIMIT).contains(&self.requests.len())
            && self.current < self.requests.len()
            && keys.len() == self.requests.len()
            && self.requests.iter().all(|request| request.is_sound(&sale.external_transaction_id));
        is_id && is_money && is_time && first_creates && are_requests
    }

    /// Puts the sale into this till's queue, to be looked up first and then sent as it is. Says whether it was new.
    pub fn put_in(&self, conn: &Connection, person_id: &str, now: Millis) -> Result<bool> {
        let id = &self.sale.external_transaction_id;
        if sales::by_external_id(conn, id)?.is_some() {
            return Ok(false);
        }
        let sequence = installation::take_sequence(conn)?;
        sales::insert(conn, &self.row(sequence))?;
        imported::insert(conn, sequence, &self.origin, person_id, now)?;
        let mut current = None;
        for (index, request) in self.requests.iter().enumerate() {
            let frozen = NewRequest {
                kind: RequestKind::from_word(&request.kind)?,
                revision: request.revision,
                idempotency_key: &request.idempotency_key,
                path: &request.path,
                body: request.body.as_bytes(),
            };
            let request_id = requests::freeze(conn, sequence, &frozen, request.created_at)?;
            // Nobody here knows how often it was sent: no later answer may take our first attempt for the first of all.
            attempts::start(conn, request_id, now)?;
            if index == self.current {
                current = Some(request_id);
            }
        }
        let state = State::Queued {
            attempts: 0,
            due: now,
            doubt: Doubt::OutcomeUnknown,
            reason: QueueReason::FromAnotherTill,
        };
        let request_id = current.ok_or_else(|| unreadable("current", "?"))?;
        entries::insert(conn, &Entry { sequence, request_id, state }, now)?;
        entries::note_carried(conn, sequence, now)?;
        let entry = audit::Entry {
            event: Event::SaleImported,
            person_id: Some(person_id),
            external_transaction_id: Some(id),
            data: json!({
                "device_id": self.origin.device_id, "amount_minor": self.sale.amount_minor,
                "was": self.state, "attempts": self.attempts,
            }),
        };
        audit::append(conn, now, &entry)?;
        Ok(true)
    }

    fn row(&self, sequence: i64) -> SaleRow {
        let sale = self.sale.clone();
        SaleRow {
            sequence,
            external_transaction_id: sale.external_transaction_id,
            draft_id: None,
            shift_number: None,
            seller: None,
            occurred_at: sale.occurred_at,
            amount_minor: sale.amount_minor,
            currency: sale.currency,
            quantity: sale.quantity,
            description: sale.description,
            offer_id: sale.offer_id,
            route: sale.route,
            seat: sale.seat,
            product: sale.product,
            service: sale.service,
            buyer_name: sale.buyer_name,
        }
    }
}

impl CarriedRequest {
    fn is_sound(&self, external_transaction_id: &str) -> bool {
        let body: Option<Value> = serde_json::from_str(&self.body).ok();
        let names = body.as_ref().and_then(|body| body.get("external_transaction_id")?.as_str());
        names == Some(external_transaction_id)
            && RequestKind::from_word(&self.kind).is_ok()
            && IdempotencyKey::parse(self.idempotency_key.clone()).is_ok()
            && self.path == CREATE_PATH
    }
}
