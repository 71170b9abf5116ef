//! [`Ledger`] on SQLite: rules run on the writer, look-ups on read connections beside it.

use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;
use turno_domain::ids::Company;
use turno_protocol::{audit::AuditRow, body::ChallengeView};

use super::{SqliteLedger, audit, catalog, challenge, credential, key, sale, secret};
use crate::{
    books::{Books, Challenge, at_once},
    caller::{Caller, TokenHash},
    ledger::{Ledger, LedgerError, Page, PageRequest, StoredCatalog},
    matrix::{
        self, CreateOutcome, CreateRequest, Desk, EnrolOutcome, EnrolRequest, EpochOutcome, Finished,
        PaymentRequest, RegisterEpoch, ReserveOutcome, ResolveOutcome, ResolveRequest, VoidOutcome,
        VoidRequest, WebhookOutcome,
    },
    payment::{Payment, PaymentResult},
    request::WebhookEvent,
    sale::StoredSale,
    secrets::Secrets,
};

impl SqliteLedger {
    fn desk(&self, caller: Caller) -> Desk {
        Desk { caller, secrets: self.secrets.get(), world: self.world.clone() }
    }
}

impl Ledger for SqliteLedger {
    fn secrets(&self) -> Secrets {
        self.secrets.get()
    }

    async fn ready(&self) -> Result<(), LedgerError> {
        self.read(|connection| connection.query_row("SELECT 1", [], |_| Ok(()))).await
    }

    async fn authenticate(&self, token: TokenHash) -> Result<Option<Caller>, LedgerError> {
        let now = self.world.now();
        let before = match self.callers.find(&token, now) {
            Ok(caller) => return Ok(Some(caller)),
            Err(before) => before,
        };
        let (found, secrets) = self
            .read(move |connection| Ok((credential::find(connection, &token)?, secret::load(connection)?)))
            .await?;
        secrets.into_iter().for_each(|secrets| self.secrets.set(secrets));
        if let Some(caller) = &found {
            self.callers.remember(token, caller, now, before);
        }
        Ok(found)
    }

    async fn create_transaction(
        &self,
        caller: Caller,
        request: CreateRequest,
    ) -> Result<CreateOutcome, LedgerError> {
        let desk = self.desk(caller);
        self.write(move |books| at_once(matrix::create_transaction(books, &desk, request))).await
    }

    async fn void_transaction(
        &self,
        caller: Caller,
        request: VoidRequest,
    ) -> Result<VoidOutcome, LedgerError> {
        let desk = self.desk(caller);
        self.write(move |books| at_once(matrix::void_transaction(books, &desk, request))).await
    }

    async fn reserve_payment(
        &self,
        caller: Caller,
        request: PaymentRequest,
    ) -> Result<ReserveOutcome, LedgerError> {
        let desk = self.desk(caller);
        self.write(move |books| at_once(matrix::reserve_payment(books, &desk, request))).await
    }

    async fn mark_payment(&self, payment: Payment) -> Result<Option<Payment>, LedgerError> {
        self.write(move |books| at_once(matrix::mark_payment(books, &payment))).await
    }

    async fn renew_payment(&self, payment: Payment) -> Result<Option<Payment>, LedgerError> {
        self.write(move |books| at_once(matrix::renew_payment(books, &payment))).await
    }

    async fn give_up_payment(&self, payment: Payment) -> Result<(), LedgerError> {
        self.write(move |books| at_once(matrix::give_up_payment(books, &payment))).await
    }

    async fn finish_payment(
        &self,
        payment: Payment,
        result: PaymentResult,
    ) -> Result<Option<Finished>, LedgerError> {
        self.write(move |books| at_once(matrix::finish_payment(books, &payment, result))).await
    }

    async fn apply_webhook(&self, event: WebhookEvent) -> Result<WebhookOutcome, LedgerError> {
        self.write(move |books| at_once(matrix::apply_webhook(books, &event))).await
    }

    async fn claim_abandoned_payments(&self, limit: u16) -> Result<Vec<Payment>, LedgerError> {
        let world = self.world.clone();
        self.write(move |books| at_once(matrix::claim_abandoned(books, &world, limit))).await
    }

    async fn purge_keys(&self, limit: u16) -> Result<u64, LedgerError> {
        let retention = self.key_retention;
        let purged = self.write(move |books| {
            let completed_before = books.now().checked_sub(retention).unwrap_or(Timestamp::MIN);
            key::purge(books.connection, completed_before, limit)
        });
        Ok(purged.await?.try_into().unwrap_or(u64::MAX))
    }

    async fn expire_challenges(&self, limit: u16) -> Result<u64, LedgerError> {
        let expired = self.write(move |books| challenge::expire(books.connection, books.now(), limit));
        Ok(expired.await?.try_into().unwrap_or(u64::MAX))
    }

    async fn resolve_challenge(
        &self,
        caller: Caller,
        request: ResolveRequest,
    ) -> Result<ResolveOutcome, LedgerError> {
        let desk = self.desk(caller);
        self.write(move |books| at_once(matrix::resolve_challenge(books, &desk, request))).await
    }

    async fn enrol_device(&self, request: EnrolRequest) -> Result<EnrolOutcome, LedgerError> {
        let world = self.world.clone();
        self.write(move |books| at_once(matrix::enrol_device(books, &world, request))).await
    }

    async fn register_epoch(
        &self,
        caller: Caller,
        request: RegisterEpoch,
    ) -> Result<EpochOutcome, LedgerError> {
        self.write(move |books| at_once(matrix::register_epoch(books, &caller, request))).await
    }

    async fn transaction(&self, caller: Caller, id: String) -> Result<Option<StoredSale>, LedgerError> {
        self.read(move |connection| sale::by_id(connection, caller.scope_number, &id)).await
    }

    async fn transaction_by_external_id(
        &self,
        caller: Caller,
        id: String,
    ) -> Result<Option<StoredSale>, LedgerError> {
        self.read(move |connection| sale::by_external_id(connection, caller.scope_number, &id)).await
    }

    async fn transactions_of_device(
        &self,
        caller: Caller,
        device_id: String,
        page: PageRequest,
    ) -> Result<Page<StoredSale>, LedgerError> {
        self.read(move |connection| sale::of_device(connection, caller.scope_number, &device_id, page)).await
    }

    async fn challenge(
        &self,
        caller: Caller,
        challenge_id: String,
    ) -> Result<Option<ChallengeView>, LedgerError> {
        let (desk, now) = (self.desk(caller), self.world.now());
        self.read(move |connection| {
            let found =
                challenge::find(connection, &challenge_id)?.filter(|found| matrix::may_see(&desk, found));
            found.map(|found| view(connection, found, now)).transpose()
        })
        .await
    }

    async fn open_challenges(
        &self,
        caller: Caller,
        page: PageRequest,
    ) -> Result<Page<ChallengeView>, LedgerError> {
        let now = self.world.now();
        self.read(move |connection| {
            let page = challenge::undecided(connection, &caller.scope.company, now.as_millisecond(), page)?;
            let views = page.items.into_iter().map(|found| view(connection, found, now));
            Ok(Page { items: views.collect::<rusqlite::Result<_>>()?, next: page.next })
        })
        .await
    }

    async fn audit(&self, company: Company, page: PageRequest) -> Result<Page<AuditRow>, LedgerError> {
        self.read(move |connection| audit::list(connection, &company, page)).await
    }

    async fn catalog(&self, caller: Caller) -> Result<StoredCatalog, LedgerError> {
        let currency = caller.company.currency;
        let found = self
            .read(move |connection| {
                catalog::find(connection, &caller.integration.company, &caller.integration.integration)
            })
            .await?;
        Ok(found.unwrap_or_else(|| StoredCatalog::empty(currency)))
    }

    fn lease(&self) -> SignedDuration {
        self.lease
    }

    fn queue_depth(&self) -> usize {
        self.database.queue_depth()
    }
}

/// Both sales side by side. The candidate is shown as it is now.
fn view(connection: &Connection, found: Challenge, now: Timestamp) -> rusqlite::Result<ChallengeView> {
    let best = found.candidates.first().ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let candidate = sale::by_id(connection, found.scope_number, best.as_str())?;
    let candidate = candidate.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    Ok(matrix::challenge_view(found, candidate.view(), now))
}
