//! Where things are in the checkout. Every path that a command touches is named here.

use std::path::{Path, PathBuf};

/// The root of the checkout that this program was built from.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("xtask is two levels below the root")
}

pub fn ui() -> PathBuf {
    root().join("ui")
}

pub fn bindings() -> PathBuf {
    ui().join("src/bindings")
}

pub fn target() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}
