//! Correcting a sale that YUPY refused: the same sale, said otherwise.
//!
//! What was sold, for how much and when are facts and stay; what can change is how the sale is described. A correction
//! is a new body under the same external id and the key of its own revision; every earlier body is kept. Invariant:
//! a correction starts only from an answer that refused the content, never while an attempt's outcome is open, and an
//! earlier version that YUPY has after all is found before the new one is sent.

use rusqlite::Connection;
use serde_json::json;
use turno_domain::ids::ExternalTransactionId;
use turno_domain::text::{has_control, normalise_free_text};
use turno_protocol::body::{Context as SaleContext, TransactionBody};
use turno_protocol::keys;

use crate::clock::Millis;
use crate::outbox::Event;
use crate::sell::BUYER_NAME_LIMIT;
use crate::settle::{self, Context};
use crate::store::audit::{self, Event as Happened};
use crate::store::corrections::{self, CorrectionRow};
use crate::store::outbox::{self as entries, Entry};
use crate::store::requests::{self, NewRequest, RequestKind, RequestRow};
use crate::store::sales;
use crate::view::{CorrectSaleRequest, Person, Problem, ProblemCode, SaleContent};

/// A manager who repairs a sale a twentieth time will not succeed with the twenty-first.
const REVISION_LIMIT: u32 = 20;

impl SaleContent {
    /// What a frozen body says.
    #[must_use]
    pub fn of(body: &TransactionBody) -> Self {
        let SaleContext { custom_reference_1, custom_reference_2, route, seat, order, product, service } =
            body.context.clone();
        Self {
            buyer_name: body.buyer_name.clone(),
            route,
            seat,
            service,
            product,
            order,
            custom_reference_1,
            custom_reference_2,
        }
    }

    fn write_to(&self, body: TransactionBody) -> TransactionBody {
        let Self { buyer_name, route, seat, service, product, order, custom_reference_1, custom_reference_2 } =
            self.clone();
        let context =
            SaleContext { custom_reference_1, custom_reference_2, route, seat, order, product, service };
        TransactionBody { buyer_name, context, ..body }
    }

    fn members(&self) -> [(&'static str, &Option<String>); 8] {
        [
            ("buyer_name", &self.buyer_name),
            ("route", &self.route),
            ("seat", &self.seat),
            ("service", &self.service),
            ("product", &self.product),
            ("order", &self.order),
            ("custom_reference_1", &self.custom_reference_1),
            ("custom_reference_2", &self.custom_reference_2),
        ]
    }

    fn changed_since(&self, before: &Self) -> Vec<String> {
        let pairs = self.members().into_iter().zip(before.members());
        pairs.filter(|((_, now), (_, was))| now != was).map(|((name, _), _)| name.to_owned()).collect()
    }
}

/// What was typed, as it would be sent; a refusal names the first member that cannot be.
///
/// # Errors
/// `text_invalid`.
pub fn normalised(typed: &SaleContent) -> Result<SaleContent, Problem> {
    let text = |(name, text): (&str, &Option<String>)| {
        let text = text.as_deref().map(normalise_free_text).unwrap_or_default();
        if text.chars().count() > BUYER_NAME_LIMIT || has_control(&text) {
            return Err(Problem::with(ProblemCode::TextInvalid, name));
        }
        Ok(Some(text).filter(|text| !text.is_empty()))
    };
    let [buyer_name, route, seat, service, product, order, custom_reference_1, custom_reference_2] =
        typed.members();
    Ok(SaleContent {
        buyer_name: text(buyer_name)?,
        route: text(route)?,
        seat: text(seat)?,
        service: text(service)?,
        product: text(product)?,
        order: text(order)?,
        custom_reference_1: text(custom_reference_1)?,
        custom_reference_2: text(custom_reference_2)?,
    })
}

/// Writes an approved correction inside the caller's transaction and queues the sale again.
///
/// # Errors
/// `not_found`, `not_correctable`, `sale_changed`; nothing is written.
pub fn correct(
    conn: &Connection,
    context: &Context,
    request: &CorrectSaleRequest,
    content: &SaleContent,
    manager: &Person,
    reason: &str,
    now: Millis,
) -> Result<(), Problem> {
    let sale = sales::by_external_id(conn, &request.external_transaction_id)?.ok_or(ProblemCode::NotFound)?;
    let newest = requests::create_request(conn, sale.sequence)?;
    if newest.revision != request.revision {
        return Err(ProblemCode::SaleChanged.into());
    }
    // The step says whether this sale may be corrected at all, before anything is frozen.
    if settle::apply(conn, context, sale.sequence, &Event::Corrected, None, now)?.is_none() {
        return Err(ProblemCode::NotCorrectable.into());
    }
    let body = read(&newest)?;
    let changed_fields = content.changed_since(&SaleContent::of(&body));
    let (request_id, revision) = if changed_fields.is_empty() {
        (newest.request_id, newest.revision)
    } else {
        let revision = newest.revision + 1;
        if revision > REVISION_LIMIT {
            return Err(ProblemCode::NotCorrectable.into());
        }
        let id = ExternalTransactionId::parse(sale.external_transaction_id.clone())
            .map_err(|_| ProblemCode::NotCorrectable)?;
        let key = keys::create_key(&context.scope, &id, revision);
        let body = content.write_to(body).to_bytes();
        let frozen = NewRequest {
            kind: RequestKind::Create,
            revision,
            idempotency_key: key.as_str(),
            path: &newest.path,
            body: &body,
        };
        (requests::freeze(conn, sale.sequence, &frozen, now)?, revision)
    };
    let queued = entries::get(conn, sale.sequence)?.ok_or(ProblemCode::NotFound)?;
    entries::update(conn, &Entry { request_id, ..queued }, None, now)?;
    let event = if changed_fields.is_empty() { Happened::SaleSentAgain } else { Happened::SaleCorrected };
    if !changed_fields.is_empty() {
        let row = CorrectionRow {
            request_id,
            corrected_by: manager.person_id.clone(),
            reason: reason.to_owned(),
            changed_fields: changed_fields.clone(),
            corrected_at: now,
        };
        corrections::insert(conn, sale.sequence, &row)?;
    }
    audit::append(
        conn,
        now,
        &audit::Entry {
            event,
            person_id: Some(&manager.person_id),
            external_transaction_id: Some(&sale.external_transaction_id),
            // The names of what changed; the values are in the bodies, since they may be personal.
            data: json!({ "revision": revision, "fields": changed_fields, "reason": reason }),
        },
    )?;
    Ok(())
}

/// A body that is not what was frozen is no ground to build on.
fn read(request: &RequestRow) -> Result<TransactionBody, Problem> {
    if !request.is_intact() {
        return Err(ProblemCode::NotCorrectable.into());
    }
    serde_json::from_slice(&request.body).map_err(|_| ProblemCode::NotCorrectable.into())
}
