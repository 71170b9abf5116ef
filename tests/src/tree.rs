//! Where things are in the checkout.

use std::path::{Path, PathBuf};

/// The root of the checkout that the tests were built from.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are one level below the root")
}

/// Where Cargo put the programs of this build, next to the tests' own.
pub fn binaries() -> PathBuf {
    let test = std::env::current_exe().expect("a running program has a path");
    test.ancestors().nth(2).expect("tests run from target/<profile>/deps").to_owned()
}

/// Pictures of the real window, made by the tests.
pub fn screenshots() -> PathBuf {
    binaries().parent().expect("profiles have a folder of their own").join("screenshots")
}
