//! Rows G: what a confirmation token is worth, and which sales look alike (contract §6).
//!
//! Invariant: a token opens exactly the question that it was computed from.

use jiff::Timestamp;
use turno_domain::lookalike::{LookAlike, clues, rank};
use turno_protocol::{
    body::{ChallengeState, ConfirmationFault, PreviousConfirmation},
    secret::Secret,
};

use super::Desk;
use crate::{
    books::{Books, Challenge},
    content::Content,
    sale::{NewSale, StoredSale, traits},
    token::{Claims, Shown},
};

/// What a token is worth before anything is said about candidates.
pub(super) enum TokenWorth {
    Absent,
    /// Open: it confirms against the candidates that its question names.
    Good(Box<Challenge>),
    /// It was good once, and only tells why it is not now.
    Lapsed(PreviousConfirmation),
}

/// G1 is the inner error.
pub(super) async fn weigh_token<B: Books>(
    books: &mut B,
    desk: &Desk,
    sale: &NewSale,
    content: &Content,
) -> Result<Result<TokenWorth, ConfirmationFault>, B::Error> {
    let Some(confirmation) = &sale.confirmation else { return Ok(Ok(TokenWorth::Absent)) };
    let challenge = match find_by_token(books, desk, &confirmation.duplicate_confirmation_token).await? {
        Ok(challenge) => challenge,
        Err(fault) => return Ok(Err(fault)),
    };
    let same_content = challenge.asked.external_transaction_id == sale.external_transaction_id
        && challenge.core_fingerprint == content.core;
    if !same_content {
        return Ok(Err(ConfirmationFault::PayloadChanged));
    }
    Ok(match state_at(&challenge, books.now()) {
        ChallengeState::Open => Ok(TokenWorth::Good(Box::new(challenge))),
        ChallengeState::Expired => Ok(TokenWorth::Lapsed(PreviousConfirmation::Expired)),
        ChallengeState::Superseded => Ok(TokenWorth::Lapsed(PreviousConfirmation::Superseded)),
        ChallengeState::Spent | ChallengeState::Closed => Err(ConfirmationFault::NotOpen),
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
    let clues = clues(&asked, rule);
    if clues.is_empty() {
        // Nothing can identify it: a bus full of equal fares is sold without a search.
        return Ok(Vec::new());
    }
    let scope = desk.caller.scope_number;
    books.serialise_look_alikes(scope, sale.amount).await?;
    let stored = books.sales_with_clues(scope, &asked, rule, &clues).await?;
    let stored: Vec<_> = stored.into_iter().map(|sale| (sale.traits(), sale)).collect();
    let ranked = rank(&asked, stored.iter().map(|(traits, sale)| (sale, traits)), rule);
    Ok(ranked
        .into_iter()
        .map(|found| LookAlike { sale: found.sale.clone(), signals: found.signals, apart: found.apart })
        .collect())
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
