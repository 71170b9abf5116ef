//! Other tills' questions, seen and answered here.
//!
//! Invariant: what is answered here is written down before it is told, and sells, confirms and discards nothing: the
//! till that asks, which alone holds the sale, does that.

use serde_json::json;
use turno_protocol::body::{ChallengeView, ListAnswer};

use super::Till;
use crate::resolve::{self, Decided};
use crate::store::audit::{self, Entry, Event};
use crate::store::{people, questions, resolutions, sales, summaries};
use crate::transport::Request;
use crate::view::{DecideOther, OtherAccess, OtherDecision, OtherReviews, Problem, ProblemCode};
use crate::{clock, resolving, review};

/// One page: nobody answers more at a sitting, and the rest follows.
const LISTED: usize = 100;
const DECIDED_SHOWN: u32 = 20;

impl Till {
    /// The open questions of the company's other tills, asked of YUPY now.
    ///
    /// # Errors
    /// `address_unreachable` with its cause, `not_yupy`; `not_allowed_now` before the till is set up and while sending
    /// is switched off.
    pub async fn other_reviews(&self) -> Result<OtherReviews, Problem> {
        let enrolled = self.enrolled()?;
        if self.is_sending_paused() {
            return Err(ProblemCode::NotAllowedNow.into());
        }
        let unreachable = |cause: &str| Problem::with(ProblemCode::AddressUnreachable, cause);
        let answer = enrolled
            .transport
            .send(Request::challenges(None, LISTED))
            .await
            .map_err(|failure| unreachable(failure.cause().as_word()))?;
        let (access, views) = match answer.status {
            200 => {
                let list: Option<ListAnswer<ChallengeView>> =
                    answer.json().and_then(|body| serde_json::from_value(body).ok());
                (OtherAccess::Granted, list.ok_or(ProblemCode::NotYupy)?.items)
            }
            403 => (OtherAccess::NotGranted, Vec::new()),
            401 => return Err(unreachable("credential_refused")),
            429 | 500..=599 => return Err(unreachable("server_busy")),
            _ => return Err(ProblemCode::NotYupy.into()),
        };
        let device_id = enrolled.enrolment.device_id.as_str().to_owned();
        let (reviews, decided) = self
            .inner
            .db
            .read(move |conn| {
                let mut reviews = Vec::new();
                for view in views {
                    if is_others(conn, &view, &device_id)? {
                        reviews.push(review::of_another_till(view));
                    }
                }
                Ok((reviews, decided(conn)?))
            })
            .await?;
        Ok(OtherReviews { access, reviews, decided })
    }

    /// A manager's answer to another till's question; YUPY is told at once, or when there is a line.
    ///
    /// # Errors
    /// `reason_required`, a PIN's refusals, `manager_required`; `question_changed` when the question is this till's
    /// own; `not_in_review` when something else was answered here before. Nothing was decided.
    pub async fn decide_other(&self, request: &DecideOther) -> Result<(), Problem> {
        self.unlocked()?;
        let enrolled = self.enrolled()?;
        let reason = review::reason(&request.reason)?;
        let manager = self.pins().approve(&request.manager_id, &request.pin).await?;
        let (request, now) = (request.clone(), self.now());
        self.inner
            .db
            .write(move |conn| {
                if questions::is_known(conn, &request.challenge_id)? {
                    return Err(ProblemCode::QuestionChanged.into());
                }
                if let Some(before) = resolutions::of_question(conn, &request.challenge_id)? {
                    let is_same = before.decision == request.decision;
                    return if is_same { Ok(()) } else { Err(Problem::new(ProblemCode::NotInReview)) };
                }
                let decided = Decided {
                    challenge_id: &request.challenge_id,
                    sequence: None,
                    external_transaction_id: &request.external_transaction_id,
                    decision: request.decision,
                    manager: &manager,
                    reason: &reason,
                };
                resolve::begin(conn, &decided, resolving::begun(now, 0), now)?;
                let data = json!({
                    "challenge_id": request.challenge_id, "decision": request.decision.as_word(), "reason": reason,
                });
                let entry = Entry {
                    person_id: Some(&manager.person_id),
                    external_transaction_id: Some(&request.external_transaction_id),
                    data,
                    ..Entry::new(Event::OtherTillDecided)
                };
                Ok::<_, Problem>(audit::append(conn, now, &entry)?)
            })
            .await?;
        enrolled.delivery_wanted.notify_one();
        self.changed();
        Ok(())
    }
}

/// Whether a listed question is open, another till's, and not answered here.
fn is_others(conn: &rusqlite::Connection, view: &ChallengeView, device_id: &str) -> rusqlite::Result<bool> {
    let asked = &view.asked;
    Ok(view.decision.is_none()
        && asked.device_id.as_deref() != Some(device_id)
        && sales::by_external_id(conn, asked.external_transaction_id.as_str())?.is_none()
        && resolutions::of_question(conn, &view.challenge_id)?.is_none())
}

fn decided(conn: &rusqlite::Connection) -> rusqlite::Result<Vec<OtherDecision>> {
    let rows = resolutions::of_other_tills(conn, DECIDED_SHOWN)?;
    rows.into_iter()
        .map(|row| {
            Ok(OtherDecision {
                progress: summaries::told(row.state_word())?,
                external_transaction_id: row.external_transaction_id,
                challenge_id: row.challenge_id,
                decision: row.decision,
                decided_by: people::find(conn, &row.decided_by)?
                    .map(|person| person.name)
                    .unwrap_or_default(),
                decided_at: clock::rfc3339(row.decided_at),
                detail: row.detail,
            })
        })
        .collect()
}
