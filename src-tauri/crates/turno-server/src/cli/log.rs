//! What the program writes about itself, to the standard error.
//!
//! Invariant: whatever `RUST_LOG` asks for, no line holds a token, a name or a body. Our own lines have ids and codes;
//! libraries would write statements with their values and requests with their headers, so they only ever say what is
//! wrong.

use tracing::{Level, Metadata};
use tracing_subscriber::{
    EnvFilter, Layer,
    filter::{FilterExt, filter_fn},
    fmt,
    layer::SubscriberExt,
    util::SubscriberInitExt,
};

/// `json` writes one object a line.
const FORMAT: &str = "TURNO_LOG_FORMAT";

pub fn start() {
    let asked_for = EnvFilter::try_from_default_env().unwrap_or_else(|_| "info".into());
    let allowed = asked_for.and(filter_fn(may_be_written));
    let lines = fmt::layer().with_writer(std::io::stderr);
    let lines = match std::env::var(FORMAT) {
        Ok(format) if format == "json" => lines.json().boxed(),
        Ok(_) | Err(_) => lines.boxed(),
    };
    tracing_subscriber::registry().with(lines.with_filter(allowed)).init();
}

fn may_be_written(line: &Metadata<'_>) -> bool {
    *line.level() <= Level::INFO || line.target().starts_with("turno")
}
