//! The contract over HTTP: one module an area, all of them behind the same gate.
//!
//! Invariant: a handler translates. What may be done is decided by the gate, what is done by the ledger, and how an
//! error looks by [`refusal`]; every answer passes through [`exchange`], which gives it its id and its headers.

mod answer;
mod audit;
mod catalog;
mod challenges;
mod devices;
mod exchange;
mod gate;
mod health;
mod openapi;
mod operations;
mod page;
mod payments;
mod refusal;
mod schemas;
mod transactions;
mod voids;
mod webhook;

use std::sync::Arc;

use axum::{Router, middleware};
use turno_protocol::code::ErrorCode;

use crate::{admission::Admission, config::Config, ledger::Ledger, paying::Cashier, throttle::Throttle};

use operations::Operation;

pub(crate) use exchange::refuse;
pub(crate) use gate::SlowSender;
pub(crate) use refusal::Refusal;

/// What every handler shares.
pub(crate) struct App<L> {
    ledger: L,
    config: Config,
    throttle: Option<Throttle>,
    admission: Admission,
}

impl<L: Ledger> App<L> {
    fn cashier(&self) -> Option<Cashier<L>> {
        self.config.cashier(self.ledger.clone())
    }
}

/// The server's routes over `ledger`, ready for any listener.
pub fn app<L: Ledger>(ledger: L, config: Config) -> Router {
    serve_operations(operations::at(config.metrics_place), ledger, config)
}

/// `/metrics` alone, for an address of its own. Shares its counters with the server whose config this is.
pub fn metrics_app<L: Ledger>(ledger: L, config: Config) -> Router {
    serve_operations(vec![operations::metrics()], ledger, config)
}

fn serve_operations<L: Ledger>(operations: Vec<Operation<L>>, ledger: L, config: Config) -> Router {
    let throttle = config.rate_limit.map(Throttle::new);
    config.metrics.started(config.world.now());
    let app = Arc::new(App { ledger, config: config.clone(), throttle, admission: Admission::default() });
    operations::router(operations)
        .fallback(|| async { Refusal::new(ErrorCode::NotFound) })
        .method_not_allowed_fallback(|| async { Refusal::new(ErrorCode::MethodNotAllowed) })
        .with_state(app)
        .layer(middleware::from_fn_with_state(config, exchange::complete))
}
