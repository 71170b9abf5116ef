//! Plays cases against a server, several at a time.

use std::{panic::AssertUnwindSafe, sync::Arc};

use anyhow::Result;
use futures_util::{FutureExt, StreamExt, stream};

use crate::{
    case::{Case, Skipped},
    client::Client,
    fixture::Fixture,
    report::{Report, Verdict},
    stage::Stage,
};

/// Cases at once. Most of their time goes to waiting for disks and slow acquirers.
const AT_ONCE: usize = 16;

/// The server under test.
#[derive(Clone, Debug)]
pub struct Target {
    client: Arc<Client>,
    fixture: Arc<Fixture>,
}

impl Target {
    pub fn new(base_url: &str, fixture: Fixture) -> Result<Self> {
        Ok(Self { client: Arc::new(Client::new(base_url)?), fixture: Arc::new(fixture) })
    }
}

pub async fn run(target: &Target, cases: Vec<Case>) -> Report {
    let plays = stream::iter(cases).map(|case| async move { (case, play(target, case).await) });
    Report { cases: plays.buffered(AT_ONCE).collect().await }
}

/// A case that panics has failed, and the others go on.
async fn play(target: &Target, case: Case) -> Verdict {
    let stage = Stage::new(Arc::clone(&target.client), Arc::clone(&target.fixture));
    let played = match stage {
        Ok(stage) => AssertUnwindSafe((case.play)(stage)).catch_unwind().await,
        Err(error) => Ok(Err(error)),
    };
    match played {
        Ok(Ok(())) => Verdict::Passed,
        Ok(Err(error)) => match error.downcast_ref::<Skipped>() {
            Some(Skipped(why)) => Verdict::Skipped(why.clone()),
            None => Verdict::Failed(format!("{error:#}")),
        },
        Err(_) => Verdict::Failed("the case panicked".to_owned()),
    }
}
