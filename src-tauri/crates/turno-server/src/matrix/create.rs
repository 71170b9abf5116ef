//! `POST /v1/transactions`: rows D to H.

use jiff::Timestamp;
use turno_domain::{ids::YupyTransactionId, lookalike::LookAlike};
use turno_protocol::{
    body::{ChallengeState, ConfirmationFault, Operational, PreviousConfirmation, State},
    chain::Head,
};

use super::{
    ConfirmationRefused, Desk, IdConflict, KeyConflict, Keyed, Question,
    confirmation::{self, TokenWorth},
    external_id::{self, Comparison},
    key::{self, KeyRow},
    question::{self, Doubt},
};
use crate::{
    audit::{AuditEntry, AuditEvent},
    books::{Books, Challenge},
    request::Faults,
    sale::{NewSale, StoredSale, financial_at_creation},
};

#[derive(Clone, Debug)]
pub struct CreateRequest {
    pub keyed: Keyed,
    /// Validated beforehand and looked at after the key.
    pub sale: Result<NewSale, Faults>,
    /// What the till says of its own audit. No content: a retry says it anew.
    pub till_audit_head: Option<Head>,
}

#[derive(Clone, Debug)]
pub enum CreateOutcome {
    Created {
        sale: StoredSale,
        confirmed_duplicate_of: Option<Vec<YupyTransactionId>>,
    },
    Replayed {
        sale: StoredSale,
        original_status: u16,
    },
    /// `key_had_expired`: the retry came when its key was forgotten already.
    Existing {
        sale: StoredSale,
        ignored_differences: Vec<&'static str>,
        key_had_expired: bool,
    },
    KeyConflict(KeyConflict),
    KeyInProgress,
    Invalid(Faults),
    IdConflict(IdConflict),
    ConfirmationRefused(ConfirmationRefused),
    PossibleDuplicate(Box<Question>),
}

pub async fn create_transaction<B: Books>(
    books: &mut B,
    desk: &Desk,
    request: CreateRequest,
) -> Result<CreateOutcome, B::Error> {
    let CreateRequest { keyed, sale, till_audit_head } = request;
    // D
    let key_had_expired = match key::look_up(books, desk, &keyed).await? {
        KeyRow::Conflict(conflict) => return Ok(CreateOutcome::KeyConflict(conflict)),
        KeyRow::InProgress => return Ok(CreateOutcome::KeyInProgress),
        KeyRow::Final { record, original_status } => {
            if let Some(id) = &record.yupy_transaction_id
                && let Some(sale) = books.sale_by_id(desk.caller.scope_number, id.as_str()).await?
            {
                return Ok(CreateOutcome::Replayed { sale, original_status });
            }
            false
        }
        KeyRow::GoOn { had_expired } => had_expired,
    };
    // E
    let sale = match sale {
        Ok(sale) => sale,
        Err(faults) => return Ok(CreateOutcome::Invalid(faults)),
    };
    // F
    let stored = books.sale_by_external_id(desk.caller.scope_number, &sale.external_transaction_id).await?;
    if let Some(stored) = stored {
        return known_id(books, desk, &keyed, &sale, stored, key_had_expired).await;
    }
    // G
    let occurred_at = sale.occurred_at.unwrap_or_else(|| books.now());
    let worth = match confirmation::weigh_token(books, desk, &sale, &keyed.content).await? {
        Ok(worth) => worth,
        Err(fault) => return refuse_confirmation(books, desk, &sale, fault).await,
    };
    let candidates = confirmation::find_candidates(books, desk, &sale, occurred_at).await?;
    match verdict(worth, &candidates) {
        Verdict::Create(confirmed) => {
            // H
            let stored = store(books, desk, &sale, occurred_at, till_audit_head).await?;
            let confirmed_duplicate_of = close_question(books, desk, &sale, &stored, confirmed).await?;
            key::finish(books, desk, &keyed, 201, &stored.yupy_transaction_id, None).await?;
            Ok(CreateOutcome::Created { sale: stored, confirmed_duplicate_of })
        }
        Verdict::Ask(previous) => {
            key::bind(books, desk, &keyed).await?;
            let doubt = Doubt { sale: &sale, occurred_at, content: &keyed.content, candidates, previous };
            let question = question::ask(books, desk, doubt).await?;
            Ok(CreateOutcome::PossibleDuplicate(Box::new(question)))
        }
    }
}

/// G1 says nothing of candidates, and is remembered.
async fn refuse_confirmation<B: Books>(
    books: &mut B,
    desk: &Desk,
    sale: &NewSale,
    fault: ConfirmationFault,
) -> Result<CreateOutcome, B::Error> {
    let scope = &desk.caller.scope;
    let entry = AuditEntry {
        external_transaction_id: Some(sale.external_transaction_id.clone()),
        reason: Some(fault_name(fault).to_owned()),
        ..AuditEntry::new(AuditEvent::ConfirmationRefused, scope, books.now())
    };
    books.append_audit(&scope.company, entry).await?;
    Ok(CreateOutcome::ConfirmationRefused(ConfirmationRefused(fault)))
}

async fn known_id<B: Books>(
    books: &mut B,
    desk: &Desk,
    keyed: &Keyed,
    sale: &NewSale,
    stored: StoredSale,
    key_had_expired: bool,
) -> Result<CreateOutcome, B::Error> {
    let scope = &desk.caller.scope;
    match external_id::compare(&stored, sale) {
        Comparison::Conflict(conflicting_fields) => {
            let entry = AuditEntry {
                fields: conflicting_fields.clone(),
                ..AuditEntry::about(AuditEvent::ExternalTransactionConflict, scope, books.now(), &stored)
            };
            books.append_audit(&scope.company, entry).await?;
            key::bind(books, desk, keyed).await?;
            Ok(CreateOutcome::IdConflict(IdConflict {
                external_transaction_id: stored.external_transaction_id,
                yupy_transaction_id: stored.yupy_transaction_id,
                conflicting_fields,
            }))
        }
        Comparison::Same { ignored_differences } => {
            if key_had_expired || !ignored_differences.is_empty() {
                let entry = AuditEntry {
                    fields: ignored_differences.clone(),
                    ..AuditEntry::about(AuditEvent::ExistingReturned, scope, books.now(), &stored)
                };
                books.append_audit(&scope.company, entry).await?;
            }
            key::finish(books, desk, keyed, 200, &stored.yupy_transaction_id, None).await?;
            Ok(CreateOutcome::Existing { sale: stored, ignored_differences, key_had_expired })
        }
    }
}

/// What a token was used for.
enum Confirmed {
    /// No token came.
    No,
    /// Against everything that its question names.
    By(Box<Challenge>),
    /// A token came that counts no more, and nothing had to be confirmed.
    Needlessly,
}

enum Verdict {
    Create(Confirmed),
    Ask(Option<PreviousConfirmation>),
}

/// Rows G2 to G6.
fn verdict(worth: TokenWorth, candidates: &[LookAlike<StoredSale>]) -> Verdict {
    let none = candidates.is_empty();
    match worth {
        TokenWorth::Absent if none => Verdict::Create(Confirmed::No),
        TokenWorth::Absent => Verdict::Ask(None),
        TokenWorth::Good(challenge) => {
            let named = |found: &LookAlike<StoredSale>| {
                challenge.candidates.contains(&found.sale.yupy_transaction_id)
            };
            if candidates.iter().all(named) {
                Verdict::Create(Confirmed::By(challenge))
            } else {
                Verdict::Ask(Some(PreviousConfirmation::Superseded))
            }
        }
        TokenWorth::Lapsed(_) if none => Verdict::Create(Confirmed::Needlessly),
        TokenWorth::Lapsed(why) => Verdict::Ask(Some(why)),
    }
}

async fn store<B: Books>(
    books: &mut B,
    desk: &Desk,
    sale: &NewSale,
    occurred_at: Timestamp,
    till_audit_head: Option<Head>,
) -> Result<StoredSale, B::Error> {
    let id = YupyTransactionId::parse(desk.world.new_id("ypt"))
        .expect("a prefix and hexadecimal digits are an id");
    let stored = StoredSale {
        yupy_transaction_id: id,
        external_transaction_id: sale.external_transaction_id.clone(),
        amount: sale.amount,
        occurred_at,
        details: sale.details.clone(),
        state: State {
            operational: Operational::Active,
            financial: financial_at_creation(sale.details.payment_method.as_deref()),
        },
        created_at: books.now(),
    };
    books.insert_sale(desk.caller.scope_number, &stored).await?;
    let scope = &desk.caller.scope;
    let entry = AuditEntry {
        device_id: till_audit_head.and_then(|_| stored.details.device_id.clone()),
        till_audit_head: till_audit_head.map(|head| head.to_text()),
        ..AuditEntry::about(AuditEvent::Created, scope, stored.created_at, &stored)
    };
    books.append_audit(&scope.company, entry).await?;
    Ok(stored)
}

/// A created sale leaves no open question behind, and a spent token says in the audit who spent it.
async fn close_question<B: Books>(
    books: &mut B,
    desk: &Desk,
    sale: &NewSale,
    stored: &StoredSale,
    confirmed: Confirmed,
) -> Result<Option<Vec<YupyTransactionId>>, B::Error> {
    match confirmed {
        Confirmed::By(challenge) => {
            books.set_challenge_state(&challenge.challenge_id, ChallengeState::Spent).await?;
            let said = sale.confirmation.as_ref();
            let scope = &desk.caller.scope;
            let entry = AuditEntry {
                challenge_id: Some(challenge.challenge_id.clone()),
                candidates: challenge.candidates.clone(),
                confirmed_by: said.and_then(|said| said.confirmed_by.clone()),
                confirmation_reason: said.and_then(|said| said.confirmation_reason.clone()),
                ..AuditEntry::about(AuditEvent::DuplicateConfirmed, scope, books.now(), stored)
            };
            books.append_audit(&scope.company, entry).await?;
            Ok(Some(challenge.candidates))
        }
        Confirmed::No | Confirmed::Needlessly => {
            let open = books.open_challenge(desk.caller.scope_number, &sale.external_transaction_id).await?;
            if let Some(open) = open {
                books.set_challenge_state(&open.challenge_id, ChallengeState::Superseded).await?;
            }
            Ok(matches!(confirmed, Confirmed::Needlessly).then(Vec::new))
        }
    }
}

fn fault_name(fault: ConfirmationFault) -> &'static str {
    match fault {
        ConfirmationFault::Malformed => "malformed",
        ConfirmationFault::NotIssuedHere => "not_issued_here",
        ConfirmationFault::PayloadChanged => "payload_changed",
        ConfirmationFault::NotOpen => "not_open",
    }
}
