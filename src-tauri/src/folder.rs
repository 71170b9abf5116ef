//! The data folder: who holds it, and which profile was chosen in it.
//!
//! Invariant: one process owns a data folder. The lock is the operating system's, so a process that is killed
//! leaves nothing behind that would keep the next one out. What belongs to a profile lives in a folder of its own
//! (`practice/`, `live/`), so that practice can never touch a real sale.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use turno_till::view::{Appearance, Language, TextSize, Theme};

use crate::word;

const LOCK_FILE: &str = "lock";
const PROFILE_FILE: &str = "profile";
const LANGUAGE_FILE: &str = "language";
const THEME_FILE: &str = "theme";
const TEXT_SIZE_FILE: &str = "text-size";

/// Which of the two lives of a data folder is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    Practice,
    Live,
}

impl Profile {
    const fn word(self) -> &'static str {
        match self {
            Self::Practice => "practice",
            Self::Live => "live",
        }
    }
}

const fn language_word(language: Language) -> &'static str {
    match language {
        Language::Es => "es",
        Language::En => "en",
    }
}

const fn theme_word(theme: Theme) -> &'static str {
    match theme {
        Theme::Light => "light",
        Theme::Dark => "dark",
        Theme::HighContrast => "high-contrast",
    }
}

const fn text_size_word(size: TextSize) -> &'static str {
    match size {
        TextSize::Normal => "normal",
        TextSize::Large => "large",
        TextSize::Largest => "largest",
    }
}

#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("another process holds the data folder")]
    InUse,
    #[error("the data folder cannot be written")]
    NotWritable(#[from] io::Error),
}

/// A data folder that this process holds for as long as the value lives.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    /// Closing the file gives the folder back.
    _lock: File,
}

impl DataFolder {
    /// Makes the folder if need be and takes it for this process.
    pub fn claim(path: &Path) -> Result<Self, FolderError> {
        make_private(path)?;
        let lock =
            File::options().read(true).write(true).create(true).truncate(false).open(path.join(LOCK_FILE))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(FolderError::InUse),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }

    /// The profile that was chosen, if one was.
    pub fn profile(&self) -> Option<Profile> {
        let word = word::read(&self.path.join(PROFILE_FILE))?;
        [Profile::Practice, Profile::Live].into_iter().find(|profile| profile.word() == word)
    }

    pub fn choose_profile(&self, profile: Profile) -> Result<(), FolderError> {
        Ok(word::write(&self.path.join(PROFILE_FILE), profile.word())?)
    }

    /// Nothing is chosen any more. What the profile holds stays.
    pub fn forget_profile(&self) -> Result<(), FolderError> {
        Ok(word::forget(&self.path.join(PROFILE_FILE))?)
    }

    /// The language that was chosen, if one was.
    pub fn language(&self) -> Option<Language> {
        let word = word::read(&self.path.join(LANGUAGE_FILE))?;
        [Language::Es, Language::En].into_iter().find(|language| language_word(*language) == word)
    }

    pub fn choose_language(&self, language: Language) -> Result<(), FolderError> {
        Ok(word::write(&self.path.join(LANGUAGE_FILE), language_word(language))?)
    }

    /// What was chosen, and the usual for what was not.
    pub fn appearance(&self) -> Appearance {
        let (theme, size) =
            (word::read(&self.path.join(THEME_FILE)), word::read(&self.path.join(TEXT_SIZE_FILE)));
        let themes = [Theme::Light, Theme::Dark, Theme::HighContrast];
        let sizes = [TextSize::Normal, TextSize::Large, TextSize::Largest];
        Appearance {
            theme: themes
                .into_iter()
                .find(|known| theme.as_deref() == Some(theme_word(*known)))
                .unwrap_or_default(),
            text_size: sizes
                .into_iter()
                .find(|known| size.as_deref() == Some(text_size_word(*known)))
                .unwrap_or_default(),
        }
    }

    pub fn choose_appearance(&self, appearance: Appearance) -> Result<(), FolderError> {
        word::write(&self.path.join(THEME_FILE), theme_word(appearance.theme))?;
        Ok(word::write(&self.path.join(TEXT_SIZE_FILE), text_size_word(appearance.text_size))?)
    }

    /// Where everything of a profile lives.
    pub fn of(&self, profile: Profile) -> PathBuf {
        self.path.join(profile.word())
    }
}

/// Makes the folder for its owner alone: buyers' names are in it. One that is there already keeps its own rules.
fn make_private(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn other_users_cannot_look_into_a_new_folder() {
        use std::os::unix::fs::PermissionsExt;

        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("turno");
        DataFolder::claim(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_folder_is_held_by_one_at_a_time_and_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let first = DataFolder::claim(folder.path()).unwrap();
        assert!(matches!(DataFolder::claim(folder.path()), Err(FolderError::InUse)));
        drop(first);
        DataFolder::claim(folder.path()).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_not_writable() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a-file");
        fs::write(&file, "").unwrap();
        for path in [file.clone(), file.join("below")] {
            assert!(
                matches!(DataFolder::claim(&path), Err(FolderError::NotWritable(_))),
                "{}",
                path.display()
            );
        }
    }

    #[test]
    fn choices_are_remembered_and_profiles_are_apart() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::claim(folder.path()).unwrap();
        assert_eq!((data.profile(), data.language()), (None, None));
        data.choose_profile(Profile::Practice).unwrap();
        data.choose_language(Language::En).unwrap();
        assert_eq!((data.profile(), data.language()), (Some(Profile::Practice), Some(Language::En)));
        assert_ne!(data.of(Profile::Practice), data.of(Profile::Live));
        let appearance = Appearance { theme: Theme::HighContrast, text_size: TextSize::Largest };
        assert_eq!(data.appearance(), Appearance::default());
        data.choose_appearance(appearance).unwrap();
        assert_eq!(data.appearance(), appearance);
        std::fs::write(folder.path().join(THEME_FILE), "pink\n").unwrap();
        assert_eq!(data.appearance(), Appearance { theme: Theme::Light, ..appearance }, "no such theme");
        for _ in 0..2 {
            data.forget_profile().unwrap();
            assert_eq!((data.profile(), data.language()), (None, Some(Language::En)));
        }
    }
}
