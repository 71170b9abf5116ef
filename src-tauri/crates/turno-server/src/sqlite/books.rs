//! [`Books`] over one open SQLite transaction.

use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;
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
    SqliteLedger, audit, challenge, company, credential, enrolment, key, likeness, payment, sale, void,
};
use crate::{
    audit::AuditEntry,
    books::{Books, Challenge, EnrolmentCode, KeyRecord, Verdict, VoidRecord},
    caller::{ScopeNumber, TokenHash},
    payment::{Fence, Payment},
    sale::StoredSale,
    settings::CompanySettings,
};

pub(super) struct SqliteBooks<'c> {
    pub(super) connection: &'c Connection,
    now: Timestamp,
    ledger: &'c SqliteLedger,
}

impl<'c> SqliteBooks<'c> {
    /// Times are kept in milliseconds, so that an answer says the same instant now and when it is repeated.
    pub(super) fn new(connection: &'c Connection, ledger: &'c SqliteLedger) -> Self {
        let now = ledger.world.now();
        let now = Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now);
        Self { connection, now, ledger }
    }
}

impl Books for SqliteBooks<'_> {
    type Error = rusqlite::Error;

    fn now(&self) -> Timestamp {
        self.now
    }

    fn lease(&self) -> SignedDuration {
        self.ledger.lease
    }

    async fn find_key(
        &mut self,
        scope: ScopeNumber,
        key: &IdempotencyKey,
    ) -> rusqlite::Result<Option<KeyRecord>> {
        key::find(self.connection, scope, key, self.now, self.ledger.key_retention)
    }

    async fn put_key(
        &mut self,
        scope: ScopeNumber,
        key: &IdempotencyKey,
        record: &KeyRecord,
    ) -> rusqlite::Result<()> {
        key::put(self.connection, scope, key, record, self.now)
    }

    async fn serialise_look_alikes(&mut self, _: ScopeNumber, _: Money) -> rusqlite::Result<()> {
        // There is one writer: whoever looks has the file to himself until the commit.
        Ok(())
    }

    async fn sale_by_id(&mut self, scope: ScopeNumber, id: &str) -> rusqlite::Result<Option<StoredSale>> {
        sale::by_id(self.connection, scope, id)
    }

    async fn sale_by_external_id(
        &mut self,
        scope: ScopeNumber,
        id: &ExternalTransactionId,
    ) -> rusqlite::Result<Option<StoredSale>> {
        sale::by_external_id(self.connection, scope, id.as_str())
    }

    async fn sales_with_clues(
        &mut self,
        scope: ScopeNumber,
        asked: &Traits,
        rule: &Rule,
        clues: &[Clue],
    ) -> rusqlite::Result<Vec<StoredSale>> {
        likeness::find(self.connection, scope, asked, rule, clues)
    }

    async fn insert_sale(&mut self, scope: ScopeNumber, sale: &StoredSale) -> rusqlite::Result<()> {
        sale::insert(self.connection, scope, sale)
    }

    async fn set_state(&mut self, id: &YupyTransactionId, state: State) -> rusqlite::Result<()> {
        sale::set_state(self.connection, id, state)
    }

    async fn void(
        &mut self,
        scope: ScopeNumber,
        id: &ExternalOperationId,
    ) -> rusqlite::Result<Option<VoidRecord>> {
        void::find(self.connection, scope, id)
    }

    async fn insert_void(&mut self, scope: ScopeNumber, record: &VoidRecord) -> rusqlite::Result<()> {
        void::insert(self.connection, scope, record, self.now)
    }

    fn instance(&self) -> &str {
        &self.ledger.instance
    }

    async fn payment(
        &mut self,
        scope: ScopeNumber,
        id: &ExternalPaymentId,
    ) -> rusqlite::Result<Option<Payment>> {
        payment::find(self.connection, scope, id)
    }

    async fn payment_by_acquirer_id(&mut self, id: &str) -> rusqlite::Result<Option<Payment>> {
        payment::find_by_acquirer_id(self.connection, id)
    }

    async fn unfinished_payments(&mut self, limit: u16) -> rusqlite::Result<Vec<Payment>> {
        payment::unfinished(self.connection, limit)
    }

    async fn insert_payment(&mut self, new: &Payment) -> rusqlite::Result<()> {
        payment::insert(self.connection, new, self.now)
    }

    async fn replace_payment(&mut self, held: &Fence, by: &Payment) -> rusqlite::Result<bool> {
        payment::replace(self.connection, held, by)
    }

    async fn finish_keys(
        &mut self,
        scope: ScopeNumber,
        permanent_id: &str,
        original_status: u16,
    ) -> rusqlite::Result<()> {
        key::finish_all(self.connection, scope, permanent_id, original_status, self.now)
    }

    async fn record_acquirer_event(&mut self, event_id: &str) -> rusqlite::Result<bool> {
        payment::record_event(self.connection, event_id, self.now)
    }

    async fn challenge(&mut self, challenge_id: &str) -> rusqlite::Result<Option<Challenge>> {
        challenge::find(self.connection, challenge_id)
    }

    async fn open_challenge(
        &mut self,
        scope: ScopeNumber,
        id: &ExternalTransactionId,
    ) -> rusqlite::Result<Option<Challenge>> {
        challenge::find_open(self.connection, scope, id)
    }

    async fn insert_challenge(&mut self, new: &Challenge) -> rusqlite::Result<()> {
        challenge::insert(self.connection, new)
    }

    async fn set_challenge_state(
        &mut self,
        challenge_id: &str,
        state: ChallengeState,
    ) -> rusqlite::Result<()> {
        challenge::set_state(self.connection, challenge_id, state)
    }

    async fn decide_challenge(&mut self, challenge_id: &str, verdict: &Verdict) -> rusqlite::Result<()> {
        challenge::decide(self.connection, challenge_id, verdict)
    }

    async fn company(&mut self, company: &Company) -> rusqlite::Result<CompanySettings> {
        company::find(self.connection, company)
    }

    async fn enrolment_code(&mut self, code: &TokenHash) -> rusqlite::Result<Option<EnrolmentCode>> {
        enrolment::find_code(self.connection, code)
    }

    async fn epoch_owner(
        &mut self,
        scope: ScopeNumber,
        device: &DeviceId,
        epoch: &Epoch,
    ) -> rusqlite::Result<Option<Uuid>> {
        enrolment::epoch_owner(self.connection, scope, device, epoch)
    }

    async fn register_epoch(
        &mut self,
        scope: ScopeNumber,
        device: &DeviceId,
        epoch: &Epoch,
        installation: Uuid,
    ) -> rusqlite::Result<()> {
        enrolment::insert_epoch(self.connection, scope, device, epoch, installation, self.now)
    }

    async fn redeem_code(
        &mut self,
        code: &EnrolmentCode,
        installation: Uuid,
        credential: &TokenHash,
    ) -> rusqlite::Result<()> {
        enrolment::bind_code(self.connection, &code.hash, installation)?;
        credential::insert_for_code(self.connection, credential, code, self.now)
    }

    async fn append_audit(&mut self, company: &Company, entry: AuditEntry) -> rusqlite::Result<()> {
        audit::append(self.connection, company, &entry)
    }
}
