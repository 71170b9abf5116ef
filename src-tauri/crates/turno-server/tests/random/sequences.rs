//! Plays a sequence on both sides.

use std::{
    cell::{Cell, RefCell},
    io::{Write, stderr},
    rc::Rc,
};

use proptest::prelude::*;
use serde_json::json;

use crate::{
    compare::{Expected, Learn},
    config,
    model::{Model, Request, State, Target},
    server::{Answer, Server, Visit},
    step::{self, By, KEYS, Key, OPERATIONS, PEOPLE, Said, Step, Token},
};

/// Of each kind of sequence.
const SEQUENCES: u32 = 1_000;

/// Each request is several round trips to another process there.
const SEQUENCES_ON_POSTGRES: u32 = 200;

/// A server for a hundred sequences, then the next: their files are in memory, of which there may be little.
struct Servers {
    current: RefCell<Rc<Server>>,
    visits: Cell<u32>,
}

const VISITS: u32 = 100;

impl Servers {
    fn new() -> Self {
        Self { current: RefCell::new(Rc::new(Server::new())), visits: Cell::new(0) }
    }

    fn next(&self) -> Rc<Server> {
        self.visits.set(self.visits.get() + 1);
        if self.visits.get().is_multiple_of(VISITS) {
            self.current.replace(Rc::new(Server::new()));
        }
        Rc::clone(&self.current.borrow())
    }
}

#[test]
fn every_answer_of_busy_minutes_is_the_models() {
    let servers = Servers::new();
    proptest!(config(SEQUENCES), |(steps in step::minutes())| play(&servers.next().visit(), &steps)?);
}

#[test]
fn every_answer_over_months_is_the_models() {
    let servers = Servers::new();
    proptest!(config(SEQUENCES), |(steps in step::months())| play(&servers.next().visit(), &steps)?);
}

#[test]
fn every_answer_of_a_server_on_postgresql_is_the_models() {
    let Some(server) = Server::on_postgres() else {
        // Past the test harness, which keeps the output of passing tests to itself.
        return writeln!(stderr(), "SKIPPED: no PostgreSQL on this machine").unwrap();
    };
    let config = ProptestConfig { cases: SEQUENCES_ON_POSTGRES, ..config(0) };
    proptest!(config, |(steps in step::timeless())| play(&server.visit(), &steps)?);
}

/// The sequences are worth something only if the rows come up.
#[test]
fn random_sequences_reach_every_kind_of_answer() {
    use proptest::{strategy::ValueTree, test_runner::TestRunner};
    let (servers, mut runner) = (Servers::new(), TestRunner::deterministic());
    let mut seen = std::collections::BTreeMap::<String, usize>::new();
    for number in 0..400 {
        let steps = if number % 2 == 0 {
            step::minutes().new_tree(&mut runner).unwrap().current()
        } else {
            step::months().new_tree(&mut runner).unwrap().current()
        };
        let server = servers.next();
        let visit = server.visit();
        let (mut model, mut sent) = (Model::default(), Vec::new());
        for step in &steps {
            if let Some(request) = request(step, &model, &sent) {
                let expected = model.expect(&request);
                let answer = send(&visit, &request);
                *seen.entry(kind(&answer)).or_default() += 1;
                learn(&mut model, expected.learn, &answer);
                sent.push(request);
            }
            wait(step, &mut model, &visit);
        }
    }
    for wanted in [
        "200 applied",
        "200 already_in_state",
        "200 existing_operation",
        "200 existing_transaction",
        "200 replayed",
        "201 confirmed",
        "201 created",
        "404 transaction_not_found",
        "409 already_resolved",
        "409 external_transaction_conflict",
        "409 idempotency_conflict",
        "409 idempotency_conflict confirmation_requires_new_key",
        "409 invalid_state",
        "409 possible_duplicate_transaction",
        "409 possible_duplicate_transaction expired",
        "409 possible_duplicate_transaction superseded",
        "422 duplicate_confirmation_invalid malformed",
        "422 duplicate_confirmation_invalid not_issued_here",
        "422 duplicate_confirmation_invalid not_open",
        "422 duplicate_confirmation_invalid payload_changed",
        "422 validation_failed",
    ] {
        let count = seen.get(wanted).copied().unwrap_or_default();
        assert!(count >= 3, "{wanted} came up {count} times of {seen:#?}");
    }
}

fn kind(answer: &Answer) -> String {
    let words = [
        answer.text("/error/code"),
        answer.text("/error/hint"),
        answer.text("/error/reason"),
        answer.text("/error/previous_confirmation"),
        if answer.body["confirmed_duplicate_of"].is_array() { "confirmed" } else { answer.text("/result") },
    ];
    let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let said = if answer.replayed == Some(true) { "replayed".to_owned() } else { words.join(" ") };
    format!("{} {said}", answer.status)
}

fn play(visit: &Visit<'_>, steps: &[Step]) -> Result<(), TestCaseError> {
    let (mut model, mut sent) = (Model::default(), Vec::new());
    for step in steps {
        if let Some(request) = request(step, &model, &sent) {
            let expected = model.expect(&request);
            let answer = send(visit, &request);
            check(&model, &expected, &answer, visit)
                .map_err(|why| TestCaseError::fail(format!("{request:#?}\n{why}\ngot {:#}", answer.body)))?;
            learn(&mut model, expected.learn, &answer);
            sent.push(request);
        }
        wait(step, &mut model, visit);
    }
    check_the_end(&model, visit).map_err(TestCaseError::fail)
}

fn wait(step: &Step, model: &mut Model, visit: &Visit<'_>) {
    if let Step::Wait { seconds } = step {
        visit.wait(*seconds);
        model.now_ms += seconds * 1_000;
    }
}

/// `None` for what needs something that is not there yet.
fn request(step: &Step, model: &Model, sent: &[Request]) -> Option<Request> {
    let nth = |count: usize, n: usize| (count > 0).then(|| n % count);
    let question = |n: usize| nth(model.questions.len(), n).map(|n| &model.questions[n]);
    Some(match step {
        Step::Create { key, ticket, token, said } => {
            let token = match token {
                Token::None => None,
                Token::Of(n) => question(*n).map(|question| question.token.clone()),
                Token::Altered(n) => question(*n).map(|question| altered(&question.token, *n)),
                Token::Forged => Some("forged".to_owned()),
            };
            Request::Create { key: key_of(*key, sent.len()), ticket: ticket.clone(), token, said: who(*said) }
        }
        Step::Confirm { key, question: n, said } => {
            let asked = question(*n)?;
            let token = Some(asked.token.clone());
            Request::Create {
                key: key_of(*key, sent.len()),
                ticket: asked.ticket.clone(),
                token,
                said: who(*said),
            }
        }
        Step::Retry { request } => sent[nth(sent.len(), *request)?].clone(),
        Step::Void { key, sale, operation } => {
            let sale = sale.and_then(|n| nth(model.sales.len(), n));
            let path = sale.map_or("nothing".to_owned(), |sale| model.sales[sale].id.clone());
            Request::Void { key: key_of(*key, sent.len()), path, operation: OPERATIONS[*operation] }
        }
        Step::Resolve { question: n, by, decision, decided_by } => {
            let asked = question(*n)?;
            let target = match by {
                By::Id => Target::Id(asked.id.clone()),
                By::Token => Target::Token(asked.token.clone()),
            };
            Request::Resolve { target, decision: *decision, by: PEOPLE[*decided_by] }
        }
        Step::Read { sale } => Request::Read { path: model.sales[nth(model.sales.len(), *sale)?].id.clone() },
        Step::Wait { .. } => return None,
    })
}

fn key_of(key: Key, number: usize) -> String {
    match key {
        Key::Fresh => format!("fresh-{number}"),
        Key::Of(place) => KEYS[place].to_owned(),
    }
}

fn who(said: Said) -> Option<&'static str> {
    match said {
        Said::Nothing => None,
        Said::Who(who) => Some(PEOPLE[who]),
    }
}

/// The token with one character of its own alphabet changed.
fn altered(token: &str, at: usize) -> String {
    let mut bytes = token.as_bytes().to_vec();
    let at = at % bytes.len();
    bytes[at] = if bytes[at] == b'1' { b'2' } else { b'1' };
    String::from_utf8(bytes).unwrap()
}

fn send(visit: &Visit<'_>, request: &Request) -> Answer {
    match request {
        Request::Create { key, ticket, token, said } => {
            let mut body = ticket.body(visit.start_ms / 1_000);
            body["duplicate_confirmation_token"] = json!(token);
            body["confirmed_by"] = json!(said);
            visit.post("/v1/transactions", Some(key), &body)
        }
        Request::Void { key, path, operation } => {
            let body = json!({"external_operation_id": operation});
            visit.post(&format!("/v1/transactions/{path}/void"), Some(key), &body)
        }
        Request::Resolve { target, decision, by } => {
            let mut body = json!({"decision": decision.as_str(), "decided_by": by});
            match target {
                Target::Id(id) => body["challenge_id"] = json!(id),
                Target::Token(token) => body["duplicate_confirmation_token"] = json!(token),
            }
            visit.post("/v1/duplicate-resolutions", None, &body)
        }
        Request::Read { path } => visit.get(&format!("/v1/transactions/{path}")),
    }
}

/// Where an answer has what it gives out.
fn given(learn: Learn, answer: &Answer) -> [&str; 2] {
    match learn {
        Learn::Nothing => ["", ""],
        Learn::Sale(_) => [answer.text("/yupy_transaction_id"), ""],
        Learn::Question(_) => {
            [answer.text("/error/challenge_id"), answer.text("/error/duplicate_confirmation_token")]
        }
    }
}

fn learn(model: &mut Model, what: Learn, answer: &Answer) {
    let [first, second] = given(what, answer);
    model.learn(what, first.to_owned(), second.to_owned());
}

fn check(model: &Model, expected: &Expected, answer: &Answer, visit: &Visit<'_>) -> Result<(), String> {
    let mut found = expected.differences(answer, visit.start_ms);
    let [first, second] = given(expected.learn, answer);
    let is_given = match expected.learn {
        Learn::Nothing => true,
        Learn::Sale(_) => !first.is_empty() && !model.knows(first),
        Learn::Question(_) => [first, second].iter().all(|given| !given.is_empty() && !model.knows(given)),
    };
    if !is_given {
        found.push(format!("{first} {second} should have been given out for the first time"));
    }
    if found.is_empty() { Ok(()) } else { Err(found.join("\n")) }
}

/// What is left in the books when the sequence is over.
fn check_the_end(model: &Model, visit: &Visit<'_>) -> Result<(), String> {
    let voided = model.sales.iter().filter(|sale| sale.is_voided).count();
    let audit = visit.audit();
    for (event, count) in [
        ("created", model.sales.len()),
        ("duplicate_suspected", model.questions.len()),
        ("duplicate_confirmed", model.count(State::Spent)),
        ("duplicate_resolved", model.resolved),
        ("voided", voided),
    ] {
        let audited = audit.iter().filter(|row| row["event"] == event).count();
        if audited != count {
            return Err(format!("{audited} rows `{event}` in the audit instead of {count}"));
        }
    }
    for id in crate::ticket::EXTERNAL_IDS {
        let found = visit.get(&format!("/v1/transactions?external_transaction_id={id}"));
        let ids: Vec<_> = found.body["items"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|item| &item["yupy_transaction_id"])
            .collect();
        let wanted = model.sale_by_external_id(id).map(|sale| json!(model.sales[sale].id));
        if ids != wanted.iter().collect::<Vec<_>>() {
            return Err(format!("under {id} there is {ids:?} instead of {wanted:?}"));
        }
    }
    Ok(())
}
