//! `GET /v1/catalog`, with a version that saves sending it again.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

use super::{App, gate, refusal::Refusal};
use crate::{caller::Right, ledger::Ledger};

pub(super) async fn read<L: Ledger>(
    State(app): State<Arc<App<L>>>,
    request: Request,
) -> Result<Response, Refusal> {
    gate::admit(&app, &[Right::Read], request, async |caller, request| {
        let catalog = app.ledger.catalog(caller).await?;
        let etag = HeaderValue::try_from(&catalog.etag).expect("an etag is quoted hexadecimal digits");
        let known = is_known(request.headers(), &catalog.etag);
        let mut response = if known {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            Body::from(catalog.json).into_response()
        };
        if !known {
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        response.headers_mut().insert(header::ETAG, etag);
        Ok(response)
    })
    .await
}

fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    known.flat_map(|value| value.split(',')).any(|tag| {
        let tag = tag.trim();
        tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag
    })
}
