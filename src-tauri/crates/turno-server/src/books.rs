//! One open transaction of a store, as the rules see it.
//!
//! The behaviour of the contract is written once, in [`crate::matrix`], over this trait; a store only says how its
//! rows are read and written. Invariant: everything done through one `Books` is committed together or not at all, and
//! no other transaction sees it half done. Methods read what earlier ones of the same transaction wrote.

use jiff::{SignedDuration, Timestamp};
use turno_domain::{
    Money,
    ids::{
        Company, DeviceId, Epoch, ExternalOperationId, ExternalPaymentId, ExternalTransactionId,
        IdempotencyKey, Scope, YupyTransactionId,
    },
    lookalike::{Clue, Rule, Signal, Traits},
};
use turno_protocol::body::{AskedSale, ChallengeState, Decision, State, VoidResult};
use uuid::Uuid;

use crate::{
    audit::AuditEntry,
    caller::{Rights, ScopeNumber, TokenHash},
    content::{Content, Fingerprint, FingerprintVersion},
    payment::{Fence, Payment},
    sale::StoredSale,
    secrets::Generation,
    settings::CompanySettings,
};

/// The rules call these in order and wait for each; a store in the same process answers at once.
#[expect(
    async_fn_in_trait,
    reason = "each store's futures are as `Send` as its connection; nobody boxes them"
)]
pub trait Books {
    type Error;

    /// By the store's clock, the same for the whole transaction.
    fn now(&self) -> Timestamp;

    /// How long an owner of a payment is believed to be alive without a sign of it.
    fn lease(&self) -> SignedDuration;

    // Keys
    /// What is known of a key, also when it has expired and is about to be forgotten.
    async fn find_key(
        &mut self,
        scope: ScopeNumber,
        key: &IdempotencyKey,
    ) -> Result<Option<KeyRecord>, Self::Error>;
    async fn put_key(
        &mut self,
        scope: ScopeNumber,
        key: &IdempotencyKey,
        record: &KeyRecord,
    ) -> Result<(), Self::Error>;

    // Sales
    /// From here to the commit, nobody else looks for look-alikes of this amount in this scope.
    async fn serialise_look_alikes(&mut self, scope: ScopeNumber, amount: Money) -> Result<(), Self::Error>;
    async fn sale_by_id(&mut self, scope: ScopeNumber, id: &str) -> Result<Option<StoredSale>, Self::Error>;
    async fn sale_by_external_id(
        &mut self,
        scope: ScopeNumber,
        id: &ExternalTransactionId,
    ) -> Result<Option<StoredSale>, Self::Error>;
    /// Sales that are not voided and look like `asked`, whose clues these are, in order of arrival. It may hand out others too, since the
    /// rule compares them all, but no more than share a clue with it: what it costs must not grow with what was sold.
    async fn sales_with_clues(
        &mut self,
        scope: ScopeNumber,
        asked: &Traits,
        rule: &Rule,
        clues: &[Clue],
    ) -> Result<Vec<StoredSale>, Self::Error>;
    async fn insert_sale(&mut self, scope: ScopeNumber, sale: &StoredSale) -> Result<(), Self::Error>;
    async fn set_state(&mut self, id: &YupyTransactionId, state: State) -> Result<(), Self::Error>;

    // Voids
    async fn void(
        &mut self,
        scope: ScopeNumber,
        id: &ExternalOperationId,
    ) -> Result<Option<VoidRecord>, Self::Error>;
    async fn insert_void(&mut self, scope: ScopeNumber, void: &VoidRecord) -> Result<(), Self::Error>;

    // Payments
    /// What the owners of this process are called on a store that only one process serves; empty on any other.
    fn instance(&self) -> &str;
    async fn payment(
        &mut self,
        scope: ScopeNumber,
        id: &ExternalPaymentId,
    ) -> Result<Option<Payment>, Self::Error>;
    async fn payment_by_acquirer_id(&mut self, id: &str) -> Result<Option<Payment>, Self::Error>;
    /// Those whose outcome is not known, the least tried first.
    async fn unfinished_payments(&mut self, limit: u16) -> Result<Vec<Payment>, Self::Error>;
    async fn insert_payment(&mut self, payment: &Payment) -> Result<(), Self::Error>;
    /// Write `payment` over the row if it is still under `held`; whether it was.
    async fn replace_payment(&mut self, held: &Fence, payment: &Payment) -> Result<bool, Self::Error>;
    /// The keys that wait for this permanent id are final now.
    async fn finish_keys(
        &mut self,
        scope: ScopeNumber,
        permanent_id: &str,
        original_status: u16,
    ) -> Result<(), Self::Error>;
    /// Whether the event is seen for the first time.
    async fn record_acquirer_event(&mut self, event_id: &str) -> Result<bool, Self::Error>;

    // Questions
    async fn challenge(&mut self, challenge_id: &str) -> Result<Option<Challenge>, Self::Error>;
    async fn open_challenge(
        &mut self,
        scope: ScopeNumber,
        id: &ExternalTransactionId,
    ) -> Result<Option<Challenge>, Self::Error>;
    async fn insert_challenge(&mut self, challenge: &Challenge) -> Result<(), Self::Error>;
    async fn set_challenge_state(
        &mut self,
        challenge_id: &str,
        state: ChallengeState,
    ) -> Result<(), Self::Error>;
    async fn decide_challenge(&mut self, challenge_id: &str, verdict: &Verdict) -> Result<(), Self::Error>;

    // Enrolment
    async fn company(&mut self, company: &Company) -> Result<CompanySettings, Self::Error>;
    async fn enrolment_code(&mut self, code: &TokenHash) -> Result<Option<EnrolmentCode>, Self::Error>;
    /// The installation that has registered this epoch of a device.
    async fn epoch_owner(
        &mut self,
        scope: ScopeNumber,
        device: &DeviceId,
        epoch: &Epoch,
    ) -> Result<Option<Uuid>, Self::Error>;
    async fn register_epoch(
        &mut self,
        scope: ScopeNumber,
        device: &DeviceId,
        epoch: &Epoch,
        installation: Uuid,
    ) -> Result<(), Self::Error>;
    /// Bind the code to the installation and accept one more credential that it gave out.
    async fn redeem_code(
        &mut self,
        code: &EnrolmentCode,
        installation: Uuid,
        credential: &TokenHash,
    ) -> Result<(), Self::Error>;

    // Audit
    /// Hang `entry` on the company's chain, in the same commit as what it records. It gets its number here.
    async fn append_audit(&mut self, company: &Company, entry: AuditEntry) -> Result<(), Self::Error>;
}

/// Run a rule over books that answer at once, so that the future is done when it is first polled.
pub(crate) fn at_once<T>(rule: impl Future<Output = T>) -> T {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(rule).poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => unreachable!("nothing in a rule waits but the books, and these never do"),
    }
}

/// A key and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    pub content: Content,
    pub state: KeyState,
    /// The sale that the answer was about, once there is one.
    pub yupy_transaction_id: Option<YupyTransactionId>,
    /// The permanent id of the void or the payment.
    pub permanent_id: Option<String>,
    /// Its retention is over: as if unknown, except that the audit says so.
    pub expired: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyState {
    /// Its content is fixed, its answer was a question or a conflict: it is evaluated again each time.
    Bound,
    /// An owner is at work (payments).
    InProgress,
    Final {
        original_status: u16,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoidRecord {
    pub external_operation_id: ExternalOperationId,
    pub yupy_transaction_id: YupyTransactionId,
    pub result: VoidResult,
    pub reason: Option<String>,
}

/// A question about look-alikes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    pub challenge_id: String,
    pub scope: Scope,
    pub scope_number: ScopeNumber,
    pub asked: AskedSale,
    pub fingerprint_version: FingerprintVersion,
    pub core_fingerprint: Fingerprint,
    /// The most similar first.
    pub candidates: Vec<YupyTransactionId>,
    /// Of the first candidate.
    pub matching_signals: Vec<Signal>,
    /// As stored; an open one is over when `expires_at` has passed.
    pub state: ChallengeState,
    pub asked_at: Timestamp,
    pub expires_at: Timestamp,
    pub signed_with: Generation,
    pub verdict: Option<Verdict>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub decision: Decision,
    pub decided_by: String,
    pub reason: Option<String>,
    pub decided_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnrolmentCode {
    pub hash: TokenHash,
    pub scope: Scope,
    pub scope_number: ScopeNumber,
    pub device_id: DeviceId,
    pub rights: Rights,
    /// Who has used it.
    pub installation_id: Option<Uuid>,
}
