//! What must hold whatever a test does: for every answer, and for the file that it leaves behind.

use std::path::Path;

use rusqlite::Connection;
use turno_protocol::{
    chain::{Hash, Link, verify},
    code::ErrorCode,
};

use crate::harness::Answer;

pub fn check_answer(answer: &Answer) {
    let id = answer.header("x-request-id").expect("every answer has an id");
    assert!(answer.header("date").is_some(), "every answer has a date");
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    if let Some(own) = answer.body.get("request_id") {
        assert_eq!(own, id, "the id in the body is the id in the header");
    }
    if answer.status.is_client_error() || answer.status.is_server_error() {
        let error = &answer.body["error"];
        assert_eq!(error["request_id"], id, "{}", answer.body);
        assert!(!error["message"].as_str().unwrap().is_empty());
        let code =
            ErrorCode::parse(answer.code()).unwrap_or_else(|| panic!("unknown code in {}", answer.body));
        assert_eq!(error["retryable"], code.is_retryable());
        assert!(!code.needs_retry_after() || answer.header("retry-after").is_some(), "{code:?} says when");
    }
}

pub fn check_file(path: &Path) {
    let connection = Connection::open(path).unwrap();
    chains_hold(&connection);
    none(&connection, "a sale is created and audited in one commit", "
        SELECT yupy_transaction_id FROM sale
        WHERE (SELECT count(*) FROM audit
               WHERE entry ->> 'event' = 'created' AND entry ->> 'yupy_transaction_id' = sale.yupy_transaction_id) <> 1");
    none(&connection, "a voided sale has one row that says so", "
        SELECT yupy_transaction_id FROM sale
        WHERE (operational = 'voided') <>
              (SELECT count(*) FROM audit
               WHERE entry ->> 'event' = 'voided' AND entry ->> 'yupy_transaction_id' = sale.yupy_transaction_id)");
    none(&connection, "a spent question has one confirmation in the audit", "
        SELECT challenge_id FROM challenge
        WHERE (state = 'spent') <>
              (SELECT count(*) FROM audit
               WHERE entry ->> 'event' = 'duplicate_confirmed' AND entry ->> 'challenge_id' = challenge.challenge_id)");
    none(
        &connection,
        "a sale has at most one approved payment, and is then paid",
        "
        SELECT yupy_transaction_id FROM sale JOIN payment USING (yupy_transaction_id)
        WHERE state = 'approved'
        GROUP BY yupy_transaction_id HAVING count(*) > 1 OR max(financial) <> 'paid'",
    );
    none(
        &connection,
        "no key is final without its sale",
        "
        SELECT idempotency_key FROM idempotency_key
        WHERE state = 'final' AND yupy_transaction_id NOT IN (SELECT yupy_transaction_id FROM sale)",
    );
}

fn chains_hold(connection: &Connection) {
    let mut statement = connection
        .prepare("SELECT prev_hash, hash, entry FROM audit WHERE company = ?1 ORDER BY number")
        .unwrap();
    for company in ["A", "B"] {
        let rows = statement.query_map([company], |row| {
            let (prev_hash, hash): (Hash, Hash) = (row.get(0)?, row.get(1)?);
            let canonical = row.get::<_, String>(2)?.into_bytes();
            Ok(Link { prev_hash, hash, canonical })
        });
        verify(rows.unwrap().map(Result::unwrap)).unwrap();
    }
}

fn none(connection: &Connection, rule: &str, exceptions: &str) {
    let mut statement = connection.prepare(exceptions).unwrap();
    let found: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(found.is_empty(), "{rule}: {found:?}");
}
