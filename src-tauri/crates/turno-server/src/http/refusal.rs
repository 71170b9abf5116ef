//! Errors as answers: the code with its status, its message for people, and what it adds.
//!
//! Invariant: a handler returns a [`Refusal`] and never writes an error body; the id is filled in on the way out.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use turno_protocol::{
    body::{ErrorBody, ErrorDetails, ErrorEnvelope},
    code::{ErrorCode, ErrorProfile},
};

use super::{
    answer::{IDEMPOTENCY_REPLAYED, Replay},
    exchange::RequestId,
};
use crate::{ledger::LedgerError, matrix::IdConflict, request::Faults};

/// Seconds until a twin in progress is worth asking about again.
const RETRY_SOON_S: u32 = 1;

/// Seconds until a store or a server that is not there is worth asking again.
const RETRY_LATER_S: u32 = 5;

#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    code: ErrorCode,
    details: ErrorDetails,
    profile: ErrorProfile,
    retry_after_s: Option<u32>,
    replay: Option<Replay>,
}

impl Refusal {
    pub(crate) fn new(code: ErrorCode) -> Self {
        let seconds = if code == ErrorCode::IdempotencyInProgress { RETRY_SOON_S } else { RETRY_LATER_S };
        let retry_after_s = code.needs_retry_after().then_some(seconds);
        let (details, profile) = (ErrorDetails::None {}, ErrorProfile::Default);
        Self { code, details, profile, retry_after_s, replay: None }
    }

    pub(super) fn code(&self) -> ErrorCode {
        self.code
    }

    pub(crate) fn with(self, details: ErrorDetails) -> Self {
        Self { details, ..self }
    }

    pub(crate) fn invalid(fields: Faults) -> Self {
        Self::new(ErrorCode::ValidationFailed).with(ErrorDetails::Validation { fields })
    }

    /// An error that is an answer: a decline stands and is repeated.
    pub(crate) fn replayed(self, replay: Replay) -> Self {
        Self { replay: Some(replay), ..self }
    }

    pub(crate) fn after(self, seconds: u32) -> Self {
        Self { retry_after_s: Some(seconds), ..self }
    }

    /// As the caller's integration wants its errors.
    pub(crate) fn in_profile(self, profile: ErrorProfile) -> Self {
        Self { profile, ..self }
    }

    pub(super) fn write_into(self, response: &mut Response, id: &RequestId) {
        let status = self.code.status_in(self.profile);
        *response.status_mut() = StatusCode::from_u16(status).expect("the contract's statuses are statuses");
        let ErrorEnvelope { error } =
            ErrorEnvelope::new(self.code, message(self.code), id.0.as_str()).with_details(self.details);
        let (media_type, body) = match self.profile {
            ErrorProfile::Default => ("application/json", to_json(&ErrorEnvelope { error })),
            ErrorProfile::Ietf => ("application/problem+json", to_json(&Problem::of(status, error))),
        };
        *response.body_mut() = Body::from(body);
        let headers = response.headers_mut();
        headers.remove(header::CONTENT_LENGTH);
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        if let Some(seconds) = self.retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(replay) = self.replay {
            headers.insert(IDEMPOTENCY_REPLAYED, replay.header());
        }
        if self.code == ErrorCode::Unauthenticated {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
    }
}

impl IntoResponse for Refusal {
    /// An empty answer that carries the refusal to where the request's id is known.
    fn into_response(self) -> Response {
        let mut response = StatusCode::INTERNAL_SERVER_ERROR.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<LedgerError> for Refusal {
    /// The store's own words go to the log and nowhere else.
    fn from(error: LedgerError) -> Self {
        match &error {
            LedgerError::Unavailable(source) => {
                tracing::warn!(%source, "the store is not available");
                Self::new(ErrorCode::ServiceUnavailable)
            }
            LedgerError::Internal(source) => {
                tracing::error!(%source, "the store failed");
                Self::new(ErrorCode::InternalError)
            }
        }
    }
}

impl From<IdConflict> for Refusal {
    fn from(conflict: IdConflict) -> Self {
        let details = turno_protocol::body::ExternalConflict {
            external_transaction_id: conflict.external_transaction_id,
            yupy_transaction_id: conflict.yupy_transaction_id,
            conflicting_fields: conflict.conflicting_fields.into_iter().map(str::to_owned).collect(),
        };
        Self::new(ErrorCode::ExternalTransactionConflict).with(ErrorDetails::ExternalConflict(details))
    }
}

/// RFC 9457, with the contract's own error beside it, so that a program of either habit finds its code.
#[derive(Serialize)]
struct Problem {
    #[serde(rename = "type")]
    kind: String,
    title: String,
    status: u16,
    code: String,
    error: ErrorBody,
}

impl Problem {
    fn of(status: u16, error: ErrorBody) -> Self {
        let kind = format!("urn:yupy:error:{}", error.code);
        Self { kind, title: error.message.clone(), status, code: error.code.clone(), error }
    }
}

fn to_json(body: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(body).expect("texts under fixed names are always json")
}

/// For people. Programs read the code.
fn message(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::MalformedRequest => "El cuerpo no es JSON válido.",
        ErrorCode::IdempotencyKeyRequired => "Falta la cabecera Idempotency-Key.",
        ErrorCode::IdempotencyKeyInvalid => "La cabecera Idempotency-Key no es válida.",
        ErrorCode::Unauthenticated => "La credencial falta o no es válida.",
        ErrorCode::PaymentDeclined => "El pago fue rechazado.",
        ErrorCode::Forbidden => "La credencial no permite esta operación.",
        ErrorCode::EnrolmentRefused => "El código de alta no existe o ya fue usado.",
        ErrorCode::NotFound => "No existe.",
        ErrorCode::TransactionNotFound => "No existe esa transacción.",
        ErrorCode::MethodNotAllowed => "Este método no se admite en esta dirección.",
        ErrorCode::IdempotencyConflict => "Esa clave ya se usó con otro contenido.",
        ErrorCode::IdempotencyInProgress => "La misma operación está en curso; vuelva a preguntar.",
        ErrorCode::ExternalTransactionConflict => "Ese identificador ya existe con otros datos.",
        ErrorCode::PossibleDuplicateTransaction => {
            "Parece una venta que ya existe; revísela antes de crearla."
        }
        ErrorCode::ReconciliationRequired => "El pago no cuadra y necesita una revisión manual.",
        ErrorCode::AlreadyResolved => "Esa pregunta ya tiene otra decisión.",
        ErrorCode::InvalidState => "El estado actual no permite esta operación.",
        ErrorCode::EpochTaken => "Otra instalación ya registró esa época.",
        ErrorCode::PayloadTooLarge => "El cuerpo es demasiado grande.",
        ErrorCode::UnsupportedMediaType => "El cuerpo debe ser application/json.",
        ErrorCode::ValidationFailed => "Hay campos que no son válidos.",
        ErrorCode::DuplicateConfirmationInvalid => "La confirmación no es válida.",
        ErrorCode::RateLimited => "Demasiadas solicitudes; espere un momento.",
        ErrorCode::InternalError => "Ocurrió un error interno; puede reintentar con la misma clave.",
        ErrorCode::ServiceUnavailable => "El servicio no está disponible; reintente con la misma clave.",
        ErrorCode::OutcomeUnknown => "Aún no se conoce el resultado; pregunte otra vez con la misma clave.",
    }
}
