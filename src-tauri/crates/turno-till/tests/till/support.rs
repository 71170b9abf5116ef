//! A till in a folder of its own, a scripted YUPY, a clock that is set by hand and chance that repeats.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;
use turno_print::device::Limits;
use turno_till::clock::Clock;
use turno_till::machine::Machine;
use turno_till::random::Entropy;
use turno_till::room::Ample;
use turno_till::transport::{Failure, Method, Request, Response, Sending, SharedTransport, Transport};
use turno_till::view::{
    Charge, ChargeOutcome, Checkout, ConnectRequest, Line, LookAlikePolicy, OpenShiftRequest, Problem, Role,
    SaleState, SaleSummary, Tender, UnlockRequest,
};
use turno_till::{Options, Till, WriterMode};

pub const CASHIER_PIN: &str = "314159";
pub const MANAGER_PIN: &str = "271828";
/// 2026-11-30 10:00 in Lima.
pub const MORNING: i64 = 1_796_050_800_000;

/// A printer on this machine answers at once or not at all.
const IMPATIENT: Limits = Limits {
    connect: Duration::from_millis(500),
    write: Duration::from_millis(500),
    status: Duration::from_millis(200),
    finish: Duration::from_millis(400),
};

/// The wall's time, and the time that nobody can set.
pub struct HandClock(AtomicI64, AtomicI64);

impl HandClock {
    pub fn at(ms: i64) -> Self {
        Self(AtomicI64::new(ms), AtomicI64::new(0))
    }

    pub fn ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    pub fn forward(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
        self.1.fetch_add(ms.max(0), Ordering::SeqCst);
    }

    /// Somebody sets the clock; no time passes.
    pub fn set_by(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.0.load(Ordering::SeqCst)).unwrap()
    }

    fn running(&self) -> i64 {
        self.1.load(Ordering::SeqCst)
    }
}

/// SplitMix64: different every time, the same in every run.
pub struct Seeded(AtomicU64);

impl Seeded {
    pub fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }
}

impl Entropy for Seeded {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let mut z =
                self.0.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::SeqCst).wrapping_add(0x9E37_79B9_7F4A_7C15);
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            chunk.copy_from_slice(&(z ^ (z >> 31)).to_le_bytes()[..chunk.len()]);
        }
    }
}

#[derive(Clone, Debug)]
pub struct Sent {
    pub path: String,
    pub key: Option<String>,
    pub body: Vec<u8>,
}

impl Sent {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

pub type Reply = Result<Response, Failure>;
type Script = VecDeque<Box<dyn FnOnce(&str, &Value) -> Reply + Send>>;
type Habit = Box<dyn FnMut(&str, &Value) -> Reply + Send>;

/// Answers enrolment and catalog by itself, sales from a script; with an empty script it accepts.
#[derive(Default)]
pub struct Yupy {
    pub sent: Mutex<Vec<Sent>>,
    script: Mutex<Script>,
    /// What it does when the script is empty, instead of accepting.
    habit: Mutex<Option<Habit>>,
    /// Used when the script is empty.
    always: Mutex<Option<Failure>>,
    /// Instead of the usual catalog.
    catalog: Mutex<Option<Value>>,
    /// What a look at a list answers; usually nothing.
    listed: Mutex<Option<Value>>,
    /// What it answers to decisions; when there is nothing here it takes them.
    decisions: Mutex<Script>,
    /// How its questions stand, by id; any other is unknown.
    challenges: Mutex<Vec<Value>>,
    is_list_forbidden: AtomicBool,
    /// Members of the answer to an enrolment that are other than usual.
    enrolment: Mutex<Value>,
}

impl Yupy {
    pub fn then(&self, reply: impl FnOnce(&Value) -> Reply + Send + 'static) -> &Self {
        self.then_keyed(move |_, body| reply(body))
    }

    /// The same, for a reply that depends on the request's key.
    pub fn then_keyed(&self, reply: impl FnOnce(&str, &Value) -> Reply + Send + 'static) -> &Self {
        self.script.lock().unwrap().push_back(Box::new(reply));
        self
    }

    /// What it answers to the next decision that it is told.
    pub fn then_decision(&self, reply: impl FnOnce(&Value) -> Reply + Send + 'static) -> &Self {
        self.decisions.lock().unwrap().push_back(Box::new(move |_, body| reply(body)));
        self
    }

    /// From now on a question stands like this.
    pub fn challenge(&self, challenge: Value) {
        let mut challenges = self.challenges.lock().unwrap();
        challenges.retain(|known| known["challenge_id"] != challenge["challenge_id"]);
        challenges.push(challenge);
    }

    /// The credential has no manager's right.
    pub fn forbid_list(&self) {
        self.is_list_forbidden.store(true, Ordering::SeqCst);
    }

    /// The decisions that it was told.
    pub fn decisions(&self) -> Vec<Sent> {
        let sent = self.sent.lock().unwrap();
        sent.iter().filter(|sent| sent.path == "/v1/duplicate-resolutions").cloned().collect()
    }

    /// What it answers when the script is empty.
    pub fn otherwise(&self, habit: impl FnMut(&str, &Value) -> Reply + Send + 'static) {
        *self.habit.lock().unwrap() = Some(Box::new(habit));
    }

    pub fn down(&self, failure: Failure) {
        *self.always.lock().unwrap() = Some(failure);
    }

    pub fn up(&self) {
        *self.always.lock().unwrap() = None;
    }

    /// From the next look at it on, another catalog.
    pub fn offer(&self, catalog: Value) {
        *self.catalog.lock().unwrap() = Some(catalog);
    }

    /// The list of the till's sales, on one page.
    pub fn list(&self, items: Vec<Value>) {
        *self.listed.lock().unwrap() = Some(json!({ "items": items, "next": null }));
    }

    /// A list whose next page is always the same.
    pub fn list_goes_round(&self) {
        *self.listed.lock().unwrap() = Some(json!({ "items": [], "next": "again" }));
    }

    /// From the next enrolment on, answers with these members.
    pub fn enrol_with(&self, members: Value) {
        *self.enrolment.lock().unwrap() = members;
    }

    pub fn sales(&self) -> Vec<Sent> {
        self.sent.lock().unwrap().iter().filter(|sent| sent.path == "/v1/transactions").cloned().collect()
    }

    fn answer(&self, request: &Request) -> Reply {
        let body: Value =
            request.body.as_deref().map_or(Value::Null, |body| serde_json::from_slice(body).unwrap());
        if request.if_none_match.is_some() {
            return Ok(Response { status: 304, ..Response::default() });
        }
        if request.path == "/v1/catalog"
            && let Some(catalog) = &*self.catalog.lock().unwrap()
        {
            return json_answer(200, catalog);
        }
        if let Some(reply) = about_the_till(request, &body) {
            let enrolment = self.enrolment.lock().unwrap();
            let members = Some(&*enrolment).filter(|it| it.is_object() && request.method == Method::Post);
            return members.map_or_else(|| reply.clone(), |members| with_members(reply.clone(), members));
        }
        if let Some(failure) = *self.always.lock().unwrap() {
            return Err(failure);
        }
        if let Some(id) = request.path.strip_prefix("/v1/duplicate-challenges/") {
            let challenges = self.challenges.lock().unwrap();
            let known = challenges.iter().find(|known| known["challenge_id"] == id);
            return known.map_or_else(|| error(404, "not_found")(&body), |known| json_answer(200, known));
        }
        if request.path.starts_with("/v1/duplicate-challenges?") {
            if self.is_list_forbidden.load(Ordering::SeqCst) {
                return error(403, "forbidden")(&body);
            }
            let open: Vec<_> = self.challenges.lock().unwrap().clone();
            return json_answer(200, &json!({ "items": open, "next": null }));
        }
        if request.path == "/v1/duplicate-resolutions" {
            let next = self.decisions.lock().unwrap().pop_front();
            return next.map_or_else(|| took_decision(&body), |reply| reply("", &body));
        }
        if request.method == Method::Get {
            let listed = self.listed.lock().unwrap().clone();
            return json_answer(200, &listed.unwrap_or_else(|| json!({ "items": [], "next": null })));
        }
        // Let go of before it runs: a reply may panic.
        let next = self.script.lock().unwrap().pop_front();
        let key = request.idempotency_key.as_deref().unwrap_or_default();
        match next {
            Some(reply) => reply(key, &body),
            None => match &mut *self.habit.lock().unwrap() {
                Some(habit) => habit(key, &body),
                None => accepted(&body),
            },
        }
    }
}

impl Transport for Yupy {
    fn send(&self, request: Request) -> Sending<'_> {
        Box::pin(async move {
            let sent = Sent {
                path: request.path.clone(),
                key: request.idempotency_key.clone(),
                body: request.body.clone().unwrap_or_default(),
            };
            self.sent.lock().unwrap().push(sent);
            self.answer(&request)
        })
    }
}

pub fn with_members(reply: Reply, members: &Value) -> Reply {
    let mut body: Value = serde_json::from_slice(&reply?.body).unwrap();
    body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    json_answer(200, &body)
}

/// Enrolment and catalog.
pub fn about_the_till(request: &Request, body: &Value) -> Option<Reply> {
    match request.path.as_str() {
        "/v1/devices/enroll" => Some(json_answer(
            200,
            &json!({
                "credential": "secret-credential", "company": "A", "integration": "pos",
                "environment": "production", "device_id": "D03", "epoch": body["epoch"], "currency": "PEN",
                "company_name": "Transportes del Sur", "catalog_url": "/v1/catalog", "request_id": "r-enrol",
            }),
        )),
        "/v1/devices/epochs" => Some(json_answer(
            200,
            &json!({ "device_id": body["device_id"], "epoch": body["epoch"], "request_id": "r-epoch" }),
        )),
        "/v1/catalog" => Some(json_answer(200, &catalog())),
        _ => None,
    }
}

pub fn json_answer(status: u16, body: &Value) -> Reply {
    Ok(Response {
        status,
        media_type: Some("application/json".to_owned()),
        body: body.to_string().into_bytes(),
        ..Response::default()
    })
}

pub fn accepted(body: &Value) -> Reply {
    let id = body["external_transaction_id"].as_str().unwrap();
    json_answer(
        201,
        &json!({
            "result": "created", "yupy_transaction_id": format!("ypt-{id}"), "external_transaction_id": id,
            "occurred_at": body["occurred_at"],
        }),
    )
}

pub fn took_decision(body: &Value) -> Reply {
    json_answer(
        200,
        &json!({
            "challenge_id": body["challenge_id"], "state": "closed", "decision": body["decision"],
            "decided_by": body["decided_by"], "request_id": "r-3",
        }),
    )
}

/// Somebody else was first, with the other decision.
pub fn already_resolved(decision: &str, decided_by: &str) -> impl FnOnce(&Value) -> Reply + Send + 'static {
    let body = json!({ "error": {
        "code": "already_resolved", "message": "…", "request_id": "r-4", "retryable": false,
        "decision": decision, "decided_by": decided_by,
    } });
    move |_| json_answer(409, &body)
}

pub fn error(status: u16, code: &str) -> impl FnOnce(&Value) -> Reply + Send + 'static {
    let body = json!({ "error": { "code": code, "message": "…", "request_id": "r-1", "retryable": false } });
    move |_| json_answer(status, &body)
}

/// The question about a sale, naming one candidate.
pub fn question(
    challenge: &'static str,
    token: &'static str,
    candidate: &'static str,
) -> impl FnOnce(&Value) -> Reply + Send + 'static {
    move |body| {
        json_answer(
            409,
            &json!({ "error": {
                "code": "possible_duplicate_transaction", "message": "…", "request_id": "r-2", "retryable": false,
                "candidate": {
                    "yupy_transaction_id": candidate, "external_transaction_id": format!("E-{candidate}"),
                    "amount": body["amount"], "currency": "PEN", "occurred_at": "2026-11-30T14:59:20Z",
                    "device_id": "D03", "shift_id": "S1", "state": { "operational": "active", "financial": "paid" },
                },
                "candidates_count": 1, "matching_signals": ["amount", "currency", "route", "seat"],
                "challenge_id": challenge, "duplicate_confirmation_token": token,
                "expires_at": "2026-12-01T15:00:00Z", "resolution": "review_before_creating",
            } }),
        )
    }
}

pub fn catalog() -> Value {
    json!({
        "revision": "1", "currency": "PEN",
        "routes": [
            { "route": "184", "name": "Lima – Arequipa", "kind": "intercity", "stops": ["Lima", "Ica", "Arequipa"] },
            { "route": "U7", "name": "Línea 7", "kind": "urban", "stops": [] },
        ],
        "services": [{
            "service": "184-2030", "route": "184", "departs_at": "2026-12-01T01:30:00Z", "name": "Lima – Arequipa",
            "detail": "Cama 160°", "layout": "L", "fare": "85.50", "seat_fares": { "1A": "110.00" },
        }],
        "layouts": [{ "layout": "L", "decks": [
            { "number": 1, "rows": [["1A", null, "1B"]] },
            { "number": 2, "rows": [["11A", "11B", null, "11C"], ["12A", "12B", null, "12C"]] },
        ] }],
        "fares": [{ "fare": "U7-adulto", "route": "U7", "name": "Pasaje urbano", "detail": "", "price": "2.00" }],
        "products": [{ "product": "equipaje", "name": "Equipaje extra", "detail": "", "price": "9.96" }],
    })
}

/// A till of a folder with nothing real in it but the disk.
pub fn options(folder: &Path, clock: Arc<HandClock>, chance: Seeded, transport: SharedTransport) -> Options {
    Options {
        clock,
        entropy: Arc::new(chance),
        connector: Arc::new(move |_, _| Ok(Arc::clone(&transport))),
        writer: WriterMode::Inline,
        machine: Machine::named("the machine of the tests"),
        printer: IMPATIENT,
        disk: Arc::new(Ample),
        ..Options::new(folder.to_owned(), folder.join("secrets"))
    }
}

/// Enrols the till, gives it a cashier and a manager, and opens a shift.
pub async fn set_up(till: &Till) {
    let address = "http://yupy.test".to_owned();
    till.connect(&ConnectRequest { address, enrolment_code: "C".to_owned() }).await.unwrap();
    till.add_person("c", "Caja", Role::Cashier, CASHIER_PIN).await.unwrap();
    till.add_person("m", "Encargado", Role::Manager, MANAGER_PIN).await.unwrap();
    unlock(till).await;
    till.open_shift(&OpenShiftRequest { float: "100".to_owned() }).await.unwrap();
}

pub async fn unlock(till: &Till) {
    till.unlock(&UnlockRequest { person_id: "c".to_owned(), pin: CASHIER_PIN.to_owned() }).await.unwrap();
}

/// A till with an open shift, ready to sell.
pub struct Shop {
    pub till: Till,
    pub yupy: Arc<Yupy>,
    pub clock: Arc<HandClock>,
    options: Options,
    folder: TempDir,
}

impl Shop {
    pub async fn bare() -> Self {
        Self::bare_with(|_| ()).await
    }

    pub async fn bare_with(change: impl FnOnce(&mut Options)) -> Self {
        let folder = TempDir::new().unwrap();
        let yupy = Arc::new(Yupy::default());
        let clock = Arc::new(HandClock::at(MORNING));
        let mut options = options(folder.path(), clock.clone(), Seeded::new(7), yupy.clone());
        change(&mut options);
        let till = Till::open(options.clone()).await.unwrap();
        Self { till, yupy, clock, options, folder }
    }

    pub async fn open() -> Self {
        let shop = Self::bare().await;
        set_up(&shop.till).await;
        shop
    }

    pub async fn unlock(&self) {
        unlock(&self.till).await;
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// As [`Self::crash`], and nobody unlocks it.
    pub async fn reopen(&mut self) {
        self.till.close().await;
        self.till = Till::open(self.options.clone()).await.unwrap();
    }

    /// Drops the till where it stands, as a killed process does, and opens its folder again.
    pub async fn crash(&mut self) {
        self.till.close().await;
        self.till = Till::open(self.options.clone()).await.unwrap();
        self.unlock().await;
    }

    pub async fn charge(&self, lines: Vec<Line>) -> Result<ChargeOutcome, Problem> {
        self.till.charge(&charge(&self.till.open_draft().draft_id, lines)).await
    }

    pub async fn sell(&self, line: Line) -> Box<Checkout> {
        let mut request = charge(&self.till.open_draft().draft_id, vec![line]);
        request.look_alikes = LookAlikePolicy::SellAnyway;
        match self.till.charge(&request).await.unwrap() {
            ChargeOutcome::Recorded { checkout } => checkout,
            other @ ChargeOutcome::LookAlike { .. } => panic!("{other:?}"),
        }
    }

    pub async fn sale(&self, external_transaction_id: &str) -> SaleSummary {
        let page = self.till.recent_sales(None).await.unwrap();
        page.items.into_iter().find(|sale| sale.external_transaction_id == external_transaction_id).unwrap()
    }

    /// Waits until the sale is in this state; the tests' paused time passes by itself.
    pub async fn until(&self, external_transaction_id: &str, state: SaleState) -> SaleSummary {
        let mut changes = self.till.changes();
        for _ in 0..200 {
            let sale = self.sale(external_transaction_id).await;
            if sale.state == state {
                return sale;
            }
            // The wall clock follows paused time in steps, so that what is due later becomes due.
            if tokio::time::timeout(Duration::from_secs(1), changes.changed()).await.is_err() {
                self.clock.forward(1_000);
            }
        }
        panic!(
            "{external_transaction_id} never became {state:?}: {:?}",
            self.sale(external_transaction_id).await
        );
    }
}

pub fn charge(draft_id: &str, lines: Vec<Line>) -> Charge {
    Charge {
        draft_id: draft_id.to_owned(),
        lines,
        tenders: vec![Tender::Cash { received: None }],
        look_alikes: LookAlikePolicy::Ask,
        approval: None,
    }
}

pub fn seat(seat: &str) -> Line {
    let shown_price_minor = if seat == "1A" { 11_000 } else { 8_550 };
    Line {
        offer_id: "departure:184-2030".to_owned(),
        seat: Some(seat.to_owned()),
        quantity: 1,
        buyer_name: None,
        shown_price_minor,
        discount: None,
    }
}

pub fn fare(quantity: u32) -> Line {
    Line {
        offer_id: "fare:U7-adulto".to_owned(),
        seat: None,
        quantity,
        buyer_name: None,
        shown_price_minor: 200,
        discount: None,
    }
}

pub fn luggage() -> Line {
    Line {
        offer_id: "product:equipaje".to_owned(),
        seat: None,
        quantity: 1,
        buyer_name: None,
        shown_price_minor: 996,
        discount: None,
    }
}

pub fn recorded(outcome: ChargeOutcome) -> Box<Checkout> {
    match outcome {
        ChargeOutcome::Recorded { checkout } => checkout,
        ChargeOutcome::LookAlike { warnings } => panic!("{warnings:?}"),
    }
}
