//! A ledger keeps sales and answers by the contract. Each method is one use-case that owns its transaction.
//!
//! Invariant: an answer is given only after its commit; an error says that nothing of the request was kept, or that
//! the same request may be sent again under the same key.

use jiff::SignedDuration;
use std::io::{BufRead, Write};

use sha2::{Digest, Sha256};
use turno_domain::{
    Currency,
    ids::{Company, Integration},
};
use turno_protocol::{
    audit::AuditRow,
    body::ChallengeView,
    catalog::{CatalogBody, CatalogFault},
};

use crate::{
    caller::{Caller, TokenHash},
    matrix::{
        CreateOutcome, CreateRequest, EnrolOutcome, EnrolRequest, EpochOutcome, Finished, PaymentRequest,
        RegisterEpoch, ReserveOutcome, ResolveOutcome, ResolveRequest, VoidOutcome, VoidRequest,
        WebhookOutcome,
    },
    payment::{Payment, PaymentResult},
    request::WebhookEvent,
    sale::StoredSale,
    secrets::Secrets,
    settings::{CompanySettings, IntegrationSettings},
    token::hex,
    transfer::{Summary, TransferError},
};

/// The store could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// It cannot be reached, is full, or a commit's outcome is unknown: the same request may come again.
    #[error("the store is not available")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A bug or damaged rows.
    #[error("the store failed")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A page of a list in order of arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Where the next page starts, if there is more.
    pub next: Option<Position>,
}

/// A place in a list. Only the ledger that made it can read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position(pub i64);

/// Where a page starts and how long it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    pub after: Option<Position>,
    pub limit: u16,
}

/// A catalog as it is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCatalog {
    pub json: String,
    /// Changes exactly when the text does.
    pub etag: String,
}

impl StoredCatalog {
    pub fn of(catalog: &CatalogBody) -> Self {
        let json = serde_json::to_string(catalog).expect("texts and lists under fixed names are always json");
        let etag = format!("\"{}\"", hex(&Sha256::digest(json.as_bytes())[..16]));
        Self { json, etag }
    }

    /// What an integration offers before it has a catalog.
    pub fn empty(currency: Currency) -> Self {
        Self::of(&CatalogBody {
            revision: "0".to_owned(),
            currency,
            routes: Vec::new(),
            services: Vec::new(),
            layouts: Vec::new(),
            fares: Vec::new(),
            products: Vec::new(),
            price_lists: Vec::new(),
        })
    }
}

impl PageRequest {
    /// How many rows to read: one more than wanted tells whether there is a next page.
    pub(crate) fn one_more(self) -> i64 {
        i64::from(self.limit) + 1
    }

    /// A page out of up to [`PageRequest::one_more`] rows.
    pub(crate) fn collect<T, E>(
        self,
        rows: impl Iterator<Item = Result<(Position, T), E>>,
    ) -> Result<Page<T>, E> {
        let mut rows = rows.collect::<Result<Vec<_>, E>>()?;
        let limit = usize::from(self.limit);
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().map(|(position, _)| *position).filter(|_| more);
        Ok(Page { items: rows.into_iter().map(|(_, item)| item).collect(), next })
    }
}

pub trait Ledger: Clone + Send + Sync + 'static {
    /// The keys of this server. The same for every process that serves the same store.
    fn secrets(&self) -> Secrets;

    /// Whether requests can be served.
    fn ready(&self) -> impl Future<Output = Result<(), LedgerError>> + Send;

    fn authenticate(
        &self,
        token: TokenHash,
    ) -> impl Future<Output = Result<Option<Caller>, LedgerError>> + Send;

    fn create_transaction(
        &self,
        caller: Caller,
        request: CreateRequest,
    ) -> impl Future<Output = Result<CreateOutcome, LedgerError>> + Send;

    fn void_transaction(
        &self,
        caller: Caller,
        request: VoidRequest,
    ) -> impl Future<Output = Result<VoidOutcome, LedgerError>> + Send;

    /// The first transaction of a payment. Work that it hands out is done by [`crate::paying`].
    fn reserve_payment(
        &self,
        caller: Caller,
        request: PaymentRequest,
    ) -> impl Future<Output = Result<ReserveOutcome, LedgerError>> + Send;

    /// As in [`crate::books::Books::lease`].
    fn lease(&self) -> SignedDuration;

    /// `None`: somebody else holds the payment now.
    fn mark_payment(
        &self,
        payment: Payment,
    ) -> impl Future<Output = Result<Option<Payment>, LedgerError>> + Send;

    /// `None`: somebody else holds the payment now.
    fn renew_payment(
        &self,
        payment: Payment,
    ) -> impl Future<Output = Result<Option<Payment>, LedgerError>> + Send;

    fn give_up_payment(&self, payment: Payment) -> impl Future<Output = Result<(), LedgerError>> + Send;

    /// The payment as it stands afterwards, whoever wrote it.
    fn finish_payment(
        &self,
        payment: Payment,
        result: PaymentResult,
    ) -> impl Future<Output = Result<Option<Finished>, LedgerError>> + Send;

    fn apply_webhook(
        &self,
        event: WebhookEvent,
    ) -> impl Future<Output = Result<WebhookOutcome, LedgerError>> + Send;

    fn claim_abandoned_payments(
        &self,
        limit: u16,
    ) -> impl Future<Output = Result<Vec<Payment>, LedgerError>> + Send;

    /// Forget up to `limit` keys whose retention is over; how many there were.
    fn purge_keys(&self, limit: u16) -> impl Future<Output = Result<u64, LedgerError>> + Send;

    /// Close up to `limit` questions that nobody confirmed in time; how many there were. They count as expired before
    /// that too.
    fn expire_challenges(&self, limit: u16) -> impl Future<Output = Result<u64, LedgerError>> + Send;

    fn resolve_challenge(
        &self,
        caller: Caller,
        request: ResolveRequest,
    ) -> impl Future<Output = Result<ResolveOutcome, LedgerError>> + Send;

    fn enrol_device(
        &self,
        request: EnrolRequest,
    ) -> impl Future<Output = Result<EnrolOutcome, LedgerError>> + Send;

    fn register_epoch(
        &self,
        caller: Caller,
        request: RegisterEpoch,
    ) -> impl Future<Output = Result<EpochOutcome, LedgerError>> + Send;

    fn transaction(
        &self,
        caller: Caller,
        id: String,
    ) -> impl Future<Output = Result<Option<StoredSale>, LedgerError>> + Send;

    /// Any text may be looked up; most name nothing.
    fn transaction_by_external_id(
        &self,
        caller: Caller,
        id: String,
    ) -> impl Future<Output = Result<Option<StoredSale>, LedgerError>> + Send;

    fn transactions_of_device(
        &self,
        caller: Caller,
        device_id: String,
        page: PageRequest,
    ) -> impl Future<Output = Result<Page<StoredSale>, LedgerError>> + Send;

    fn challenge(
        &self,
        caller: Caller,
        challenge_id: String,
    ) -> impl Future<Output = Result<Option<ChallengeView>, LedgerError>> + Send;

    /// The company's questions that wait for a decision.
    fn open_challenges(
        &self,
        caller: Caller,
        page: PageRequest,
    ) -> impl Future<Output = Result<Page<ChallengeView>, LedgerError>> + Send;

    fn audit(
        &self,
        company: Company,
        page: PageRequest,
    ) -> impl Future<Output = Result<Page<AuditRow>, LedgerError>> + Send;

    fn catalog(&self, caller: Caller) -> impl Future<Output = Result<StoredCatalog, LedgerError>> + Send;

    /// Requests that wait for the store, for `Retry-After`.
    fn queue_depth(&self) -> usize;
}

/// What an operator does to a ledger. Everything may be done again: the last word counts.
pub trait Administration: Ledger {
    fn put_company(&self, company: CompanySettings) -> impl Future<Output = Result<(), AdminError>> + Send;

    fn put_integration(
        &self,
        integration: IntegrationSettings,
    ) -> impl Future<Output = Result<(), AdminError>> + Send;

    /// Accept a token that somebody else chose.
    fn put_credential(
        &self,
        credential: NewCredential,
    ) -> impl Future<Output = Result<(), AdminError>> + Send;

    /// Accept this token no more; whether it was accepted.
    fn revoke_credential(&self, token: TokenHash) -> impl Future<Output = Result<bool, AdminError>> + Send;

    /// Sign new questions with a new secret. The one before it stays good for the questions that it signed. Other
    /// servers read the secrets again with their callers, a few seconds later.
    fn rotate_token_secret(&self) -> impl Future<Output = Result<(), AdminError>> + Send;

    fn put_enrolment_code(
        &self,
        code: NewEnrolmentCode,
    ) -> impl Future<Output = Result<(), AdminError>> + Send;

    fn put_catalog(
        &self,
        company: Company,
        integration: Integration,
        catalog: CatalogBody,
    ) -> impl Future<Output = Result<(), AdminError>> + Send;

    /// Everything as one file ([`crate::transfer`]), secrets included: whoever can read it can act for the server.
    fn export(
        &self,
        to: Box<dyn Write + Send>,
    ) -> impl Future<Output = Result<Summary, TransferError>> + Send;

    /// Everything that an export holds, into a ledger that holds nothing yet. The secrets come along: a
    /// server reads them again before it knows anybody who came with them.
    fn import(
        &self,
        from: Box<dyn BufRead + Send>,
    ) -> impl Future<Output = Result<Summary, TransferError>> + Send;
}

#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    #[error("there is no such company")]
    UnknownCompany,
    #[error("there is no such integration")]
    UnknownIntegration,
    /// It would leave a till with a price or a seat that it cannot sell.
    #[error("the catalog cannot be served")]
    Catalog(#[from] CatalogFault),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

pub use crate::admin::{NewCredential, NewEnrolmentCode};
