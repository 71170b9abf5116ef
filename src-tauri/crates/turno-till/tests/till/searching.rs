//! Sales are found among all that were made here, whatever way they came in.

use std::time::Duration;

use rusqlite::Connection;
use turno_till::Till;
use turno_till::store::{FILE_NAME, sale_terms};
use turno_till::view::{
    ExportUnsentRequest, ImportUnsentRequest, Line, SaleState, SalesPeriod, SalesStanding,
    SearchSalesRequest, Tender, TenderMethod, VoidSaleRequest, WalletProvider,
};

use crate::support::{MANAGER_PIN, Shop, charge, fare, luggage, recorded, seat};

fn about(text: &str) -> SearchSalesRequest {
    SearchSalesRequest {
        text: text.to_owned(),
        standing: None,
        tender: None,
        period: SalesPeriod::Always,
        after: None,
    }
}

async fn found(till: &Till, request: &SearchSalesRequest) -> Vec<String> {
    let page = till.search_sales(request).await.unwrap();
    page.items.into_iter().map(|sale| sale.external_transaction_id).collect()
}

fn named(line: Line, name: &str) -> Line {
    Line { buyer_name: Some(name.to_owned()), ..line }
}

async fn sold(shop: &Shop, line: Line) -> String {
    shop.sell(line).await.sales[0].external_transaction_id.clone()
}

#[tokio::test(start_paused = true)]
async fn a_sale_is_found_the_moment_it_is_recorded_by_all_that_is_known_of_it() {
    let shop = Shop::open().await;
    let jose = sold(&shop, named(seat("12A"), "José Ñáñez")).await;
    let maria = sold(&shop, named(seat("1A"), "María Ramos")).await;
    let bag = sold(&shop, luggage()).await;
    for (text, expected) in [
        ("", vec![&bag, &maria, &jose]),
        ("nanez", vec![&jose]),
        ("12a", vec![&jose]),
        ("110", vec![&maria]),
        ("S/ 9.96", vec![&bag]),
        ("arequipa", vec![&maria, &jose]),
        ("30/11 arequipa jose", vec![&jose]),
        (maria.as_str(), vec![&maria]),
        ("S1-2", vec![&maria]),
        ("ayer", vec![]),
    ] {
        assert_eq!(found(&shop.till, &about(text)).await.iter().collect::<Vec<_>>(), expected, "{text:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn filters_say_how_a_sale_stands_how_it_was_paid_and_when() {
    let shop = Shop::open().await;
    let cash = sold(&shop, seat("12A")).await;
    shop.until(&cash, SaleState::Accepted).await;
    let mut request = charge(&shop.till.open_draft().draft_id, vec![seat("12B"), fare(3)]);
    request.tenders = vec![
        Tender::Wallet {
            provider: WalletProvider::Yape,
            operation_number: "123456".to_owned(),
            amount: Some("85.50".to_owned()),
        },
        Tender::Cash { received: None },
    ];
    let split = recorded(shop.till.charge(&request).await.unwrap());
    let [by_wallet, in_cash] = [0, 1].map(|at| split.sales[at].external_transaction_id.clone());
    shop.until(&in_cash, SaleState::Accepted).await;
    shop.until(&by_wallet, SaleState::Accepted).await;
    shop.yupy.down(turno_till::transport::Failure::NoNetwork);
    let waiting = sold(&shop, luggage()).await;
    let paid = |tender| SearchSalesRequest { tender: Some(tender), ..about("") };
    assert_eq!(found(&shop.till, &paid(TenderMethod::Wallet)).await, std::slice::from_ref(&by_wallet));
    assert_eq!(
        found(&shop.till, &paid(TenderMethod::Cash)).await,
        [waiting.clone(), in_cash.clone(), cash.clone()]
    );
    let stands = |standing| SearchSalesRequest { standing: Some(standing), ..about("") };
    assert_eq!(found(&shop.till, &stands(SalesStanding::Waiting)).await, std::slice::from_ref(&waiting));
    assert_eq!(
        found(&shop.till, &stands(SalesStanding::Confirmed)).await,
        [in_cash, by_wallet, cash.clone()]
    );
    let void = VoidSaleRequest {
        external_transaction_id: cash.clone(),
        shown_returned_minor: 8_550,
        manager_id: "m".to_owned(),
        pin: MANAGER_PIN.to_owned(),
        reason: "se equivocó".to_owned(),
    };
    shop.till.void_sale(&void).await.unwrap();
    assert_eq!(found(&shop.till, &stands(SalesStanding::Voided)).await, std::slice::from_ref(&cash));
    assert!(!found(&shop.till, &stands(SalesStanding::Confirmed)).await.contains(&cash));
    let within = |period| SearchSalesRequest { period, ..about("") };
    let days = |from: &str, to: &str| within(SalesPeriod::Days { from: from.to_owned(), to: to.to_owned() });
    assert_eq!(found(&shop.till, &within(SalesPeriod::ThisShift)).await.len(), 4);
    assert_eq!(found(&shop.till, &days("2026-11-30", "2026-11-30")).await.len(), 4);
    assert!(found(&shop.till, &days("2026-12-01", "2026-12-31")).await.is_empty());
    assert!(found(&shop.till, &days("mañana", "2026-12-31")).await.is_empty());
}

fn indexed_blocks(shop: &Shop) -> i64 {
    let conn = Connection::open(shop.folder().join(FILE_NAME)).unwrap();
    sale_terms::last_block(&conn).unwrap() + 1
}

/// Gives the till so many numbers away, as years of sales would.
async fn be_old(shop: &mut Shop, last_sequence: i64) {
    shop.till.close().await;
    let conn = Connection::open(shop.folder().join(FILE_NAME)).unwrap();
    conn.execute("UPDATE installation SET last_sequence = ?1", [last_sequence]).unwrap();
    drop(conn);
    shop.crash().await;
}

/// The index is written beside the selling.
async fn until_indexed(shop: &Shop, blocks: i64) {
    for _ in 0..200 {
        if indexed_blocks(shop) == blocks {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{} blocks are indexed, not {blocks}", indexed_blocks(shop));
}

#[tokio::test(start_paused = true)]
async fn an_upgraded_till_indexes_what_it_has_and_finds_it_before_and_after() {
    let mut shop = Shop::open().await;
    let old = sold(&shop, named(seat("12A"), "José Ñáñez")).await;
    be_old(&mut shop, 3 * sale_terms::BLOCK - 2).await;
    until_indexed(&shop, 2).await;
    let newest = sold(&shop, named(seat("12B"), "José Ramos")).await;
    until_indexed(&shop, 3).await;
    assert_eq!(found(&shop.till, &about("jose")).await, [newest.clone(), old.clone()]);
    // As before the upgrade: no index, and the same is found.
    let conn = Connection::open(shop.folder().join(FILE_NAME)).unwrap();
    conn.execute_batch("DELETE FROM sale_terms").unwrap();
    assert_eq!(found(&shop.till, &about("jose")).await, [newest, old]);
    drop(conn);
    shop.crash().await;
    until_indexed(&shop, 3).await;
}

#[tokio::test(start_paused = true)]
async fn sales_that_come_back_from_a_backup_and_the_journal_are_found() {
    let mut shop = Shop::open().await;
    let first = sold(&shop, named(seat("12A"), "José Ñáñez")).await;
    be_old(&mut shop, 2 * sale_terms::BLOCK - 1).await;
    until_indexed(&shop, 2).await;
    shop.till.back_up().await.unwrap();
    let after = sold(&shop, named(seat("12B"), "José Ramos")).await;
    // The journal is written beside the selling.
    tokio::time::sleep(Duration::from_secs(60)).await;
    shop.till.close().await;
    for part in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(shop.folder().join(format!("{FILE_NAME}{part}")));
    }
    shop.crash().await;
    assert_eq!(found(&shop.till, &about("jose")).await, [after, first]);
}

#[tokio::test(start_paused = true)]
async fn a_sale_of_another_till_is_found_by_its_own_number() {
    let seller = Shop::open().await;
    seller.yupy.down(turno_till::transport::Failure::NoNetwork);
    let ids = [sold(&seller, named(seat("12A"), "José Ñáñez")).await, sold(&seller, luggage()).await];
    let (path, passphrase) =
        (seller.folder().join("a.ventas").display().to_string(), "tres buses azules".to_owned());
    let export = ExportUnsentRequest { path: path.clone(), passphrase: passphrase.clone() };
    seller.till.export_unsent(&export).await.unwrap();
    let mut other = Shop::open().await;
    be_old(&mut other, sale_terms::BLOCK - 2).await;
    let conn = Connection::open(other.folder().join(FILE_NAME)).unwrap();
    conn.execute_batch("DELETE FROM sale_terms").unwrap();
    other.till.import_unsent(&ImportUnsentRequest { path, passphrase }).await.unwrap();
    until_indexed(&other, 1).await;
    assert_eq!(found(&other.till, &about(&ids[0])).await, [ids[0].clone()]);
    assert_eq!(found(&other.till, &about("S1-2")).await, [ids[1].clone()]);
    assert_eq!(found(&other.till, &about("jose 12a")).await, [ids[0].clone()]);
    assert!(found(&other.till, &about("255")).await.is_empty(), "the number it has here is nobody's word");
}
