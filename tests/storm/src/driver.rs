//! Starts everything, kills it, heals the line and collects what each side has.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use turno_domain::{Currency, Money};
use turno_protocol::audit::AuditRow;
use turno_protocol::chain;
use turno_simulation::chance::Chance;
use turno_till::store;
use turno_till::transport::{HttpTransport, Request, Transport};

use crate::checks::{self, Found};
use crate::process::Process;
use crate::proxy::Proxy;
use crate::server;
use crate::till::{Sale, Word};

/// A process that is alive says its first line within this, also on a busy machine.
const START_LIMIT: Duration = Duration::from_secs(60);
/// After healing everything that waits is due within a minute, and a question takes three exchanges.
const DRAIN_LIMIT: Duration = Duration::from_secs(180);
/// The till lives so long once its screen is there.
const LIFE_MS: std::ops::RangeInclusive<u64> = 20..=700;
/// Of a thousand lives, so many end before the screen is there.
const STILLBORN: u64 = 150;
/// And so many lead to somebody with a wrong certificate.
const STRANGER: u64 = 60;
/// With every so manyth kill the server is killed as well.
const SERVER_EVERY: u32 = 10;

#[derive(Args, Clone, Debug)]
pub struct Plan {
    /// How often the till is killed.
    #[arg(long, default_value_t = 100)]
    pub kills: u32,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Let the till have a bug, to see that it is found.
    #[arg(long)]
    pub new_ids: bool,
}

#[derive(Clone, Debug)]
pub struct Outcome {
    pub kills: u32,
    pub server_kills: u32,
    pub violations: Vec<String>,
    pub found: Found,
}

impl Outcome {
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "kills": self.kills,
            "server_kills": self.server_kills,
            "violations": self.violations.len(),
            "acknowledged": self.found.acknowledged.len(),
            "sales": self.found.till.len(),
            "transactions": self.found.server.len(),
            "requests": self.found.pages.requests,
            "faults": self.found.pages.faults,
        })
    }
}

/// The whole story. `program` is the one that has the till and the server in it.
pub fn run(plan: &Plan, program: &Path) -> Result<Outcome> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let chance = Chance::new(plan.seed);
    let proxy = runtime.block_on(Proxy::start(chance.branch()))?;
    let mut storm = Storm {
        program: program.to_owned(),
        folder: tempfile::tempdir()?,
        chance,
        new_ids: plan.new_ids,
        proxy,
        server: None,
        runtime,
        acknowledged: Vec::new(),
    };
    storm.runtime.block_on(server::furnish(&storm.server_file()))?;
    storm.start_server()?;
    let mut server_kills = 0;
    for kill in 1..=plan.kills {
        storm.one_life()?;
        if kill % SERVER_EVERY == 0 {
            storm.start_server()?;
            server_kills += 1;
        }
    }
    let found = storm.calm()?;
    Ok(Outcome { kills: plan.kills, server_kills, violations: checks::violations(&found), found })
}

struct Storm {
    program: PathBuf,
    folder: TempDir,
    chance: Chance,
    new_ids: bool,
    proxy: Proxy,
    server: Option<Process>,
    runtime: Runtime,
    acknowledged: Vec<Sale>,
}

impl Storm {
    fn server_file(&self) -> PathBuf {
        self.folder.path().join("yupy.db")
    }

    fn till_folder(&self) -> PathBuf {
        self.folder.path().join("till")
    }

    /// Kills the server that there is and starts it again, on another port.
    fn start_server(&mut self) -> Result<()> {
        self.proxy.leads_to(None);
        if let Some(old) = self.server.take() {
            old.kill()?;
        }
        let file = self.server_file().to_string_lossy().into_owned();
        let server = Process::start(&self.program, &["server".to_owned(), "--file".to_owned(), file])?;
        let address = server.line(START_LIMIT)?.parse().context("the server's address")?;
        self.proxy.leads_to(Some(address));
        self.server = Some(server);
        Ok(())
    }

    fn start_till(&self, scheme: &str, drain: bool) -> Result<Process> {
        let mut words = vec![
            "till".to_owned(),
            format!("--folder={}", self.till_folder().display()),
            format!("--address={scheme}://{}", self.proxy.address),
            format!("--enrolment-code={}", server::ENROLMENT_CODE),
            format!("--seed={}", self.chance.next()),
        ];
        words.extend(drain.then(|| "--drain".to_owned()));
        words.extend(self.new_ids.then(|| "--new-ids".to_owned()));
        Process::start(&self.program, &words)
    }

    /// A till from its start to its kill.
    fn one_life(&mut self) -> Result<()> {
        let is_enrolled = !self.acknowledged.is_empty();
        let strange = is_enrolled && self.chance.per_mille(STRANGER);
        let mut till = self.start_till(if strange { "https" } else { "http" }, false)?;
        if self.chance.per_mille(STILLBORN) {
            self.wait(self.chance.between(0..=60));
        } else {
            match serde_json::from_str(&till.line(START_LIMIT).context("the till's screen")?)? {
                Word::Open => {}
                other @ (Word::Recorded { .. } | Word::Books { .. }) => bail!("first it says {other:?}"),
            }
            self.wait(self.chance.between(LIFE_MS));
        }
        anyhow::ensure!(!till.has_ended()?, "the till ended by itself");
        for line in till.kill()? {
            // The last line may be half of one.
            if let Ok(Word::Recorded { sales }) = serde_json::from_str(&line) {
                self.acknowledged.extend(sales);
            }
        }
        Ok(())
    }

    /// The line heals; the till sends what it has and tells its books, and the server tells its own.
    fn calm(&mut self) -> Result<Found> {
        self.proxy.heal();
        let till = self.start_till("http", true)?;
        till.line(START_LIMIT).context("the till's screen")?;
        let books = till.line(DRAIN_LIMIT).context("the queue does not drain")?;
        let Word::Books { sales, new_epoch } = serde_json::from_str(&books)? else {
            bail!("not its books: {books}")
        };
        drop(till);
        let mut broken_chains = Vec::new();
        let conn = rusqlite::Connection::open(self.till_folder().join(store::FILE_NAME))?;
        if let Some(row) = store::audit::first_broken(&conn)? {
            broken_chains.push(format!("the till's audit breaks at row {row}"));
        }
        let server = self.list(&format!("/v1/transactions?device_id={}", server::DEVICE))?;
        let audit = self.list("/v1/audit?")?;
        let rows: Vec<AuditRow> = audit.into_iter().map(serde_json::from_value).collect::<Result<_, _>>()?;
        let links: Option<Vec<_>> = rows.iter().map(AuditRow::link).collect();
        if chain::verify(links.context("an audit row without hashes")?).is_err() {
            broken_chains.push("the server's audit is broken".to_owned());
        }
        Ok(Found {
            acknowledged: self.acknowledged.clone(),
            till: sales,
            server: server.iter().map(transaction).collect::<Result<_>>()?,
            pages: self.proxy.book.read(),
            new_epoch,
            broken_chains,
        })
    }

    /// All pages of a list, through the line that has healed.
    fn list(&self, path: &str) -> Result<Vec<Value>> {
        let transport = HttpTransport::new(&format!("http://{}", self.proxy.address), Some(server::AUDITOR))?;
        let (mut items, mut after) = (Vec::new(), String::new());
        loop {
            let request = Request::get(format!("{path}&limit=500{after}"));
            let answer = self
                .runtime
                .block_on(async { transport.send(request).await })
                .map_err(|failure| anyhow::anyhow!("{failure:?}"))?;
            let body: Value = serde_json::from_slice(&answer.body)?;
            items
                .extend(body["items"].as_array().with_context(|| format!("{path}: {body}"))?.iter().cloned());
            match body["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => return Ok(items),
            }
        }
    }

    fn wait(&self, ms: u64) {
        self.runtime.block_on(async { tokio::time::sleep(Duration::from_millis(ms)).await });
    }
}

fn transaction(item: &Value) -> Result<(String, i64)> {
    let text = |name: &str| item[name].as_str().with_context(|| format!("{name} is missing in {item}"));
    let amount = Money::parse_amount(text("amount")?, Currency::PEN)?;
    Ok((text("external_transaction_id")?.to_owned(), amount.minor()))
}
