//! Pricing a ticket and recording it.
//!
//! Invariant: a ticket's sales, their outbox entries with frozen bodies and keys, and the audit row are written in
//! one transaction or none is; all figures come from the catalog and none from the screen.

use std::collections::HashSet;

use rusqlite::Connection;
use serde_json::json;
use sha2::{Digest, Sha256};
use turno_domain::ids::{ExternalTransactionId, ShiftId};
use turno_domain::lookalike::{self, Rule, Signal, Traits};
use turno_domain::text::{has_control, normalise_free_text};
use turno_domain::{Currency, Money};
use turno_protocol::body::{Context as SaleContext, PaidTender, TransactionBody};
use turno_protocol::keys;

use crate::catalog::{Catalog, Offer};
use crate::clock::{Millis, rfc3339};
use crate::discount;
use crate::outbox::{Doubt, QueueReason, State};
use crate::printing::{self, Sold};
use crate::review;
use crate::store::audit::{self, Event};
use crate::store::discounts::{self, DiscountRow};
use crate::store::installation::{self, Enrolment};
use crate::store::outbox::Entry;
use crate::store::requests::{self, NewRequest, RequestKind};
use crate::store::sales::{self, CheckoutRow, SaleRow};
use crate::store::tenders::{self, TenderRow};
use crate::store::{epochs, outbox as entries, shifts, summaries};
use crate::tender::{self, Means, Payment};
use crate::view::{
    self, Charge, ChargeOutcome, Checkout, LookAlike, LookAlikePolicy, OfferKind, Person, Problem,
    ProblemCode, Quote, QuoteLine, Tender, TenderMethod, TenderShare,
};

pub const CREATE_PATH: &str = "/v1/transactions";
/// What YUPY calls the channel (contract §3, `integration_experience`).
const EXPERIENCE: &str = "turno_pos";
/// A family with luggage fits; a hundred lines are a mistake.
const LINES_LIMIT: usize = 40;
const QUANTITY_LIMIT: u32 = 200;
pub const BUYER_NAME_LIMIT: usize = 120;

/// A line that was found in the catalog and priced.
#[derive(Clone, Debug)]
pub struct PricedLine {
    offer: Offer,
    seat: Option<String>,
    quantity: u32,
    buyer_name: Option<String>,
    unit_price: Money,
    /// What is left after the discount.
    amount: Money,
    discount: Option<Off>,
}

/// A discount in figures.
#[derive(Clone, Debug)]
struct Off {
    list: Money,
    off: Money,
    /// As typed; checked when it is charged.
    reason: String,
}

impl PricedLine {
    fn description(&self) -> String {
        self.offer.description(self.seat.as_deref(), self.quantity)
    }

    fn seat_key(&self) -> Option<(&str, &str)> {
        Some((self.offer.service.as_deref()?, self.seat.as_deref()?))
    }
}

/// A ticket with all its figures.
#[derive(Clone, Debug)]
pub struct Priced {
    lines: Vec<PricedLine>,
    total: Money,
    payment: Payment,
}

/// Finds and prices the lines of a ticket.
///
/// # Errors
/// The code of the first line that cannot be sold, with its description or offer as detail.
pub fn price(
    catalog: &Catalog,
    currency: Currency,
    lines: &[view::Line],
    tenders: &[Tender],
) -> Result<Priced, Problem> {
    if lines.len() > LINES_LIMIT {
        return Err(ProblemCode::TicketTooLong.into());
    }
    let mut priced: Vec<PricedLine> = Vec::new();
    let mut seats = HashSet::new();
    for line in lines {
        let line = price_line(catalog, line)?;
        if let Some((service, seat)) = line.seat_key()
            && !seats.insert((service.to_owned(), seat.to_owned()))
        {
            return Err(Problem::with(ProblemCode::SeatTwice, seat));
        }
        merge(&mut priced, line)?;
    }
    let total = priced
        .iter()
        .try_fold(Money::zero(currency), |sum, line| sum.checked_add(line.amount))
        .ok_or(ProblemCode::AmountInvalid)?;
    Ok(Priced { lines: priced, total, payment: tender::divide(total, tenders)? })
}

fn price_line(catalog: &Catalog, line: &view::Line) -> Result<PricedLine, Problem> {
    let offer = catalog
        .offer(&line.offer_id)
        .ok_or_else(|| Problem::with(ProblemCode::OfferGone, line.offer_id.clone()))?;
    let seat = line.seat.as_deref();
    let unit_price = offer.price_of(seat);
    let description = || offer.description(seat, 1);
    match (offer.kind, seat) {
        (OfferKind::Departure, None) => return Err(Problem::with(ProblemCode::SeatRequired, description())),
        (OfferKind::Departure, Some(seat)) => {
            if !catalog.layout(offer).is_some_and(|layout| layout.seats().any(|known| known == seat)) {
                return Err(Problem::with(ProblemCode::SeatUnknown, seat));
            }
        }
        (OfferKind::Fare | OfferKind::Product, Some(seat)) => {
            return Err(Problem::with(ProblemCode::SeatUnknown, seat));
        }
        (OfferKind::Fare | OfferKind::Product, None) => {}
    }
    let quantity_fits =
        line.quantity == 1 || (seat.is_none() && (1..=QUANTITY_LIMIT).contains(&line.quantity));
    if !quantity_fits {
        return Err(Problem::with(ProblemCode::QuantityInvalid, description()));
    }
    if line.shown_price_minor != unit_price.minor() {
        return Err(Problem::with(ProblemCode::PriceChanged, description()));
    }
    let list = acceptable(unit_price.checked_mul(line.quantity))?;
    let discount = line
        .discount
        .as_ref()
        .map(|typed| discount::off(list, typed).map(|off| Off { list, off, reason: typed.reason.clone() }));
    let discount = discount.transpose()?;
    let amount = discount.as_ref().map_or(Some(list), |it| list.checked_sub(it.off));
    let amount = amount.ok_or(ProblemCode::AmountInvalid)?;
    Ok(PricedLine {
        offer: offer.clone(),
        seat: line.seat.clone(),
        quantity: line.quantity,
        buyer_name: buyer_name(line.buyer_name.as_deref())?,
        unit_price,
        amount,
        discount,
    })
}

/// What YUPY would refuse is refused here, before money is taken.
fn acceptable(amount: Option<Money>) -> Result<Money, Problem> {
    let amount = amount.ok_or(ProblemCode::AmountInvalid)?;
    Money::parse_amount(&amount.to_amount_text(), amount.currency())
        .map_err(|_| ProblemCode::AmountInvalid.into())
}

fn buyer_name(typed: Option<&str>) -> Result<Option<String>, Problem> {
    let name = typed.map(normalise_free_text).unwrap_or_default();
    if name.chars().count() > BUYER_NAME_LIMIT || has_control(&name) {
        return Err(ProblemCode::BuyerNameInvalid.into());
    }
    Ok(Some(name).filter(|name| !name.is_empty()))
}

/// Equal lines are one sale with a quantity: two of them would look like each other's duplicate.
fn merge(lines: &mut Vec<PricedLine>, line: PricedLine) -> Result<(), Problem> {
    let same = lines.iter_mut().find(|other| {
        line.seat.is_none()
            && line.discount.is_none()
            && other.discount.is_none()
            && other.offer.offer_id == line.offer.offer_id
            && other.buyer_name == line.buyer_name
    });
    let Some(same) = same else {
        lines.push(line);
        return Ok(());
    };
    same.quantity += line.quantity;
    if same.quantity > QUANTITY_LIMIT {
        return Err(Problem::with(ProblemCode::QuantityInvalid, same.offer.description(None, 1)));
    }
    same.amount = acceptable(same.amount.checked_add(line.amount))?;
    Ok(())
}

impl Priced {
    #[must_use]
    pub fn quote(&self) -> Quote {
        let Payment { rounding, cash_due, missing, change, .. } = self.payment;
        Quote {
            lines: self
                .lines
                .iter()
                .map(|line| QuoteLine {
                    description: line.description(),
                    quantity: line.quantity,
                    unit_price: line.unit_price.into(),
                    discount: line.discount.as_ref().map(|it| it.off.into()),
                    amount: line.amount.into(),
                })
                .collect(),
            total: self.total.into(),
            rounding: rounding.into(),
            due: self.payment.due(self.total).into(),
            cash_due: cash_due.into(),
            tenders: self.payment.shares.iter().map(|share| quoted(share, cash_due)).collect(),
            change: change.map(Into::into),
            missing: missing.map(Into::into),
            needs_manager: self.needs_manager(),
        }
    }

    /// Whether a price is one that a cashier gives to nobody alone.
    #[must_use]
    pub fn needs_manager(&self) -> bool {
        let given = |it: &Off| discount::needs_manager(it.list, it.off);
        self.lines.iter().any(|line| line.offer.needs_manager || line.discount.as_ref().is_some_and(given))
    }

    /// What each line has of each tender.
    fn parts(&self) -> Vec<Vec<i64>> {
        let prices: Vec<i64> = self.lines.iter().map(|line| line.amount.minor()).collect();
        let paid: Vec<i64> = self.payment.shares.iter().map(|share| share.amount.minor()).collect();
        tender::allocate(&prices, &paid)
    }
}

fn quoted(share: &tender::Share, cash_due: Money) -> TenderShare {
    let (provider, operation_number, amount) = match &share.means {
        Means::Cash => (None, None, cash_due),
        Means::Wallet { provider, operation } => (Some(*provider), Some(operation.clone()), share.amount),
        Means::Card => (None, None, share.amount),
    };
    TenderShare { method: share.means.method(), provider, operation_number, amount: amount.into() }
}

/// Who records, and with what.
#[derive(Clone, Debug)]
pub struct Seller {
    pub person_id: String,
    /// The manager whose PIN came with the ticket, if one did.
    pub approver: Option<Person>,
    pub enrolment: Enrolment,
    pub now: Millis,
}

/// The first answer, if this draft was recorded before: *Cobrar* pressed twice, or a call repeated.
///
/// # Errors
/// `draft_already_recorded` when it was recorded with other content.
pub fn already_recorded(
    conn: &Connection,
    seller: &Seller,
    charge: &Charge,
) -> Result<Option<ChargeOutcome>, Problem> {
    let Some(checkout) = sales::find_checkout(conn, &charge.draft_id)? else { return Ok(None) };
    if checkout.charge_digest != digest(charge) {
        return Err(ProblemCode::DraftAlreadyRecorded.into());
    }
    let checkout = recorded(conn, &charge.draft_id, seller.enrolment.currency)?;
    Ok(Some(ChargeOutcome::Recorded { checkout: Box::new(checkout) }))
}

/// Records a ticket inside the caller's transaction, which has seen that the draft is new.
///
/// # Errors
/// A refusal; nothing is recorded.
pub fn record(
    conn: &Connection,
    seller: &Seller,
    charge: &Charge,
    priced: &Priced,
) -> Result<ChargeOutcome, Problem> {
    if priced.lines.is_empty() {
        return Err(ProblemCode::TicketEmpty.into());
    }
    if priced.needs_manager() && seller.approver.is_none() {
        return Err(ProblemCode::ManagerRequired.into());
    }
    let payment = &priced.payment;
    if payment.change.is_none() {
        return Err(ProblemCode::ReceivedTooLittle.into());
    }
    let rows = unused(conn, payment.rows()?)?;
    let received = payment.others.checked_add(payment.received).ok_or(ProblemCode::AmountInvalid)?;
    let shift = shifts::current_number(conn)?.ok_or(ProblemCode::ShiftRequired)?;
    if charge.look_alikes == LookAlikePolicy::Ask {
        let warnings = look_alikes(conn, seller, shift, &priced.lines)?;
        if !warnings.is_empty() {
            return Ok(ChargeOutcome::LookAlike { warnings });
        }
    }
    sales::insert_checkout(
        conn,
        &CheckoutRow {
            draft_id: charge.draft_id.clone(),
            charge_digest: digest(charge),
            shift_number: shift,
            seller: seller.person_id.clone(),
            recorded_at: seller.now,
            payment_method: payment.method().to_owned(),
            total_minor: priced.total.minor(),
            rounding_minor: payment.rounding.minor(),
            received_minor: received.minor(),
        },
    )?;
    // What was paid in cash alone needs no rows to say so.
    let kept: &[TenderRow] = if payment.is_all_cash() { &[] } else { &rows };
    for row in kept {
        tenders::insert(conn, &charge.draft_id, row)?;
    }
    let mut sold = Vec::new();
    for (line, parts) in priced.lines.iter().zip(priced.parts()) {
        let paid: Vec<TenderRow> = rows
            .iter()
            .zip(parts)
            .map(|(row, amount_minor)| TenderRow { amount_minor, ..row.clone() })
            .filter(|part| part.amount_minor > 0)
            .collect();
        let sequence = record_line(conn, seller, charge, shift, line, &paid)?;
        for part in paid.iter().filter(|_| !kept.is_empty()) {
            tenders::insert_part(conn, sequence, part.position, part.amount_minor)?;
        }
        sold.push(Sold { sequence, departs_at: line.offer.departs_at });
    }
    let methods: Vec<TenderMethod> = rows.iter().map(|row| row.method).collect();
    printing::with_checkout(conn, &sold, &methods, &seller.person_id, seller.now)?;
    let checkout = recorded(conn, &charge.draft_id, seller.enrolment.currency)?;
    Ok(ChargeOutcome::Recorded { checkout: Box::new(checkout) })
}

/// A payment that was shown before is somebody's old screen, or a slip of the finger.
fn unused(conn: &Connection, rows: Vec<TenderRow>) -> Result<Vec<TenderRow>, Problem> {
    for number in rows.iter().filter_map(|row| row.operation_number.as_deref()) {
        if let Some(sale) = tenders::sale_paid_with(conn, number)? {
            return Err(Problem::with(ProblemCode::OperationNumberUsed, sale));
        }
    }
    Ok(rows)
}

fn record_line(
    conn: &Connection,
    seller: &Seller,
    charge: &Charge,
    shift: u32,
    line: &PricedLine,
    paid: &[TenderRow],
) -> Result<i64, Problem> {
    let enrolment = &seller.enrolment;
    // Read here and not remembered: it may have changed since the till was opened.
    let current = epochs::current(conn)?.ok_or(ProblemCode::NotAllowedNow)?;
    let given = line.discount.as_ref().map(|it| given(it, seller)).transpose()?;
    let sequence = installation::take_sequence(conn)?;
    let number = u64::try_from(sequence).map_err(|_| ProblemCode::Internal)?;
    let id = ExternalTransactionId::compose(&enrolment.device_id, &current.epoch, shift, number);
    let body = TransactionBody {
        buyer_name: line.buyer_name.clone(),
        integration_experience: Some(EXPERIENCE.to_owned()),
        shift_id: Some(ShiftId::numbered(shift).into_string()),
        device_id: Some(enrolment.device_id.as_str().to_owned()),
        occurred_at: Some(rfc3339(seller.now)),
        payment_method: Some(tender::method_of(paid.iter().map(|part| part.method)).to_owned()),
        context: SaleContext {
            route: line.offer.route.clone(),
            seat: line.seat.clone(),
            product: Some(line.offer.product.clone()),
            service: line.offer.service.clone(),
            ..SaleContext::default()
        },
        tenders: told(paid, line.amount.currency()),
        ..TransactionBody::new(id.clone(), line.amount)
    };
    sales::insert(
        conn,
        &SaleRow {
            sequence,
            external_transaction_id: id.as_str().to_owned(),
            draft_id: Some(charge.draft_id.clone()),
            shift_number: Some(shift),
            seller: Some(seller.person_id.clone()),
            occurred_at: seller.now,
            amount_minor: line.amount.minor(),
            currency: enrolment.currency.code().to_owned(),
            quantity: line.quantity,
            description: line.description(),
            offer_id: line.offer.offer_id.clone(),
            route: line.offer.route.clone(),
            seat: line.seat.clone(),
            product: Some(line.offer.product.clone()),
            service: line.offer.service.clone(),
            buyer_name: line.buyer_name.clone(),
        },
    )?;
    if let Some(given) = &given {
        discounts::insert(conn, sequence, given)?;
    }
    let key = keys::create_key(&enrolment.scope, &id, 0);
    let request = NewRequest {
        kind: RequestKind::Create,
        revision: 0,
        idempotency_key: key.as_str(),
        path: CREATE_PATH,
        body: &body.to_bytes(),
    };
    let request_id = requests::freeze(conn, sequence, &request, seller.now)?;
    let state =
        State::Queued { attempts: 0, due: seller.now, doubt: Doubt::None, reason: QueueReason::NotTriedYet };
    entries::insert(conn, &Entry { sequence, request_id, state }, seller.now)?;
    audit::append(
        conn,
        seller.now,
        &audit::Entry {
            event: Event::SaleRecorded,
            person_id: Some(&seller.person_id),
            external_transaction_id: Some(id.as_str()),
            data: json!({
                "amount": line.amount.to_amount_text(),
                "draft_id": charge.draft_id,
                // Whether the cashier saw a warning and sold: a manager who is asked later wants to know.
                "look_alikes": charge.look_alikes,
            }),
        },
    )?;
    if let Some(manager) = seller.approver.as_ref().filter(|_| line.offer.needs_manager) {
        audit::append(
            conn,
            seller.now,
            &audit::Entry {
                event: Event::PriceApproved,
                person_id: Some(&manager.person_id),
                external_transaction_id: Some(id.as_str()),
                data: json!({ "offer_id": line.offer.offer_id, "amount": line.amount.to_amount_text() }),
            },
        )?;
    }
    if let Some(given) = given {
        audit::append(
            conn,
            seller.now,
            &audit::Entry {
                event: Event::DiscountGiven,
                person_id: Some(&seller.person_id),
                external_transaction_id: Some(id.as_str()),
                data: json!(given),
            },
        )?;
    }
    Ok(sequence)
}

/// A discount as it is kept. Who approved the ticket approved those of its discounts that needed it.
fn given(it: &Off, seller: &Seller) -> Result<DiscountRow, Problem> {
    let approver = seller.approver.as_ref().filter(|_| discount::needs_manager(it.list, it.off));
    Ok(DiscountRow {
        list_minor: it.list.minor(),
        discount_minor: it.off.minor(),
        reason: review::reason(&it.reason)?,
        approved_by: approver.map(|manager| manager.person_id.clone()),
    })
}

/// How a sale was paid, for YUPY. Of one that was all cash there is no more to say than its method.
fn told(paid: &[TenderRow], currency: Currency) -> Vec<PaidTender> {
    let is_all_cash = paid.iter().all(|part| part.method == TenderMethod::Cash);
    paid.iter()
        .filter(|_| !is_all_cash)
        .map(|part| PaidTender {
            method: part.method.as_word().to_owned(),
            amount: Money::from_minor(part.amount_minor, currency).to_amount_text(),
            provider: part.provider.map(|it| it.as_word().to_owned()),
            operation_number: part.operation_number.clone(),
        })
        .collect()
}

/// A ticket's tenders as the screen shows them: of cash, what was paid after rounding.
pub fn paid_with(
    conn: &Connection,
    draft_id: &str,
    rounding_minor: i64,
    currency: &str,
) -> rusqlite::Result<Vec<TenderShare>> {
    let share = |row: TenderRow| {
        let rounding = if row.method == TenderMethod::Cash { rounding_minor } else { 0 };
        shown(row, rounding, currency)
    };
    Ok(tenders::of_checkout(conn, draft_id)?.into_iter().map(share).collect())
}

pub fn shown(row: TenderRow, rounding_minor: i64, currency: &str) -> TenderShare {
    let minor = row.amount_minor - rounding_minor;
    TenderShare {
        method: row.method,
        provider: row.provider,
        operation_number: row.operation_number,
        amount: view::Money { minor, currency: currency.to_owned() },
    }
}

/// A recorded ticket as the screen shows it.
fn recorded(conn: &Connection, draft_id: &str, currency: Currency) -> Result<Checkout, Problem> {
    let row = sales::find_checkout(conn, draft_id)?.ok_or(ProblemCode::NotFound)?;
    let money = |minor| view::Money { minor, currency: currency.code().to_owned() };
    let due = row.total_minor - row.rounding_minor;
    Ok(Checkout {
        draft_id: draft_id.to_owned(),
        recorded_at: rfc3339(row.recorded_at),
        sales: summaries::of_checkout(conn, draft_id)?,
        total: money(row.total_minor),
        rounding: money(row.rounding_minor),
        due: money(due),
        received: money(row.received_minor),
        change: money(row.received_minor - due),
        tenders: paid_with(conn, draft_id, row.rounding_minor, currency.code())?,
    })
}

/// What was asked for, apart from the cashier's answer to a warning: that answer may change between two presses.
fn digest(charge: &Charge) -> Vec<u8> {
    let content = serde_json::to_vec(&(&charge.lines, &charge.tenders)).expect("plain data is JSON");
    Sha256::digest(content).to_vec()
}

/// Earlier sales of this till that a line looks like, by YUPY's own rule, and seats that were sold already.
fn look_alikes(
    conn: &Connection,
    seller: &Seller,
    shift: u32,
    lines: &[PricedLine],
) -> Result<Vec<LookAlike>, Problem> {
    let rule = Rule::default();
    let window = i64::try_from(rule.window().as_millis()).unwrap_or(i64::MAX);
    let mut warnings = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let own = traits_of_line(seller, shift, line);
        let currency = seller.enrolment.currency.code();
        let (from, to) = (seller.now.saturating_sub(window), seller.now.saturating_add(window));
        let mut earlier = sales::around(conn, currency, line.amount.minor(), from, to)?;
        if let Some((service, seat)) = line.seat_key() {
            let sold = sales::seats_of(conn, service)?;
            earlier.extend(sold.into_iter().filter(|sale| sale.seat.as_deref() == Some(seat)));
        }
        let found = earlier.into_iter().find_map(|sale| {
            let same_seat = line.seat_key().is_some()
                && line.seat_key() == sale.service.as_deref().zip(sale.seat.as_deref());
            let other = traits_of_sale(seller, &sale);
            match lookalike::compare(&own, &other, &rule) {
                Some(signals) => Some((sale, signals)),
                None if same_seat => Some((sale, vec![Signal::Route, Signal::Seat, Signal::Service])),
                None => None,
            }
        });
        let Some((sale, signals)) = found else { continue };
        let Some(summary) = summaries::by_sequence(conn, sale.sequence)? else { continue };
        warnings.push(LookAlike {
            line: u32::try_from(index).unwrap_or(u32::MAX),
            earlier: summary,
            matching_signals: signals.into_iter().map(|signal| signal.as_str().to_owned()).collect(),
            seconds_apart: u32::try_from((seller.now - sale.occurred_at).abs() / 1_000).unwrap_or(u32::MAX),
        });
    }
    Ok(warnings)
}

fn traits_of_line(seller: &Seller, shift: u32, line: &PricedLine) -> Traits {
    Traits {
        buyer_name: line.buyer_name.clone(),
        shift_id: Some(ShiftId::numbered(shift).into_string()),
        device_id: Some(seller.enrolment.device_id.as_str().to_owned()),
        route: line.offer.route.clone(),
        seat: line.seat.clone(),
        product: Some(line.offer.product.clone()),
        service: line.offer.service.clone(),
        ..Traits::new(line.amount, instant(seller.now))
    }
}

fn traits_of_sale(seller: &Seller, sale: &SaleRow) -> Traits {
    let amount = Money::from_minor(sale.amount_minor, seller.enrolment.currency);
    Traits {
        buyer_name: sale.buyer_name.clone(),
        // What another till sold has neither this shift nor this device.
        shift_id: sale.shift_number.map(|shift| ShiftId::numbered(shift).into_string()),
        device_id: sale.shift_number.map(|_| seller.enrolment.device_id.as_str().to_owned()),
        route: sale.route.clone(),
        seat: sale.seat.clone(),
        product: sale.product.clone(),
        service: sale.service.clone(),
        ..Traits::new(amount, instant(sale.occurred_at))
    }
}

fn instant(at: Millis) -> jiff::Timestamp {
    jiff::Timestamp::from_millisecond(at).unwrap_or(jiff::Timestamp::MAX)
}
