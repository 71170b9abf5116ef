//! §5 and §6 as a model: a few vectors, and what each request must be answered.
//!
//! Invariant: nothing here comes from the server except the ids and tokens that it gave out, which are learnt from
//! the answers in which they must be new.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};

use crate::{
    compare::{Expected, Learn},
    look_alike::{Traits, apart_ms, signals},
    step::Decision,
    ticket::{Field, Ticket},
};

const TOKEN_LIFE_MS: i64 = 86_400_000;
const KEY_LIFE_MS: i64 = 30 * 86_400_000;

/// A request with everything in it that goes over the line.
#[derive(Clone, Debug)]
pub enum Request {
    Create { key: String, ticket: Ticket, token: Option<String>, said: Option<&'static str> },
    Void { key: String, path: String, operation: &'static str },
    Resolve { target: Target, decision: Decision, by: &'static str },
    Read { path: String },
}

#[derive(Clone, Debug)]
pub enum Target {
    Id(String),
    Token(String),
}

#[derive(Debug, Default)]
pub struct Model {
    pub now_ms: i64,
    keys: HashMap<String, Key>,
    pub sales: Vec<Sale>,
    pub questions: Vec<Question>,
    voids: HashMap<&'static str, (usize, &'static str)>,
    pub resolved: usize,
}

#[derive(Debug)]
struct Key {
    content: Content,
    /// The answer to repeat; `None` while it is only bound.
    last: Option<Final>,
    settled_ms: i64,
}

#[derive(Clone, Debug)]
struct Final {
    status: u16,
    sale: usize,
    /// Of a void, how it ended.
    result: Option<&'static str>,
}

/// What §4 calls the full fingerprint.
#[derive(Clone, Debug, PartialEq)]
enum Content {
    Sale { core: Box<Core>, token: Option<String>, said: Option<&'static str> },
    Void { path: String, operation: &'static str },
}

/// What §4 calls the core fingerprint.
#[derive(Clone, Debug, PartialEq)]
pub struct Core {
    external_id: &'static str,
    amount: Result<i64, usize>,
    currency: Option<&'static str>,
    seconds: Option<i64>,
    method: Option<&'static str>,
    texts: [Option<&'static str>; Field::ALL.len()],
}

#[derive(Debug)]
pub struct Sale {
    /// Learnt.
    pub id: String,
    traits: Traits,
    pub is_voided: bool,
}

#[derive(Debug)]
pub struct Question {
    /// Learnt, both.
    pub id: String,
    pub token: String,
    pub ticket: Ticket,
    core: Core,
    candidates: BTreeSet<usize>,
    state: State,
    expires_ms: i64,
    decision: Option<(Decision, &'static str)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Open,
    Spent,
    Superseded,
    Expired,
    /// Decided to be the same sale.
    Closed,
}

impl Model {
    pub fn expect(&mut self, request: &Request) -> Expected {
        match request {
            Request::Create { key, ticket, token, said } => self.create(key, ticket, token.as_ref(), *said),
            Request::Void { key, path, operation } => self.void(key, path, operation),
            Request::Resolve { target, decision, by } => self.resolve(target, *decision, by),
            Request::Read { path } => match self.sale_by_id(path) {
                Some(sale) => {
                    Expected::ok(200, self.sale(sale)).happened(self.sales[sale].traits.happened_ms)
                }
                None => Expected::refused(404, "transaction_not_found"),
            },
        }
    }

    pub fn learn(&mut self, learn: Learn, first: String, second: String) {
        match learn {
            Learn::Nothing => {}
            Learn::Sale(sale) => self.sales[sale].id = first,
            Learn::Question(question) => {
                self.questions[question].id = first;
                self.questions[question].token = second;
            }
        }
    }

    /// Whether an id or a token was given out before.
    pub fn knows(&self, text: &str) -> bool {
        self.sales.iter().any(|sale| sale.id == text)
            || self.questions.iter().any(|question| question.id == text || question.token == text)
    }

    pub fn count(&self, state: State) -> usize {
        self.questions.iter().filter(|question| question.state == state).count()
    }

    fn create(
        &mut self,
        key: &str,
        ticket: &Ticket,
        token: Option<&String>,
        said: Option<&'static str>,
    ) -> Expected {
        let core = Core::of(ticket);
        let content = Content::Sale { core: Box::new(core.clone()), token: token.cloned(), said };
        // D
        match self.known_key(key, &content) {
            Some(Err(conflict)) => return conflict,
            Some(Ok(Some(last))) => return self.replay(&last),
            Some(Ok(None)) | None => {}
        }
        // E
        let mut faults = BTreeSet::new();
        if ticket.minor().is_none() {
            faults.insert("amount");
        }
        if said.is_some() && token.is_none() {
            faults.insert("confirmed_by");
        }
        let (Some(minor), true) = (ticket.minor(), faults.is_empty()) else {
            return Expected::invalid(&faults);
        };
        let happened_ms = ticket.seconds().map_or(self.now_ms, |seconds| seconds * 1_000);
        let currency = ticket.currency().unwrap_or("PEN");
        let asked = Traits { ticket: ticket.clone(), minor, currency, happened_ms };
        // F
        if let Some(stored) = self.sale_by_external_id(ticket.external_id()) {
            return self.known_sale(key, content, stored, &asked);
        }
        // G
        let worth = match token.map(|token| self.weigh(token, &core)).transpose() {
            Ok(worth) => worth,
            Err(reasons) => return Expected::confirmation_refused(&reasons),
        };
        let candidates = self.candidates(&asked);
        let named: BTreeSet<usize> = candidates.iter().map(|candidate| candidate.sale).collect();
        match worth {
            None if named.is_empty() => self.sell(key, content, asked, None, Value::Null),
            None => self.ask(key, content, core, ticket, &candidates, Value::Null),
            Some(Worth::Good(question)) if named.is_subset(&self.questions[question].candidates) => {
                self.sell(key, content, asked, Some(question), json!("some"))
            }
            Some(Worth::Good(_)) => self.ask(key, content, core, ticket, &candidates, json!("superseded")),
            Some(Worth::Lapsed(_)) if named.is_empty() => self.sell(key, content, asked, None, json!("some")),
            Some(Worth::Lapsed(why)) => self.ask(key, content, core, ticket, &candidates, json!(why)),
        }
    }

    /// D1 is the error, D2 the last answer, D5 nothing.
    fn known_key(&self, key: &str, content: &Content) -> Option<Result<Option<Final>, Expected>> {
        let known = self.keys.get(key).filter(|known| self.now_ms - known.settled_ms < KEY_LIFE_MS)?;
        if known.content == *content {
            return Some(Ok(known.last.clone()));
        }
        let mut conflict = Expected::refused(409, "idempotency_conflict");
        conflict.body["error"]["hint"] = match (&known.content, content) {
            (Content::Sale { core: first, .. }, Content::Sale { core, token, said }) if first == core => {
                if token.is_none() && said.is_none() {
                    // Here the contract says nothing: the first had a confirmation, and this has none.
                    return Some(Err(Expected::refused(409, "idempotency_conflict")));
                }
                json!("confirmation_requires_new_key")
            }
            _ => Value::Null,
        };
        Some(Err(conflict))
    }

    fn settle(&mut self, key: &str, content: Content, last: Option<Final>) {
        self.keys.insert(key.to_owned(), Key { content, last, settled_ms: self.now_ms });
    }

    fn replay(&self, last: &Final) -> Expected {
        let mut body = self.sale_with_state(last.sale);
        body["result"] = json!(last.result.unwrap_or("existing_transaction"));
        body["idempotency_replayed"] = json!(true);
        body["original_status"] = json!(last.status);
        Expected::ok(200, body).replayed(true)
    }

    fn known_sale(&mut self, key: &str, content: Content, stored: usize, sent: &Traits) -> Expected {
        let sale = &self.sales[stored];
        let mut conflicting = BTreeSet::new();
        let mut ignored = BTreeSet::new();
        if sale.traits.minor != sent.minor {
            conflicting.insert("amount");
        }
        if sale.traits.currency != sent.currency {
            conflicting.insert("currency");
        }
        for field in Field::ALL {
            let value =
                |ticket: &Ticket| ticket.text(field).map(|text| text.content).filter(|text| !text.is_empty());
            match (value(&sale.traits.ticket), value(&sent.ticket)) {
                (Some(kept), Some(said)) if kept != said && field.is_context() => {
                    conflicting.insert(field.as_str());
                }
                (kept, said @ Some(_)) if kept != said && !field.is_context() => {
                    ignored.insert(field.as_str());
                }
                (Some(_) | None, Some(_) | None) => {}
            }
        }
        if sent.ticket.seconds().is_some() && sent.happened_ms != sale.traits.happened_ms {
            ignored.insert("occurred_at");
        }
        if sent.ticket.method().is_some() && sent.ticket.method() != sale.traits.ticket.method() {
            ignored.insert("payment_method");
        }
        if !conflicting.is_empty() {
            let mut conflict = Expected::refused(409, "external_transaction_conflict");
            conflict.body["error"]["conflicting_fields"] = json!(conflicting);
            conflict.body["error"]["yupy_transaction_id"] = json!(sale.id);
            self.settle(key, content, None);
            return conflict;
        }
        let mut body = self.sale_with_state(stored);
        body["result"] = json!("existing_transaction");
        body["duplicate"] = json!(true);
        body["duplicate_type"] = json!("same_external_transaction");
        body["ignored_differences"] = json!(ignored);
        let expected = Expected::ok(200, body).replayed(false).happened(sale.traits.happened_ms);
        self.settle(key, content, Some(Final { status: 200, sale: stored, result: None }));
        expected
    }

    /// G1 is the error: any of these reasons.
    fn weigh(&self, token: &str, core: &Core) -> Result<Worth, Vec<&'static str>> {
        let found = self.questions.iter().position(|question| question.token == token);
        let Some(found) = found else { return Err(vec!["malformed", "not_issued_here"]) };
        let state = self.state(found);
        let is_over = matches!(state, State::Spent | State::Closed);
        match self.questions[found].core == *core {
            false if is_over => Err(vec!["payload_changed", "not_open"]),
            false => Err(vec!["payload_changed"]),
            true if is_over => Err(vec!["not_open"]),
            true => Ok(match state {
                State::Open => Worth::Good(found),
                State::Expired => Worth::Lapsed("expired"),
                State::Superseded | State::Spent | State::Closed => Worth::Lapsed("superseded"),
            }),
        }
    }

    fn state(&self, question: usize) -> State {
        let question = &self.questions[question];
        if question.state == State::Open && question.expires_ms <= self.now_ms {
            State::Expired
        } else {
            question.state
        }
    }

    fn candidates(&self, asked: &Traits) -> Vec<Candidate> {
        let active = self.sales.iter().enumerate().filter(|(_, sale)| !sale.is_voided);
        active
            .filter_map(|(sale, stored)| {
                let signals = signals(asked, &stored.traits)?;
                Some(Candidate { sale, signals, apart_ms: apart_ms(asked, &stored.traits) })
            })
            .collect()
    }

    /// G2, G4, G6 and H1. `confirmed` is null where no token was used.
    fn sell(
        &mut self,
        key: &str,
        content: Content,
        asked: Traits,
        by: Option<usize>,
        mut confirmed: Value,
    ) -> Expected {
        let external_id = asked.ticket.external_id();
        if let Some(question) = by {
            self.questions[question].state = State::Spent;
            let named = self.questions[question].candidates.iter().map(|sale| json!(self.sales[*sale].id));
            confirmed = named.collect();
        } else if !confirmed.is_null() {
            confirmed = json!([]);
        }
        // A sold id leaves no open question behind.
        for question in &mut self.questions {
            if question.core.external_id == external_id && question.state == State::Open {
                question.state = State::Superseded;
            }
        }
        let sale = self.sales.len();
        let happened_ms = asked.happened_ms;
        self.sales.push(Sale { id: String::new(), traits: asked, is_voided: false });
        self.settle(key, content, Some(Final { status: 201, sale, result: None }));
        let mut body = self.sale(sale);
        body["result"] = json!("created");
        body["duplicate"] = json!(false);
        body["idempotency_replayed"] = json!(false);
        body["confirmed_duplicate_of"] = confirmed;
        Expected::ok(201, body).replayed(false).happened(happened_ms).learns(Learn::Sale(sale))
    }

    /// G3, G5 and G6.
    fn ask(
        &mut self,
        key: &str,
        content: Content,
        core: Core,
        ticket: &Ticket,
        candidates: &[Candidate],
        previous: Value,
    ) -> Expected {
        self.settle(key, content, None);
        let named: BTreeSet<usize> = candidates.iter().map(|candidate| candidate.sale).collect();
        let mut expected = Expected::refused(409, "possible_duplicate_transaction");
        let error = &mut expected.body["error"];
        error["previous_confirmation"] = previous;
        error["candidates_count"] = json!(candidates.len());
        error["resolution"] = json!("review_before_creating");
        expected.any_of = self.best(candidates);
        let open = (0..self.questions.len()).find(|question| {
            let question = &self.questions[*question];
            question.core.external_id == core.external_id && question.state == State::Open
        });
        if let Some(open) = open {
            let state = self.state(open);
            let question = &mut self.questions[open];
            if state == State::Open && question.core == core && question.candidates == named {
                error["challenge_id"] = json!(question.id);
                error["duplicate_confirmation_token"] = json!(question.token);
                return expected;
            }
            question.state = if state == State::Open { State::Superseded } else { state };
        }
        self.questions.push(Question {
            id: String::new(),
            token: String::new(),
            ticket: ticket.clone(),
            core,
            candidates: named,
            state: State::Open,
            expires_ms: self.now_ms + TOKEN_LIFE_MS,
            decision: None,
        });
        expected.learns(Learn::Question(self.questions.len() - 1))
    }

    /// What may be shown: of those with most signals the nearest in time, and either of two that are equal in both.
    fn best(&self, candidates: &[Candidate]) -> Vec<Value> {
        let rank = |candidate: &Candidate| (std::cmp::Reverse(candidate.signals.len()), candidate.apart_ms);
        let first = candidates.iter().map(rank).min();
        let best = candidates.iter().filter(|candidate| Some(rank(candidate)) == first);
        best.map(|Candidate { sale, signals, .. }| {
            let mut shown = self.sale(*sale);
            let stored = &self.sales[*sale].traits.ticket;
            shown["device_id"] = json!(stored.text(Field::DeviceId).map(|text| text.written));
            shown["shift_id"] = json!(stored.text(Field::ShiftId).map(|text| text.written));
            json!({"error": {"candidate": shown, "matching_signals": signals}})
        })
        .collect()
    }

    fn void(&mut self, key: &str, path: &str, operation: &'static str) -> Expected {
        let content = Content::Void { path: path.to_owned(), operation };
        match self.known_key(key, &content) {
            Some(Err(conflict)) => return conflict,
            Some(Ok(Some(last))) => return self.replay(&last),
            Some(Ok(None)) | None => {}
        }
        let Some(sale) = self.sale_by_id(path) else {
            return Expected::refused(404, "transaction_not_found");
        };
        let result = match self.voids.get(operation) {
            Some((other, _)) if *other != sale => {
                self.settle(key, content, None);
                return Expected::refused(409, "external_transaction_conflict");
            }
            Some(_) => "existing_operation",
            None if self.sales[sale].is_voided => "already_in_state",
            None => "applied",
        };
        self.sales[sale].is_voided = true;
        let kept = self.voids.entry(operation).or_insert((sale, result)).1;
        self.settle(key, content, Some(Final { status: 200, sale, result: Some(kept) }));
        let mut body = self.sale_with_state(sale);
        body["result"] = json!(result);
        body["external_operation_id"] = json!(operation);
        Expected::ok(200, body).replayed(false)
    }

    fn resolve(&mut self, target: &Target, decision: Decision, by: &'static str) -> Expected {
        let found = self.questions.iter().position(|question| match target {
            Target::Id(id) => question.id == *id,
            Target::Token(token) => question.token == *token,
        });
        let Some(found) = found else {
            return match target {
                Target::Id(_) => Expected::refused(404, "not_found"),
                Target::Token(_) => Expected::confirmation_refused(&["malformed", "not_issued_here"]),
            };
        };
        let state = self.state(found);
        match self.questions[found].decision {
            Some((first, _)) if first == decision => {}
            Some((first, by)) => {
                let mut refused = Expected::refused(409, "already_resolved");
                refused.body["error"]["decision"] = json!(first.as_str());
                refused.body["error"]["decided_by"] = json!(by);
                return refused;
            }
            None if state != State::Open => {
                return match target {
                    Target::Id(_) => Expected::refused(409, "invalid_state"),
                    Target::Token(_) => Expected::confirmation_refused(&["not_open"]),
                };
            }
            None => {
                self.resolved += 1;
                self.questions[found].decision = Some((decision, by));
                if decision == Decision::SameSale {
                    self.questions[found].state = State::Closed;
                }
            }
        }
        let question = &self.questions[found];
        let decision = question.decision.expect("it was decided now or before");
        Expected::ok(
            200,
            json!({"challenge_id": question.id, "decision": decision.0.as_str(), "decided_by": decision.1}),
        )
    }

    fn sale_by_id(&self, id: &str) -> Option<usize> {
        self.sales.iter().position(|sale| sale.id == id)
    }

    pub fn sale_by_external_id(&self, id: &str) -> Option<usize> {
        self.sales.iter().position(|sale| sale.traits.ticket.external_id() == id)
    }

    fn sale_with_state(&self, sale: usize) -> Value {
        let Sale { id, traits, is_voided } = &self.sales[sale];
        let mut body = json!({
            "external_transaction_id": traits.ticket.external_id(),
            "state": {
                "operational": if *is_voided { "voided" } else { "active" },
                "financial": if traits.ticket.method() == Some("cash") { "paid" } else { "awaiting_payment" },
            },
        });
        if !id.is_empty() {
            body["yupy_transaction_id"] = json!(id);
        }
        body
    }

    fn sale(&self, sale: usize) -> Value {
        let mut body = self.sale_with_state(sale);
        let Traits { minor, currency, .. } = &self.sales[sale].traits;
        body["amount"] = json!(format!("{}.{:02}", minor / 100, minor % 100));
        body["currency"] = json!(currency);
        body
    }
}

enum Worth {
    Good(usize),
    Lapsed(&'static str),
}

struct Candidate {
    sale: usize,
    signals: Vec<&'static str>,
    apart_ms: i64,
}

impl Core {
    fn of(ticket: &Ticket) -> Self {
        Self {
            external_id: ticket.external_id(),
            amount: ticket.minor().ok_or(ticket.amount),
            currency: ticket.currency(),
            seconds: ticket.seconds(),
            method: ticket.method(),
            texts: Field::ALL.map(|field| ticket.text(field).map(|text| text.content)),
        }
    }
}
