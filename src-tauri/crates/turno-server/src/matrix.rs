//! The behaviour matrix of the contract (§5), written once over [`Books`] and used by every store.
//!
//! Each use-case is one function that reads from top to bottom like the table: the first row that fits decides.
//! Invariant: a use-case is one transaction; it returns what to answer and leaves nothing half done.

mod confirmation;
mod create;
mod enrol;
mod epoch;
mod external_id;
mod key;
mod payment;
mod payment_end;
mod question;
mod resolve;
mod void;

pub use create::{CreateOutcome, CreateRequest, create_transaction};
pub use enrol::{EnrolOutcome, EnrolRequest, Enrolled, enrol_device, new_token};
pub use epoch::{EpochOutcome, RegisterEpoch, register_epoch};
pub use payment::{Known, PaymentRequest, ReserveOutcome, reserve_payment};
pub use payment_end::{
    Finished, WebhookOutcome, apply_webhook, claim_abandoned, finish_payment, give_up_payment, mark_payment,
    renew_payment,
};
pub use resolve::{ResolveOutcome, ResolveRequest, challenge_view, may_see, resolve_challenge};
pub use void::{VoidOutcome, VoidRequest, void_transaction};

use turno_domain::{
    ids::{ExternalTransactionId, IdempotencyKey, YupyTransactionId},
    lookalike::Signal,
};
use turno_protocol::{
    body::{ChallengeState, ConfirmationFault, ConflictHint, PreviousConfirmation},
    secret::Secret,
};

use crate::{
    books::Challenge, caller::Caller, content::Content, sale::StoredSale, secrets::Secrets, world::World,
};

/// What every rule may look at beside the books.
#[derive(Clone, Debug)]
pub struct Desk {
    pub caller: Caller,
    pub secrets: Secrets,
    pub world: World,
}

/// A key and what came with it.
#[derive(Clone, Debug)]
pub struct Keyed {
    pub key: IdempotencyKey,
    pub content: Content,
}

/// D1: the key belongs to other content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyConflict {
    pub hint: Option<ConflictHint>,
}

/// F1: the permanent id belongs to something that is not the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdConflict {
    pub external_transaction_id: ExternalTransactionId,
    pub yupy_transaction_id: YupyTransactionId,
    /// Sorted.
    pub conflicting_fields: Vec<&'static str>,
}

/// G3, G5, G6: is it the same sale?
#[derive(Clone, Debug)]
pub struct Question {
    pub challenge: Challenge,
    pub token: Secret,
    pub candidate: StoredSale,
    pub matching_signals: Vec<Signal>,
    pub previous: Option<PreviousConfirmation>,
    pub asking: Asking,
}

/// Whether a question is a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    Again,
    Anew {
        /// What became of the open question about the same sale, if there was one.
        ended: Option<ChallengeState>,
    },
}

/// G1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfirmationRefused(pub ConfirmationFault);
