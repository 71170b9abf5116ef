//! [`Ledger`] on PostgreSQL: rules run in transactions, look-ups in single statements on the same primary.

use deadpool_postgres::Client;
use jiff::{SignedDuration, Timestamp};
use turno_domain::ids::Company;
use turno_protocol::{audit::AuditRow, body::ChallengeView};

use super::{
    PostgresLedger, audit,
    books::Sales,
    catalog, challenge,
    creations::Told,
    credential,
    error::{Remedy, StoreError},
    key, sale, secret, transaction,
};
use crate::{
    books::{Books, Challenge},
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

impl PostgresLedger {
    fn desk(&self, caller: Caller) -> Desk {
        Desk { caller, secrets: self.secrets.get(), world: self.world.clone() }
    }
}

/// D3: whoever holds what this request needs is its twin, or a sale like it, and has not ended in two seconds.
fn or_in_progress<T>(done: Result<T, StoreError>, in_progress: T) -> Result<T, LedgerError> {
    match done {
        Err(error) if error.remedy() == Remedy::Busy => Ok(in_progress),
        done => Ok(done?),
    }
}

impl Ledger for PostgresLedger {
    fn secrets(&self) -> Secrets {
        self.secrets.get()
    }

    async fn ready(&self) -> Result<(), LedgerError> {
        transaction::clock(&self.client().await?).await?;
        Ok(())
    }

    async fn authenticate(&self, token: TokenHash) -> Result<Option<Caller>, LedgerError> {
        let now = self.world.now();
        let before = match self.callers.find(&token, now) {
            Ok(caller) => return Ok(Some(caller)),
            Err(before) => before,
        };
        let client = self.client().await?;
        let found = credential::find(&client, &token).await?;
        // Afterwards: what came with the caller is there.
        secret::load(&client).await?.into_iter().for_each(|secrets| self.secrets.set(secrets));
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
        let is_plain = request.sale.as_ref().is_ok_and(|sale| sale.confirmation.is_none());
        if is_plain && let Told::Done(done) = self.creations.create(self, desk.clone(), request.clone()).await
        {
            return *done;
        }
        let done = self.write(Sales::Read, async move |books| {
            matrix::create_transaction(books, &desk, request.clone()).await
        });
        or_in_progress(done.await, CreateOutcome::KeyInProgress)
    }

    async fn void_transaction(
        &self,
        caller: Caller,
        request: VoidRequest,
    ) -> Result<VoidOutcome, LedgerError> {
        let desk = self.desk(caller);
        let done = self.write(Sales::Change, async move |books| {
            matrix::void_transaction(books, &desk, request.clone()).await
        });
        or_in_progress(done.await, VoidOutcome::KeyInProgress)
    }

    async fn reserve_payment(
        &self,
        caller: Caller,
        request: PaymentRequest,
    ) -> Result<ReserveOutcome, LedgerError> {
        let desk = self.desk(caller);
        let done = self.write(Sales::Change, async move |books| {
            matrix::reserve_payment(books, &desk, request.clone()).await
        });
        or_in_progress(done.await, ReserveOutcome::InProgress)
    }

    async fn mark_payment(&self, payment: Payment) -> Result<Option<Payment>, LedgerError> {
        Ok(self.write(Sales::Change, async move |books| matrix::mark_payment(books, &payment).await).await?)
    }

    async fn renew_payment(&self, payment: Payment) -> Result<Option<Payment>, LedgerError> {
        Ok(self.write(Sales::Change, async move |books| matrix::renew_payment(books, &payment).await).await?)
    }

    async fn give_up_payment(&self, payment: Payment) -> Result<(), LedgerError> {
        Ok(self
            .write(Sales::Change, async move |books| matrix::give_up_payment(books, &payment).await)
            .await?)
    }

    async fn finish_payment(
        &self,
        payment: Payment,
        result: PaymentResult,
    ) -> Result<Option<Finished>, LedgerError> {
        let done = self
            .write(Sales::Change, async move |books| matrix::finish_payment(books, &payment, result).await);
        Ok(done.await?)
    }

    async fn apply_webhook(&self, event: WebhookEvent) -> Result<WebhookOutcome, LedgerError> {
        Ok(self.write(Sales::Change, async move |books| matrix::apply_webhook(books, &event).await).await?)
    }

    async fn claim_abandoned_payments(&self, limit: u16) -> Result<Vec<Payment>, LedgerError> {
        let world = self.world.clone();
        let claimed =
            self.write(Sales::Change, async move |books| matrix::claim_abandoned(books, &world, limit).await);
        Ok(claimed.await?)
    }

    async fn purge_keys(&self, limit: u16) -> Result<u64, LedgerError> {
        let retention = self.key_retention;
        let purged = self.write(Sales::Read, async move |books| {
            let completed_before = books.now().checked_sub(retention).unwrap_or(Timestamp::MIN);
            key::purge(books.client(), completed_before, limit).await
        });
        Ok(purged.await?)
    }

    async fn expire_challenges(&self, limit: u16) -> Result<u64, LedgerError> {
        let expired = self.write(Sales::Read, async move |books| {
            challenge::expire(books.client(), books.now(), limit).await
        });
        Ok(expired.await?)
    }

    async fn resolve_challenge(
        &self,
        caller: Caller,
        request: ResolveRequest,
    ) -> Result<ResolveOutcome, LedgerError> {
        let desk = self.desk(caller);
        let done = self.write(Sales::Read, async move |books| {
            matrix::resolve_challenge(books, &desk, request.clone()).await
        });
        Ok(done.await?)
    }

    async fn enrol_device(&self, request: EnrolRequest) -> Result<EnrolOutcome, LedgerError> {
        let world = self.world.clone();
        let done = self.write(Sales::Read, async move |books| {
            matrix::enrol_device(books, &world, request.clone()).await
        });
        Ok(done.await?)
    }

    async fn register_epoch(
        &self,
        caller: Caller,
        request: RegisterEpoch,
    ) -> Result<EpochOutcome, LedgerError> {
        let done = self.write(Sales::Read, async move |books| {
            matrix::register_epoch(books, &caller, request.clone()).await
        });
        Ok(done.await?)
    }

    async fn transaction(&self, caller: Caller, id: String) -> Result<Option<StoredSale>, LedgerError> {
        Ok(sale::by_id(&self.client().await?, caller.scope_number, &id).await?)
    }

    async fn transaction_by_external_id(
        &self,
        caller: Caller,
        id: String,
    ) -> Result<Option<StoredSale>, LedgerError> {
        Ok(sale::by_external_id(&self.client().await?, caller.scope_number, &id).await?)
    }

    async fn transactions_of_device(
        &self,
        caller: Caller,
        device_id: String,
        page: PageRequest,
    ) -> Result<Page<StoredSale>, LedgerError> {
        Ok(sale::of_device(&self.client().await?, caller.scope_number, &device_id, page).await?)
    }

    async fn challenge(
        &self,
        caller: Caller,
        challenge_id: String,
    ) -> Result<Option<ChallengeView>, LedgerError> {
        let desk = self.desk(caller);
        let client = self.client().await?;
        let now = transaction::clock(&client).await?;
        let found = challenge::find(&client, &challenge_id).await?;
        match found.filter(|found| matrix::may_see(&desk, found)) {
            Some(found) => Ok(Some(view(&client, found, now).await?)),
            None => Ok(None),
        }
    }

    async fn open_challenges(
        &self,
        caller: Caller,
        page: PageRequest,
    ) -> Result<Page<ChallengeView>, LedgerError> {
        let client = self.client().await?;
        let now = transaction::clock(&client).await?;
        let page = challenge::undecided(&client, &caller.scope.company, now.as_millisecond(), page).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for found in page.items {
            items.push(view(&client, found, now).await?);
        }
        Ok(Page { items, next: page.next })
    }

    async fn audit(&self, company: Company, page: PageRequest) -> Result<Page<AuditRow>, LedgerError> {
        Ok(audit::list(&self.client().await?, &company, page).await?)
    }

    async fn catalog(&self, caller: Caller) -> Result<StoredCatalog, LedgerError> {
        let of = &caller.integration;
        let found = catalog::find(&self.client().await?, &of.company, &of.integration).await?;
        Ok(found.unwrap_or_else(|| StoredCatalog::empty(caller.company.currency)))
    }

    fn lease(&self) -> SignedDuration {
        self.lease
    }

    fn queue_depth(&self) -> usize {
        self.pool.status().waiting + self.creations.waiting()
    }
}

/// Both sales side by side. The candidate is shown as it is now.
async fn view(client: &Client, found: Challenge, now: Timestamp) -> Result<ChallengeView, StoreError> {
    let best = found.candidates.first().ok_or(StoreError::Missing("candidate"))?;
    let candidate = sale::by_id(client, found.scope_number, best.as_str()).await?;
    let candidate = candidate.ok_or(StoreError::Missing("candidate"))?;
    Ok(matrix::challenge_view(found, candidate.view(), now))
}
