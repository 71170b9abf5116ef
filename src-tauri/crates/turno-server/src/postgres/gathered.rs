//! [`Books`] over what was read beforehand for a batch of creations, and what the batch has written so far.
//!
//! Invariant: a request sees what the ones before it in the batch have written. What was not read beforehand is never
//! guessed: the request goes [`Aside`] and leaves nothing behind.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};
use turno_domain::{
    Money,
    ids::{
        Company, DeviceId, Epoch, ExternalOperationId, ExternalPaymentId, ExternalTransactionId,
        IdempotencyKey, YupyTransactionId,
    },
    lookalike::{Clue, Rule, Signal, Traits, clues, telling},
};
use turno_protocol::body::{ChallengeState, State};
use uuid::Uuid;

use super::creations::Job;
use crate::{
    audit::AuditEntry,
    books::{Books, Challenge, EnrolmentCode, KeyRecord, KeyState, Verdict, VoidRecord},
    caller::{ScopeNumber, TokenHash},
    payment::{Fence, Payment},
    sale::{StoredSale, traits, window_ms},
    settings::CompanySettings,
};

/// The request needs more than was read for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Aside;

type Result<T> = std::result::Result<T, Aside>;

/// A text within a scope: an external id or a key.
pub(super) type Scoped = (ScopeNumber, String);

/// What a look-alike is searched by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WantedClue {
    pub scope: ScopeNumber,
    pub amount: Money,
    pub between_ms: (i64, i64),
    pub value: String,
    /// What must not differ, in the order of [`Signal::TELLING`].
    pub telling: [Option<String>; 7],
}

/// The clues of one sale.
pub(super) fn wanted_clues(
    scope: ScopeNumber,
    asked: &Traits,
    rule: &Rule,
) -> BTreeMap<Signal, Vec<WantedClue>> {
    let mut wanted: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for Clue { signal, value } in clues(asked, rule) {
        let (amount, between_ms, telling) = (asked.amount, window_ms(asked, rule), telling(asked));
        wanted.entry(signal).or_default().push(WantedClue { scope, amount, between_ms, value, telling });
    }
    wanted
}

/// What has to be read for a batch.
pub(super) struct Gathering {
    keys: BTreeSet<Scoped>,
    ids: BTreeSet<Scoped>,
    likeness: BTreeSet<String>,
    clues: BTreeMap<Signal, Vec<WantedClue>>,
}

impl Gathering {
    /// `now` is when what has no time of its own happens.
    pub(super) fn of(jobs: &[Job], now: Timestamp) -> Self {
        let (keys, ids) = (BTreeSet::new(), BTreeSet::new());
        let mut wanted = Self { keys, ids, likeness: BTreeSet::new(), clues: BTreeMap::new() };
        for Job { desk, request, .. } in jobs {
            let (scope, rule) = (desk.caller.scope_number, &desk.caller.integration.rule);
            wanted.keys.insert((scope, request.keyed.key.as_str().to_owned()));
            let Ok(sale) = &request.sale else { continue };
            wanted.ids.insert((scope, sale.external_transaction_id.as_str().to_owned()));
            let asked = traits(sale.amount, sale.occurred_at.unwrap_or(now), &sale.details);
            for (signal, mut clues) in wanted_clues(scope, &asked, rule) {
                wanted.likeness.insert(super::books::likeness_lock(scope, sale.amount));
                wanted.clues.entry(signal).or_default().append(&mut clues);
            }
        }
        wanted
    }

    pub(super) fn keys(&self) -> &BTreeSet<Scoped> {
        &self.keys
    }

    pub(super) fn ids(&self) -> &BTreeSet<Scoped> {
        &self.ids
    }

    pub(super) fn clues(&self) -> &BTreeMap<Signal, Vec<WantedClue>> {
        &self.clues
    }

    pub(super) fn id_locks(&self) -> Vec<String> {
        self.ids.iter().map(|(scope, id)| super::sale::id_lock(*scope, id)).collect()
    }

    pub(super) fn likeness_locks(&self) -> Vec<&str> {
        self.likeness.iter().map(String::as_str).collect()
    }

    /// The ids whose locks are among `held`.
    pub(super) fn is_held(&self, held: &BTreeSet<String>) -> HashSet<Scoped> {
        let is_held = |(scope, id): &&Scoped| held.contains(&super::sale::id_lock(*scope, id));
        self.ids.iter().filter(is_held).cloned().collect()
    }
}

pub(super) struct Gathered {
    now: Timestamp,
    keys: HashMap<Scoped, KeyRecord>,
    sales: HashMap<Scoped, StoredSale>,
    /// Active sales that may look like one of the batch, in order of arrival.
    alike: Vec<(ScopeNumber, StoredSale)>,
    /// Where in `alike` the sales with a clue are.
    by_clue: HashMap<(ScopeNumber, i64, Signal, String), Vec<usize>>,
    /// External ids with an open question.
    questions: HashSet<Scoped>,
    /// External ids that nobody else settles until the commit.
    held: HashSet<Scoped>,
    written_keys: Vec<(ScopeNumber, IdempotencyKey, KeyRecord)>,
    written_sales: Vec<(ScopeNumber, StoredSale)>,
    written_questions: Vec<Challenge>,
    written_audit: Vec<AuditEntry>,
}

/// How much was written at one moment.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    keys: usize,
    sales: usize,
    questions: usize,
    audit: usize,
}

impl Gathered {
    pub(super) fn new(
        now: Timestamp,
        keys: HashMap<Scoped, KeyRecord>,
        sales: HashMap<Scoped, StoredSale>,
        alike: Vec<(ScopeNumber, StoredSale)>,
        questions: HashSet<Scoped>,
        held: HashSet<Scoped>,
    ) -> Self {
        let mut gathered = Self {
            now,
            keys,
            sales,
            alike: Vec::with_capacity(alike.len()),
            by_clue: HashMap::new(),
            questions,
            held,
            written_keys: Vec::new(),
            written_sales: Vec::new(),
            written_questions: Vec::new(),
            written_audit: Vec::new(),
        };
        for (scope, sale) in alike {
            gathered.add_alike(scope, sale);
        }
        gathered
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            keys: self.written_keys.len(),
            sales: self.written_sales.len(),
            questions: self.written_questions.len(),
            audit: self.written_audit.len(),
        }
    }

    /// As if nothing had been written since.
    pub(super) fn undo_to(&mut self, mark: Mark) {
        for (scope, key, _) in self.written_keys.drain(mark.keys..) {
            self.keys.remove(&(scope, key.as_str().to_owned()));
        }
        for (scope, sale) in self.written_sales.drain(mark.sales..).rev() {
            self.sales.remove(&(scope, sale.external_transaction_id.as_str().to_owned()));
            self.alike.pop();
            let place = self.alike.len();
            for places in self.by_clue.values_mut() {
                places.retain(|known| *known != place);
            }
        }
        for question in self.written_questions.drain(mark.questions..) {
            self.questions.remove(&asked_about(&question));
        }
        self.written_audit.truncate(mark.audit);
    }

    /// Whatever is written settles a key or is audited.
    pub(super) fn has_written(&self) -> bool {
        !(self.written_keys.is_empty() && self.written_audit.is_empty())
    }

    pub(super) fn written_keys(&self) -> &[(ScopeNumber, IdempotencyKey, KeyRecord)] {
        &self.written_keys
    }

    pub(super) fn written_sales(&self) -> impl Iterator<Item = (ScopeNumber, &StoredSale)> {
        self.written_sales.iter().map(|(scope, sale)| (*scope, sale))
    }

    pub(super) fn written_questions(&self) -> &[Challenge] {
        &self.written_questions
    }

    pub(super) fn written_audit(&self) -> impl Iterator<Item = &AuditEntry> {
        self.written_audit.iter()
    }

    fn add_alike(&mut self, scope: ScopeNumber, sale: StoredSale) {
        let (traits, place) = (sale.traits(), self.alike.len());
        for signal in Signal::ALL {
            if let Some(value) = traits.comparable(signal) {
                self.by_clue.entry((scope, sale.amount.minor(), signal, value)).or_default().push(place);
            }
        }
        self.alike.push((scope, sale));
    }
}

fn asked_about(question: &Challenge) -> Scoped {
    scoped(question.scope_number, question.asked.external_transaction_id.as_str())
}

fn scoped(scope: ScopeNumber, text: &str) -> Scoped {
    (scope, text.to_owned())
}

impl Books for Gathered {
    type Error = Aside;

    fn now(&self) -> Timestamp {
        self.now
    }

    async fn find_key(&mut self, scope: ScopeNumber, key: &IdempotencyKey) -> Result<Option<KeyRecord>> {
        match self.keys.get(&scoped(scope, key.as_str())) {
            // It would have to be held to be settled with this content and no other.
            Some(record) if record.expired || record.state == KeyState::Bound => Err(Aside),
            found => Ok(found.cloned()),
        }
    }

    async fn put_key(&mut self, scope: ScopeNumber, key: &IdempotencyKey, record: &KeyRecord) -> Result<()> {
        let name = scoped(scope, key.as_str());
        if self.keys.contains_key(&name) {
            return Err(Aside);
        }
        self.keys.insert(name, record.clone());
        self.written_keys.push((scope, key.clone(), record.clone()));
        Ok(())
    }

    async fn serialise_look_alikes(&mut self, _: ScopeNumber, _: Money) -> Result<()> {
        // Locked before anything was read.
        Ok(())
    }

    async fn sale_by_id(&mut self, scope: ScopeNumber, id: &str) -> Result<Option<StoredSale>> {
        let is_it =
            |(of, sale): &(&Scoped, &StoredSale)| of.0 == scope && sale.yupy_transaction_id.as_str() == id;
        // Only its own sale is asked for, which was read by its external id.
        self.sales.iter().find(is_it).map(|(_, sale)| Some(sale.clone())).ok_or(Aside)
    }

    async fn sale_by_external_id(
        &mut self,
        scope: ScopeNumber,
        id: &ExternalTransactionId,
    ) -> Result<Option<StoredSale>> {
        let id = scoped(scope, id.as_str());
        if self.held.contains(&id) { Ok(self.sales.get(&id).cloned()) } else { Err(Aside) }
    }

    async fn sales_with_clues(
        &mut self,
        scope: ScopeNumber,
        asked: &Traits,
        _: &Rule,
        clues: &[Clue],
    ) -> Result<Vec<StoredSale>> {
        let named = |clue: &Clue| (scope, asked.amount.minor(), clue.signal, clue.value.clone());
        let places: BTreeSet<usize> =
            clues.iter().filter_map(|clue| self.by_clue.get(&named(clue))).flatten().copied().collect();
        Ok(places.into_iter().map(|place| self.alike[place].1.clone()).collect())
    }

    async fn insert_sale(&mut self, scope: ScopeNumber, sale: &StoredSale) -> Result<()> {
        self.sales.insert(scoped(scope, sale.external_transaction_id.as_str()), sale.clone());
        self.add_alike(scope, sale.clone());
        self.written_sales.push((scope, sale.clone()));
        Ok(())
    }

    async fn open_challenge(
        &mut self,
        scope: ScopeNumber,
        id: &ExternalTransactionId,
    ) -> Result<Option<Challenge>> {
        if self.questions.contains(&scoped(scope, id.as_str())) { Err(Aside) } else { Ok(None) }
    }

    async fn insert_challenge(&mut self, new: &Challenge) -> Result<()> {
        // From here on there is one, and whoever asks for it goes aside.
        self.questions.insert(asked_about(new));
        self.written_questions.push(new.clone());
        Ok(())
    }

    async fn append_audit(&mut self, _: &Company, entry: AuditEntry) -> Result<()> {
        self.written_audit.push(entry);
        Ok(())
    }

    // From here on, what a plain creation never does.

    fn instance(&self) -> &str {
        ""
    }

    fn lease(&self) -> SignedDuration {
        SignedDuration::ZERO
    }

    async fn set_state(&mut self, _: &YupyTransactionId, _: State) -> Result<()> {
        Err(Aside)
    }

    async fn void(&mut self, _: ScopeNumber, _: &ExternalOperationId) -> Result<Option<VoidRecord>> {
        Err(Aside)
    }

    async fn insert_void(&mut self, _: ScopeNumber, _: &VoidRecord) -> Result<()> {
        Err(Aside)
    }

    async fn payment(&mut self, _: ScopeNumber, _: &ExternalPaymentId) -> Result<Option<Payment>> {
        Err(Aside)
    }

    async fn payment_by_acquirer_id(&mut self, _: &str) -> Result<Option<Payment>> {
        Err(Aside)
    }

    async fn unfinished_payments(&mut self, _: u16) -> Result<Vec<Payment>> {
        Err(Aside)
    }

    async fn insert_payment(&mut self, _: &Payment) -> Result<()> {
        Err(Aside)
    }

    async fn replace_payment(&mut self, _: &Fence, _: &Payment) -> Result<bool> {
        Err(Aside)
    }

    async fn finish_keys(&mut self, _: ScopeNumber, _: &str, _: u16) -> Result<()> {
        Err(Aside)
    }

    async fn record_acquirer_event(&mut self, _: &str) -> Result<bool> {
        Err(Aside)
    }

    async fn challenge(&mut self, _: &str) -> Result<Option<Challenge>> {
        Err(Aside)
    }

    async fn set_challenge_state(&mut self, _: &str, _: ChallengeState) -> Result<()> {
        Err(Aside)
    }

    async fn decide_challenge(&mut self, _: &str, _: &Verdict) -> Result<()> {
        Err(Aside)
    }

    async fn company(&mut self, _: &Company) -> Result<CompanySettings> {
        Err(Aside)
    }

    async fn enrolment_code(&mut self, _: &TokenHash) -> Result<Option<EnrolmentCode>> {
        Err(Aside)
    }

    async fn epoch_owner(&mut self, _: ScopeNumber, _: &DeviceId, _: &Epoch) -> Result<Option<Uuid>> {
        Err(Aside)
    }

    async fn register_epoch(&mut self, _: ScopeNumber, _: &DeviceId, _: &Epoch, _: Uuid) -> Result<()> {
        Err(Aside)
    }

    async fn redeem_code(&mut self, _: &EnrolmentCode, _: Uuid, _: &TokenHash) -> Result<()> {
        Err(Aside)
    }
}
