use csv::ReaderBuilder;

use super::*;
use crate::view::{SaleState, Standing, VoidProgress, WalletProvider};

const PLAIN: Format = Format { decimal: DecimalMark::Point, mark: ByteOrderMark::None };

fn sold(buyer_name: &str) -> Sold {
    let row = SaleRow {
        sequence: 127,
        external_transaction_id: "D03-K7M-S44-0127".to_owned(),
        draft_id: Some("draft".to_owned()),
        shift_number: Some(44),
        seller: Some("c".to_owned()),
        occurred_at: 1_796_050_800_000,
        amount_minor: 123_450,
        currency: "PEN".to_owned(),
        quantity: 1,
        description: "Lima – Arequipa".to_owned(),
        offer_id: "departure:184-2030".to_owned(),
        route: Some("184".to_owned()),
        seat: Some("12A".to_owned()),
        product: Some("asiento".to_owned()),
        service: Some("184-2030".to_owned()),
        buyer_name: Some(buyer_name.to_owned()),
    };
    let money = |minor| crate::view::Money { minor, currency: "PEN".to_owned() };
    let summary = SaleSummary {
        sequence: row.sequence,
        external_transaction_id: row.external_transaction_id.clone(),
        shift_id: "S44".to_owned(),
        description: row.description.clone(),
        route: row.route.clone(),
        seat: row.seat.clone(),
        buyer_name: row.buyer_name.clone(),
        amount: money(row.amount_minor),
        returned: None,
        voided: Some(VoidProgress::Confirmed),
        occurred_at: rfc3339(row.occurred_at),
        seller: "Caja".to_owned(),
        state: SaleState::Accepted,
        standing: Standing::Confirmed,
        reason: None,
        detail: None,
        attempts: 1,
        next_attempt_at: None,
        yupy_transaction_id: None,
        card: None,
        origin_device_id: None,
        resolution: None,
    };
    let tender = TenderRow {
        position: 0,
        method: TenderMethod::Wallet,
        provider: Some(WalletProvider::Plin),
        operation_number: Some("0042".to_owned()),
        amount_minor: row.amount_minor,
    };
    Sold {
        row,
        summary,
        currency: Currency::PEN,
        device_id: "D03".to_owned(),
        tenders: vec![tender],
        cash_rounding_minor: Some(0),
        discount_minor: 0,
        void: None,
    }
}

fn table(format: Format, sales: &[Sold]) -> Vec<u8> {
    let mut table = Table::begin(Vec::new(), format).unwrap();
    sales.iter().for_each(|sale| table.write(sale).unwrap());
    table.finish().unwrap()
}

#[test]
fn a_line_is_the_header_or_a_sale_and_quotes_are_where_they_are_needed() {
    let text = String::from_utf8(table(PLAIN, &[sold("Ana \"Nita\", hija")])).unwrap();
    let (header, row) = text.split_once("\r\n").unwrap();
    assert_eq!(header, HEADER.join(","));
    assert_eq!(
        row,
        "D03-K7M-S44-0127,,127,2026-11-30T10:00:00-05:00,D03,S44,Caja,Lima – Arequipa,1,asiento,184,184-2030,12A,\
         \"Ana \"\"Nita\"\", hija\",PEN,1234.50,0.00,1234.50,wallet,0.00,1234.50,0.00,0.00,plin,0042,,accepted,\
         confirmed,,,\r\n"
    );
}

#[test]
fn what_a_name_is_made_of_comes_back_from_a_reader_of_either_format() {
    for (decimal, delimiter) in [(DecimalMark::Point, b','), (DecimalMark::Comma, b';')] {
        for name in ["a,b", "a;b", "\"", "\"\"", "dos\nlíneas", "dos\r\nlíneas", "🚌", "שרה", " a ", ""]
        {
            let bytes = table(Format { decimal, ..PLAIN }, &[sold(name), sold("Ana")]);
            let mut reader = ReaderBuilder::new().delimiter(delimiter).from_reader(bytes.as_slice());
            let rows: Vec<_> = reader.records().map(|row| row.unwrap()).collect();
            assert_eq!(rows.len(), 2, "{name:?}");
            assert_eq!((&rows[0][13], &rows[1][13]), (name, "Ana"));
        }
    }
}

#[test]
fn only_what_begins_like_a_formula_gets_an_apostrophe() {
    for (text, written) in [
        ("=1", "'=1"),
        ("+51 999", "'+51 999"),
        ("-1", "'-1"),
        ("@a", "'@a"),
        ("==1", "'==1"),
        ("\t=1", "\t'=1"),
        ("  =1", "  '=1"),
        ("＝1", "'＝1"),
        ("＋1", "'＋1"),
        ("－1", "'－1"),
        ("＠a", "'＠a"),
        ("Ana;=1", "Ana;'=1"),
        ("Ana, \"+1\"", "Ana, \"'+1\""),
        ("Ana\r\n=1", "Ana\r\n'=1"),
    ] {
        assert_eq!(harmless(text), written);
    }
    for text in ["", "Ana", "12A", "'=1", "a=1", "1-2", "Ana - Luz", "—", "S/ 5", "O'Higgins", "Ana, Luz"] {
        assert_eq!(harmless(text), text);
    }
}

#[test]
fn no_cell_begins_a_formula_where_the_other_formats_separator_is_expected() {
    for (decimal, other) in [(DecimalMark::Point, b';'), (DecimalMark::Comma, b',')] {
        for name in ["Ana;=1+1", "Ana,=1+1", "Ana;\"=1+1\"", "Ana\n=1;=1,=1", "; =1", "\";=1"] {
            let bytes = table(Format { decimal, ..PLAIN }, &[sold(name)]);
            let mut reader =
                ReaderBuilder::new().delimiter(other).flexible(true).from_reader(bytes.as_slice());
            let rows: Vec<_> = reader.records().map(|row| row.unwrap()).collect();
            let mut cells = rows.iter().flatten().map(|cell| cell.trim_start_matches([' ', '"']));
            assert!(cells.all(|cell| !cell.starts_with('=')), "{name:?}: {rows:?}");
        }
    }
}

/// A medium that is full after so many bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let count = bytes.len().min(self.0);
        self.0 -= count;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_medium_that_is_full_fails_the_table_wherever_it_is_then() {
    let sales: Vec<Sold> = (0..1_000).map(|_| sold("Ana")).collect();
    let whole = table(PLAIN, &sales).len();
    assert!(whole > 2 * BUFFER_BYTES, "some rows are written before the last one is there");
    let write = |room| {
        let mut table = Table::begin(Full(room), PLAIN)?;
        sales.iter().try_for_each(|sale| table.write(sale))?;
        table.finish().map(drop)
    };
    for room in [0, 1, BUFFER_BYTES - 1, BUFFER_BYTES, BUFFER_BYTES + 1, whole - 1] {
        assert_eq!(write(room).unwrap_err().kind(), io::ErrorKind::StorageFull, "{room} bytes");
    }
    assert!(write(whole).is_ok());
}
