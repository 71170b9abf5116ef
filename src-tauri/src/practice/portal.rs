//! A Wi-Fi portal in front of the practice server: every request gets a friendly page and 200.

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{Html, IntoResponse, Response};
use tokio::sync::watch;
use turno_till::view::PracticeLine;

const PAGE: &str = "<!doctype html><html lang=\"es\"><title>Wi-Fi del terminal</title>\
    <h1>Bienvenido</h1><p>Acepte las condiciones para navegar.</p></html>";

/// Puts the portal in front of everything that the router answers.
pub fn behind_portal(router: Router, line: watch::Receiver<PracticeLine>) -> Router {
    router.layer(from_fn_with_state(line, answer))
}

async fn answer(State(line): State<watch::Receiver<PracticeLine>>, request: Request, next: Next) -> Response {
    if *line.borrow() == PracticeLine::Portal {
        return Html(PAGE).into_response();
    }
    next.run(request).await
}
