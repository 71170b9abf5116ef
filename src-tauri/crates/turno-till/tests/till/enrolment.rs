//! Setting a till up: from an empty folder to people who can unlock it, and what is never in its database.

use turno_till::view::{ConnectRequest, CreateManagerRequest, Phase, ProblemCode};

use crate::support::{MANAGER_PIN, Shop};

#[tokio::test]
async fn a_new_till_goes_from_welcome_to_its_first_manager_to_locked() {
    let shop = Shop::bare().await;
    assert_eq!(shop.till.phase().await.unwrap(), Phase::Welcome);
    let connect =
        ConnectRequest { address: "http://yupy.test".to_owned(), enrolment_code: " C-1 ".to_owned() };
    shop.till.connect(&connect).await.unwrap();
    assert_eq!(shop.till.phase().await.unwrap(), Phase::FirstManager);
    let manager =
        |pin: &str| CreateManagerRequest { name: " Jefa  de ruta ".to_owned(), pin: pin.to_owned() };
    assert_eq!(shop.till.create_manager(&manager("123456")).await.unwrap_err().code, ProblemCode::PinWeak);
    let right = manager(MANAGER_PIN);
    let (one, other) = tokio::join!(shop.till.create_manager(&right), shop.till.create_manager(&right));
    assert!(one.is_ok() != other.is_ok(), "pressed twice, made once: {one:?} {other:?}");
    let Phase::Locked { people, .. } = shop.till.phase().await.unwrap() else { panic!("not locked") };
    assert_eq!(people[0].name, "Jefa de ruta");
    assert_eq!(
        shop.till.create_manager(&manager(MANAGER_PIN)).await.unwrap_err().code,
        ProblemCode::NotAllowedNow
    );
}

#[tokio::test]
async fn secrets_are_not_in_the_database() {
    let shop = Shop::open().await;
    shop.till.close().await;
    let bytes = std::fs::read(shop.folder().join("till.db")).unwrap();
    let contains = |needle: &str| bytes.windows(needle.len()).any(|window| window == needle.as_bytes());
    assert!(contains("Transportes del Sur"), "the search finds what is there");
    for secret in ["secret-credential", MANAGER_PIN] {
        assert!(!contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn a_database_of_a_newer_program_is_refused_and_left_alone() {
    let shop = Shop::open().await;
    shop.till.close().await;
    let path = shop.folder().join("till.db");
    let file = rusqlite::Connection::open(&path).unwrap();
    file.pragma_update(None, "user_version", 999).unwrap();
    drop(file);
    let options = turno_till::Options::new(shop.folder().to_owned(), shop.folder().join("secrets"));
    let Err(problem) = turno_till::Till::open(options).await else { panic!("opened") };
    assert_eq!(problem.code, ProblemCode::DatabaseNewer);
    let version: i64 = rusqlite::Connection::open(&path)
        .unwrap()
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .unwrap();
    assert_eq!(version, 999);
}
