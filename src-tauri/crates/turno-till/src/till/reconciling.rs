//! When our sales are compared with YUPY's, and the report.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::Notify;

use super::{Enrolled, Inner, Till};
use crate::clock::Millis;
use crate::random::roll;
use crate::reconcile::{self, Parts};
use crate::store::reconciliations;
use crate::view::{Problem, ProblemCode, Reconciliation, ReconciliationReason};

const EVERY_MS: Millis = 24 * 60 * 60 * 1_000;
/// So that a company's tills, all switched on at six, do not ask for their lists at once.
const SPREAD_MS: Millis = 60 * 60 * 1_000;
/// After one that did not come to its end.
const RETRY: Duration = Duration::from_secs(15 * 60);

impl Till {
    /// Compares all of this till's sales with what YUPY has, now, and says what came of it.
    ///
    /// # Errors
    /// `address_unreachable` with its cause or `not_yupy`, and nothing was decided; `not_allowed_now` before the till is
    /// set up and while sending is switched off.
    pub async fn reconcile(&self) -> Result<Reconciliation, Problem> {
        let enrolled = self.enrolled()?;
        if self.is_sending_paused() {
            return Err(ProblemCode::NotAllowedNow.into());
        }
        let parts = self.parts(&enrolled);
        {
            let _alone = enrolled.reconciling.lock().await;
            reconcile::run(&parts, ReconciliationReason::Asked).await?;
        }
        enrolled.relay.wake();
        self.changed();
        self.last_reconciliation().await?.ok_or_else(|| ProblemCode::Internal.into())
    }

    /// The report of the newest comparison that came to its end.
    ///
    /// # Errors
    /// `not_allowed_now` before the till is set up.
    pub async fn last_reconciliation(&self) -> Result<Option<Reconciliation>, Problem> {
        let currency = self.enrolled()?.enrolment.currency.code().to_owned();
        Ok(self.inner.db.read(move |conn| reconciliations::last(conn, &currency)).await?)
    }

    fn parts(&self, enrolled: &Enrolled) -> Parts {
        Parts {
            db: self.inner.db.clone(),
            transport: Arc::clone(&enrolled.transport),
            clock: Arc::clone(&self.inner.options.clock),
            context: enrolled.context.clone(),
            device_id: enrolled.enrolment.device_id.clone(),
        }
    }

    /// How long until the next comparison is due.
    async fn until_due(&self) -> Duration {
        let last = self.inner.db.read(reconciliations::last_finished_at).await.ok().flatten();
        let spread =
            SPREAD_MS * i64::from(roll(&*self.inner.options.entropy) >> 1) / i64::from(u32::MAX >> 1);
        let due = last.map_or(spread, |last| last + EVERY_MS + spread - self.now());
        // A clock that was set back must not put it off for years.
        Duration::from_millis(u64::try_from(due.min(EVERY_MS + spread)).unwrap_or(0))
    }
}

/// Compares once a day, and when YUPY is heard again after a long time.
pub(super) async fn keep_reconciled(inner: Weak<Inner>, after_outage: Arc<Notify>) {
    let till = || inner.upgrade().map(|inner| Till { inner });
    let mut pause = None;
    loop {
        let until = match pause.take() {
            Some(pause) => pause,
            None => match till() {
                Some(till) => till.until_due().await,
                None => return,
            },
        };
        let reason = tokio::select! {
            () = tokio::time::sleep(until) => ReconciliationReason::Daily,
            () = after_outage.notified() => ReconciliationReason::Outage,
        };
        let Some(enrolled) = till().and_then(|till| till.enrolled().ok()) else {
            pause = Some(RETRY);
            continue;
        };
        if enrolled.relay.paused_since().is_some() {
            pause = Some(RETRY);
            continue;
        }
        let Some(parts) = till().map(|till| till.parts(&enrolled)) else { return };
        let (alone, relay) = (Arc::clone(&enrolled.reconciling), enrolled.relay.clone());
        drop(enrolled);
        let done = {
            let _alone = alone.lock().await;
            reconcile::run(&parts, reason).await
        };
        drop(parts);
        match done {
            Ok(()) => relay.wake(),
            Err(problem) => {
                tracing::warn!(code = ?problem.code, "our sales could not be compared with YUPY's; it is tried again");
                pause = Some(RETRY);
            }
        }
        if let Some(till) = till() {
            till.changed();
        }
    }
}
