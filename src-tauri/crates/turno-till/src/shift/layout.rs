//! A shift's report as it is printed. Invariant: every figure of the report is in it, in the order of the screen.

use turno_print::{Block, CodePage, Columns, Document, PreviewRow, Profile, QrBy, Style};

use crate::view::{Money, MovementKind, SaleState, Share, ShiftReport};

/// The report in Spanish, the language of the paper.
#[must_use]
pub fn document(report: &ShiftReport) -> Document {
    let mut page = Page(Document::default());
    head(&mut page, report);
    sold(&mut page, report);
    drawer(&mut page, report);
    shares(&mut page, "POR MEDIO DE PAGO", &report.tenders, tender);
    shares(&mut page, "POR RUTA", &report.routes, |route| match route {
        "" => "Sin ruta".to_owned(),
        named => named.to_owned(),
    });
    shares(&mut page, "POR HORA", &report.hours, |hour| format!("{hour:0>2}:00"));
    movements(&mut page, report);
    waiting(&mut page, report);
    page.0.add(Block::Cut);
    page.0
}

/// The report as lines of plain text, as wide as paper of this kind.
#[must_use]
pub fn lines(report: &ShiftReport, columns: Columns) -> Vec<String> {
    let profile = Profile { columns, code_page: CodePage::Wpc1252, qr: QrBy::Picture, cuts: false };
    let rows = turno_print::preview(&document(report), &profile).into_iter();
    rows.filter_map(|row| match row {
        PreviewRow::Line { text, .. } => Some(text),
        PreviewRow::Picture(_) | PreviewRow::Cut => None,
    })
    .collect()
}

struct Page(Document);

impl Page {
    fn text(&mut self, text: &str) {
        self.0.text(Style::PLAIN, text);
    }

    fn row(&mut self, left: &str, right: &str) {
        self.0.columns(Style::PLAIN, left, right);
    }

    fn title(&mut self, text: &str) {
        self.0.add(Block::Rule).text(Style::PLAIN.bold(), text);
    }
}

/// `1234.50` without its currency, which stands at the head once.
fn amount(money: &Money) -> String {
    let currency = turno_domain::Currency::parse(&money.currency);
    let text = currency.map(|it| turno_domain::Money::from_minor(money.minor, it).to_amount_text());
    text.unwrap_or_else(|_| money.minor.to_string())
}

fn less(money: &Money) -> String {
    if money.minor == 0 { amount(money) } else { format!("-{}", amount(money)) }
}

/// `2026-11-30T22:13:07-05:00` as `2026-11-30 22:13`.
fn moment(text: &str) -> String {
    text.get(..16).unwrap_or(text).replace('T', " ")
}

fn head(page: &mut Page, report: &ShiftReport) {
    match &report.closing {
        Some(closing) => page.text(&format!("INFORME Z {}", closing.z_id)),
        None => page.text("INFORME X"),
    }
    page.text(&format!("Turno {} ({})", report.shift_id, report.drawer.float.currency));
    page.text(&format!("Abierto {} {}", moment(&report.opened_at), report.opened_by));
    if let Some(closing) = &report.closing {
        page.text(&format!("Cerrado {} {}", moment(&closing.closed_at), closing.closed_by));
    }
}

fn sold(page: &mut Page, report: &ShiftReport) {
    let figures = &report.figures;
    page.title("VENTAS");
    for (name, tally) in [
        ("Vendido", &figures.sold),
        ("- confirmado", &figures.accepted),
        ("- por enviar", &figures.pending),
        ("- por revisar", &figures.attention),
        ("- descartado", &figures.discarded),
        ("Anulado", &figures.returned),
        ("VENTA NETA", &figures.net),
    ] {
        page.row(&format!("{name} {}", tally.count), &amount(&tally.amount));
    }
    if figures.discounts.count > 0 {
        let name = format!("Descuentos {}", figures.discounts.count);
        page.row(&name, &less(&figures.discounts.amount));
    }
}

fn drawer(page: &mut Page, report: &ShiftReport) {
    let drawer = &report.drawer;
    page.title("EFECTIVO EN EL CAJÓN");
    page.row("Efectivo inicial", &amount(&drawer.float));
    page.row("Ventas en efectivo", &amount(&drawer.sales));
    page.row("Redondeo", &less(&drawer.rounding));
    page.row("Ingresos", &amount(&drawer.pay_ins));
    page.row("Retiros", &less(&drawer.pay_outs));
    page.row("Devoluciones", &less(&drawer.refunds));
    page.row("DEBE HABER", &amount(&drawer.expected));
    let Some(closing) = &report.closing else { return };
    for counted in &closing.count {
        let pieces = format!("- {} x {}", counted.pieces, amount(&counted.denomination));
        page.row(&pieces, &amount(&counted.amount));
    }
    page.row("CONTADO", &amount(&closing.counted));
    page.row("DIFERENCIA", &amount(&closing.difference));
    if let (Some(manager), Some(reason)) = (&closing.approved_by, &closing.reason) {
        page.text(&format!("Aprobó {manager}: {reason}"));
    }
}

fn shares(page: &mut Page, title: &str, shares: &[Share], name: impl Fn(&str) -> String) {
    if shares.is_empty() {
        return;
    }
    page.title(title);
    for share in shares {
        page.row(&format!("{} {}", name(&share.label), share.count), &amount(&share.amount));
    }
}

fn tender(word: &str) -> String {
    match word {
        "cash" => "Efectivo".to_owned(),
        "card" => "Tarjeta".to_owned(),
        "card_unconfirmed" => "Tarjeta sin confirmar".to_owned(),
        "card_not_charged" => "Tarjeta no cobrada".to_owned(),
        "wallet" => "Billetera".to_owned(),
        other => other.to_owned(),
    }
}

fn movements(page: &mut Page, report: &ShiftReport) {
    if report.movements.is_empty() {
        return;
    }
    page.title("INGRESOS Y RETIROS");
    for movement in &report.movements {
        let (name, sum) = match movement.kind {
            MovementKind::PayIn => ("Ingreso", amount(&movement.amount)),
            MovementKind::PayOut => ("Retiro", less(&movement.amount)),
            MovementKind::Refund => ("Devolución", less(&movement.amount)),
        };
        page.row(&format!("{} {name}", moment(&movement.at).split_off(11)), &sum);
        let approved = movement.approved_by.as_ref().map(|name| format!(", aprobó {name}"));
        page.text(&format!("{} ({}{})", movement.reason, movement.person, approved.unwrap_or_default()));
    }
}

fn waiting(page: &mut Page, report: &ShiftReport) {
    if report.unsettled_count > 0 {
        page.title(&format!("SIN CONFIRMAR POR YUPY: {}", report.unsettled_count));
        for sale in &report.unsettled {
            page.row(&sale.external_transaction_id, &amount(&sale.amount));
        }
    }
    if !report.addendum.is_empty() {
        page.title("DESPUÉS DEL CIERRE");
        for late in &report.addendum {
            page.row(&late.sale.external_transaction_id, &amount(&late.sale.amount));
            page.text(&format!("- {} {}", moment(&late.changed_at), became(late.sale.state)));
        }
    }
}

fn became(state: SaleState) -> &'static str {
    match state {
        SaleState::Accepted => "confirmada",
        SaleState::Discarded => "descartada",
        SaleState::Withdrawn => "anulada",
        SaleState::Queued | SaleState::Sending => "por enviar",
        SaleState::InReview | SaleState::NeedsAttention | SaleState::OnHold => "por revisar",
    }
}
