//! One day before the server: what was asked about, by a manager who knows the truth.

use std::collections::HashMap;

use anyhow::{Context, Result, bail, ensure};
use http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use turno_domain::ids::{ExternalOperationId, ExternalTransactionId};
use turno_protocol::keys;

use crate::day::{Labelled, Truth};
use crate::server::Server;

/// Fields by which two sales may be told apart or taken for one, as the contract names them.
const COMPARED: [&str; 7] =
    ["route", "seat", "order", "product", "service", "custom_reference_1", "custom_reference_2"];
const IDENTIFYING: [&str; 4] = ["seat", "order", "custom_reference_2", "buyer_name"];
/// What the server is set to by default.
const WINDOW: SignedDuration = SignedDuration::from_mins(10);

/// What came of one sale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A sale of its own, recorded without a question.
    Recorded,
    /// A sale of its own, and somebody was asked: the signals that matched.
    AskedInVain { signals: String },
    /// A second time the same sale, and somebody was asked.
    AskedRightly {
        /// About that very sale, and not about another one that looks alike.
        right_candidate: bool,
    },
    /// A second time the same sale, recorded as one of its own.
    Missed { why: String },
}

#[derive(Clone, Debug)]
pub struct Judged {
    /// Carries a field that identifies: seat, order, second reference or buyer.
    pub identifiable: bool,
    pub verdict: Verdict,
}

/// Sends a day's sales in their order.
///
/// # Errors
/// Names the sale that the server refused for another reason than a question: such a day says nothing.
pub async fn judge(lines: &[Labelled]) -> Result<Vec<Judged>> {
    let server = Server::start().await?;
    let mut day = Day { server, lines: HashMap::new(), stored: HashMap::new() };
    let mut judged = Vec::with_capacity(lines.len());
    for line in lines {
        let verdict = day.one(line).await.with_context(|| format!("{}, sale {}", line.day, line.id()))?;
        let identifiable = IDENTIFYING.iter().any(|name| line.field(name).is_some());
        judged.push(Judged { identifiable, verdict });
        day.lines.insert(line.id(), line);
    }
    day.server.stop().await;
    Ok(judged)
}

struct Day<'a> {
    server: Server,
    lines: HashMap<&'a str, &'a Labelled>,
    /// What the server calls the sales that it has.
    stored: HashMap<String, String>,
}

impl Day<'_> {
    async fn one(&mut self, line: &Labelled) -> Result<Verdict> {
        if let Some(voided) = &line.voids {
            self.void(voided).await?;
        }
        let id = ExternalTransactionId::parse(line.id())?;
        let key = keys::create_key(self.server.scope(), &id, 0);
        let (status, answer) = self.server.post("/v1/transactions", &key, &line.sale).await?;
        match (status, answer["error"]["code"].as_str()) {
            (StatusCode::CREATED, _) => {
                self.keep(line, &answer)?;
                Ok(match &line.is {
                    Truth::New => Verdict::Recorded,
                    Truth::DuplicateOf(original) => Verdict::Missed { why: self.why_missed(line, original) },
                })
            }
            (StatusCode::CONFLICT, Some("possible_duplicate_transaction")) => {
                self.asked(line, &id, &answer).await
            }
            _ => bail!("{status} {answer}"),
        }
    }

    async fn asked(
        &mut self,
        line: &Labelled,
        id: &ExternalTransactionId,
        answer: &Value,
    ) -> Result<Verdict> {
        let question = &answer["error"];
        let candidate = question["candidate"]["external_transaction_id"].as_str().context("a candidate")?;
        if let Truth::DuplicateOf(original) = &line.is {
            let right_candidate = self.origin(candidate) == self.origin(original);
            return Ok(Verdict::AskedRightly { right_candidate });
        }
        let names = question["matching_signals"].as_array().context("signals")?;
        let signals = names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ");
        let token = question["duplicate_confirmation_token"].as_str().context("a token")?;
        let mut body = line.sale.clone();
        body["duplicate_confirmation_token"] = token.into();
        body["confirmed_by"] = "manager".into();
        let key = keys::confirm_key(self.server.scope(), id, token);
        let (status, answer) = self.server.post("/v1/transactions", &key, &body).await?;
        ensure!(status == StatusCode::CREATED, "confirmed, and the answer is {status} {answer}");
        self.keep(line, &answer)?;
        Ok(Verdict::AskedInVain { signals })
    }

    async fn void(&mut self, voided: &str) -> Result<()> {
        // A repeated sale that was noticed is not at the server; there is nothing to void.
        let Some(name) = self.stored.get(voided) else { return Ok(()) };
        let operation = ExternalOperationId::parse(format!("V-{voided}"))?;
        let key = keys::void_key(self.server.scope(), &ExternalTransactionId::parse(voided)?, &operation);
        let body = json!({ "external_operation_id": operation.as_str() });
        let (status, answer) =
            self.server.post(&format!("/v1/transactions/{name}/void"), &key, &body).await?;
        ensure!(status == StatusCode::OK, "voiding {voided}: {status} {answer}");
        Ok(())
    }

    fn keep(&mut self, line: &Labelled, answer: &Value) -> Result<()> {
        let name = answer["yupy_transaction_id"].as_str().context("a name at the server")?;
        self.stored.insert(line.id().to_owned(), name.to_owned());
        Ok(())
    }

    /// The first sale that this one repeats, through any number of repetitions; itself, if it is new.
    fn origin<'b>(&'b self, id: &'b str) -> &'b str {
        let mut id = id;
        while let Some(Labelled { is: Truth::DuplicateOf(earlier), .. }) = self.lines.get(id) {
            id = earlier;
        }
        id
    }

    /// In words, for people who wonder what the rule cannot see. Explains a verdict and never makes one.
    fn why_missed(&self, line: &Labelled, original: &str) -> String {
        let Some(first) = self.lines.get(original) else { return "its original is unknown".to_owned() };
        if line.field("amount") != first.field("amount") {
            return "another amount".to_owned();
        }
        let happened = |line: &Labelled| line.field("occurred_at")?.parse::<Timestamp>().ok();
        if let (Some(one), Some(other)) = (happened(line), happened(first))
            && one.duration_since(other).abs() > WINDOW
        {
            return "more than ten minutes apart".to_owned();
        }
        let differs = |name: &&&str| match (line.field(name), first.field(name)) {
            (Some(one), Some(other)) => one != other,
            _ => false,
        };
        if let Some(name) = COMPARED.iter().find(differs) {
            return format!("another {name}");
        }
        let same = |name: &&str| line.field(name).is_some() && line.field(name) == first.field(name);
        if !IDENTIFYING.iter().any(same) {
            return "no identifying field that is equal".to_owned();
        }
        "fewer than four signals, or its original was not there".to_owned()
    }
}
