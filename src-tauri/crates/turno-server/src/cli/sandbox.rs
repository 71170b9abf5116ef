//! `turno-server sandbox-acquirer`: an acquirer without money, for integrators and tests.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use anyhow::Context;
use clap::Args;
use tokio::net::TcpListener;
use turno_server::{
    Config, World,
    acquirer::{SimulatedAcquirer, Webhook, sandbox_acquirer_with},
    serve,
};

use super::{
    acquirer::WEBHOOK_SECRET,
    secret,
    serve::{announce, asked_to_end},
};

const SECRET: &str = "TURNO_ACQUIRER_SECRET";

/// The céntimos of an amount decide: …01 declines, …02 leaves pending, …03 approves and loses the answer, …04 does
/// not get the first charge, …05 declines the first payment of a sale, …06 approves one unit less and loses the
/// answer, …07 declines and loses the answer, …08 approves after three seconds, …09 cannot be reached; any other
/// approves. `GET /statement` lists what it was asked for. It forgets everything when it ends.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Sandbox {
    /// Address and port; port 0 takes a free one, which is then written to the standard output.
    #[arg(long, default_value = "127.0.0.1:8090")]
    listen: SocketAddr,

    /// A file with the secret that it shares with the server. The environment's TURNO_ACQUIRER_SECRET does as well.
    #[arg(long, env = "TURNO_ACQUIRER_SECRET_FILE")]
    secret_file: Option<PathBuf>,

    /// Where it says that a pending payment (…02) was approved, e.g. http://127.0.0.1:8080/v1/acquirer/webhook.
    /// Without it such a payment stays pending.
    #[arg(long, env = "TURNO_ACQUIRER_WEBHOOK_URL")]
    webhook_url: Option<String>,

    /// A file with the secret that signs the webhook. The environment's TURNO_ACQUIRER_WEBHOOK_SECRET does as well.
    #[arg(long, env = "TURNO_ACQUIRER_WEBHOOK_SECRET_FILE")]
    webhook_secret_file: Option<PathBuf>,

    /// Seconds for which such a payment is pending.
    #[arg(long, env = "TURNO_ACQUIRER_WEBHOOK_AFTER_S", default_value_t = 5)]
    webhook_after_s: u32,
}

impl Sandbox {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let secret = secret::read(self.secret_file.as_deref(), SECRET)?
            .with_context(|| format!("a secret is missing: --secret-file, or {SECRET} in the environment"))?;
        let webhook = self.webhook()?;
        let listener = TcpListener::bind(self.listen)
            .await
            .with_context(|| format!("cannot listen on {}", self.listen))?;
        announce("http", listener.local_addr()?)?;
        let router =
            sandbox_acquirer_with(Arc::new(SimulatedAcquirer::default()), secret, World::system(), webhook);
        Ok(serve(listener, router, Config::default(), asked_to_end()).await?)
    }

    fn webhook(&self) -> anyhow::Result<Option<Webhook>> {
        let secret = secret::read(self.webhook_secret_file.as_deref(), WEBHOOK_SECRET)?;
        let Some(address) = &self.webhook_url else { return Ok(None) };
        let secret = secret.with_context(|| {
            format!("a secret is missing: --webhook-secret-file, or {WEBHOOK_SECRET} in the environment")
        })?;
        let after = Duration::from_secs(self.webhook_after_s.into());
        Ok(Some(Webhook::new(address, secret, after).context("cannot send webhooks")?))
    }
}
