//! Bodies read into what they ask for (contract §3, row E).
//!
//! Invariant: a request exists only if every rule of its operation holds; otherwise every fault is named, not only
//! the first, by its dotted path.

mod fields;
mod operations;
mod sale;

pub use fields::Faults;
pub use operations::{
    Enrolment, NewPayment, NewVoid, Resolution, ResolutionTarget, WebhookEvent, WebhookStatus,
    read_enrolment, read_epoch, read_payment, read_resolution, read_void, read_webhook,
};
pub use sale::read_sale;
