//! `POST /v1/duplicate-resolutions`: a person decides a question, here or on another till.
//!
//! Invariant: the first decision stands. No decision creates a sale; `same_sale` kills the token for good.

use jiff::Timestamp;
use turno_protocol::body::{ChallengeState, ChallengeView, ConfirmationFault, Decision, Transaction};

use super::{ConfirmationRefused, Desk, confirmation};
use crate::{
    audit::{AuditEntry, AuditEvent},
    books::{Books, Challenge, Verdict},
    caller::Right,
    request::{Faults, Resolution, ResolutionTarget},
};

#[derive(Clone, Debug)]
pub struct ResolveRequest {
    pub resolution: Result<Resolution, Faults>,
}

#[derive(Clone, Debug)]
pub enum ResolveOutcome {
    /// Now or before, by the same decision.
    Decided(Box<ChallengeView>),
    /// Another decision came first; it is in the question.
    AlreadyResolved(Verdict),
    Invalid(Faults),
    NotFound,
    TokenRefused(ConfirmationRefused),
    /// Spent, superseded or expired without a decision: there is nothing to decide any more.
    NotOpen,
}

pub async fn resolve_challenge<B: Books>(
    books: &mut B,
    desk: &Desk,
    request: ResolveRequest,
) -> Result<ResolveOutcome, B::Error> {
    let resolution = match request.resolution {
        Ok(resolution) => resolution,
        Err(faults) => return Ok(ResolveOutcome::Invalid(faults)),
    };
    let mut challenge = match &resolution.target {
        ResolutionTarget::Challenge(id) => {
            match books.challenge(id).await?.filter(|found| may_see(desk, found)) {
                Some(challenge) => challenge,
                None => return Ok(ResolveOutcome::NotFound),
            }
        }
        ResolutionTarget::Token(token) => match confirmation::find_by_token(books, desk, token).await? {
            Ok(challenge) => challenge,
            Err(fault) => return Ok(ResolveOutcome::TokenRefused(ConfirmationRefused(fault))),
        },
    };
    if let Some(first) = &challenge.verdict {
        if first.decision == resolution.decision {
            return decided(books, challenge).await;
        }
        return Ok(ResolveOutcome::AlreadyResolved(first.clone()));
    }
    if confirmation::state_at(&challenge, books.now()) != ChallengeState::Open {
        return Ok(match resolution.target {
            ResolutionTarget::Challenge(_) => ResolveOutcome::NotOpen,
            ResolutionTarget::Token(_) => {
                ResolveOutcome::TokenRefused(ConfirmationRefused(ConfirmationFault::NotOpen))
            }
        });
    }
    let verdict = Verdict {
        decision: resolution.decision,
        decided_by: resolution.decided_by,
        reason: resolution.reason,
        decided_at: books.now(),
    };
    books.decide_challenge(&challenge.challenge_id, &verdict).await?;
    if verdict.decision == Decision::SameSale {
        books.set_challenge_state(&challenge.challenge_id, ChallengeState::Closed).await?;
        challenge.state = ChallengeState::Closed;
    }
    let entry = AuditEntry {
        external_transaction_id: Some(challenge.asked.external_transaction_id.clone()),
        challenge_id: Some(challenge.challenge_id.clone()),
        decision: Some(verdict.decision),
        decided_by: Some(verdict.decided_by.clone()),
        reason: verdict.reason.clone(),
        ..AuditEntry::new(AuditEvent::DuplicateResolved, &challenge.scope, verdict.decided_at)
    };
    books.append_audit(&challenge.scope.company, entry).await?;
    challenge.verdict = Some(verdict);
    decided(books, challenge).await
}

async fn decided<B: Books>(books: &mut B, challenge: Challenge) -> Result<ResolveOutcome, B::Error> {
    let best = challenge.candidates.first();
    let candidate = match best {
        Some(id) => books.sale_by_id(challenge.scope_number, id.as_str()).await?,
        None => None,
    };
    // Sales are never deleted, so there is one; a question without it cannot be shown.
    let Some(candidate) = candidate else { return Ok(ResolveOutcome::NotFound) };
    Ok(ResolveOutcome::Decided(Box::new(challenge_view(challenge, candidate.view(), books.now()))))
}

/// A till sees its own scope's questions, a manager the company's.
pub fn may_see(desk: &Desk, challenge: &Challenge) -> bool {
    let own = challenge.scope == desk.caller.scope;
    let company = challenge.scope.company == desk.caller.scope.company;
    own || (company && desk.caller.rights.has(Right::Audit))
}

/// Both sales side by side, never the token.
pub fn challenge_view(challenge: Challenge, candidate: Transaction, now: Timestamp) -> ChallengeView {
    let state = confirmation::state_at(&challenge, now);
    let verdict = challenge.verdict;
    ChallengeView {
        challenge_id: challenge.challenge_id,
        state,
        decision: verdict.as_ref().map(|verdict| verdict.decision),
        decided_by: verdict.as_ref().map(|verdict| verdict.decided_by.clone()),
        reason: verdict.as_ref().and_then(|verdict| verdict.reason.clone()),
        decided_at: verdict.map(|verdict| verdict.decided_at),
        asked_at: challenge.asked_at,
        expires_at: challenge.expires_at,
        matching_signals: challenge.matching_signals,
        asked: challenge.asked,
        candidate,
        candidates_count: u32::try_from(challenge.candidates.len()).unwrap_or(u32::MAX),
    }
}
