//! The cases, one module for each part of the contract.

mod audit;
mod body;
mod confirmations;
mod content;
mod decisions;
mod everywhere;
mod external_ids;
mod gate;
mod keys;
mod lists;
mod look_alikes;
mod payments;
mod races;
mod scopes;
mod voids;
mod webhooks;

use crate::case::Case;

pub const ALL: &[&[Case]] = &[
    everywhere::CASES,
    gate::CASES,
    body::CASES,
    keys::CASES,
    content::CASES,
    external_ids::CASES,
    look_alikes::CASES,
    confirmations::CASES,
    decisions::CASES,
    voids::CASES,
    payments::CASES,
    webhooks::CASES,
    lists::CASES,
    scopes::CASES,
    audit::CASES,
    races::CASES,
];

/// What every section needs.
mod prelude {
    pub(super) use anyhow::{Result, ensure};
    pub(super) use serde_json::{Value, json};

    pub(super) use crate::{answer::Answer, case::section, fixture::Role, stage::Stage};
}
