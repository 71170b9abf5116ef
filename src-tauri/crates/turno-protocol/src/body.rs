//! The bodies of requests and answers, one struct each.
//!
//! Invariant: members are written in a fixed order and never as `null`, and unknown members are ignored when read.
//! What a till accepts a sale by is required; everything else in an answer is read leniently.

mod answer;
mod challenge;
mod error;
mod list;
mod payment;
mod transaction;
mod void;

pub use answer::{
    Created, Existing, ExistingByExternalId, ExistingByKey, Financial, Operational, State, Transaction,
    TransactionAnswer,
};
pub use challenge::{AskedSale, ChallengeState, ChallengeView, Decision, ResolutionRequest};
pub use error::{
    Candidate, ConfirmationFault, ConflictHint, ErrorBody, ErrorDetails, ErrorEnvelope, ExternalConflict,
    FieldFault, PossibleDuplicate, PreviousConfirmation, Resolution,
};
pub use list::{Identified, ListAnswer};
pub use payment::{PaymentAnswer, PaymentRequest, PaymentResult};
pub use transaction::{Confirmation, Context, NotAFrozenBody, PaidTender, TransactionBody};
pub use void::{VoidAnswer, VoidRequest, VoidResult};
