//! Where things are in the checkout.

use std::path::{Path, PathBuf};

/// The root of the checkout that the tests were built from.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are one level below the root")
}

/// Where Cargo put the programs of this build: this one, or the tests' in `deps` beside them.
pub fn binaries() -> PathBuf {
    let program = std::env::current_exe().expect("a running program has a path");
    let folder = program.parent().expect("a program is in a folder");
    if folder.ends_with("deps") { folder.parent().expect("target/<profile>") } else { folder }.to_owned()
}

/// Pictures of the real window, made by the tests.
pub fn screenshots() -> PathBuf {
    binaries().parent().expect("profiles have a folder of their own").join("screenshots")
}
