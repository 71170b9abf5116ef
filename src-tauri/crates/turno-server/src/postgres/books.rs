//! [`Books`] over one PostgreSQL transaction.
//!
//! Other transactions run beside this one, so what the rules read before they write has to be held, or decided by an
//! index: a key is written only over what was read of it, a question is locked when it is read, and so is
//! the sale of whatever changes sales. Invariant: audit rows, sales and questions get their numbers at the very end
//! ([`PostgresBooks::commit`]), or earlier only when they are read.

use deadpool_postgres::{Client, Pool};
use futures_util::future::try_join_all;
use jiff::{SignedDuration, Timestamp};
use turno_domain::{
    Money,
    ids::{
        Company, DeviceId, Epoch, ExternalOperationId, ExternalPaymentId, ExternalTransactionId,
        IdempotencyKey, YupyTransactionId,
    },
    lookalike::{Clue, Rule, Traits},
};
use turno_protocol::body::{ChallengeState, State};
use uuid::Uuid;

use super::{
    audit::{self, Head},
    challenge, company, credential, enrolment,
    error::StoreError,
    key::{self, Age, Before},
    likeness, payment,
    row::{self, Result},
    sale,
    transaction::Transaction,
    void,
};
use crate::{
    audit::AuditEntry,
    books::{Books, Challenge, EnrolmentCode, KeyRecord, Verdict, VoidRecord},
    caller::{ScopeNumber, TokenHash},
    payment::{Fence, Payment},
    sale::StoredSale,
    settings::CompanySettings,
};

/// What a rule is going to do with the sales that it reads by their id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sales {
    /// Show them.
    Read,
    /// Decide by their state and change it: each is held until the commit.
    Change,
}

pub(super) struct PostgresBooks {
    transaction: Transaction,
    key_retention: SignedDuration,
    lease: SignedDuration,
    sales: Sales,
    /// What the key was when it was looked up. A transaction has one.
    key: Before,
    head: Option<Head>,
    arrivals: Vec<Arrival>,
    audit: Vec<(Company, AuditEntry)>,
}

/// A row that waits for its place in a list.
enum Arrival {
    Sale(ScopeNumber, Box<StoredSale>),
    Challenge(Box<Challenge>),
}

impl Arrival {
    fn scope(&self) -> ScopeNumber {
        match self {
            Self::Sale(scope, _) => *scope,
            Self::Challenge(challenge) => challenge.scope_number,
        }
    }

    async fn insert(&self, client: &Client, place: i64) -> Result<()> {
        match self {
            Self::Sale(scope, sale) => sale::insert(client, *scope, sale, place).await,
            Self::Challenge(challenge) => challenge::insert(client, challenge, place).await,
        }
    }
}

/// Whoever looks for look-alikes of this amount holds it until the commit.
pub(super) fn likeness_lock(scope: ScopeNumber, amount: Money) -> String {
    format!("look-alikes {} {} {}", scope.0, amount.minor(), amount.currency().code())
}

impl PostgresBooks {
    pub(super) async fn open(
        pool: &Pool,
        key_retention: SignedDuration,
        lease: SignedDuration,
        sales: Sales,
    ) -> Result<Self> {
        let transaction = Transaction::begin(pool).await?;
        let (arrivals, audit) = (Vec::new(), Vec::new());
        Ok(Self {
            transaction,
            key_retention,
            lease,
            sales,
            key: Before::Unknown,
            head: None,
            arrivals,
            audit,
        })
    }

    pub(super) fn client(&self) -> &Client {
        self.transaction.client()
    }

    /// Give everything its number, and end.
    pub(super) async fn commit(mut self) -> Result<()> {
        self.insert_arrivals().await?;
        self.insert_audit().await?;
        if let Some(head) = &self.head {
            head.save(self.transaction.client()).await?;
        }
        self.transaction.commit().await
    }

    pub(super) async fn roll_back(self) {
        self.transaction.roll_back().await;
    }

    /// Early only when a rule reads what it has written: from here on the company waits for this transaction.
    async fn insert_arrivals(&mut self) -> Result<()> {
        let Some(first) = self.arrivals.first() else { return Ok(()) };
        let client = self.transaction.client();
        let head = match &mut self.head {
            Some(head) => head,
            none @ None => none.insert(Head::lock_for(client, first.scope()).await?),
        };
        let placed: Vec<_> = self.arrivals.drain(..).map(|arrival| (head.next_arrival(), arrival)).collect();
        // Sent together: one wait for all answers.
        try_join_all(placed.iter().map(|(place, arrival)| arrival.insert(client, *place))).await?;
        Ok(())
    }

    async fn insert_audit(&mut self) -> Result<()> {
        let Some((company, _)) = self.audit.first() else { return Ok(()) };
        let client = self.transaction.client();
        let head = match &mut self.head {
            Some(head) => head,
            none @ None => none.insert(Head::lock(client, company).await?),
        };
        let is_one_company = self.audit.iter().all(|(company, _)| company.as_str() == head.company);
        if !is_one_company {
            // No rule concerns two companies, and two heads could be locked in two orders.
            return Err(StoreError::Missing("the head of another company"));
        }
        let rows: Vec<_> = self.audit.drain(..).map(|(_, entry)| head.next_row(&entry)).collect();
        try_join_all(rows.iter().map(|row| audit::insert(client, &head.company, row))).await?;
        Ok(())
    }
}

impl Books for PostgresBooks {
    type Error = StoreError;

    fn now(&self) -> Timestamp {
        self.transaction.now()
    }

    fn lease(&self) -> SignedDuration {
        self.lease
    }

    async fn find_key(&mut self, scope: ScopeNumber, key: &IdempotencyKey) -> Result<Option<KeyRecord>> {
        let age = Age { now: self.now(), retention: self.key_retention };
        let found = key::find(self.client(), scope, key, age).await?;
        self.key = found.as_ref().map_or(Before::Unknown, |found| Before::Known(found.state));
        Ok(found)
    }

    async fn put_key(&mut self, scope: ScopeNumber, key: &IdempotencyKey, record: &KeyRecord) -> Result<()> {
        key::put(self.client(), scope, key, record, (self.key, self.now())).await?;
        self.key = Before::Known(record.state);
        Ok(())
    }

    async fn serialise_look_alikes(&mut self, scope: ScopeNumber, amount: Money) -> Result<()> {
        row::lock(self.client(), &likeness_lock(scope, amount)).await
    }

    async fn sale_by_id(&mut self, scope: ScopeNumber, id: &str) -> Result<Option<StoredSale>> {
        self.insert_arrivals().await?;
        match self.sales {
            Sales::Read => sale::by_id(self.client(), scope, id).await,
            Sales::Change => sale::lock(self.client(), scope, id).await,
        }
    }

    async fn sale_by_external_id(
        &mut self,
        scope: ScopeNumber,
        id: &ExternalTransactionId,
    ) -> Result<Option<StoredSale>> {
        self.insert_arrivals().await?;
        sale::by_external_id_alone(self.client(), scope, id).await
    }

    async fn sales_with_clues(
        &mut self,
        scope: ScopeNumber,
        asked: &Traits,
        rule: &Rule,
        clues: &[Clue],
    ) -> Result<Vec<StoredSale>> {
        self.insert_arrivals().await?;
        likeness::find(self.client(), scope, asked, rule, clues).await
    }

    async fn insert_sale(&mut self, scope: ScopeNumber, sale: &StoredSale) -> Result<()> {
        self.arrivals.push(Arrival::Sale(scope, Box::new(sale.clone())));
        Ok(())
    }

    async fn set_state(&mut self, id: &YupyTransactionId, state: State) -> Result<()> {
        self.insert_arrivals().await?;
        sale::set_state(self.client(), id, state).await
    }

    async fn void(&mut self, scope: ScopeNumber, id: &ExternalOperationId) -> Result<Option<VoidRecord>> {
        void::find(self.client(), scope, id).await
    }

    async fn insert_void(&mut self, scope: ScopeNumber, record: &VoidRecord) -> Result<()> {
        void::insert(self.client(), scope, record, self.now()).await
    }

    fn instance(&self) -> &str {
        // Any process may follow any other's payment once its lease is over, and not before.
        ""
    }

    async fn payment(&mut self, scope: ScopeNumber, id: &ExternalPaymentId) -> Result<Option<Payment>> {
        payment::find(self.client(), scope, id).await
    }

    async fn payment_by_acquirer_id(&mut self, id: &str) -> Result<Option<Payment>> {
        payment::lock_by_acquirer_id(self.client(), id).await
    }

    async fn unfinished_payments(&mut self, limit: u16) -> Result<Vec<Payment>> {
        payment::unfinished(self.client(), limit).await
    }

    async fn insert_payment(&mut self, new: &Payment) -> Result<()> {
        payment::insert(self.client(), new, self.now()).await
    }

    async fn replace_payment(&mut self, held: &Fence, by: &Payment) -> Result<bool> {
        payment::replace(self.client(), held, by).await
    }

    async fn finish_keys(
        &mut self,
        scope: ScopeNumber,
        permanent_id: &str,
        original_status: u16,
    ) -> Result<()> {
        key::finish_all(self.client(), scope, permanent_id, original_status, self.now()).await
    }

    async fn record_acquirer_event(&mut self, event_id: &str) -> Result<bool> {
        payment::record_event(self.client(), event_id, self.now()).await
    }

    async fn challenge(&mut self, challenge_id: &str) -> Result<Option<Challenge>> {
        self.insert_arrivals().await?;
        challenge::lock(self.client(), challenge_id).await
    }

    async fn open_challenge(
        &mut self,
        scope: ScopeNumber,
        id: &ExternalTransactionId,
    ) -> Result<Option<Challenge>> {
        let waits = |arrival: &Arrival| matches!(arrival, Arrival::Challenge(_));
        if self.arrivals.iter().any(waits) {
            self.insert_arrivals().await?;
        }
        challenge::lock_open(self.client(), scope, id).await
    }

    async fn insert_challenge(&mut self, new: &Challenge) -> Result<()> {
        self.arrivals.push(Arrival::Challenge(Box::new(new.clone())));
        Ok(())
    }

    async fn set_challenge_state(&mut self, challenge_id: &str, state: ChallengeState) -> Result<()> {
        challenge::set_state(self.client(), challenge_id, state).await
    }

    async fn decide_challenge(&mut self, challenge_id: &str, verdict: &Verdict) -> Result<()> {
        challenge::decide(self.client(), challenge_id, verdict).await
    }

    async fn company(&mut self, company: &Company) -> Result<CompanySettings> {
        company::find(self.client(), company).await
    }

    async fn enrolment_code(&mut self, code: &TokenHash) -> Result<Option<EnrolmentCode>> {
        enrolment::lock_code(self.client(), code).await
    }

    async fn epoch_owner(
        &mut self,
        scope: ScopeNumber,
        device: &DeviceId,
        epoch: &Epoch,
    ) -> Result<Option<Uuid>> {
        enrolment::epoch_owner(self.client(), scope, device, epoch).await
    }

    async fn register_epoch(
        &mut self,
        scope: ScopeNumber,
        device: &DeviceId,
        epoch: &Epoch,
        installation: Uuid,
    ) -> Result<()> {
        enrolment::insert_epoch(self.client(), scope, device, epoch, installation, self.now()).await
    }

    async fn redeem_code(&mut self, code: &EnrolmentCode, installation: Uuid, new: &TokenHash) -> Result<()> {
        enrolment::bind_code(self.client(), &code.hash, installation).await?;
        credential::insert_for_code(self.client(), new, code, self.now()).await
    }

    async fn append_audit(&mut self, company: &Company, entry: AuditEntry) -> Result<()> {
        self.audit.push((company.clone(), entry));
        Ok(())
    }
}
