//! One open transaction on a connection of the pool.
//!
//! Invariant: a connection goes back to the pool only outside a transaction. One that is dropped before its end (its
//! till hung up, its time was over) is closed, and the database rolls back.

use deadpool_postgres::{Client, Object, Pool};
use futures_util::future::join;
use jiff::Timestamp;

use super::{
    error::StoreError,
    row::{self, Result},
};

/// Milliseconds of the database's clock. Rounded down, so that nothing is ever from the future.
const CLOCK: &str = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms";

pub(super) struct Transaction {
    /// Gone once it has ended.
    client: Option<Client>,
    now: Timestamp,
}

impl Transaction {
    pub(super) async fn begin(pool: &Pool) -> Result<Self> {
        let mut transaction = Self { client: Some(pool.get().await?), now: Timestamp::UNIX_EPOCH };
        let client = transaction.client();
        // Sent together: one wait for both answers.
        let (begun, clock) =
            join(client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED"), row::row(client, CLOCK, &[]))
                .await;
        begun?;
        transaction.now = read_clock(clock?)?;
        Ok(transaction)
    }

    pub(super) fn client(&self) -> &Client {
        self.client.as_ref().expect("it is only taken out by what ends the transaction")
    }

    /// By the database's clock, when the transaction began.
    pub(super) fn now(&self) -> Timestamp {
        self.now
    }

    /// An error after this was sent may mean either: whoever asks again under the same key is told.
    pub(super) async fn commit(mut self) -> Result<()> {
        self.client().batch_execute("COMMIT").await?;
        self.give_back();
        Ok(())
    }

    /// What cannot be rolled back is closed, which comes to the same.
    pub(super) async fn roll_back(mut self) {
        if self.client().batch_execute("ROLLBACK").await.is_ok() {
            self.give_back();
        }
    }

    /// To the pool, which takes what is dropped.
    fn give_back(&mut self) {
        drop(self.client.take());
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            drop(Object::take(client));
        }
    }
}

/// The database's clock, outside of any transaction.
pub(super) async fn clock(client: &Client) -> Result<Timestamp> {
    read_clock(row::row(client, CLOCK, &[]).await?)
}

fn read_clock(row: Option<tokio_postgres::Row>) -> Result<Timestamp> {
    row::instant(&row.ok_or(StoreError::Missing("clock"))?, "now_ms")
}
