//! The database goes away and comes back.

use crate::client::{Client, database, furnish, open, sale};

#[tokio::test]
async fn without_its_database_a_server_says_503_and_runs_nothing() {
    // A cluster of its own would be nicer to the others; a database that refuses everybody comes to the same.
    let Some(database) = database() else { return };
    let ledger = open(&database).await;
    furnish(&ledger).await;
    let till = Client::of(ledger);
    till.create("k1", sale("E-1", "12A")).await.expect(201);

    database.refuse_connections().unwrap();
    till.create("k2", sale("E-2", "12B")).await.refused(503, "service_unavailable");
    till.get("/ready").await.refused(503, "service_unavailable");

    database.accept_connections().unwrap();
    assert!(till.create("k1", sale("E-1", "12A")).await.expect(200).is_replay);
    till.create("k2", sale("E-2", "12B")).await.expect(201);
    assert_eq!(till.sales().await, ["E-1", "E-2"]);
}
