//! `POST /v1/devices/enroll`: how a till gets its credential, its scope and its name; and `POST /v1/devices/epochs`,
//! how it tells of the letters that it has taken since.
//!
//! Invariant: a lost answer costs nothing. The same code from the same installation is answered again, with a fresh
//! credential for the same device; from another installation it is refused. An epoch is one installation's, for ever;
//! whoever registers it again is told the same.

use serde::{Deserialize, Serialize};
use turno_domain::Currency;
use turno_domain::ids::{Company, DeviceId, Environment, Epoch, Integration, Scope};
use uuid::Uuid;

use crate::secret::Secret;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnrolRequest {
    pub enrolment_code: Secret,
    /// Made once for a data folder, before its first request.
    pub installation_id: Uuid,
    /// Answered with `epoch_taken` if another installation of the device has it; then the till makes another.
    pub epoch: Epoch,
}

/// The till took another epoch by itself and will number its next sales with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpochRequest {
    pub device_id: DeviceId,
    pub installation_id: Uuid,
    pub epoch: Epoch,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpochAnswer {
    pub device_id: DeviceId,
    pub epoch: Epoch,
    pub request_id: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnrolAnswer {
    pub credential: Secret,
    pub company: Company,
    pub integration: Integration,
    pub environment: Environment,
    pub device_id: DeviceId,
    pub epoch: Epoch,
    pub currency: Currency,
    /// For the screen and the ticket.
    pub company_name: String,
    /// Relative to the address that was enrolled at.
    pub catalog_url: String,
    pub request_id: String,
}

impl EnrolAnswer {
    pub fn scope(&self) -> Scope {
        Scope {
            company: self.company.clone(),
            integration: self.integration.clone(),
            environment: self.environment.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_written_as_agreed_and_its_code_is_not_shown() {
        let request = EnrolRequest {
            enrolment_code: Secret::new("TUR-1234"),
            installation_id: Uuid::nil(),
            epoch: Epoch::parse("K7M").unwrap(),
        };
        assert_eq!(
            serde_json::to_string(&request).unwrap(),
            r#"{"enrolment_code":"TUR-1234","installation_id":"00000000-0000-0000-0000-000000000000","epoch":"K7M"}"#
        );
        assert!(!format!("{request:?}").contains("TUR-1234"));
    }

    #[test]
    fn an_answer_gives_scope_device_and_a_hidden_credential() {
        let json = concat!(
            r#"{"credential":"c-1","company":"A","integration":"pos","environment":"production","device_id":"D03","epoch":"K7M","#,
            r#""currency":"PEN","company_name":"Transportes del Sur","catalog_url":"/v1/catalog","request_id":"r"}"#
        );
        let answer: EnrolAnswer = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&answer).unwrap(), json);
        assert_eq!(answer.scope().company.as_str(), "A");
        assert!(!format!("{answer:?}").contains("c-1"));
        for broken in [json.replace("K7M", "K0M"), json.replace("PEN", "pen"), json.replace("D03", " D03")] {
            assert!(serde_json::from_str::<EnrolAnswer>(&broken).is_err(), "{broken}");
        }
    }
}
