//! A fleet that was without a line comes back all at once, to a server that does so much a second and no more.
//!
//! The tills are real ones; the server is a line of requests. It takes as many sales from earlier into its line as the
//! real one and answers the others with when to come back. Invariant: every request that reaches it is counted, also
//! one that it refuses.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::Instant;
use turno_till::room::Ample;
use turno_till::transport::{Failure, Method, Request, Response, Sending, SharedTransport, Transport};
use turno_till::view::{
    Charge, ChargeOutcome, ConnectRequest, Line, LookAlikePolicy, OpenShiftRequest, Problem, Role, Tender,
    UnlockRequest,
};
use turno_till::{Options, PinCost, Till, WriterMode};

use crate::chance::Chance;
use crate::server;
use crate::time::SimClock;
use crate::world::folder;

/// Sales from earlier that the server takes into its line, as `turno-server` does.
const PLACES: usize = 384;
/// Sales in one checkout while there is no line.
const LINES: usize = 5;
/// How long the fleet works offline. The wall clocks then go on by [`HOURS_MS`]: what a long outage changes is counted
/// by them, and nobody needs to simulate each of its probes.
const OUTAGE: Duration = Duration::from_secs(120);
const HOURS_MS: i64 = 3 * 60 * 60 * 1_000;
/// So often the logs of all tills are emptied, as their writers do by themselves in quiet moments.
const TIDY_EVERY: Duration = Duration::from_secs(20);
/// No fleet needs longer than so many times its ideal.
const PATIENCE: u32 = 5;

#[derive(Clone, Copy, Debug)]
pub struct Fleet {
    pub tills: usize,
    /// Of each till.
    pub sales: usize,
    /// Sales that the server does in a second.
    pub capacity: u32,
}

/// What the server saw from the moment of the return on.
#[derive(Clone, Copy, Debug)]
pub struct Back {
    pub requests: usize,
    pub refused: usize,
    /// Requests in the second that had most of them.
    pub busiest_second: usize,
    /// Until the last sale was accepted.
    pub drained_in: Duration,
}

/// Lives the story on a runtime of its own.
pub fn come_back(fleet: Fleet) -> Result<Back> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    runtime.block_on(live(fleet))
}

async fn live(fleet: Fleet) -> Result<Back> {
    let folder = folder()?;
    let chance = Chance::new(1);
    let line = Arc::new(ServerLine::new(fleet.capacity));
    let clock = SimClock::right();
    let mut tills = Vec::new();
    for number in 0..fleet.tills {
        let folder = folder.path().join(format!("till-{number}"));
        tills.push(set_up(number, &folder, &line, &clock, &chance).await?);
    }
    // Everybody was heard before the line went.
    tokio::time::sleep(Duration::from_secs(5)).await;
    line.state().is_cut = true;
    let between = OUTAGE / u32::try_from(fleet.sales.div_ceil(LINES))?;
    let mut left = fleet.sales;
    while left > 0 {
        let lines = left.min(LINES);
        for till in &tills {
            sell(till, lines).await?;
        }
        left -= lines;
        tokio::time::sleep(between).await;
    }
    clock.set_by(HOURS_MS);
    tokio::time::sleep(Duration::from_secs(30)).await;
    let (began, all) = line.cut_ends(fleet.tills * fleet.sales);
    let ideal = Duration::from_secs(u64::try_from(fleet.tills * fleet.sales)? / u64::from(fleet.capacity));
    tokio::select! {
        () = all => {}
        () = tidy(folder.path(), fleet.tills) => {}
        () = tokio::time::sleep(ideal * PATIENCE + Duration::from_secs(600)) => bail!("the fleet does not drain"),
    }
    let back = line.state().back(began)?;
    // The last answers are written down, and nobody took one for something else.
    tokio::time::sleep(Duration::from_secs(60)).await;
    for till in &tills {
        let status = till.status().await.map_err(told_no)?.context("the till is set up")?;
        ensure!(status.pending_count == 0 && status.reconciliation_alarm_count == 0, "{status:?}");
    }
    Ok(back)
}

async fn set_up(
    number: usize,
    folder: &Path,
    line: &Arc<ServerLine>,
    clock: &SimClock,
    chance: &Chance,
) -> Result<Till> {
    std::fs::create_dir_all(folder)?;
    let (line, wires) = (Arc::clone(line), chance.branch());
    let options = Options {
        clock: Arc::new(clock.clone()),
        entropy: Arc::new(chance.branch()),
        connector: Arc::new(move |_, _| {
            let plug = Plug { line: Arc::clone(&line), device: format!("D{number}"), chance: wires.branch() };
            Ok(Arc::new(plug) as SharedTransport)
        }),
        pin_cost: PinCost { memory_kib: 8, passes: 1 },
        writer: WriterMode::Inline,
        // In memory; a reserve for each of hundreds would fill it.
        disk: Arc::new(Ample),
        ..Options::new(folder.to_owned(), folder.with_extension("state"))
    };
    let till = Till::open(options).await.map_err(told_no)?;
    let address = "http://yupy.sim".to_owned();
    till.connect(&ConnectRequest { address, enrolment_code: "C".to_owned() }).await.map_err(told_no)?;
    till.add_person("c", "Caja", Role::Cashier, "314159").await.map_err(told_no)?;
    till.unlock(&UnlockRequest { person_id: "c".to_owned(), pin: "314159".to_owned() })
        .await
        .map_err(told_no)?;
    till.open_shift(&OpenShiftRequest { float: "50".to_owned() }).await.map_err(told_no)?;
    Ok(till)
}

async fn sell(till: &Till, count: usize) -> Result<()> {
    let line = |number| Line {
        offer_id: "product:equipaje".to_owned(),
        seat: None,
        quantity: 1,
        buyer_name: Some(format!("Pasajero {number}")),
        shown_price_minor: 990,
        discount: None,
    };
    let charge = Charge {
        draft_id: till.open_draft().draft_id,
        lines: (0..count).map(line).collect(),
        tenders: vec![Tender::Cash { received: None }],
        look_alikes: LookAlikePolicy::SellAnyway,
        approval: None,
    };
    match till.charge(&charge).await.map_err(told_no)? {
        ChargeOutcome::Recorded { .. } => Ok(()),
        ChargeOutcome::LookAlike { .. } => bail!("asked although told to sell"),
    }
}

async fn tidy(folder: &Path, tills: usize) {
    loop {
        tokio::time::sleep(TIDY_EVERY).await;
        for number in 0..tills {
            let database = folder.join(format!("till-{number}")).join(turno_till::store::FILE_NAME);
            let emptied = rusqlite::Connection::open(database)
                .and_then(|conn| conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())));
            // Memory is all that it saves.
            drop(emptied);
        }
    }
}

/// The server, as far as time goes.
struct ServerLine {
    service: Duration,
    capacity: usize,
    state: Mutex<State>,
    done: Notify,
}

#[derive(Default)]
struct State {
    is_cut: bool,
    waiting: usize,
    free_at: Option<Instant>,
    /// When requests arrived.
    arrivals: Vec<Instant>,
    refused: usize,
    /// Of each device, as lists show it.
    stored: BTreeMap<String, Vec<Value>>,
    accepted: usize,
    awaited: usize,
    last_accepted: Option<Instant>,
}

impl State {
    fn back(&self, began: Instant) -> Result<Back> {
        let mut seconds: BTreeMap<u64, usize> = BTreeMap::new();
        for arrival in &self.arrivals {
            *seconds.entry(arrival.duration_since(began).as_secs()).or_default() += 1;
        }
        Ok(Back {
            requests: self.arrivals.len(),
            refused: self.refused,
            busiest_second: seconds.into_values().max().unwrap_or_default(),
            drained_in: self.last_accepted.context("something was accepted")?.duration_since(began),
        })
    }
}

impl ServerLine {
    fn new(capacity: u32) -> Self {
        Self {
            service: Duration::from_secs(1) / capacity,
            capacity: usize::try_from(capacity).expect("a few hundred"),
            state: Mutex::default(),
            done: Notify::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on the line is there; done when so many sales were accepted.
    fn cut_ends(&self, sales: usize) -> (Instant, impl Future<Output = ()>) {
        let mut state = self.state();
        (state.is_cut, state.awaited, state.refused) = (false, sales, 0);
        state.arrivals.clear();
        (Instant::now(), self.done.notified())
    }

    /// A place in the line and when its work is done, or after how many seconds to come back.
    fn enter(&self) -> Result<Instant, usize> {
        let now = Instant::now();
        let mut state = self.state();
        state.arrivals.push(now);
        if state.waiting >= PLACES {
            state.refused += 1;
            return Err(1 + state.waiting / self.capacity);
        }
        state.waiting += 1;
        let done_at = state.free_at.map_or(now, |free_at| free_at.max(now)) + self.service;
        state.free_at = Some(done_at);
        Ok(done_at)
    }

    fn accept(&self, device: &str, sale: &Value) -> Value {
        let mut state = self.state();
        state.waiting -= 1;
        let created = json!({
            "result": "created", "yupy_transaction_id": format!("ypt-{}", state.accepted),
            "external_transaction_id": sale["external_transaction_id"], "occurred_at": sale["occurred_at"],
            "amount": sale["amount"], "currency": "PEN",
        });
        state.stored.entry(device.to_owned()).or_default().push(created.clone());
        state.accepted += 1;
        state.last_accepted = Some(Instant::now());
        if state.accepted == state.awaited {
            self.done.notify_one();
        }
        created
    }
}

struct Plug {
    line: Arc<ServerLine>,
    device: String,
    chance: Chance,
}

impl Plug {
    async fn travel(&self) {
        tokio::time::sleep(Duration::from_millis(self.chance.between(20..=120))).await;
    }

    async fn ask(&self, request: Request) -> Result<Response, Failure> {
        let body: Value =
            serde_json::from_slice(request.body.as_deref().unwrap_or_default()).unwrap_or_default();
        match (request.method, request.path.as_str()) {
            (Method::Post, "/v1/devices/enroll") => {
                return Ok(answer(
                    200,
                    &json!({
                        "credential": "secret", "company": "A", "integration": "pos", "environment": "simulated",
                        "device_id": self.device, "epoch": body["epoch"], "currency": "PEN",
                        "company_name": "Transportes del Sur", "catalog_url": "/v1/catalog", "request_id": "r",
                    }),
                ));
            }
            (Method::Get, "/v1/catalog") => {
                let catalog = server::catalog().expect("a fixed catalog");
                return Ok(answer(200, &serde_json::to_value(catalog).expect("plain data is JSON")));
            }
            (Method::Get | Method::Post, _) => {}
        }
        if self.line.state().is_cut {
            return Err(Failure::NoNetwork);
        }
        self.travel().await;
        let said = match self.line.enter() {
            Err(seconds) => Response {
                retry_after: Some(seconds.to_string()),
                ..answer(503, &json!({ "error": { "code": "service_unavailable" } }))
            },
            Ok(done_at) => {
                tokio::time::sleep_until(done_at).await;
                match request.method {
                    Method::Post => answer(201, &self.line.accept(&self.device, &body)),
                    Method::Get => {
                        let mut state = self.line.state();
                        state.waiting -= 1;
                        let items = state.stored.get(&self.device).cloned().unwrap_or_default();
                        answer(200, &json!({ "items": items, "next": null }))
                    }
                }
            }
        };
        self.travel().await;
        Ok(said)
    }
}

impl Transport for Plug {
    fn send(&self, request: Request) -> Sending<'_> {
        Box::pin(self.ask(request))
    }
}

fn answer(status: u16, body: &Value) -> Response {
    Response {
        status,
        media_type: Some("application/json".to_owned()),
        body: body.to_string().into_bytes(),
        ..Response::default()
    }
}

fn told_no(problem: Problem) -> anyhow::Error {
    anyhow::anyhow!("{:?}: {} {:?}", problem.code, problem.message, problem.detail)
}
