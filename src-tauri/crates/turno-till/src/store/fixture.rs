//! A small shop in memory, for the tests of single modules.

use rusqlite::{Connection, params};

use super::{MIGRATIONS, outbox, requests};
use crate::outbox::{Doubt, QueueReason, State};

/// An empty database of the current schema.
pub fn in_memory() -> Connection {
    let conn = Connection::open_in_memory().unwrap();
    conn.pragma_update(None, "foreign_keys", true).unwrap();
    for migration in &MIGRATIONS {
        conn.execute_batch(migration.sql).unwrap();
    }
    conn
}

/// Sales 1, 2, … of one open shift, each with its request and an outbox entry in the given state.
pub fn shop(states: &[State]) -> Connection {
    let conn = in_memory();
    conn.execute_batch(
        "INSERT INTO people (person_id, name, role, pin_hash)
             VALUES ('c', 'Caja', 'cashier', ''), ('m', 'Encargado', 'manager', '');
         INSERT INTO shifts (shift_number, opened_by, opened_at_ms, float_minor) VALUES (1, 'c', 0, 0);
         INSERT INTO checkouts (draft_id, charge_digest, shift_number, seller, recorded_at_ms, payment_method,
                                total_minor, rounding_minor, received_minor)
             VALUES ('d', zeroblob(32), 1, 'c', 0, 'cash', 600, 0, 600);",
    )
    .unwrap();
    for (sequence, state) in (1_i64..).zip(states) {
        let id = external_id(sequence);
        conn.execute(
            "INSERT INTO sales (sequence, external_transaction_id, draft_id, shift_number, seller, occurred_at_ms,
                                amount_minor, currency, quantity, description, offer_id)
             VALUES (?1, ?2, 'd', 1, 'c', 0, 200, 'PEN', 1, 'x', 'o')",
            params![sequence, id],
        )
        .unwrap();
        let kind = requests::RequestKind::Create;
        let body = format!(r#"{{"external_transaction_id":"{id}","amount":"2.00"}}"#);
        let key = format!("key-{sequence}");
        let request = requests::NewRequest {
            kind,
            revision: 0,
            idempotency_key: &key,
            path: "/v1/transactions",
            body: body.as_bytes(),
        };
        let request_id = requests::freeze(&conn, sequence, &request, 0).unwrap();
        let fresh =
            State::Queued { attempts: 0, due: 0, doubt: Doubt::None, reason: QueueReason::NotTriedYet };
        outbox::insert(&conn, &outbox::Entry { sequence, request_id, state: fresh }, 0).unwrap();
        outbox::update(&conn, &outbox::Entry { sequence, request_id, state: state.clone() }, None, 7)
            .unwrap();
    }
    conn
}

pub fn external_id(sequence: i64) -> String {
    format!("D03-K7M-S1-{sequence:04}")
}
