//! Three servers on one database, and many tills that say the same thing to all of them at once.

use std::collections::BTreeMap;

use serde_json::Value;
use tokio::task::JoinSet;
use turno_domain::ids::Company;
use turno_postgres::Database;
use turno_server::{PostgresLedger, audit::verify_audit};

use crate::client::{Answer, Client, database, furnish, open, sale};

const SERVERS: usize = 3;
const CLIENTS: usize = 64;

struct Replicas {
    ledgers: Vec<PostgresLedger>,
    tills: Vec<Client>,
}

/// All start at once on an empty database: one of them makes the schema and the secrets.
async fn start(database: &Database) -> Replicas {
    let (one, two, three) = tokio::join!(open(database), open(database), open(database));
    let ledgers: Vec<_> = vec![one, two, three];
    assert_eq!(ledgers.len(), SERVERS);
    furnish(&ledgers[0]).await;
    Replicas { tills: ledgers.iter().map(|ledger| Client::of(ledger.clone())).collect(), ledgers }
}

impl Replicas {
    /// What each client is answered, all at the same time.
    async fn all(&self, request: impl Fn(usize) -> (String, Value)) -> Vec<Answer> {
        let mut running = JoinSet::new();
        for client in 0..CLIENTS {
            let till = self.tills[client % SERVERS].clone();
            let (key, body) = request(client);
            running.spawn(async move { till.create(&key, body).await });
        }
        running.join_all().await
    }

    async fn chain_holds(&self) {
        verify_audit(&self.ledgers[1], &Company::parse("A").unwrap()).await.unwrap();
    }
}

fn statuses(answers: &[Answer]) -> BTreeMap<(u16, &str), usize> {
    let mut counts = BTreeMap::new();
    for answer in answers {
        *counts.entry((answer.status, answer.code())).or_default() += 1;
    }
    counts
}

#[tokio::test(flavor = "multi_thread")]
async fn one_key_thrown_at_three_servers_makes_one_sale() {
    let Some(database) = database() else { return };
    let replicas = start(&database).await;
    let answers = replicas.all(|_| ("one-key".to_owned(), sale("E-1", "12A"))).await;
    assert_eq!(statuses(&answers), BTreeMap::from([((201, ""), 1), ((200, ""), CLIENTS - 1)]));
    assert!(answers.iter().all(|answer| answer.is_replay == (answer.status == 200)));
    assert_eq!(replicas.tills[2].sales().await, ["E-1"]);
    assert_eq!(replicas.tills[2].audited("created").await, 1);
    replicas.chain_holds().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_key_with_two_contents_keeps_the_first() {
    let Some(database) = database() else { return };
    let replicas = start(&database).await;
    let body = |client: usize| sale(&format!("E-{}", client % 2), ["12A", "12B"][client % 2]);
    let answers = replicas.all(|client| ("one-key".to_owned(), body(client))).await;
    let half = CLIENTS / 2;
    let expected =
        BTreeMap::from([((201, ""), 1), ((200, ""), half - 1), ((409, "idempotency_conflict"), half)]);
    assert_eq!(statuses(&answers), expected);
    assert_eq!(replicas.tills[0].sales().await.len(), 1);
    replicas.chain_holds().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_sale_under_many_keys_is_one_sale() {
    let Some(database) = database() else { return };
    let replicas = start(&database).await;
    let answers = replicas.all(|client| (format!("key-{client}"), sale("E-1", "12A"))).await;
    assert_eq!(statuses(&answers), BTreeMap::from([((201, ""), 1), ((200, ""), CLIENTS - 1)]));
    assert_eq!(replicas.tills[0].sales().await.len(), 1);
    replicas.chain_holds().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_look_alikes_thrown_at_three_servers_one_is_sold_and_the_rest_is_asked_about() {
    let Some(database) = database() else { return };
    let replicas = start(&database).await;
    let answers = replicas.all(|client| (format!("key-{client}"), sale(&format!("E-{client}"), "12A"))).await;
    let question = (409, "possible_duplicate_transaction");
    assert_eq!(statuses(&answers), BTreeMap::from([((201, ""), 1), (question, CLIENTS - 1)]));
    assert_eq!(replicas.tills[0].sales().await.len(), 1);
    replicas.chain_holds().await;
}

/// Everybody confirms the same question: the token is spent once.
#[tokio::test(flavor = "multi_thread")]
async fn a_confirmation_thrown_at_three_servers_is_one_sale() {
    let Some(database) = database() else { return };
    let replicas = start(&database).await;
    replicas.tills[0].create("first", sale("E-1", "12A")).await.expect(201);
    let asked = replicas.tills[1].create("second", sale("E-2", "12A")).await.expect(409);
    let mut confirmed = sale("E-2", "12A");
    confirmed["duplicate_confirmation_token"] = asked.text("/error/duplicate_confirmation_token").into();
    let answers = replicas.all(|client| (format!("key-{}", client % 2), confirmed.clone())).await;
    assert_eq!(statuses(&answers), BTreeMap::from([((201, ""), 1), ((200, ""), CLIENTS - 1)]));
    assert_eq!(replicas.tills[2].audited("duplicate_confirmed").await, 1);
    assert_eq!(replicas.tills[0].sales().await, ["E-1", "E-2"]);
    replicas.chain_holds().await;
}

/// A reader who follows the list while tills sell finds every sale, although commits overtake each other.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_is_followed_while_others_sell_misses_nothing() {
    let Some(database) = database() else { return };
    let replicas = start(&database).await;
    let reader = replicas.tills[0].clone();
    let selling =
        replicas.all(|client| (format!("key-{client}"), sale(&format!("E-{client}"), &format!("{client}A"))));
    let following = async {
        let (mut found, mut after) = (Vec::new(), String::new());
        while found.len() < CLIENTS {
            let path = format!("/v1/transactions?device_id=D03&limit=1{after}");
            let page = reader.get(&path).await.expect(200).body;
            let Some(item) = page["items"].get(0) else { continue };
            // A page of one that is the last has no `next`: it is asked for again until there is more.
            let id = item["external_transaction_id"].as_str().unwrap().to_owned();
            if found.last() != Some(&id) {
                found.push(id);
            }
            if let Some(next) = page["next"].as_str() {
                after = format!("&after={next}");
            }
        }
        found
    };
    let (answers, mut followed) = tokio::join!(selling, following);
    assert_eq!(statuses(&answers), BTreeMap::from([((201, ""), CLIENTS)]));
    let mut listed = reader.sales().await;
    assert_eq!(followed, listed);
    followed.sort();
    followed.dedup();
    listed.sort();
    assert_eq!(followed.len(), CLIENTS, "each sale once");
}
