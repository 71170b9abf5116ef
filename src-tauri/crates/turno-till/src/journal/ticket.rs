//! One ticket as the journal keeps it: with everything that its sales need in a database that knows nothing of them.

use rusqlite::{Connection, Result};
use serde::{Deserialize, Serialize};
use serde_json::json;
use turno_domain::ids::Scope;

use crate::clock::Millis;
use crate::outbox::{Doubt, QueueReason, State};
use crate::store::audit::{self, Event};
use crate::store::discounts::{self, DiscountRow};
use crate::store::outbox::{self as entries, Entry};
use crate::store::requests::{self, NewRequest, RequestKind};
use crate::store::sales::{self, CheckoutRow, SaleRow};
use crate::store::shifts::OpenedShift;
use crate::store::tenders::{self, TenderRow};
use crate::store::{installation, people, shifts, unreadable};
use crate::tender;
use crate::view::Person;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    /// Whose sales these are: a medium may have been in another company's till.
    scope: Scope,
    shift: OpenedShift,
    /// Who opened the shift, who sold, and who approved.
    people: Vec<Person>,
    checkout: CheckoutRow,
    /// How it was paid, when it was not all cash.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tenders: Vec<TenderRow>,
    sales: Vec<Sold>,
}

/// A sale and what was frozen of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Sold {
    sale: SaleRow,
    idempotency_key: String,
    path: String,
    /// JSON, byte for byte as it is sent.
    body: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    discount: Option<DiscountRow>,
}

/// Tickets that were sold behind this sequence, the oldest first.
pub fn since(conn: &Connection, sequence: i64, limit: u32) -> Result<Vec<Ticket>> {
    let Some(enrolment) = installation::enrolment(conn)? else { return Ok(Vec::new()) };
    let drafts = sales::drafts_since(conn, sequence, limit)?;
    drafts.iter().map(|draft_id| Ticket::read(conn, &enrolment.scope, draft_id)).collect()
}

impl Ticket {
    fn read(conn: &Connection, scope: &Scope, draft_id: &str) -> Result<Self> {
        let checkout = sales::checkout(conn, draft_id)?;
        let shift = shifts::opened(conn, checkout.shift_number)?;
        let sold = sales::of_checkout(conn, draft_id)?.into_iter().map(|sale| {
            let request = requests::first_request(conn, sale.sequence)?;
            let body = String::from_utf8(request.body).map_err(|_| unreadable("requests.body", "?"))?;
            let discount = discounts::of_sale(conn, sale.sequence)?;
            Ok(Sold { sale, idempotency_key: request.idempotency_key, path: request.path, body, discount })
        });
        let sales = sold.collect::<Result<Vec<_>>>()?;
        let mut people = Vec::new();
        let approvers = sales.iter().filter_map(|sold| sold.discount.as_ref()?.approved_by.as_ref());
        for id in [&shift.opened_by, &checkout.seller].into_iter().chain(approvers) {
            if people.iter().all(|known: &Person| known.person_id != *id) {
                people.push(people::find(conn, id)?.ok_or_else(|| unreadable("person_id", id))?);
            }
        }
        let tenders = tenders::rows(conn, draft_id)?;
        Ok(Self { scope: scope.clone(), shift, people, checkout, tenders, sales })
    }

    pub fn last_sequence(&self) -> i64 {
        self.sales.iter().map(|sold| sold.sale.sequence).max().unwrap_or_default()
    }

    /// Puts the ticket into a database that does not have it, to be sent with its ids, keys and bytes. Says how many
    /// sales that were; what is there already, or belongs to another company, is none.
    pub fn put_back(&self, conn: &Connection, now: Millis) -> Result<u32> {
        let own = installation::enrolment(conn)?.is_some_and(|enrolment| enrolment.scope == self.scope);
        if !own || sales::find_checkout(conn, &self.checkout.draft_id)?.is_some() {
            return Ok(0);
        }
        for person in &self.people {
            if people::find(conn, &person.person_id)?.is_none() {
                people::insert(conn, person, "")?;
            }
        }
        shifts::put_back(conn, &self.shift)?;
        sales::insert_checkout(conn, &self.checkout)?;
        for tender in &self.tenders {
            tenders::insert(conn, &self.checkout.draft_id, tender)?;
        }
        let prices: Vec<i64> = self.sales.iter().map(|sold| sold.sale.amount_minor).collect();
        let paid: Vec<i64> = self.tenders.iter().map(|tender| tender.amount_minor).collect();
        for (sold, parts) in self.sales.iter().zip(tender::allocate(&prices, &paid)) {
            let sequence = self.put_sale_back(conn, sold, now)?;
            for (tender, amount_minor) in self.tenders.iter().zip(parts) {
                tenders::insert_part(conn, sequence, tender.position, amount_minor)?;
            }
        }
        Ok(u32::try_from(self.sales.len()).unwrap_or(u32::MAX))
    }

    fn put_sale_back(&self, conn: &Connection, sold: &Sold, now: Millis) -> Result<i64> {
        // The number may have been given to another sale since; the id, which YUPY knows it by, stays.
        let sequence = match sales::by_sequence(conn, sold.sale.sequence)? {
            None => sold.sale.sequence,
            Some(_) => installation::take_sequence(conn)?,
        };
        sales::insert(conn, &SaleRow { sequence, ..sold.sale.clone() })?;
        if let Some(discount) = &sold.discount {
            discounts::insert(conn, sequence, discount)?;
        }
        installation::numbers_were_given(conn, sequence, self.shift.shift_number)?;
        let request = NewRequest {
            kind: RequestKind::Create,
            revision: 0,
            idempotency_key: &sold.idempotency_key,
            path: &sold.path,
            body: sold.body.as_bytes(),
        };
        let request_id = requests::freeze(conn, sequence, &request, sold.sale.occurred_at)?;
        let state = State::Queued {
            attempts: 0,
            due: now,
            doubt: Doubt::OutcomeUnknown,
            reason: QueueReason::InterruptedByRestart,
        };
        entries::insert(conn, &Entry { sequence, request_id, state }, now)?;
        // Nobody knows how often it was sent: no later answer may take its first attempt here for the first of all.
        crate::store::attempts::start(conn, request_id, now)?;
        audit::append(
            conn,
            now,
            &audit::Entry {
                event: Event::SaleRecovered,
                person_id: sold.sale.seller.as_deref(),
                external_transaction_id: Some(&sold.sale.external_transaction_id),
                data: json!({ "draft_id": self.checkout.draft_id, "amount_minor": sold.sale.amount_minor }),
            },
        )?;
        Ok(sequence)
    }
}
