//! Who works at the till, and what a manager or the person may change about it.

use serde::Deserialize;
use ts_rs::TS;

use super::{Approval, Role};

#[derive(Clone, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct AddPersonRequest {
    /// From `open_draft`: pressed twice, added once.
    pub person_id: String,
    pub name: String,
    pub role: Role,
    pub pin: String,
    pub approval: Approval,
}

/// A new PIN for somebody who forgot theirs, or is locked out.
#[derive(Clone, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct ResetPinRequest {
    pub person_id: String,
    pub pin: String,
    pub approval: Approval,
}

#[derive(Clone, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct RetirePersonRequest {
    pub person_id: String,
    pub approval: Approval,
}

/// Whoever is at the till changes their own PIN.
#[derive(Clone, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct ChangePinRequest {
    pub pin: String,
    pub new_pin: String,
}
