//! Which acquirer a server talks to.

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::{Context, bail};
use clap::{Args, builder::RangedU64ValueParser};
use jiff::SignedDuration;
use turno_server::{
    Config,
    acquirer::{AcquirerTimeouts, HttpAcquirer},
};

use super::secret;

const SECRET: &str = "TURNO_ACQUIRER_SECRET";
pub(super) const WEBHOOK_SECRET: &str = "TURNO_ACQUIRER_WEBHOOK_SECRET";

/// Without an address a server refuses payments; with a fixture they are simulated.
#[derive(Debug, Args)]
pub(super) struct AcquirerArgs {
    /// The address of the acquirer; `charges` and `look-ups` are below it. Without one payments are refused, and with
    /// a fixture simulated.
    #[arg(long, env = "TURNO_ACQUIRER_URL")]
    acquirer_url: Option<String>,

    /// A file with the secret that signs what is said to the acquirer and by it. The environment's
    /// TURNO_ACQUIRER_SECRET does as well.
    #[arg(long, env = "TURNO_ACQUIRER_SECRET_FILE")]
    acquirer_secret_file: Option<PathBuf>,

    /// A file with the secret of the acquirer's webhook. The environment's TURNO_ACQUIRER_WEBHOOK_SECRET does as well.
    #[arg(long, env = "TURNO_ACQUIRER_WEBHOOK_SECRET_FILE")]
    acquirer_webhook_secret_file: Option<PathBuf>,

    /// How long a charge may be on its way before a look-up that does not find it is believed.
    #[arg(long, env = "TURNO_ACQUIRER_VISIBILITY_DELAY_S")]
    acquirer_visibility_delay_s: Option<u32>,

    /// Seconds until a connection to the acquirer must stand.
    #[arg(long, env = "TURNO_ACQUIRER_CONNECT_TIMEOUT_S", default_value_t = 3, value_parser = seconds())]
    acquirer_connect_timeout_s: u64,

    /// Seconds in which the acquirer must have answered a charge or a look-up. The outcome of one that has not is
    /// unknown, and looked up later.
    #[arg(long, env = "TURNO_ACQUIRER_TIMEOUT_S", default_value_t = 10, value_parser = seconds())]
    acquirer_timeout_s: u64,
}

/// Below the twelve seconds after which a till is told to ask again.
fn seconds() -> RangedU64ValueParser {
    RangedU64ValueParser::new().range(1..=11)
}

impl AcquirerArgs {
    /// Write what was said into `config`.
    pub(super) fn apply(&self, config: &mut Config, has_fixture: bool) -> anyhow::Result<()> {
        let secret = secret::read(self.acquirer_secret_file.as_deref(), SECRET)?;
        match (&self.acquirer_url, secret) {
            (Some(address), Some(secret)) => {
                let timeouts = AcquirerTimeouts {
                    connect: Duration::from_secs(self.acquirer_connect_timeout_s),
                    total: Duration::from_secs(self.acquirer_timeout_s),
                };
                let acquirer = HttpAcquirer::with_timeouts(address, secret, config.world.clone(), timeouts)
                    .context("cannot talk to the acquirer")?;
                config.acquirer = Some(Arc::new(acquirer));
            }
            (Some(_), None) => {
                bail!("an acquirer needs a secret: --acquirer-secret-file, or {SECRET} in the environment")
            }
            (None, Some(_)) => bail!("there is an acquirer's secret and no --acquirer-url"),
            (None, None) if has_fixture => tracing::warn!("payments are simulated: this server is for tests"),
            (None, None) => {
                tracing::info!("payments are refused: there is no --acquirer-url");
                config.acquirer = None;
            }
        }
        let webhook_secret = secret::read(self.acquirer_webhook_secret_file.as_deref(), WEBHOOK_SECRET)?;
        if webhook_secret.is_some() {
            config.acquirer_webhook_secret = webhook_secret;
        }
        if let Some(seconds) = self.acquirer_visibility_delay_s {
            config.acquirer_visibility_delay = SignedDuration::from_secs(seconds.into());
        }
        Ok(())
    }
}
