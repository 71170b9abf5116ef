//! Where a file that goes to another till could be put: a stick or card that is plugged in, else the user's home.

use std::fs;
use std::path::{Path, PathBuf};

/// Below these the system mounts what is plugged in, directly or in a folder of the user's.
const MEDIA: [&str; 2] = ["/run/media", "/media"];

pub fn for_files(home: &Path) -> PathBuf {
    MEDIA.iter().find_map(|media| plugged_in(Path::new(media))).unwrap_or_else(|| home.to_owned())
}

fn plugged_in(media: &Path) -> Option<PathBuf> {
    let below = folders(media);
    let further = below.iter().flat_map(|folder| folders(folder)).collect::<Vec<_>>();
    below.into_iter().chain(further).find(|folder| is_mounted(folder))
}

/// In the order of their names: the same stick is suggested each time.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    found.retain(|path| path.is_dir());
    found.sort();
    found
}

/// Another medium than the folder around it.
#[cfg(unix)]
fn is_mounted(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let device = |path: &Path| fs::metadata(path).map(|found| found.dev()).ok();
    folder.parent().is_some_and(|around| device(folder) != device(around))
}

#[cfg(not(unix))]
fn is_mounted(_folder: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_no_medium_of_its_own_is_not_suggested() {
        let media = tempfile::tempdir().unwrap();
        fs::create_dir_all(media.path().join("cashier/stick")).unwrap();
        fs::write(media.path().join("file"), "").unwrap();
        assert_eq!(plugged_in(media.path()), None);
        assert_eq!(plugged_in(&media.path().join("nothing")), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_mounted_below_the_folder_of_media_is() {
        // Every Linux has this one.
        assert!(is_mounted(Path::new("/proc")));
        assert!(!is_mounted(Path::new("/proc/self")));
    }
}
