//! The program `turno-server`: reads its arguments and hands over to the library.

mod cli;

use clap::Parser;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let cli = cli::Cli::parse();
    cli::log::start();
    cli.run().await
}
