//! A cashier and two managers at one till: they sell, press twice, decide, also for other tills, and the till dies under
//! their hands.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use turno_crash::disk::{Fault, FaultKind, Lasts, Watch};
use turno_till::machine::Machine;
use turno_till::outbox::Policy;
use turno_till::room::Ample;
use turno_till::view::{
    Charge, ChargeOutcome, ConnectRequest, Decide, DecideOther, Decision, Line, LookAlikePolicy,
    MoneyHandled, OpenShiftRequest, Phase, Problem, ProblemCode, Review, Role, SaleSummary, Tender,
    UnlockRequest,
};
use turno_till::{Options, PinCost, Till, WriterMode};

use crate::chance::Chance;
use crate::checks;
use crate::net::{Cut, Net};
use crate::sabotage::Sabotage;
use crate::server::Server;
use crate::time::SimClock;
use crate::trace::Trace;

const CASHIER_PIN: &str = "314159";
const MANAGER_PIN: &str = "271828";
const MANAGERS: [&str; 2] = ["m", "n"];
const HOUR_MS: i64 = 3_600_000;
const YEAR_MS: i64 = 365 * 24 * HOUR_MS;

pub struct Actor {
    pub number: usize,
    folder: PathBuf,
    /// Outside of the data folder, and shared with a copy of it.
    state: PathBuf,
    net: Net,
    server: Server,
    chance: Chance,
    clock: SimClock,
    trace: Trace,
    till: Option<Till>,
    /// Draft → external ids: what the screen said was recorded.
    pub promised: BTreeMap<String, Vec<String>>,
    clock_may_jump: bool,
    /// Somebody puts older files back now and then.
    files_are_put_back: bool,
    /// And the server's.
    server_is_put_back: bool,
    /// The till's disk, when it fails now and then.
    disk: Option<Watch>,
    /// Sales that a manager decided about, of a database that is gone.
    pub decided_before: Vec<String>,
    /// What the guard has a reason to fire for in this folder.
    pub may_be_guarded: bool,
    /// Two folders of one till: a manager decides the same in both.
    has_twin: bool,
    sabotage: Option<Sabotage>,
}

/// Files and folders below, as they are at this moment: nothing else runs meanwhile.
fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_folder(&path, &to)?;
        } else {
            std::fs::copy(&path, &to)?;
        }
    }
    Ok(())
}

/// Whoever decides about a sale here. The same one in a copy of the folder and in an older state of it: two people's
/// words under one token would be two bodies under one key, which is an identity collision and for people.
fn manager_of(external_transaction_id: &str) -> String {
    let last = external_transaction_id.bytes().last().unwrap_or_default();
    MANAGERS[usize::from(last) % MANAGERS.len()].to_owned()
}

/// Polls a future so many times and no more: the process died in between.
async fn killed_after<T>(polls: u64, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    let mut left = polls;
    std::future::poll_fn(move |context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        work.as_mut().poll(context).map(Some)
    })
    .await
}

impl Actor {
    pub fn new(
        number: usize,
        folder: PathBuf,
        net: Net,
        server: Server,
        chance: Chance,
        trace: Trace,
        sabotage: Option<Sabotage>,
    ) -> Result<Self> {
        let clock_may_jump = chance.per_mille(250);
        let files_are_put_back = chance.per_mille(350);
        let server_is_put_back = chance.per_mille(250);
        std::fs::create_dir_all(&folder)?;
        let disk = chance.per_mille(250).then(|| Watch::over(&folder, None));
        let clock = SimClock::right();
        Ok(Self {
            number,
            state: folder.with_extension("state"),
            folder,
            net,
            server,
            chance,
            clock,
            trace,
            till: None,
            promised: BTreeMap::new(),
            clock_may_jump,
            files_are_put_back,
            server_is_put_back,
            disk,
            decided_before: Vec::new(),
            may_be_guarded: false,
            has_twin: false,
            sabotage,
        })
    }

    fn say(&self, line: impl AsRef<str>) {
        self.trace.say(format!("till {} {}", self.number, line.as_ref()));
    }

    pub fn till(&self) -> Result<&Till> {
        self.till.as_ref().context("the till is open")
    }

    async fn open(&mut self) -> Result<()> {
        let (net, number, wires) = (self.net.clone(), self.number, self.chance.branch());
        let options = Options {
            clock: Arc::new(self.clock.clone()),
            entropy: Arc::new(self.chance.branch()),
            connector: Arc::new(move |_, credential| {
                Ok(net.plug(number, credential.map(str::to_owned), wires.branch()))
            }),
            policy: Policy::default(),
            pin_cost: PinCost { memory_kib: 8, passes: 1 },
            writer: WriterMode::Inline,
            machine: Machine::named("a simulated machine"),
            disk: Arc::new(Ample),
            journal_folder: self.beside("journal"),
            ..Options::new(self.folder.clone(), self.state.clone())
        };
        let till = Till::open(options).await.map_err(|problem| anyhow::anyhow!("{problem:?}"))?;
        self.till = Some(till);
        Ok(())
    }

    /// Enrols over the same bad network, for as long as it takes.
    pub async fn set_up(&mut self) -> Result<()> {
        self.open().await?;
        let enrolment_code = self.server.code(&format!("D0{}", self.number + 1)).await?;
        let request = ConnectRequest { address: "http://yupy.sim".to_owned(), enrolment_code };
        while let Err(problem) = self.till()?.connect(&request).await {
            self.say(format!("cannot enrol: {:?}", problem.code));
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
        self.server.has_enrolled_one();
        for (id, name, role, pin) in [
            ("c", "Caja", Role::Cashier, CASHIER_PIN),
            ("m", "Encargado", Role::Manager, MANAGER_PIN),
            ("n", "Encargada", Role::Manager, MANAGER_PIN),
        ] {
            self.till()?
                .add_person(id, name, role, pin)
                .await
                .map_err(|problem| anyhow::anyhow!("{problem:?}"))?;
        }
        self.unlock().await
    }

    async fn unlock(&self) -> Result<()> {
        let till = self.till()?;
        let request = UnlockRequest { person_id: "c".to_owned(), pin: CASHIER_PIN.to_owned() };
        till.unlock(&request).await.map_err(|problem| anyhow::anyhow!("{problem:?}"))?;
        if matches!(till.phase().await, Ok(Phase::NoShift { .. })) {
            let float = OpenShiftRequest { float: "50".to_owned() };
            till.open_shift(&float).await.map_err(|problem| anyhow::anyhow!("{problem:?}"))?;
        }
        Ok(())
    }

    /// The process is gone between two store calls, and starts again.
    pub async fn crash(&mut self) -> Result<()> {
        for _ in 0..self.chance.between(0..=12) {
            tokio::task::yield_now().await;
        }
        self.say("dies");
        self.net.count("TillCrash");
        self.till = None;
        self.damage()?;
        if self.files_are_put_back && self.chance.per_mille(500) {
            self.put_back().await?;
        }
        tokio::time::sleep(Duration::from_millis(self.chance.between(10..=20_000))).await;
        self.open().await?;
        self.unlock().await
    }

    fn beside(&self, extension: &str) -> PathBuf {
        self.folder.with_extension(extension)
    }

    /// Somebody copies the database, or puts the copy in its place. The journal is on another medium and stays.
    async fn put_back(&mut self) -> Result<()> {
        let older = self.beside("older");
        tokio::time::sleep(Duration::from_millis(20)).await;
        if !older.exists() {
            copy_folder(&self.folder, &older)?;
            if self.sabotage == Some(Sabotage::WitnessPutBack) {
                copy_folder(&self.state, &self.beside("older-state"))?;
            }
            return Ok(());
        }
        // Whoever does this closed the till first, and so the journal has everything.
        self.open().await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
        self.till = None;
        tokio::time::sleep(Duration::from_millis(20)).await;
        self.say("files are put back");
        self.net.count("FilesPutBack");
        self.may_be_guarded = true;
        self.decided_before.extend(checks::decisions(&rusqlite::Connection::open(self.database())?)?);
        std::fs::remove_dir_all(&self.folder)?;
        copy_folder(&older, &self.folder)?;
        if self.sabotage == Some(Sabotage::WitnessPutBack) {
            std::fs::remove_dir_all(&self.state)?;
            copy_folder(&self.beside("older-state"), &self.state)?;
            std::fs::remove_dir_all(self.beside("journal"))?;
            self.promised.clear();
        }
        Ok(())
    }

    /// The folder as it is, in the hands of somebody else: the same till twice, on one machine.
    pub async fn twin(&mut self) -> Result<Self> {
        self.say("is copied");
        self.net.count("FolderCopied");
        let folder = self.folder.with_file_name(format!("till-{}-twin", self.number));
        copy_folder(&self.folder, &folder)?;
        (self.has_twin, self.may_be_guarded) = (true, true);
        let mut twin = Self {
            number: self.number,
            state: self.state.clone(),
            folder,
            net: self.net.clone(),
            server: self.server.clone(),
            chance: self.chance.branch(),
            clock: self.clock.clone(),
            trace: self.trace.clone(),
            till: None,
            promised: BTreeMap::new(),
            clock_may_jump: false,
            files_are_put_back: false,
            server_is_put_back: false,
            disk: None,
            decided_before: Vec::new(),
            may_be_guarded: true,
            has_twin: true,
            sabotage: self.sabotage,
        };
        copy_folder(&self.beside("journal"), &twin.beside("journal"))?;
        twin.open().await?;
        twin.unlock().await?;
        Ok(twin)
    }

    /// What a bug has done to the file by the time the program starts again.
    fn damage(&self) -> Result<()> {
        let older = self.database().with_extension("older");
        match self.sabotage {
            Some(Sabotage::CommitsLost) => {
                let conn = rusqlite::Connection::open(self.database())?;
                conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
                drop(conn);
                if older.exists() {
                    std::fs::copy(&older, self.database())?;
                    std::fs::remove_dir_all(self.beside("journal"))?;
                }
                std::fs::copy(self.database(), &older)?;
            }
            Some(Sabotage::QueueForgotten) => {
                let conn = rusqlite::Connection::open(self.database())?;
                conn.execute_batch(
                    "UPDATE outbox SET state = 'accepted', yupy_transaction_id = '?', due_at_ms = NULL
                     WHERE state IN ('queued', 'sending')",
                )?;
            }
            Some(Sabotage::AuditEdited) => {
                let conn = rusqlite::Connection::open(self.database())?;
                conn.execute_batch(
                    "DROP TRIGGER IF EXISTS audit_is_frozen; UPDATE audit SET at_ms = at_ms + 1 WHERE audit_id = 2",
                )?;
            }
            _ => {}
        }
        Ok(())
    }

    /// One thing that happens at a counter.
    pub async fn act(&mut self) -> Result<()> {
        tokio::time::sleep(Duration::from_millis(self.chance.between(200..=25_000))).await;
        match self.chance.between(0..=99) {
            0..=55 => self.sell().await,
            56..=64 => self.decide().await,
            65..=67 => self.decide_for_another().await,
            68..=73 => {
                let report = self.till()?.send_now().await;
                self.say(format!(
                    "sends now: {:?}",
                    report.map(|report| (report.attempted, report.accepted))
                ));
                Ok(())
            }
            74..=81 => self.crash().await,
            82..=85 => {
                self.lose_the_line(Cut::NoNetwork);
                Ok(())
            }
            86..=87 => {
                self.lose_the_line(Cut::OneWay);
                Ok(())
            }
            88..=89 => {
                self.lose_the_line(Cut::CredentialRefused);
                Ok(())
            }
            90..=92 => {
                self.say("the server restarts");
                self.net.count("ServerRestart");
                self.server.restart().await
            }
            93..=95 => self.put_the_server_back().await,
            96..=97 => self.sell_on_a_failing_disk().await,
            _ => {
                if self.clock_may_jump {
                    self.net.count("ClockJump");
                    self.clock.set_by(*self.chance.pick(&[HOUR_MS, -HOUR_MS, YEAR_MS, -YEAR_MS]));
                }
                Ok(())
            }
        }
    }

    /// For a while.
    fn lose_the_line(&self, cut: Cut) {
        self.net.cut(self.number, cut);
        let dark = Duration::from_millis(self.chance.between(1_000..=600_000));
        let (net, number) = (self.net.clone(), self.number);
        tokio::spawn(async move {
            tokio::time::sleep(dark).await;
            net.join(number);
        });
    }

    /// Somebody makes a backup of the server, or puts it back: then it has lost what it had confirmed since.
    async fn put_the_server_back(&self) -> Result<()> {
        if self.server_is_put_back && self.server.put_back().await? {
            self.say("the server is an older one");
            self.net.count("ServerPutBack");
        }
        Ok(())
    }

    /// The disk is full or broken while somebody sells and the relay writes; then it works again, and the cashier
    /// presses once more.
    async fn sell_on_a_failing_disk(&mut self) -> Result<()> {
        let Some(watch) = &self.disk else { return Ok(()) };
        let kind = *self.chance.pick(&[FaultKind::Full, FaultKind::Io, FaultKind::Short, FaultKind::Sync]);
        let lasts = *self.chance.pick(&[Lasts::Once, Lasts::UntilHealed]);
        let disk = Arc::clone(&watch.disk);
        let charge = self.cart()?;
        let wait = Duration::from_millis(self.chance.between(0..=20_000));
        disk.fail(Fault { kind, nth: self.chance.between(1..=60), lasts });
        let outcome = self.till()?.charge(&charge).await;
        tokio::time::sleep(wait).await;
        let struck = disk.heal();
        self.say(format!("{struck} calls to the disk failed ({kind:?}, {lasts:?}): {outcome:?}"));
        if struck > 0 {
            self.net.count(&format!("Disk{kind:?}"));
        }
        match outcome {
            Ok(outcome) => self.note(&charge, outcome)?,
            Err(problem) => ensure!(struck > 0, "a sale was refused: {problem:?}"),
        }
        self.charge(&charge).await
    }

    async fn sell(&mut self) -> Result<()> {
        let till = self.till()?.clone();
        let charge = self.cart()?;
        if self.chance.per_mille(60) {
            let polls = self.chance.between(1..=6);
            let died = killed_after(polls, till.charge(&charge)).await.is_none();
            // A process that died holds nothing.
            drop(till);
            if died {
                self.net.count("CrashWhileCharging");
                self.crash().await?;
                // The cashier presses again; the draft decides whether that is the first time.
                return self.charge(&charge).await;
            }
        }
        self.charge(&charge).await?;
        if self.chance.per_mille(150) {
            self.charge(&charge).await?;
        }
        Ok(())
    }

    fn cart(&self) -> Result<Charge> {
        Ok(Charge {
            draft_id: self.till()?.open_draft().draft_id,
            lines: self.lines(),
            tenders: vec![Tender::Cash { received: None }],
            look_alikes: LookAlikePolicy::SellAnyway,
            approval: None,
        })
    }

    async fn charge(&mut self, charge: &Charge) -> Result<()> {
        match self.till()?.charge(charge).await {
            Ok(outcome) => self.note(charge, outcome),
            Err(problem) => anyhow::bail!("a sale was refused: {problem:?}"),
        }
    }

    /// What the cashier saw.
    fn note(&mut self, charge: &Charge, outcome: ChargeOutcome) -> Result<()> {
        match outcome {
            ChargeOutcome::Recorded { checkout } => {
                let ids: Vec<String> =
                    checkout.sales.into_iter().map(|sale| sale.external_transaction_id).collect();
                self.say(format!("records {ids:?}"));
                let before = self.promised.insert(charge.draft_id.clone(), ids.clone());
                ensure!(before.is_none_or(|before| before == ids), "one draft, two answers");
                Ok(())
            }
            ChargeOutcome::LookAlike { .. } => anyhow::bail!("asked although told to sell"),
        }
    }

    fn lines(&self) -> Vec<Line> {
        let name = self
            .chance
            .per_mille(300)
            .then(|| (*self.chance.pick(&["Ana Quispe", "José Ñaupas"])).to_owned());
        let seat = *self.chance.pick(&["1A", "1B", "2A", "2B"]);
        let line = |offer: &str, seat: Option<&str>, price| Line {
            offer_id: offer.to_owned(),
            seat: seat.map(str::to_owned),
            quantity: 1,
            buyer_name: name.clone(),
            shown_price_minor: price,
            discount: None,
        };
        let ticket = line("departure:184-N", Some(seat), 8_550);
        let fare = line("fare:U7-adulto", None, 200);
        let luggage = line("product:equipaje", None, 990);
        match self.chance.between(0..=5) {
            0..=2 => vec![ticket],
            3 => vec![ticket, luggage],
            4 => vec![fare.clone(), fare],
            _ => vec![fare],
        }
    }

    /// A manager looks at one question and decides, or does not.
    async fn decide(&mut self) -> Result<()> {
        let till = self.till()?.clone();
        let reviews = till.reviews().await.map_err(|problem| anyhow::anyhow!("{problem:?}"))?;
        let Some(review) = reviews.first() else { return Ok(()) };
        // What somebody decided in a later state of this folder stands at the server.
        let same = review.decided_elsewhere.is_some() || (self.chance.per_mille(300) && !self.has_twin);
        let request = Decide {
            external_transaction_id: review.external_transaction_id.clone(),
            challenge_id: review.challenge_id.clone(),
            decision: if same { Decision::SameSale } else { Decision::DifferentSale },
            manager_id: manager_of(&review.external_transaction_id),
            pin: MANAGER_PIN.to_owned(),
            reason: "lo vi en el bus".to_owned(),
            money: same.then_some(MoneyHandled::Refunded),
        };
        let polls = if self.chance.per_mille(80) { self.chance.between(1..=8) } else { u64::MAX };
        let outcome = killed_after(polls, till.decide(&request)).await;
        drop(till);
        self.say(format!("decides {}: {outcome:?}", review.external_transaction_id));
        self.after_deciding(outcome).await
    }

    /// A manager answers another till's question, if YUPY can be asked for one.
    async fn decide_for_another(&mut self) -> Result<()> {
        let till = self.till()?.clone();
        let review = match till.other_reviews().await {
            Ok(list) => list.reviews.into_iter().next(),
            Err(problem) => {
                self.say(format!("cannot see other tills' questions: {:?}", problem.code));
                None
            }
        };
        // A damaged answer may name a sale that no till made; no manager decides about that. And of two copies of a folder
        // one may learn of the answer while the other has an own one: an identity collision, which is for people.
        let is_answered = |review: &Review| {
            review.external_transaction_id.starts_with('D') && !self.net.copies_are_expected()
        };
        let Some(review) = review.filter(is_answered) else { return Ok(()) };
        let same = self.chance.per_mille(300);
        let request = DecideOther {
            external_transaction_id: review.external_transaction_id.clone(),
            challenge_id: review.challenge_id,
            decision: if same { Decision::SameSale } else { Decision::DifferentSale },
            manager_id: (*self.chance.pick(&MANAGERS)).to_owned(),
            pin: MANAGER_PIN.to_owned(),
            reason: "llamé al bus".to_owned(),
        };
        let polls = if self.chance.per_mille(80) { self.chance.between(1..=8) } else { u64::MAX };
        let outcome = killed_after(polls, till.decide_other(&request)).await;
        drop(till);
        self.net.count("DecidedForAnother");
        self.say(format!("decides for another {}: {outcome:?}", review.external_transaction_id));
        self.after_deciding(outcome).await
    }

    async fn after_deciding(&mut self, outcome: Option<Result<(), Problem>>) -> Result<()> {
        match outcome {
            None => self.crash().await,
            Some(Ok(())) => Ok(()),
            Some(Err(problem)) => {
                // A crash while a PIN was checked counts as a failure; the manager waits.
                let expected = [
                    ProblemCode::PinLocked,
                    ProblemCode::NotInReview,
                    ProblemCode::QuestionChanged,
                    ProblemCode::DecidedElsewhere,
                ];
                ensure!(expected.contains(&problem.code), "a decision was refused: {problem:?}");
                Ok(())
            }
        }
    }

    /// After healing: everything that waits for a person is decided, the queue drains, and what the server lost is
    /// found and sent again.
    pub async fn wind_down(&mut self) -> Result<()> {
        self.clock.set_right();
        if self.till.is_none() {
            self.open().await?;
            self.unlock().await?;
        }
        self.drain().await?;
        if self.server.was_put_back() && self.sabotage != Some(Sabotage::NobodyCompares) {
            self.till()?.reconcile().await.map_err(|problem| anyhow::anyhow!("{problem:?}"))?;
            self.drain().await?;
        }
        Ok(())
    }

    async fn drain(&mut self) -> Result<()> {
        for _ in 0..400 {
            // All of them at a sitting: where tokens live for seconds, one by one would never end.
            let open = self.till()?.reviews().await.map_err(|problem| anyhow::anyhow!("{problem:?}"))?;
            for _ in open {
                self.decide().await?;
            }
            let status = self.till()?.status().await.map_err(|problem| anyhow::anyhow!("{problem:?}"))?;
            if status.is_some_and(|status| status.pending_count == status.needs_attention_count) {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_secs(15)).await;
        }
        let page = self.till()?.pending(None).await.map_err(|problem| anyhow::anyhow!("{problem:?}"))?;
        anyhow::bail!("the queue of till {} did not drain: {:#?}", self.number, page.items)
    }

    pub async fn sales(&self) -> Result<Vec<SaleSummary>> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let page =
                self.till()?.recent_sales(after).await.map_err(|problem| anyhow::anyhow!("{problem:?}"))?;
            all.extend(page.items);
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(all),
            }
        }
    }

    pub fn database(&self) -> PathBuf {
        self.folder.join(turno_till::store::FILE_NAME)
    }
}
