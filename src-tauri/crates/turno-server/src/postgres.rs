//! The ledger in a PostgreSQL database, for servers of which there are several: each is a process without a state.
//!
//! Invariant: unique indexes decide races, never a read before a write. A transaction that comes second is rolled
//! back and its request evaluated again in a new one, so that a twin replays what the first has written. Locks (on a
//! sale's external id, on look-alikes, on rows that are changed) only spare it most of that. Times are the
//! database's, look-ups go to where writes go, and nothing is run while it cannot be reached.

mod administration;
mod audit;
mod batch;
mod books;
mod catalog;
mod challenge;
mod company;
mod connection;
mod creations;
mod credential;
mod enrolment;
mod error;
mod gathered;
mod key;
mod ledger;
mod likeness;
mod migration;
mod payment;
mod row;
mod sale;
mod scope;
mod secret;
mod transaction;
mod transfer;
mod void;

use deadpool_postgres::{Client, Pool};
use jiff::SignedDuration;

use crate::{
    callers::Callers, ledger::LedgerError, payment::DEFAULT_LEASE, secrets::LastRead,
    sqlite::DEFAULT_KEY_RETENTION, world::World,
};
use books::{PostgresBooks, Sales};
use creations::Creations;
use error::{Remedy, StoreError};
use migration::{MIGRATIONS, Migration};

/// How often a request is evaluated before it is told to come again. Each time another transaction got ahead and is
/// committed, so the next evaluation sees it: two are usual for a twin, a third for its confirmation.
const ATTEMPTS: u32 = 5;

/// Connections of one server. More than a few for each core of the database only wait for each other there.
pub const DEFAULT_POOL_SIZE: usize = 16;

#[derive(Clone, Debug)]
pub struct PostgresLedger {
    pool: Pool,
    secrets: LastRead,
    world: World,
    key_retention: SignedDuration,
    lease: SignedDuration,
    callers: Callers,
    creations: Creations,
}

/// How a ledger's database is opened.
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    /// Its clock is used for new ids, and for how long callers are remembered.
    pub world: World,
    pub key_retention: SignedDuration,
    /// See [`DEFAULT_LEASE`]. The same for all servers of a database.
    pub lease: SignedDuration,
    pub pool_size: usize,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            world: World::system(),
            key_retention: DEFAULT_KEY_RETENTION,
            lease: DEFAULT_LEASE,
            pool_size: DEFAULT_POOL_SIZE,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum OpenPostgresError {
    #[error("not the address of a postgresql database")]
    Address(#[source] tokio_postgres::Error),
    #[error("the pool of connections could not be made")]
    Pool(#[from] deadpool_postgres::BuildError),
    #[error("the database is at version {found} and this program knows version {known}")]
    Newer { found: i64, known: i64 },
    #[error("the database's encoding is not UTF8")]
    NotUtf8,
    #[error("the schema could not be brought up to date")]
    Migration(#[from] tokio_postgres::Error),
    #[error("the database cannot be used")]
    Database(#[from] LedgerError),
}

impl PostgresLedger {
    /// Connect, and bring the schema up to date. `address` is a `postgres://…` URL or a list of `name=value`. The
    /// first opening makes the server's secrets.
    pub async fn open(address: &str, options: PostgresOptions) -> Result<Self, OpenPostgresError> {
        Self::open_with(address, options, MIGRATIONS).await
    }

    async fn open_with(
        address: &str,
        options: PostgresOptions,
        migrations: &[Migration],
    ) -> Result<Self, OpenPostgresError> {
        let PostgresOptions { world, key_retention, lease, pool_size } = options;
        let pool = connection::pool(address, pool_size)?;
        let mut client = pool.get().await.map_err(|error| LedgerError::from(StoreError::from(error)))?;
        if !migration::has_utf8(&client).await.map_err(LedgerError::from)? {
            return Err(OpenPostgresError::NotUtf8);
        }
        migration::migrate(&mut client, migrations).await?;
        let now = transaction::clock(&client).await.map_err(LedgerError::from)?;
        let fresh = [(); 2].map(|()| world.random());
        let secrets = secret::load_or_make(&client, now, fresh).await.map_err(LedgerError::from)?;
        Ok(Self {
            pool,
            secrets: LastRead::new(secrets),
            world,
            key_retention,
            lease,
            callers: Callers::default(),
            creations: Creations::default(),
        })
    }

    /// Let go of all connections.
    pub async fn close(&self) {
        self.pool.close();
    }

    pub fn world(&self) -> &World {
        &self.world
    }

    /// A connection for look-ups.
    async fn client(&self) -> Result<Client, StoreError> {
        Ok(self.pool.get().await?)
    }

    /// Run a rule in a transaction, again in a new one as long as another transaction gets ahead of it.
    async fn write<T>(
        &self,
        sales: Sales,
        rule: impl AsyncFn(&mut PostgresBooks) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        for _ in 0..ATTEMPTS {
            match self.write_once(sales, &rule).await {
                Err(error) if error.remedy() == Remedy::Again => {
                    tracing::debug!(%error, "another transaction came first");
                }
                done => return done,
            }
        }
        Err(StoreError::Contended)
    }

    async fn write_once<T>(
        &self,
        sales: Sales,
        rule: &impl AsyncFn(&mut PostgresBooks) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut books = PostgresBooks::open(&self.pool, self.key_retention, self.lease, sales).await?;
        match rule(&mut books).await {
            Ok(value) => books.commit().await.map(|()| value),
            Err(error) => {
                books.roll_back().await;
                Err(error)
            }
        }
    }
}
