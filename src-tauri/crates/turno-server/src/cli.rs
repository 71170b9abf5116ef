//! What can be asked of the program: to serve, to do something to a ledger, or to play an
//! acquirer.

mod acquirer;
mod admin;
pub mod log;
mod sandbox;
mod secret;
mod serve;

use std::{path::PathBuf, str::FromStr};

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(
    version,
    about = "The reference server of the YUPY contract",
    after_help = "RUST_LOG chooses what is logged (`info`, `turno_server=debug`), TURNO_LOG_FORMAT=json how."
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve tills until the process is asked to end.
    Serve(serve::Serve),
    /// Say who may use a ledger. Works on the file of a running server too.
    Admin(admin::Admin),
    /// Play an acquirer without money, for integrators and tests.
    SandboxAcquirer(sandbox::Sandbox),
}

impl Cli {
    pub async fn run(self) -> anyhow::Result<()> {
        match self.command {
            Command::Serve(serve) => serve.run().await,
            Command::Admin(admin) => admin.run().await,
            Command::SandboxAcquirer(sandbox) => sandbox.run().await,
        }
    }
}

/// Where a ledger is kept: `sqlite:FILE` or `postgres://…`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum DatabaseUrl {
    Sqlite(PathBuf),
    /// The whole address. It may hold a password, so it is never printed.
    Postgres(String),
}

impl FromStr for DatabaseUrl {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_postgres = ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme));
        match text.strip_prefix("sqlite:") {
            Some("") => Err("a file name is missing after `sqlite:`"),
            Some(path) => Ok(Self::Sqlite(path.into())),
            None if is_postgres => Ok(Self::Postgres(text.to_owned())),
            None => Err("expected `sqlite:FILE` or `postgres://…`"),
        }
    }
}
