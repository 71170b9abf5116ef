//! A sale as it is printed. Invariant: every figure is the recorded one, and what is said about YUPY carries the time at
//! which it was so: the paper stays true.

use rusqlite::{Connection, Result};
use turno_domain::{Currency, Money};
use turno_print::{Block, Document, Style};

use crate::clock::{Millis, rfc3339};
use crate::store::discounts::{self, DiscountRow};
use crate::store::installation::Enrolment;
use crate::store::sales::{self, CheckoutRow, SaleRow};
use crate::store::summaries;
use crate::store::tenders::{self, TenderRow};
use crate::view::{PrinterSettings, SaleState, SaleSummary, Standing, TenderMethod, WalletProvider};

pub const NO_RECEIPT: &str = "Este documento no es comprobante de pago";
const HEADING: Style = Style::CENTRED.bold();
const STRONG: Style = Style::PLAIN.bold();

/// All that a ticket tells.
pub struct Facts {
    pub company: String,
    pub device_id: String,
    pub sale: SaleRow,
    pub checkout: CheckoutRow,
    pub tenders: Vec<TenderRow>,
    pub discount: Option<DiscountRow>,
    /// Sales of the same checkout, this one included.
    pub sales_in_checkout: usize,
    pub summary: SaleSummary,
    pub departs_at: Option<Millis>,
    pub printed_at: Millis,
}

pub fn facts(
    conn: &Connection,
    sale: &SaleRow,
    enrolment: &Enrolment,
    departs_at: Option<Millis>,
    now: Millis,
) -> Result<Facts> {
    // What another till sold has no ticket of ours.
    let draft_id = sale.draft_id.as_deref().ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    Ok(Facts {
        company: enrolment.company_name.clone(),
        device_id: enrolment.device_id.as_str().to_owned(),
        checkout: sales::checkout(conn, draft_id)?,
        tenders: tenders::of_checkout(conn, draft_id)?,
        discount: discounts::of_sale(conn, sale.sequence)?,
        sales_in_checkout: sales::of_checkout(conn, draft_id)?.len(),
        summary: summaries::by_sequence(conn, sale.sequence)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?,
        sale: sale.clone(),
        departs_at,
        printed_at: now,
    })
}

#[must_use]
pub fn ticket(facts: &Facts, settings: &PrinterSettings, copy_number: u32) -> Document {
    let mut paper = Document::default();
    paper.text(HEADING, &facts.company);
    if copy_number > 0 {
        paper.text(HEADING.double(), format!("COPIA {copy_number}"));
    }
    paper.add(Block::Rule);
    what(&mut paper, facts);
    paper.add(Block::Rule);
    money(&mut paper, facts);
    paper.add(Block::Rule);
    who_and_when(&mut paper, facts);
    paper.add(Block::Blank).text(HEADING, &facts.sale.external_transaction_id);
    paper.add(Block::Qr { text: facts.sale.external_transaction_id.clone() });
    paper.text(Style::CENTRED, standing(facts));
    if settings.says_no_receipt {
        paper.add(Block::Blank).text(Style::CENTRED, NO_RECEIPT);
    }
    for line in [&settings.footer_1, &settings.footer_2].into_iter().filter(|line| !line.is_empty()) {
        paper.text(Style::CENTRED, line);
    }
    paper.add(Block::Cut);
    paper
}

fn what(paper: &mut Document, Facts { sale, departs_at, .. }: &Facts) {
    paper.text(STRONG, &sale.description);
    if let Some(at) = departs_at {
        paper.columns(Style::PLAIN, "Salida", local(*at));
    }
    for (name, value) in [("Ruta", &sale.route), ("Servicio", &sale.service)] {
        if let Some(value) = value {
            paper.columns(Style::PLAIN, name, value);
        }
    }
    if let Some(seat) = &sale.seat {
        paper.columns(STRONG.double(), "Asiento", seat);
    }
    if let Some(name) = &sale.buyer_name {
        // A row of its own: a name is long, and wraps better than a figure.
        paper.text(Style::PLAIN, format!("Pasajero: {name}"));
    }
}

fn money(paper: &mut Document, facts: &Facts) {
    let Facts { sale, checkout, .. } = facts;
    let amount = |minor: i64| soles(minor, &sale.currency);
    if sale.quantity > 1 {
        let list = facts.discount.as_ref().map_or(sale.amount_minor, |given| given.list_minor);
        let unit = list / i64::from(sale.quantity);
        paper.columns(Style::PLAIN, format!("{} x {}", sale.quantity, amount(unit)), "");
    }
    if let Some(given) = &facts.discount {
        paper.columns(Style::PLAIN, "Precio de lista", amount(given.list_minor));
        paper.columns(Style::PLAIN, "Descuento", format!("-{}", amount(given.discount_minor)));
    }
    paper.columns(Style::PLAIN, "Precio", amount(sale.amount_minor));
    if facts.sales_in_checkout > 1 {
        let name = format!("Total de la compra ({} boletos)", facts.sales_in_checkout);
        paper.columns(Style::PLAIN, name, amount(checkout.total_minor));
    }
    if checkout.rounding_minor != 0 {
        paper.columns(Style::PLAIN, "Redondeo", format!("-{}", amount(checkout.rounding_minor)));
    }
    let due = checkout.total_minor - checkout.rounding_minor;
    paper.columns(STRONG.double(), "TOTAL", amount(due));
    let in_others = facts.tenders.iter().filter(|tender| tender.method != TenderMethod::Cash);
    let in_others: i64 = in_others.map(|tender| tender.amount_minor).sum();
    for paid in &facts.tenders {
        let handed_over = match paid.method {
            TenderMethod::Cash => checkout.received_minor - in_others,
            TenderMethod::Wallet | TenderMethod::Card => paid.amount_minor,
        };
        paper.columns(Style::PLAIN, tender(paid), amount(handed_over));
        if let Some(number) = &paid.operation_number {
            paper.text(Style::PLAIN, format!("Operación {number}"));
        }
    }
    if checkout.received_minor != due {
        paper.columns(Style::PLAIN, "Vuelto", amount(checkout.received_minor - due));
    }
}

fn who_and_when(paper: &mut Document, facts: &Facts) {
    let Facts { sale, summary, .. } = facts;
    paper.columns(Style::PLAIN, format!("Caja {}", facts.device_id), format!("Turno {}", summary.shift_id));
    paper.columns(Style::PLAIN, format!("Vendió: {}", summary.seller), local(sale.occurred_at));
}

/// What the customer handed over.
fn tender(paid: &TenderRow) -> &'static str {
    match (paid.method, paid.provider) {
        (TenderMethod::Cash, _) => "Recibido en efectivo",
        (TenderMethod::Card, _) => "Pagado con tarjeta",
        (TenderMethod::Wallet, Some(WalletProvider::Yape)) => "Pagado con Yape",
        (TenderMethod::Wallet, Some(WalletProvider::Plin)) => "Pagado con Plin",
        (TenderMethod::Wallet, Some(WalletProvider::Other) | None) => "Pagado con billetera",
    }
}

/// Where the sale is, at the moment of printing.
fn standing(facts: &Facts) -> String {
    let at = local(facts.printed_at);
    if facts.summary.voided.is_some() {
        return format!("Al imprimir, {at}: anulada, el dinero se devolvió");
    }
    match (facts.summary.state, facts.summary.standing) {
        (SaleState::Discarded, _) => format!("Al imprimir, {at}: sin efecto, es la misma venta que otra"),
        (_, Standing::Confirmed) => format!("Al imprimir, {at}: confirmada por YUPY"),
        (_, Standing::Unconfirmed) => format!("Al imprimir, {at}: guardada aquí, sin confirmar por YUPY"),
        (_, Standing::Saved) => format!("Al imprimir, {at}: guardada aquí, pendiente de envío"),
    }
}

/// `S/ 85.50`, or the currency's code before the amount.
fn soles(minor: i64, currency: &str) -> String {
    let Ok(known) = Currency::parse(currency) else { return format!("{currency} {minor}") };
    let symbol = if known == Currency::PEN { "S/" } else { known.code() };
    format!("{symbol} {}", Money::from_minor(minor, known).to_amount_text())
}

/// `30/11/2026 20:30`, at the till.
pub fn local(at: Millis) -> String {
    let text = rfc3339(at);
    match (text.get(0..4), text.get(5..7), text.get(8..10), text.get(11..16)) {
        (Some(year), Some(month), Some(day), Some(time)) => format!("{day}/{month}/{year} {time}"),
        _ => text,
    }
}
