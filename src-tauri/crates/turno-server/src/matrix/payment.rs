//! `POST /v1/transactions/{id}/payments`, first transaction: rows D to F, then a reservation or a take-over.
//!
//! Invariant: whoever leaves here with work to do holds the payment's only valid fence, and has until the lease ends.

use turno_domain::ids::ExternalPaymentId;
use turno_protocol::body::{FieldFault, Financial, Operational, State};

use super::{
    Desk, IdConflict, KeyConflict, Keyed,
    key::{self, KeyRow},
};
use crate::{
    audit::{AuditEntry, AuditEvent},
    books::{Books, KeyRecord, KeyState},
    payment::{Fence, Payment, PaymentState, acquirer_payment_id},
    request::{Faults, NewPayment},
    sale::StoredSale,
    token::hex,
    world::World,
};

#[derive(Clone, Debug)]
pub struct PaymentRequest {
    pub keyed: Keyed,
    /// As it stood in the path; it may name nothing.
    pub transaction_id: String,
    pub payment: Result<NewPayment, Faults>,
}

#[derive(Clone, Debug)]
pub enum ReserveOutcome {
    /// New: the acquirer is to be asked for the money.
    Reserved(Box<Payment>),
    /// D4: its owner is gone; the acquirer is to be asked what became of it.
    TakenOver(Box<Payment>),
    /// D2, or F2 under another key.
    Known {
        payment: Box<Payment>,
        state: State,
        how: Known,
    },
    KeyConflict(KeyConflict),
    /// D3: somebody is at work on it.
    InProgress,
    NotFound,
    Invalid(Faults),
    IdConflict(IdConflict),
    /// The sale is voided or paid, or another payment of it is under way.
    InvalidState,
}

/// Why a payment that is over was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    ByKey { original_status: u16 },
    ByPermanentId,
}

pub async fn reserve_payment<B: Books>(
    books: &mut B,
    desk: &Desk,
    request: PaymentRequest,
) -> Result<ReserveOutcome, B::Error> {
    let PaymentRequest { keyed, transaction_id, payment } = request;
    let scope = desk.caller.scope_number;
    // D
    let row = key::look_up(books, desk, &keyed).await?;
    match &row {
        KeyRow::Conflict(conflict) => return Ok(ReserveOutcome::KeyConflict(*conflict)),
        KeyRow::Final { record, original_status } => {
            if let Some(replay) = replay(books, desk, record, *original_status).await? {
                return Ok(replay);
            }
        }
        KeyRow::InProgress | KeyRow::GoOn { .. } => {}
    }
    let Some(sale) = books.sale_by_id(scope, &transaction_id).await? else {
        return Ok(ReserveOutcome::NotFound);
    };
    // E
    let asked = match payment {
        Ok(payment) => payment,
        Err(faults) => return Ok(ReserveOutcome::Invalid(faults)),
    };
    // F
    if let Some(payment) = books.payment(scope, &asked.external_payment_id).await? {
        if let Some(conflict) = conflict(&payment, &sale, &asked) {
            key::bind(books, desk, &keyed).await?;
            return Ok(ReserveOutcome::IdConflict(conflict));
        }
        return known(books, desk, &keyed, payment, sale.state).await;
    }
    let open = sale.state.operational == Operational::Active
        && matches!(sale.state.financial, Financial::AwaitingPayment | Financial::Declined);
    if !open {
        return Ok(ReserveOutcome::InvalidState);
    }
    if let Some(faults) = differs_from_sale(&asked, &sale) {
        return Ok(ReserveOutcome::Invalid(faults));
    }
    let payment = new_payment(books, desk, &sale, asked);
    books.insert_payment(&payment).await?;
    books
        .set_state(&sale.yupy_transaction_id, State { financial: Financial::Processing, ..sale.state })
        .await?;
    start_key(books, desk, &keyed, &payment).await?;
    Ok(ReserveOutcome::Reserved(Box::new(payment)))
}

/// A payment of this id exists: answer it, wait for it, or follow its dead owner.
async fn known<B: Books>(
    books: &mut B,
    desk: &Desk,
    keyed: &Keyed,
    payment: Payment,
    state: State,
) -> Result<ReserveOutcome, B::Error> {
    if payment.is_over() {
        if let Some(status) = final_status(payment.state) {
            let id = payment.external_payment_id.as_str();
            key::finish(books, desk, keyed, status, &payment.yupy_transaction_id, Some(id)).await?;
        }
        let how = Known::ByPermanentId;
        return Ok(ReserveOutcome::Known { payment: Box::new(payment), state, how });
    }
    start_key(books, desk, keyed, &payment).await?;
    match take_over(books, &desk.world, &payment).await? {
        Some(mine) => Ok(ReserveOutcome::TakenOver(Box::new(mine))),
        None => Ok(ReserveOutcome::InProgress),
    }
}

/// D2: what the key stood for, as it is now.
async fn replay<B: Books>(
    books: &mut B,
    desk: &Desk,
    record: &KeyRecord,
    original_status: u16,
) -> Result<Option<ReserveOutcome>, B::Error> {
    let scope = desk.caller.scope_number;
    let Some(Ok(id)) = record.permanent_id.clone().map(ExternalPaymentId::parse) else { return Ok(None) };
    let Some(payment) = books.payment(scope, &id).await? else { return Ok(None) };
    let sale = books.sale_by_id(scope, payment.yupy_transaction_id.as_str()).await?;
    Ok(sale.map(|sale| ReserveOutcome::Known {
        payment: Box::new(payment),
        state: sale.state,
        how: Known::ByKey { original_status },
    }))
}

/// D4 with its row in the audit. To ask about a payment that the acquirer left pending takes nothing from anybody.
async fn take_over<B: Books>(
    books: &mut B,
    world: &World,
    payment: &Payment,
) -> Result<Option<Payment>, B::Error> {
    let mine = claim(books, world, payment).await?;
    if mine.is_some() && payment.state != PaymentState::Pending {
        let entry = AuditEntry {
            external_transaction_id: Some(payment.external_transaction_id.clone()),
            yupy_transaction_id: Some(payment.yupy_transaction_id.clone()),
            external_payment_id: Some(payment.external_payment_id.clone()),
            ..AuditEntry::new(AuditEvent::TakenOver, &payment.scope, books.now())
        };
        books.append_audit(&payment.scope.company, entry).await?;
    }
    Ok(mine)
}

/// Take a payment whose owner is gone. One caller wins; the others get nothing.
pub(super) async fn claim<B: Books>(
    books: &mut B,
    world: &World,
    payment: &Payment,
) -> Result<Option<Payment>, B::Error> {
    if is_owned(books, payment) {
        return Ok(None);
    }
    let attempt = payment.fence.attempt + 1;
    let mine = Payment {
        fence: Fence { owner: new_owner(books, world), attempt },
        lease_until: books.now().checked_add(books.lease()).ok(),
        ..payment.clone()
    };
    if !books.replace_payment(&payment.fence, &mine).await? {
        return Ok(None);
    }
    Ok(Some(mine))
}

/// On a store of one process, whoever started before this process did is gone.
fn is_owned<B: Books>(books: &B, payment: &Payment) -> bool {
    payment.lease_until.is_some_and(|until| until > books.now())
        && payment.fence.owner.starts_with(books.instance())
}

fn new_owner<B: Books>(books: &B, world: &World) -> String {
    format!("{}{}", books.instance(), hex(&world.random::<16>()))
}

fn new_payment<B: Books>(books: &B, desk: &Desk, sale: &StoredSale, asked: NewPayment) -> Payment {
    let scope = &desk.caller.scope;
    Payment {
        acquirer_payment_id: acquirer_payment_id(
            scope,
            &sale.external_transaction_id,
            &asked.external_payment_id,
        ),
        scope: scope.clone(),
        scope_number: desk.caller.scope_number,
        external_payment_id: asked.external_payment_id,
        external_transaction_id: sale.external_transaction_id.clone(),
        yupy_transaction_id: sale.yupy_transaction_id.clone(),
        amount: asked.amount,
        method: asked.method,
        state: PaymentState::Reserved,
        fence: Fence { owner: new_owner(books, &desk.world), attempt: 1 },
        lease_until: books.now().checked_add(books.lease()).ok(),
        charged_at: None,
    }
}

/// The key ends when its payment does.
async fn start_key<B: Books>(
    books: &mut B,
    desk: &Desk,
    keyed: &Keyed,
    payment: &Payment,
) -> Result<(), B::Error> {
    let record = KeyRecord {
        content: keyed.content,
        state: KeyState::InProgress,
        yupy_transaction_id: Some(payment.yupy_transaction_id.clone()),
        permanent_id: Some(payment.external_payment_id.to_string()),
        expired: false,
    };
    books.put_key(desk.caller.scope_number, &keyed.key, &record).await
}

/// F1: a payment id with another sale, amount or currency.
fn conflict(payment: &Payment, sale: &StoredSale, asked: &NewPayment) -> Option<IdConflict> {
    let differing = [
        ("amount", payment.amount.minor() != asked.amount.minor()),
        ("currency", payment.amount.currency() != asked.amount.currency()),
        ("yupy_transaction_id", payment.yupy_transaction_id != sale.yupy_transaction_id),
    ];
    let conflicting_fields: Vec<_> =
        differing.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect();
    (!conflicting_fields.is_empty()).then(|| IdConflict {
        external_transaction_id: payment.external_transaction_id.clone(),
        yupy_transaction_id: payment.yupy_transaction_id.clone(),
        conflicting_fields,
    })
}

/// An approval makes the sale paid, so it has to be for the whole of it.
fn differs_from_sale(asked: &NewPayment, sale: &StoredSale) -> Option<Faults> {
    let path = if asked.amount.currency() != sale.amount.currency() {
        "currency"
    } else if asked.amount != sale.amount {
        "amount"
    } else {
        return None;
    };
    Some(vec![FieldFault { path: path.to_owned(), code: "differs_from_sale".to_owned() }])
}

/// What is repeated for a key whose payment is over; nothing is while people have to look at it.
pub(super) fn final_status(state: PaymentState) -> Option<u16> {
    match state {
        PaymentState::Approved => Some(201),
        PaymentState::Declined => Some(402),
        PaymentState::Reserved
        | PaymentState::AcquirerStarted
        | PaymentState::Pending
        | PaymentState::Reconciliation => None,
    }
}
