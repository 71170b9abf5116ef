//! The sandbox's own webhook: what it has left pending is closed by it.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio::net::TcpListener;
use turno_protocol::secret::Secret;
use turno_server::{
    World,
    acquirer::{HttpAcquirer, SimulatedAcquirer, Webhook, sandbox_acquirer_with},
};

use crate::harness::{Server, Site, WEBHOOK_SECRET, sale};

const SECRET: &str = "shared with the acquirer";

/// A server on this listener whose acquirer is a sandbox that tells it, at once and signed with `secret`.
async fn server_of_a_sandbox(listener: TcpListener, secret: &str) -> (Server, Arc<SimulatedAcquirer>) {
    let address = format!("http://{}/v1/acquirer/webhook", listener.local_addr().unwrap());
    let webhook = Webhook::new(&address, Secret::new(secret), Duration::ZERO).unwrap();
    let books = Arc::new(SimulatedAcquirer::default());
    let sandbox =
        sandbox_acquirer_with(Arc::clone(&books), Secret::new(SECRET), World::system(), Some(webhook));
    let at = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", at.local_addr().unwrap());
    tokio::spawn(axum::serve(at, sandbox).into_future());
    let acquirer = HttpAcquirer::new(&address, Secret::new(SECRET), World::system()).unwrap();
    let server = Site::new(Arc::new(acquirer)).start().await;
    let router = turno_server::app(server.ledger.clone(), server.site.config());
    tokio::spawn(axum::serve(listener, router).into_future());
    (server, books)
}

#[tokio::test]
async fn the_sandbox_closes_by_its_webhook_what_it_has_left_pending() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (server, books) = server_of_a_sandbox(listener, WEBHOOK_SECRET).await;
    let card = json!({"payment_method": "card", "amount": "85.02"});
    let sold = server.create("k", sale("E-1", card)).await.expect(201).text("yupy_transaction_id");
    let payment = json!({"external_payment_id": "P", "amount": "85.02", "currency": "PEN"});
    let pay = async || server.post(&format!("/v1/transactions/{sold}/payments"), "p", payment.clone()).await;
    pay().await.expect(202);
    let financial =
        async || server.get(&format!("/v1/transactions/{sold}")).await.expect(200).text("state.financial");
    while financial().await == "processing" {
        tokio::task::yield_now().await;
    }
    assert_eq!(financial().await, "paid");
    assert!(pay().await.expect(200).is_replay());
    let statement = books.statement();
    assert_eq!((statement[0].asked, statement[0].status.as_deref()), (1, Some("approved")));
    assert_eq!(server.audited("payment_approved").await.len(), 1);
}

#[test]
fn a_webhook_goes_in_the_open_to_this_machine_only() {
    let to = |address| Webhook::new(address, Secret::new(SECRET), Duration::ZERO).map(drop);
    to("http://127.0.0.1:8080/v1/acquirer/webhook").unwrap();
    to("https://yupy.example/v1/acquirer/webhook").unwrap();
    assert!(to("http://yupy.example/v1/acquirer/webhook").is_err());
}
