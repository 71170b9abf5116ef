//! Sales as a table for bookkeepers: CSV as RFC 4180 has it, in UTF-8, with lines that end in CRLF.
//!
//! Invariant: a cell holds what the sale's row says, and one row is one sale. Only a text that a spreadsheet would
//! compute is changed: an apostrophe goes before what begins like a formula. Figures are whole minor units written out,
//! never negative, and are not touched.

use std::io::{self, Write};

use csv::{Terminator, Writer, WriterBuilder};
use rusqlite::{Connection, Result};
use turno_domain::{Currency, Money};

use crate::clock::rfc3339;
use crate::store::sales::{self, SaleRow};
use crate::store::tenders::TenderRow;
use crate::store::{discounts, summaries, tenders, unreadable, voids};
use crate::view::{ByteOrderMark, CardPayment, DecimalMark, SaleSummary, TenderMethod};

/// Sales that are read at once; a page of them is a few hundred kilobytes, and no read lasts.
pub const BATCH: usize = 500;

/// A USB stick takes few large pieces better than many small ones.
const BUFFER_BYTES: usize = 64 * 1024;

/// The words of the contract where it has one. `cash`, `wallet` and `card` are what of the amount was paid so and add
/// up to it; `cash_rounding` is what of a ticket's cash was not collected, and stands on the ticket's last sale.
pub const HEADER: [&str; 31] = [
    "external_transaction_id",
    "yupy_transaction_id",
    "sequence",
    "occurred_at",
    "device_id",
    "shift_id",
    "seller",
    "description",
    "quantity",
    "product",
    "route",
    "service",
    "seat",
    "buyer_name",
    "currency",
    "list_amount",
    "discount",
    "amount",
    "payment_method",
    "cash",
    "wallet",
    "card",
    "cash_rounding",
    "wallet_provider",
    "operation_number",
    "card_state",
    "state",
    "void_state",
    "voided_at",
    "refunded",
    "void_reason",
];

/// What decides how a cell is written.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    pub decimal: DecimalMark,
    pub mark: ByteOrderMark,
}

/// A table on its way into a file.
pub struct Table<W: Write> {
    rows: Writer<W>,
    decimal: DecimalMark,
}

impl<W: Write> Table<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// The file's.
    pub fn begin(mut file: W, format: Format) -> io::Result<Self> {
        match format.mark {
            ByteOrderMark::None => {}
            ByteOrderMark::Utf8 => file.write_all("\u{feff}".as_bytes())?,
        }
        let mut rows = WriterBuilder::new()
            .delimiter(match format.decimal {
                DecimalMark::Point => b',',
                DecimalMark::Comma => b';',
            })
            .terminator(Terminator::CRLF)
            .buffer_capacity(BUFFER_BYTES)
            .from_writer(file);
        rows.write_record(HEADER).map_err(of_the_file)?;
        Ok(Self { rows, decimal: format.decimal })
    }

    /// # Errors
    /// The file's.
    pub fn write(&mut self, sale: &Sold) -> io::Result<()> {
        let amount = |minor: Option<i64>| minor.map_or_else(String::new, |it| self.figure(it, sale.currency));
        let cells = sale.cells(amount);
        self.rows.write_record(cells).map_err(of_the_file)
    }

    /// # Errors
    /// The file's.
    pub fn finish(self) -> io::Result<W> {
        self.rows.into_inner().map_err(csv::IntoInnerError::into_error)
    }

    fn figure(&self, minor: i64, currency: Currency) -> String {
        let text = Money::from_minor(minor, currency).to_amount_text();
        match self.decimal {
            DecimalMark::Point => text,
            DecimalMark::Comma => text.replace('.', ","),
        }
    }
}

/// All that the table says of one sale.
pub struct Sold {
    row: SaleRow,
    summary: SaleSummary,
    currency: Currency,
    /// The till that made it.
    device_id: String,
    tenders: Vec<TenderRow>,
    cash_rounding_minor: Option<i64>,
    discount_minor: i64,
    void: Option<voids::VoidRow>,
}

/// The sale of that number, if there is one. `device_id` is this till's.
pub fn read(conn: &Connection, sequence: i64, device_id: &str) -> Result<Option<Sold>> {
    let (Some(row), Some(summary)) =
        (sales::by_sequence(conn, sequence)?, summaries::by_sequence(conn, sequence)?)
    else {
        return Ok(None);
    };
    let currency = Currency::parse(&row.currency).map_err(|_| unreadable("sales.currency", &row.currency))?;
    // How a sale was paid that came from another till is known there.
    let (tenders, cash_rounding_minor) = match row.draft_id.as_deref() {
        Some(draft_id) => (tenders::of_sale(conn, draft_id, &row)?, rounding(conn, draft_id, sequence)?),
        None => (Vec::new(), None),
    };
    Ok(Some(Sold {
        device_id: summary.origin_device_id.clone().unwrap_or_else(|| device_id.to_owned()),
        discount_minor: discounts::of_sale(conn, sequence)?.map_or(0, |row| row.discount_minor),
        void: voids::get(conn, sequence)?,
        row,
        summary,
        currency,
        tenders,
        cash_rounding_minor,
    }))
}

/// A ticket is rounded once.
fn rounding(conn: &Connection, draft_id: &str, sequence: i64) -> Result<Option<i64>> {
    conn.prepare_cached(
        "SELECT iif(?2 = (SELECT max(sequence) FROM sales WHERE draft_id = ?1), rounding_minor, 0)
         FROM checkouts WHERE draft_id = ?1",
    )?
    .query_row((draft_id, sequence), |row| row.get(0))
    .map(Some)
}

impl Sold {
    fn cells(&self, amount: impl Fn(Option<i64>) -> String) -> [String; HEADER.len()] {
        let (row, sale) = (&self.row, &self.summary);
        let some = |text: Option<&String>| text.map_or_else(String::new, |text| harmless(text));
        let is_known = !self.tenders.is_empty();
        let paid = |method| {
            let parts = self.tenders.iter().filter(|tender| tender.method == method);
            amount(is_known.then(|| parts.map(|tender| tender.amount_minor).sum()))
        };
        let listed = |word: &dyn Fn(&TenderRow) -> Option<String>| {
            harmless(&self.tenders.iter().filter_map(word).collect::<Vec<_>>().join(" "))
        };
        let payment_method = match self.tenders.as_slice() {
            [] => "",
            [one] => one.method.as_word(),
            _ => "split",
        };
        let void = self.void.as_ref();
        [
            harmless(&row.external_transaction_id),
            some(sale.yupy_transaction_id.as_ref()),
            row.sequence.to_string(),
            rfc3339(row.occurred_at),
            harmless(&self.device_id),
            harmless(&sale.shift_id),
            harmless(&sale.seller),
            harmless(&row.description),
            row.quantity.to_string(),
            some(row.product.as_ref()),
            some(row.route.as_ref()),
            some(row.service.as_ref()),
            some(row.seat.as_ref()),
            some(row.buyer_name.as_ref()),
            row.currency.clone(),
            amount(Some(row.amount_minor + self.discount_minor)),
            amount(Some(self.discount_minor)),
            amount(Some(row.amount_minor)),
            payment_method.to_owned(),
            paid(TenderMethod::Cash),
            paid(TenderMethod::Wallet),
            paid(TenderMethod::Card),
            amount(self.cash_rounding_minor),
            listed(&|tender| tender.provider.map(|provider| provider.as_word().to_owned())),
            listed(&|tender| tender.operation_number.clone()),
            sale.card.as_ref().map(card_state).unwrap_or_default(),
            word(&sale.state),
            sale.voided.as_ref().map(word).unwrap_or_default(),
            void.map(|void| rfc3339(void.voided_at)).unwrap_or_default(),
            amount(void.map(|void| void.returned_minor)),
            void.map(|void| harmless(&void.reason)).unwrap_or_default(),
        ]
    }
}

/// The library's own turn into an `io::Error` forgets whether the medium is full.
fn of_the_file(error: csv::Error) -> io::Error {
    let text = error.to_string();
    if let csv::ErrorKind::Io(error) = error.into_kind() { error } else { io::Error::other(text) }
}

/// How the card stands; whether it was charged may be what nobody knows yet.
fn card_state(card: &CardPayment) -> String {
    if card.is_unconfirmed { "unconfirmed".to_owned() } else { word(&card.progress) }
}

/// A state as the till writes it everywhere else.
fn word(state: &impl serde::Serialize) -> String {
    let word = serde_json::to_value(state).expect("a state is a word");
    word.as_str().unwrap_or_default().to_owned()
}

/// A buyer may be called `=HYPERLINK(…)`, and a spreadsheet would compute it. It would also compute what follows the
/// other format's separator, where that one is expected: there quotes do not hold a cell together. Some spreadsheets
/// take spaces away first, or read the wide signs of Asian keyboards.
fn harmless(text: &str) -> String {
    let (mut cell, mut is_beginning) = (String::with_capacity(text.len()), true);
    for letter in text.chars() {
        if is_beginning && matches!(letter, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠') {
            cell.push('\'');
        }
        cell.push(letter);
        is_beginning = matches!(letter, ',' | ';' | '\t' | '\r' | '\n')
            || is_beginning && (letter == '"' || letter.is_whitespace());
    }
    cell
}

#[cfg(test)]
mod tests;
