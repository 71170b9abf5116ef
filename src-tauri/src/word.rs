//! Settings of one word, each in a file of its own: readable with any editor, and replaced whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// A word is a few letters; anything longer is not ours.
const LONGEST_BYTES: usize = 32;

/// The word in the file; nothing if there is none or it is not a word.
pub fn read(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let word = text.trim_ascii_end();
    (!word.is_empty() && word.len() <= LONGEST_BYTES).then(|| word.to_owned())
}

/// Replaces the word. After a crash the file holds the old word or the new one, never a part.
pub fn write(path: &Path, word: &str) -> io::Result<()> {
    let next = path.with_extension("next");
    let mut file = File::create(&next)?;
    writeln!(file, "{word}")?;
    file.sync_all()?;
    fs::rename(&next, path)
}

/// Takes the word away; none is left after it.
pub fn forget(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_back_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("profile");
        assert_eq!(read(&path), None);
        write(&path, "practice").unwrap();
        assert_eq!(read(&path).as_deref(), Some("practice"));
        write(&path, "live").unwrap();
        assert_eq!(read(&path).as_deref(), Some("live"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn what_is_not_a_word_counts_as_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("profile");
        for content in [&b""[..], b"\n", &[b'x'; LONGEST_BYTES + 1], &[0xff, 0xfe]] {
            fs::write(&path, content).unwrap();
            assert_eq!(read(&path), None, "{content:?}");
        }
    }
}
