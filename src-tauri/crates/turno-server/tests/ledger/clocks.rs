//! Servers whose clocks are ten minutes apart: what they decide together goes by the database's.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use turno_postgres::Database;
use turno_server::{
    Clock, Config, Entropy, PostgresLedger, PostgresOptions, World,
    acquirer::{Acquirer, Answer as AcquirerAnswer, Charge, Found, LookUp, SimulatedAcquirer},
    payment::PaymentResult,
};

use crate::client::{Client, database, furnish, sale};

struct Off(SignedDuration);

impl Clock for Off {
    fn now(&self) -> Timestamp {
        Timestamp::now() + self.0
    }
}

/// Different for each server, and never the same twice.
struct Counter(AtomicU32);

impl Entropy for Counter {
    fn fill(&self, bytes: &mut [u8]) {
        let number = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        for (byte, from) in bytes.iter_mut().zip(number.into_iter().cycle()) {
            *byte = from;
        }
    }
}

async fn servers(database: &Database, acquirer: Arc<dyn Acquirer>) -> [Client; 3] {
    let mut clients = Vec::new();
    for (number, minutes) in (0..).zip([-5, 0, 5]) {
        let entropy = Counter(AtomicU32::new(number << 24));
        let world = World::new(Off(SignedDuration::from_mins(minutes)), entropy);
        let options = PostgresOptions { world: world.clone(), ..PostgresOptions::default() };
        let ledger = PostgresLedger::open(&database.url(), options).await.unwrap();
        if number == 0 {
            furnish(&ledger).await;
        }
        let acquirer = Some(Arc::clone(&acquirer));
        let delay = SignedDuration::from_mins(1);
        let config = Config { world, acquirer, acquirer_visibility_delay: delay, ..Config::default() };
        clients.push(Client::with_config(ledger, config));
    }
    clients.try_into().unwrap_or_else(|_| unreachable!("three were made"))
}

async fn sold(till: &Client, amount: &str) -> (String, Value) {
    let mut body = sale("E-1", "12A");
    body["amount"] = amount.into();
    let id = till.create("k1", body).await.expect(201).text("/yupy_transaction_id");
    let payment =
        json!({"external_payment_id": "P-1", "amount": amount, "currency": "PEN", "method": "card"});
    (format!("/v1/transactions/{id}/payments"), payment)
}

/// Charges once told to.
struct Gate {
    started: Semaphore,
    open: Semaphore,
    charges: AtomicU32,
}

impl Acquirer for Gate {
    fn charge(&self, charge: Charge) -> AcquirerAnswer<'_, PaymentResult> {
        Box::pin(async move {
            self.charges.fetch_add(1, Ordering::SeqCst);
            self.started.add_permits(1);
            self.open.acquire().await.unwrap().forget();
            Ok(PaymentResult::Approved { amount: charge.amount })
        })
    }

    fn find<'a>(&'a self, _: LookUp<'a>) -> AcquirerAnswer<'a, Found> {
        Box::pin(async { Ok(Found::Nothing) })
    }
}

#[tokio::test]
async fn a_fast_clock_does_not_take_a_living_owner_s_payment() {
    let Some(database) = database() else { return };
    let gate =
        Arc::new(Gate { started: Semaphore::new(0), open: Semaphore::new(0), charges: AtomicU32::new(0) });
    let tills = servers(&database, gate.clone()).await;
    let (path, payment) = sold(&tills[0], "85.50").await;
    let owner = tokio::spawn({
        let (till, path, payment) = (tills[0].clone(), path.clone(), payment.clone());
        async move { till.post(&path, "p1", payment).await }
    });
    gate.started.acquire().await.unwrap().forget();
    for till in &tills {
        till.post(&path, "p1", payment.clone()).await.refused(409, "idempotency_in_progress");
        till.post(&path, "p2", payment.clone()).await.refused(409, "idempotency_in_progress");
    }
    gate.open.add_permits(1);
    owner.await.unwrap().expect(201);
    assert_eq!(gate.charges.load(Ordering::SeqCst), 1);
    for till in &tills {
        assert!(till.post(&path, "p1", payment.clone()).await.expect(200).is_replay);
    }
}

#[tokio::test]
async fn a_fast_clock_does_not_charge_again_before_the_first_charge_can_be_seen() {
    let Some(database) = database() else { return };
    let tills = servers(&database, Arc::new(SimulatedAcquirer::default())).await;
    // The first charge does not arrive, and a second one would be approved.
    let (path, payment) = sold(&tills[0], "85.04").await;
    tills[0].post(&path, "p1", payment.clone()).await.refused(503, "outcome_unknown");
    for till in &tills {
        till.post(&path, "p1", payment.clone()).await.refused(409, "idempotency_in_progress");
    }
}
