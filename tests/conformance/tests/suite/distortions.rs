//! The suite can fail: every distortion of a good server is noticed by the cases of the row that it breaks.

use anyhow::{Result, ensure};
use axum::{
    Router,
    body::{Body, to_bytes},
    extract::Request,
    http::{HeaderValue, StatusCode},
    middleware::{self, Next},
    response::Response,
};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use turno_conformance::{cases, run};

use crate::{
    distortion::{self, Answered, Asked, Distortion},
    server::Server,
};

/// The reference server's limits are its own; what is put in front of it takes anything.
const ANY_SIZE: usize = usize::MAX;

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_server_does_wrong_is_noticed_by_the_cases_of_that_row() -> Result<()> {
    let mut unnoticed = Vec::new();
    for distortion in distortion::ALL {
        let server = Server::on_sqlite(|router| distorted(router, distortion)).await?;
        let chosen: Vec<_> = cases().into_iter().filter(|case| case.rows.contains(&distortion.row)).collect();
        let report = run(&server.target, chosen).await;
        if report.failed().next().is_none() {
            unnoticed.push(format!("{} ({})", distortion.name, distortion.row));
        }
    }
    ensure!(unnoticed.is_empty(), "nobody noticed a server that: {}", unnoticed.join("; "));
    Ok(())
}

/// Otherwise the cases above might notice what is put in front of the server instead of what it does.
#[tokio::test(flavor = "multi_thread")]
async fn what_changes_nothing_is_not_noticed() -> Result<()> {
    let server = Server::on_sqlite(|router| distorted(router, &distortion::NONE)).await?;
    let report = run(&server.target, cases()).await;
    ensure!(report.failed().next().is_none(), "{report}");
    Ok(())
}

fn distorted(router: Router, distortion: &'static Distortion) -> Router {
    // The outermost layer sees the path before it is matched, so it can be changed too.
    let distort = move |request: Request, next: Next| distort(distortion, request, next);
    Router::new().fallback_service(router).layer(middleware::from_fn(distort))
}

async fn distort(distortion: &Distortion, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, ANY_SIZE).await.unwrap_or_default().to_vec();
    let path = parts.uri.to_string();
    let mut asked = Asked { method: parts.method, path, headers: parts.headers, body };
    (distortion.inwards)(&mut asked);
    asked.headers.remove("content-length");
    let mut request = Request::new(Body::from(asked.body.clone()));
    *request.method_mut() = asked.method.clone();
    *request.headers_mut() = asked.headers.clone();
    *request.uri_mut() = asked.path.parse().unwrap_or_default();

    let (parts, body) = next.run(request).await.into_parts();
    let bytes = to_bytes(body, ANY_SIZE).await.unwrap_or_default();
    let Ok(body) = serde_json::from_slice(&bytes) else {
        return Response::from_parts(parts, Body::from(bytes));
    };
    let mut answered = Answered { status: parts.status.as_u16(), headers: parts.headers, body };
    (distortion.outwards)(&asked, &mut answered);
    answered.headers.remove("content-length");
    let mut response = Response::new(Body::from(answered.body.to_string()));
    *response.status_mut() = StatusCode::from_u16(answered.status).unwrap_or_default();
    *response.headers_mut() = answered.headers;
    response
}

/// As the acquirer signs.
pub fn signature(body: &[u8]) -> HeaderValue {
    let mut mac = Hmac::<Sha256>::new_from_slice(b"conformance webhook secret").expect("any length will do");
    mac.update(body);
    let digest: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    HeaderValue::try_from(format!("sha256={digest}")).expect("hexadecimal digits are visible")
}
