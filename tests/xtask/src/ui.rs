//! The page: its packages and its build.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::{process, tree};

/// Kept inside `node_modules`, so that it disappears with it: the lock file that was installed.
const INSTALLED_LOCK: &str = "node_modules/.installed-package-lock.json";

/// `npm ci`, unless exactly this lock file is installed already.
pub fn install() -> Result<()> {
    let wanted = tree::ui().join("package-lock.json");
    let installed = tree::ui().join(INSTALLED_LOCK);
    if same_content(&wanted, &installed) {
        println!("the page's packages are installed");
        return Ok(());
    }
    process::run(&mut process::npm(&["ci"]))?;
    fs::copy(&wanted, &installed).context("cannot note which packages were installed")?;
    Ok(())
}

pub fn build() -> Result<()> {
    script("build")
}

/// A script of the page's package.json.
pub fn script(name: &str) -> Result<()> {
    process::run(&mut process::npm(&["run", "--silent", name]))
}

fn same_content(one: &Path, other: &Path) -> bool {
    matches!((fs::read(one), fs::read(other)), (Ok(one), Ok(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_installed_again_only_when_the_lock_file_changed() {
        let folder = tempfile::tempdir().unwrap();
        let (wanted, installed) = (folder.path().join("wanted"), folder.path().join("installed"));
        assert!(!same_content(&wanted, &installed), "two missing files are not an installation");
        fs::write(&wanted, "1").unwrap();
        assert!(!same_content(&wanted, &installed));
        fs::write(&installed, "1").unwrap();
        assert!(same_content(&wanted, &installed));
        fs::write(&wanted, "2").unwrap();
        assert!(!same_content(&wanted, &installed));
    }
}
