//! `POST /v1/devices/enroll`, the one operation that gives a credential instead of asking for one, and
//! `POST /v1/devices/epochs`.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Request, State},
    http::StatusCode,
    response::Response,
};
use turno_protocol::{
    code::ErrorCode,
    enrol::{EnrolAnswer, EpochAnswer},
};

use super::{App, answer, exchange::RequestId, gate, refusal::Refusal};
use crate::{
    caller::Right,
    ledger::Ledger,
    matrix::{EnrolOutcome, EnrolRequest, Enrolled, EpochOutcome, RegisterEpoch},
    request::{read_enrolment, read_epoch},
};

/// Where an enrolled till finds what it sells.
const CATALOG_URL: &str = "/v1/catalog";

pub(super) async fn enrol<L: Ledger>(
    State(app): State<Arc<App<L>>>,
    Extension(RequestId(request_id)): Extension<RequestId>,
    request: Request,
) -> Result<Response, Refusal> {
    let body = gate::read_json(request, app.config.body_limit).await?;
    match app.ledger.enrol_device(EnrolRequest { enrolment: read_enrolment(&body) }).await? {
        EnrolOutcome::Enrolled(enrolled) => {
            let Enrolled { credential, code, company, epoch } = *enrolled;
            let answer = EnrolAnswer {
                credential,
                company: code.scope.company,
                integration: code.scope.integration,
                environment: code.scope.environment,
                device_id: code.device_id,
                epoch,
                currency: company.currency,
                company_name: company.name,
                catalog_url: CATALOG_URL.to_owned(),
                request_id,
            };
            Ok(answer::json(StatusCode::OK, &answer))
        }
        EnrolOutcome::Invalid(faults) => Err(Refusal::invalid(faults)),
        EnrolOutcome::Refused => Err(Refusal::new(ErrorCode::EnrolmentRefused)),
        EnrolOutcome::EpochTaken => Err(Refusal::new(ErrorCode::EpochTaken)),
    }
}

pub(super) async fn register_epoch<L: Ledger>(
    State(app): State<Arc<App<L>>>,
    Extension(RequestId(request_id)): Extension<RequestId>,
    request: Request,
) -> Result<Response, Refusal> {
    gate::admit(&app, &[Right::Create], request, async |caller, request| {
        let body = gate::read_json(request, app.config.body_limit).await?;
        let request = RegisterEpoch { registration: read_epoch(&body) };
        match app.ledger.register_epoch(caller, request).await? {
            EpochOutcome::Registered(known) => {
                let answer = EpochAnswer { device_id: known.device_id, epoch: known.epoch, request_id };
                Ok(answer::json(StatusCode::OK, &answer))
            }
            EpochOutcome::Invalid(faults) => Err(Refusal::invalid(faults)),
            EpochOutcome::Taken => Err(Refusal::new(ErrorCode::EpochTaken)),
        }
    })
    .await
}
