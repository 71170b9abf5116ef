//! A question that two people answer, on two real tills, before the real server behind a bad network: the first answer
//! stands, whoever gave it and however late it was told, and nothing is created against it.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::future::Future;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use jiff::SignedDuration;
use serde_json::Value;
use turno_server::World;
use turno_simulation::actor::Actor;
use turno_simulation::chance::Chance;
use turno_simulation::faults::Weather;
use turno_simulation::net::{Cut, Net};
use turno_simulation::server::Server;
use turno_simulation::time::{SimClock, pass};
use turno_simulation::trace::Trace;
use turno_till::Till;
use turno_till::view::{
    Charge, ChargeOutcome, Decide, DecideOther, Decision, Line, LookAlikePolicy, MoneyHandled, ProblemCode,
    ResolutionProgress, Review, SaleState, Tender,
};

const MANAGER_PIN: &str = "271828";
/// Each is another order of lost requests, lost replies and delays.
const SEEDS: u64 = 10;
/// Seconds of the tills that a healed network may take.
const ROUNDS: usize = 900;
const TOKEN_LIFE: SignedDuration = SignedDuration::from_hours(1);

struct Two {
    server: Server,
    net: Net,
    seller: Actor,
    other: Actor,
    /// The sale that is asked about.
    id: String,
}

async fn sell(till: &Till) -> String {
    let line = Line {
        offer_id: "departure:184-N".to_owned(),
        seat: Some("1A".to_owned()),
        quantity: 1,
        buyer_name: Some("María Ramos".to_owned()),
        shown_price_minor: 8_550,
        discount: None,
    };
    let charge = Charge {
        draft_id: till.open_draft().draft_id,
        lines: vec![line],
        tenders: vec![Tender::Cash { received: None }],
        look_alikes: LookAlikePolicy::SellAnyway,
        approval: None,
    };
    let ChargeOutcome::Recorded { checkout } = till.charge(&charge).await.unwrap() else {
        panic!("a warning that nobody asked for")
    };
    checkout.sales[0].external_transaction_id.clone()
}

async fn state(till: &Till, id: &str) -> SaleState {
    till.sale_detail(id).await.unwrap().sale.state
}

/// Waits for something that comes by itself.
async fn until<F: Future<Output = bool>>(what: &str, reached: impl Fn() -> F) -> Result<()> {
    for _ in 0..ROUNDS {
        if reached().await {
            return Ok(());
        }
        pass(Duration::from_secs(1)).await;
    }
    anyhow::bail!("never: {what}")
}

impl Two {
    /// Two tills, and a sale of the first about which YUPY asks.
    async fn begin(seed: u64, folder: &Path) -> Result<Self> {
        let (chance, trace) = (Chance::new(seed), Trace::begin());
        let world = World::new(SimClock::right(), chance.branch());
        let server = Server::start(folder.join("yupy.db"), world, TOKEN_LIFE, 2, None).await?;
        let net = Net::new(server.clone(), Weather::draw(&chance), None, trace.clone());
        let mut actors = Vec::new();
        for number in 0..2 {
            let place = folder.join(format!("till-{number}"));
            let (net, server, trace) = (net.clone(), server.clone(), trace.clone());
            let mut actor = Actor::new(number, place, net, server, chance.branch(), trace, None)?;
            actor.set_up().await?;
            actors.push(actor);
        }
        let (other, seller) = (actors.pop().unwrap(), actors.pop().unwrap());
        let till = seller.till()?;
        let first = sell(till).await;
        until("the first sale", || async { state(till, &first).await == SaleState::Accepted }).await?;
        let id = sell(till).await;
        until("the question", || async { state(till, &id).await == SaleState::InReview }).await?;
        Ok(Self { server, net, seller, other, id })
    }

    /// The question as the other till's manager sees it.
    async fn seen(&self) -> Result<Review> {
        for _ in 0..ROUNDS {
            if let Ok(list) = self.other.till()?.other_reviews().await
                && let Some(review) = list.reviews.first()
            {
                return Ok(review.clone());
            }
            pass(Duration::from_secs(1)).await;
        }
        anyhow::bail!("the other till never sees the question")
    }

    async fn says(&self, decision: Decision) -> Result<()> {
        self.says_of(self.seen().await?, decision).await
    }

    async fn says_of(&self, review: Review, decision: Decision) -> Result<()> {
        ensure!(review.external_transaction_id == self.id && review.own.seat.as_deref() == Some("1A"));
        let request = DecideOther {
            external_transaction_id: review.external_transaction_id,
            challenge_id: review.challenge_id,
            decision,
            manager_id: "m".to_owned(),
            pin: MANAGER_PIN.to_owned(),
            reason: "lo vi desde la oficina".to_owned(),
        };
        self.other.till()?.decide_other(&request).await.unwrap();
        Ok(())
    }

    /// What the other till's manager knows of their answer.
    async fn progress(&self) -> ResolutionProgress {
        loop {
            if let Ok(list) = self.other.till().unwrap().other_reviews().await {
                return list.decided[0].progress;
            }
            pass(Duration::from_secs(1)).await;
        }
    }

    fn own(&self, review: &Review, decision: Decision) -> Decide {
        Decide {
            external_transaction_id: self.id.clone(),
            challenge_id: review.challenge_id.clone(),
            decision,
            manager_id: "m".to_owned(),
            pin: MANAGER_PIN.to_owned(),
            reason: "lo vi en el bus".to_owned(),
            money: (decision == Decision::SameSale).then_some(MoneyHandled::Refunded),
        }
    }

    /// One of the two has no line: in every other world the seller.
    fn delay_one(&self, seed: u64) {
        self.net.cut(usize::from(seed.is_multiple_of(2)), Cut::NoNetwork);
    }

    async fn come_together(&self) {
        pass(Duration::from_secs(120)).await;
        self.net.heal();
    }

    async fn transactions(&self) -> Result<usize> {
        Ok(self.server.list("/v1/transactions?device_id=D01").await?.len())
    }

    async fn audited(&self, event: &str) -> Result<Vec<Value>> {
        let rows = self.server.list("/v1/audit").await?;
        Ok(rows.into_iter().filter(|row| row["event"] == event).collect())
    }
}

fn each<F: Future<Output = Result<()>>>(story: impl Fn(u64, std::path::PathBuf) -> F) {
    for seed in 1..=SEEDS {
        let folder = tempfile::tempdir().unwrap();
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let done = runtime.block_on(story(seed, folder.path().to_owned()));
        done.unwrap_or_else(|error| panic!("seed {seed}: {error:#}"));
    }
}

#[test]
fn another_sale_said_elsewhere_is_confirmed_by_the_selling_till_in_that_name_over_a_restart() {
    each(async |seed, folder| {
        let mut two = Two::begin(seed, &folder).await?;
        two.says(Decision::DifferentSale).await?;
        two.seller.crash().await?;
        two.net.heal();
        let till = two.seller.till()?;
        until("the confirmation", || async { state(till, &two.id).await == SaleState::Accepted }).await?;
        ensure!(two.transactions().await? == 2);
        let confirmed = two.audited("duplicate_confirmed").await?;
        ensure!(confirmed.len() == 1, "{confirmed:?}");
        ensure!(confirmed[0]["confirmation_reason"] == "lo vi desde la oficina", "{confirmed:?}");
        ensure!(two.audited("duplicate_resolved").await?.len() == 1);
        // Its answer may have been lost, and is asked for again.
        until("the last word", || async { two.progress().await == ResolutionProgress::Told }).await
    });
}

#[test]
fn the_same_sale_said_elsewhere_waits_for_the_money_and_cannot_be_overruled() {
    each(async |seed, folder| {
        let mut two = Two::begin(seed, &folder).await?;
        two.says(Decision::SameSale).await?;
        two.seller.crash().await?;
        two.net.heal();
        let till = two.seller.till()?;
        let learnt = async || till.reviews().await.unwrap()[0].decided_elsewhere.clone();
        until("the word", || async { learnt().await.is_some() }).await?;
        let review = till.reviews().await.unwrap()[0].clone();
        ensure!(review.decided_elsewhere.as_ref().unwrap().decided_by == "Encargado");
        let refused = till.decide(&two.own(&review, Decision::DifferentSale)).await.unwrap_err();
        ensure!(refused.code == ProblemCode::DecidedElsewhere);
        till.decide(&two.own(&review, Decision::SameSale)).await.unwrap();
        ensure!(state(till, &two.id).await == SaleState::Discarded);
        ensure!(till.pending(None).await.unwrap().items.is_empty(), "YUPY knows it already");
        pass(Duration::from_secs(300)).await;
        ensure!(two.transactions().await? == 1);
        ensure!(two.audited("duplicate_resolved").await?.len() == 1);
        Ok(())
    });
}

#[test]
fn of_two_opposite_answers_at_once_the_first_stands_and_creates_or_prevents_alone() {
    each(async |seed, folder| {
        let two = Two::begin(seed, &folder).await?;
        let till = two.seller.till()?;
        let review = till.reviews().await.unwrap()[0].clone();
        let confirms = two.own(&review, Decision::DifferentSale);
        let seen = two.seen().await?;
        two.delay_one(seed);
        let (here, there) = tokio::join!(till.decide(&confirms), two.says_of(seen, Decision::SameSale));
        two.come_together().await;
        there?;
        // Slow weather may have brought the other's word first.
        if let Err(problem) = here {
            ensure!(problem.code == ProblemCode::DecidedElsewhere, "{problem:?}");
        }
        let settled = async || {
            let known = two.progress().await;
            let waits = matches!(known, ResolutionProgress::Queued | ResolutionProgress::Sending);
            let sale = state(till, &two.id).await;
            let reviews = till.reviews().await.unwrap();
            let learnt = reviews.first().is_some_and(|review| review.decided_elsewhere.is_some());
            !waits && (sale == SaleState::Accepted || learnt)
        };
        until("one of the answers", || async { settled().await }).await?;
        let (sale, known) = (state(till, &two.id).await, two.progress().await);
        if sale == SaleState::Accepted {
            ensure!(two.transactions().await? == 2 && known == ResolutionProgress::SaleExists, "{known:?}");
            ensure!(two.audited("duplicate_resolved").await?.is_empty());
        } else {
            ensure!(two.transactions().await? == 1 && known == ResolutionProgress::Told, "{known:?}");
            ensure!(two.audited("duplicate_confirmed").await?.is_empty());
            let review = till.reviews().await.unwrap()[0].clone();
            till.decide(&two.own(&review, Decision::SameSale)).await.unwrap();
            until("the end", || async { till.pending(None).await.unwrap().items.is_empty() }).await?;
            ensure!(two.transactions().await? == 1);
        }
        Ok(())
    });
}

#[test]
fn a_discard_against_an_earlier_word_is_told_to_people_and_creates_nothing() {
    each(async |seed, folder| {
        let two = Two::begin(seed, &folder).await?;
        let till = two.seller.till()?;
        let review = till.reviews().await.unwrap()[0].clone();
        let discards = two.own(&review, Decision::SameSale);
        let seen = two.seen().await?;
        two.delay_one(seed);
        let (here, there) = tokio::join!(till.decide(&discards), two.says_of(seen, Decision::DifferentSale));
        there?;
        here.unwrap();
        two.come_together().await;
        let told = async || till.sale_detail(&two.id).await.unwrap().resolution.unwrap().progress;
        until("an answer", || async {
            let waits = [ResolutionProgress::Queued, ResolutionProgress::Sending];
            !waits.contains(&told().await) && !waits.contains(&two.progress().await)
        })
        .await?;
        let (here, there) = (told().await, two.progress().await);
        let first_here = here == ResolutionProgress::Told && there == ResolutionProgress::DecidedOtherwise;
        let first_there = here == ResolutionProgress::DecidedOtherwise && there == ResolutionProgress::Told;
        ensure!(first_here != first_there, "{here:?} {there:?}");
        ensure!(two.transactions().await? == 1 && two.audited("duplicate_resolved").await?.len() == 1);
        Ok(())
    });
}

#[test]
fn an_answer_that_is_given_offline_and_told_hours_later_counts_with_a_token_that_has_expired() {
    each(async |seed, folder| {
        let two = Two::begin(seed, &folder).await?;
        // The seller hears nothing for three hours; the token lives for one. The answer came in time.
        two.net.cut(0, Cut::NoNetwork);
        two.says(Decision::DifferentSale).await?;
        until("the answer", || async { two.progress().await == ResolutionProgress::Told }).await?;
        pass(Duration::from_secs(3 * 3_600)).await;
        two.net.join(0);
        two.net.heal();
        let till = two.seller.till()?;
        until("the confirmation", || async { state(till, &two.id).await == SaleState::Accepted }).await?;
        ensure!(two.transactions().await? == 2 && two.audited("duplicate_confirmed").await?.len() == 1);
        Ok(())
    });
}

#[test]
fn an_answer_that_comes_after_the_question_has_ended_decides_nothing() {
    each(async |seed, folder| {
        let two = Two::begin(seed, &folder).await?;
        let till = two.other.till()?;
        let review = two.seen().await?;
        two.net.cut(1, Cut::NoNetwork);
        let request = DecideOther {
            external_transaction_id: review.external_transaction_id,
            challenge_id: review.challenge_id,
            decision: Decision::DifferentSale,
            manager_id: "m".to_owned(),
            pin: MANAGER_PIN.to_owned(),
            reason: "tarde".to_owned(),
        };
        till.decide_other(&request).await.unwrap();
        pass(Duration::from_secs(3 * 3_600)).await;
        two.net.heal();
        until("an answer", || async { two.progress().await == ResolutionProgress::Closed }).await?;
        ensure!(two.transactions().await? == 1 && two.audited("duplicate_resolved").await?.is_empty());
        ensure!(
            state(two.seller.till()?, &two.id).await == SaleState::InReview,
            "it still waits for a person"
        );
        Ok(())
    });
}
