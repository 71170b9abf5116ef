//! `POST /v1/devices/epochs`: an enrolled till tells of an epoch that it has taken by itself.
//!
//! Invariant: an epoch of a device is one installation's, for ever. The same installation may tell of it any number of
//! times; another one is told that it is taken before it numbers a sale with it.

use turno_protocol::enrol::EpochRequest;

use crate::{
    audit::{AuditEntry, AuditEvent},
    books::Books,
    caller::Caller,
    request::Faults,
};

#[derive(Clone, Debug)]
pub struct RegisterEpoch {
    pub registration: Result<EpochRequest, Faults>,
}

#[derive(Clone, Debug)]
pub enum EpochOutcome {
    Registered(EpochRequest),
    Invalid(Faults),
    Taken,
}

pub async fn register_epoch<B: Books>(
    books: &mut B,
    caller: &Caller,
    request: RegisterEpoch,
) -> Result<EpochOutcome, B::Error> {
    let wanted = match request.registration {
        Ok(wanted) => wanted,
        Err(faults) => return Ok(EpochOutcome::Invalid(faults)),
    };
    let EpochRequest { device_id, installation_id, epoch } = &wanted;
    match books.epoch_owner(caller.scope_number, device_id, epoch).await? {
        Some(owner) if owner != *installation_id => return Ok(EpochOutcome::Taken),
        Some(_) => return Ok(EpochOutcome::Registered(wanted)),
        None => {}
    }
    books.register_epoch(caller.scope_number, device_id, epoch, *installation_id).await?;
    let entry = AuditEntry {
        device_id: Some(device_id.to_string()),
        ..AuditEntry::new(AuditEvent::EpochRegistered, &caller.scope, books.now())
    };
    books.append_audit(&caller.scope.company, entry).await?;
    Ok(EpochOutcome::Registered(wanted))
}
