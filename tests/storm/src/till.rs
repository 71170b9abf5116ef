//! The till that is killed: the real one with the real HTTP client, somebody who sells, and a manager who decides.
//!
//! What people see of it is a line of JSON on the standard output, written when they would see it.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;
use turno_simulation::chance::Chance;
use turno_till::transport::{
    Failure, HttpTransport, Request, Response, Sending, SharedTransport, Timeouts, Transport,
};
use turno_till::view::{
    Charge, ChargeOutcome, ConnectRequest, Decide, Decision, Line, LookAlikePolicy, OpenShiftRequest, Phase,
    Problem, Role, SaleState, Tender, UnlockRequest,
};
use turno_till::{Options, PinCost, Till};

const CASHIER_PIN: &str = "314159";
const MANAGER_PIN: &str = "271828";
/// What a till waits for in production would outlast its life here.
const TIMEOUTS: Timeouts = Timeouts {
    connect: Duration::from_millis(800),
    read: Duration::from_millis(1_200),
    total: Duration::from_millis(1_500),
};
/// Between two looks at whether something has changed.
const MOMENT: Duration = Duration::from_millis(100);

#[derive(Args, Clone, Debug)]
pub struct Plan {
    #[arg(long)]
    pub folder: PathBuf,
    /// Where YUPY is in this life.
    #[arg(long)]
    pub address: String,
    #[arg(long)]
    pub enrolment_code: String,
    #[arg(long)]
    pub seed: u64,
    /// Sell nothing: decide what is asked, send what waits, tell what there is, and end.
    #[arg(long)]
    pub drain: bool,
    /// Send each attempt as a sale of its own, as a till with that bug would.
    #[arg(long)]
    pub new_ids: bool,
}

/// What a person at the till has seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// The screen is there.
    Open,
    /// *Guardada aquí.*
    Recorded { sales: Vec<Sale> },
    /// Everything in the till, at the end.
    Books { sales: Vec<Sale>, new_epoch: bool },
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Sale {
    pub external_transaction_id: String,
    pub amount_minor: i64,
    pub is_accepted: bool,
}

pub async fn run(plan: &Plan) -> Result<()> {
    let chance = Chance::new(plan.seed);
    let till = open(plan, &chance).await?;
    say(&Word::Open)?;
    if plan.drain { drain(&till).await } else { sell(plan, &till, &chance).await }
}

async fn open(plan: &Plan, chance: &Chance) -> Result<Till> {
    std::fs::create_dir_all(&plan.folder)?;
    let (new_ids, wires) = (plan.new_ids, chance.branch());
    let options = Options {
        address: Some(plan.address.clone()),
        connector: Arc::new(move |address, credential| {
            let http = HttpTransport::with_timeouts(address, credential, TIMEOUTS)?;
            let transport: SharedTransport =
                if new_ids { Arc::new(NewIds { http, chance: wires.branch() }) } else { Arc::new(http) };
            Ok(transport)
        }),
        pin_cost: PinCost { memory_kib: 8, passes: 1 },
        ..Options::new(plan.folder.clone(), plan.folder.with_extension("state"))
    };
    let till = Till::open(options).await.map_err(told_no)?;
    while !till.is_enrolled() {
        let request =
            ConnectRequest { address: plan.address.clone(), enrolment_code: plan.enrolment_code.clone() };
        if till.connect(&request).await.is_err() {
            sleep(MOMENT).await;
        }
    }
    till.add_person("c", "Caja", Role::Cashier, CASHIER_PIN).await.map_err(told_no)?;
    till.add_person("m", "Encargado", Role::Manager, MANAGER_PIN).await.map_err(told_no)?;
    // Whoever was killed while a PIN was checked counts as one who got it wrong, and waits.
    let request = UnlockRequest { person_id: "c".to_owned(), pin: CASHIER_PIN.to_owned() };
    while till.unlock(&request).await.is_err() {
        sleep(MOMENT).await;
    }
    if matches!(till.phase().await.map_err(told_no)?, Phase::NoShift { .. }) {
        till.open_shift(&OpenShiftRequest { float: "50".to_owned() }).await.map_err(told_no)?;
    }
    Ok(till)
}

async fn sell(plan: &Plan, till: &Till, chance: &Chance) -> Result<()> {
    loop {
        sleep(Duration::from_millis(chance.between(1..=40))).await;
        let charge = Charge {
            draft_id: till.open_draft().draft_id,
            // Of the bug, only what it doubles is wanted: a fare never looks like another one.
            lines: if plan.new_ids { vec![fare()] } else { lines(chance) },
            tenders: vec![Tender::Cash { received: None }],
            look_alikes: LookAlikePolicy::SellAnyway,
            approval: None,
        };
        match till.charge(&charge).await.map_err(told_no)? {
            ChargeOutcome::Recorded { checkout } => {
                let sales = checkout.sales.into_iter().map(Sale::from).collect();
                say(&Word::Recorded { sales })?;
            }
            ChargeOutcome::LookAlike { .. } => bail!("asked although told to sell"),
        }
        if chance.per_mille(50) {
            decide(till).await?;
        }
    }
}

fn line(offer: &str, seat: Option<&str>, price: i64, name: Option<String>) -> Line {
    Line {
        offer_id: offer.to_owned(),
        seat: seat.map(str::to_owned),
        quantity: 1,
        buyer_name: name,
        shown_price_minor: price,
        discount: None,
    }
}

fn fare() -> Line {
    line("fare:U7-adulto", None, 200, None)
}

fn lines(chance: &Chance) -> Vec<Line> {
    // Few seats: some tickets look like others, and YUPY asks.
    let seat = line("departure:184-N", Some(*chance.pick(&["1A", "1B", "2A", "2B"])), 8_550, None);
    let luggage = line("product:equipaje", None, 990, Some(format!("Pasajero {}", chance.next())));
    match chance.between(0..=19) {
        0 => vec![seat],
        1..=6 => vec![luggage, fare()],
        7..=12 => vec![luggage],
        _ => vec![fare()],
    }
}

/// The manager says of each question that it is another sale.
async fn decide(till: &Till) -> Result<()> {
    for review in till.reviews().await.map_err(told_no)? {
        let request = Decide {
            external_transaction_id: review.external_transaction_id,
            challenge_id: review.challenge_id,
            decision: Decision::DifferentSale,
            manager_id: "m".to_owned(),
            pin: MANAGER_PIN.to_owned(),
            reason: "lo vi en el bus".to_owned(),
            money: None,
        };
        // The question may have changed meanwhile, or the PIN be locked; then it stays open.
        let _ = till.decide(&request).await;
    }
    Ok(())
}

async fn drain(till: &Till) -> Result<()> {
    loop {
        decide(till).await?;
        let status = till.status().await.map_err(told_no)?;
        if status.is_some_and(|status| status.pending_count == status.needs_attention_count) {
            break;
        }
        till.send_now().await.map_err(told_no)?;
        sleep(MOMENT).await;
    }
    let (mut sales, mut after) = (Vec::new(), None);
    loop {
        let page = till.recent_sales(after).await.map_err(told_no)?;
        sales.extend(page.items.into_iter().map(Sale::from));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let new_epoch = till.status().await.map_err(told_no)?.is_none_or(|status| status.new_epoch.is_some());
    till.close().await;
    say(&Word::Books { sales, new_epoch })
}

impl From<turno_till::view::SaleSummary> for Sale {
    fn from(sale: turno_till::view::SaleSummary) -> Self {
        Self {
            external_transaction_id: sale.external_transaction_id,
            amount_minor: sale.amount.minor,
            is_accepted: sale.state == SaleState::Accepted,
        }
    }
}

/// In one write, so that whoever reads has all of it or nothing.
fn say(word: &Word) -> Result<()> {
    let line = format!("{}\n", serde_json::to_string(word)?);
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes())?;
    Ok(out.flush()?)
}

fn told_no(problem: Problem) -> anyhow::Error {
    anyhow::anyhow!("{:?}: {} {:?}", problem.code, problem.message, problem.detail)
}

/// A till that takes each attempt for a new sale.
struct NewIds {
    http: HttpTransport,
    chance: Chance,
}

impl Transport for NewIds {
    fn send(&self, mut request: Request) -> Sending<'_> {
        Box::pin(async move {
            let Some(key) = request.idempotency_key.take() else { return self.http.send(request).await };
            let own = String::from_utf8_lossy(request.body.as_deref().unwrap_or_default()).into_owned();
            let attempt = self.chance.next();
            let theirs = own.replace(
                "\"external_transaction_id\":\"D",
                &format!("\"external_transaction_id\":\"X{attempt}D"),
            );
            request.body = Some(theirs.into_bytes());
            request.idempotency_key = Some(format!("{key}-{attempt}"));
            let answer: Result<Response, Failure> = self.http.send(request).await;
            answer.map(|mut answer| {
                let said = String::from_utf8_lossy(&answer.body).replace(&format!("X{attempt}D"), "D");
                answer.body = said.into_bytes();
                answer
            })
        })
    }
}
