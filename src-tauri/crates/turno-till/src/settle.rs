//! Carries a step of [`crate::outbox`] out on rows: the entry, its effects and the audit, in one transaction.

use rusqlite::{Connection, Result};
use serde_json::json;
use turno_domain::ids::{ExternalTransactionId, Scope};
use turno_protocol::body::Confirmation;
use turno_protocol::keys;

use crate::answer::{Acceptance, AttentionReason, PauseCause, Question, Verdict};
use crate::clock::Millis;
use crate::guard;
use crate::outbox::{self, Effect, Event, Policy, QueueReason, State};
use crate::random::SharedEntropy;
use crate::store::audit::{self, Event as Happened};
use crate::store::outbox::Entry;
use crate::store::questions::{Arrival, Decider};
use crate::store::requests::{NewRequest, RequestKind};
use crate::store::{is_about_the_row, outbox as entries, people, questions, requests, sales, unreadable};
use crate::view::EpochReason;
use crate::{payment, resolve, void, voiding};

/// What every step needs to know and none may change.
#[derive(Clone)]
pub struct Context {
    pub scope: Scope,
    pub policy: Policy,
    /// For an epoch, when one is needed at once.
    pub entropy: SharedEntropy,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    pub state: State,
    pub pause: Option<PauseCause>,
}

/// Applies an event to an entry as it stands in the database. `None`: the event does not apply and nothing changed.
pub fn apply(
    conn: &Connection,
    context: &Context,
    sequence: i64,
    event: &Event,
    detail: Option<&str>,
    now: Millis,
) -> Result<Option<Settled>> {
    let Some(entry) = entries::get(conn, sequence)? else { return Ok(None) };
    let Some(step) = outbox::step(&entry.state, event, now, &context.policy) else { return Ok(None) };
    let mut next = Entry { state: step.state, ..entry };
    let mut pause = None;
    let mut asked = None;
    for effect in step.effects {
        match effect {
            Effect::UseCreateRequest => {
                next.request_id = requests::create_request(conn, sequence)?.request_id;
            }
            Effect::StoreQuestion(question) => asked = Some(question),
            Effect::RaiseCollision(collision) => {
                note(
                    conn,
                    sequence,
                    Happened::IdentityCollision,
                    json!({ "detail": collision.detail }),
                    now,
                )?;
                let reason = EpochReason::IdentityCollision;
                guard::suspect(conn, &*context.entropy, sequence, reason, now)?;
            }
            Effect::PauseQueue(cause) => pause = Some(cause),
        }
    }
    entries::update(conn, &next, detail, now)?;
    if matches!(event, Event::Answered { verdict: Verdict::ReviewAgain, .. }) {
        questions::refuse_newest(conn, sequence)?;
    }
    // Whoever has the money back is asked nothing more, and nothing of it is to be corrected.
    if is_refused_or_questioned(&next.state) && void::waits_for(conn, sequence, now)? {
        return apply(conn, context, sequence, &Event::Withdrawn, detail, now)
            .map(|settled| settled.map(|settled| Settled { pause, ..settled }));
    }
    if *event == Event::MissingAtYupy {
        payment::sale_lost(conn, context, sequence, now)?;
        void::follow(conn, context, sequence, &voiding::Event::SaleLost, now)?;
    }
    match &next.state {
        State::Accepted { yupy_transaction_id } => {
            let differs = brings_other_content(event);
            entries::set_differs(conn, sequence, differs)?;
            let data = json!({ "yupy_transaction_id": yupy_transaction_id, "differs": differs });
            note(conn, sequence, Happened::SaleAccepted, data, now)?;
            payment::sale_accepted(conn, context, sequence, now)?;
            // What was charged is told before it is taken back.
            if !payment::is_unsettled(conn, sequence, now)? {
                void::follow(conn, context, sequence, &voiding::Event::SaleAccepted, now)?;
            }
        }
        State::Withdrawn => {
            questions::close_open_of(conn, sequence)?;
            void::follow(conn, context, sequence, &voiding::Event::SaleWithdrawn, now)?;
        }
        State::NeedsAttention { reason: AttentionReason::StoredBodyChanged, .. } => {
            note(conn, sequence, Happened::StoredBodyChanged, json!({}), now)?;
        }
        // Our own bytes never change, so other content under our key or id is somebody else's.
        State::NeedsAttention {
            reason: AttentionReason::ExternalTransactionConflict | AttentionReason::IdempotencyConflict,
            ..
        } => {
            guard::suspect(conn, &*context.entropy, sequence, EpochReason::IdentityCollision, now)?;
        }
        State::Queued { reason: QueueReason::MissingAtYupy, attempts: 0, .. } => {
            note(conn, sequence, Happened::SaleMissingAtYupy, json!({}), now)?;
        }
        State::NeedsAttention { .. }
        | State::Queued { .. }
        | State::Sending { .. }
        | State::InReview { .. }
        | State::OnHold { .. }
        | State::Discarded { .. } => {}
    }
    if let Some(question) = asked
        && let Some(state) = ask(conn, context, &next, &question, now)?
    {
        next.state = state;
    }
    Ok(Some(Settled { state: next.state, pause }))
}

/// Applies the answer to one request. When the sale goes by another one meanwhile, because it was corrected, only an
/// acceptance counts: YUPY has the sale then, whatever became of it here.
pub fn answered(
    conn: &Connection,
    context: &Context,
    sequence: i64,
    request_id: i64,
    (verdict, roll): (Verdict, u32),
    detail: Option<&str>,
    now: Millis,
) -> Result<Option<Settled>> {
    let is_current = entries::get(conn, sequence)?.is_some_and(|entry| entry.request_id == request_id);
    let event = match verdict {
        verdict if is_current => Event::Answered { verdict, roll },
        Verdict::Accepted(Acceptance { yupy_transaction_id, .. }) => {
            Event::AcceptedEarlier { yupy_transaction_id }
        }
        Verdict::Wait { .. }
        | Verdict::Pause(_)
        | Verdict::Review(_)
        | Verdict::ReviewAgain
        | Verdict::Attention { .. }
        | Verdict::Hold
        | Verdict::Collision(_) => return Ok(None),
    };
    apply(conn, context, sequence, &event, detail, now)
}

/// Whether YUPY wants something of people before it takes the sale.
fn is_refused_or_questioned(state: &State) -> bool {
    match state {
        State::InReview { .. } => true,
        State::NeedsAttention { reason, .. } => reason.is_about_the_content(),
        State::Queued { .. }
        | State::Sending { .. }
        | State::Accepted { .. }
        | State::OnHold { .. }
        | State::Discarded { .. }
        | State::Withdrawn => false,
    }
}

/// Whether what YUPY accepted is another version of the sale than the newest one here.
fn brings_other_content(event: &Event) -> bool {
    match event {
        Event::Answered { verdict: Verdict::Accepted(acceptance), .. } => acceptance.differs,
        Event::AcceptedEarlier { .. } => true,
        Event::Answered { .. }
        | Event::Claimed
        | Event::BodyChanged
        | Event::Restarted
        | Event::GuardFired
        | Event::Hastened
        | Event::DecidedDifferent
        | Event::DecidedSame { .. }
        | Event::MissingAtYupy
        | Event::Corrected
        | Event::DiscardTakenBack
        | Event::Withdrawn => false,
    }
}

/// Stores the question. When a manager's earlier word still covers it, the confirmation is queued at once.
fn ask(
    conn: &Connection,
    context: &Context,
    entry: &Entry,
    question: &Question,
    now: Millis,
) -> Result<Option<State>> {
    let sequence = entry.sequence;
    let arrival = questions::arrive(conn, sequence, question, now)?;
    let data = json!({
        "challenge_id": question.challenge_id,
        "candidate": question.candidate_transaction_id,
        "candidates_count": question.candidates_count,
        "previous_confirmation": question.previous_confirmation,
    });
    note(conn, sequence, Happened::QuestionAsked, data, now)?;
    match arrival {
        Arrival::Open => Ok(None),
        // Without a question of its own nobody could ever decide about this sale: people must see it elsewhere.
        Arrival::AboutAnotherSale => {
            let attempts = entry.state.attempts();
            let state = State::NeedsAttention { attempts, reason: AttentionReason::Refused };
            let detail = "the question has the id of another sale's";
            entries::update(conn, &Entry { state: state.clone(), ..entry.clone() }, Some(detail), now)?;
            Ok(Some(state))
        }
        Arrival::Decided(verdict) => {
            let data = match &verdict.decided_by {
                Decider::Here(id) => json!({ "challenge_id": question.challenge_id, "decided_by": id }),
                Decider::Elsewhere(name) => {
                    json!({ "challenge_id": question.challenge_id, "decided_elsewhere_by": name })
                }
            };
            note(conn, sequence, Happened::DecisionCarriedOver, data, now)?;
            confirm(conn, context, sequence, question, &verdict.decided_by, &verdict.reason, now)
        }
    }
}

/// Freezes the confirmation, the same body plus the token under its own key, and queues it.
pub fn confirm(
    conn: &Connection,
    context: &Context,
    sequence: i64,
    question: &Question,
    decided_by: &Decider,
    reason: &str,
    now: Millis,
) -> Result<Option<State>> {
    let Some(entry) = entries::get(conn, sequence)? else { return Ok(None) };
    let Some(step) = outbox::step(&entry.state, &Event::DecidedDifferent, now, &context.policy) else {
        return Ok(None);
    };
    let first = requests::create_request(conn, sequence)?;
    if !first.is_intact() {
        // Nothing is built on bytes that are not those of the sale.
        entries::update(
            conn,
            &Entry { sequence, request_id: first.request_id, state: step.state },
            None,
            now,
        )?;
        let settled = apply(conn, context, sequence, &Event::BodyChanged, None, now)?;
        return Ok(settled.map(|settled| settled.state));
    }
    let sale = sales::by_sequence(conn, sequence)?.ok_or_else(|| unreadable("outbox.sequence", "?"))?;
    let id = ExternalTransactionId::parse(sale.external_transaction_id)
        .map_err(|_| unreadable("sales.external_transaction_id", "?"))?;
    let confirmed_by = match decided_by {
        Decider::Here(id) => people::find(conn, id)?.ok_or_else(|| unreadable("decided_by", id))?.name,
        Decider::Elsewhere(name) => name.clone(),
    };
    let key = keys::confirm_key(&context.scope, &id, question.token.expose());
    // YUPY repeats a question that is open with its token, and so with its key, which has one content for ever:
    // whoever decides again over it repeats what was frozen the first time.
    let request_id = match requests::by_key(conn, key.as_str())? {
        Some(request_id) => request_id,
        None => {
            let confirmation = Confirmation {
                duplicate_confirmation_token: question.token.clone(),
                confirmed_by: Some(confirmed_by),
                confirmation_reason: Some(reason.to_owned()).filter(|reason| !reason.is_empty()),
            };
            let body = confirmation.add_to(&first.body).map_err(|_| unreadable("requests.body", "?"))?;
            let request = NewRequest {
                kind: RequestKind::Confirm,
                revision: first.revision,
                idempotency_key: key.as_str(),
                path: &first.path,
                body: &body,
            };
            requests::freeze(conn, sequence, &request, now)?
        }
    };
    entries::update(conn, &Entry { sequence, request_id, state: step.state.clone() }, None, now)?;
    Ok(Some(step.state))
}

fn note(
    conn: &Connection,
    sequence: i64,
    event: Happened,
    data: serde_json::Value,
    now: Millis,
) -> Result<()> {
    let sale = sales::by_sequence(conn, sequence)?;
    let id = sale.as_ref().map(|sale| sale.external_transaction_id.as_str());
    audit::append(conn, now, &audit::Entry { external_transaction_id: id, data, ..audit::Entry::new(event) })
}

/// Brings every sale that was being sent, or waits for a time that no policy would set, back to where it can go on,
/// with the same key. Run once at start.
pub fn restart(conn: &Connection, context: &Context, now: Millis) -> Result<()> {
    let beyond = now.saturating_add(context.policy.longest_wait_ms());
    apply_to_each(conn, context, entries::interrupted(conn, beyond)?, &Event::Restarted, now)?;
    payment::restart(conn, context, now)?;
    void::restart(conn, context, now)
}

/// Whatever YUPY had asked about is looked up and, if need be, asked anew: in another state of this folder a manager may
/// have answered. Run with the transaction in which the guard fires.
pub fn ask_anew(conn: &Connection, context: &Context, now: Millis) -> Result<()> {
    questions::close_open(conn)?;
    apply_to_each(conn, context, entries::in_review(conn)?, &Event::GuardFired, now)
}

/// Makes every waiting sale due now: a person asked, or the line came back.
pub fn hasten(conn: &Connection, context: &Context, now: Millis) -> Result<()> {
    apply_to_each(conn, context, entries::waiting_since_later(conn, now)?, &Event::Hastened, now)?;
    payment::hasten(conn, context, now)?;
    void::hasten(conn, context, now)?;
    resolve::hasten(conn, context, now)
}

/// A row that cannot be understood stops its own sale and neither the others nor the till's start.
fn apply_to_each(
    conn: &Connection,
    context: &Context,
    sequences: Vec<i64>,
    event: &Event,
    now: Millis,
) -> Result<()> {
    for sequence in sequences {
        match apply(conn, context, sequence, event, None, now) {
            Ok(_) => {}
            Err(error) if is_about_the_row(&error) => {
                tracing::error!(%error, sequence, "an outbox row cannot be understood; it is set aside");
                entries::set_aside(conn, sequence, now)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
