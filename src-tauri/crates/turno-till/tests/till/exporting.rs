//! Sales leave in a table that a bookkeeper opens: whole, as they are, and only with a manager.

use std::fs;
use std::path::Path;

use csv::{ReaderBuilder, StringRecord};
use turno_till::sales_csv::{BATCH, HEADER};
use turno_till::view::{
    Approval, ByteOrderMark, ChargeOutcome, DecimalMark, Discount, DiscountKind, ExportSalesRequest, Line,
    LookAlikePolicy, PauseSendingRequest, Problem, ProblemCode, SaleState, SalesExported, SalesPeriod,
    SalesStanding, SearchSalesRequest, Tender, VoidSaleRequest, WalletProvider,
};

use crate::crash::disk::audited;
use crate::support::{CASHIER_PIN, MANAGER_PIN, Shop, charge, fare, luggage, recorded, seat};

fn about(text: &str) -> SearchSalesRequest {
    SearchSalesRequest {
        text: text.to_owned(),
        standing: None,
        tender: None,
        period: SalesPeriod::Always,
        after: None,
    }
}

fn into_file(path: &Path) -> ExportSalesRequest {
    ExportSalesRequest {
        path: path.display().to_string(),
        search: about(""),
        decimal: DecimalMark::Point,
        mark: ByteOrderMark::None,
        approval: Approval { manager_id: "m".to_owned(), pin: MANAGER_PIN.to_owned() },
    }
}

/// A file's rows as the library's reader has them, each as what stands in a named column.
struct Rows(Vec<StringRecord>);

impl Rows {
    fn of(path: &Path, delimiter: u8) -> Self {
        let mut reader = ReaderBuilder::new().delimiter(delimiter).from_path(path).unwrap();
        assert_eq!(reader.headers().unwrap(), HEADER.as_slice());
        Self(reader.records().collect::<Result<_, _>>().unwrap())
    }

    fn column(&self, name: &str) -> Vec<&str> {
        let at = HEADER.iter().position(|column| *column == name).unwrap();
        self.0.iter().map(|row| &row[at]).collect()
    }
}

async fn export(shop: &Shop, request: &ExportSalesRequest) -> Result<SalesExported, Problem> {
    shop.till.export_sales(request).await
}

async fn all(shop: &Shop) -> Rows {
    let path = shop.folder().join("all.csv");
    export(shop, &into_file(&path)).await.unwrap();
    Rows::of(&path, b',')
}

fn named(line: Line, name: &str) -> Line {
    Line { buyer_name: Some(name.to_owned()), ..line }
}

async fn sold(shop: &Shop, line: Line) -> String {
    shop.sell(line).await.sales[0].external_transaction_id.clone()
}

fn in_folder(shop: &Shop) -> Vec<String> {
    let names = fs::read_dir(shop.folder()).unwrap().map(|it| it.unwrap().file_name());
    names.filter_map(|name| name.into_string().ok()).filter(|name| name.contains(".csv")).collect()
}

#[tokio::test(start_paused = true)]
async fn a_row_says_all_that_books_need_of_a_sale() {
    let shop = Shop::open().await;
    let line = Line {
        discount: Some(Discount {
            kind: DiscountKind::Amount,
            value: "5.55".to_owned(),
            reason: "asiento roto".to_owned(),
        }),
        ..named(seat("12A"), "José Ñáñez")
    };
    let mut request = charge(&shop.till.open_draft().draft_id, vec![line, luggage()]);
    request.tenders = vec![
        Tender::Wallet {
            provider: WalletProvider::Yape,
            operation_number: "00123456".to_owned(),
            amount: Some("50.00".to_owned()),
        },
        Tender::Cash { received: None },
    ];
    let ticket = recorded(shop.till.charge(&request).await.unwrap());
    for sale in &ticket.sales {
        shop.until(&sale.external_transaction_id, SaleState::Accepted).await;
    }
    shop.till.pause_sending(&PauseSendingRequest { paused: true }).await.unwrap();
    let void = VoidSaleRequest {
        external_transaction_id: ticket.sales[0].external_transaction_id.clone(),
        shown_returned_minor: 7_990,
        manager_id: "m".to_owned(),
        pin: MANAGER_PIN.to_owned(),
        reason: "perdió el bus".to_owned(),
    };
    shop.till.void_sale(&void).await.unwrap();
    let rows = all(&shop).await;
    let epoch = ticket.sales[0].external_transaction_id.split('-').nth(1).unwrap().to_owned();
    let told = HEADER.iter().map(|name| {
        let cells = rows.column(name);
        format!("{name}: {:?} {:?}", cells[1], cells[0]).replace(&epoch, "EPOCH")
    });
    insta::assert_snapshot!(told.collect::<Vec<_>>().join("\n"), @r#"
    external_transaction_id: "D03-EPOCH-S1-0001" "D03-EPOCH-S1-0002"
    yupy_transaction_id: "ypt-D03-EPOCH-S1-0001" "ypt-D03-EPOCH-S1-0002"
    sequence: "1" "2"
    occurred_at: "2026-11-30T10:00:00-05:00" "2026-11-30T10:00:00-05:00"
    device_id: "D03" "D03"
    shift_id: "S1" "S1"
    seller: "Caja" "Caja"
    description: "Lima – Arequipa 20:30 · asiento 12A" "Equipaje extra"
    quantity: "1" "1"
    product: "pasaje" "equipaje"
    route: "184" ""
    service: "184-2030" ""
    seat: "12A" ""
    buyer_name: "José Ñáñez" ""
    currency: "PEN" "PEN"
    list_amount: "85.50" "9.96"
    discount: "5.55" "0.00"
    amount: "79.95" "9.96"
    payment_method: "split" "cash"
    cash: "29.95" "9.96"
    wallet: "50.00" "0.00"
    card: "0.00" "0.00"
    cash_rounding: "0.00" "0.01"
    wallet_provider: "yape" ""
    operation_number: "00123456" ""
    card_state: "" ""
    state: "accepted" "accepted"
    void_state: "queued" ""
    voided_at: "2026-11-30T10:00:00-05:00" ""
    refunded: "79.90" ""
    void_reason: "perdió el bus" ""
    "#);
}

#[tokio::test(start_paused = true)]
async fn names_come_back_letter_by_letter_whatever_is_in_them() {
    let shop = Shop::open().await;
    let names = [
        "Ñáñez, José",
        "Ana \"La Negra\" Quispe; hija",
        "שרה כהן",
        "محمد العلي",
        "Rosa 👩‍👧 🚌",
        "'Abd al-Rahmán",
        "O'Higgins - Díaz",
    ];
    for name in names {
        sold(&shop, named(fare(1), name)).await;
    }
    let newest_first = names.iter().rev().copied().collect::<Vec<_>>();
    assert_eq!(all(&shop).await.column("buyer_name"), newest_first);
    let path = shop.folder().join("coma.csv");
    let request = ExportSalesRequest { decimal: DecimalMark::Comma, ..into_file(&path) };
    export(&shop, &request).await.unwrap();
    assert_eq!(Rows::of(&path, b';').column("buyer_name"), newest_first);
}

#[tokio::test(start_paused = true)]
async fn a_name_that_a_spreadsheet_would_compute_is_written_as_text() {
    let shop = Shop::open().await;
    let names = ["=1+1", "+51 999 888 777", "-2+3", "@SUM(A1)", "＝1+1", "Ana =1"];
    for name in names {
        sold(&shop, named(fare(1), name)).await;
    }
    let rows = all(&shop).await;
    let written: Vec<_> = rows.column("buyer_name").into_iter().rev().collect();
    assert_eq!(written, ["'=1+1", "'+51 999 888 777", "'-2+3", "'@SUM(A1)", "'＝1+1", "Ana =1"]);
}

#[tokio::test(start_paused = true)]
async fn a_decimal_comma_separates_cells_by_semicolons_and_the_mark_comes_only_when_asked_for() {
    let shop = Shop::open().await;
    sold(&shop, seat("12A")).await;
    let [plain, comma] = ["punto.csv", "coma.csv"].map(|name| shop.folder().join(name));
    export(&shop, &into_file(&plain)).await.unwrap();
    let request =
        ExportSalesRequest { decimal: DecimalMark::Comma, mark: ByteOrderMark::Utf8, ..into_file(&comma) };
    export(&shop, &request).await.unwrap();
    assert_eq!(Rows::of(&plain, b',').column("amount"), ["85.50"]);
    assert_eq!(Rows::of(&comma, b';').column("amount"), ["85,50"]);
    let [plain, comma] = [plain, comma].map(|path| fs::read(path).unwrap());
    assert!(plain.starts_with(b"external_transaction_id,yupy_transaction_id,"));
    assert!(comma.starts_with("\u{feff}external_transaction_id;yupy_transaction_id;".as_bytes()));
    for file in [plain, comma] {
        let lines = file.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(file.windows(2).filter(|two| *two == b"\r\n").count(), lines, "each line ends in CRLF");
        assert!(lines == 2 && file.ends_with(b"\r\n"));
    }
}

#[tokio::test(start_paused = true)]
async fn the_file_has_what_the_search_finds_from_its_first_page_to_its_last() {
    let shop = Shop::open().await;
    shop.yupy.down(turno_till::transport::Failure::NoNetwork);
    let count = BATCH + 3;
    let mut ids = Vec::new();
    while ids.len() < count {
        let lines = (ids.len()..count.min(ids.len() + 20)).map(|_| named(fare(1), "José")).collect();
        let mut request = charge(&shop.till.open_draft().draft_id, lines);
        request.look_alikes = LookAlikePolicy::SellAnyway;
        let ChargeOutcome::Recorded { checkout } = shop.till.charge(&request).await.unwrap() else {
            panic!("it was sold anyway")
        };
        ids.extend(checkout.sales.into_iter().map(|sale| sale.external_transaction_id));
    }
    let other = sold(&shop, named(seat("12A"), "María")).await;
    ids.reverse();
    let path = shop.folder().join("jose.csv");
    let request = ExportSalesRequest { search: about("jose"), ..into_file(&path) };
    let exported = export(&shop, &request).await.unwrap();
    assert_eq!(usize::try_from(exported.sales_count).unwrap(), count);
    assert_eq!(
        Rows::of(&path, b',').column("external_transaction_id"),
        ids,
        "newest first, as on the screen"
    );
    let path = shop.folder().join("maria.csv");
    let search = SearchSalesRequest { standing: Some(SalesStanding::Waiting), ..about("12a") };
    export(&shop, &ExportSalesRequest { search, ..into_file(&path) }).await.unwrap();
    assert_eq!(Rows::of(&path, b',').column("external_transaction_id"), [other]);
    let path = shop.folder().join("nadie.csv");
    let nothing = ExportSalesRequest { search: about("nadie"), ..into_file(&path) };
    assert_eq!(export(&shop, &nothing).await.unwrap().sales_count, 0);
    assert!(Rows::of(&path, b',').0.is_empty(), "a table without rows has its header");
}

#[tokio::test(start_paused = true)]
async fn only_a_manager_lets_sales_out_and_the_audit_says_who_and_not_whom_they_looked_for() {
    let shop = Shop::open().await;
    sold(&shop, named(seat("12A"), "José Ñáñez")).await;
    let request = ExportSalesRequest { search: about("nanez"), ..into_file(&shop.folder().join("a.csv")) };
    for (manager_id, pin, code) in
        [("m", "000000", ProblemCode::PinWrong), ("c", CASHIER_PIN, ProblemCode::ManagerRequired)]
    {
        let approval = Approval { manager_id: manager_id.to_owned(), pin: pin.to_owned() };
        let refused = export(&shop, &ExportSalesRequest { approval, ..request.clone() }).await;
        assert_eq!(refused.unwrap_err().code, code);
    }
    assert!(in_folder(&shop).is_empty());
    export(&shop, &request).await.unwrap();
    assert_eq!(audited(shop.folder()).get("sales_table_exported"), Some(&1));
    let conn = rusqlite::Connection::open(shop.folder().join(turno_till::store::FILE_NAME)).unwrap();
    let (person, data): (String, String) = conn
        .query_row("SELECT person_id, data FROM audit WHERE event = 'sales_table_exported'", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert!(person == "m" && data.contains("a.csv") && !data.contains("nanez"), "{data}");
    shop.till.lock();
    let locked = into_file(&shop.folder().join("b.csv"));
    assert_eq!(export(&shop, &locked).await.unwrap_err().code, ProblemCode::NotUnlocked);
}

#[tokio::test(start_paused = true)]
async fn a_file_that_cannot_be_written_says_why_and_leaves_nothing_behind() {
    let shop = Shop::open().await;
    sold(&shop, luggage()).await;
    let here = |name: &str| shop.folder().join(name);
    fs::write(here("hay.csv"), "of somebody").unwrap();
    for (path, code) in [
        (here("hay.csv"), ProblemCode::FileExists),
        (here("usb").join("a.csv"), ProblemCode::FolderMissing),
        ("a.csv".into(), ProblemCode::FileNotWritten),
    ] {
        assert_eq!(export(&shop, &into_file(&path)).await.unwrap_err().code, code, "{}", path.display());
    }
    assert_eq!(fs::read_to_string(here("hay.csv")).unwrap(), "of somebody");
    assert_eq!(in_folder(&shop), ["hay.csv"]);
}

/// A device that has room for nothing stands where the file would be written.
#[cfg(target_os = "linux")]
#[tokio::test(start_paused = true)]
async fn a_full_medium_is_told_apart_and_the_till_goes_on_selling() {
    let shop = Shop::open().await;
    sold(&shop, luggage()).await;
    std::os::unix::fs::symlink("/dev/full", shop.folder().join("a.csv.partial")).unwrap();
    let path = shop.folder().join("a.csv");
    let refused = export(&shop, &into_file(&path)).await.unwrap_err();
    assert_eq!(refused.code, ProblemCode::FileNoRoom);
    assert!(in_folder(&shop).is_empty());
    sold(&shop, luggage()).await;
    assert_eq!(export(&shop, &into_file(&path)).await.unwrap().sales_count, 2, "and then it can be written");
}
