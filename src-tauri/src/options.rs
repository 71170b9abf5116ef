//! What can be said on the command line.

use std::path::PathBuf;

use clap::Parser;
use turno_till::view::Language;

/// Turno, a till for people who sell on buses and routes.
#[derive(Debug, Default, Parser)]
#[command(name = "turno", version)]
pub struct Options {
    /// Keep sales in this folder instead of the user's data folder. Secrets stay in the user's state folder.
    #[arg(long, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,
    /// Write every sale once more below this folder, best on another medium (an SD card, a USB stick).
    #[arg(long, value_name = "FOLDER")]
    pub journal_dir: Option<PathBuf>,
    /// The language of the screen; it is remembered.
    #[arg(long, value_parser = language)]
    pub lang: Option<Language>,
    /// Go straight to practice: an embedded server and a demo catalog, nothing leaves this machine.
    #[arg(long)]
    pub practice: bool,
    /// Fill the screen, with nothing around the till.
    #[arg(long)]
    pub kiosk: bool,
}

fn language(word: &str) -> Result<Language, String> {
    match word {
        "es" => Ok(Language::Es),
        "en" => Ok(Language::En),
        _ => Err("the languages are es and en".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_read() {
        let words = [
            "turno",
            "--data-dir",
            "/tmp/till",
            "--journal-dir",
            "/media/card",
            "--lang",
            "en",
            "--practice",
            "--kiosk",
        ];
        let options = Options::try_parse_from(words).unwrap();
        assert_eq!(options.data_dir, Some(PathBuf::from("/tmp/till")));
        assert_eq!(options.journal_dir, Some(PathBuf::from("/media/card")));
        assert_eq!(options.lang, Some(Language::En));
        assert!(options.practice && options.kiosk);
        assert!(Options::try_parse_from(["turno", "--lang", "fr"]).is_err());
    }
}
