//! What one run of one case has for itself: ids, keys, an amount and a moment, and short ways to ask.
//!
//! Invariant: nothing that a case sends looks like anything of another run. The tag is in every id, key and
//! identifying field, so cases meet on one database without knowing of each other.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use jiff::{SignedDuration, Timestamp, tz::Offset};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    answer::Answer,
    ask::Ask,
    client::Client,
    fixture::{Fixture, Role},
};

#[derive(Clone, Debug)]
pub struct Stage {
    client: Arc<Client>,
    fixture: Arc<Fixture>,
    /// On everything of this run.
    pub tag: String,
    /// Whole units of the currency, unlikely to be another run's.
    units: u32,
    /// When the case began, in whole seconds.
    pub now: Timestamp,
}

/// Pages of a list that a case reads at most: the audit of a database that was tested for months.
const MOST_PAGES: usize = 10_000;

impl Stage {
    pub fn new(client: Arc<Client>, fixture: Arc<Fixture>) -> Result<Self> {
        let mut bytes = [0; 12];
        getrandom::fill(&mut bytes).context("no random numbers")?;
        let tag = bytes[..6].iter().map(|byte| format!("{byte:02x}")).collect();
        let random = bytes[6..].iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        let units = u32::try_from(100 + random % 900_000).context("fits")?;
        let now = Timestamp::from_second(Timestamp::now().as_second())?;
        Ok(Self { client, fixture, tag, units, now })
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    pub fn fixture(&self) -> &Fixture {
        &self.fixture
    }

    /// An id of this run's own.
    pub fn id(&self, label: &str) -> String {
        format!("{label}-{}", self.tag)
    }

    /// The key that stands for a label in this run.
    pub fn key(&self, label: &str) -> String {
        format!("{}-{label}", self.tag)
    }

    /// This run's amount with these céntimos, as the wire has it.
    pub fn amount(&self, cents: u32) -> String {
        format!("{}.{cents:02}", self.units)
    }

    /// This many seconds from the beginning of the case, as a till in Lima writes it.
    pub fn time(&self, seconds: i64) -> String {
        let at = self.now.checked_add(SignedDuration::from_secs(seconds)).expect("seconds are no centuries");
        at.display_with_offset(Offset::constant(-5)).to_string()
    }

    /// A sale with everything that a till knows, a minute ago. `more` is laid over it; `null` takes away.
    pub fn sale(&self, label: &str, more: Value) -> Value {
        let mut sale = json!({
            "external_transaction_id": self.id(label), "amount": self.amount(50), "currency": "PEN",
            "buyer_name": null, "shift_id": self.id("SHIFT"), "device_id": self.id("DEVICE"),
            "integration_experience": "conformance", "occurred_at": self.time(-60),
            "context": {"route": "184", "seat": self.id("12A")},
        });
        lay_over(&mut sale, more);
        sale
    }

    /// Nothing but what is required.
    pub fn bare(&self, label: &str) -> Value {
        json!({"external_transaction_id": self.id(label), "amount": self.amount(50)})
    }

    pub fn get(&self, path: impl Into<String>) -> Ask<'_> {
        Ask::new(self, Method::GET, path)
    }

    pub fn post(&self, path: impl Into<String>) -> Ask<'_> {
        Ask::new(self, Method::POST, path)
    }

    pub fn ask(&self, method: Method, path: &str) -> Ask<'_> {
        Ask::new(self, method, path)
    }

    pub fn creation(&self, key: &str, body: &Value) -> Ask<'_> {
        self.post("/v1/transactions").key(key).json(body)
    }

    pub async fn create(&self, key: &str, body: &Value) -> Result<Answer> {
        self.creation(key, body).send().await
    }

    /// A created sale's own id.
    pub async fn created(&self, key: &str, body: &Value) -> Result<String> {
        self.create(key, body).await?.expect(201)?.text("yupy_transaction_id")
    }

    pub fn voiding(&self, id: &str, key: &str, operation: &str) -> Ask<'_> {
        let body = json!({"external_operation_id": self.id(operation)});
        self.post(format!("/v1/transactions/{id}/void")).key(key).json(&body)
    }

    pub async fn void(&self, id: &str) -> Result<Answer> {
        self.voiding(id, &format!("void-{id}"), &format!("V-{id}")).send().await?.expect(200)
    }

    /// How often a sale of this external id is there; more than once is a fault of its own.
    pub async fn count(&self, external_id: &str) -> Result<usize> {
        self.count_as(Role::Till, external_id).await
    }

    pub async fn count_as(&self, role: Role, external_id: &str) -> Result<usize> {
        let list = self
            .get("/v1/transactions")
            .by(role)
            .query(&[("external_transaction_id", external_id)])
            .send()
            .await?
            .expect(200)?;
        let count = list.items()?.len();
        ensure!(count <= 1, "{count} sales under {external_id}: {}", list.summary());
        Ok(count)
    }

    /// The sale as it is now.
    pub async fn read(&self, id: &str) -> Result<Answer> {
        self.get(format!("/v1/transactions/{id}")).send().await?.expect(200)
    }

    /// All items of a list, page by page.
    pub async fn all(&self, role: Role, path: &str, query: &[(&str, &str)]) -> Result<Vec<Value>> {
        let (mut items, mut after) = (Vec::new(), None::<String>);
        for _ in 0..MOST_PAGES {
            let mut pairs = query.to_vec();
            pairs.extend(after.as_deref().map(|after| ("after", after)));
            let page = self.get(path).by(role).query(&pairs).send().await?.expect(200)?;
            items.extend(page.items()?.iter().cloned());
            let next = &page.body["next"];
            if next.is_null() {
                return Ok(items);
            }
            match next.as_str() {
                Some(next) if after.as_deref() != Some(next) => after = Some(next.to_owned()),
                Some(_) | None => return page.fail("expected a cursor that leads on, or null at the end"),
            }
        }
        anyhow::bail!("{path} has no end")
    }

    /// The company's audit rows about this run, oldest first.
    pub async fn audit(&self) -> Result<Vec<Value>> {
        let rows = self.all(Role::Manager, "/v1/audit", &[("limit", "500")]).await?;
        Ok(rows.into_iter().filter(|row| row.to_string().contains(&self.tag)).collect())
    }

    /// How many of this run's audit rows have this shape.
    pub async fn audited(&self, wanted: Value) -> Result<usize> {
        let rows = self.audit().await?;
        Ok(rows.iter().filter(|row| crate::shape::fits(&wanted, row)).count())
    }
}

/// Members of `more` over those of `body`, objects into objects.
pub fn lay_over(body: &mut Value, more: Value) {
    match (body, more) {
        (Value::Object(body), Value::Object(more)) => {
            for (name, value) in more {
                lay_over(body.entry(name).or_insert(Value::Null), value);
            }
        }
        (body, more) => *body = more,
    }
}
