//! What a server is told when it starts.

use std::sync::Arc;

use jiff::SignedDuration;
use turno_protocol::secret::Secret;

use crate::{
    acquirer::{Acquirer, SimulatedAcquirer},
    drain::Drain,
    metrics::Metrics,
    paying::Cashier,
    throttle::RateLimit,
    world::World,
};

/// Largest body, by the contract.
pub const BODY_LIMIT: usize = 64 * 1024;

/// How long a charge may be on its way, unless the acquirer says otherwise: longer than any of its deadlines.
pub const DEFAULT_VISIBILITY_DELAY: SignedDuration = SignedDuration::from_mins(2);

/// Where `/metrics` is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetricsPlace {
    /// With everything else.
    #[default]
    Here,
    /// On an address of its own ([`crate::metrics_app`]), which tills cannot reach.
    Apart,
}

#[derive(Clone, Debug)]
pub struct Config {
    pub world: World,
    pub body_limit: usize,
    /// Who moves the money; without one payments are refused. By default a simulation, for practice and tests.
    pub acquirer: Option<Arc<dyn Acquirer>>,
    pub acquirer_visibility_delay: SignedDuration,
    /// Without one no webhook is believed.
    pub acquirer_webhook_secret: Option<Secret>,
    /// For each credential. Without one nobody is throttled.
    pub rate_limit: Option<RateLimit>,
    pub drain: Drain,
    pub metrics: Metrics,
    pub metrics_place: MetricsPlace,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            world: World::system(),
            body_limit: BODY_LIMIT,
            acquirer: Some(Arc::new(SimulatedAcquirer::default())),
            acquirer_visibility_delay: DEFAULT_VISIBILITY_DELAY,
            acquirer_webhook_secret: None,
            rate_limit: None,
            drain: Drain::default(),
            metrics: Metrics::default(),
            metrics_place: MetricsPlace::default(),
        }
    }
}

impl Config {
    pub(crate) fn cashier<L>(&self, ledger: L) -> Option<Cashier<L>> {
        Some(Cashier {
            ledger,
            acquirer: Arc::clone(self.acquirer.as_ref()?),
            visibility_delay: self.acquirer_visibility_delay,
            metrics: self.metrics.clone(),
        })
    }
}
