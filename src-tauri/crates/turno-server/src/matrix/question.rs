//! Row G3: to ask about look-alikes, or to ask the same again.
//!
//! Invariant: an external id has at most one open question, and a question that lives and names the same candidates
//! keeps its token.

use jiff::Timestamp;
use turno_domain::{ids::YupyTransactionId, lookalike::LookAlike};
use turno_protocol::{
    body::{AskedSale, ChallengeState, PreviousConfirmation},
    secret::Secret,
};

use super::{
    Asking, Desk, Question,
    confirmation::{claims, state_at},
};
use crate::{
    audit::{AuditEntry, AuditEvent},
    books::{Books, Challenge},
    content::Content,
    sale::{NewSale, StoredSale},
    secrets::SigningKey,
};

/// What a question is asked about.
pub(super) struct Doubt<'a> {
    pub sale: &'a NewSale,
    pub occurred_at: Timestamp,
    pub content: &'a Content,
    /// The best first; at least one.
    pub candidates: Vec<LookAlike<StoredSale>>,
    /// Why a token that came along does not count.
    pub previous: Option<PreviousConfirmation>,
}

pub(super) async fn ask<B: Books>(
    books: &mut B,
    desk: &Desk,
    doubt: Doubt<'_>,
) -> Result<Question, B::Error> {
    let open = books.open_challenge(desk.caller.scope_number, &doubt.sale.external_transaction_id).await?;
    let mut asking = Asking::Anew { ended: None };
    let (challenge, key) = match open {
        Some(open) => match key_to_ask_again(desk, &open, &doubt, books.now()) {
            Some(key) => {
                asking = Asking::Again;
                (open, key)
            }
            None => {
                let end = end_of(&open, books.now());
                asking = Asking::Anew { ended: Some(end) };
                books.set_challenge_state(&open.challenge_id, end).await?;
                ask_anew(books, desk, &doubt).await?
            }
        },
        None => ask_anew(books, desk, &doubt).await?,
    };
    let token = Secret::new(claims(&challenge).token(&key));
    let best = doubt.candidates.into_iter().next().expect("a question is asked about somebody");
    let previous = doubt.previous;
    Ok(Question { challenge, token, candidate: best.sale, matching_signals: best.signals, previous, asking })
}

/// The key of the open question's token, if it is still the same question. After two rotations of the secrets nobody
/// can make its token any more, and it has to be asked anew.
fn key_to_ask_again(desk: &Desk, open: &Challenge, doubt: &Doubt<'_>, now: Timestamp) -> Option<SigningKey> {
    let sorted = |mut names: Vec<YupyTransactionId>| {
        names.sort_unstable();
        names
    };
    let is_same = state_at(open, now) == ChallengeState::Open
        && open.core_fingerprint == doubt.content.core
        && sorted(open.candidates.clone()) == sorted(names(doubt));
    desk.secrets.token_secret(open.signed_with).filter(|_| is_same)
}

fn end_of(question: &Challenge, now: Timestamp) -> ChallengeState {
    if state_at(question, now) == ChallengeState::Expired {
        ChallengeState::Expired
    } else {
        ChallengeState::Superseded
    }
}

async fn ask_anew<B: Books>(
    books: &mut B,
    desk: &Desk,
    doubt: &Doubt<'_>,
) -> Result<(Challenge, SigningKey), B::Error> {
    let (generation, key) = desk.secrets.newest_token_secret();
    let now = books.now();
    let challenge = Challenge {
        challenge_id: desk.world.new_id("ych"),
        scope: desk.caller.scope.clone(),
        scope_number: desk.caller.scope_number,
        asked: asked_sale(doubt.sale, doubt.occurred_at),
        fingerprint_version: doubt.content.version,
        core_fingerprint: doubt.content.core,
        candidates: names(doubt),
        matching_signals: doubt.candidates.first().map(|best| best.signals.clone()).unwrap_or_default(),
        state: ChallengeState::Open,
        asked_at: now,
        expires_at: expiry(desk, now),
        signed_with: generation,
        verdict: None,
    };
    books.insert_challenge(&challenge).await?;
    books.append_audit(&challenge.scope.company, suspected(&challenge)).await?;
    Ok((challenge, key))
}

fn names(doubt: &Doubt<'_>) -> Vec<YupyTransactionId> {
    doubt.candidates.iter().map(|found| found.sale.yupy_transaction_id.clone()).collect()
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

fn suspected(challenge: &Challenge) -> AuditEntry {
    AuditEntry {
        external_transaction_id: Some(challenge.asked.external_transaction_id.clone()),
        challenge_id: Some(challenge.challenge_id.clone()),
        candidates: challenge.candidates.clone(),
        fields: challenge.matching_signals.iter().map(|signal| signal.as_str()).collect(),
        ..AuditEntry::new(AuditEvent::DuplicateSuspected, &challenge.scope, challenge.asked_at)
    }
}
