//! Rows G: look-alikes, the question about them, and the token that answers it (contract §6).
//!
//! Invariant: there is at most one open question for an external id, and a token opens exactly the question that it
//! was computed from.

use jiff::Timestamp;
use turno_domain::{
    ids::YupyTransactionId,
    lookalike::{LookAlike, Traits, rank},
};
use turno_protocol::{
    body::{AskedSale, ChallengeState, ConfirmationFault, PreviousConfirmation},
    secret::Secret,
};

use super::{Desk, Question};
use crate::{
    audit::{AuditEntry, AuditEvent},
    books::{Books, Challenge},
    content::Content,
    sale::{NewSale, StoredSale, traits},
    token::{Claims, Shown},
};

/// What a token is worth before anything is said about candidates.
pub(super) enum TokenWorth {
    Absent,
    /// G1
    Refused(ConfirmationFault),
    /// Open: it confirms against the candidates that its question names.
    Good(Box<Challenge>),
    /// It was good once, and only tells why it is not now.
    Lapsed(PreviousConfirmation),
}

pub(super) async fn weigh_token<B: Books>(
    books: &mut B,
    desk: &Desk,
    sale: &NewSale,
    content: &Content,
) -> Result<TokenWorth, B::Error> {
    let Some(confirmation) = &sale.confirmation else { return Ok(TokenWorth::Absent) };
    let challenge = match find_by_token(books, desk, &confirmation.duplicate_confirmation_token).await? {
        Ok(challenge) => challenge,
        Err(fault) => return Ok(TokenWorth::Refused(fault)),
    };
    let same_content = challenge.asked.external_transaction_id == sale.external_transaction_id
        && challenge.core_fingerprint == content.core;
    if !same_content {
        return Ok(TokenWorth::Refused(ConfirmationFault::PayloadChanged));
    }
    Ok(match state_at(&challenge, books.now()) {
        ChallengeState::Open => TokenWorth::Good(Box::new(challenge)),
        ChallengeState::Expired => TokenWorth::Lapsed(PreviousConfirmation::Expired),
        ChallengeState::Superseded => TokenWorth::Lapsed(PreviousConfirmation::Superseded),
        ChallengeState::Spent | ChallengeState::Closed => TokenWorth::Refused(ConfirmationFault::NotOpen),
    })
}

/// The question of the caller's own scope that `token` was made for.
pub(super) async fn find_by_token<B: Books>(
    books: &mut B,
    desk: &Desk,
    token: &Secret,
) -> Result<Result<Challenge, ConfirmationFault>, B::Error> {
    let Some(shown) = Shown::parse(token.expose()) else { return Ok(Err(ConfirmationFault::Malformed)) };
    let challenge = books.challenge(&shown.challenge_id).await?.filter(|challenge| {
        let secret = desk.secrets.token_secret(challenge.signed_with);
        challenge.scope == desk.caller.scope
            && secret.is_some_and(|secret| claims(challenge).vouches_for(&shown, &secret))
    });
    Ok(challenge.ok_or(ConfirmationFault::NotIssuedHere))
}

/// The state as of now: an open question ends by itself.
pub(crate) fn state_at(challenge: &Challenge, now: Timestamp) -> ChallengeState {
    if challenge.state == ChallengeState::Open && challenge.expires_at <= now {
        ChallengeState::Expired
    } else {
        challenge.state
    }
}

/// The stored sales that look like this one, the best first.
pub(super) async fn find_candidates<B: Books>(
    books: &mut B,
    desk: &Desk,
    sale: &NewSale,
    occurred_at: Timestamp,
) -> Result<Vec<LookAlike<StoredSale>>, B::Error> {
    let rule = &desk.caller.integration.rule;
    let asked = traits(sale.amount, occurred_at, &sale.details);
    if !has_identifying_field(desk, &asked) {
        // Nothing can identify it: a bus full of equal fares is sold without a search.
        return Ok(Vec::new());
    }
    let scope = desk.caller.scope_number;
    books.serialise_look_alikes(scope, sale.amount).await?;
    let between = (
        occurred_at.checked_sub(rule.window()).unwrap_or(Timestamp::MIN),
        occurred_at.checked_add(rule.window()).unwrap_or(Timestamp::MAX),
    );
    let stored = books.active_sales(scope, sale.amount, between).await?;
    let stored: Vec<_> = stored.into_iter().map(|sale| (sale.traits(), sale)).collect();
    let ranked = rank(&asked, stored.iter().map(|(traits, sale)| (sale, traits)), rule);
    Ok(ranked
        .into_iter()
        .map(|found| LookAlike { sale: found.sale.clone(), signals: found.signals, apart: found.apart })
        .collect())
}

fn has_identifying_field(desk: &Desk, asked: &Traits) -> bool {
    use turno_domain::lookalike::Signal;
    desk.caller.integration.rule.identifying().iter().any(|signal| match signal {
        Signal::Amount | Signal::Currency => true,
        Signal::BuyerName => asked.buyer_name.is_some(),
        Signal::ShiftId => asked.shift_id.is_some(),
        Signal::DeviceId => asked.device_id.is_some(),
        Signal::Route => asked.route.is_some(),
        Signal::Seat => asked.seat.is_some(),
        Signal::Order => asked.order.is_some(),
        Signal::Product => asked.product.is_some(),
        Signal::Service => asked.service.is_some(),
        Signal::CustomReference1 => asked.custom_reference_1.is_some(),
        Signal::CustomReference2 => asked.custom_reference_2.is_some(),
    })
}

/// Ask, or ask the same again: a question that lives and names the same candidates keeps its token.
pub(super) async fn ask<B: Books>(
    books: &mut B,
    desk: &Desk,
    sale: &NewSale,
    content: &Content,
    occurred_at: Timestamp,
    candidates: Vec<LookAlike<StoredSale>>,
    previous: Option<PreviousConfirmation>,
) -> Result<Question, B::Error> {
    let now = books.now();
    let names: Vec<YupyTransactionId> =
        candidates.iter().map(|found| found.sale.yupy_transaction_id.clone()).collect();
    let best = candidates.into_iter().next().expect("a question is asked about somebody");
    let open = books.open_challenge(desk.caller.scope_number, &sale.external_transaction_id).await?;
    let challenge = match open {
        Some(open) if is_same_question(&open, content, &names, now) => open,
        other => {
            if let Some(old) = other {
                let over = match state_at(&old, now) {
                    ChallengeState::Expired => ChallengeState::Expired,
                    ChallengeState::Open
                    | ChallengeState::Spent
                    | ChallengeState::Superseded
                    | ChallengeState::Closed => ChallengeState::Superseded,
                };
                books.set_challenge_state(&old.challenge_id, over).await?;
            }
            let challenge = Challenge {
                challenge_id: desk.world.new_id("ych"),
                scope: desk.caller.scope.clone(),
                scope_number: desk.caller.scope_number,
                asked: asked_sale(sale, occurred_at),
                fingerprint_version: content.version,
                core_fingerprint: content.core,
                candidates: names,
                matching_signals: best.signals.clone(),
                state: ChallengeState::Open,
                asked_at: now,
                expires_at: expiry(desk, now),
                signed_with: desk.secrets.newest_token_secret().0,
                verdict: None,
            };
            books.insert_challenge(&challenge).await?;
            books.append_audit(&challenge.scope.company, suspected(&challenge)).await?;
            challenge
        }
    };
    let secret = desk.secrets.token_secret(challenge.signed_with);
    let secret = secret.expect("an open question is signed with a secret that is still kept");
    let token = Secret::new(claims(&challenge).token(&secret));
    Ok(Question { challenge, token, candidate: best.sale, matching_signals: best.signals, previous })
}

fn asked_sale(sale: &NewSale, occurred_at: Timestamp) -> AskedSale {
    let details = sale.details.clone();
    AskedSale {
        external_transaction_id: sale.external_transaction_id.clone(),
        amount: sale.amount.to_amount_text(),
        currency: sale.amount.currency(),
        occurred_at,
        buyer_name: details.buyer_name,
        shift_id: details.shift_id,
        device_id: details.device_id,
        context: details.context,
    }
}

/// Whole milliseconds, since that is how a token carries it.
fn expiry(desk: &Desk, now: Timestamp) -> Timestamp {
    let end = now.checked_add(desk.caller.integration.confirmation_token_life).unwrap_or(Timestamp::MAX);
    Timestamp::from_millisecond(end.as_millisecond()).unwrap_or(end)
}

fn is_same_question(
    open: &Challenge,
    content: &Content,
    names: &[YupyTransactionId],
    now: Timestamp,
) -> bool {
    let sorted = |names: &[YupyTransactionId]| {
        let mut names = names.to_vec();
        names.sort_unstable();
        names
    };
    state_at(open, now) == ChallengeState::Open
        && open.core_fingerprint == content.core
        && sorted(&open.candidates) == sorted(names)
}

fn suspected(challenge: &Challenge) -> AuditEntry {
    AuditEntry {
        external_transaction_id: Some(challenge.asked.external_transaction_id.clone()),
        challenge_id: Some(challenge.challenge_id.clone()),
        candidates: challenge.candidates.clone(),
        fields: challenge.matching_signals.iter().map(|signal| signal.as_str()).collect(),
        ..AuditEntry::new(AuditEvent::DuplicateSuspected, &challenge.scope, challenge.asked_at)
    }
}

pub(super) fn claims(challenge: &Challenge) -> Claims<'_> {
    let scope = &challenge.scope;
    Claims {
        challenge_id: &challenge.challenge_id,
        expires_at_ms: challenge.expires_at.as_millisecond(),
        scope: [scope.company.as_str(), scope.integration.as_str(), scope.environment.as_str()],
        external_transaction_id: challenge.asked.external_transaction_id.as_str(),
        core_fingerprint: &challenge.core_fingerprint.0,
        candidates: challenge.candidates.iter().map(|id| id.as_str()).collect(),
    }
}
