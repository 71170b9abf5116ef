//! A ledger moves from one store to the other and goes on as if nothing had happened.

use std::{
    fs,
    io::Cursor,
    path::Path,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use turno_domain::ids::Company;
use turno_server::{
    Administration, SqliteLedger, SqliteOptions,
    audit::verify_audit,
    transfer::{Summary, TransferError},
};

use crate::client::{Client, database, furnish, open, sale};

#[tokio::test]
async fn a_ledger_goes_on_in_postgresql() {
    let Some(database) = database() else { return };
    let folder = tempfile::tempdir().unwrap();
    let old = sqlite(folder.path(), "old.db").await;
    let told = trade(&old).await;
    let export = export(&old).await;
    old.close().await;

    let new = open(&database).await;
    new.import(read(&export)).await.unwrap();
    new.close().await;
    let new = open(&database).await;
    goes_on(&new, &told).await;
    new.close().await;
}

#[tokio::test]
async fn a_ledger_goes_on_in_sqlite() {
    let Some(database) = database() else { return };
    let folder = tempfile::tempdir().unwrap();
    let old = open(&database).await;
    let told = trade(&old).await;
    let export = export(&old).await;
    old.close().await;

    let new = sqlite(folder.path(), "new.db").await;
    new.import(read(&export)).await.unwrap();
    new.close().await;
    let new = sqlite(folder.path(), "new.db").await;
    goes_on(&new, &told).await;
    new.close().await;
}

/// What a server holds that was started too early, on the empty target.
async fn a_server_that_runs_already_goes_on_with_what_comes(
    running: &impl Administration,
    importer: &impl Administration,
    export: &str,
    told: &Told,
) {
    Client::of(running.clone()).create("k1", sale("E-1", "12A")).await.refused(401, "unauthenticated");
    importer.import(read(export)).await.unwrap();
    goes_on(running, told).await;
}

#[tokio::test]
async fn an_import_counts_for_servers_that_run_already() {
    let folder = tempfile::tempdir().unwrap();
    let old = sqlite(folder.path(), "old.db").await;
    let told = trade(&old).await;
    let export = export(&old).await;
    let [running, importer] = [sqlite(folder.path(), "new.db").await, sqlite(folder.path(), "new.db").await];
    a_server_that_runs_already_goes_on_with_what_comes(&running, &importer, &export, &told).await;
    let Some(database) = database() else { return };
    let [running, importer] = [open(&database).await, open(&database).await];
    a_server_that_runs_already_goes_on_with_what_comes(&running, &importer, &export, &told).await;
}

async fn before_the_rotation(ledger: &impl Administration) {
    furnish(ledger).await;
    Client::of(ledger.clone()).create("k1", sale("E-1", "12A")).await.expect(201);
    ledger.rotate_token_secret().await.unwrap();
}

/// `later` was opened after the rotation, so what it asks is signed with a secret that `earlier` did not find.
async fn what_is_asked_later_is_confirmed_at_the_earlier(
    earlier: &impl Administration,
    later: &impl Administration,
) {
    let till = Client::of(later.clone());
    let asked = till.create("k2", sale("E-2", "12A")).await.refused(409, "possible_duplicate_transaction");
    let mut confirmed = sale("E-2", "12A");
    confirmed["duplicate_confirmation_token"] = asked.text("/error/duplicate_confirmation_token").into();
    Client::of(earlier.clone()).create("k3", confirmed).await.expect(201);
}

#[tokio::test]
async fn a_rotated_secret_counts_for_servers_that_run_already() {
    let folder = tempfile::tempdir().unwrap();
    let earlier = sqlite(folder.path(), "ledger.db").await;
    before_the_rotation(&sqlite(folder.path(), "ledger.db").await).await;
    let later = sqlite(folder.path(), "ledger.db").await;
    what_is_asked_later_is_confirmed_at_the_earlier(&earlier, &later).await;
    let Some(database) = database() else { return };
    let earlier = open(&database).await;
    before_the_rotation(&open(&database).await).await;
    let later = open(&database).await;
    what_is_asked_later_is_confirmed_at_the_earlier(&earlier, &later).await;
}

#[tokio::test]
async fn an_export_of_an_import_is_the_same_file() {
    let Some(database) = database() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (old, between) = (sqlite(folder.path(), "old.db").await, open(&database).await);
    trade(&old).await;
    let first = export(&old).await;
    between.import(read(&first)).await.unwrap();
    let second = export(&between).await;
    let new = sqlite(folder.path(), "new.db").await;
    new.import(read(&second)).await.unwrap();
    assert!(first == second && second == export(&new).await, "nothing is lost or changed on the way");
}

/// What was told under the old store and has to hold under the new one.
struct Told {
    sold: String,
    /// Open: it confirms.
    token: String,
    /// Open: it can be resolved.
    challenge: String,
    voided: String,
    paid: String,
}

async fn trade(ledger: &impl Administration) -> Told {
    furnish(ledger).await;
    let till = Client::of(ledger.clone());
    let sold = till.create("k1", sale("E-1", "12A")).await.expect(201).text("/yupy_transaction_id");
    let asked = till.create("k2", sale("E-2", "12A")).await.refused(409, "possible_duplicate_transaction");
    let other = till.create("k3", sale("E-3", "12A")).await.refused(409, "possible_duplicate_transaction");
    let voided = till.create("k4", sale("E-4", "1A")).await.expect(201).text("/yupy_transaction_id");
    let body = json!({"external_operation_id": "V-1", "reason": "se fue"});
    till.post(&format!("/v1/transactions/{voided}/void"), "v1", body).await.expect(200);
    let paid = till.create("k5", sale("E-5", "2A")).await.expect(201).text("/yupy_transaction_id");
    till.post(&format!("/v1/transactions/{paid}/payments"), "p1", payment()).await.expect(201);
    Told {
        sold,
        token: asked.text("/error/duplicate_confirmation_token"),
        challenge: other.text("/error/challenge_id"),
        voided,
        paid,
    }
}

fn payment() -> Value {
    json!({"external_payment_id": "P-1", "amount": "85.50", "currency": "PEN", "method": "card"})
}

async fn goes_on(ledger: &impl Administration, told: &Told) {
    let company = Company::parse("A").unwrap();
    let before = verify_audit(ledger, &company).await.unwrap();
    let till = Client::of(ledger.clone());

    let again = till.create("k1", sale("E-1", "12A")).await.expect(200);
    assert!(again.is_replay, "an old key replays");
    assert_eq!(again.text("/yupy_transaction_id"), told.sold);
    till.create("k1", sale("E-1", "12B")).await.refused(409, "idempotency_conflict");
    till.create("k6", sale("E-1", "14C")).await.refused(409, "external_transaction_conflict");

    let mut confirmed = sale("E-2", "12A");
    confirmed["duplicate_confirmation_token"] = told.token.as_str().into();
    till.create("k7", confirmed).await.expect(201);
    let path = format!("/v1/duplicate-challenges/{}", told.challenge);
    assert_eq!(till.get(&path).await.expect(200).text("/state"), "open");
    let decision = json!({"challenge_id": told.challenge, "decision": "same_sale", "decided_by": "Jefa"});
    till.post("/v1/duplicate-resolutions", "r1", decision).await.expect(200);

    let body = json!({"external_operation_id": "V-1", "reason": "se fue"});
    let again = till.post(&format!("/v1/transactions/{}/void", told.voided), "v1", body).await.expect(200);
    assert!(again.is_replay);
    let again =
        till.post(&format!("/v1/transactions/{}/payments", told.paid), "p1", payment()).await.expect(200);
    assert!(again.is_replay, "nobody is charged twice");

    till.create("k8", sale("E-6", "3A")).await.expect(201);
    assert_eq!(till.sales().await, ["E-1", "E-4", "E-5", "E-2", "E-6"], "new sales come after the old ones");
    let after = verify_audit(ledger, &company).await.unwrap();
    assert!(after.rows > before.rows, "the chain goes on");
}

#[tokio::test]
async fn an_export_that_is_not_whole_leaves_the_target_empty() {
    let folder = tempfile::tempdir().unwrap();
    let old = sqlite(folder.path(), "old.db").await;
    trade(&old).await;
    let whole = export(&old).await;
    let new = sqlite(folder.path(), "new.db").await;
    let database = database();
    let postgres = match &database {
        Some(database) => Some(open(database).await),
        None => None,
    };
    let lines: Vec<_> = whole.split_inclusive('\n').collect();
    let without_a_row = [&lines[..5], &lines[6..]].concat().concat();
    let damaged = [
        String::new(),
        "{}\n".to_owned(),
        whole.replace("{\"turno_export\":1}", "{\"turno_export\":2}"),
        lines[..lines.len() - 1].concat(),
        whole[..whole.len() / 2].to_owned(),
        without_a_row,
        whole.replace("85.50", "85.51"),
        whole.replace("\"amount_minor\":8550", "\"amount_minor\":8551"),
        whole.replace("\"event\\\":\\\"created", "\"event\\\":\\\"treated"),
        whole.replace("[\"void\"", "[\"avoid\""),
        format!("{whole}{whole}"),
    ];
    for export in &damaged {
        assert_ne!(*export, whole, "it is damaged");
        assert!(new.import(read(export)).await.is_err(), "{}", &export[..export.len().min(200)]);
        if let Some(postgres) = &postgres {
            assert!(postgres.import(read(export)).await.is_err(), "{}", &export[..export.len().min(200)]);
        }
    }
    // Empty as before: it takes the whole one, once.
    let taken: Summary = new.import(read(&whole)).await.unwrap();
    assert_eq!(taken.total(), u64::try_from(lines.len() - 2).unwrap());
    assert!(matches!(new.import(read(&whole)).await, Err(TransferError::NotEmpty("company"))));
    if let Some(postgres) = &postgres {
        assert_eq!(postgres.import(read(&whole)).await.unwrap(), taken);
        assert!(matches!(postgres.import(read(&whole)).await, Err(TransferError::NotEmpty("company"))));
    }
}

#[tokio::test]
async fn an_exported_file_is_its_owner_s_alone_and_never_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = sqlite(folder.path(), "ledger.db").await;
    trade(&ledger).await;
    ledger.close().await;
    let address = format!("sqlite:{}", folder.path().join("ledger.db").display());
    let file = folder.path().join("ledger.export");
    let run = || {
        let words = ["admin", "--database", &address, "export", file.to_str().unwrap()];
        std::process::Command::new(env!("CARGO_BIN_EXE_turno-server")).args(words).output().unwrap()
    };
    let done = run();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    #[cfg(unix)]
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&file).unwrap().permissions()) & 0o777,
        0o600
    );
    let before = fs::read(&file).unwrap();
    assert!(!run().status.success(), "the file is there already");
    assert_eq!(fs::read(&file).unwrap(), before);

    let target = format!("sqlite:{}", folder.path().join("target.db").display());
    let words = ["admin", "--database", &target, "import", file.to_str().unwrap()];
    let done = std::process::Command::new(env!("CARGO_BIN_EXE_turno-server")).args(words).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(String::from_utf8_lossy(&done.stdout).ends_with("rows were taken over\n"));
}

async fn sqlite(folder: &Path, name: &str) -> SqliteLedger {
    SqliteLedger::open(&folder.join(name), SqliteOptions::default()).await.unwrap()
}

/// A file in memory that outlives its writer.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

async fn export(ledger: &impl Administration) -> String {
    let memory = Memory::default();
    let summary = ledger.export(Box::new(memory.clone())).await.unwrap();
    assert!(summary.rows.values().all(|count| *count > 0));
    String::from_utf8(memory.0.lock().unwrap().clone()).unwrap()
}

fn read(export: &str) -> Box<Cursor<Vec<u8>>> {
    Box::new(Cursor::new(export.as_bytes().to_vec()))
}
