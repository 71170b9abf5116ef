//! What was decided elsewhere about a question of this till, and what follows from it here.
//!
//! YUPY keeps the first decision of a question, whoever made it. Invariant: *another sale* is confirmed in the name of
//! whoever decided it, for that is a person's recorded word; *the same sale* waits for a person here, since only here
//! the money can be given back; and a decision about a question that is no longer asked changes nothing.

use rusqlite::{Connection, Result};
use serde::Deserialize;
use serde_json::json;
use turno_domain::text::normalise_free_text;
use turno_protocol::body::{ChallengeState, Decision as Said};

use crate::clock::Millis;
use crate::outbox::{Event, State};
use crate::settle::{self, Context};
use crate::store::audit::{self, Event as Happened};
use crate::store::elsewhere::{self, Elsewhere};
use crate::store::outbox as entries;
use crate::store::questions::{self, Decider, Verdict};
use crate::store::sales;
use crate::transport::Response;
use crate::view::Decision;

/// What of somebody else's words is kept.
const NAME_CHARS: usize = 120;
const REASON_CHARS: usize = 300;

/// What an answer about a question says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Learnt {
    Decided(Elsewhere),
    /// Its token was used, and not by what this folder remembers.
    Spent,
}

#[derive(Deserialize)]
struct Echo {
    challenge_id: String,
    state: ChallengeState,
    decision: Option<Said>,
    decided_by: Option<String>,
    reason: Option<String>,
    decided_at: Option<jiff::Timestamp>,
}

/// Reads an answer about this question; `None` when nothing is decided, or nothing can be read.
#[must_use]
pub fn read(answer: &Response, challenge_id: &str) -> Option<Learnt> {
    if answer.status != 200 {
        return None;
    }
    let echo: Echo = serde_json::from_value(answer.json()?).ok()?;
    if echo.challenge_id != challenge_id {
        return None;
    }
    let words = |text: String, limit| -> Option<String> {
        let text = normalise_free_text(&text);
        let kept: String = text.chars().filter(|letter| !letter.is_control()).take(limit).collect();
        Some(kept).filter(|kept| !kept.is_empty())
    };
    // A decision without an author is nobody's, and is followed by nobody.
    let decided = echo.decision.zip(echo.decided_by.and_then(|name| words(name, NAME_CHARS)));
    match (decided, echo.state) {
        // Confirmed with the token by whoever holds it, whatever was decided before.
        (_, ChallengeState::Spent) => Some(Learnt::Spent),
        (Some((decision, decided_by)), _) => Some(Learnt::Decided(Elsewhere {
            challenge_id: echo.challenge_id,
            decision: match decision {
                Said::SameSale => Decision::SameSale,
                Said::DifferentSale => Decision::DifferentSale,
            },
            decided_by,
            reason: echo.reason.and_then(|reason| words(reason, REASON_CHARS)),
            decided_at: echo.decided_at.map(|at| at.as_millisecond()),
        })),
        (
            None,
            ChallengeState::Open
            | ChallengeState::Superseded
            | ChallengeState::Expired
            | ChallengeState::Closed,
        ) => None,
    }
}

/// Writes down what was learnt about a question of this sale. True: there is something to send, or to see.
///
/// # Errors
/// The database refused.
pub fn take(
    conn: &Connection,
    context: &Context,
    sequence: i64,
    challenge_id: &str,
    learnt: &Learnt,
    now: Millis,
) -> Result<bool> {
    // While the answer travelled somebody here may have decided.
    let entry = entries::get(conn, sequence)?;
    if !entry.is_some_and(|entry| matches!(entry.state, State::InReview { .. })) {
        return Ok(false);
    }
    let asked = questions::open_of(conn, sequence)?.filter(|row| row.question.challenge_id == challenge_id);
    let said = match learnt {
        // Looked up under its own id, the sale is found.
        Learnt::Spent if asked.is_some() => {
            questions::close_open_of(conn, sequence)?;
            return Ok(settle::apply(conn, context, sequence, &Event::GuardFired, None, now)?.is_some());
        }
        Learnt::Spent => return Ok(false),
        Learnt::Decided(said) => said,
    };
    if !elsewhere::learn(conn, sequence, said, now)? {
        return Ok(false);
    }
    let sale = sales::by_sequence(conn, sequence)?;
    audit::append(
        conn,
        now,
        &audit::Entry {
            external_transaction_id: sale.as_ref().map(|sale| sale.external_transaction_id.as_str()),
            data: json!({
                "challenge_id": challenge_id,
                "decision": said.decision.as_word(),
                "decided_elsewhere_by": said.decided_by,
                "reason": said.reason,
            }),
            ..audit::Entry::new(Happened::DecidedElsewhere)
        },
    )?;
    if let (Decision::DifferentSale, Some(asked)) = (said.decision, asked) {
        let verdict = Verdict {
            decision: Decision::DifferentSale,
            decided_by: Decider::Elsewhere(said.decided_by.clone()),
            decided_at: said.decided_at.unwrap_or(now),
            reason: said.reason.clone().unwrap_or_default(),
            money: None,
        };
        questions::decide(conn, challenge_id, &verdict)?;
        let (decider, reason) = (&verdict.decided_by, &verdict.reason);
        settle::confirm(conn, context, sequence, &asked.question, decider, reason, now)?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn challenge(change: Value) -> Response {
        let mut body = json!({
            "challenge_id": "ch-1", "state": "open", "decision": "different_sale", "decided_by": " Rosa  Ñahui ",
            "reason": "dos\npasajeros", "decided_at": "2026-11-30T15:00:00Z", "request_id": "r",
        });
        body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        Response {
            status: 200,
            media_type: Some("application/json".to_owned()),
            body: body.to_string().into_bytes(),
            ..Response::default()
        }
    }

    #[test]
    fn a_decision_is_read_with_its_author_whatever_became_of_the_question() {
        for state in ["open", "closed", "expired", "superseded"] {
            let learnt = read(&challenge(json!({ "state": state })), "ch-1");
            let Some(Learnt::Decided(said)) = learnt else { panic!("{state}: {learnt:?}") };
            assert_eq!((said.decision, said.decided_by.as_str()), (Decision::DifferentSale, "Rosa Ñahui"));
            assert_eq!(said.reason.as_deref(), Some("dos pasajeros"));
        }
        assert_eq!(read(&challenge(json!({ "state": "spent" })), "ch-1"), Some(Learnt::Spent));
    }

    #[test]
    fn nothing_is_made_up_from_an_answer_that_says_less() {
        for change in [
            json!({ "decision": null }),
            json!({ "decided_by": null }),
            json!({ "decided_by": " \u{7} " }),
            json!({ "challenge_id": "ch-2" }),
            json!({ "decision": "of_tomorrow" }),
            json!({ "state": "of_tomorrow" }),
        ] {
            assert_eq!(read(&challenge(change.clone()), "ch-1"), None, "{change}");
        }
        let portal = Response { status: 200, body: b"<html>".to_vec(), ..Response::default() };
        assert_eq!(read(&portal, "ch-1"), None);
        assert_eq!(read(&Response { status: 404, ..challenge(json!({})) }, "ch-1"), None);
    }
}
