//! The audit for managers: seen by them alone, verified, and taken away whole.

use serde_json::Value;
use turno_protocol::{canonical, chain};
use turno_till::view::{
    Approval, AuditFault, AuditKind, AuditPageRequest, ExportAuditRequest, ProblemCode, SaleState,
    UnlockRequest,
};

use crate::support::{CASHIER_PIN, MANAGER_PIN, Shop, fare};

fn everything() -> AuditPageRequest {
    AuditPageRequest { after: None, kind: None, person_id: None, day: None, external_transaction_id: None }
}

async fn by_manager(shop: &Shop) {
    let request = UnlockRequest { person_id: "m".to_owned(), pin: MANAGER_PIN.to_owned() };
    shop.till.unlock(&request).await.unwrap();
}

fn export(shop: &Shop, pin: &str) -> ExportAuditRequest {
    ExportAuditRequest {
        path: shop.folder().join("audit.jsonl").display().to_string(),
        approval: Approval { manager_id: "m".to_owned(), pin: pin.to_owned() },
    }
}

#[tokio::test(start_paused = true)]
async fn only_a_manager_sees_the_audit() {
    let shop = Shop::open().await;
    let refused = shop.till.audit_page(&everything()).await.unwrap_err();
    assert_eq!(refused.code, ProblemCode::ManagerRequired);
    assert_eq!(shop.till.verify_audit().await.unwrap_err().code, ProblemCode::ManagerRequired);
    by_manager(&shop).await;
    let page = shop.till.audit_page(&everything()).await.unwrap();
    assert_eq!(page.items[0].number, i64::try_from(page.items.len()).unwrap(), "newest first");
    shop.till.lock();
    assert_eq!(shop.till.audit_page(&everything()).await.unwrap_err().code, ProblemCode::NotUnlocked);
}

#[tokio::test(start_paused = true)]
async fn what_a_sale_went_through_is_found_by_its_number() {
    let shop = Shop::open().await;
    let id = shop.sell(fare(1)).await.sales[0].external_transaction_id.clone();
    shop.sell(fare(2)).await;
    shop.until(&id, SaleState::Accepted).await;
    by_manager(&shop).await;
    let request = AuditPageRequest { external_transaction_id: Some(id.clone()), ..everything() };
    let page = shop.till.audit_page(&request).await.unwrap();
    let events: Vec<_> = page.items.iter().map(|row| row.event.as_str()).collect();
    assert_eq!(events, ["sale_accepted", "sale_recorded"]);
    assert_eq!(page.items[1].person.as_deref(), Some("Caja"));
    let people = AuditPageRequest { kind: Some(AuditKind::People), ..everything() };
    let page = shop.till.audit_page(&people).await.unwrap();
    assert!(page.items.iter().all(|row| row.event == "person_created") && page.items.len() == 2);
}

#[tokio::test(start_paused = true)]
async fn a_file_holds_every_row_no_secret_and_verifies_by_itself() {
    let shop = Shop::open().await;
    shop.sell(fare(1)).await;
    let wrong = shop.till.export_audit(&export(&shop, CASHIER_PIN)).await.unwrap_err();
    assert_eq!(wrong.code, ProblemCode::PinWrong);
    let exported = shop.till.export_audit(&export(&shop, MANAGER_PIN)).await.unwrap();
    let text = std::fs::read_to_string(&exported.path).unwrap();
    for secret in ["secret-credential", CASHIER_PIN, MANAGER_PIN, "argon2"] {
        assert!(!text.contains(secret), "{secret}");
    }
    let mut head = chain::Head::EMPTY;
    for line in text.lines() {
        let mut row: Value = serde_json::from_str(line).unwrap();
        let members = row.as_object_mut().unwrap();
        members.remove("number");
        let mut hash = |name: &str| chain::from_hex(members.remove(name).unwrap().as_str().unwrap()).unwrap();
        let (prev_hash, hash) = (hash("prev_hash"), hash("hash"));
        let link = chain::Link { prev_hash, hash, canonical: canonical::to_bytes(&row) };
        head = chain::verify_after(head, [link]).unwrap();
    }
    assert_eq!(i64::try_from(head.rows).unwrap(), exported.rows);
    assert!(text.lines().last().unwrap().contains("audit_exported"), "it says who took it");
    let again = shop.till.export_audit(&export(&shop, MANAGER_PIN)).await.unwrap_err();
    assert_eq!(again.code, ProblemCode::FileExists);
    by_manager(&shop).await;
    let verified = shop.till.verify_audit().await.unwrap();
    assert_eq!((verified.rows, verified.broken), (exported.rows, None));
    assert_eq!(verified.head, chain::to_hex(&head.hash));
}

#[tokio::test(start_paused = true)]
async fn a_row_that_was_changed_on_the_disk_is_named() {
    let mut shop = Shop::open().await;
    shop.sell(fare(1)).await;
    shop.till.close().await;
    let conn = rusqlite::Connection::open(shop.folder().join("till.db")).unwrap();
    conn.execute_batch("DROP TRIGGER audit_is_frozen; UPDATE audit SET at_ms = at_ms + 1 WHERE audit_id = 3")
        .unwrap();
    drop(conn);
    shop.reopen().await;
    by_manager(&shop).await;
    let verified = shop.till.verify_audit().await.unwrap();
    let broken = verified.broken.unwrap();
    assert_eq!((verified.rows, broken.number, broken.fault), (2, 3, AuditFault::Altered));
}
