//! Unsent sales that leave a till in a file: what was frozen travels, and however many tills send it, YUPY has it once.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use rusqlite::Connection;
use turno_till::store::FILE_NAME;
use turno_till::view::{
    Charge, ConnectRequest, Decide, Decision, ExportUnsentRequest, ImportUnsentRequest, MoneyHandled,
    OpenShiftRequest, Phase, Problem, ProblemCode, Role, SaleState, ShiftReportRequest, Tender,
    UnsentExported, UnsentImported, VoidSaleRequest, WalletProvider,
};

use crate::support::{CASHIER_PIN, MANAGER_PIN, MORNING, charge, luggage, recorded, unlock};
use crate::world::{Folder, World, all_accepted};

const PASSPHRASE: &str = "tres buses azules";

/// Another till of the company, D04, with people of its own.
async fn second_till(world: &World, code: &str) -> Folder {
    let folder = world.open(&format!("till-of-{code}"), &world.home, MORNING + 500).await;
    let (address, enrolment_code) = ("http://yupy.test".to_owned(), code.to_owned());
    folder.till.connect(&ConnectRequest { address, enrolment_code }).await.unwrap();
    folder.till.add_person("c", "Ventanilla", Role::Cashier, CASHIER_PIN).await.unwrap();
    folder.till.add_person("m", "Jefe", Role::Manager, MANAGER_PIN).await.unwrap();
    unlock(&folder.till).await;
    folder.till.open_shift(&OpenShiftRequest { float: "100".to_owned() }).await.unwrap();
    folder
}

fn place(world: &World) -> PathBuf {
    world.path("stick.ventas")
}

async fn export_to(folder: &Folder, path: &Path, passphrase: &str) -> Result<UnsentExported, Problem> {
    let (path, passphrase) = (path.display().to_string(), passphrase.to_owned());
    folder.till.export_unsent(&ExportUnsentRequest { path, passphrase }).await
}

async fn import_from(folder: &Folder, path: &Path, passphrase: &str) -> Result<UnsentImported, Problem> {
    let (path, passphrase) = (path.display().to_string(), passphrase.to_owned());
    folder.till.import_unsent(&ImportUnsentRequest { path, passphrase }).await
}

/// Three sales that could not be sent, in a file.
async fn exported(world: &World) -> (Folder, Vec<String>) {
    let first = world.new_till().await;
    first.wire.cut();
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(first.sell().await);
    }
    assert_eq!(export_to(&first, &place(world), PASSPHRASE).await.unwrap().sales_count, 3);
    (first, ids)
}

fn column(folder: &Folder, sql: &str) -> Vec<String> {
    let conn = Connection::open(folder.path.join(FILE_NAME)).unwrap();
    let mut statement = conn.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

fn frozen(folder: &Folder) -> Vec<String> {
    column(folder, "SELECT idempotency_key || ' ' || path || ' ' || body FROM requests ORDER BY request_id")
}

fn events(folder: &Folder, like: &str) -> Vec<String> {
    column(folder, &format!("SELECT event FROM audit WHERE event LIKE '{like}' ORDER BY audit_id"))
}

#[tokio::test(start_paused = true)]
async fn a_sale_travels_as_it_was_frozen_and_whichever_till_sends_it_the_other_finds_it_there() {
    for importer_sends_first in [true, false] {
        let world = World::new();
        let (first, ids) = exported(&world).await;
        let second = second_till(&world, "SECOND").await;
        second.wire.cut();
        let report = import_from(&second, &place(&world), PASSPHRASE).await.unwrap();
        assert_eq!((report.imported_count, report.already_here_count), (3, 0));
        assert_eq!(report.device_id, "D03");
        assert_eq!(frozen(&second), frozen(&first), "the same keys, paths and bytes");
        let (one, other) = if importer_sends_first { (&second, &first) } else { (&first, &second) };
        one.wire.join();
        one.till.send_now().await.unwrap();
        assert!(all_accepted(&one.until_settled().await));
        other.wire.join();
        other.till.send_now().await.unwrap();
        assert!(all_accepted(&other.until_settled().await));
        let books: Vec<String> = world.books.sales.lock().unwrap().keys().cloned().collect();
        assert_eq!(books, ids, "once each");
        assert_eq!(one.wire.sales().len(), 3);
        assert_eq!(other.wire.sales().len(), 0, "it was looked up and not sent again");
    }
}

#[tokio::test(start_paused = true)]
async fn an_imported_sale_shows_where_it_was_sold_and_counts_for_no_shift_here() {
    let world = World::new();
    let (first, ids) = exported(&world).await;
    let second = second_till(&world, "SECOND").await;
    second.wire.cut();
    let own = second.sell().await;
    import_from(&second, &place(&world), PASSPHRASE).await.unwrap();
    let pending = second.till.pending(None).await.unwrap().items;
    assert_eq!(pending.len(), 4);
    for sale in pending {
        let elsewhere = sale.origin_device_id.as_deref();
        if sale.external_transaction_id == own {
            assert_eq!((elsewhere, sale.seller.as_str()), (None, "Ventanilla"));
        } else {
            assert!(ids.contains(&sale.external_transaction_id));
            assert_eq!(
                (elsewhere, sale.seller.as_str(), sale.shift_id.as_str()),
                (Some("D03"), "Caja", "S1")
            );
        }
    }
    let Phase::Selling { shift, .. } = second.till.phase().await.unwrap() else { panic!("selling") };
    assert_eq!((shift.sales_count, shift.sold.minor), (1, 200), "only what was sold here");
    assert_eq!(events(&first, "sales_exported").len(), 1);
    assert_eq!(
        events(&second, "sale%_imported"),
        ["sale_imported", "sale_imported", "sale_imported", "sales_imported"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_file_may_be_imported_twice_or_where_it_came_from_and_nothing_doubles() {
    let world = World::new();
    let (first, _) = exported(&world).await;
    let second = second_till(&world, "SECOND").await;
    second.wire.cut();
    import_from(&second, &place(&world), PASSPHRASE).await.unwrap();
    for till in [&second, &first] {
        let again = import_from(till, &place(&world), PASSPHRASE).await.unwrap();
        assert_eq!((again.imported_count, again.already_here_count), (0, 3));
        assert_eq!(till.sales().await.len(), 3);
    }
    // What came in a file goes out in one as well, with its first origin.
    let further = world.path("further.ventas");
    assert_eq!(export_to(&second, &further, PASSPHRASE).await.unwrap().sales_count, 3);
    let third = second_till(&world, "THIRD").await;
    assert_eq!(import_from(&third, &further, PASSPHRASE).await.unwrap().imported_count, 3);
    assert!(third.sales().await.iter().all(|sale| sale.origin_device_id.as_deref() == Some("D03")));
}

#[tokio::test(start_paused = true)]
async fn a_question_about_an_imported_sale_is_decided_where_it_is_asked_and_the_first_till_finds_the_answer()
{
    let world = World::new();
    let (first, ids) = exported(&world).await;
    let second = second_till(&world, "SECOND").await;
    world.books.asks_once.store(true, Ordering::SeqCst);
    import_from(&second, &place(&world), PASSPHRASE).await.unwrap();
    second.until_settled().await;
    let review = second.till.reviews().await.unwrap().remove(0);
    assert_eq!(review.own.device_id.as_deref(), Some("D03"), "the till that sold it");
    assert_eq!(review.own.seller.as_deref(), Some("Caja"));
    let decide = Decide {
        external_transaction_id: review.external_transaction_id,
        challenge_id: review.challenge_id,
        decision: Decision::DifferentSale,
        manager_id: "m".to_owned(),
        pin: MANAGER_PIN.to_owned(),
        reason: "dos pasajeros".to_owned(),
        money: None,
    };
    second.till.decide(&decide).await.unwrap();
    assert!(all_accepted(&second.until_settled().await));
    first.wire.join();
    first.till.send_now().await.unwrap();
    assert!(all_accepted(&first.until_settled().await));
    assert_eq!(world.books.sales.lock().unwrap().len(), ids.len());
}

#[tokio::test(start_paused = true)]
async fn of_an_imported_sale_only_what_was_paid_in_cash_comes_out_of_the_drawer() {
    let yape = |amount: Option<&str>| Tender::Wallet {
        provider: WalletProvider::Yape,
        operation_number: "00123456".to_owned(),
        amount: amount.map(str::to_owned),
    };
    let cash = || Tender::Cash { received: None };
    for (tenders, given_back) in
        [(vec![cash()], 990), (vec![yape(None)], 0), (vec![yape(Some("5")), cash()], 490)]
    {
        let world = World::new();
        let first = world.new_till().await;
        first.wire.cut();
        let draft_id = first.till.open_draft().draft_id;
        recorded(first.till.charge(&Charge { tenders, ..charge(&draft_id, vec![luggage()]) }).await.unwrap());
        export_to(&first, &place(&world), PASSPHRASE).await.unwrap();
        let second = second_till(&world, "SECOND").await;
        world.books.asks_once.store(true, Ordering::SeqCst);
        import_from(&second, &place(&world), PASSPHRASE).await.unwrap();
        second.until_settled().await;
        let review = second.till.reviews().await.unwrap().remove(0);
        let decide = Decide {
            external_transaction_id: review.external_transaction_id,
            challenge_id: review.challenge_id,
            decision: Decision::SameSale,
            manager_id: "m".to_owned(),
            pin: MANAGER_PIN.to_owned(),
            reason: "se vendió dos veces".to_owned(),
            money: Some(MoneyHandled::Refunded),
        };
        second.till.decide(&decide).await.unwrap();
        let drawer = second.till.shift_report(&ShiftReportRequest { shift_id: None }).await.unwrap().drawer;
        assert_eq!((drawer.refunds.minor, drawer.expected.minor), (given_back, 10_000 - given_back));
    }
}

#[tokio::test(start_paused = true)]
async fn comparing_with_yupy_does_not_take_an_imported_sale_for_one_that_was_lost() {
    let world = World::new();
    let (_first, _) = exported(&world).await;
    let second = second_till(&world, "SECOND").await;
    import_from(&second, &place(&world), PASSPHRASE).await.unwrap();
    assert!(all_accepted(&second.until_settled().await));
    let sent = second.wire.sales().len();
    let report = second.till.reconcile().await.unwrap();
    assert_eq!(report.findings_count, 0, "{report:?}");
    second.until_settled().await;
    assert_eq!(second.wire.sales().len(), sent, "nothing was sent again");
}

#[tokio::test(start_paused = true)]
async fn a_file_that_is_not_whole_or_not_ours_is_refused_with_its_reason_and_changes_nothing() {
    let world = World::new();
    let (_first, _) = exported(&world).await;
    let good = fs::read(place(&world)).unwrap();
    let (second, stranger) = (second_till(&world, "SECOND").await, second_till(&world, "OTHER").await);
    let changed = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        bytes
    };
    let newer = [b"turno unsent sales 7\n".as_slice(), &good[21..]].concat();
    let cases: [(&str, Vec<u8>, ProblemCode); 6] = [
        ("cut", good[..good.len() - 20].to_vec(), ProblemCode::FileDamaged),
        ("cut in its head", good[..30].to_vec(), ProblemCode::FileForeign),
        ("changed", changed(good.len() - 1), ProblemCode::FileDamaged),
        ("changed at its begin", changed(100), ProblemCode::FileDamaged),
        ("newer", newer, ProblemCode::FileNewer),
        ("foreign", b"%PDF-1.7".to_vec(), ProblemCode::FileForeign),
    ];
    let before = column(&second, "SELECT event FROM audit");
    for (name, bytes, expected) in cases {
        let path = world.path("bad.ventas");
        fs::write(&path, bytes).unwrap();
        assert_eq!(import_from(&second, &path, PASSPHRASE).await.unwrap_err().code, expected, "{name}");
    }
    let refusals = [
        import_from(&second, &place(&world), "cuatro buses rojos").await.unwrap_err(),
        import_from(&second, &world.path("nothing.ventas"), PASSPHRASE).await.unwrap_err(),
        import_from(&second, Path::new("stick.ventas"), PASSPHRASE).await.unwrap_err(),
        import_from(&stranger, &place(&world), PASSPHRASE).await.unwrap_err(),
    ];
    let codes = refusals.map(|problem| problem.code);
    let not_read = ProblemCode::FileNotRead;
    assert_eq!(codes, [ProblemCode::PassphraseWrong, not_read, not_read, ProblemCode::OtherCompany]);
    for till in [&second, &stranger] {
        assert_eq!(till.sales().await.len(), 0);
    }
    assert_eq!(column(&second, "SELECT event FROM audit"), before);
}

#[tokio::test(start_paused = true)]
async fn an_export_that_cannot_be_written_whole_leaves_no_file() {
    let world = World::new();
    let till = world.new_till().await;
    till.wire.cut();
    let path = place(&world);
    assert_eq!(export_to(&till, &path, PASSPHRASE).await.unwrap_err().code, ProblemCode::NothingToExport);
    till.sell().await;
    for short in ["", "corta", "         corta     "] {
        assert_eq!(export_to(&till, &path, short).await.unwrap_err().code, ProblemCode::PassphraseShort);
    }
    for nowhere in [world.path("no-folder").join("x.ventas"), PathBuf::from("x.ventas")] {
        let problem = export_to(&till, &nowhere, PASSPHRASE).await.unwrap_err();
        assert_eq!(problem.code, ProblemCode::FileNotWritten);
    }
    fs::write(&path, "the list of yesterday").unwrap();
    assert_eq!(export_to(&till, &path, PASSPHRASE).await.unwrap_err().code, ProblemCode::FileExists);
    assert_eq!(fs::read(&path).unwrap(), b"the list of yesterday");
    fs::remove_file(&path).unwrap();
    assert!(!world.path("stick.ventas.partial").exists());
    export_to(&till, &path, PASSPHRASE).await.unwrap();
    till.till.lock();
    assert_eq!(export_to(&till, &path, PASSPHRASE).await.unwrap_err().code, ProblemCode::NotUnlocked);
}

#[tokio::test(start_paused = true)]
async fn what_was_imported_is_in_a_copy_of_the_database_when_the_import_is_answered() {
    let world = World::new();
    let (_first, ids) = exported(&world).await;
    let second = second_till(&world, "SECOND").await;
    second.clock.forward(60_000);
    import_from(&second, &place(&world), PASSPHRASE).await.unwrap();
    let newest = turno_till::backup::all(&second.path.join(turno_till::backup::FOLDER)).pop().unwrap();
    let copy = Connection::open(newest).unwrap();
    let count: u32 = copy.query_row("SELECT count(*) FROM imported_sales", [], |row| row.get(0)).unwrap();
    assert_eq!(count as usize, ids.len());
    assert!(second.sales().await.iter().all(|sale| sale.state != SaleState::NeedsAttention));
}

#[tokio::test(start_paused = true)]
async fn a_sale_in_a_file_is_voided_only_where_it_was_sold_and_only_once_yupy_has_it() {
    let world = World::new();
    let (first, ids) = exported(&world).await;
    let second = second_till(&world, "SECOND").await;
    second.wire.cut();
    import_from(&second, &place(&world), PASSPHRASE).await.unwrap();
    for till in [&first, &second] {
        let problem = till.till.void_sale(&void(&ids[0])).await.unwrap_err();
        assert_eq!(problem.code, ProblemCode::VoidNotPossible, "the other till would send it all the same");
    }
    for till in [&first, &second] {
        till.wire.join();
        till.till.send_now().await.unwrap();
        assert!(all_accepted(&till.until_settled().await));
    }
    let elsewhere = second.till.void_sale(&void(&ids[0])).await.unwrap_err();
    assert_eq!(elsewhere.code, ProblemCode::VoidNotPossible, "its money is in another drawer");
    first.till.void_sale(&void(&ids[0])).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_sale_that_was_voided_is_not_taken_along() {
    let world = World::new();
    let till = world.new_till().await;
    till.wire.cut();
    let (voided, kept) = (till.sell().await, till.sell().await);
    till.till.void_sale(&void(&voided)).await.unwrap();
    assert_eq!(export_to(&till, &place(&world), PASSPHRASE).await.unwrap().sales_count, 1);
    let second = second_till(&world, "SECOND").await;
    import_from(&second, &place(&world), PASSPHRASE).await.unwrap();
    assert_eq!(second.sales().await[0].external_transaction_id, kept);
}

fn void(id: &str) -> VoidSaleRequest {
    VoidSaleRequest {
        external_transaction_id: id.to_owned(),
        shown_returned_minor: 200,
        manager_id: "m".to_owned(),
        pin: MANAGER_PIN.to_owned(),
        reason: "viaje cancelado".to_owned(),
    }
}
