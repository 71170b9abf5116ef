//! Two sales that look alike: the question, both sides of it, and a manager's answer.
//!
//! Invariant: a sale leaves `InReview` only by a decision about the very question that was on the screen, made with
//! a manager's PIN and a reason, written with its audit row in one transaction.

use jiff::Timestamp;
use rusqlite::Connection;
use serde_json::{Value, json};
use turno_domain::money::cash_due;
use turno_domain::text::{has_control, normalise_free_text};
use turno_domain::{Currency, Money};
use turno_protocol::body::{ChallengeView, TransactionBody};

use crate::answer::Question;
use crate::clock::{Millis, rfc3339};
use crate::outbox::{Event, State};
use crate::{resolve, resolving};

use crate::settle::{self, Context};
use crate::shift;
use crate::store::audit::{self, Event as Happened};
use crate::store::elsewhere;
use crate::store::figures;
use crate::store::imported::Origin;
use crate::store::outbox as entries;
use crate::store::questions::{self, Decider, QuestionRow, Verdict};
use crate::store::sales::{self, SaleRow};
use crate::store::{requests, unreadable};
use crate::view::{
    self, Decide, Decision, MoneyHandled, Person, Problem, ProblemCode, Review, ReviewSide, TenderMethod,
};

const REASON_LIMIT: usize = 300;

/// Every question that waits for a manager, oldest first.
pub fn open(conn: &Connection, device_id: &str) -> rusqlite::Result<Vec<Review>> {
    questions::open(conn)?.into_iter().map(|row| review(conn, device_id, row)).collect()
}

fn review(conn: &Connection, device_id: &str, row: QuestionRow) -> rusqlite::Result<Review> {
    let sale =
        sales::by_sequence(conn, row.sequence)?.ok_or_else(|| unreadable("questions.sequence", "?"))?;
    let Question { candidate, .. } = &row.question;
    let other = candidate_side(conn, candidate, &sale)?;
    let apart = other.occurred_at.as_deref().and_then(|at| at.parse::<Timestamp>().ok());
    Ok(Review {
        external_transaction_id: sale.external_transaction_id.clone(),
        challenge_id: row.question.challenge_id,
        own: own_side(conn, &sale, device_id)?,
        candidate: other,
        candidates_count: row.question.candidates_count,
        matching_signals: row.question.matching_signals,
        seconds_apart: apart.map(|at| seconds_between(at.as_millisecond(), sale.occurred_at)),
        asked_at: rfc3339(row.asked_at),
        expires_at: row.question.expires_at,
        previous_confirmation: row.question.previous_confirmation,
        decided_elsewhere: elsewhere::same_sale(conn, row.sequence)?.map(|said| view::DecidedElsewhere {
            decided_by: said.decided_by,
            reason: said.reason,
            decided_at: said.decided_at.map(rfc3339),
        }),
    })
}

/// Another till's question, as YUPY shows it to a manager: neither side is known here by more than that.
#[must_use]
pub fn of_another_till(question: ChallengeView) -> Review {
    let at = |at: Timestamp| rfc3339(at.as_millisecond());
    let money = |amount: &str, currency: Currency| {
        let amount = Money::parse_amount(amount, currency);
        amount.map_or_else(|_| view::Money { minor: 0, currency: currency.code().to_owned() }, Into::into)
    };
    let ChallengeView { asked, candidate, .. } = question;
    let apart = seconds_between(asked.occurred_at.as_millisecond(), candidate.occurred_at.as_millisecond());
    Review {
        external_transaction_id: asked.external_transaction_id.as_str().to_owned(),
        challenge_id: question.challenge_id,
        own: ReviewSide {
            external_transaction_id: asked.external_transaction_id.as_str().to_owned(),
            yupy_transaction_id: None,
            amount: money(&asked.amount, asked.currency),
            occurred_at: Some(at(asked.occurred_at)),
            device_id: asked.device_id,
            shift_id: asked.shift_id,
            route: asked.context.route,
            seat: asked.context.seat,
            buyer_name: asked.buyer_name,
            seller: None,
            description: None,
            operational: None,
            financial: None,
        },
        candidate: ReviewSide {
            external_transaction_id: candidate.external_transaction_id.as_str().to_owned(),
            yupy_transaction_id: Some(candidate.yupy_transaction_id.as_str().to_owned()),
            amount: money(&candidate.amount, candidate.currency),
            occurred_at: Some(at(candidate.occurred_at)),
            device_id: candidate.device_id,
            shift_id: candidate.shift_id,
            route: candidate.context.route,
            seat: candidate.context.seat,
            buyer_name: candidate.buyer_name,
            seller: None,
            description: None,
            operational: word(&candidate.state.operational),
            financial: word(&candidate.state.financial),
        },
        candidates_count: question.candidates_count,
        matching_signals: question.matching_signals.iter().map(|signal| signal.as_str().to_owned()).collect(),
        seconds_apart: Some(apart),
        asked_at: at(question.asked_at),
        expires_at: question.expires_at.to_string(),
        previous_confirmation: None,
        decided_elsewhere: None,
    }
}

/// A state as it is written on the wire.
fn word(state: &impl serde::Serialize) -> Option<String> {
    serde_json::to_value(state).ok()?.as_str().map(str::to_owned)
}

fn seconds_between(one: Millis, other: Millis) -> u32 {
    u32::try_from(one.saturating_sub(other).unsigned_abs() / 1_000).unwrap_or(u32::MAX)
}

fn own_side(conn: &Connection, sale: &SaleRow, device_id: &str) -> rusqlite::Result<ReviewSide> {
    let origin = Origin::of(conn, sale, device_id)?;
    Ok(ReviewSide {
        external_transaction_id: sale.external_transaction_id.clone(),
        yupy_transaction_id: None,
        amount: view::Money { minor: sale.amount_minor, currency: sale.currency.clone() },
        occurred_at: Some(rfc3339(sale.occurred_at)),
        device_id: Some(origin.device_id),
        shift_id: Some(origin.shift_id),
        route: sale.route.clone(),
        seat: sale.seat.clone(),
        buyer_name: sale.buyer_name.clone(),
        seller: Some(origin.seller),
        description: Some(sale.description.clone()),
        operational: None,
        financial: None,
    })
}

/// What YUPY told about the candidate, completed from this till's own record when the candidate was sold here.
fn candidate_side(conn: &Connection, candidate: &Value, own: &SaleRow) -> rusqlite::Result<ReviewSide> {
    let text = |name: &str| candidate.get(name).and_then(Value::as_str).map(str::to_owned);
    let state = |name: &str| candidate.get("state")?.get(name)?.as_str().map(str::to_owned);
    let id = text("external_transaction_id").unwrap_or_default();
    let currency = text("currency").and_then(|code| Currency::parse(&code).ok());
    let amount = currency
        .zip(text("amount"))
        .and_then(|(currency, amount)| Money::parse_amount(&amount, currency).ok())
        .map_or_else(|| view::Money { minor: own.amount_minor, currency: own.currency.clone() }, Into::into);
    let here = sales::by_external_id(conn, &id)?;
    let seller = match &here {
        Some(sale) => Some(Origin::of(conn, sale, "")?.seller),
        None => None,
    };
    let at =
        text("occurred_at").map(|at| at.parse::<Timestamp>().map_or(at, |at| rfc3339(at.as_millisecond())));
    Ok(ReviewSide {
        yupy_transaction_id: text("yupy_transaction_id"),
        external_transaction_id: id,
        amount,
        occurred_at: at,
        device_id: text("device_id"),
        shift_id: text("shift_id"),
        route: here.as_ref().and_then(|sale| sale.route.clone()),
        seat: here.as_ref().and_then(|sale| sale.seat.clone()),
        buyer_name: here.as_ref().and_then(|sale| sale.buyer_name.clone()),
        seller,
        description: here.map(|sale| sale.description),
        operational: state("operational"),
        financial: state("financial"),
    })
}

fn currency(sale: &SaleRow) -> rusqlite::Result<Currency> {
    Currency::parse(&sale.currency).map_err(|_| unreadable("sales.currency", &sale.currency))
}

/// A person's own words for the audit.
///
/// # Errors
/// `reason_required` when there are none, or too many.
pub fn reason(typed: &str) -> Result<String, Problem> {
    let reason = normalise_free_text(typed);
    if reason.is_empty() || reason.chars().count() > REASON_LIMIT || has_control(&reason) {
        return Err(ProblemCode::ReasonRequired.into());
    }
    Ok(reason)
}

/// What a decision lacks before anybody's PIN is asked.
///
/// # Errors
/// `reason_required`, `money_handling_required`.
pub fn check(decide: &Decide) -> Result<String, Problem> {
    let reason = reason(&decide.reason)?;
    match decide.decision {
        Decision::SameSale if decide.money.is_none() => Err(ProblemCode::MoneyHandlingRequired.into()),
        Decision::SameSale | Decision::DifferentSale => Ok(reason),
    }
}

/// What the customer owes in cash for what the sale's ticket still sells. Of another till's ticket only this sale is
/// known; its cash is given back as if it had been paid alone.
fn owed(conn: &Connection, sale: &SaleRow) -> rusqlite::Result<i64> {
    let currency = currency(sale)?;
    if let Some(draft_id) = &sale.draft_id {
        return figures::cash_owed(conn, draft_id, currency);
    }
    let entry = entries::get(conn, sale.sequence)?;
    let sells = entry.is_some_and(|entry| !matches!(entry.state, State::Discarded { .. }));
    if !sells {
        return Ok(0);
    }
    let sold: TransactionBody = serde_json::from_slice(&requests::first_request(conn, sale.sequence)?.body)
        .map_err(|_| unreadable("requests.body", "no sale"))?;
    Ok(cash_due(in_cash(&sold, Money::from_minor(sale.amount_minor, currency))?).due.minor())
}

/// What of a sale was paid in cash, by the body that was frozen when it was sold: the only thing that another till
/// tells of it. Only what was all cash names no tenders.
fn in_cash(sold: &TransactionBody, amount: Money) -> rusqlite::Result<Money> {
    let currency = amount.currency();
    let cash = TenderMethod::Cash.as_word();
    if sold.tenders.is_empty() {
        let is_cash = sold.payment_method.as_deref().is_none_or(|method| method == cash);
        return Ok(if is_cash { amount } else { Money::zero(currency) });
    }
    let mut parts = sold.tenders.iter().filter(|part| part.method == cash);
    parts
        .try_fold(Money::zero(currency), |sum, part| {
            sum.checked_add(Money::parse_amount(&part.amount, currency).ok()?)
        })
        .ok_or_else(|| unreadable("requests.body", "a tender without an amount"))
}

/// Writes an approved decision inside the caller's transaction.
///
/// # Errors
/// `not_in_review`, `question_changed`, `decided_elsewhere`; nothing is written.
pub fn decide(
    conn: &Connection,
    context: &Context,
    decide: &Decide,
    manager: &Person,
    reason: String,
    now: Millis,
) -> Result<(), Problem> {
    let sale = sales::by_external_id(conn, &decide.external_transaction_id)?.ok_or(ProblemCode::NotFound)?;
    let asked = questions::open_of(conn, sale.sequence)?.ok_or(ProblemCode::NotInReview)?;
    if asked.question.challenge_id != decide.challenge_id {
        return Err(ProblemCode::QuestionChanged.into());
    }
    // The first decision stands at YUPY, whose token is dead by it: what is missing here is the money.
    let said = elsewhere::same_sale(conn, sale.sequence)?;
    if let (Decision::DifferentSale, Some(said)) = (decide.decision, &said) {
        return Err(Problem::with(ProblemCode::DecidedElsewhere, said.decided_by.clone()));
    }
    let verdict = Verdict {
        decision: decide.decision,
        decided_by: Decider::Here(manager.person_id.clone()),
        decided_at: now,
        reason,
        money: decide.money.filter(|_| decide.decision == Decision::SameSale),
    };
    questions::decide(conn, &decide.challenge_id, &verdict)?;
    let owed_before = owed(conn, &sale)?;
    let moved = match decide.decision {
        Decision::DifferentSale => settle::confirm(
            conn,
            context,
            sale.sequence,
            &asked.question,
            &verdict.decided_by,
            &verdict.reason,
            now,
        )?
        .is_some(),
        Decision::SameSale => {
            let duplicate_of = asked.question.candidate_transaction_id.clone();
            let event = Event::DecidedSame { duplicate_of };
            settle::apply(conn, context, sale.sequence, &event, None, now)?.is_some()
        }
    };
    if !moved {
        return Err(ProblemCode::NotInReview.into());
    }
    let is_known_there = said.is_some_and(|said| said.challenge_id == decide.challenge_id);
    if decide.decision == Decision::SameSale && !is_known_there {
        let decided = resolve::Decided {
            challenge_id: &decide.challenge_id,
            sequence: Some(sale.sequence),
            external_transaction_id: &sale.external_transaction_id,
            decision: Decision::SameSale,
            manager,
            reason: &verdict.reason,
        };
        resolve::begin(conn, &decided, resolving::begun(now, resolving::HELD_MS), now)?;
    }
    if verdict.money == Some(MoneyHandled::Refunded) {
        let currency = currency(&sale)?;
        let given_back = owed_before - owed(conn, &sale)?;
        shift::refund(conn, manager, &sale, Money::from_minor(given_back, currency), &verdict.reason, now)?;
    }
    audit::append(
        conn,
        now,
        &audit::Entry {
            event: Happened::QuestionDecided,
            person_id: Some(&manager.person_id),
            external_transaction_id: Some(&sale.external_transaction_id),
            data: json!({
                "challenge_id": decide.challenge_id,
                "candidate": asked.question.candidate_transaction_id,
                "decision": verdict.decision.as_word(),
                "reason": verdict.reason,
                "money": verdict.money.map(view::MoneyHandled::as_word),
            }),
        },
    )?;
    Ok(())
}
