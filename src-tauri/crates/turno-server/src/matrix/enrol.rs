//! `POST /v1/devices/enroll`: an enrolment code becomes a till's credential.
//!
//! Invariant: a code serves one installation. The same installation may come again, because the answer that carried
//! its credential can be lost. What was given out before stays good: of two answers the till may have got the
//! first, when the second belongs to a request that the network delivered late or twice.

use turno_domain::ids::Epoch;
use turno_protocol::secret::Secret;

use crate::{
    audit::{AuditEntry, AuditEvent},
    books::{Books, EnrolmentCode},
    caller::TokenHash,
    request::{Enrolment, Faults},
    settings::CompanySettings,
    token::hex,
    world::World,
};

#[derive(Clone, Debug)]
pub struct EnrolRequest {
    pub enrolment: Result<Enrolment, Faults>,
}

#[derive(Clone, Debug)]
pub enum EnrolOutcome {
    Enrolled(Box<Enrolled>),
    Invalid(Faults),
    /// Unknown, or used by another installation.
    Refused,
    EpochTaken,
}

/// What an enrolled till is told.
#[derive(Clone, Debug)]
pub struct Enrolled {
    pub credential: Secret,
    pub code: EnrolmentCode,
    pub company: CompanySettings,
    pub epoch: Epoch,
}

/// There is no caller yet: the code decides the scope.
pub async fn enrol_device<B: Books>(
    books: &mut B,
    world: &World,
    request: EnrolRequest,
) -> Result<EnrolOutcome, B::Error> {
    let enrolment = match request.enrolment {
        Ok(enrolment) => enrolment,
        Err(faults) => return Ok(EnrolOutcome::Invalid(faults)),
    };
    let hash = TokenHash::of(enrolment.enrolment_code.expose());
    let code = books.enrolment_code(&hash).await?;
    let usable =
        |code: &EnrolmentCode| code.installation_id.is_none_or(|user| user == enrolment.installation_id);
    let Some(code) = code.filter(usable) else { return Ok(EnrolOutcome::Refused) };
    match books.epoch_owner(code.scope_number, &code.device_id, &enrolment.epoch).await? {
        Some(owner) if owner != enrolment.installation_id => return Ok(EnrolOutcome::EpochTaken),
        Some(_) => {}
        None => {
            let installation = enrolment.installation_id;
            books.register_epoch(code.scope_number, &code.device_id, &enrolment.epoch, installation).await?;
        }
    }
    let credential = new_token(world, "ytc");
    books.redeem_code(&code, enrolment.installation_id, &TokenHash::of(credential.expose())).await?;
    let entry = AuditEntry {
        device_id: Some(code.device_id.to_string()),
        ..AuditEntry::new(AuditEvent::DeviceEnrolled, &code.scope, books.now())
    };
    books.append_audit(&code.scope.company, entry).await?;
    let company = books.company(&code.scope.company).await?;
    Ok(EnrolOutcome::Enrolled(Box::new(Enrolled { credential, code, company, epoch: enrolment.epoch })))
}

/// A text that opens a door: 256 random bits.
pub fn new_token(world: &World, prefix: &str) -> Secret {
    Secret::new(format!("{prefix}_{}", hex(&world.random::<32>())))
}
