//! `GET /v1/audit`: the company's chain, for its managers.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    response::Response,
};

use super::{
    App, gate,
    page::{self, Query},
    refusal::Refusal,
};
use crate::{caller::Right, ledger::Ledger};

pub(super) async fn list<L: Ledger>(
    State(app): State<Arc<App<L>>>,
    request: Request,
) -> Result<Response, Refusal> {
    gate::admit(&app, &[Right::Audit], request, async |caller, request| {
        let wanted = Query::of(&request)?.page()?;
        let page = app.ledger.audit(caller.scope.company, wanted).await?;
        Ok(page::answer(page, |row| row))
    })
    .await
}
