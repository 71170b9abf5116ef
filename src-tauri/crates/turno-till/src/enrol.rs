//! Becoming a till of a company: a code is exchanged for a credential, a scope and a device id.
//!
//! Invariant: nothing is written until YUPY has answered with everything that selling needs, the catalog included.

use turno_domain::Currency;
use turno_domain::ids::Epoch;
use turno_protocol::catalog::CatalogBody;
use turno_protocol::enrol::{EnrolAnswer, EnrolRequest};
use turno_protocol::secret::Secret;
use uuid::Uuid;

use crate::random::Entropy;
use crate::transport::{Request, Response, Transport};
use crate::view::{Problem, ProblemCode};

const ENROL_PATH: &str = "/v1/devices/enroll";
/// A device has 9 261 epochs; this many taken in a row is a server's fault, not chance.
const EPOCH_TRIES: usize = 8;

/// A catalog as it came, with its version.
#[derive(Clone, Debug)]
pub struct FetchedCatalog {
    pub etag: Option<String>,
    pub bytes: Vec<u8>,
    pub body: CatalogBody,
}

/// Exchanges an enrolment code. A lost answer costs nothing: the same installation may send the same code again.
///
/// # Errors
/// `address_unreachable`, `not_yupy`, `enrolment_refused`.
pub async fn enrol(
    transport: &dyn Transport,
    entropy: &dyn Entropy,
    installation_id: Uuid,
    code: &str,
) -> Result<EnrolAnswer, Problem> {
    for _ in 0..EPOCH_TRIES {
        let mut chance = [0; 8];
        entropy.fill(&mut chance);
        let request = EnrolRequest {
            enrolment_code: Secret::new(code.trim()),
            installation_id,
            epoch: Epoch::from_random(chance),
        };
        let body = serde_json::to_vec(&request).expect("texts under fixed names are JSON");
        let answer = transport
            .send(Request::post(ENROL_PATH, body))
            .await
            .map_err(|failure| Problem::with(ProblemCode::AddressUnreachable, failure.cause().as_word()))?;
        match (answer.status, error_code(&answer).as_deref()) {
            (200 | 201, _) => {
                let enrolled: Option<EnrolAnswer> =
                    answer.json().and_then(|json| serde_json::from_value(json).ok());
                let enrolled = enrolled.filter(|enrolled| is_usable(enrolled, &request));
                return enrolled.ok_or_else(|| ProblemCode::NotYupy.into());
            }
            (409, Some("epoch_taken")) => {}
            (429 | 500..=599, Some(_)) => {
                return Err(Problem::with(ProblemCode::AddressUnreachable, "server_busy"));
            }
            (400..=499, Some("not_found" | "method_not_allowed" | "unsupported_media_type")) | (_, None) => {
                return Err(ProblemCode::NotYupy.into());
            }
            (_, Some(_)) => return Err(ProblemCode::EnrolmentRefused.into()),
        }
    }
    Err(ProblemCode::EnrolmentRefused.into())
}

/// An enrolment is for good: with a credential that cannot travel, or an epoch that was registered for nobody, every
/// sale would wait for ever.
fn is_usable(enrolled: &EnrolAnswer, request: &EnrolRequest) -> bool {
    let credential = enrolled.credential.expose();
    let can_travel = !credential.is_empty() && credential.bytes().all(|byte| byte.is_ascii_graphic());
    can_travel && enrolled.epoch == request.epoch
}

fn error_code(answer: &Response) -> Option<String> {
    let body = answer.json()?;
    Some(body.get("error").unwrap_or(&body).get("code")?.as_str()?.to_owned())
}

/// Asks for the catalog; `None` when the one that we have is current.
///
/// # Errors
/// `address_unreachable`, `not_yupy`.
pub async fn fetch_catalog(
    transport: &dyn Transport,
    etag: Option<String>,
    currency: Currency,
) -> Result<Option<FetchedCatalog>, Problem> {
    let request = Request { if_none_match: etag, ..Request::get("/v1/catalog") };
    let answer = transport
        .send(request)
        .await
        .map_err(|failure| Problem::with(ProblemCode::AddressUnreachable, failure.cause().as_word()))?;
    if answer.status == 304 {
        return Ok(None);
    }
    let body = Some(&answer).filter(|answer| answer.status == 200 && answer.is_json());
    let body: Option<CatalogBody> = body.and_then(|answer| serde_json::from_slice(&answer.body).ok());
    match body.filter(|body| body.currency == currency) {
        Some(body) => Ok(Some(FetchedCatalog { etag: answer.etag, bytes: answer.body, body })),
        None => Err(ProblemCode::NotYupy.into()),
    }
}
