//! Every operation with bodies that once were good.

use std::cell::Cell;

use proptest::prelude::*;

use crate::{
    bodies::{ENROLMENT, EVENT, PAYMENT, RESOLUTION, SALE, VOID},
    config,
    mutation::{edited, edits, odd, replaced},
    server::{Server, Visit},
};

const OPERATIONS: [(&str, &str); 7] = [
    ("/v1/transactions", SALE),
    ("/v1/transactions", r#"{"external_transaction_id":"E","amount":"1"}"#),
    ("/v1/transactions/x/void", VOID),
    ("/v1/transactions/x/payments", PAYMENT),
    ("/v1/duplicate-resolutions", RESOLUTION),
    ("/v1/devices/enroll", ENROLMENT),
    ("/v1/acquirer/webhook", EVENT),
];

#[test]
fn no_body_is_the_servers_failure_and_none_sells_twice() {
    let server = Server::new();
    let (visit, number) = (server.visit(), Cell::new(0));
    let key = || {
        number.set(number.get() + 1);
        format!("k{}", number.get())
    };
    let operation = || prop::sample::select(&OPERATIONS[..]);
    proptest!(config(1_000), |((path, body) in operation(), edits in edits())| {
        send_twice(&visit, path, &key(), &edited(body.as_bytes(), &edits))?;
    });
    proptest!(config(1_000), |((path, body) in operation(), odd in odd())| {
        send_twice(&visit, path, &key(), &replaced(body, &odd))?;
    });
}

fn send_twice(visit: &Visit<'_>, path: &str, key: &str, body: &[u8]) -> Result<(), TestCaseError> {
    let first = visit.post_bytes(path, Some(key), body.to_vec());
    prop_assert!(first.status < 500, "{} {:#}", first.status, first.body);
    prop_assert!(first.status < 400 || !first.text("/error/code").is_empty(), "{:#}", first.body);
    let second = visit.post_bytes(path, Some(key), body.to_vec());
    if first.status == 201 {
        prop_assert_eq!((second.status, second.replayed), (200, Some(true)));
        prop_assert_eq!(second.text("/yupy_transaction_id"), first.text("/yupy_transaction_id"));
    } else {
        prop_assert!(second.status == first.status, "{} and then {}", first.status, second.status);
    }
    Ok(())
}
