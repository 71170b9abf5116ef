//! A till as it stands at a counter: the real one, on the disk, with a clock that goes ahead by half a minute with every
//! ticket, so that the window of look-alikes holds as many sales as it would.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Result, bail};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::sync::Notify;
use turno_till::clock::Clock;
use turno_till::transport::{
    Failure, HttpTransport, Method, Request, Response, Sending, SharedTransport, Transport,
};
use turno_till::view::{
    Charge, ChargeOutcome, ConnectRequest, LookAlikePolicy, OpenShiftRequest, PauseSendingRequest, Problem,
    Role, Tender, UnlockRequest,
};
use turno_till::{Options, PinCost, Till};

use super::catalog;
use crate::sale::TOKEN;

pub const CASHIER: &str = "c";
const CASHIER_PIN: &str = "314159";
pub const MANAGER: &str = "m";
pub const MANAGER_PIN: &str = "271828";
/// What PINs cost is not what is measured here.
const CHEAP_PINS: PinCost = PinCost { memory_kib: 8, passes: 1 };
/// Between two tickets at a busy counter.
const BETWEEN_MS: i64 = 30_000;
/// As many as one checkout holds.
const LINES: u32 = 40;

/// The machine's clock, some days behind and faster.
pub struct PacedClock(AtomicI64);

impl PacedClock {
    /// Far enough back that a run does not reach the present.
    const BEHIND: SignedDuration = SignedDuration::from_hours(10 * 24);
}

impl Default for PacedClock {
    fn default() -> Self {
        Self(AtomicI64::new(-i64::try_from(Self::BEHIND.as_millis()).expect("some days")))
    }
}

impl Clock for PacedClock {
    fn now(&self) -> Timestamp {
        Timestamp::now() + SignedDuration::from_millis(self.0.load(Ordering::Relaxed))
    }
}

/// How many sales YUPY has taken, and whoever waits for a number of them.
#[derive(Default)]
pub struct Taken {
    count: AtomicU64,
    awaited: AtomicU64,
    reached: Notify,
}

impl Taken {
    /// Counts from now on, and is done with the last of so many answers.
    pub fn expect(&self, count: u64) -> impl Future<Output = ()> {
        self.count.store(0, Ordering::SeqCst);
        self.awaited.store(count, Ordering::SeqCst);
        self.reached.notified()
    }

    pub fn count(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }

    fn one(&self) {
        if self.count.fetch_add(1, Ordering::SeqCst) + 1 == self.awaited.load(Ordering::SeqCst) {
            self.reached.notify_one();
        }
    }
}

/// Enrols tills and gives them their catalog by itself, and hands the rest on to a server if there is one.
struct Yupy {
    server: Option<HttpTransport>,
    taken: Arc<Taken>,
}

impl Yupy {
    async fn answer(&self, request: Request) -> Result<Response, Failure> {
        match (request.method, request.path.as_str()) {
            (Method::Post, "/v1/devices/enroll") => Ok(json_answer(&enrolment(&request))),
            (Method::Get, "/v1/catalog") if request.if_none_match.is_some() => {
                Ok(Response { status: 304, ..Response::default() })
            }
            (Method::Get, "/v1/catalog") => Ok(json_answer(&catalog::body())),
            (Method::Get | Method::Post, _) => {
                let Some(server) = &self.server else { return Err(Failure::NoNetwork) };
                let is_sale = request.method == Method::Post;
                let answer = server.send(request).await?;
                // On a busy machine an answer may come too late, and the second one says that the sale is there.
                if is_sale && matches!(answer.status, 200 | 201) {
                    self.taken.one();
                }
                Ok(answer)
            }
        }
    }
}

impl Transport for Yupy {
    fn send(&self, request: Request) -> Sending<'_> {
        Box::pin(self.answer(request))
    }
}

fn json_answer(body: &Value) -> Response {
    Response {
        status: 200,
        media_type: Some("application/json".to_owned()),
        etag: Some("\"1\"".to_owned()),
        body: body.to_string().into_bytes(),
        ..Response::default()
    }
}

fn enrolment(request: &Request) -> Value {
    let body: Value = serde_json::from_slice(request.body.as_deref().unwrap_or_default()).unwrap_or_default();
    json!({
        "credential": TOKEN, "company": "bench", "integration": "pos", "environment": "production",
        "device_id": "D01", "epoch": body["epoch"], "currency": "PEN", "company_name": "Transportes Demo",
        "catalog_url": "/v1/catalog", "request_id": "r",
    })
}

/// An open till with somebody at it.
pub struct Shop {
    pub till: Till,
    pub taken: Arc<Taken>,
    clock: Arc<PacedClock>,
    next: AtomicU32,
}

/// Where a till lives and whom it sends to.
pub struct Place {
    folder: PathBuf,
    options: Options,
    clock: Arc<PacedClock>,
    taken: Arc<Taken>,
}

impl Place {
    /// `server`: its address, or nothing for a till that never has a line.
    pub fn new(folder: &Path, server: Option<std::net::SocketAddr>) -> Result<Self> {
        std::fs::create_dir_all(folder)?;
        let (clock, taken) = (Arc::new(PacedClock::default()), Arc::new(Taken::default()));
        let shared = Arc::clone(&taken);
        let options = Options {
            clock: Arc::clone(&clock) as _,
            connector: Arc::new(move |_, credential| {
                let server = server
                    .map(|address| HttpTransport::new(&format!("http://{address}"), credential))
                    .transpose()?;
                Ok(Arc::new(Yupy { server, taken: Arc::clone(&shared) }) as SharedTransport)
            }),
            pin_cost: CHEAP_PINS,
            ..Options::new(folder.to_owned(), folder.with_extension("state"))
        };
        Ok(Self { folder: folder.to_owned(), options, clock, taken })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn options(&self) -> &Options {
        &self.options
    }

    pub fn now_ms(&self) -> i64 {
        self.clock.now().as_millisecond()
    }

    /// A till with people and without a shift, closed again.
    pub async fn found(&self) -> Result<()> {
        let till = Till::open(self.options.clone()).await.map_err(told_no)?;
        let address = "http://yupy.bench".to_owned();
        let enrolment_code = "C".to_owned();
        till.connect(&ConnectRequest { address, enrolment_code }).await.map_err(told_no)?;
        till.add_person(CASHIER, "Caja", Role::Cashier, CASHIER_PIN).await.map_err(told_no)?;
        till.add_person(MANAGER, "Encargado", Role::Manager, MANAGER_PIN).await.map_err(told_no)?;
        till.close().await;
        Ok(())
    }

    /// Opens the till with a cashier at it, an open shift and sending switched off.
    pub async fn open(&self) -> Result<Shop> {
        let till = Till::open(self.options.clone()).await.map_err(told_no)?;
        let pin = CASHIER_PIN.to_owned();
        till.unlock(&UnlockRequest { person_id: CASHIER.to_owned(), pin }).await.map_err(told_no)?;
        till.open_shift(&OpenShiftRequest { float: "100".to_owned() }).await.map_err(told_no)?;
        till.pause_sending(&PauseSendingRequest { paused: true }).await.map_err(told_no)?;
        let (clock, taken) = (Arc::clone(&self.clock), Arc::clone(&self.taken));
        Ok(Shop { till, taken, clock, next: AtomicU32::new(0) })
    }

    /// A new till, open.
    pub async fn found_and_open(&self) -> Result<Shop> {
        self.found().await?;
        self.open().await
    }
}

impl Shop {
    /// Sells the next ticket as a cashier does, with the look for look-alikes. Says how many microseconds it took.
    pub async fn sell(&self) -> Result<f64> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.charge(&self.cart(vec![catalog::ticket(number)], LookAlikePolicy::Ask)).await
    }

    /// Records so many tickets, a family after the other.
    pub async fn queue(&self, count: u32) -> Result<()> {
        let mut left = count;
        while left > 0 {
            let lines = left.min(LINES);
            let first = self.next.fetch_add(lines, Ordering::Relaxed);
            let lines_of_it = (first..first + lines).map(catalog::ticket).collect();
            self.charge(&self.cart(lines_of_it, LookAlikePolicy::SellAnyway)).await?;
            left -= lines;
        }
        Ok(())
    }

    pub async fn pause(&self) -> Result<()> {
        self.till.pause_sending(&PauseSendingRequest { paused: true }).await.map_err(told_no)
    }

    pub async fn resume(&self) -> Result<()> {
        self.till.pause_sending(&PauseSendingRequest { paused: false }).await.map_err(told_no)
    }

    /// Sales that are not settled yet.
    pub async fn waiting(&self) -> Result<u32> {
        let status = self.till.status().await.map_err(told_no)?;
        Ok(status.map(|status| status.pending_count).unwrap_or_default())
    }

    fn cart(&self, lines: Vec<turno_till::view::Line>, look_alikes: LookAlikePolicy) -> Charge {
        let draft_id = self.till.open_draft().draft_id;
        Charge {
            draft_id,
            lines,
            tenders: vec![Tender::Cash { received: None }],
            look_alikes,
            approval: None,
        }
    }

    async fn charge(&self, charge: &Charge) -> Result<f64> {
        self.clock.0.fetch_add(BETWEEN_MS, Ordering::Relaxed);
        let started = Instant::now();
        let outcome = self.till.charge(charge).await.map_err(told_no)?;
        let took = started.elapsed().as_secs_f64() * 1_000_000.0;
        match outcome {
            ChargeOutcome::Recorded { .. } => Ok(took),
            ChargeOutcome::LookAlike { warnings } => bail!("a warning: {warnings:?}"),
        }
    }
}

pub fn told_no(problem: Problem) -> anyhow::Error {
    anyhow::anyhow!("{:?}: {} {:?}", problem.code, problem.message, problem.detail)
}
